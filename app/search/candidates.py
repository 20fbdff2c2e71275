"""Passages that an expression may match: those that hold what it requires, with their texts."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.search.matches import Candidate
from app.search.plans import Passed, Reach, Selection, by_index, covered, in_order
from app.search.query import Query

_AT_ONCE = 256
# A single passage may be a line of many megabytes.
_MOST_CHARACTERS = 4 * 1024 * 1024
_COLUMNS = "id, source, path, position, characters"
_FOUND = """
WITH found AS MATERIALIZED ({found}), covered AS MATERIALIZED ({covered}),
seen AS (
  SELECT array_agg(id) AS ids, CAST(max(place) AS text) AS last, (
    SELECT CAST(max(place) AS text) FROM found JOIN (
      SELECT id FROM covered ORDER BY source, path, position LIMIT :wanted
    ) AS page USING (id)) AS furthest
  FROM found
)
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
    """Candidates that the index gave, and what it has passed."""

    portions: Portions
    passed: Passed


def all_in_order(session: AsyncSession, query: Query, reach: Reach, wanted: int) -> Portions:
    """All candidates within reach, found by going from one passage to the next.

    The first portion are the first `wanted`: to find more takes time where they are rare.
    """
    selected = in_order(query, _COLUMNS, reach)
    values = {**selected.values, "most": None}
    return _stream(session, selected.sql, values, wanted)


def all_of_index(session: AsyncSession, query: Query) -> Portions:
    """All candidates, as the index gives them."""
    selected = _of_index(query, _LIST, bounded=False)
    return _stream(session, selected.sql, {**selected.values, "bound": None}, _AT_ONCE)


async def of_index(session: AsyncSession, query: Query, bound: int, wanted: int) -> Indexed:
    """The first `bound` candidates that the index gives; about `wanted` matches are shown."""
    selected = _of_index(query, _FOUND, bounded=True)
    values = {**selected.values, "bound": bound, "wanted": wanted}
    rows = (await session.execute(text(selected.sql), values)).all()
    found = [row for row in rows if row.id is not None]
    passed = Passed(rows[0].ids or (), rows[0].last, rows[0].furthest)
    return Indexed(_with_texts(session, found), passed)


def _of_index(query: Query, template: str, *, bounded: bool) -> Selection:
    found, behind = by_index(query, bounded=bounded), covered(query)
    sql = template.format(found=found.sql, covered=behind.sql)
    return Selection(sql, {**found.values, **behind.values})


async def _stream(
    session: AsyncSession, sql: str, values: dict[str, Any], at_once: int
) -> Portions:
    rows = await session.stream(text(sql), values)
    try:
        while listed := await rows.fetchmany(at_once):
            async for portion in _with_texts(session, listed):
                yield portion
            at_once = min(2 * at_once, _AT_ONCE)
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
