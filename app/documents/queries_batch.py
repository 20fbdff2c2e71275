"""Storing many documents at once: what is new goes in by COPY, in one transaction."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import psycopg
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible, within
from app.documents.queries_passages import positions_for
from app.documents.queries_store import Outcome, check_writable, lock_names, store, values
from app.documents.upload import Upload
from app.models import Document

_PASSAGE = ("document_id", "position", "lines", "characters", "text", "folded", "words")


async def store_batch(
    session: AsyncSession, visible: Visible, uploads: Sequence[Upload]
) -> list[Outcome]:
    """Store documents of one source under distinct paths, in the caller's transaction.

    The outcomes are in the order of the uploads.
    """
    if not uploads:
        return []
    source = uploads[0].source
    check_writable(visible, source)
    await lock_names(session, *((upload.source, upload.path) for upload in uploads))
    known = await _known(session, visible, source, [upload.path for upload in uploads])
    outcomes: list[Outcome] = []
    for upload in uploads:
        if known.get(upload.path) == upload.sha256:
            outcomes.append("unchanged")
        elif upload.path in known:
            outcomes.append((await store(session, visible, upload))[1])
        else:
            outcomes.append("created")
    await _copy_new(session, [upload for upload in uploads if upload.path not in known])
    return outcomes


async def _known(
    session: AsyncSession, visible: Visible, source: str, paths: list[str]
) -> dict[str, str]:
    """Path → hash of the upload, for those of the paths that are stored."""
    rows = await session.execute(
        select(Document.path, Document.sha256).where(
            Document.source == source,
            Document.path.in_(paths),
            within(visible, Document.source),
        )
    )
    return {row.path: row.sha256 for row in rows}


async def _copy_new(session: AsyncSession, uploads: Sequence[Upload]) -> None:
    if not uploads:
        return
    ids = await _new_ids(session, len(uploads))
    numbered = list(zip(ids, uploads, strict=True))
    cursor = await _cursor(session)
    columns = ("id", *values(uploads[0]))
    documents = ((key, *values(upload).values()) for key, upload in numbered)
    await _copy(cursor, "documents", columns, documents)
    # The driver looks for what to escape in each number of a list: that takes ten times as long.
    grams = ((key, f"{{{','.join(map(str, upload.grams))}}}") for key, upload in numbered)
    await _copy(cursor, "document_grams", ("document_id", "grams"), grams)
    passages = (row for key, upload in numbered for row in _passages(key, upload))
    await _copy(cursor, "passages", _PASSAGE, passages)


async def _new_ids(session: AsyncSession, count: int) -> list[int]:
    sequence = func.pg_get_serial_sequence("documents", "id")
    each = func.generate_series(1, count).table_valued("n")
    return list(await session.scalars(select(func.nextval(sequence)).select_from(each)))


async def _cursor(session: AsyncSession) -> psycopg.AsyncCursor[Any]:
    """A cursor of the driver, within the session's transaction: SQLAlchemy knows no COPY."""
    raw = await (await session.connection()).get_raw_connection()
    return cast("psycopg.AsyncConnection[Any]", raw.driver_connection).cursor()


async def _copy(
    cursor: psycopg.AsyncCursor[Any],
    table: str,
    columns: Iterable[str],
    rows: Iterable[tuple[Any, ...]],
) -> None:
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    async with cursor.copy(statement.encode()) as copy:
        for row in rows:
            await copy.write_row(row)


def _passages(document_id: int, upload: Upload) -> Iterable[tuple[Any, ...]]:
    positions = positions_for(len(upload.passages))
    for position, item in zip(positions, upload.passages, strict=True):
        piece = item.piece
        numbers = (document_id, position, piece.lines, piece.characters)
        yield *numbers, piece.text, item.folded, _quoted(item.words)


def _quoted(words: str) -> str:
    """Terms between blanks as PostgreSQL reads a tsvector."""
    escaped = words.replace("\\", "\\\\").replace("'", "''")
    return "'" + escaped.replace(" ", "' '") + "'" if escaped else ""
