"""Whole documents in catalog order, a bounded amount of text at a time."""

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.search.conditions import ALWAYS, Condition, all_of
from app.search.query import Query

_LISTED = 2_000
_FIRST_CHARACTERS = 256 * 1024
_MOST_CHARACTERS = 4 * 1024 * 1024
_LIST = """SELECT id, characters, source, path FROM documents WHERE {wanted}
  ORDER BY source, path LIMIT :listed"""
_FETCH = text("""SELECT source, path, content FROM documents WHERE id = ANY(:ids)
  ORDER BY source, path""")


@dataclass(frozen=True)
class Content:
    """The whole text of a document."""

    source: str
    path: str
    text: str


async def contents(session: AsyncSession, query: Query) -> AsyncGenerator[list[Content]]:
    """The documents of a query that may match, in portions that grow: the first may suffice."""
    most = _FIRST_CHARACTERS
    batch: list[int] = []
    size = 0
    async for document_id, characters in _listed(session, query):
        if batch and size + characters > most:
            yield await _fetch(session, batch)
            batch, size, most = [], 0, min(2 * most, _MOST_CHARACTERS)
        batch.append(document_id)
        size += characters
    if batch:
        yield await _fetch(session, batch)


async def _listed(session: AsyncSession, query: Query) -> AsyncIterator[tuple[int, int]]:
    """Ids and lengths, page by page: a million documents are not listed at once."""
    listed = all_of((query.until(None), query.needle.signed()))
    behind = ALWAYS
    while True:
        wanted = all_of((listed, behind))
        statement = text(_LIST.format(wanted=wanted.sql))
        rows = (await session.execute(statement, {**wanted.values, "listed": _LISTED})).all()
        for row in rows:
            yield row.id, row.characters
        if len(rows) < _LISTED:
            return
        last = {"last_source": rows[-1].source, "last_path": rows[-1].path}
        behind = Condition("(source, path) > (:last_source, :last_path)", last)


async def _fetch(session: AsyncSession, ids: list[int]) -> list[Content]:
    rows = await session.execute(_FETCH, {"ids": ids})
    return [Content(row.source, row.path, row.content) for row in rows]
