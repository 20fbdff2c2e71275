"""Event streams of a real server: what proxies, databases and impatient readers do to them."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from tests.e2e.asking import Turn, ask, asking, conversation, heard
from tests.e2e.databases import execute, fetch
from tests.e2e.mock_llm import MockLLM
from tests.e2e.mock_wire import DONE, chunk, finished
from tests.e2e.requests import saying, slowly
from tests.e2e.server import Server, connect

GREETING = {"message": "Hello there!"}
STREAMS = 12
POOL = 5
PING_SECONDS = 1.0
SILENCE_SECONDS = 4.0
ENDED_SECONDS = 20.0
LONGER_THAN_A_LEASE = 7.0


@pytest.fixture(scope="module")
def mock() -> Iterator[MockLLM]:
    with MockLLM() as mock:
        yield mock


def serve(database: str, mock: MockLLM) -> Server:
    given = {"llm_base_url": mock.url, "llm_model": "mock", "database_pool": POOL}
    given |= {"ping_seconds": PING_SECONDS}
    return Server(database_url=database, **given)


@pytest.fixture(scope="module")
def server(database: str, mock: MockLLM) -> Iterator[Server]:
    with serve(database, mock) as server:
        yield server.ready()


@pytest.fixture
async def api(server: Server, mock: MockLLM) -> AsyncIterator[httpx.AsyncClient]:
    mock.reset()
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, timeout=30, limits=limits) as client:
        yield client


def idle_in_transaction(database: str) -> int:
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND state = 'idle in transaction' AND state_change < now() - interval '1 second'"
    )
    return int(str(fetch(database, query)[0][0]))


async def all_ended(database: str) -> None:
    """Wait until no turn runs any more."""
    async with asyncio.timeout(ENDED_SECONDS):
        while fetch(database, "SELECT 1 FROM turns WHERE state = 'running'"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def bytes_of(api: httpx.AsyncClient, until: float) -> tuple[httpx.Headers, bytes]:
    """What a stream sends within so many seconds, and then it is left."""
    received = b""
    headers = httpx.Headers()
    try:
        async with (
            asyncio.timeout(until),
            api.stream("POST", "/api/chat", json=GREETING) as response,
        ):
            headers = response.headers
            async for part in response.aiter_raw():
                received += part
    except TimeoutError:
        pass
    return headers, received


async def test_many_silent_streams_hold_no_connection_and_are_kept_alive(
    api: httpx.AsyncClient, mock: MockLLM, database: str
) -> None:
    for _ in range(STREAMS):
        mock.script(SILENCE_SECONDS + 1, *saying("Late."))
    readers = [asyncio.create_task(bytes_of(api, SILENCE_SECONDS)) for _ in range(STREAMS)]
    await asyncio.sleep(1.5)
    begun = time.monotonic()
    stored = await api.put("/api/documents/acme/a.txt", content=b"alpha\n")
    listed = await api.get("/api/documents")
    healthy = await api.get("/healthz")
    assert [stored.status_code, listed.status_code, healthy.status_code] == [201, 200, 200]
    assert time.monotonic() - begun < SILENCE_SECONDS
    assert idle_in_transaction(database) == 0
    for headers, received in await asyncio.gather(*readers):
        assert b": ping\n\n" in received
        assert received.count(b"data: ") == 1
        assert headers["content-type"].startswith("text/event-stream")
        assert headers["cache-control"] == "no-cache, no-transform"
        assert headers["x-accel-buffering"] == "no"
        assert "content-encoding" not in headers
    await all_ended(database)
    assert idle_in_transaction(database) == 0


async def test_readers_that_leave_before_the_first_byte_do_no_harm(
    api: httpx.AsyncClient, server: Server, database: str
) -> None:
    async def leave() -> None:
        body = '{"message": "Hello there!"}'
        head = f"POST /api/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        port = int(server.url.rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{head}Content-Type: application/json\r\n\r\n{body}".encode())
        await writer.drain()
        writer.transport.abort()

    await asyncio.gather(*(leave() for _ in range(100)))
    turn = await ask(api, "Hello there!")
    assert turn.last["type"] == "done"
    await all_ended(database)
    assert "Traceback" not in server.log


async def test_a_reader_that_takes_byte_by_byte_gets_every_character(
    api: httpx.AsyncClient, mock: MockLLM
) -> None:
    text = "naïve 北京 🌍 a\u2028b\u0085c"
    mock.script(chunk({"content": text}), finished(), DONE)
    received = b""
    async with api.stream("POST", "/api/chat", json=GREETING) as response:
        async for part in response.aiter_raw(1):
            received += part
    assert text in received.decode()


async def test_a_turn_outlives_its_connections_to_the_database(
    api: httpx.AsyncClient, mock: MockLLM, database: str
) -> None:
    mock.script(*slowly(words=6))
    async with asking(api, "Hello there!") as events:
        begun = await heard(events, deltas=1)
        execute(
            database,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        rest = Turn([event async for event in events])
    assert rest.last["type"] == "done"
    (turn,) = (await conversation(api, begun.first["conversation_id"]))["turns"]
    assert turn["state"] == "answered"
    assert turn["rounds"][0]["text"] == begun.text + rest.text


async def test_a_process_that_was_held_up_for_longer_than_its_lease_gives_its_turn_up(
    api: httpx.AsyncClient, mock: MockLLM, database: str
) -> None:
    mock.script(*slowly(words=60))
    with serve(database, mock).ready() as other:
        async with connect(other) as there, asking(there, "Hello there!") as events:
            begun = await heard(events, deltas=3)
            await asyncio.sleep(0.5)
            other.process.send_signal(signal.SIGSTOP)
            try:
                await asyncio.sleep(LONGER_THAN_A_LEASE)
                found = await conversation(api, begun.first["conversation_id"])
                again = await ask(api, "Hello again!", conversation_id=found["id"])
            finally:
                other.process.send_signal(signal.SIGCONT)
            rest = Turn([event async for event in events])
    assert found["turns"][0]["state"] == "interrupted"
    assert found["turns"][0]["rounds"][0]["text"].startswith(begun.text)
    assert again.last["type"] == "done"
    assert rest.last["type"] == "error"
    turns = (await conversation(api, found["id"]))["turns"]
    assert [turn["state"] for turn in turns] == ["interrupted", "answered"]
