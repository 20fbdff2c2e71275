"""Loads the passages that were found, with their places, and the beginnings of named documents."""

from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.documents.words import INDEXED_CHARACTERS
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
# All paths are read once, whatever the number of names. The columns have the collation C, which
# knows capitals of ASCII alone.
_BY_NAME = """
WITH asked AS (
  SELECT number, name, lower(pattern COLLATE "default") AS pattern
  FROM unnest(CAST(:names AS text[]), CAST(:patterns AS text[])) WITH ORDINALITY
    AS given (name, pattern, number)
), called AS MATERIALIZED (
  SELECT id, source, path, lower(('/' || source || '/' || path) COLLATE "default") AS full_name
  FROM documents d
  WHERE lower(('/' || source || '/' || path) COLLATE "default")
    LIKE ANY (ARRAY(SELECT pattern FROM asked)) {narrowed}
), placed AS (
  SELECT called.id, asked.name, asked.number,
    row_number() OVER (PARTITION BY asked.number ORDER BY called.source, called.path) AS place
  FROM asked JOIN called ON called.full_name LIKE asked.pattern
)
SELECT id, name FROM placed WHERE place <= :most ORDER BY number, place
"""
_PATTERN_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\%_"})


async def load(session: AsyncSession, ids: Sequence[int], visible: Visible) -> dict[int, Found]:
    """The passages with these ids, in their order; one that vanished meanwhile is left out."""
    narrowed, chosen = _narrowed(visible)
    values = {"ids": list(ids), "characters": INDEXED_CHARACTERS, **chosen}
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


async def find_by_names(
    session: AsyncSession, names: Sequence[str], most: int, visible: Visible
) -> list[tuple[int, str]]:
    """The documents with a file name, or the end of a path, among `names`: their ids and the names.

    Of each name the first `most` by source and path, in the order of the names. Capitals count as
    small letters as far as the locale of the database knows them; the embedded one knows all.
    """
    narrowed, chosen = _narrowed(visible)
    patterns = [f"%/{name.translate(_PATTERN_SIGNS)}" for name in names]
    values = {"names": list(names), "patterns": patterns, "most": most, **chosen}
    rows = await session.execute(text(_BY_NAME.format(narrowed=narrowed)), values)
    return [(int(id_), name) for id_, name in rows]


async def openings(
    session: AsyncSession, documents: Sequence[int], most: int, visible: Visible
) -> list[Found]:
    """The first `most` passages of each document, in the order of both."""
    values = {"documents": list(documents), "most": most}
    ids = (await session.scalars(text(_OPENINGS), values)).all()
    return list((await load(session, ids, visible)).values())


def _narrowed(visible: Visible) -> tuple[str, dict[str, list[str]]]:
    """The condition that narrows documents `d` to the visible sources, and the values for it."""
    if visible is None:
        return "", {}
    return " AND d.source = ANY(:visible)", {"visible": list(visible)}
