"""The statement behind a plan for a fixed string, and what its rows mean."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, case, distinct, func, select, true
from sqlalchemy.orm import aliased

from app.models import Passage
from app.search.fold import searchable
from app.search.lines import CLUSTER_REACH, Stretch, occurrences, split_lines, window
from app.search.page import Page
from app.search.plans import Plan, Query
from app.search.result import Hit

# A longer passage is a single line, which is never read whole.
_LONG_PASSAGE = 4_000


@dataclass(frozen=True)
class Wanted:
    """A searchable pattern, the query for it, and the page of its lines to show."""

    pattern: str
    query: Query
    page: Page

    @property
    def passages(self) -> int:
        """How many passages hold a page of lines; the first may hold lines of the page before."""
        return self.page.limit + (self.page.after is not None)


def statement(wanted: Wanted, plan: Plan) -> Select[*tuple[Any, ...]]:
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
    first = select(scanned).where(matches).order_by(*order).limit(wanted.passages).subquery("first")
    shown = (
        select(first.c.source, first.c.path, first.c.position, *_shown_columns(wanted))
        .join(Passage, Passage.id == first.c.passage_id)
        .subquery("shown")
    )
    return (
        select(totals, shown)
        .join_from(totals, shown, true(), isouter=True)
        .order_by(shown.c.source, shown.c.path, shown.c.position)
    )


def _shown_columns(wanted: Wanted) -> tuple[ColumnElement[Any], ...]:
    """The columns `lines_before`, `text`, and for one long line `match`, `start`, `length`.

    `text` is the whole passage; of a long line it begins at code point `start`, and is what a
    window around its first match, at code point `match`, may need.
    """
    earlier = aliased(Passage)
    lines_before = select(func.coalesce(func.sum(earlier.lines), 0)).where(
        earlier.document_id == Passage.document_id, earlier.position < Passage.position
    )
    reach = wanted.page.width + CLUSTER_REACH
    is_long = Passage.characters > _LONG_PASSAGE
    match = func.strpos(Passage.folded, wanted.pattern) - 1
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


def hits_of(pattern: str, rows: Iterable[Row[Any]], width: int) -> Iterator[Hit]:
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
