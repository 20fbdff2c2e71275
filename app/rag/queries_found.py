"""Loads the passages that were found, with their places, and the beginnings of named documents."""

from collections.abc import Sequence

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible, within
from app.documents.words import INDEXED_CHARACTERS
from app.models import Document
from app.rag.passages import Found

# A passage is longer only when a single line is; words find this much of it. As plain text: it
# takes SQLAlchemy longer to put such a statement together than PostgreSQL to run it.
_LOAD = """
SELECT p.id, d.source, d.path, p.lines, substr(p.text, 1, :characters), d.id, d.title,
  (SELECT coalesce(sum(b.lines), 0) FROM passages b
   WHERE b.document_id = p.document_id AND b.position < p.position) AS skipped
FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.id = ANY(:ids)
"""
_OPENINGS = """
SELECT opening.id FROM unnest(CAST(:documents AS bigint[])) WITH ORDINALITY AS named (id, number)
CROSS JOIN LATERAL (SELECT p.id, p.position FROM passages p
  WHERE p.document_id = named.id ORDER BY p.position LIMIT :most) AS opening
ORDER BY named.number, opening.position
"""


async def load(session: AsyncSession, ids: Sequence[int], visible: Visible) -> dict[int, Found]:
    """The passages with these ids, in their order; one that vanished meanwhile is left out."""
    values = {"ids": list(ids), "characters": INDEXED_CHARACTERS}
    narrowed = ""
    if visible is not None:
        narrowed, values = " AND d.source = ANY(:visible)", values | {"visible": list(visible)}
    found = {
        id_: Found(
            source,
            path,
            int(skipped) + 1,
            int(skipped) + max(lines, 1),
            content,
            document_id=document_id,
            title=title,
        )
        for id_, source, path, lines, content, document_id, title, skipped in await session.execute(
            text(_LOAD + narrowed), values
        )
    }
    return {id_: found[id_] for id_ in ids if id_ in found}


async def find_by_name(
    session: AsyncSession, name: str, limit: int, visible: Visible
) -> Sequence[int]:
    """The ids of the first `limit` documents with this file name, or the end of a path."""
    full_name = func.lower("/" + Document.source + "/" + Document.path)
    statement = (
        select(Document.id)
        .where(full_name.endswith(f"/{name}", autoescape=True), within(visible, Document.source))
        .order_by(Document.source, Document.path)
        .limit(limit)
    )
    return (await session.scalars(statement)).all()


async def openings(
    session: AsyncSession, documents: Sequence[int], most: int, visible: Visible
) -> list[Found]:
    """The first `most` passages of each document, in the order of both."""
    values = {"documents": list(documents), "most": most}
    ids = (await session.scalars(text(_OPENINGS), values)).all()
    return list((await load(session, ids, visible)).values())
