"""The mock LLM keeps its promises: what each marker makes it say, and what it refuses."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.e2e.mock_llm import MockLLM

TOOLS = [{"type": "function", "function": {"name": "search_documents"}}]
RESULTS = {
    "list_documents": "source: acme path: guide/set up.md (3 lines)\nsource: b path: c (1 line)",
    "read_document": "source: acme path: guide/set up.md lines 1-2 of 3\n1: # Setup\n2: port",
    "search_documents": "acme/guide/set up.md:2: port = 8081",
    "search_files": "There is no such tool.",
}


@pytest.fixture(scope="module")
def mock() -> Iterator[MockLLM]:
    with MockLLM() as mock:
        yield mock


def post(mock: MockLLM, messages: list[dict[str, Any]], **more: Any) -> httpx.Response:
    body = {"model": "m", "messages": messages, **more}
    return httpx.post(f"{mock.url}/chat/completions", json=body, trust_env=False)


def converse(mock: MockLLM, question: str) -> tuple[str, list[str]]:
    """The answer, and the names of the tools called for it."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": f"<documents>\n</documents>\n\nQuestion: {question}"}
    ]
    names: list[str] = []
    while True:
        message = post(mock, messages, tools=TOOLS).json()["choices"][0]["message"]
        if not message.get("tool_calls"):
            return message["content"], names
        messages.append(message)
        for call in message["tool_calls"]:
            names.append(call["function"]["name"])
            result = {"role": "tool", "tool_call_id": call["id"], "content": RESULTS[names[-1]]}
            messages.append(result)


@pytest.mark.parametrize(
    ("question", "tools", "answer"),
    [
        (
            "Please use your tools",
            ["list_documents", "read_document"],
            "It begins “# Setup” [acme/guide/set up.md:1].",
        ),
        (
            'search for "port"',
            ["search_documents"],
            "The documents say: port = 8081 [acme/guide/set up.md:2]",
        ),
        (
            'search everywhere twice for "port"',
            ["search_documents"] * 2,
            "The documents say: port = 8081 [acme/guide/set up.md:2]",
        ),
        ("many tools 12", ["search_documents"] * 12, "I searched 12 times."),
        (
            "parallel tools",
            ["search_documents"] * 3,
            "The documents say: port = 8081 [acme/guide/set up.md:2]",
        ),
        ("unknown tool", ["search_files"], "The tool said: There is no such tool."),
        ("What?", [], "The documents do not cover this."),
    ],
)
def test_a_marker_decides_about_tools_and_answer(
    mock: MockLLM, question: str, tools: list[str], answer: str
) -> None:
    assert converse(mock, question) == (answer, tools)


def test_without_a_marker_the_first_passage_is_quoted(mock: MockLLM) -> None:
    passage = '<passage source="a" path="b].md" lines="3-4">\n3: one\n4: two\n</passage>'
    prompt = f"<documents>\n{passage}\n</documents>\n\nQuestion: What?"
    reply = post(mock, [{"role": "user", "content": prompt}]).json()
    assert reply["choices"][0]["message"]["content"] == "The documents say “one” [a/b%5D.md:3]."


def test_results_that_come_as_text_are_used_too(mock: MockLLM) -> None:
    asked = {"role": "user", "content": 'Question: search for "port"'}
    text = "[Called search_documents {}]\n[Result]\na/b:2: port = 1\n[End of result]"
    closing = {"role": "user", "content": "Answer now."}
    reply = post(mock, [asked, {"role": "assistant", "content": text}, closing]).json()
    assert reply["choices"][0]["message"]["content"] == "The documents say: port = 1 [a/b:2]"


def test_failures_come_as_ordered(mock: MockLLM) -> None:
    assert post(mock, [{"role": "user", "content": "fail with 418"}]).status_code == 418
    once = [{"role": "user", "content": "fail once"}]
    assert [post(mock, once).status_code for _ in range(2)] == [503, 200]
    with pytest.raises(httpx.ReadError):
        post(mock, [{"role": "user", "content": "break off"}], stream=True)


def test_a_stream_ends_with_usage_and_done(mock: MockLLM) -> None:
    lines = post(mock, [{"role": "user", "content": "What?"}], stream=True).text.split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    assert '"usage"' in lines[-3]


@pytest.mark.parametrize(
    "history",
    [
        [{"role": "tool", "tool_call_id": "a", "content": "orphan"}],
        [{"role": "assistant", "content": ""}],
        [{"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}],
    ],
)
def test_an_invalid_history_is_refused(mock: MockLLM, history: list[dict[str, Any]]) -> None:
    for message in history:
        for call in message.get("tool_calls", ()):
            call["function"] = {"name": "x", "arguments": "{}"}
    assert post(mock, [*history, {"role": "user", "content": "What?"}]).status_code == 400
