"""Asking the model client, and what became of it."""

from typing import Any

import httpx

from app.errors import ModelError
from app.llm.client import OpenAIModel
from app.llm.messages import LlmRequest, Reply, TextDelta, UserMessage, Waiting
from app.settings import Settings
from tests.e2e.mock_llm import MockLLM
from tests.e2e.mock_wire import DONE, chunk, finished

ASKED = LlmRequest((UserMessage("Which port?"),))
OK = (chunk({"content": "ok"}), finished(), DONE)


class Outcome:
    """What a stream yielded, the waits it asked for, and the error it ended with."""

    def __init__(self) -> None:
        self.shown = ""
        self.waiting: list[str] = []
        self.slept: list[float] = []
        self.reply: Reply | None = None
        self.error: ModelError | None = None

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def settings(mock: MockLLM, **changes: Any) -> Settings:
    given = {"llm_base_url": mock.url, "llm_model": "m", "llm_retries": 2, **changes}
    return Settings.model_validate(given)


async def ask(
    mock: MockLLM, http: httpx.AsyncClient, request: LlmRequest = ASKED, **changes: Any
) -> Outcome:
    outcome = Outcome()
    model = OpenAIModel(settings(mock, **changes), http, backoff=lambda _: 0.5, sleep=outcome.sleep)
    try:
        async for piece in model.stream(request):
            match piece:
                case TextDelta(text):
                    outcome.shown += text
                case Waiting(text):
                    outcome.waiting.append(text)
                case Reply():
                    outcome.reply = piece
    except ModelError as error:
        outcome.error = error
    return outcome
