"""Exact search for a fixed string, ignoring case: the first matching lines in catalog order.

No single plan is safe for "the first 20 of all": the index is slow on what is frequent, a scan in
order on what is rare. So bounded plans take turns until one of them has seen enough.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, distinct, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.models import Passage
from app.search.around import start_at, with_context
from app.search.fold import searchable
from app.search.lines import (
    normal_pattern,
)
from app.search.needles import FixedString
from app.search.page import FIRST_PAGE, Page
from app.search.planner import index_preferred
from app.search.plans import Query, by_index, schedule
from app.search.result import SearchResult
from app.search.scope import Scope, count
from app.search.substring_rows import Wanted, hits_of, statement

EVERYWHERE = Scope()


async def search(
    session: AsyncSession,
    pattern: str,
    visible: Visible,
    scope: Scope = EVERYWHERE,
    page: Page = FIRST_PAGE,
) -> SearchResult:
    """Lines that hold `pattern`; whether the scope exists is for the caller to say.

    A pattern that no line can hold, such as one with a newline, has no hits.
    """
    folded = searchable(normal_pattern(pattern))
    searched = await count(session, visible, scope)
    nothing = SearchResult((), 0, True, 0, searched.documents, searched.skipped)
    if not searched.documents or not _can_stand_in_a_line(folded):
        return nothing
    start = None if page.after is None else await start_at(session, visible, page.after)
    query = Query(FixedString(folded), visible, scope, start)
    async with index_preferred(session):
        result = await _take_turns(session, Wanted(folded, query, page), nothing)
    if page.exact and not result.total_is_exact:
        result = await _count_exactly(session, replace(query, start=None), result)
    return replace(result, hits=await with_context(session, result.hits, page))


def _can_stand_in_a_line(pattern: str) -> bool:
    unstorable = any(c in "\n\r\0" or "\ud800" <= c <= "\udfff" for c in pattern)
    return bool(pattern) and not unstorable


async def _take_turns(session: AsyncSession, wanted: Wanted, nothing: SearchResult) -> SearchResult:
    result = nothing
    for plan in schedule(wanted.query, wanted.passages):
        rows = (await session.execute(statement(wanted, plan))).all()
        complete = plan.bound is None or rows[0].scanned < plan.bound
        result = _result(wanted, rows, nothing)
        if complete:
            return replace(result, total_is_exact=wanted.page.after is None)
        if plan.ordered and result.truncated:
            break
    return result


def _result(wanted: Wanted, rows: Sequence[Row[Any]], nothing: SearchResult) -> SearchResult:
    """What the rows of a plan say, if it is not known to be all."""
    page = wanted.page
    found = list(hits_of(wanted.pattern, rows, page.width))
    hits = [hit for hit in found if page.after is None or hit.comes_after(page.after)]
    left = rows[0].total - (len(found) - len(hits))
    shown = tuple(hits[: page.limit])
    return replace(
        nothing,
        hits=shown,
        total=rows[0].total,
        total_is_exact=False,
        documents_matched=rows[0].documents,
        next=str(shown[-1].cursor) if left > len(shown) else None,
    )


async def _count_exactly(session: AsyncSession, query: Query, result: SearchResult) -> SearchResult:
    plan = by_index(query, None)
    indexed = query.needle.narrowed(Passage.folded) is not None
    scanned = plan.scanned.subquery()
    totals = select(
        func.coalesce(func.sum(scanned.c.hits), 0),
        func.count(distinct(scanned.c.document_id)).filter(scanned.c.hits > 0),
    )
    async with index_preferred(session, preferred=indexed):
        total, documents = (await session.execute(totals)).one()
    return replace(result, total=total, documents_matched=documents, total_is_exact=True)
