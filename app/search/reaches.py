"""How far a search reaches next: the cheapest way in which nothing can be missed.

What stands everywhere is seen at the head of the catalog at once, what is rare costs an index next
to nothing. In between, the hits that the index gave so far bound how far a scan in catalog order
can have to go, and where in the table they were found says how many there may be.
"""

import math
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.search.plans import Head, Passed, Reach, block
from app.search.query import Query
from app.search.substring_statement import Seen, Wanted

BOUND = 400
# So much is looked at before the index is asked, and so much if there was something in that.
_HEAD = Head(200, 1_000)
_LONGER_BOUND = 4_000
LONGER_HEAD = Head(2_000, 5_000)
# Of what is vague the index gives much in vain.
_LONG_HEAD = Head(12_000, 12_000)
# Microseconds that a document takes to come to in catalog order, and a passage; that a passage
# takes to be searched; or to be found by the index, which leads to places all over the table.
_DOCUMENT_COST = 3
_VISIT_COST = 1.5
_READ_COST = 3
_BY_INDEX_COST = 12
_INDEX_COST = 10_000
_SAMPLED = 2_000
# Where the database does not know yet.
_PASSAGES_OF_A_DOCUMENT = 12

_SIZES = text("""
SELECT pg_relation_size('passages') / CAST(current_setting('block_size') AS int) AS blocks,
  p.reltuples AS passages, d.reltuples AS documents
FROM pg_class AS p, pg_class AS d
WHERE p.oid = to_regclass('passages') AND d.oid = to_regclass('documents')
""")
# To count all takes longer than many a search.
_BEFORE = """
SELECT count(*) AS before, count(*) FILTER (WHERE {signed}) AS possible
FROM documents TABLESAMPLE SYSTEM (:percent) REPEATABLE (0) WHERE {before}
"""


def opening(query: Query) -> Reach:
    """Where to look first."""
    if query.scope.path is not None:
        return Reach(_HEAD, None, counts=True)
    if query.is_indexed and query.needle.is_vague():
        return Reach(_LONG_HEAD)
    if query.is_indexed or query.needle.grams():
        return Reach(_HEAD, BOUND, counts=True)
    return Reach(None)


async def next_reach(session: AsyncSession, wanted: Wanted, reach: Reach, seen: Seen) -> Reach:
    """Where to look when `reach` has not settled it."""
    query = wanted.query
    if query.scope.path is not None:
        return Reach(bound=None)
    if reach.counts and seen.is_dense:
        return Reach(LONGER_HEAD, _LONGER_BOUND)
    if reach.bound == 0:
        return Reach(bound=None if reach.end is not None else BOUND)
    if not query.is_indexed:
        return Reach(None, end=_end(wanted, seen))
    in_order = Reach(None, end=_end(wanted, seen), passed=seen.passed)
    costs = await expect(session, query, in_order.end, seen.passed)
    if costs.in_order < costs.by_index:
        return in_order
    return Reach(costs.worth_trying(wanted.passages), None, passed=seen.passed)


def _end(wanted: Wanted, seen: Seen) -> tuple[str, str] | None:
    """The document up to which there are enough hits; None if they are too few."""
    after = wanted.page.after
    hits = [hit for hit in seen.hits if after is None or hit.comes_after(after)]
    return (hits[-1].source, hits[-1].path) if len(hits) > wanted.page.limit else None


@dataclass(frozen=True)
class Costs:
    """What the two ways are expected to take, in microseconds; `share` of all passages are hits.

    The share is 0 while the database does not know how many passages there are. On average, a
    document has so many `passages` to search: those that cannot hold the needle have none.
    """

    in_order: float
    by_index: float
    share: float
    hits_of_a_document: float
    passages: float

    def worth_trying(self, wanted: int) -> Head:
        """What to look at in order before the index; nothing if that is likely in vain."""
        each = _DOCUMENT_COST + self.passages * (_VISIT_COST + _READ_COST)
        documents = self.by_index / 2 / each
        if documents * self.hits_of_a_document <= wanted:
            return Head()
        return Head(math.ceil(documents * self.passages), math.ceil(documents))


async def expect(
    session: AsyncSession, query: Query, end: tuple[str, str] | None, passed: Passed
) -> Costs:
    """Costs of finding all up to the document `end`, after what the index has passed."""
    sizes = (await session.execute(_SIZES)).one()
    documents, passages = max(sizes.documents, 0), max(sizes.passages, 0)
    before, possible = await _documents_before(session, query, end, documents)
    ratio = passages / documents if documents and passages else _PASSAGES_OF_A_DOCUMENT
    last = block(passed.last) + 1
    gone = last / max(sizes.blocks, last)
    # The less the order of the table is that of the catalog, the more there is left to read.
    unordered = (block(passed.furthest) + 1) / last if passed.furthest else 1.0
    unread = (1 - gone) * unordered
    found = len(passed.ids) / gone
    each = _VISIT_COST + unread * _READ_COST
    share = found / max(passages, found, 1) if passages else 0.0
    return Costs(
        in_order=before * _DOCUMENT_COST + possible * ratio * each,
        by_index=_INDEX_COST + found * _BY_INDEX_COST,
        share=share,
        hits_of_a_document=share * ratio,
        passages=ratio * possible / max(before, 1),
    )


async def _documents_before(
    session: AsyncSession, query: Query, end: tuple[str, str] | None, documents: float
) -> tuple[float, float]:
    """About how many documents there are, and may hold the needle, from a sample of all."""
    percent = min(100 * _SAMPLED / max(documents, 1), 100)
    before, signed = query.until(end), query.needle.signed()
    values = {**before.values, **signed.values, "percent": percent}
    statement = text(_BEFORE.format(before=before.sql, signed=signed.sql))
    sampled = (await session.execute(statement, values)).one()
    # That the sample holds none does not mean that there is none.
    return max(sampled.before, 1) * 100 / percent, max(sampled.possible, 1) * 100 / percent
