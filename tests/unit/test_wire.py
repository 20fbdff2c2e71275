"""What goes over the wire."""

import json
from typing import Any

import pytest

from app.llm.forms import USUAL, Forms
from app.llm.messages import (
    AssistantMessage,
    LlmRequest,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from app.llm.wire import to_wire
from tests.e2e.mock_wire import refusal

ASKED = UserMessage("Where?")
CALL = ToolCall("a1", "list_documents", "")


def sent(*messages: Message, forms: Forms = USUAL) -> list[dict[str, Any]]:
    wired: list[dict[str, Any]] = to_wire(LlmRequest(messages), "m", forms)["messages"]
    assert refusal(wired) is None
    json.dumps(wired, ensure_ascii=False).encode()
    return wired


def test_a_request_without_tools_has_no_tools_key() -> None:
    assert "tools" not in to_wire(LlmRequest((ASKED,)), "m")


def test_a_request_streams_with_usage_and_its_tools() -> None:
    tool = {"type": "function", "function": {"name": "x"}}
    assert to_wire(LlmRequest((SystemMessage("Be brief."), ASKED), (tool,)), "m") == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Where?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [tool],
    }


@pytest.mark.parametrize(("null_content", "content"), [(False, ""), (True, None)])
def test_content_beside_calls_is_always_there(null_content: bool, content: str | None) -> None:
    history = (ASKED, AssistantMessage("", (CALL,)), ToolMessage("a1", "none"))
    message = sent(*history, forms=Forms(null_content))[1]
    assert message["content"] == content
    assert message["tool_calls"][0]["function"] == {"name": "list_documents", "arguments": "{}"}


@pytest.mark.parametrize(("echoed", "sent_back"), [(False, None), (True, "plan")])
def test_reasoning_goes_back_with_its_calls_where_the_server_wants_it(
    echoed: bool, sent_back: str | None
) -> None:
    thought = AssistantMessage("", (CALL,), reasoning="plan")
    history = (ASKED, thought, ToolMessage("a1", "none"))
    message = sent(*history, forms=Forms(reasoning=echoed))[1]
    assert message.get("reasoning_content") == sent_back


@pytest.mark.parametrize("name", ["", "read document", "x" * 80, "a\ud800"])
def test_names_and_arguments_are_legal_whatever_the_model_wrote(name: str) -> None:
    bad = ToolCall("a1", name, '{"a":')
    sent(ASKED, AssistantMessage("", (bad,)), ToolMessage("a1", "no\0\ud800"))


def test_an_id_used_again_is_renamed_together_with_its_result() -> None:
    one_round = (AssistantMessage("", (CALL,)), ToolMessage("a1", "none"))
    wired = sent(ASKED, *one_round, *one_round, ASKED)
    assert [m["tool_call_id"] for m in wired if m["role"] == "tool"] == ["a1", "a1_2"]


def test_results_follow_the_order_of_the_calls_and_a_missing_one_is_said_to_be() -> None:
    calls = tuple(ToolCall(call_id, "x", "{}") for call_id in ("a", "b", "c"))
    wired = sent(
        ASKED, AssistantMessage("", calls), ToolMessage("c", "3"), ToolMessage("a", "1"), ASKED
    )
    results = [(m["tool_call_id"], m["content"]) for m in wired if m["role"] == "tool"]
    assert [call_id for call_id, _ in results] == ["a", "b", "c"]
    assert "interrupted" in results[1][1]


def test_results_without_a_call_and_silent_replies_are_left_out() -> None:
    wired = sent(ASKED, AssistantMessage(" "), ToolMessage("zz", "orphan"), ASKED)
    assert [m["role"] for m in wired] == ["user", "user"]
