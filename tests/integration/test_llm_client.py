"""The model client against a real server: replies, and how they end."""

import asyncio
from contextlib import suppress
from typing import Any

import httpx
import pytest

from app.llm.client import OpenAIModel
from app.llm.messages import (
    AssistantMessage,
    LlmRequest,
    Reply,
    TextDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from app.settings import Settings
from tests.asking import ASKED, OK, ask, settings
from tests.e2e.mock_llm import RST, MockLLM
from tests.e2e.mock_wire import DONE, chunk, event, finished

REFUSES_EMPTY_CONTENT = b'{"error":{"message":"content must not be empty"}}'
CALL = ToolCall("a1", "list_documents", "")
WITHOUT_TEXT = LlmRequest(
    (UserMessage("a"), AssistantMessage("", (CALL,)), ToolMessage("a1", "none"))
)


async def test_a_reply_streams_and_the_request_is_authorised(
    mock: MockLLM, http: httpx.AsyncClient
) -> None:
    outcome = await ask(mock, http, llm_api_key="sk-secret ")
    assert (outcome.shown.strip(), outcome.error) == ("The documents do not cover this.", None)
    assert outcome.reply == Reply(outcome.shown)
    assert mock.headers[0]["Authorization"] == "Bearer sk-secret"
    assert mock.headers[0]["Accept-Encoding"] == "identity"
    assert mock.requests[0]["stream"] is True


@pytest.mark.parametrize("end", [(DONE, 5.0), (finished(), 0.05, RST), (finished(),)])
async def test_a_finished_reply_counts_however_the_connection_ends(
    mock: MockLLM, http: httpx.AsyncClient, end: tuple[Any, ...]
) -> None:
    mock.script(chunk({"content": "ok"}), *end)
    assert (await ask(mock, http)).reply == Reply("ok")


async def test_the_connection_of_a_reply_that_ends_serves_the_next_one(
    http: httpx.AsyncClient,
) -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        with suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                _, _, length = head.lower().partition(b"content-length: ")
                await reader.readexactly(int(length.split()[0]))
                body = chunk({"content": "ok"}) + finished() + DONE
                writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                writer.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
                await writer.drain()
                await asyncio.sleep(0)
                writer.write(b"0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        model = OpenAIModel(Settings(llm_base_url=url, llm_model="m"), http)
        for _ in range(3):
            pieces = [piece async for piece in model.stream(ASKED)]
            assert pieces[-1] == Reply("ok")
        await http.aclose()
    assert connections == 1


async def test_a_json_completion_is_a_reply(mock: MockLLM, http: httpx.AsyncClient) -> None:
    completion = event({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]})
    mock.script(completion.removeprefix(b"data: "), Content_Type="application/json")
    outcome = await ask(mock, http)
    assert (outcome.shown, outcome.reply) == ("hi", Reply("hi"))


@pytest.mark.parametrize("steps", [(10.0,), (chunk({"content": "Well "}), 10.0)])
async def test_a_cancelled_reply_closes_the_connection_at_once(
    mock: MockLLM, http: httpx.AsyncClient, steps: tuple[Any, ...]
) -> None:
    mock.script(*steps)
    task = asyncio.create_task(ask(mock, http))
    assert await asyncio.to_thread(mock.arrived.wait, 5.0)
    await asyncio.sleep(0.05)
    task.cancel()
    assert await asyncio.to_thread(mock.disconnected.wait, 1.0)


async def test_text_arrives_at_once_and_a_closed_generator_closes_the_connection_at_once(
    mock: MockLLM, http: httpx.AsyncClient
) -> None:
    mock.script(chunk({"content": "{"}), 10.0)
    stream = OpenAIModel(settings(mock), http).stream(ASKED)
    assert await anext(stream) == TextDelta("{")
    await stream.aclose()
    assert await asyncio.to_thread(mock.disconnected.wait, 1.0)


async def test_a_server_that_refuses_empty_content_gets_null_from_then_on(
    mock: MockLLM, http: httpx.AsyncClient
) -> None:
    mock.script(REFUSES_EMPTY_CONTENT, status=400)
    mock.script(*OK)
    outcome = await ask(mock, http, WITHOUT_TEXT)
    assert outcome.shown == "ok"
    assert [body["messages"][1]["content"] for body in mock.requests] == ["", None]


async def test_turns_that_meet_such_a_server_at_once_do_not_confuse_each_other(
    mock: MockLLM, http: httpx.AsyncClient
) -> None:
    model = OpenAIModel(settings(mock), http, backoff=lambda _: 0.01)
    for _ in range(2):
        mock.script(0.2, REFUSES_EMPTY_CONTENT, status=400)
    for _ in range(2):
        mock.script(*OK)

    async def last_piece() -> object:
        return [piece async for piece in model.stream(WITHOUT_TEXT)][-1]

    assert await asyncio.gather(last_piece(), last_piece()) == [Reply("ok"), Reply("ok")]
    contents = [body["messages"][1]["content"] for body in mock.requests]
    assert contents == ["", "", None, None]


async def test_a_server_that_never_opens_thinking_is_known_after_one_reply(
    mock: MockLLM, http: httpx.AsyncClient
) -> None:
    model = OpenAIModel(settings(mock), http)
    shown: list[str] = []
    for _ in range(2):
        mock.script(chunk({"content": "plan"}), 0.05, chunk({"content": "</think>ok"}), DONE)
        pieces = [piece async for piece in model.stream(ASKED)]
        shown.append("".join(piece.text for piece in pieces if isinstance(piece, TextDelta)))
        assert pieces[-1] == Reply("ok")
    assert shown == ["planok", "ok"]
