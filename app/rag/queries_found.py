"""Loads the passages that were found, with their places."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.db.visible import Visible, within
from app.documents.words import INDEXED_CHARACTERS
from app.models import Document, Passage
from app.rag.passages import Found


async def load(session: AsyncSession, ids: Sequence[int], visible: Visible) -> dict[int, Found]:
    """The passages with these ids; one that vanished meanwhile is left out."""
    before = aliased(Passage)
    skipped = (
        select(func.coalesce(func.sum(before.lines), 0))
        .where(before.document_id == Passage.document_id, before.position < Passage.position)
        .scalar_subquery()
    )
    # A passage is longer only when a single line is; words find this much of it.
    text = func.substr(Passage.text, 1, INDEXED_CHARACTERS)
    query = (
        select(Passage.id, Document.source, Document.path, skipped, Passage.lines, text)
        .join(Document, Document.id == Passage.document_id)
        .where(Passage.id.in_(ids), within(visible, Document.source))
    )
    return {
        id_: Found(source, path, int(first) + 1, int(first) + max(lines, 1), content)
        for id_, source, path, first, lines, content in await session.execute(query)
    }
