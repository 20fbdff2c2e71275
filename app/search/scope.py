"""Which documents a search looks into, and how many they are."""

from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.errors import BadPath, InvalidPattern, NotFound
from app.search.conditions import ALWAYS, Condition, all_of, any_of, is_visible, no
from app.search.globs import to_regex
from app.text import normalize, quoted

_MOST_GLOBS = 50
_LARGEST = 2**62
_COUNT = "SELECT count(*) FILTER (WHERE {small}), count(*) FROM documents WHERE {held}"
_COUNT_SOURCES = "SELECT sum(documents) FROM document_counts WHERE {counted}"
_ANY = "SELECT FROM documents WHERE {covered} LIMIT 1"


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

    def covers(self, visible: Visible) -> Condition:
        """That a row of `documents` is searched; raises `InvalidPattern`."""
        return all_of((self.holds(visible), self.is_small()))

    def holds(self, visible: Visible) -> Condition:
        """That a row of `documents` is in the scope, whatever its size."""
        conditions = [is_visible(visible)]
        if self.source is not None:
            conditions.append(Condition("documents.source = :source", {"source": self.source}))
        if self.path is not None:
            conditions.append(Condition("documents.path = :path", {"path": self.path}))
        if self.folder is not None:
            # By code point “0” follows “/”.
            ends = {"folder_start": f"{self.folder}/", "folder_end": f"{self.folder}0"}
            within = "(documents.path > :folder_start AND documents.path < :folder_end)"
            conditions.append(Condition(within, ends))
        return all_of((*conditions, *self._globs()))

    def is_small(self) -> Condition:
        """That a row of `documents` is not too large, if any is."""
        if self.max_bytes is None:
            return ALWAYS
        largest = min(self.max_bytes, _LARGEST)
        return Condition("documents.bytes <= :max_bytes", {"max_bytes": largest})

    @property
    def is_of_sources(self) -> bool:
        """Whether the scope is all of its sources."""
        return self == Scope(self.source)

    def _globs(self) -> list[Condition]:
        if len(self.include) + len(self.exclude) > _MOST_GLOBS:
            raise InvalidPattern(f"There are too many globs: at most {_MOST_GLOBS}.")
        included = [_matches(glob, f"include_{n}") for n, glob in enumerate(self.include)]
        excluded = [_matches(glob, f"exclude_{n}") for n, glob in enumerate(self.exclude)]
        return [any_of(included), *map(no, excluded)]


@dataclass(frozen=True)
class Searched:
    """Documents of a scope that are searched, and those that are too large for it."""

    documents: int
    skipped: int


async def count(session: AsyncSession, visible: Visible, scope: Scope) -> Searched:
    """How many documents a search looks into."""
    if scope.is_of_sources:
        return Searched(await _count_sources(session, visible, scope.source), 0)
    held, small = scope.holds(visible), scope.is_small()
    statement = text(_COUNT.format(small=small.sql, held=held.sql))
    documents, all_held = (await session.execute(statement, {**held.values, **small.values})).one()
    return Searched(documents, all_held - documents)


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
        covered = scope.covers(visible)
        statement = text(_ANY.format(covered=covered.sql))
        if (await session.execute(statement, covered.values)).first() is not None:
            return scope
    raise NotFound(f"There is no document and no folder “{quoted(f'{source}/{path}')}”.")


async def _count_sources(session: AsyncSession, visible: Visible, source: str | None) -> int:
    named = Condition("source = :source", {"source": source}) if source is not None else ALWAYS
    counted = all_of((is_visible(visible, "source"), named))
    statement = text(_COUNT_SOURCES.format(counted=counted.sql))
    return int(await session.scalar(statement, counted.values) or 0)


def _plain(path: str) -> str:
    """The path without what says nothing; raises `BadPath` when it leaves the collection."""
    segments = [part for part in normalize("NFC", path).split("/") if part != "."]
    if path.startswith("/") or ".." in segments or "\\" in path or "\0" in path:
        raise BadPath(f"“{quoted(path)}” is no path within the documents.")
    return "/".join(part for part in segments if part)


def _matches(glob: str, name: str) -> Condition:
    return Condition(f"documents.path ~ :{name}", {name: to_regex(glob)})
