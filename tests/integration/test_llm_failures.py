"""The model client against a real server that misbehaves."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from app.llm.client import exponential
from app.llm.messages import (
    Reply,
    ToolCall,
)
from tests.asking import OK, ask
from tests.e2e.mock_llm import RST, MockLLM
from tests.e2e.mock_wire import DONE, called, chunk, event, finished


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503])
async def test_a_passing_failure_is_tried_again(
    mock: MockLLM, http: httpx.AsyncClient, status: int
) -> None:
    mock.script(b'{"error":{"message":"later"}}', status=status)
    mock.script(*OK)
    outcome = await ask(mock, http)
    assert (outcome.shown, outcome.slept) == ("ok", [0.5])
    assert f"({status}); trying again in 1 s" in outcome.waiting[0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_lasting_failure_is_told_in_the_words_of_the_provider(
    mock: MockLLM, http: httpx.AsyncClient, status: int
) -> None:
    mock.script(b'{"error":{"message":"bad key sk-secret, sorry"}}', status=status)
    outcome = await ask(mock, http, llm_api_key="sk-secret")
    assert outcome.error is not None
    assert outcome.error.detail.endswith(f"({status}): bad key …, sorry")
    assert len(mock.requests) == 1


@pytest.mark.parametrize(
    ("header", "waited"),
    [
        ("7", 7),
        ("3600", 30),
        ("soon", 0.5),
        ("-1", 0.5),
        (format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), 30),
        (format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True), 0.5),
    ],
    ids=["seconds", "long", "words", "negative", "a later time", "an earlier time"],
)
async def test_retry_after_is_obeyed_within_bounds(
    mock: MockLLM, http: httpx.AsyncClient, header: str, waited: float
) -> None:
    mock.script(status=429, Retry_After=header)
    mock.script(*OK)
    outcome = await ask(mock, http)
    assert outcome.slept == [waited]
    assert outcome.shown == "ok"


async def test_retries_end(mock: MockLLM, http: httpx.AsyncClient) -> None:
    for _ in range(5):
        mock.script(status=503)
    outcome = await ask(mock, http)
    assert outcome.error is not None
    assert outcome.error.detail == "The model is busy (503)."
    assert len(mock.requests) == 3


async def test_a_server_that_is_not_there_is_said_to_be(http: httpx.AsyncClient) -> None:
    with MockLLM() as gone:
        pass
    outcome = await ask(gone, http)
    assert outcome.error is not None
    assert "cannot be reached" in outcome.error.detail
    assert len(outcome.waiting) == 2


async def test_an_address_that_is_none_is_said_to_be(
    mock: MockLLM, http: httpx.AsyncClient
) -> None:
    for url in ("model.example/v1", "http://[::/v1"):
        outcome = await ask(mock, http, llm_base_url=url)
        assert outcome.error is not None
        assert "BOR_LLM_BASE_URL" in outcome.error.detail


async def test_a_key_that_cannot_be_sent_is_not_shown(
    mock: MockLLM, http: httpx.AsyncClient
) -> None:
    outcome = await ask(mock, http, llm_api_key="sk-sec\nret")
    assert outcome.error is not None
    assert outcome.error.detail == "BOR_LLM_API_KEY holds characters that cannot be sent."


@pytest.mark.parametrize(
    "broken",
    [
        (RST,),
        (chunk({"role": "assistant", "content": ""}), 0.05, RST),
        (chunk({"tool_calls": [called(0, id="a", name="x", arguments='{"pa')]}), 0.05, RST),
        (chunk({"content": " \n"}),),
        (event({"error": {"message": "overloaded", "code": 503}}), DONE),
        (b"",),
        (finished("tool_calls"), DONE),
    ],
)
async def test_what_showed_nothing_is_tried_again_from_the_start(
    mock: MockLLM, http: httpx.AsyncClient, broken: tuple[Any, ...]
) -> None:
    whole = called(0, id="b", name="x", arguments='{"path":"a"}')
    mock.script(*broken)
    mock.script(chunk({"content": "ok", "tool_calls": [whole]}), finished(), DONE)
    outcome = await ask(mock, http)
    assert outcome.reply == Reply("ok", (ToolCall("b", "x", '{"path":"a"}'),))
    assert len(outcome.waiting) == 1


@pytest.mark.parametrize("end", [(0.05, RST), (), (event({"error": {"code": 503}}),)])
async def test_what_was_shown_is_never_repeated(
    mock: MockLLM, http: httpx.AsyncClient, end: tuple[Any, ...]
) -> None:
    mock.script(chunk({"content": "The port "}), *end)
    mock.script(*OK)
    outcome = await ask(mock, http)
    assert (outcome.shown, outcome.waiting, outcome.reply) == ("The port ", [], None)
    assert outcome.error is not None


async def test_an_empty_reply_is_tried_again_once(mock: MockLLM, http: httpx.AsyncClient) -> None:
    for _ in range(5):
        mock.script(DONE)
    outcome = await ask(mock, http)
    assert outcome.error is not None
    assert "empty" in outcome.error.detail
    assert len(mock.requests) == 2


@pytest.mark.parametrize("steps", [(5.0,), (chunk({"content": "Well "}), 5.0)])
async def test_silence_is_an_error(
    mock: MockLLM, http: httpx.AsyncClient, steps: tuple[Any, ...]
) -> None:
    mock.script(*steps)
    outcome = await ask(mock, http, llm_silence_seconds=0.2)
    assert outcome.error is not None
    assert outcome.error.detail == "The model was silent for 0.2 s."
    assert await asyncio.to_thread(mock.disconnected.wait, 1.0)


async def test_comments_break_the_silence(mock: MockLLM, http: httpx.AsyncClient) -> None:
    mock.script(*[step for _ in range(6) for step in (b": ping\n\n", 0.1)], *OK)
    outcome = await ask(mock, http, llm_silence_seconds=0.4)
    assert outcome.shown == "ok"


@pytest.mark.parametrize(
    ("body", "content_type", "sentence"),
    [
        (b'{"error":{"message":"model not loaded"}}', "application/json", "model not loaded"),
        (b"<html>Sign in</html>", "text/html", "Sign in"),
        (b"", "application/json", "empty"),
    ],
)
async def test_a_200_that_is_no_reply_is_an_error(
    mock: MockLLM, http: httpx.AsyncClient, body: bytes, content_type: str, sentence: str
) -> None:
    mock.script(body, Content_Type=content_type)
    outcome = await ask(mock, http, llm_retries=0)
    assert outcome.error is not None
    assert sentence in outcome.error.detail


async def test_redirects_are_not_followed(mock: MockLLM, http: httpx.AsyncClient) -> None:
    mock.script(status=307, Location=f"{mock.url}/elsewhere")
    outcome = await ask(mock, http)
    assert outcome.error is not None
    assert f"{mock.url}/elsewhere" in outcome.error.detail
    assert len(mock.requests) == 1


def test_waits_grow_with_chance_and_stay_bounded() -> None:
    for attempt, longest in ((0, 1), (1, 2), (3, 8), (9, 30)):
        assert longest / 2 <= exponential(attempt) <= longest
