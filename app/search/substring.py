"""Exact search for a fixed string, ignoring case: the first matching lines in catalog order.

No single plan is safe for "the first 20 of all": the index is slow on what is frequent, a scan in
order on what is rare. So bounded plans take turns until one of them has seen enough.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, case, distinct, func, select, text, true
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.db.visible import Visible
from app.models import Document, Passage
from app.search.fold import searchable
from app.search.lines import (
    CLUSTER_REACH,
    SHOWN,
    Stretch,
    normal_pattern,
    occurrences,
    split_lines,
    window,
)
from app.search.plans import Plan, Query, Scope, schedule
from app.search.result import Hit, SearchResult

EVERYWHERE = Scope()
# A longer passage is a single line, which is never read whole.
_LONG_PASSAGE = 4_000


@dataclass(frozen=True)
class Page:
    """How many lines to return, and how many code points of each."""

    limit: int = 20
    width: int = SHOWN


FIRST_PAGE = Page()


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
    query = Query(searchable(normal_pattern(pattern)), visible, scope)
    counted = select(func.count()).select_from(Document).where(query.covers_document())
    searched = await session.scalar(counted) or 0
    if not searched or not _can_stand_in_a_line(query.pattern):
        return SearchResult((), 0, True, 0, searched)
    # The planner underrates the trigram index: the sequential scan it prefers is the one bad plan.
    await session.execute(text("SET LOCAL enable_seqscan = off"))
    result = await _take_turns(session, query, page, searched)
    await session.execute(text("SET LOCAL enable_seqscan = on"))
    return result


def _can_stand_in_a_line(pattern: str) -> bool:
    unstorable = any(c in "\n\r\0" or "\ud800" <= c <= "\udfff" for c in pattern)
    return bool(pattern) and not unstorable


async def _take_turns(
    session: AsyncSession, query: Query, page: Page, searched: int
) -> SearchResult:
    result = SearchResult((), 0, False, 0, searched)
    for plan in schedule(query, page.limit):
        rows = (await session.execute(_statement(query, plan, page))).all()
        complete = plan.bound is None or rows[0].scanned < plan.bound
        result = SearchResult(
            hits=tuple(islice(_hits(query.pattern, rows, page.width), page.limit)),
            total=rows[0].total,
            total_is_exact=complete,
            documents_matched=rows[0].documents,
            documents_searched=searched,
        )
        if complete or (plan.ordered and result.total > page.limit):
            break
    return result


def _statement(query: Query, plan: Plan, page: Page) -> Select[*tuple[Any, ...]]:
    """The totals of a plan, on each of the passages that hold the first `limit` lines.

    Everything is read by one statement: a document that is replaced meanwhile is seen old or new.
    """
    scanned = plan.scanned.cte("scanned")
    matches = scanned.c.hits > 0
    totals = select(
        func.count().label("scanned"),
        func.coalesce(func.sum(scanned.c.hits), 0).label("total"),
        func.count(distinct(scanned.c.document_id)).filter(matches).label("documents"),
    ).subquery("totals")
    order = (scanned.c.source, scanned.c.path, scanned.c.position)
    first = select(scanned).where(matches).order_by(*order).limit(page.limit).subquery("first")
    shown = (
        select(first.c.source, first.c.path, first.c.position, *_shown_columns(query, page))
        .join(Passage, Passage.id == first.c.passage_id)
        .subquery("shown")
    )
    return (
        select(totals, shown)
        .join_from(totals, shown, true(), isouter=True)
        .order_by(shown.c.source, shown.c.path, shown.c.position)
    )


def _shown_columns(query: Query, page: Page) -> tuple[ColumnElement[Any], ...]:
    """The columns `lines_before`, `text`, and for one long line `match`, `start`, `length`.

    `text` is the whole passage; of a long line it begins at code point `start`, and is what a
    window around its first match, at code point `match`, may need.
    """
    earlier = aliased(Passage)
    lines_before = select(func.coalesce(func.sum(earlier.lines), 0)).where(
        earlier.document_id == Passage.document_id, earlier.position < Passage.position
    )
    reach = page.width + CLUSTER_REACH
    is_long = Passage.characters > _LONG_PASSAGE
    match = func.strpos(Passage.folded, query.pattern) - 1
    start = func.greatest(match - reach, 0)
    line_end = case((func.right(Passage.folded, 1) == "\n", 1), else_=0)
    part = func.substring(Passage.text, start + 1, 2 * reach)
    return (
        lines_before.scalar_subquery().label("lines_before"),
        case((is_long, part), else_=Passage.text).label("text"),
        case((is_long, match)).label("match"),
        case((is_long, start)).label("start"),
        case((is_long, Passage.characters - line_end)).label("length"),
    )


def _hits(pattern: str, rows: Iterable[Row[Any]], width: int) -> Iterator[Hit]:
    for row in rows:
        for number, line, start in _matching_lines(pattern, row):
            shown = window(line, start, start + len(pattern), width)
            yield Hit(
                source=row.source,
                path=row.path,
                line=row.lines_before + number,
                column=start + 1,
                ranges=_ranges(pattern, shown, start),
                shown=shown,
            )


def _matching_lines(pattern: str, row: Row[Any]) -> Iterator[tuple[int, Stretch, int]]:
    """The number within the passage, the line, and where in it the first match begins."""
    if row.match is not None:
        yield 1, Stretch(row.text.removesuffix("\n"), row.start, row.length), row.match
    elif row.text is not None:
        for number, line in enumerate(split_lines(row.text), start=1):
            start = searchable(line).find(pattern)
            if start >= 0:
                yield number, Stretch.whole(line), start


def _ranges(pattern: str, shown: Stretch, start: int) -> tuple[tuple[int, int], ...]:
    """The first match, and the others that are shown whole."""
    first = (start, start + len(pattern))
    others = occurrences(searchable(shown.text), pattern, first[1] - shown.start)
    return (first, *((shown.start + one, shown.start + end) for one, end in others))
