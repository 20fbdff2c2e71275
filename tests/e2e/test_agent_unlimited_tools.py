"""Tools are unlimited in number and bounded by rounds: every turn ends in words."""

import json

import httpx
import pytest
from playwright.async_api import expect

from tests.e2e.asking import ask
from tests.e2e.chat_page import ChatPage
from tests.e2e.conftest import StartServer
from tests.e2e.mock_llm import MockLLM
from tests.e2e.requests import calling, exchanges, offered, said, saying
from tests.e2e.server import connect
from tests.factories import put

GROUNDED = "about PORT_8081"


@pytest.fixture(autouse=True)
async def documents(api: httpx.AsyncClient) -> None:
    await put(api, "acme", "guide/setup.md", "PORT_8081 is the port.\nport of round 1\n")


async def test_a_turn_may_call_tools_in_many_rounds(chat: ChatPage, mock: MockLLM) -> None:
    answer = await chat.answer(f"many tools 6, {GROUNDED}")
    assert len(mock.requests) == 7
    assert [e.arguments["pattern"] for e in exchanges(mock.requests[-1])] == [
        f"round {n}" for n in range(1, 7)
    ]
    await expect(chat.tool_lines).to_have_count(6)
    await expect(answer).to_contain_text("I searched 6 times.")


async def test_all_calls_of_one_reply_run_and_keep_their_order(
    chat: ChatPage, mock: MockLLM
) -> None:
    patterns = [f"pattern {n}" for n in range(40)]
    mock.script(*calling(*(("search_documents", {"pattern": p}) for p in patterns)))
    mock.script(*saying("Nothing found."))
    await chat.answer(f"Look everywhere, {GROUNDED}")
    assert [e.arguments["pattern"] for e in exchanges(mock.requests[-1])] == patterns
    await expect(chat.tool_lines).to_have_text([f"🔎 Searching for '{p}'" for p in patterns])
    await expect(chat.transcript.locator(".tool.running")).to_have_count(0)


async def test_the_same_call_again_is_told_that_its_result_is_known(
    api: httpx.AsyncClient, mock: MockLLM
) -> None:
    for _ in range(2):
        mock.script(*calling(("search_documents", {"pattern": "port"})))
    mock.script(*saying("Enough."))
    await ask(api, f"Again and again, {GROUNDED}")
    first, second = exchanges(mock.requests[-1])
    assert first.result.startswith("acme/guide/setup.md:1: PORT_8081")
    assert second.result.startswith("Same result as before")


async def test_after_the_last_round_one_request_without_tools_ends_the_turn_in_words(
    start: StartServer, mock: MockLLM, api: httpx.AsyncClient
) -> None:
    with start(agent_max_rounds=2).ready() as server:
        turn = await ask(connect(server), f"many tools 9, {GROUNDED}")
    assert [bool(offered(body)) for body in mock.requests] == [True, True, False]
    closing = mock.requests[-1]
    assert "tools" not in closing
    assert said(closing, "tool") == []
    assert not any(message.get("tool_calls") for message in closing["messages"])
    earlier = "\n".join(said(closing, "assistant"))
    assert 'search_documents {"pattern": "round 1"}' in earlier
    assert "acme/guide/setup.md:2: port of round 1" in earlier
    assert turn.last["finish"] == "answered"
    assert turn.text


async def test_without_rounds_the_model_never_gets_tools(
    start: StartServer, mock: MockLLM, api: httpx.AsyncClient
) -> None:
    with start(agent_max_rounds=0).ready() as server:
        turn = await ask(connect(server), f"use your tools {GROUNDED}")
    [body] = mock.requests
    assert "tools" not in body
    assert "tool_choice" not in body
    assert turn.first["grounded"] is True
    assert "PORT_8081" in said(body, "user")[0]


async def test_a_deflected_request_is_that_of_a_server_whose_tools_are_switched_off(
    start: StartServer, mock: MockLLM, api: httpx.AsyncClient
) -> None:
    grounded = await ask(api, f"Please use your tools, {GROUNDED}")
    conversation = grounded.first["conversation_id"]
    off_topic = {"conversation_id": conversation, "message": "Who painted sunflowers in Arles?"}
    deflected = await ask(api, **off_topic)
    with start(agent_max_rounds=0).ready() as server:
        other = connect(server)
        await ask(other, **off_topic, replaces_turn=deflected.first["turn_id"])
    with_tools, without = mock.requests[-2:]
    assert deflected.first["grounded"] is False
    assert deflected.last["finish"] == "deflected"
    assert "tools" not in with_tools
    assert len(said(with_tools, "user")) == 2
    assert json.dumps(with_tools) == json.dumps(without)
    assert mock.headers[-2]["Content-Length"] == mock.headers[-1]["Content-Length"]
