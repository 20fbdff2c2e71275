"""One way into the three searches, for callers outside of a conversation."""

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.errors import InvalidPattern
from app.schemas import SearchRequest
from app.search import paths, regex, substring
from app.search.matcher import literal
from app.search.page import Cursor, Page
from app.search.result import SearchResult
from app.search.scope import Scope, locate

WIDTH = 400
ONE_LINE = "The search is per line: give a pattern without line breaks."


async def search(session: AsyncSession, asked: SearchRequest, visible: Visible) -> SearchResult:
    """What was asked for; raises `NotFound`, `BadPath`, `InvalidPattern`, `TooSlow`."""
    if "\n" in asked.q or "\r" in asked.q:
        raise InvalidPattern(ONE_LINE)
    scope = replace(
        await locate(session, visible, asked.source or None, asked.path or None),
        include=tuple(filter(None, asked.include)),
        exclude=tuple(filter(None, asked.exclude)),
        max_bytes=asked.max_bytes,
    )
    page = _page(asked)
    if asked.mode == "path":
        glob = paths.Glob(asked.q, asked.case_sensitive)
        return await paths.search(session, glob, visible, scope, page)
    if asked.mode == "regex":
        expression = regex.Expression(asked.q, asked.case_sensitive)
        return await regex.search(session, expression, visible, scope, page)
    return await _search_text(session, asked, visible, scope, page)


async def _search_text(
    session: AsyncSession, asked: SearchRequest, visible: Visible, scope: Scope, page: Page
) -> SearchResult:
    if not asked.case_sensitive:
        return await substring.search(session, asked.q, visible, scope, page)
    # What is indexed is folded: it gives the candidates, and the text itself decides.
    expression = regex.Expression(literal(asked.q), case_sensitive=True)
    return await regex.search(session, expression, visible, scope, page)


def _page(asked: SearchRequest) -> Page:
    after = Cursor.parse(asked.after, of_lines=asked.mode != "path") if asked.after else None
    return Page(
        limit=asked.limit,
        width=WIDTH,
        after=after,
        context=asked.context if asked.mode != "path" else 0,
        exact=asked.count == "exact",
    )
