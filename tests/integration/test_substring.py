"""Substring search on a real database, held against the pure matcher."""

import random

import pytest
from sqlalchemy import text

from app.db.engine import Sessions
from app.db.visible import Visible
from app.errors import TooSlow
from app.search.lines import grep_document
from app.search.page import FIRST_PAGE, Page
from app.search.planner import planned
from app.search.result import SearchResult
from app.search.scope import Scope
from app.search.substring import EVERYWHERE, search
from tests.stored import store_texts

ALPHABET = "aAbB  éÉσςΣKk.%_\\-,/\t'ßж北京“”👍🏽\u0301"


async def find(
    sessions: Sessions,
    pattern: str,
    scope: Scope = EVERYWHERE,
    page: Page = FIRST_PAGE,
    visible: Visible = None,
) -> SearchResult:
    async with sessions.begin() as session:
        return await search(session, pattern, visible, scope, page)


def places(result: SearchResult) -> list[tuple[str, int | None, int | None]]:
    return [(hit.path, hit.line, hit.column) for hit in result.hits]


def lines(result: SearchResult) -> list[int | None]:
    return [hit.line for hit in result.hits]


def random_text(chance: random.Random) -> str:
    words = ["".join(chance.choices(ALPHABET, k=chance.randint(1, 9))) for _ in range(400)]
    return "".join(word + chance.choice([" ", "", "\n"]) for word in words)


@pytest.mark.parametrize("seed", range(3))
async def test_search_finds_what_the_pure_matcher_finds(sessions: Sessions, seed: int) -> None:
    chance = random.Random(seed)
    await store_texts(sessions, {f"{n}.txt": random_text(chance) for n in range(12)})
    async with sessions.begin() as session:
        rows = await session.execute(text("SELECT path, content FROM documents ORDER BY path"))
        stored: dict[str, str] = {row.path: row.content for row in rows}
    everything = "".join(stored.values()).replace("\n", " ")
    for _ in range(40):
        start, length = chance.randrange(len(everything)), chance.choice([1, 2, 3, 4, 7, 12])
        pattern = everything[start : start + length]
        pattern = chance.choice([pattern, pattern.upper(), pattern.lower(), pattern[::-1]])
        expected = [
            (path, match.line, match.column)
            for path, content in stored.items()
            for match in grep_document(content, pattern)
        ]
        result = await find(sessions, pattern, page=Page(limit=1000))
        assert places(result) == expected[:1000], pattern
        if result.total_is_exact:
            assert result.total == len(expected)
            assert result.documents_matched == len({path for path, _, _ in expected})


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("100%", [1]), ("e_c", [3]), ("%", [1]), ("_", [3]), ("\\_", []), ("%%", []), ("e 1", [1, 2])],
)
async def test_wildcards_are_ordinary_characters(
    sessions: Sessions, pattern: str, found: list[int]
) -> None:
    await store_texts(sessions, {"a.txt": "rate 100%\nrate 1000\nsnake_case\nsnakeXcase\n"})
    assert lines(await find(sessions, pattern)) == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("C:\\dir", [1]), ("\\d+", [2]), ("\\", [1, 2, 3]), ("end\\", [3]), ("\\\\", [])],
)
async def test_backslashes_are_ordinary_characters(
    sessions: Sessions, pattern: str, found: list[int]
) -> None:
    assert (await find(sessions, pattern)).total == 0
    await store_texts(sessions, {"a.txt": "open C:\\dir\\setup.ini\nregex \\d+\nend\\\n"})
    assert lines(await find(sessions, pattern)) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [("Élan", "éLAN"), ("Жук", "жУК"), ("ΣΟΦΟΣ", "σοφος"), ("İI", "İi"), ("KELVIN", "\u212aelvin")],
)
async def test_case_is_folded_whatever_the_locale(sessions: Sessions, one: str, other: str) -> None:
    await store_texts(sessions, {"a.txt": f"first\nthe {one} here"})
    assert lines(await find(sessions, other)) == [2]


@pytest.mark.parametrize("pattern", ["ss", "i\u0307"])
async def test_folding_expands_no_character(sessions: Sessions, pattern: str) -> None:
    await store_texts(sessions, {"a.txt": "Straße\nİstanbul"})
    assert (await find(sessions, pattern)).total == 0


@pytest.mark.parametrize("pattern", ["", "a\nb", "a\r", "\0", "\ud800", "a" * 100_000])
async def test_a_pattern_that_no_line_can_hold_has_no_hits(
    sessions: Sessions, pattern: str
) -> None:
    await store_texts(sessions, {"a.txt": "a\nb\n" + "a" * 3000})
    result = await find(sessions, pattern)
    assert (result.total, result.total_is_exact, result.documents_searched) == (0, True, 1)


async def test_a_long_pattern_is_compared_to_its_last_character(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "x" + "ab" * 400 + "c\n" + "ab" * 400 + "d"})
    assert lines(await find(sessions, "ab" * 400 + "d")) == [2]


async def test_hits_come_in_catalog_order_by_code_point(sessions: Sessions) -> None:
    paths = ["é", "a2", "a10", "B", "a/b", "a.b"]
    await store_texts(sessions, dict.fromkeys(paths, "needle"), "s2")
    await store_texts(sessions, {"z": "needle\n\nneedle"}, "S1")
    result = await find(sessions, "needle")
    found = [(hit.source, hit.path, hit.line) for hit in result.hits]
    assert found == [("S1", "z", 1), ("S1", "z", 3), *(("s2", path, 1) for path in sorted(paths))]


async def test_the_order_outlives_updates_of_rows(sessions: Sessions) -> None:
    await store_texts(sessions, {f"{n}.txt": "needle" for n in range(60)})
    before = await find(sessions, "needle")
    async with sessions.begin() as session:
        await session.execute(text("UPDATE passages SET lines = lines WHERE id % 3 = 0"))
        await session.execute(text("UPDATE documents SET title = '' WHERE id % 2 = 0"))
    assert await find(sessions, "needle") == before


@pytest.mark.parametrize(("count", "truncated"), [(19, False), (20, False), (21, True)])
async def test_more_than_the_page_holds_is_told(
    sessions: Sessions, count: int, truncated: bool
) -> None:
    await store_texts(sessions, {"a.txt": "needle\n" * count})
    result = await find(sessions, "needle")
    assert (result.total, result.total_is_exact) == (count, True)
    assert len(result.hits) == min(count, 20)
    assert result.truncated == truncated


async def test_the_total_does_not_depend_on_the_page(sessions: Sessions) -> None:
    await store_texts(sessions, {f"{n}.txt": "needle\nhay needle\n" for n in range(30)})
    for limit in (1, 20, 100):
        result = await find(sessions, "needle", page=Page(limit=limit))
        assert (result.total, result.documents_matched) == (60, 30)


@pytest.mark.parametrize("pattern", ["n", "needle"])
async def test_totals_of_what_stands_everywhere_are_a_lower_bound(
    sessions: Sessions, pattern: str
) -> None:
    # Each line is a passage of its own, and there are more than the last bounded plan looks at.
    long_line = "needle" + "x" * 1495 + "\n"
    await store_texts(sessions, {f"{n}.txt": long_line * 325 for n in range(5)})
    result = await find(sessions, pattern)
    assert len(result.hits) == 20
    assert not result.total_is_exact
    assert 20 < result.total <= 1625


async def test_what_the_index_gives_first_is_not_taken_for_the_first(sessions: Sessions) -> None:
    long_line = "needle" + "x" * 1495 + "\n"
    await store_texts(sessions, {f"z{n}.txt": long_line * 250 for n in range(2)})
    await store_texts(sessions, {"a.txt": "needle"})
    assert places(await find(sessions, "needle"))[0] == ("a.txt", 1, 1)


async def test_a_scope_narrows_and_a_document_is_always_counted_whole(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "needle\n" * 50, "b.txt": "needle"}, "one")
    await store_texts(sessions, {"a.txt": "needle"}, "two")
    assert (await find(sessions, "needle", Scope("one"))).total == 51
    result = await find(sessions, "needle", Scope("one", "a.txt"))
    assert (result.total, result.total_is_exact, result.documents_searched) == (50, True, 1)


async def test_what_a_caller_may_not_see_is_not_searched(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "needle"}, "open")
    await store_texts(sessions, {"a.txt": "needle"}, "closed")
    result = await find(sessions, "needle", visible=frozenset({"open"}))
    assert [hit.source for hit in result.hits] == ["open"]
    assert result.documents_searched == 1
    assert (await find(sessions, "needle", visible=frozenset())).total == 0


async def test_a_match_in_the_middle_of_megabytes_is_shown_with_its_column(
    sessions: Sessions,
) -> None:
    line = '{"' + "é" * 1_500_000 + '"k70000":"NEEDLE"' + "y" * 1_500_000 + "}"
    await store_texts(sessions, {"big.json": f"{line}\n", "small.txt": "needle"})
    first, second = (await find(sessions, "needle")).hits
    assert (first.line, first.column) == (1, line.index("NEEDLE") + 1)
    assert '"k70000":"NEEDLE"' in first.text
    assert len(first.shown.marked) == 202
    assert line[first.text_start :].startswith(first.text)
    assert second.as_grep() == "acme/small.txt:1: needle"


@pytest.mark.parametrize("place", [0, 150, 195, 4_995])
async def test_long_lines_are_cut_as_if_they_had_been_read_whole(
    sessions: Sessions, place: int
) -> None:
    line = "👍🏽" * (place // 2) + "NEEDLE" + "é" * (5_000 - place)
    await store_texts(sessions, {"long.txt": line, "short.txt": line[:3_900]})
    for hit in (await find(sessions, "needle")).hits:
        (match,) = grep_document(line, "needle")
        assert hit.ranges == match.ranges
        assert "NEEDLE" in hit.text or place == 195
        assert len(hit.text) <= 200


async def test_ranges_mark_the_matches_that_are_shown(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "x needle NEEDLE " + "y" * 3000 + " needle"})
    (hit,) = (await find(sessions, "needle")).hits
    assert hit.ranges == ((2, 8), (9, 15))
    assert (hit.text_start, hit.column) == (0, 3)


async def test_a_statement_that_takes_too_long_is_given_up(sessions: Sessions) -> None:
    with pytest.raises(TooSlow):
        async with sessions.begin() as session, planned(session, 0.05):
            await session.execute(text("SELECT pg_sleep(60)"))
    async with sessions.begin() as session:
        assert await session.scalar(text("SHOW statement_timeout")) == "0"
