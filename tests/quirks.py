"""A whole application whose model is a server scripted byte by byte, and what must always hold."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from app.llm.client import OpenAIModel
from app.main import create_app
from app.settings import Settings
from tests.chatting import Events, answer_of, kinds, parse_events
from tests.e2e.mock_llm import MockLLM, Step
from tests.e2e.mock_wire import DONE, Json, called, chunk, finished, refusal
from tests.factories import put

QUESTION = "Which `port` is in the setup?"
SEED = {"guide/setup.md": "# Setup\nport = 8081\nlast line", "notes/a.txt": "alpha\nbeta\n"}
OK = (chunk({"content": "ok"}), finished(), DONE)
CALLED = (finished("tool_calls"), DONE)
READ_SETUP = '{"source":"acme","path":"guide/setup.md"}'
READ_NOTES = '{"source":"acme","path":"notes/a.txt"}'


def said(*contents: str) -> tuple[bytes, ...]:
    return tuple(chunk({"content": content}) for content in contents)


def calls(*entries: Json) -> bytes:
    return chunk({"tool_calls": list(entries)})


def one_call(name: str, arguments: str, call_id: str = "a1") -> bytes:
    return calls(called(0, id=call_id, name=name, arguments=arguments))


@dataclass(frozen=True)
class Asked:
    """A turn that was asked: its events, as it is stored, and what the model was sent for it."""

    events: Events
    turn: dict[str, Any]
    requests: list[Json]

    @property
    def text(self) -> str:
        return answer_of(self.events)

    @property
    def last(self) -> dict[str, Any]:
        return self.events[-1]

    @property
    def tools(self) -> list[tuple[str, str | None]]:
        return [(e["name"], e["argument"]) for e in self.events if e["type"] == "tool"]

    @property
    def results(self) -> list[str]:
        """The results of tools in the last request."""
        return [m["content"] for m in self.requests[-1]["messages"] if m["role"] == "tool"]


@dataclass
class Quirks:
    client: httpx.AsyncClient
    mock: MockLLM

    async def ask(self, *scripts: tuple[Step, ...], message: str = QUESTION) -> Asked:
        """Ask, with a script for each request; then see that all is well with the conversation."""
        self.mock.reset()
        for script in scripts:
            self.mock.script(*script)
        return await self.ask_prepared(message)

    async def ask_prepared(self, message: str = QUESTION) -> Asked:
        events = await self._events("/api/chat", message=message)
        requests = list(self.mock.requests)
        assert kinds(events)[0] == "turn"
        assert [kind for kind in kinds(events) if kind in ("done", "error")] == [kinds(events)[-1]]
        shown = await self.client.get(f"/api/conversations/{events[0]['conversation_id']}")
        (turn,) = shown.json()["turns"]
        assert "".join(made["text"] for made in turn["rounds"]) == answer_of(events)
        await self._goes_on(events[0]["conversation_id"])
        for body in self.mock.requests:
            assert refusal(body["messages"]) is None
        return Asked(events, turn, requests)

    async def _goes_on(self, conversation: str) -> None:
        """The next question of the conversation is answered by a server that is strict."""
        self.mock.clear_scripts()
        events = await self._events("/api/chat", message=QUESTION, conversation_id=conversation)
        assert kinds(events)[-1] == "done", events[-1]

    async def _events(self, address: str, **body: Any) -> Events:
        response = await self.client.post(address, json=body, timeout=30)
        assert response.status_code == 200, response.text
        return parse_events(response.text)


@asynccontextmanager
async def quirks(database: str, mock: MockLLM, **given: Any) -> AsyncGenerator[Quirks]:
    """The application on an empty database, with the seed documents."""
    usual = {"llm_base_url": mock.url, "llm_model": "mock", "database_url": database}
    settings = Settings.model_validate({**usual, **given})
    async with httpx.AsyncClient() as http:
        app = create_app(settings, OpenAIModel(settings, http, backoff=lambda _: 0.01))
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1"
            ) as client:
                for path, text in SEED.items():
                    await put(client, "acme", path, text)
                yield Quirks(client, mock)
