"""The command as a process: it starts from nothing, ends politely, and loses no answer."""

import asyncio
import os
import signal
from collections.abc import Generator
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import httpx
import pytest

from tests.e2e.asking import Turn, ask, asking, conversation, follow, heard
from tests.e2e.conftest import StartServer
from tests.e2e.mock_llm import MockLLM
from tests.e2e.mock_wire import Json
from tests.e2e.requests import calling, said, slowly
from tests.e2e.server import Server, ServerFailed, connect
from tests.factories import put
from tests.folders import open_folder

QUESTION = "Tell me of PORT_8081"
FOUND_SECONDS = 60.0


async def interrupted_turn(client: httpx.AsyncClient, conversation_id: str) -> Json:
    """The only turn of the conversation, once it has been found to be interrupted."""
    async with asyncio.timeout(FOUND_SECONDS):
        while True:
            [turn] = (await conversation(client, conversation_id))["turns"]
            if turn["state"] != "running":
                assert turn["state"] == "interrupted"
                return turn
            await asyncio.sleep(0.2)


async def test_a_terminated_server_ends_its_answers_stores_them_and_exits_with_0(
    start: StartServer, mock: MockLLM
) -> None:
    first = start().ready()
    mock.script(*slowly(60))
    async with connect(first) as client:
        await put(client, "acme", "setup.md", "PORT_8081 is the port.\n")
        async with asking(client, QUESTION) as events:
            begun = await heard(events, 3)
            first.process.send_signal(signal.SIGTERM)
            rest = Turn([event async for event in events])
    assert await asyncio.to_thread(first.wait) == 0
    assert (rest.last["type"], rest.last["code"]) == ("error", "interrupted")
    assert mock.disconnected.is_set()
    async with connect(start().ready()) as client:
        turn = await interrupted_turn(client, begun.first["conversation_id"])
        assert "".join(made["text"] for made in turn["rounds"]) == begun.text + rest.text
        assert turn["error"]["error"] == "interrupted"
        again = await ask(client, QUESTION, conversation_id=begun.first["conversation_id"])
    assert again.last["finish"] == "answered"
    assert said(mock.requests[-1], "assistant") == [begun.text + rest.text]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_neither_silent_models_nor_readers_that_do_not_read_keep_it_from_ending(
    start: StartServer, mock: MockLLM, how: signal.Signals
) -> None:
    server = start().ready()
    async with connect(server) as client, AsyncExitStack() as open_streams:
        await put(client, "acme", "setup.md", "PORT_8081 is the port.\n")
        mock.script(*slowly(400, pause=0.001))
        for question in (QUESTION, f"silent 60: {QUESTION}", f"silent 50: {QUESTION}"):
            await open_streams.enter_async_context(asking(client, question))
        for _ in range(8):
            server.process.send_signal(how)
            await asyncio.sleep(0.2)
        assert await asyncio.to_thread(server.wait) == 0
    async with connect(start().ready()) as client:
        listed = (await client.get("/api/conversations")).json()["conversations"]
    assert [entry["running"] for entry in listed] == [False] * 3


async def test_a_killed_server_leaves_an_interrupted_turn_with_its_text(
    start: StartServer, mock: MockLLM
) -> None:
    first = start().ready()
    mock.script(*calling(("search_documents", {"pattern": "port"})))
    mock.script(*slowly(60))
    async with connect(first) as client:
        await put(client, "acme", "setup.md", "PORT_8081 is the port.\n")
        async with asking(client, QUESTION) as events:
            begun = await heard(events, 6)
            first.kill()
            with pytest.raises(httpx.HTTPError):
                async for _ in events:
                    pass
    conversation_id = begun.first["conversation_id"]
    async with connect(start().ready()) as client:
        turn = await interrupted_turn(client, conversation_id)
        kept = "".join(made["text"] for made in turn["rounds"])
        assert kept.startswith("word0 **strong** word1")
        assert [call["name"] for made in turn["rounds"] for call in made["calls"]] == [
            "search_documents"
        ]
        replayed = await follow(client, turn["id"])
        assert (replayed.last["type"], replayed.last["code"]) == ("error", "interrupted")
        assert replayed.text == kept
        again = await ask(client, QUESTION, conversation_id=conversation_id)
    assert again.last["finish"] == "answered"
    assert said(mock.requests[-1], "assistant")[-1] == kept


def test_without_tokens_it_serves_no_other_host_and_says_so_in_one_sentence() -> None:
    with Server("--host", "0.0.0.0") as server:
        with pytest.raises(ServerFailed) as failure:
            server.ready()
        assert server.process.returncode == 1
    assert str(failure.value).splitlines() == [
        "Without tokens Brain serves no other host than this one: to serve on 0.0.0.0, set"
        " BOR_EDITOR_TOKENS."
    ]


def test_a_setting_that_does_not_parse_is_named_in_one_sentence() -> None:
    with Server(agent_max_rounds="many") as server, pytest.raises(ServerFailed) as failure:
        server.ready()
    assert str(failure.value).startswith("BOR_AGENT_MAX_ROUNDS: ")
    assert len(str(failure.value).splitlines()) == 1


async def test_with_tokens_it_serves_other_hosts_and_knows_who_may_write(
    start: StartServer,
) -> None:
    server = start("--host", "0.0.0.0", editor_tokens="pen", guest_tokens="eye").ready()
    address = server.url.replace("0.0.0.0", "127.0.0.1")
    async with httpx.AsyncClient(base_url=address) as client:
        codes = [
            (
                await client.put("/api/documents/acme/a.md", content="a\n", headers=headers)
            ).status_code
            for headers in ({}, bearer("wrong"), bearer("eye"), bearer("pen"))
        ]
        assert codes == [401, 401, 403, 201]
        read = await client.get("/api/documents/acme/a.md", headers=bearer("eye"))
        assert read.is_success


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def data_dir() -> Generator[Path]:
    """A data folder that does not exist yet, where root's PostgreSQL may enter."""
    with open_folder() as folder:
        yield folder / "data"
        for leftover in folder.rglob("postmaster.pid"):
            with suppress(ProcessLookupError):
                os.kill(int(leftover.read_text().split()[0]), signal.SIGQUIT)


async def test_with_nothing_set_it_brings_its_database_and_a_model_that_needs_no_network(
    data_dir: Path,
) -> None:
    with Server(data_dir=data_dir) as server:
        async with connect(server.ready()) as client:
            await put(client, "acme", "setup.md", "PORT_8081 is the port.\n")
            turn = await ask(client, QUESTION)
        assert turn.last["finish"] == "answered"
        assert "[acme/setup.md:1]" in turn.text
        # Killed, with its database running on, and started again in the same folder.
        server.kill()
    with Server(data_dir=data_dir) as server:
        async with connect(server.ready()) as client:
            assert (await client.get("/api/documents/acme/setup.md")).is_success
            [turn] = (await conversation(client, turn.first["conversation_id"]))["turns"]
            assert turn["state"] == "answered"
        assert server.stop() == 0
    assert not (data_dir / "postgres" / "postmaster.pid").exists()
