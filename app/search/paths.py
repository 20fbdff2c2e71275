"""Search for documents by their paths."""

from dataclasses import dataclass, replace

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.search.conditions import ALWAYS, Condition, all_of
from app.search.globs import to_regex
from app.search.lines import Stretch
from app.search.page import FIRST_PAGE, Page
from app.search.planner import planned
from app.search.result import Hit, SearchResult
from app.search.scope import Scope, count

# More matches than these are counted only when that is asked for.
_COUNTED = 10_000
_SECONDS = 10.0
_TOTAL = "SELECT count(*) FROM (SELECT FROM documents WHERE {matching} LIMIT :most) AS counted"
_PAGE = "SELECT source, path FROM documents WHERE {wanted} ORDER BY source, path LIMIT :limit"


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
    """Documents whose path matches, in catalog order; raises `InvalidPattern`, `TooSlow`.

    The hits have no lines; `total` counts documents.
    """
    pattern = to_regex(glob.pattern, case_sensitive=glob.case_sensitive)
    matches = Condition("documents.path ~ :glob", {"glob": pattern})
    matching = all_of((scope.covers(visible), matches))
    counted = {"most": None if page.exact else _COUNTED + 1}
    async with planned(session, _SECONDS):
        searched = await count(session, visible, scope)
        statement = text(_TOTAL.format(matching=matching.sql))
        total = await session.scalar(statement, {**matching.values, **counted}) or 0
        hits = await _hits(session, matching, page)
    shown = tuple(hits[: page.limit])
    result = SearchResult(shown, total, True, total, searched.documents, searched.skipped)
    return replace(
        result,
        total_is_exact=page.exact or total <= _COUNTED,
        next=str(shown[-1].cursor) if len(hits) > len(shown) > 0 else None,
    )


async def _hits(session: AsyncSession, matching: Condition, page: Page) -> list[Hit]:
    """A page of hits, and one more if there are more."""
    behind = ALWAYS
    if page.after is not None:
        place = {"after_source": page.after.source, "after_path": page.after.path}
        behind = Condition("(source, path) > (:after_source, :after_path)", place)
    wanted = all_of((matching, behind))
    rows = await session.execute(
        text(_PAGE.format(wanted=wanted.sql)), {**wanted.values, "limit": page.limit + 1}
    )
    return [Hit(row.source, row.path, None, None, (), Stretch.whole(row.path)) for row in rows]
