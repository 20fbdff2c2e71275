"""Passages that an expression may match: those that hold what it requires, with their texts."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.search.matches import Candidate
from app.search.plans import Query, Selection, at_head, block, by_index, covered, in_order

_AT_ONCE = 256
# A single passage may be a line of many megabytes.
_MOST_CHARACTERS = 4 * 1024 * 1024
_COLUMNS = "id, source, path, position, characters"
_FOUND = """
WITH found AS MATERIALIZED ({found}), covered AS MATERIALIZED ({covered}),
seen AS (SELECT count(*) AS scanned, CAST(max(place) AS text) AS last FROM found)
SELECT seen.*, covered.*, characters FROM seen LEFT JOIN (covered JOIN passages USING (id)) ON true
ORDER BY source, path, covered.position
"""
_LIST = """
WITH found AS MATERIALIZED ({found}), covered AS MATERIALIZED ({covered})
SELECT id, source, path, covered.position, characters FROM covered JOIN passages USING (id)
ORDER BY source, path, covered.position
"""
_TEXTS = text("SELECT id, text FROM passages WHERE id = ANY(:ids)")

Portions = AsyncGenerator[list[Candidate]]
"""Candidates in catalog order, a bounded amount of text at a time."""


@dataclass(frozen=True)
class Indexed:
    """Candidates that the index gave, of `scanned` ones up to block `last` of the table."""

    portions: Portions
    scanned: int
    last: int


def first_in_order(session: AsyncSession, query: Query, head: int) -> Portions:
    """The candidates among the first `head` passages in catalog order."""
    selected = at_head(query, _COLUMNS)
    return _stream(session, selected.sql, {**selected.values, "head": head, "most": None})


def all_in_order(session: AsyncSession, query: Query, end: tuple[str, str] | None) -> Portions:
    """All candidates up to the document `end`, found by reading one passage after the other."""
    selected = in_order(query, _COLUMNS, end)
    return _stream(session, selected.sql, {**selected.values, "most": None})


def all_of_index(session: AsyncSession, query: Query) -> Portions:
    """All candidates, as the index gives them."""
    selected = _of_index(query, _LIST)
    return _stream(session, selected.sql, {**selected.values, "bound": None})


async def of_index(session: AsyncSession, query: Query, bound: int) -> Indexed:
    """The first `bound` candidates that the index gives."""
    selected = _of_index(query, _FOUND)
    rows = (await session.execute(text(selected.sql), {**selected.values, "bound": bound})).all()
    found = [row for row in rows if row.id is not None]
    return Indexed(_with_texts(session, found), rows[0].scanned, block(rows[0].last))


def _of_index(query: Query, template: str) -> Selection:
    found, behind = by_index(query), covered(query)
    sql = template.format(found=found.sql, covered=behind.sql)
    return Selection(sql, {**found.values, **behind.values})


async def _stream(session: AsyncSession, sql: str, values: dict[str, Any]) -> Portions:
    rows = await session.stream(text(sql), values)
    try:
        async for listed in rows.partitions(_AT_ONCE):
            async for portion in _with_texts(session, listed):
                yield portion
    finally:
        await rows.close()


async def _with_texts(session: AsyncSession, listed: Sequence[Row[Any]]) -> Portions:
    for some in _bounded(listed):
        rows = await session.execute(_TEXTS, {"ids": [row.id for row in some]})
        texts = {row.id: row.text for row in rows}
        yield [
            Candidate(row.id, row.source, row.path, row.position, texts[row.id])
            for row in some
            if row.id in texts
        ]


def _bounded(listed: Sequence[Row[Any]]) -> Iterator[list[Row[Any]]]:
    some: list[Row[Any]] = []
    size = 0
    for row in listed:
        if some and (size + row.characters > _MOST_CHARACTERS or len(some) == _AT_ONCE):
            yield some
            some, size = [], 0
        some.append(row)
        size += row.characters
    if some:
        yield some
