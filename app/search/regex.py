"""Search by regular expression: RE2 on the lines that can match, in catalog order.

What an expression requires narrows the passages to look at, by the same bounded plans as for fixed
strings. Where it requires nothing, or what stands nearly everywhere, whole documents are read.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, select, true
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.db.visible import Visible
from app.models import Passage
from app.search.around import start_at, with_context
from app.search.contents import contents
from app.search.lines import normal_pattern
from app.search.literals import required
from app.search.matcher import Matcher
from app.search.matches import Candidate, Matches
from app.search.needles import Required
from app.search.page import FIRST_PAGE, Page
from app.search.planner import index_preferred
from app.search.plans import Plan, Query, bounded, by_index
from app.search.result import SearchResult
from app.search.scope import Scope, count
from app.search.substring import EVERYWHERE

_AT_ONCE = 256
# More candidates than these, or more of the passages, are no help: reading all takes no longer.
_MOST_CANDIDATES = 60_000
_MOST_OF_ALL = 0.2


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
    searched = await count(session, visible, scope)
    start = None if page.after is None else await start_at(session, visible, page.after)
    needle = Required(required(normal_pattern(expression.pattern)))
    # All lines are counted from the very first one on.
    query = Query(needle, visible, scope, None if page.exact else start)
    matches = Matches(matcher, page, time.monotonic() + expression.seconds, start)
    async with index_preferred(session):
        found, complete = await _find(session, query, matches)
    hits = tuple(found.numbered(await _lines_before(session, found.passages)))
    return SearchResult(
        hits=await with_context(session, hits, page),
        total=found.total,
        total_is_exact=complete and (page.exact or page.after is None),
        documents_matched=found.documents,
        documents_searched=searched.documents,
        documents_skipped=searched.skipped,
        next=str(hits[-1].cursor) if found.behind > len(hits) > 0 else None,
    )


async def _find(session: AsyncSession, query: Query, empty: Matches) -> tuple[Matches, bool]:
    """The matches, and whether these are all."""
    if query.needle.narrowed(Passage.folded) is None:
        return await _in_documents(session, query, empty)
    share = 0.0
    for plan in () if empty.page.exact else bounded(query):
        scanned, candidates = await _candidates(session, plan)
        complete = plan.bound is None or scanned < plan.bound
        if complete or plan.ordered:
            found = await _in_passages(session, candidates, _fresh(empty))
            if complete or found.is_enough:
                return found, complete and not found.is_enough
            share = len(candidates) / scanned
    if share < _MOST_OF_ALL:
        scanned, candidates = await _candidates(session, by_index(query, _MOST_CANDIDATES))
        if scanned < _MOST_CANDIDATES:
            found = await _in_passages(session, candidates, _fresh(empty))
            return found, not found.is_enough
    return await _in_documents(session, query, empty)


def _fresh(empty: Matches) -> Matches:
    return Matches(empty.matcher, empty.page, empty.deadline, empty.start)


async def _candidates(session: AsyncSession, plan: Plan) -> tuple[int, Sequence[Row[Any]]]:
    """How many passages the plan has seen, and those that have what is required, in order."""
    scanned = plan.scanned.cte("scanned")
    seen = select(func.count().label("seen")).select_from(scanned).subquery("totals")
    having = select(scanned).where(scanned.c.hits > 0).subquery("having")
    rows = await session.execute(
        select(seen, having)
        .join_from(seen, having, true(), isouter=True)
        .order_by(having.c.source, having.c.path, having.c.position)
    )
    found = rows.all()
    return found[0].seen, [row for row in found if row.passage_id is not None]


async def _in_passages(
    session: AsyncSession, candidates: Sequence[Row[Any]], matches: Matches
) -> Matches:
    for start in range(0, len(candidates), _AT_ONCE):
        batch = candidates[start : start + _AT_ONCE]
        texts = await _texts(session, [row.passage_id for row in batch])
        given = [
            Candidate(row.passage_id, row.source, row.path, row.position, texts[row.passage_id])
            for row in batch
        ]
        await asyncio.to_thread(matches.in_passages, given)
        if matches.is_enough:
            break
    return matches


async def _in_documents(
    session: AsyncSession, query: Query, matches: Matches
) -> tuple[Matches, bool]:
    """Read whole documents; while some are matched the next are fetched."""
    matching = asyncio.create_task(asyncio.to_thread(matches.in_documents, ()))
    async for batch in contents(session, query):
        await matching
        if matches.is_enough:
            return matches, False
        matching = asyncio.create_task(asyncio.to_thread(matches.in_documents, batch))
    await matching
    return matches, not matches.is_enough


async def _texts(session: AsyncSession, ids: list[int]) -> dict[int, str]:
    rows = await session.execute(select(Passage.id, Passage.text).where(Passage.id.in_(ids)))
    return {row.id: row.text for row in rows}


async def _lines_before(session: AsyncSession, ids: list[int]) -> dict[int, int]:
    if not ids:
        return {}
    earlier = aliased(Passage)
    before = select(func.coalesce(func.sum(earlier.lines), 0)).where(
        earlier.document_id == Passage.document_id, earlier.position < Passage.position
    )
    rows = await session.execute(
        select(Passage.id, before.scalar_subquery().label("before")).where(Passage.id.in_(ids))
    )
    return {row.id: row.before for row in rows}
