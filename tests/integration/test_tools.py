"""The agent's tools on stored documents."""

from itertools import product
from typing import Any

import pytest

from app.db.engine import Sessions
from app.db.visible import Visible
from app.rag.context import Context, Range
from app.rag.refusals import (
    ALREADY_IN_CONTEXT,
    MISSING_PATTERN,
    MISSING_READ_ARGS,
    NO_DOCUMENTS,
    ONE_LINE_PATTERN,
    PATH_WITHOUT_SOURCE,
    UNKNOWN_TOOL,
)
from app.rag.tools import ToolResult, ToolScope, run_tool
from tests.stored import store_texts

SEED = {"guide/setup.md": "# Setup\nport = 8081\nlast line", "notes/a.txt": "alpha\nbeta\n"}
BUDGET = 24_000


class Caller:
    """Calls tools with one answer context."""

    def __init__(self, sessions: Sessions, budget: int = BUDGET, visible: Visible = None) -> None:
        self.context = Context()
        self._sessions = sessions
        self._scope = ToolScope(visible, self.context, budget)

    async def list(self, **arguments: Any) -> ToolResult:
        return await run_tool(self._sessions, "list_documents", arguments, self._scope)

    async def read(self, path: Any = "notes/a.txt", **arguments: Any) -> ToolResult:
        arguments = {"source": "acme", "path": path, **arguments}
        return await run_tool(self._sessions, "read_document", arguments, self._scope)

    async def search(self, pattern: Any, **arguments: Any) -> ToolResult:
        arguments = {"pattern": pattern, **arguments}
        return await run_tool(self._sessions, "search_documents", arguments, self._scope)


@pytest.fixture
async def tools(sessions: Sessions) -> Caller:
    await store_texts(sessions, SEED)
    return Caller(sessions)


async def test_an_unknown_tool_is_answered_with_the_known_ones(sessions: Sessions) -> None:
    scope = ToolScope(None, Context(), BUDGET)
    result = await run_tool(sessions, "READ_DOCUMENT", {}, scope)
    assert (result.text, result.failed) == (UNKNOWN_TOOL, True)


# list_documents


async def test_the_catalog_is_listed_in_order_with_numbers_of_lines(tools: Caller) -> None:
    result = await tools.list()
    assert result.text == (
        "source: acme path: guide/setup.md (3 lines)\nsource: acme path: notes/a.txt (2 lines)"
    )
    assert result.summary == "2 documents"


async def test_a_listing_can_be_narrowed_and_continued(tools: Caller) -> None:
    assert "guide" not in (await tools.list(source="acme", prefix="notes/")).text
    assert "guide" not in (await tools.list(after="acme/guide/setup.md", source=None)).text


async def test_a_long_listing_says_how_to_continue(sessions: Sessions) -> None:
    await store_texts(sessions, {f"{n:03}.txt": "x" for n in range(203)})
    result = await Caller(sessions).list()
    *lines, last = result.text.split("\n")
    assert len(lines) == 200
    assert last == '… 3 more; continue with after="acme/199.txt"'
    assert result.summary == "200 of 203 documents"
    rest = await Caller(sessions).list(after="acme/199.txt")
    assert rest.text.count("\n") == 2


async def test_a_listing_of_long_paths_stays_within_its_budget(sessions: Sessions) -> None:
    await store_texts(sessions, {f"{n}{'x' * 1000}": "x" for n in range(9)})
    result = await Caller(sessions, budget=5_000).list()
    assert len(result.text) <= 5_000
    assert "… 6 more; continue with after=" in result.text


async def test_nothing_to_list_is_said_in_words(sessions: Sessions) -> None:
    assert (await Caller(sessions).list()).text == NO_DOCUMENTS
    await store_texts(sessions, SEED)
    unknown = await Caller(sessions).list(source="nope")
    assert unknown.text == "There is no source “nope”. The sources are: acme."
    assert unknown.failed
    assert "begins with “%”" in (await Caller(sessions).list(prefix="%")).text
    assert "comes after “z”" in (await Caller(sessions).list(after="z")).text


# read_document


async def test_a_document_is_read_as_numbered_lines_and_added_to_the_context(tools: Caller) -> None:
    result = await tools.read()
    assert result.text == "source: acme path: notes/a.txt lines 1-2 of 2\n1: alpha\n2: beta"
    assert result.summary == "lines 1-2 of 2"
    assert result.added == Range("acme", "notes/a.txt", 1, 2)


async def test_lines_that_the_model_has_already_are_not_read_again(tools: Caller) -> None:
    tools.context.add(Range("acme", "guide/setup.md", 2, 3))
    again = await tools.read("guide/setup.md", start_line=2)
    assert (again.text, again.added) == (ALREADY_IN_CONTEXT, None)
    assert (await tools.read("guide/setup.md")).added == Range("acme", "guide/setup.md", 1, 3)


@pytest.mark.parametrize("key", ["source", "path"])
@pytest.mark.parametrize("value", [None, ""])
async def test_reading_needs_source_and_path(tools: Caller, key: str, value: Any) -> None:
    result = await tools.read(**{"path": "notes/a.txt", key: value})
    assert (result.text, result.failed) == (MISSING_READ_ARGS, True)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../etc/passwd", "C:\\x", "a\0.txt", "\ud800", "x" * 100_000]
)
async def test_an_unknown_document_is_named_in_a_short_sentence(tools: Caller, path: str) -> None:
    result = await tools.read(path)
    assert result.text.startswith("There is no document “acme/")
    assert len(result.text) < 600
    assert (result.failed, result.summary) == (True, "no such document")
    result.text.encode()


async def test_an_unknown_document_is_answered_with_the_nearest_paths(tools: Caller) -> None:
    assert "acme/guide/setup.md" in (await tools.read("guide/setup.txt")).text


async def test_every_pair_of_numbers_is_answered(tools: Caller) -> None:
    starts: list[Any] = [-1, 0, 1, 3, 4, "2", 2.0, None, 10**30, True, []]
    counts: list[Any] = [-1, 0, 1, None, "2", 10**30]
    for start, count in product(starts, counts):
        result = await tools.read("guide/setup.md", start_line=start, line_count=count)
        if result.failed:
            assert result.text.endswith(".")
        else:
            assert result.text.split("\n")[1].startswith(f"{max(int(start or 1), 1)}: ")


async def test_past_the_end_the_number_of_lines_is_told(tools: Caller) -> None:
    assert "has 3 lines" in (await tools.read("guide/setup.md", start_line=4)).text


async def test_what_does_not_fit_is_left_out_and_can_be_read_next(sessions: Sessions) -> None:
    await store_texts(sessions, {"long.txt": "".join(f"line {n}\n" for n in range(1, 2001))})
    tools, read, start = Caller(sessions, budget=3_000), list[str](), 1
    for _ in range(100):
        result = await tools.read("long.txt", start_line=start)
        assert len(result.text) <= 3_000
        assert result.added is not None
        read += result.text.split("\n")[1 : result.added.last - start + 2]
        start = result.added.last + 1
        if start > 2000:
            break
        assert f"… lines {start}-2000 left out; continue with start_line={start}" in result.text
    assert read == [f"{n}: line {n}" for n in range(1, 2001)]


async def test_a_line_of_megabytes_can_be_read_to_its_middle(sessions: Sessions) -> None:
    line = "x" * 2_000_000 + "NEEDLE" + "y" * 2_000_000
    await store_texts(sessions, {"big.json": line})
    tools = Caller(sessions)
    first = await tools.read("big.json")
    assert "[characters 1-1500 of 4000006; continue with start_line=1, start_column=1501]" in (
        first.text
    )
    assert len(first.text) < 2_000
    middle = await tools.read("big.json", start_line=1, start_column=2_000_001)
    assert "\n1: …NEEDLEyyy" in middle.text
    past = await tools.read("big.json", start_column=10**30)
    assert past.text == "Line 1 has 4000006 characters: start_column is past its end."


async def test_an_empty_document_is_said_to_be_empty(sessions: Sessions) -> None:
    await store_texts(sessions, {"empty.txt": ""})
    result = await Caller(sessions).read("empty.txt")
    assert "lines 0-0 of 0" in result.text
    assert result.added is None


async def test_a_hit_is_the_line_that_reading_shows(sessions: Sessions) -> None:
    text = "one\ntwo\x0cstill two\nthr\u2028ee\nfo\x85ur\nfi\rve\r\nNEEDLE\n"
    await store_texts(sessions, {"a.txt": text, "b.txt": "a\rb\rNEEDLE"})
    tools = Caller(sessions)
    found = (await tools.search("needle")).text.split("\n")
    assert found == ["acme/a.txt:7: NEEDLE", "acme/b.txt:3: NEEDLE"]
    for path, line in (("a.txt", 7), ("b.txt", 3)):
        read = await tools.read(path, start_line=line, line_count=1)
        assert read.text.endswith(f"\n{line}: NEEDLE")


# search_documents


async def test_matches_are_lines_as_grep_prints_them(tools: Caller) -> None:
    result = await tools.search("A")
    assert result.text == (
        "acme/guide/setup.md:3: last line\nacme/notes/a.txt:1: alpha\nacme/notes/a.txt:2: beta"
    )
    assert (result.summary, result.added, result.failed) == ("3 matches", None, False)


@pytest.mark.parametrize(("count", "summary"), [(19, "19 matches"), (20, "20 matches")])
async def test_all_matches_need_no_last_line(sessions: Sessions, count: int, summary: str) -> None:
    await store_texts(sessions, {"a.txt": "port\n" * count})
    result = await Caller(sessions).search("port")
    assert (result.text.count("\n") + 1, result.summary) == (count, summary)


async def test_more_matches_are_counted_over_all_documents(sessions: Sessions) -> None:
    await store_texts(sessions, {f"{n}.txt": "port\n" * 7 for n in range(3)})
    result = await Caller(sessions).search("port")
    *lines, last = result.text.split("\n")
    assert len(lines) == 20
    assert last.startswith("… 1 more; in all 21 matching lines in 3 documents.")
    assert result.summary == "20 of 21 matches"


async def test_no_document_hides_behind_one_with_many_matches(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "port\n" * 500, "b.txt": "port"})
    assert (
        "… 481 more; in all 501 matching lines in 2 documents."
        in (await Caller(sessions).search("port")).text
    )


async def test_no_match_says_how_many_documents_were_searched(tools: Caller) -> None:
    result = await tools.search("zzz")
    assert result.text == "No line holds “zzz”: 2 documents searched."
    assert (result.summary, result.failed) == ("no matches", False)
    assert (
        "1 document searched" in (await tools.search("zzz", source="acme", path="notes/a.txt")).text
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"pattern": None}, MISSING_PATTERN),
        ({"pattern": ""}, MISSING_PATTERN),
        ({"pattern": "alpha\nbeta"}, ONE_LINE_PATTERN),
        ({"pattern": "alpha\r"}, ONE_LINE_PATTERN),
        ({"pattern": "a", "path": "notes/a.txt"}, PATH_WITHOUT_SOURCE),
        ({"pattern": "a", "source": "x"}, "There is no source “x”. The sources are: acme."),
        ({"pattern": ["a"]}, "pattern must be a string, not a list."),
    ],
)
async def test_an_impossible_search_is_refused_with_a_sentence(
    tools: Caller, arguments: dict[str, Any], sentence: str
) -> None:
    result = await tools.search(**arguments)
    assert (result.text, result.failed) == (sentence, True)


async def test_searching_an_unknown_document_names_the_nearest(tools: Caller) -> None:
    result = await tools.search("a", source="acme", path="notes/b.txt")
    assert "acme/notes/a.txt" in result.text
    assert result.failed


@pytest.mark.parametrize("pattern", ["a\0b", "x\ud800", "x" * 100_000])
async def test_whatever_the_pattern_is_the_answer_is_short_text(
    tools: Caller, pattern: str
) -> None:
    result = await tools.search(pattern, unknown=1)
    assert result.text.endswith("2 documents searched.")
    assert len(result.text) < 300
    result.text.encode()


async def test_matches_stay_within_the_budget(sessions: Sessions) -> None:
    await store_texts(sessions, {f"{'p' * 900}{n}": "port " * 100 for n in range(9)})
    result = await Caller(sessions, budget=5_000).search("port")
    assert len(result.text) <= 5_000
    assert result.summary == "4 of 9 matches"
    assert "… 5 more; in all 9 matching lines in 9 documents." in result.text


async def test_tools_see_only_what_the_caller_may_see(sessions: Sessions) -> None:
    await store_texts(sessions, SEED)
    tools = Caller(sessions, visible=frozenset({"other"}))
    assert (await tools.list()).text == NO_DOCUMENTS
    assert (await tools.read()).summary == "no such document"
    assert (await tools.search("alpha")).summary == "no matches"
    assert (await tools.search("alpha", source="acme")).summary == "no such source"
