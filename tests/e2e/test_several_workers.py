"""Several processes serve one Brain: a turn is the same over whichever connection."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

import httpx
import pytest

from tests.e2e.asking import Turn, asking, follow, heard
from tests.e2e.conftest import StartServer
from tests.e2e.mock_llm import MockLLM
from tests.e2e.requests import slowly
from tests.e2e.server import connect
from tests.factories import put

QUESTION = "Tell me of PORT_8081"
CONNECTIONS = 5


@pytest.fixture
async def connections(start: StartServer) -> AsyncGenerator[list[httpx.AsyncClient]]:
    """Kept connections to a server of two processes; the kernel decides which leads to which."""
    server = start("--workers", "2").ready()
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connect(server)) for _ in range(CONNECTIONS)]
        await asyncio.gather(*(client.get("/readyz") for client in clients))
        yield clients
    assert server.stop() == 0


async def test_a_turn_is_followed_and_replayed_over_any_connection_to_several_workers(
    connections: list[httpx.AsyncClient], mock: MockLLM
) -> None:
    one, *others = connections
    await put(one, "acme", "setup.md", "PORT_8081 is the port.\n")
    mock.script(*slowly(16))
    async with asking(one, QUESTION) as events:
        begun = await heard(events, 1)
        turn_id, conversation_id = begun.first["turn_id"], begun.first["conversation_id"]
        following = [asyncio.create_task(follow(client, turn_id)) for client in others]
        again = {"message": "?", "conversation_id": conversation_id}
        refused = [await client.post("/api/chat", json=again) for client in others]
        rest = Turn([event async for event in events])
    whole = begun.events + rest.events
    assert rest.last["finish"] == "answered"
    assert {answer.status_code for answer in refused} == {409}
    for client, followed in zip(others, following, strict=True):
        assert (await followed).events == whole
        assert (await follow(client, turn_id)).events == whole
        assert (await follow(client, turn_id, **{"Last-Event-ID": "2"})).events == whole[2:]


async def test_a_turn_is_stopped_over_any_connection_to_several_workers(
    connections: list[httpx.AsyncClient], mock: MockLLM
) -> None:
    one, *others = connections
    await put(one, "acme", "setup.md", "PORT_8081 is the port.\n")
    for other in others:
        mock.script(*slowly(120))
        mock.disconnected.clear()
        async with asking(one, QUESTION) as events:
            begun = await heard(events, 1)
            stopped = await other.post(f"/api/turns/{begun.first['turn_id']}/stop")
            rest = Turn([event async for event in events])
        assert stopped.status_code == 204
        assert rest.last["finish"] == "stopped"
        assert await asyncio.to_thread(mock.disconnected.wait, 10)


async def test_no_process_outlives_the_one_that_started_it(start: StartServer) -> None:
    server = start("--workers", "2").ready()
    async with connect(server) as client:
        assert (await client.get("/healthz")).is_success
    server.process.kill()
    server.process.wait()
    async with asyncio.timeout(20):
        while await _is_served(server.url):  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def _is_served(url: str) -> bool:
    async with httpx.AsyncClient() as client:
        try:
            await client.get(f"{url}/healthz")
        except httpx.TransportError:
            return False
    return True
