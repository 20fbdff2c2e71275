"""The statement of a search for a fixed string."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.search.lines import CLUSTER_REACH
from app.search.page import Page
from app.search.plans import (
    LONG_PASSAGE,
    Passed,
    Reach,
    Selection,
    by_index,
    covered,
    in_order,
    whole_head,
)
from app.search.query import Query
from app.search.result import Hit
from app.search.substring_hits import first_hits

_COLUMNS = "id, document_id, source, path, position"
# So many passages at the head promise enough soon behind it: the index is not asked yet.
_DENSE = 1
# No searchable text holds the letter that stands for a match here: each line counts once, without
# being shipped.
HITS = """CASE WHEN passages.lines = 1 THEN 1
  ELSE regexp_count(replace(folded, :pattern, 'A'), 'A[^\\n]*') END"""
# The lines of so many passages are counted; of more, each passage is known to have one.
_COUNTED = 1_000
_COUNTED_HEAD = """first AS MATERIALIZED ({first}),
head AS MATERIALIZED (SELECT {columns} FROM first WHERE {is_in})"""
# Everything is read by one statement: a document that is replaced meanwhile is seen old or new. The
# index is asked only when there is too little at the head of the catalog.
_STATEMENT = """
WITH {head},
headed AS MATERIALIZED (
  SELECT count, is_whole, count < :dense AS asks,
    count >= :wanted OR CAST(:in_order AS boolean) OR is_whole AS decides
  FROM (SELECT count(*) FROM head) AS counted, ({whole}) AS whole
),
found AS MATERIALIZED ({found}),
seen AS (
  SELECT count(*) AS scanned, CAST(max(place) AS text) AS last,
    CASE WHEN count(*) = :bound THEN array_agg(id) END AS ids FROM found
),
covered AS MATERIALIZED ({covered}),
counted AS MATERIALIZED (
  SELECT id, document_id FROM head, headed WHERE decides
  UNION ALL SELECT id, document_id FROM covered, seen WHERE coalesce(scanned < :bound, true)
),
page AS (
  (SELECT id, source, path FROM head, headed WHERE decides
    ORDER BY source, path, position LIMIT :wanted)
  UNION ALL (SELECT id, source, path FROM covered ORDER BY source, path, position LIMIT :wanted)
),
totals AS (
  SELECT headed.count AS headed, asks, decides, is_whole, seen.*, known.*,
    (SELECT CAST(max(place) AS text) FROM found JOIN page USING (id)) AS furthest
  FROM headed, seen, (
    SELECT count(DISTINCT document_id) AS documents, CASE WHEN count(*) > :counted THEN count(*)
      ELSE (SELECT coalesce(sum({hits}), 0) FROM counted JOIN passages USING (id)) END AS total,
      count(*) <= :counted AS is_counted
    FROM counted
  ) AS known
)
SELECT totals.*, shown.* FROM totals LEFT JOIN (
  SELECT source, path, held.position, (
      SELECT coalesce(sum(earlier.lines), 0) FROM passages AS earlier
      WHERE earlier.document_id = held.document_id AND earlier.position < held.position
    ) AS lines_before,
    CASE WHEN is_long THEN substring(text, start + 1, 2 * :reach) ELSE text END AS text,
    CASE WHEN is_long THEN match END AS match,
    CASE WHEN is_long THEN start END AS start,
    CASE WHEN is_long THEN held.characters - ends_line END AS length
  FROM page JOIN passages AS held USING (id),
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
    to exist; when `is_exact`, they count everything. When `is_dense`, a longer head may suffice.
    Where the index gave as many as it was asked for, `passed` says what it went through.
    """

    hits: tuple[Hit, ...]
    settled: bool
    is_dense: bool
    is_exact: bool
    total: int
    documents: int
    passed: Passed


async def look(session: AsyncSession, wanted: Wanted, reach: Reach) -> Seen:
    """Search as far as `reach` says."""
    query = wanted.query
    head, whole = _head(query, reach)
    gate = "(SELECT asks AND NOT decides FROM headed)"
    found = by_index(query, gate, bounded=reach.bound is not None)
    behind = covered(query)
    sql = _STATEMENT.format(
        head=head.sql, whole=whole, found=found.sql, covered=behind.sql, hits=HITS
    )
    values = {
        **head.values,
        **found.values,
        **behind.values,
        "most": None if reach.counts else wanted.passages,
        "bound": reach.bound,
        "dense": _DENSE if reach.counts else wanted.passages,
        "in_order": reach.bound == 0,
        "wanted": wanted.passages,
        "pattern": wanted.pattern,
        "counted": _COUNTED,
        "long": LONG_PASSAGE,
        "reach": wanted.page.width + CLUSTER_REACH,
    }
    rows = (await session.execute(text(sql), values)).all()
    return _seen(wanted, reach, rows)


def _head(query: Query, reach: Reach) -> tuple[Selection, str]:
    """The table `head`, and a query that says whether it was made of everything."""
    if reach.counts:
        (first, is_whole), is_in = whole_head(query, reach), query.needle.is_in()
        sql = _COUNTED_HEAD.format(first=first.sql, columns=_COLUMNS, is_in=is_in.sql)
        whole = f"SELECT {is_whole} AS is_whole FROM first"
        return Selection(sql, {**first.values, **is_in.values}), whole
    head = in_order(query, _COLUMNS, reach)
    sql = f"head AS MATERIALIZED ({head.sql})"
    return Selection(sql, head.values), "SELECT false AS is_whole"


def _seen(wanted: Wanted, reach: Reach, rows: Sequence[Row[Any]]) -> Seen:
    totals, page = rows[0], wanted.page
    hits = tuple(first_hits(wanted.pattern, page, rows))
    behind = sum(page.after is None or hit.comes_after(page.after) for hit in hits)
    if not totals.decides:
        is_all = totals.asks and (reach.bound is None or totals.scanned < reach.bound)
    elif reach.counts:
        is_all = totals.is_whole
    else:
        is_all = reach.head is None and reach.end is None and totals.headed < wanted.passages
    return Seen(
        hits=hits,
        settled=is_all or (totals.decides and behind > page.limit),
        is_dense=not totals.asks,
        is_exact=is_all and totals.is_counted,
        total=max(int(totals.total), len(hits)),
        documents=totals.documents,
        passed=Passed(totals.ids or (), totals.last, totals.furthest),
    )
