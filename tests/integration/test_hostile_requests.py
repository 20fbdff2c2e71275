"""Requests of attackers and of unlucky users: refused shortly, and nobody else is held up."""

import asyncio
import uuid
from collections.abc import AsyncIterator

import pytest
from httpx import Response
from sqlalchemy import create_engine, make_url, text

from app.settings import Settings
from tests.chatting import Chat, chatting, kinds, parse_events
from tests.fakes import ScriptedModel, saying

ODD_BODIES = [
    *(b"", b"null", b"[]", b'"x"', b"1", b"true", b"{", b"\x1f\x8b\x08\x00", b'{"%s":"x"} x'),
    *(b'{"%s":NaN}', b'{"%s":-Infinity}', b'{"%s":1e999}', b'{"%s":null}', b'{"%s":true}'),
    *(b'{"%s":["\\ud800"]}', b'{"\\ud800":1}', b'{"%s":"\xe9"}', b'{"%s":"a\x00b"}'),
    *(b'\xef\xbb\xbf{"%s":1}', b'{"%s":1,"%s":[]}', b'{"%s":' + b"9" * 5_000 + b"}"),
    *(b"[" * 5_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000),
    b'{"%s":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    b'{"' + b"k" * 100_000 + b'":1}',
]
UNKNOWN_IDS = [
    "9223372036854775808",
    "-1",
    "abc",
    "%00",
    "%ED%A0%BD",
    "0" * 2_000,
    str(uuid.UUID(int=0)),
]


@pytest.fixture
async def chat(settings: Settings) -> AsyncIterator[Chat]:
    async with chatting(settings, ScriptedModel()) as chat:
        yield chat


async def test_odd_json_changes_nothing(chat: Chat) -> None:
    await chat.client.put("/api/documents/acme/a.txt", content=b"alpha")
    conversation = (await chat.ask("Hello!"))[0]["conversation_id"]
    for body in ODD_BODIES:
        for method, address, field in (
            ("PATCH", f"/api/conversations/{conversation}", b"title"),
            ("POST", "/api/documents/acme/a.txt/move", b"path"),
        ):
            answer = await chat.client.request(
                method,
                address,
                content=body.replace(b"%s", field),
                headers={"content-type": "application/json"},
            )
            assert is_short_refusal(answer), body[:40]
    assert (await chat.client.get("/api/documents/acme/a.txt")).status_code == 200


def is_short_refusal(answer: Response) -> bool:
    shape = set(answer.json()) == {"error", "detail"}
    return 400 <= answer.status_code < 500 and shape and len(answer.content) < 500


async def test_what_is_not_known_is_said_shortly(chat: Chat) -> None:
    for unknown in UNKNOWN_IDS:
        for method, address in (
            ("GET", f"/api/conversations/{unknown}"),
            ("PATCH", f"/api/conversations/{unknown}"),
            ("DELETE", f"/api/conversations/{unknown}"),
            ("GET", f"/api/turns/{unknown}/events"),
            ("POST", f"/api/turns/{unknown}/stop"),
        ):
            answer = await chat.client.request(method, address, json={"title": "x"})
            assert is_short_refusal(answer), address[:60]


async def test_a_last_event_id_that_is_none_replays_from_the_start(chat: Chat) -> None:
    asked = await chat.ask("Hello!")
    address = f"/api/turns/{asked[0]['turn_id']}/events"
    for header in (b"abc", b"-1", b"1e5", b"0x1", "\u0663".encode(), b"\xff", b"9" * 50):
        answer = await chat.client.get(address, headers={b"last-event-id": header})
        assert parse_events(answer.text) == asked, header


async def test_stopping_and_removing_twice_do_no_harm(settings: Settings) -> None:
    waiting = asyncio.Event()
    async with chatting(settings, ScriptedModel([waiting, *saying("Done.")])) as chat:
        asking = chat.start("Hello!")
        shown = await chat.running_turn()
        stop = f"/api/turns/{shown['turns'][0]['id']}/stop"
        assert [(await chat.client.post(stop)).status_code for _ in range(2)] == [204, 204]
        assert kinds(await asking)[-1] == "done"
        assert (await chat.client.post(stop)).status_code == 204
        address = f"/api/conversations/{shown['id']}"
        assert (await chat.client.delete(address)).status_code == 204
        assert (await chat.client.delete(address)).status_code == 404


async def test_open_streams_hold_no_connection(settings: Settings) -> None:
    silence = asyncio.Event()
    few = settings.model_copy(update={"database_pool": 2})
    async with chatting(few, ScriptedModel([silence, *saying("Done.")])) as chat:
        asking = [chat.start(f"Hello {number}!") for number in range(6)]
        while len(chat.model.requests) < len(asking):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        async with asyncio.timeout(10):
            stored = await chat.client.put("/api/documents/acme/a.txt", content=b"alpha")
            listed = await chat.client.get("/api/documents")
            ready = await chat.client.get("/readyz")
        silence.set()
        answers = await asyncio.gather(*asking)
    assert [answer.status_code for answer in (stored, listed, ready)] == [201, 200, 200]
    assert all(kinds(events)[-1] == "done" for events in answers)


async def test_connections_that_the_database_closed_are_replaced(settings: Settings) -> None:
    url = make_url(settings.database_url).update_query_dict({"application_name": "to-be-closed"})
    named = settings.model_copy(update={"database_url": url.render_as_string()})
    async with chatting(named, ScriptedModel()) as chat:
        await asyncio.gather(*(chat.client.get("/api/documents") for _ in range(5)))
        assert await asyncio.to_thread(_close_connections, settings.database_url) > 0
        answers = [(await chat.client.get("/api/documents")).status_code for _ in range(20)]
    assert answers.count(200) >= 19


def _close_connections(url: str) -> int:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    close = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
               WHERE application_name = 'to-be-closed'"""
    with engine.connect() as connection:
        closed = connection.scalar(text(close))
    engine.dispose()
    return closed or 0


async def test_secrets_are_told_nowhere(settings: Settings) -> None:
    secrets = {"editor_tokens": "sec-editor", "guest_tokens": "sec-guest", "llm_api_key": "sec-key"}
    given = Settings.model_validate({"database_url": settings.database_url, **secrets})
    async with chatting(given, ScriptedModel()) as chat:
        for address in ("/metrics", "/openapi.json", "/api/interface", "/healthz", "/readyz"):
            answer = await chat.client.get(address)
            assert answer.status_code == 200
            assert "sec-" not in answer.text
        refused = await chat.client.get("/api/sources", headers={"authorization": "Bearer sec-x"})
    assert refused.status_code == 401
    assert "sec-" not in refused.text
