"""What the model client learns of a server: its context, and the forms of messages it takes."""

import json

import httpx
import pytest

from app.llm.client import OpenAIModel
from app.llm.messages import (
    DEFAULT_CONTEXT,
    AssistantMessage,
    LlmRequest,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from app.llm.overflow import ContextOverflow
from tests.asking import ASKED, OK, ask, settings
from tests.e2e.mock_llm import MockLLM
from tests.e2e.mock_wire import event

THOUGHT = LlmRequest(
    (
        UserMessage("Which port?"),
        AssistantMessage("", (ToolCall("a1", "list_documents", "{}"),), reasoning="plan"),
        ToolMessage("a1", "none"),
    )
)


async def test_the_context_is_the_setting_or_what_the_server_says_or_a_usual_one(
    mock: MockLLM, http: httpx.AsyncClient
) -> None:
    assert await OpenAIModel(settings(mock), http).context_tokens() == DEFAULT_CONTEXT
    mock.model["max_model_len"] = 5_000
    model = OpenAIModel(settings(mock), http)
    assert await model.context_tokens() == 5_000
    mock.model["max_model_len"] = 6_000
    assert await model.context_tokens() == 5_000
    given = OpenAIModel(settings(mock, context_tokens=4_000), http)
    assert await given.context_tokens() == 4_000


async def test_a_server_that_is_not_there_yet_is_asked_again(http: httpx.AsyncClient) -> None:
    with MockLLM() as mock:
        given = settings(mock)
    model = OpenAIModel(given, http)
    assert await model.context_tokens() == DEFAULT_CONTEXT
    port = int(given.llm_base_url.rpartition(":")[2].partition("/")[0])
    with MockLLM(port) as mock:
        mock.model["context_length"] = 5_000
        assert await model.context_tokens() == 5_000


@pytest.mark.parametrize("status", [200, 400, 413, 500])
async def test_an_overflow_is_no_failure_to_try_again_and_its_limit_is_remembered(
    mock: MockLLM, http: httpx.AsyncClient, status: int
) -> None:
    error = {"error": {"message": "the maximum context length is 4096 tokens", "code": 400}}
    mock.script(event(error) if status == 200 else json.dumps(error).encode(), status=status)
    model = OpenAIModel(settings(mock), http)
    with pytest.raises(ContextOverflow):
        _ = [piece async for piece in model.stream(ASKED)]
    assert len(mock.requests) == 1
    assert await model.context_tokens() == 4096


async def test_reasoning_is_sent_back_to_a_server_that_misses_it(
    mock: MockLLM, http: httpx.AsyncClient
) -> None:
    mock.script(b'{"error":{"message":"Missing `reasoning_content` field"}}', status=400)
    mock.script(*OK)
    outcome = await ask(mock, http, THOUGHT)
    assert outcome.shown == "ok"
    sent = [request["messages"][1].get("reasoning_content") for request in mock.requests]
    assert sent == [None, "plan"]
