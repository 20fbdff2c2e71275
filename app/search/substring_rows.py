"""The statement of a search for a fixed string, and what its rows mean."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.search.fold import searchable
from app.search.lines import CLUSTER_REACH, Stretch, occurrences, split_lines, window
from app.search.page import Page
from app.search.plans import (
    Query,
    Reach,
    Selection,
    at_head,
    block,
    by_index,
    covered,
    in_order,
    passages_at_head,
)
from app.search.result import Hit

_COLUMNS = "id, document_id, source, path, position"
# A longer passage is a single line, which is never read whole.
_LONG_PASSAGE = 4_000
# No searchable text holds the letter that stands for a match here: each line counts once, without
# being shipped.
HITS = """CASE WHEN passages.lines = 1 THEN 1
  ELSE regexp_count(replace(folded, :pattern, 'A'), 'A[^\\n]*') END"""
# Everything is read by one statement: a document that is replaced meanwhile is seen old or new. The
# index is asked only when there is too little at the head of the catalog.
_STATEMENT = """
WITH head AS MATERIALIZED ({head}),
headed AS MATERIALIZED (
  SELECT count, count >= :wanted OR CAST(:in_order AS boolean) AS decides
  FROM (SELECT count(*) FROM head) AS counted
),
found AS MATERIALIZED ({found}),
seen AS (SELECT count(*) AS scanned, CAST(max(place) AS text) AS last FROM found),
covered AS MATERIALIZED ({covered}),
counted AS (
  SELECT id, document_id FROM head, headed WHERE decides
  UNION ALL SELECT id, document_id FROM covered, seen WHERE coalesce(scanned < :bound, true)
),
totals AS (
  SELECT headed.count AS headed, decides, seen.*, ({whole}) AS passages, known.*
  FROM headed, seen, (
    SELECT coalesce(sum({hits}), 0) AS total, count(DISTINCT counted.document_id) AS documents
    FROM counted JOIN passages USING (id)
  ) AS known
),
page AS (
  (SELECT id FROM head, headed WHERE decides ORDER BY source, path, position LIMIT :wanted)
  UNION ALL (SELECT id FROM covered ORDER BY source, path, position LIMIT :wanted)
)
SELECT totals.*, shown.* FROM totals LEFT JOIN (
  SELECT documents.source, documents.path, held.position, (
      SELECT coalesce(sum(earlier.lines), 0) FROM passages AS earlier
      WHERE earlier.document_id = held.document_id AND earlier.position < held.position
    ) AS lines_before,
    CASE WHEN is_long THEN substring(text, start + 1, 2 * :reach) ELSE text END AS text,
    CASE WHEN is_long THEN match END AS match,
    CASE WHEN is_long THEN start END AS start,
    CASE WHEN is_long THEN held.characters - ends_line END AS length
  FROM page JOIN passages AS held USING (id) JOIN documents ON documents.id = document_id,
    LATERAL (SELECT held.characters > :long AS is_long, strpos(folded, :pattern) - 1 AS match) AS a,
    LATERAL (SELECT greatest(match - :reach, 0) AS start) AS b,
    LATERAL (SELECT CASE WHEN right(folded, 1) = E'\\n' THEN 1 ELSE 0 END AS ends_line) AS c
) AS shown ON true
ORDER BY shown.source, shown.path, shown.position
"""


@dataclass(frozen=True)
class Wanted:
    """A searchable pattern, the query for it, and the page of its lines to show."""

    pattern: str
    query: Query
    page: Page

    @property
    def passages(self) -> int:
        """More passages than hold a page of lines; the first may hold lines of the page before."""
        return self.page.limit + 1 + (self.page.after is not None)


@dataclass(frozen=True)
class Seen:
    """The hits in the first passages that were found, and what these are of.

    When `settled`, nothing that comes before them was missed, and `total` and `documents` are sure
    to exist; when `is_all`, they count everything. `last` is the block of the table up to which the
    index was followed for `scanned` passages.
    """

    hits: tuple[Hit, ...]
    settled: bool
    is_all: bool
    total: int
    documents: int
    scanned: int
    last: int


async def look(session: AsyncSession, wanted: Wanted, reach: Reach) -> Seen:
    """Search as far as `reach` says."""
    query = wanted.query
    head = at_head(query, _COLUMNS) if reach.is_bounded else in_order(query, _COLUMNS, reach.end)
    found = by_index(query, "NOT (SELECT decides FROM headed)")
    behind = covered(query)
    whole = passages_at_head(query) if reach.counts_head else Selection("NULL", {})
    sql = _STATEMENT.format(
        head=head.sql, found=found.sql, covered=behind.sql, whole=whole.sql, hits=HITS
    )
    values = {
        **head.values,
        **found.values,
        **behind.values,
        "head": reach.head,
        "most": None if reach.counts_head else wanted.passages,
        "bound": reach.bound,
        "in_order": reach.bound == 0,
        "wanted": wanted.passages,
        "pattern": wanted.pattern,
        "long": _LONG_PASSAGE,
        "reach": wanted.page.width + CLUSTER_REACH,
    }
    rows = (await session.execute(text(sql), values)).all()
    return _seen(wanted, reach, rows)


def _seen(wanted: Wanted, reach: Reach, rows: Sequence[Row[Any]]) -> Seen:
    totals = rows[0]
    is_full = totals.headed >= wanted.passages
    if not totals.decides:
        is_all = reach.bound is None or totals.scanned < reach.bound
    elif reach.counts_head:
        is_all = totals.passages < (reach.head or 0)
    else:
        is_all = reach == Reach(head=None) and not is_full
    return Seen(
        hits=tuple(_hits_of(wanted.pattern, rows, wanted.page.width)),
        settled=is_all or is_full,
        is_all=is_all,
        total=int(totals.total),
        documents=totals.documents,
        scanned=totals.scanned,
        last=block(totals.last),
    )


def _hits_of(pattern: str, rows: Sequence[Row[Any]], width: int) -> Iterator[Hit]:
    for row in rows:
        for number, line, start in _matching_lines(pattern, row):
            shown = window(line, start, start + len(pattern), width)
            yield Hit(
                source=row.source,
                path=row.path,
                line=int(row.lines_before) + number,
                column=start + 1,
                ranges=_ranges(pattern, shown, start),
                shown=shown,
            )


def _matching_lines(pattern: str, row: Row[Any]) -> Iterator[tuple[int, Stretch, int]]:
    """The number within the passage, the line, and where in it the first match begins."""
    if row.match is not None:
        yield 1, Stretch(row.text.removesuffix("\n"), row.start, row.length), row.match
    elif row.text is not None:
        folded = split_lines(searchable(row.text))
        for number, line in enumerate(folded, start=1):
            if (start := line.find(pattern)) >= 0:
                whole = split_lines(row.text)[number - 1]
                yield number, Stretch.whole(whole), start


def _ranges(pattern: str, shown: Stretch, start: int) -> tuple[tuple[int, int], ...]:
    """The first match, and the others that are shown whole."""
    first = (start, start + len(pattern))
    others = occurrences(searchable(shown.text), pattern, first[1] - shown.start)
    return (first, *((shown.start + one, shown.start + end) for one, end in others))
