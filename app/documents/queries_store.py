"""Storing, renaming and removing documents.

What an upload waits for is plain text: it takes SQLAlchemy longer to put such statements together
than PostgreSQL to run them.
"""

from typing import Any, Literal

from sqlalchemy import ARRAY, Row, Text, TextClause, delete, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible, within
from app.documents.queries import WITHOUT_CONTENT, found, named
from app.documents.queries_passages import INSERT, Placed, insert_rest, make_way, place
from app.documents.upload import Upload
from app.errors import Conflict, Forbidden, NotFound
from app.models import Document

Outcome = Literal["created", "replaced", "unchanged"]

_COLUMNS = """documents.id, source, path, title, media_type, bytes, characters, lines, sha256,
  text_sha256, version, notices, created_at, updated_at"""
_FIND = text(f"""
SELECT {_COLUMNS} FROM documents WHERE source = :source AND path = :path FOR UPDATE
""")
_GRAMS = """INSERT INTO document_grams (document_id, grams)
  SELECT id, CAST(:grams AS int[]) FROM kept
  ON CONFLICT (document_id) DO UPDATE SET grams = excluded.grams"""
_CREATE = text(f"""
WITH kept AS (
  INSERT INTO documents (source, path, title, media_type, bytes, characters, lines, sha256,
    text_sha256, notices, content, signature)
  VALUES (:source, :path, :title, :media_type, :bytes, :characters, :lines, :sha256, :text_sha256,
    CAST(:notices AS text[]), :content, :signature)
  RETURNING {_COLUMNS}
), passed AS ({INSERT}), grams AS ({_GRAMS})
SELECT * FROM kept
""")
_REPLACE = text(f"""
WITH kept AS (
  UPDATE documents SET title = :title, media_type = :media_type, bytes = :bytes,
    characters = :characters, lines = :lines, sha256 = :sha256, text_sha256 = :text_sha256,
    notices = CAST(:notices AS text[]), content = :content, signature = :signature,
    version = version + 1, updated_at = now()
  WHERE source = :source AND path = :path RETURNING {_COLUMNS}
), passed AS ({INSERT}), grams AS ({_GRAMS})
SELECT * FROM kept
""")


async def store(
    session: AsyncSession, visible: Visible, upload: Upload
) -> tuple[Row[Any], Outcome]:
    """Store a document with its passages, in the caller's transaction; returns its summary.

    The same bytes again change nothing. Uploads of one name wait for each other.
    """
    check_writable(visible, upload.source)
    document = await _find(session, upload)
    if document is None:
        await lock_names(session, (upload.source, upload.path))
        document = await _find(session, upload)
    if document is None:
        placed = place(upload.passages)
        return await _keep(session, _CREATE, upload, placed), "created"
    if document.sha256 == upload.sha256:
        return document, "unchanged"
    placed = await make_way(session, document.id, upload.passages)
    return await _keep(session, _REPLACE, upload, placed), "replaced"


async def move(
    session: AsyncSession, visible: Visible, key: tuple[str, str], to: tuple[str, str]
) -> Document:
    """Rename the document `key` (source, path); raises `NotFound`, or `Conflict` if `to` exists."""
    check_writable(visible, to[0])
    await lock_names(session, key, to)
    document = found(await _find_to_change(session, visible, *key), *key)
    if key == to:
        return document
    if await session.scalar(select(Document.id).where(*named(visible, *to))):
        raise Conflict(f"There is a document “{'/'.join(to)}” already.")
    document.source, document.path = to
    await _touch(session, document)
    return document


async def remove(session: AsyncSession, visible: Visible, source: str, path: str) -> None:
    """Remove a document; raises `NotFound`."""
    statement = delete(Document).where(*named(visible, source, path)).returning(Document.id)
    if await session.scalar(statement) is None:
        raise NotFound(f"There is no document “{source}/{path}”.")


async def remove_source(session: AsyncSession, visible: Visible, source: str) -> int:
    """Remove all documents of a source and return their number; raises `NotFound`."""
    statement = (
        delete(Document)
        .where(Document.source == source, within(visible, Document.source))
        .returning(Document.id)
    )
    removed = len((await session.scalars(statement)).all())
    if not removed:
        raise NotFound(f"There is no source “{source}”.")
    return removed


def check_writable(visible: Visible, source: str) -> None:
    if visible is not None and source not in visible:
        raise Forbidden(f"You may not write to the source “{source}”.")


async def lock_names(session: AsyncSession, *keys: tuple[str, str]) -> None:
    """Wait for other writers of these names: a name that does not exist yet has no row to lock."""
    names = sorted({"/".join(key) for key in keys})
    name = func.unnest(literal(names, ARRAY(Text))).column_valued("name")
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


async def _find_to_change(
    session: AsyncSession, visible: Visible, source: str, path: str
) -> Document | None:
    return await session.scalar(
        select(Document)
        .where(*named(visible, source, path))
        .options(WITHOUT_CONTENT)
        .with_for_update()
    )


async def _find(session: AsyncSession, upload: Upload) -> Row[Any] | None:
    name = {"source": upload.source, "path": upload.path}
    return (await session.execute(_FIND, name)).first()


async def _keep(
    session: AsyncSession, statement: TextClause, upload: Upload, placed: Placed
) -> Row[Any]:
    given = values(upload) | {"grams": list(upload.grams)} | placed.first()
    kept = (await session.execute(statement, given)).one()
    await insert_rest(session, kept.id, placed)
    return kept


async def _touch(session: AsyncSession, document: Document) -> None:
    document.updated_at = func.now()  # pyright: ignore[reportAttributeAccessIssue]
    await session.flush()
    await session.refresh(document, ["updated_at"])


def values(upload: Upload) -> dict[str, Any]:
    return {
        "source": upload.source,
        "path": upload.path,
        "title": upload.title,
        "media_type": upload.media_type,
        "bytes": upload.bytes,
        "characters": len(upload.text),
        "lines": upload.lines,
        "sha256": upload.sha256,
        "text_sha256": upload.text_sha256,
        "notices": list(upload.notices),
        "content": upload.text,
        "signature": upload.signature,
    }
