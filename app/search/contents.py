"""Whole documents in catalog order, a bounded amount of text at a time."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from sqlalchemy import select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.models import Document
from app.search.plans import Query

_LISTED = 2_000
_FIRST_CHARACTERS = 256 * 1024
_MOST_CHARACTERS = 4 * 1024 * 1024


@dataclass(frozen=True)
class Content:
    """The whole text of a document."""

    source: str
    path: str
    text: str


async def contents(session: AsyncSession, query: Query) -> AsyncIterator[list[Content]]:
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
    place = tuple_(Document.source, Document.path)
    listed = (
        select(Document.id, Document.characters, Document.source, Document.path)
        .where(query.covers_document(), query.has_grams())
        .order_by(Document.source, Document.path)
        .limit(_LISTED)
    )
    page = listed
    while True:
        rows = (await session.execute(page)).all()
        for row in rows:
            yield row.id, row.characters
        if len(rows) < _LISTED:
            return
        page = listed.where(place > tuple_(rows[-1].source, rows[-1].path))


async def _fetch(session: AsyncSession, ids: list[int]) -> list[Content]:
    rows = await session.execute(
        select(Document.source, Document.path, Document.content)
        .where(Document.id.in_(ids))
        .order_by(Document.source, Document.path)
    )
    return [Content(row.source, row.path, row.content) for row in rows]
