"""The tools as the model gets them: their order and their locked shapes."""

import json

from app.rag.agent import AGENT_TOOLS, UNKNOWN_TOOL

NAMES = [
    "list_documents", "read_document", "search_documents", "find_documents", "grep_documents",
]  # fmt: skip


def test_the_tools_come_in_a_fixed_order() -> None:
    assert [tool["function"]["name"] for tool in AGENT_TOOLS] == NAMES


def test_the_third_tool_searches_for_a_pattern_and_needs_nothing_else() -> None:
    third = AGENT_TOOLS[2]
    assert third["type"] == "function"
    function = third["function"]
    assert set(function) == {"name", "description", "parameters"}
    assert function["name"] == "search_documents"
    parameters = function["parameters"]
    assert parameters["type"] == "object"
    assert parameters["required"] == ["pattern"]
    assert list(parameters["properties"]) == ["pattern", "source", "path"]
    assert all(p["type"] == "string" for p in parameters["properties"].values())


def test_reading_takes_a_range_and_a_column_for_long_lines() -> None:
    parameters = AGENT_TOOLS[1]["function"]["parameters"]
    assert parameters["required"] == ["source", "path"]
    assert {name: p["type"] for name, p in parameters["properties"].items()} == {
        "source": "string",
        "path": "string",
        "start_line": "integer",
        "line_count": "integer",
        "start_column": "integer",
    }


def test_listing_needs_nothing() -> None:
    parameters = AGENT_TOOLS[0]["function"]["parameters"]
    assert parameters["required"] == []
    assert list(parameters["properties"]) == ["source", "prefix", "after"]


def test_definitions_are_short_json() -> None:
    assert len(json.dumps(AGENT_TOOLS)) < 4_500


def test_finding_needs_a_glob_and_matching_an_expression() -> None:
    find, grep = (tool["function"]["parameters"] for tool in AGENT_TOOLS[3:])
    assert find["required"] == ["glob"]
    assert list(find["properties"]) == ["glob", "source", "limit"]
    assert grep["required"] == ["pattern"]
    assert list(grep["properties"]) == [
        "pattern", "source", "path", "include", "exclude", "context", "case_sensitive", "limit",
    ]  # fmt: skip


def test_an_unknown_tool_is_answered_with_all_names() -> None:
    assert all(name in UNKNOWN_TOOL for name in NAMES)
