"""Passages that an expression may match: those that hold what it requires, with their texts."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.search.matches import Candidate
from app.search.plans import Query, Selection, at_head, block, by_index, covered, in_order

_AT_ONCE = 256
_COLUMNS = "id, source, path, position, text"
_FOUND = """
WITH found AS MATERIALIZED ({found}), covered AS MATERIALIZED ({covered}),
seen AS (SELECT count(*) AS scanned, CAST(max(place) AS text) AS last FROM found)
SELECT seen.*, covered.*, passages.text FROM seen
LEFT JOIN (covered JOIN passages USING (id)) ON true
ORDER BY source, path, covered.position
"""
_LIST = """
WITH found AS MATERIALIZED ({found}), covered AS MATERIALIZED ({covered})
SELECT id, source, path, position FROM covered ORDER BY source, path, position
"""
_TEXTS = text("SELECT id, text FROM passages WHERE id = ANY(:ids)")


@dataclass(frozen=True)
class Indexed:
    """Candidates of the index in catalog order, of `scanned` ones up to block `last`."""

    candidates: list[Candidate]
    scanned: int
    last: int


async def of_index(session: AsyncSession, query: Query, bound: int) -> Indexed:
    """The first `bound` candidates that the index gives."""
    found, behind = by_index(query), covered(query)
    statement = text(_FOUND.format(found=found.sql, covered=behind.sql))
    values = {**found.values, **behind.values, "bound": bound}
    rows = (await session.execute(statement, values)).all()
    candidates = [
        Candidate(row.id, row.source, row.path, row.position, row.text)
        for row in rows
        if row.id is not None
    ]
    return Indexed(candidates, rows[0].scanned, block(rows[0].last))


def first_in_order(
    session: AsyncSession, query: Query, head: int
) -> AsyncGenerator[list[Candidate]]:
    """The candidates among the first `head` passages in catalog order."""
    selected = at_head(query, _COLUMNS)
    values = {**selected.values, "head": head, "most": None}
    return _portions(session, Selection(selected.sql, values))


def all_in_order(
    session: AsyncSession, query: Query, end: tuple[str, str] | None
) -> AsyncGenerator[list[Candidate]]:
    """All candidates up to the document `end`, found by reading one passage after the other."""
    selected = in_order(query, _COLUMNS, end)
    return _portions(session, Selection(selected.sql, {**selected.values, "most": None}))


async def all_of_index(session: AsyncSession, query: Query) -> AsyncGenerator[list[Candidate]]:
    """All candidates, as the index gives them."""
    found, behind = by_index(query), covered(query)
    statement = text(_LIST.format(found=found.sql, covered=behind.sql))
    values = {**found.values, **behind.values, "bound": None}
    rows = (await session.execute(statement, values)).all()
    for start in range(0, len(rows), _AT_ONCE):
        batch = rows[start : start + _AT_ONCE]
        asked = await session.execute(_TEXTS, {"ids": [row.id for row in batch]})
        texts = {row.id: row.text for row in asked}
        yield [
            Candidate(row.id, row.source, row.path, row.position, texts[row.id]) for row in batch
        ]


async def _portions(session: AsyncSession, selected: Selection) -> AsyncGenerator[list[Candidate]]:
    rows = await session.stream(text(selected.sql), selected.values)
    try:
        async for portion in rows.partitions(_AT_ONCE):
            yield [Candidate(*row) for row in portion]
    finally:
        await rows.close()
