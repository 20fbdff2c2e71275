"""How far a search reaches next: the cheapest way in which nothing can be missed.

What stands everywhere is seen at the head of the catalog at once, what is rare costs an index next
to nothing. In between, the hits that the index gave so far bound how far a scan in catalog order
can have to go, and where in the table they were found says how many there may be.
"""

from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.search.plans import HEAD, Query, Reach
from app.search.substring_statement import Seen, Wanted

BOUND = 400
LONGER_HEAD = 2_000
# Of what is vague the index gives much in vain.
_LONG_HEAD = 12_000
# Microseconds that a passage takes, measured: read and searched in catalog order, or found by the
# index, which leads to places all over the table.
_IN_ORDER_COST = 6
_BY_INDEX_COST = 12
_INDEX_COST = 10_000
_MOST_COUNTED = 100_000
# Where the database does not know yet.
_PASSAGES_OF_A_DOCUMENT = 12

_SIZES = """
SELECT pg_relation_size('passages') / CAST(current_setting('block_size') AS int) AS blocks,
  (SELECT count(*) FROM (SELECT FROM documents WHERE {before} LIMIT :most) AS counted) AS documents,
  known.passages, known.ratio
FROM (VALUES (1)) AS one LEFT JOIN (
  SELECT p.reltuples AS passages, p.reltuples / d.reltuples AS ratio
  FROM pg_class AS p, pg_class AS d
  WHERE p.oid = to_regclass('passages') AND d.oid = to_regclass('documents')
    AND d.reltuples > 0 AND p.reltuples > 0
) AS known ON true
"""


def opening(query: Query) -> Reach:
    """Where to look first."""
    if query.scope.path is not None:
        return Reach(bound=None)
    if query.is_indexed and query.needle.is_vague():
        return Reach(_LONG_HEAD)
    if query.is_indexed or query.needle.grams():
        return Reach(HEAD, BOUND, counts=True)
    return Reach(None)


async def next_reach(session: AsyncSession, wanted: Wanted, reach: Reach, seen: Seen) -> Reach:
    """Where to look when `reach` has not settled it."""
    query = wanted.query
    if reach.counts and seen.is_dense:
        return Reach(LONGER_HEAD, BOUND)
    if reach.bound == 0:
        return Reach(bound=None if reach.end is not None else BOUND)
    in_order = Reach(None, end=_end(wanted, seen))
    if not query.is_indexed:
        return in_order
    costs = await expect(session, query, in_order.end, (seen.scanned, seen.last))
    if costs.in_order < costs.by_index:
        return in_order
    return Reach(costs.worth_trying(wanted.passages), None)


def _end(wanted: Wanted, seen: Seen) -> tuple[str, str] | None:
    """The document up to which there are enough hits; None if they are too few."""
    after = wanted.page.after
    hits = [hit for hit in seen.hits if after is None or hit.comes_after(after)]
    return (hits[-1].source, hits[-1].path) if len(hits) > wanted.page.limit else None


@dataclass(frozen=True)
class Costs:
    """What the two ways are expected to take, in microseconds; `share` of all passages are hits.

    The share is 0 while the database does not know how many passages there are.
    """

    in_order: float
    by_index: float
    share: float

    def worth_trying(self, wanted: int) -> int:
        """How many passages to look at in order before the index; 0 if that is likely in vain."""
        tried = self.by_index / 2 / _IN_ORDER_COST
        return int(tried) if tried * self.share > wanted else 0


async def expect(
    session: AsyncSession, query: Query, end: tuple[str, str] | None, seen: tuple[int, int]
) -> Costs:
    """Costs of finding all up to the document `end`.

    `seen` are the number of passages that the index gave, and the block that the last was in.
    """
    before = query.until(end)
    statement = text(_SIZES.format(before=before.sql))
    sizes = (await session.execute(statement, {**before.values, "most": _MOST_COUNTED})).one()
    found = seen[0] * max(sizes.blocks, 1) / (seen[1] + 1)
    return Costs(
        in_order=sizes.documents * (sizes.ratio or _PASSAGES_OF_A_DOCUMENT) * _IN_ORDER_COST,
        by_index=_INDEX_COST + found * _BY_INDEX_COST,
        share=found / max(sizes.passages, found, 1) if sizes.passages else 0.0,
    )
