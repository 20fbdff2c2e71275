"""Search by regular expression: RE2 on the lines that can match, in catalog order.

What an expression requires narrows the passages to look at, by the same bounded plans as for fixed
strings. Where it requires nothing, or what stands nearly everywhere, whole documents are read.
"""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.search.around import start_at, with_context
from app.search.candidates import Portions, all_in_order, all_of_index, of_index
from app.search.contents import contents
from app.search.lines import normal_pattern
from app.search.literals import required
from app.search.matcher import Matcher
from app.search.matches import Matches
from app.search.meanwhile import Piece, meanwhile
from app.search.needles import Required
from app.search.page import FIRST_PAGE, Page
from app.search.planner import planned
from app.search.plans import Head, Passed, Reach
from app.search.query import Query
from app.search.reaches import BOUND, LONGER_HEAD, expect
from app.search.result import SearchResult
from app.search.scope import Scope, count
from app.search.substring import EVERYWHERE

# When more of all passages are candidates, it is faster to read whole documents.
_MOST_OF_ALL = 0.2
# So many passages are looked at in order before the index is asked, the more of them if so many of
# the first are candidates: of what is frequent, the index has to gather too much.
_HEADS = ((LONGER_HEAD, 1), (Head(20_000, 20_000), 0))
_LINES_BEFORE = text("""
SELECT id, (SELECT coalesce(sum(earlier.lines), 0) FROM passages AS earlier
  WHERE earlier.document_id = passages.document_id AND earlier.position < passages.position
) AS before FROM passages WHERE id = ANY(:ids)
""")


@dataclass(frozen=True)
class Expression:
    """A regular expression in RE2's dialect, and the seconds that a search may take."""

    pattern: str
    case_sensitive: bool = False
    seconds: float = 10.0


async def search(
    session: AsyncSession,
    expression: Expression,
    visible: Visible,
    scope: Scope = EVERYWHERE,
    page: Page = FIRST_PAGE,
) -> SearchResult:
    """Lines that match; raises `InvalidPattern` for what is no expression, and `TooSlow`."""
    matcher = Matcher(expression.pattern, case_sensitive=expression.case_sensitive)
    deadline = time.monotonic() + expression.seconds
    async with planned(session, expression.seconds):
        searched = await count(session, visible, scope)
        start = None if page.after is None else await start_at(session, visible, page.after)
        needle = Required(required(normal_pattern(expression.pattern)))
        # All lines are counted from the very first one on.
        query = Query(needle, visible, scope, None if page.exact else start)
        found = await _find(session, query, Matches(matcher, page, deadline, start))
        hits = tuple(found.numbered(await _lines_before(session, found.passages)))
        hits = await with_context(session, hits, page)
    return SearchResult(
        hits=hits,
        total=found.total,
        total_is_exact=not found.is_enough and (page.exact or page.after is None),
        documents_matched=found.documents,
        documents_searched=searched.documents,
        documents_skipped=searched.skipped,
        next=str(hits[-1].cursor) if found.behind > len(hits) > 0 else None,
    )


async def _find(session: AsyncSession, query: Query, empty: Matches) -> Matches:
    """The first matches and one more, or all."""
    if not query.is_indexed:
        return await _in_documents(session, query, empty)
    wanted = empty.page.limit + 1
    for head, promising in () if empty.page.exact else _HEADS:
        found = await _in_turn(all_in_order(session, query, Reach(head), wanted), _fresh(empty))
        if found.is_enough:
            return found
        if found.looked_at < promising:
            break
    indexed = await of_index(session, query, BOUND, empty.page.limit)
    found = await _in_turn(indexed.portions, _fresh(empty))
    if len(indexed.passed.ids) < BOUND:
        return found
    # Enough among some of the candidates: the first ones of all do not end behind them.
    end = found.last if found.is_enough else None
    return await _in_all(session, query, empty, Reach(None, end=end, passed=indexed.passed))


async def _in_all(session: AsyncSession, query: Query, empty: Matches, in_order: Reach) -> Matches:
    """The same, by the way that is expected to be shortest."""
    wanted = empty.page.limit + 1
    costs = await expect(session, query, in_order.end, in_order.passed or Passed())
    if costs.in_order < costs.by_index and query.scope.path is None:
        return await _in_turn(all_in_order(session, query, in_order, wanted), _fresh(empty))
    tried = costs.worth_trying(empty.page.limit)
    if not empty.page.exact and tried != Head():
        first = Reach(tried, passed=in_order.passed)
        found = await _in_turn(all_in_order(session, query, first, wanted), _fresh(empty))
        if found.is_enough:
            return found
    if costs.share > _MOST_OF_ALL:
        return await _in_documents(session, query, empty)
    return await _in_turn(all_of_index(session, query), _fresh(empty))


def _fresh(empty: Matches) -> Matches:
    return Matches(empty.matcher, empty.page, empty.deadline, empty.start)


async def _in_turn(portions: Portions, matches: Matches) -> Matches:
    return await _matched(portions, matches.in_passages, matches)


async def _in_documents(session: AsyncSession, query: Query, matches: Matches) -> Matches:
    return await _matched(contents(session, query), matches.in_documents, matches)


async def _matched(
    pieces: AsyncGenerator[Piece], match: Callable[[Piece], None], matches: Matches
) -> Matches:
    """Match one piece while the next is fetched, until there are enough matches.

    The first piece may suffice: while it is matched, nothing is fetched.
    """
    is_first = True
    async with aclosing(pieces), meanwhile(match, matches.give_up) as matching:
        async for piece in pieces:
            await matching.done()
            if not matches.is_enough:
                matching.begin(piece)
            if is_first:
                await matching.done()
            if matches.is_enough:
                break
            is_first = False
    return matches


async def _lines_before(session: AsyncSession, ids: list[int]) -> dict[int, int]:
    rows = await session.execute(_LINES_BEFORE, {"ids": ids}) if ids else ()
    return {row.id: int(row.before) for row in rows}
