"""Storing, renaming and removing documents."""

from typing import Any, Literal

from sqlalchemy import ARRAY, Text, delete, func, literal, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible, within
from app.documents.queries import WITHOUT_CONTENT, found, named
from app.documents.queries_passages import insert_passages, replace_passages
from app.documents.upload import Upload
from app.errors import Conflict, Forbidden, NotFound
from app.models import Document, DocumentGrams

Outcome = Literal["created", "replaced", "unchanged"]


async def store(
    session: AsyncSession, visible: Visible, upload: Upload
) -> tuple[Document, Outcome]:
    """Store a document with its passages, in the caller's transaction.

    The same bytes again change nothing. Uploads of one name wait for each other. The document that
    is returned has no content to touch.
    """
    check_writable(visible, upload.source)
    await lock_names(session, (upload.source, upload.path))
    document = await _find_to_change(session, visible, upload.source, upload.path)
    if document is None:
        document = Document(**values(upload))
        session.add(document)
        await session.flush()
        await insert_passages(session, document.id, upload.passages)
        await _store_grams(session, document.id, upload)
        return document, "created"
    if document.sha256 == upload.sha256:
        return document, "unchanged"
    await replace_passages(session, document.id, upload.passages)
    await _store_grams(session, document.id, upload)
    for name, value in values(upload).items():
        setattr(document, name, value)
    document.version += 1
    await _touch(session, document)
    return document, "replaced"


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


async def _store_grams(session: AsyncSession, document_id: int, upload: Upload) -> None:
    given = postgresql.insert(DocumentGrams).values(document_id=document_id, grams=upload.grams)
    await session.execute(
        given.on_conflict_do_update(
            index_elements=[DocumentGrams.document_id], set_={"grams": given.excluded.grams}
        )
    )


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
    }
