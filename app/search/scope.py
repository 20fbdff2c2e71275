"""Which documents a search looks into, and how many they are."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible, within
from app.errors import BadPath, InvalidPattern, NotFound
from app.models import Document, DocumentCount
from app.search.globs import to_regex
from app.text import normalize, quoted

_MOST_GLOBS = 50
_LARGEST = 2**62


@dataclass(frozen=True)
class Scope:
    """All documents, those of one source, of one folder in it, or one document; then globs.

    Of documents with more than `max_bytes` bytes nothing is searched.
    """

    source: str | None = None
    path: str | None = None
    folder: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_bytes: int | None = None

    def covers(self, visible: Visible) -> list[ColumnElement[bool]]:
        """The conditions that a row of `documents` is searched; raises `InvalidPattern`."""
        return [*self.holds(visible), *self.is_small()]

    def holds(self, visible: Visible) -> list[ColumnElement[bool]]:
        """The conditions that a row of `documents` is in the scope, whatever its size."""
        conditions = [within(visible, Document.source)]
        if self.source is not None:
            conditions.append(Document.source == self.source)
        if self.path is not None:
            conditions.append(Document.path == self.path)
        if self.folder is not None:
            # By code point “0” follows “/”.
            conditions += [Document.path > f"{self.folder}/", Document.path < f"{self.folder}0"]
        if len(self.include) + len(self.exclude) > _MOST_GLOBS:
            raise InvalidPattern(f"There are too many globs: at most {_MOST_GLOBS}.")
        if self.include:
            conditions.append(or_(*map(_matches, self.include)))
        conditions += [~_matches(glob) for glob in self.exclude]
        return conditions

    def is_small(self) -> list[ColumnElement[bool]]:
        """The condition that a row of `documents` is not too large, if any is."""
        if self.max_bytes is None:
            return []
        return [Document.bytes <= min(self.max_bytes, _LARGEST)]

    @property
    def is_of_sources(self) -> bool:
        """Whether the scope is all of its sources."""
        return self == Scope(self.source)


@dataclass(frozen=True)
class Searched:
    """Documents of a scope that are searched, and those that are too large for it."""

    documents: int
    skipped: int


async def count(session: AsyncSession, visible: Visible, scope: Scope) -> Searched:
    """How many documents a search looks into."""
    if scope.is_of_sources:
        return Searched(await _count_sources(session, visible, scope.source), 0)
    small = scope.is_small()
    searched = func.count().filter(*small) if small else func.count()
    counted = select(searched, func.count()).select_from(Document).where(*scope.holds(visible))
    documents, held = (await session.execute(counted)).one()
    return Searched(documents, held - documents)


async def locate(
    session: AsyncSession, visible: Visible, source: str | None, path: str | None
) -> Scope:
    """The scope of a source and a path in it, which may be a document or a folder.

    Without a source the path begins with one. Raises `NotFound` or `BadPath`.
    """
    if path is not None:
        path = _plain(path)
    if source is None and path:
        source, _, path = path.partition("/")
    if source is None:
        return Scope()
    if not path:
        if not await _count_sources(session, visible, source):
            raise NotFound(f"There is no source “{quoted(source)}”.")
        return Scope(source)
    for scope in (Scope(source, path), Scope(source, folder=path)):
        if await session.scalar(select(Document.id).where(*scope.covers(visible)).limit(1)):
            return scope
    raise NotFound(f"There is no document and no folder “{quoted(f'{source}/{path}')}”.")


async def _count_sources(session: AsyncSession, visible: Visible, source: str | None) -> int:
    statement = select(func.sum(DocumentCount.documents)).where(
        within(visible, DocumentCount.source)
    )
    if source is not None:
        statement = statement.where(DocumentCount.source == source)
    return int(await session.scalar(statement) or 0)


def _plain(path: str) -> str:
    """The path without what says nothing; raises `BadPath` when it leaves the collection."""
    segments = [part for part in normalize("NFC", path).split("/") if part != "."]
    if path.startswith("/") or ".." in segments or "\\" in path or "\0" in path:
        raise BadPath(f"“{quoted(path)}” is no path within the documents.")
    return "/".join(part for part in segments if part)


def _matches(glob: str) -> ColumnElement[bool]:
    return Document.path.regexp_match(to_regex(glob))
