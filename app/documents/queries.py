"""Reading documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from app.db.visible import Visible, within
from app.errors import NotFound
from app.models import Document, DocumentCount, Passage

WITHOUT_CONTENT = defer(Document.content, raiseload=True)
# Trigram similarity below which a name is no likely misspelling of another.
_LIKELY = 0.2
_MOST_LINES = 2**31 - 1


@dataclass(frozen=True)
class LineRange:
    """The lines `first`-`last` (1-based, inclusive) of a document, without their line ends.

    `lines` is empty when the range lies outside of the document's `total` lines.
    """

    document: Document
    lines: tuple[str, ...]
    first: int
    last: int
    total: int


@dataclass(frozen=True)
class SourceTotals:
    """How much a source holds."""

    source: str
    documents: int
    bytes: int
    characters: int
    lines: int
    updated_at: datetime


async def get(session: AsyncSession, visible: Visible, source: str, path: str) -> Document:
    """A document without its content, which must not be touched; raises `NotFound`."""
    statement = select(Document).where(*named(visible, source, path)).options(WITHOUT_CONTENT)
    return found(await session.scalar(statement), source, path)


async def get_with_content(
    session: AsyncSession, visible: Visible, source: str, path: str
) -> Document:
    """A document with its content; raises `NotFound`."""
    statement = select(Document).where(*named(visible, source, path))
    return found(await session.scalar(statement), source, path)


async def read_lines(
    session: AsyncSession, visible: Visible, key: tuple[str, str], first: int, last: int
) -> LineRange:
    """Lines of the document `key` (source, path), from the passages that hold them.

    A `last` behind the end means the end. Raises `NotFound`.
    """
    first, last = max(first, 1), min(last, _MOST_LINES)
    rows = await session.execute(_lines_statement(named(visible, *key), first, last))
    passages = rows.all()
    document = found(passages[0][0] if passages else None, *key)
    text = "".join(text or "" for _, text, _ in passages)
    lines = text.removesuffix("\n").split("\n") if text else []
    skipped = first - 1 - (passages[0][2] or 0)
    shown = tuple(lines[skipped:][: max(last - first + 1, 0)])
    return LineRange(document, shown, first, first + len(shown) - 1, document.lines)


async def nearest(
    session: AsyncSession, visible: Visible, key: tuple[str, str], limit: int = 3
) -> list[str]:
    """The names (`source/path`) most similar to the unknown `key`, best first."""
    full_name = Document.source + "/" + Document.path
    likeness = func.similarity(full_name, "/".join(key))
    statement = (
        select(full_name)
        .where(within(visible, Document.source), likeness > _LIKELY)
        .order_by(likeness.desc(), Document.source, Document.path)
        .limit(limit)
    )
    return list(await session.scalars(statement))


async def count_documents(
    session: AsyncSession, visible: Visible, source: str | None = None
) -> int:
    """How many documents there are, in all visible sources or in one."""
    statement = select(func.count()).select_from(Document).where(within(visible, Document.source))
    if source is not None:
        statement = statement.where(Document.source == source)
    return (await session.scalar(statement)) or 0


async def count_by_source(session: AsyncSession, visible: Visible) -> dict[str, int]:
    """How many documents each source has, from sums that are kept: quick for any number."""
    kept, documents = DocumentCount.source, func.sum(DocumentCount.documents)
    rows = await session.execute(
        select(kept, documents).where(within(visible, kept)).group_by(kept).having(documents > 0)
    )
    return {source: int(count) for source, count in rows}


async def sources(session: AsyncSession, visible: Visible) -> Sequence[SourceTotals]:
    """The sources by name, with their totals."""
    rows = await session.execute(
        select(
            Document.source,
            func.count(),
            func.sum(Document.bytes),
            func.sum(Document.characters),
            func.sum(Document.lines),
            func.max(Document.updated_at),
        )
        .where(within(visible, Document.source))
        .group_by(Document.source)
        .order_by(Document.source)
    )
    return [SourceTotals(*row) for row in rows]


async def source_names(session: AsyncSession, visible: Visible, limit: int) -> list[str]:
    """The names of the first `limit` sources."""
    statement = (
        select(Document.source)
        .where(within(visible, Document.source))
        .distinct()
        .order_by(Document.source)
        .limit(limit)
    )
    return list(await session.scalars(statement))


def named(visible: Visible, source: str, path: str) -> tuple[ColumnElement[bool], ...]:
    """The conditions that pick one document."""
    return Document.source == source, Document.path == path, within(visible, Document.source)


def found(document: Document | None, source: str, path: str) -> Document:
    """`document`, or `NotFound` when there is none."""
    if document is None:
        raise NotFound(f"There is no document “{source}/{path}”.")
    return document


def _lines_statement(
    here: tuple[ColumnElement[bool], ...], first: int, last: int
) -> Select[Document, str, Any]:
    """The document, with the passages that hold the lines and the number of lines before each.

    One statement, so that no replacement comes in between; lines are counted in the index alone.
    """
    through = func.sum(Passage.lines).over(order_by=Passage.position)
    counted = (
        select(Passage.position, Passage.lines, through.label("through"))
        .where(Passage.document_id == select(Document.id).where(*here).scalar_subquery())
        .subquery()
    )
    before = counted.c.through - counted.c.lines
    return (
        select(Document, Passage.text, before)
        .select_from(Document)
        .outerjoin(counted, and_(counted.c.through >= min(first, _MOST_LINES), before < last))
        .outerjoin(
            Passage,
            and_(Passage.document_id == Document.id, Passage.position == counted.c.position),
        )
        .where(*here)
        .order_by(counted.c.position)
        .options(WITHOUT_CONTENT)
    )
