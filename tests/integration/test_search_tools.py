"""The agent's tools that find documents by name and lines by expression."""

from typing import Any

import pytest

from app.db.engine import Sessions
from app.db.visible import Visible
from app.rag.context import Context
from app.rag.refusals import MISSING_EXPRESSION, MISSING_GLOB, PATH_WITHOUT_SOURCE
from app.rag.tools import ToolResult, ToolScope, run_tool
from tests.stored import store_texts

SEED = {
    "top.md": "TODO one\n",
    "guide/setup.md": "# Setup\nport = 8081\nTODO two\nlast",
    "guide/deep/x.py": "port = 9\n# todo: three\n",
    ".hidden/h.md": "nothing",
}


class Caller:
    """Calls tools, each with an empty answer context."""

    def __init__(self, sessions: Sessions, budget: int = 24_000, visible: Visible = None) -> None:
        self._sessions = sessions
        self._scope = ToolScope(visible, Context(), budget)

    async def find(self, glob: Any, **arguments: Any) -> ToolResult:
        arguments = {"glob": glob, **arguments}
        return await run_tool(self._sessions, "find_documents", arguments, self._scope)

    async def grep(self, pattern: Any, **arguments: Any) -> ToolResult:
        arguments = {"pattern": pattern, **arguments}
        return await run_tool(self._sessions, "grep_documents", arguments, self._scope)


@pytest.fixture
async def tools(sessions: Sessions) -> Caller:
    await store_texts(sessions, SEED)
    return Caller(sessions)


async def test_paths_that_match_are_sorted_and_counted(tools: Caller) -> None:
    result = await tools.find("*.MD")
    assert result.text == "acme/.hidden/h.md\nacme/guide/setup.md\nacme/top.md"
    assert result.summary == "3 documents"
    assert (await tools.find("/guide/**")).summary == "2 documents"
    assert (
        await tools.find("{top,x}.*", source="acme")
    ).text == "acme/guide/deep/x.py\nacme/top.md"


async def test_paths_that_are_left_out_are_counted(tools: Caller) -> None:
    result = await tools.find("**", limit=1)
    assert result.text == ("acme/.hidden/h.md\n… 3 more. Narrow the glob, or scope by source.")
    assert result.summary == "1 of 4 documents"


async def test_no_document_matching_is_said_in_words(tools: Caller) -> None:
    assert (
        await tools.find("*.java")
    ).text == "No documents match “*.java”: 4 documents looked at."
    assert (await tools.find(None)).text == MISSING_GLOB
    assert "no source “nope”" in (await tools.find("*", source="nope")).text


@pytest.mark.parametrize("glob", ["[", "[z-a]*", "x" * 5_000])
async def test_a_glob_that_is_none_is_refused_in_words(tools: Caller, glob: str) -> None:
    result = await tools.find(glob)
    assert result.failed
    assert "glob" in result.text


async def test_a_pathological_glob_is_answered(sessions: Sessions) -> None:
    await store_texts(sessions, {"a" * 200: "x"})
    result = await Caller(sessions).find("*a*a*a*a*a*a*a*a*a*a*b")
    assert result.summary == "no documents"


async def test_lines_that_match_are_printed_as_grep_does(tools: Caller) -> None:
    result = await tools.grep("todo.*(two|three)$")
    assert result.text == ("acme/guide/deep/x.py:2: # todo: three\nacme/guide/setup.md:3: TODO two")
    assert result.summary == "2 matches"
    assert (await tools.grep("todo", case_sensitive="true")).summary == "1 match"


async def test_context_is_marked_with_dashes(tools: Caller) -> None:
    result = await tools.grep("^todo two", context="1")
    assert result.text == (
        "acme/guide/setup.md-2- port = 8081\n"
        "acme/guide/setup.md:3: TODO two\n"
        "acme/guide/setup.md-4- last"
    )


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ({"source": "acme", "path": "guide"}, 2),
        ({"source": "acme", "path": "guide/setup.md"}, 1),
        ({"include": ["*.md"]}, 2),
        ({"include": "*.py"}, 1),
        ({"exclude": ["guide/**"]}, 1),
        ({"include": ["**"], "exclude": ["*.md", "x.*"]}, 0),
    ],
)
async def test_a_search_can_be_narrowed(tools: Caller, scope: dict[str, Any], found: int) -> None:
    result = await tools.grep("todo", **scope)
    assert result.text.count("\n") + 1 == max(found, 1)
    assert (result.summary == "no matches") == (found == 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": ""}, MISSING_EXPRESSION),
        ({"pattern": "x", "path": "top.md"}, PATH_WITHOUT_SOURCE),
        ({"pattern": "(a+"}, "missing )"),
        ({"pattern": r"(a)\1"}, "invalid escape"),
        ({"pattern": "((a{1,100}){1,100}){1,100}"}, "invalid repetition"),
        ({"pattern": "a\nb"}, "per line"),
        ({"pattern": "x", "source": "nope"}, "no source “nope”"),
        ({"pattern": "x", "source": "acme", "path": "nope"}, "acme/nope"),
        ({"pattern": "x", "source": "acme", "path": "../up"}, "no path within"),
        ({"pattern": "x", "include": ["["]}, "glob"),
        ({"pattern": "x", "context": "many"}, "context must be a whole number"),
        ({"pattern": "x", "case_sensitive": "perhaps"}, "true or false"),
    ],
)
async def test_an_impossible_call_is_refused_with_the_reason(
    tools: Caller, arguments: dict[str, Any], said: str
) -> None:
    result = await tools.grep(**arguments)
    assert result.failed
    assert said in result.text


@pytest.mark.parametrize("limit", [0, -1, 10**30, "5", 5.0, None])
async def test_every_limit_is_answered(tools: Caller, limit: Any) -> None:
    assert not (await tools.grep("todo", limit=limit)).failed
    assert not (await tools.find("**", limit=limit)).failed


async def test_matches_stay_within_the_budget(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "needle " + "x" * 500 + "\n" + "needle\n" * 2_000})
    result = await Caller(sessions, budget=3_000).grep("needle", limit=1_000)
    assert len(result.text) <= 3_000
    assert len(result.text.split("\n")[0]) < 430
    assert "more; in all" in result.text


async def test_tools_see_only_what_the_caller_may_see(sessions: Sessions) -> None:
    await store_texts(sessions, SEED, "closed")
    guest = Caller(sessions, visible=frozenset({"open"}))
    assert (await guest.find("**")).summary == "no documents"
    assert (await guest.grep("todo")).summary == "no matches"
