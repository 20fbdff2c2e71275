"""Search for documents by their paths."""

from dataclasses import dataclass, replace

from sqlalchemy import func, select, true, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.models import Document
from app.search.globs import to_regex
from app.search.lines import Stretch
from app.search.page import FIRST_PAGE, Page
from app.search.result import Hit, SearchResult
from app.search.scope import Scope, count

# More matches than these are counted only when that is asked for.
_COUNTED = 10_000


@dataclass(frozen=True)
class Glob:
    """A glob over paths, in the dialect of globs.py."""

    pattern: str
    case_sensitive: bool = False


async def search(
    session: AsyncSession,
    glob: Glob,
    visible: Visible,
    scope: Scope,
    page: Page = FIRST_PAGE,
) -> SearchResult:
    """Documents whose path matches, in catalog order; raises `InvalidPattern`.

    The hits have no lines; `total` counts documents.
    """
    matches = Document.path.regexp_match(to_regex(glob.pattern, case_sensitive=glob.case_sensitive))
    searched = await count(session, visible, scope)
    matching = select(Document.source, Document.path).where(*scope.covers(visible), matches)
    bounded = matching.limit(None if page.exact else _COUNTED + 1).subquery()
    total = await session.scalar(select(func.count()).select_from(bounded)) or 0
    place, after = tuple_(Document.source, Document.path), page.after
    behind = true() if after is None else place > tuple_(after.source, after.path)
    rows = await session.execute(
        matching.where(behind).order_by(Document.source, Document.path).limit(page.limit + 1)
    )
    hits = [Hit(row.source, row.path, None, None, (), Stretch.whole(row.path)) for row in rows]
    shown = tuple(hits[: page.limit])
    result = SearchResult(shown, total, True, total, searched.documents, searched.skipped)
    return replace(
        result,
        total_is_exact=page.exact or total <= _COUNTED,
        next=str(shown[-1].cursor) if len(hits) > len(shown) > 0 else None,
    )
