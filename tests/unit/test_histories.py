"""Whatever the stored rounds hold, the next request is one that a strict server takes."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from app.llm.forms import Forms
from app.llm.wire import to_wire
from app.rag.agent import AGENT_TOOLS
from app.rag.history import TurnMade
from app.rag.requests import fitted, request_of
from tests.e2e.mock_wire import refusal
from tests.histories import conversations


@settings(max_examples=100, deadline=None)
@given(conversations, st.booleans(), st.booleans(), st.sampled_from([1_500, 4_096, 32_768]))
def test_a_request_is_valid_whatever_was_stored(
    turns: tuple[TurnMade, ...], with_tools: bool, null: bool, context: int
) -> None:
    tools = AGENT_TOOLS if with_tools else []
    request = request_of(fitted(turns, tools, context), tools)
    messages = to_wire(request, "m", Forms(null_content=null, reasoning=null))["messages"]
    json.dumps(messages, ensure_ascii=False).encode()
    assert refusal(messages) is None
    ids = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    assert len(set(ids)) == len(ids)
    assert with_tools or not ids
    roles = [message["role"] for message in messages]
    assert roles[0] == "system"
    assert "user user" not in " ".join(roles)
