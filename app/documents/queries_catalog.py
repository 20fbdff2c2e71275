"""The catalog: documents in order of (source, path), by code point, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select, true, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible, within
from app.documents.queries import WITHOUT_CONTENT
from app.models import Document
from app.search.globs import containing, to_regex
from app.text import normalize

_WILDCARDS = frozenset("*?")


@dataclass(frozen=True)
class Selection:
    """Which documents: of a source, with paths that begin with `prefix`, that match `glob`.

    `name` is a part of `source/path`, or with `*` or `?` a glob over that or over the path.
    """

    source: str | None = None
    prefix: str | None = None
    glob: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Page:
    """Documents without content, how many there are in all and behind the page, and its `next`."""

    documents: Sequence[Document]
    total: int
    left: int
    next: str | None


async def catalog(
    session: AsyncSession, visible: Visible, selection: Selection, after: str | None, limit: int
) -> Page:
    """The page of at most `limit` documents behind `after` (`source/path`, known or not).

    Raises `InvalidPattern` for a glob that is none.
    """
    selected = [within(visible, Document.source), *_conditions(selection)]
    behind = _behind(after)
    counts = await session.execute(
        select(func.count(), func.count().filter(behind)).select_from(Document).where(*selected)
    )
    total, following = counts.one()
    rows = await session.scalars(
        select(Document)
        .where(*selected, behind)
        .order_by(Document.source, Document.path)
        .limit(limit)
        .options(WITHOUT_CONTENT)
    )
    documents = rows.all()
    left = max(following - len(documents), 0)
    more = documents and left
    return Page(
        documents, total, left, f"{documents[-1].source}/{documents[-1].path}" if more else None
    )


async def upload_hashes(session: AsyncSession, visible: Visible, source: str) -> dict[str, str]:
    """The paths of a source, with the hashes of what was uploaded under them."""
    rows = await session.execute(
        select(Document.path, Document.sha256).where(
            Document.source == source, within(visible, Document.source)
        )
    )
    return {row.path: row.sha256 for row in rows}


def _conditions(selection: Selection) -> list[ColumnElement[bool]]:
    """The conditions of a selection; in a prefix `%`, `_` and `\\` are ordinary characters."""
    conditions: list[ColumnElement[bool]] = []
    if selection.source is not None:
        conditions.append(Document.source == selection.source)
    if selection.prefix:
        prefix = normalize("NFC", selection.prefix)
        conditions.append(func.starts_with(Document.path, prefix))
    if selection.glob is not None:
        conditions.append(Document.path.regexp_match(to_regex(selection.glob)))
    if selection.name is not None:
        conditions.append(_named(selection.name))
    return conditions


def _named(name: str) -> ColumnElement[bool]:
    whole = Document.source + "/" + Document.path
    if not _WILDCARDS.intersection(name):
        return whole.regexp_match(containing(name))
    pattern = to_regex(name)
    return or_(Document.path.regexp_match(pattern), whole.regexp_match(pattern))


def _behind(after: str | None) -> ColumnElement[bool]:
    if not after:
        return true()
    # A source's name holds no slash.
    source, _, path = after.partition("/")
    return tuple_(Document.source, Document.path) > tuple_(source, path)
