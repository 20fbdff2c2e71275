"""Exact search for a fixed string, ignoring case: the first matching lines in catalog order."""

from dataclasses import replace

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.search.around import start_at, with_context
from app.search.conditions import all_of
from app.search.fold import searchable
from app.search.lines import normal_pattern
from app.search.needles import FixedString
from app.search.page import FIRST_PAGE, Page
from app.search.planner import planned, prefer_scan
from app.search.plans import Reach
from app.search.query import Query
from app.search.reaches import next_reach, opening
from app.search.result import SearchResult
from app.search.scope import Scope, Searched, count
from app.search.substring_statement import HITS, Seen, Wanted, look

EVERYWHERE = Scope()
_SECONDS = 20.0
# One look after the other settles it sooner; then everything is looked at.
_LOOKS = 3
_COUNT = """SELECT coalesce(sum({hits}), 0), count(DISTINCT document_id) FROM passages
  JOIN documents ON documents.id = document_id WHERE {counted}"""


async def search(
    session: AsyncSession,
    pattern: str,
    visible: Visible,
    scope: Scope = EVERYWHERE,
    page: Page = FIRST_PAGE,
) -> SearchResult:
    """Lines that hold `pattern`; whether the scope exists is for the caller to say.

    A pattern that no line can hold, such as one with a newline, has no hits. Raises `TooSlow`.
    """
    folded = searchable(normal_pattern(pattern))
    async with planned(session, _SECONDS):
        searched = await count(session, visible, scope)
        if not searched.documents or not _can_stand_in_a_line(folded):
            return SearchResult((), 0, True, 0, searched.documents, searched.skipped)
        start = None if page.after is None else await start_at(session, visible, page.after)
        wanted = Wanted(folded, Query(FixedString(folded), visible, scope, start), page)
        result = _result(wanted, await _settled(session, wanted), searched)
        if page.exact and not result.total_is_exact:
            result = await _count_exactly(session, wanted, result)
        return replace(result, hits=await with_context(session, result.hits, page))


def _can_stand_in_a_line(pattern: str) -> bool:
    unstorable = any(c in "\n\r\0" or "\ud800" <= c <= "\udfff" for c in pattern)
    return bool(pattern) and not unstorable


async def _settled(session: AsyncSession, wanted: Wanted) -> Seen:
    """Reach further until nothing can have been missed."""
    reach = opening(wanted.query)
    seen = await look(session, wanted, reach)
    for _ in range(_LOOKS):
        if seen.settled:
            return seen
        reach = await next_reach(session, wanted, reach, seen)
        seen = await look(session, wanted, reach)
    return seen if seen.settled else await look(session, wanted, Reach(bound=None))


def _result(wanted: Wanted, seen: Seen, searched: Searched) -> SearchResult:
    page = wanted.page
    hits = [hit for hit in seen.hits if page.after is None or hit.comes_after(page.after)]
    shown = tuple(hits[: page.limit])
    left = seen.total - (len(seen.hits) - len(hits))
    return SearchResult(
        hits=shown,
        total=seen.total,
        total_is_exact=seen.is_exact and page.after is None,
        documents_matched=seen.documents,
        documents_searched=searched.documents,
        documents_skipped=searched.skipped,
        next=str(shown[-1].cursor) if left > len(shown) > 0 else None,
    )


async def _count_exactly(
    session: AsyncSession, wanted: Wanted, result: SearchResult
) -> SearchResult:
    query = replace(wanted.query, start=None)
    if not query.is_indexed:
        await prefer_scan(session)
    is_in = query.needle.indexed() or query.needle.is_in()
    counted = all_of((query.until(None), is_in))
    statement = text(_COUNT.format(hits=HITS, counted=counted.sql))
    values = {**counted.values, "pattern": wanted.pattern}
    total, documents = (await session.execute(statement, values)).one()
    return replace(result, total=total, documents_matched=documents, total_is_exact=True)
