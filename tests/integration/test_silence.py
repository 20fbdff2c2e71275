"""Streams that have nothing to say for longer than a proxy in between waits."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import httpx
import pytest
from sqlalchemy import create_engine, text

from tests.chatting import Events, kinds, parse_events
from tests.e2e.mock_llm import MockLLM
from tests.e2e.proxy import proxied
from tests.e2e.requests import calling, saying
from tests.e2e.server import Server

PING_SECONDS = 0.25
PATIENCE_SECONDS = 1.5
SILENCE_SECONDS = 2
GREETING = "Hello there!"


@pytest.fixture(scope="module")
def mock() -> Iterator[MockLLM]:
    with MockLLM() as mock:
        yield mock


@pytest.fixture
async def api(database: str, mock: MockLLM) -> AsyncIterator[httpx.AsyncClient]:
    """Through a proxy with little patience."""
    given = {"llm_base_url": mock.url, "llm_model": "mock", "ping_seconds": PING_SECONDS}
    with Server(database_url=database, **given) as server:
        async with (
            proxied(server.ready().url, PATIENCE_SECONDS) as proxy,
            httpx.AsyncClient(base_url=proxy.url, timeout=30) as client,
        ):
            yield client


class Stream:
    """An answer as its bytes arrive."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._parts = response.aiter_raw()
        self._received = b""

    async def begun(self) -> None:
        """The first event is here."""
        while b"\n\n" not in self._received:
            self._received += await anext(self._parts)

    async def whole(self) -> Events:
        async for part in self._parts:
            self._received += part
        assert "content-encoding" not in self._response.headers
        assert self._received.count(b": ping\n\n") >= 2
        return parse_events(self._received.decode())


async def asked(
    api: httpx.AsyncClient, mock: MockLLM, stack: AsyncExitStack, **body: str | bool
) -> Stream:
    """A question whose first event has come, and whose model is being asked."""
    mock.arrived.clear()
    request = api.stream("POST", "/api/chat", json=body, headers={"accept-encoding": "gzip, br"})
    stream = Stream(await stack.enter_async_context(request))
    await stream.begun()
    assert await asyncio.to_thread(mock.arrived.wait, 10)
    return stream


async def test_models_tools_and_retries_that_take_long_cut_no_stream(
    api: httpx.AsyncClient, mock: MockLLM, database: str
) -> None:
    await api.put("/api/documents/acme/a.txt", content=b"alpha\n")
    engine = create_engine(database)
    async with AsyncExitStack() as stack:
        mock.script(0.5, *calling(("list_documents", {})))
        tool = await asked(api, mock, stack, message="Which alpha?", search_anyway=True)
        locked = stack.enter_context(engine.begin())
        locked.execute(text("LOCK TABLE documents IN ACCESS EXCLUSIVE MODE"))
        mock.script(b"{}", status=503, Retry_After=str(SILENCE_SECONDS))
        retry = await asked(api, mock, stack, message=GREETING)
        mock.script(SILENCE_SECONDS, *saying("Late."))
        model = await asked(api, mock, stack, message=GREETING)
        await asyncio.sleep(SILENCE_SECONDS)
        locked.rollback()
        heard = await asyncio.gather(tool.whole(), retry.whole(), model.whole())
    engine.dispose()
    assert [kinds(events)[-1] for events in heard] == ["done"] * 3
    assert {"tool", "tool_result"} <= set(kinds(heard[0]))
    assert "status" in kinds(heard[1])
