"""Search by regular expression on a real database, held against the pure matcher."""

import random

import pytest
from sqlalchemy import text

from app.db.engine import Sessions
from app.errors import InvalidPattern, TooSlow
from app.search.candidates import all_in_order
from app.search.matcher import Matcher
from app.search.needles import Required
from app.search.page import FIRST_PAGE, Cursor, Page
from app.search.plans import Head, Reach
from app.search.query import Query
from app.search.regex import Expression, search
from app.search.result import SearchResult, as_grep
from app.search.scope import Scope
from app.search.substring import EVERYWHERE
from tests.stored import store_texts

ALPHABET = "aAbB  éÉσςΣKk.%_\\-,/\t'ßж北京“”0123"
EXPRESSIONS = [
    "a", "aa", "ab+", "^a", "b$", "[0-9]{2}", r"\d\d", "é|ж", "北.", r"a\.", "(a|b)k", "σ.*σ", "^$",
    "%_", r"\bk", "kk?a", "(ab|ba)[^a]", "“[^”]*”", "x*",
]  # fmt: skip


async def find(
    sessions: Sessions,
    pattern: str,
    scope: Scope = EVERYWHERE,
    page: Page = FIRST_PAGE,
    seconds: float = 10.0,
) -> SearchResult:
    async with sessions.begin() as session:
        expression = Expression(pattern, seconds=seconds)
        return await search(session, expression, None, scope, page)


def places(result: SearchResult) -> list[tuple[str, int | None, int | None]]:
    return [(hit.path, hit.line, hit.column) for hit in result.hits]


def random_text(chance: random.Random) -> str:
    words = ["".join(chance.choices(ALPHABET, k=chance.randint(1, 9))) for _ in range(400)]
    return "".join(word + chance.choice([" ", "", "\n"]) for word in words)


@pytest.mark.parametrize("expression", EXPRESSIONS)
async def test_search_finds_what_the_matcher_finds(sessions: Sessions, expression: str) -> None:
    chance = random.Random(expression)
    await store_texts(sessions, {f"{n}.txt": random_text(chance) for n in range(8)})
    async with sessions.begin() as session:
        rows = await session.execute(text("SELECT path, content FROM documents ORDER BY path"))
        stored: dict[str, str] = {row.path: row.content for row in rows}
    expected = [
        (path, match.number, match.ranges(1)[0][0] + 1)
        for path, content in stored.items()
        for match in Matcher(expression).matches(content)
    ]
    for exact in (False, True):
        result = await find(sessions, expression, page=Page(limit=1_000, exact=exact))
        assert places(result) == expected[:1_000]
        assert result.total_is_exact == (exact or len(expected) <= 1_000)
        if result.total_is_exact:
            assert result.total == len(expected)
            assert result.documents_matched == len({path for path, _, _ in expected})


@pytest.mark.parametrize("expression", ["needle [0-9]", "[0-9]$"])
async def test_pages_follow_each_other_without_gap(sessions: Sessions, expression: str) -> None:
    lines = "".join(f"needle {n % 10}\n" for n in range(500))
    await store_texts(sessions, {"a.txt": lines, "b.txt": "needle 1\n" * 9})
    everything = places(await find(sessions, expression, page=Page(limit=1_000)))
    assert len(everything) == 509
    seen: list[tuple[str, int | None, int | None]] = []
    after = None
    while len(seen) < 509:
        result = await find(sessions, expression, page=Page(limit=97, after=after))
        seen += places(result)
        after = None if result.next is None else Cursor.parse(result.next)
    assert seen == everything
    assert after is None


async def test_the_first_of_a_frequent_expression_need_not_all_be_found(sessions: Sessions) -> None:
    await store_texts(sessions, {f"{n}.txt": "needle 1\n" * 9_000 for n in range(4)})
    for expression in ("needle [0-9]", "[0-9]"):
        result = await find(sessions, expression)
        assert places(result)[0] == ("0.txt", 1, 1 if "n" in expression else 8)
        assert len(result.hits) == 20
        assert not result.total_is_exact
        assert result.truncated


async def test_lines_around_a_match_are_shown_once(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "".join(f"line {n}\n" for n in range(1, 13))})
    result = await find(sessions, "line (3|5|11)$", page=Page(context=1))
    assert as_grep(result.hits) == [
        "acme/a.txt-2- line 2", "acme/a.txt:3: line 3", "acme/a.txt-4- line 4",
        "acme/a.txt:5: line 5", "acme/a.txt-6- line 6", "--",
        "acme/a.txt-10- line 10", "acme/a.txt:11: line 11", "acme/a.txt-12- line 12",
    ]  # fmt: skip


async def test_context_reaches_over_passages(sessions: Sessions) -> None:
    lines = [f"{n} {'x' * 900}" for n in range(1, 8)]
    await store_texts(sessions, {"a.txt": "\n".join(lines)})
    (hit,) = (await find(sessions, "^4", page=Page(context=2, width=1))).hits
    assert [(one.line, one.shown.text) for one in hit.before] == [(2, "2"), (3, "3")]
    assert [(one.line, one.shown.text) for one in hit.after] == [(5, "5"), (6, "6")]


async def test_an_expression_that_takes_too_long_is_given_up(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "needle 1\n" * 9_000})
    with pytest.raises(TooSlow):
        await find(sessions, "[0-9]", seconds=0)


async def test_what_is_no_expression_is_refused(sessions: Sessions) -> None:
    with pytest.raises(InvalidPattern):
        await find(sessions, "(")


async def test_candidates_come_a_bounded_amount_of_text_at_a_time(sessions: Sessions) -> None:
    line = "needle" + "x" * 3_000_000
    await store_texts(sessions, {f"{n}.txt": line for n in range(3)} | {"9.txt": "needle"})
    query = Query(Required("needle"), None, EVERYWHERE)
    async with sessions.begin() as session:
        sizes = [
            len(some) async for some in all_in_order(session, query, Reach(Head(100, 100)), 20)
        ]
    assert sizes == [1, 1, 2]
