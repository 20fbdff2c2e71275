"""The tools that search: for a fixed string, by expression, by path."""

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.documents import queries
from app.rag.reading import find_document
from app.rag.refusals import (
    MISSING_EXPRESSION,
    MISSING_GLOB,
    MISSING_PATTERN,
    NO_DOCUMENTS,
    ONE_LINE_PATTERN,
    PATH_WITHOUT_SOURCE,
    Refusal,
    echo,
)
from app.rag.tool_arguments import Arguments, flag, limited, text_argument, texts_argument
from app.rag.tool_result import ToolResult, ToolScope
from app.rag.tool_text import NOTICE_ROOM, counted, more_matches, no_matches, within_room
from app.search import paths, regex, substring
from app.search.page import Page
from app.search.result import SearchResult, as_grep
from app.search.scope import Scope, locate

_NAMED_SOURCES = 20
_LIMITS = range(1, 1_001)
_CONTEXT = range(21)
_GREP_WIDTH = 400


async def search_documents(
    session: AsyncSession, arguments: Arguments, turn: ToolScope
) -> ToolResult:
    """The lines that hold a fixed string, at most 20."""
    pattern = text_argument(arguments, "pattern")
    scope = Scope(text_argument(arguments, "source"), text_argument(arguments, "path"))
    if pattern is None:
        raise Refusal(MISSING_PATTERN)
    if "\n" in pattern or "\r" in pattern:
        raise Refusal(ONE_LINE_PATTERN)
    await _check_scope(session, turn.visible, scope)
    result = await substring.search(session, pattern, turn.visible, scope)
    if not result.hits:
        return ToolResult(no_matches(result, pattern), "no matches")
    lines = within_room(as_grep(result.hits), turn.budget - NOTICE_ROOM)
    return _matches(result, lines, len(lines))


async def find_documents(
    session: AsyncSession, arguments: Arguments, turn: ToolScope
) -> ToolResult:
    """The paths that match a glob."""
    glob = text_argument(arguments, "glob")
    source = text_argument(arguments, "source")
    if glob is None:
        raise Refusal(MISSING_GLOB)
    if source is not None:
        await check_source(session, turn.visible, source)
    page = Page(limit=limited(arguments, "limit", _LIMITS, 100))
    result = await paths.search(session, paths.Glob(glob), turn.visible, Scope(source), page)
    if not result.hits:
        searched = counted(result.documents_searched, "document")
        return ToolResult(
            f"No documents match “{echo(glob)}”: {searched} looked at.", "no documents"
        )
    lines = within_room(as_grep(result.hits), turn.budget - NOTICE_ROOM)
    shown = len(lines)
    at_least = "" if result.total_is_exact else "at least "
    documents = counted(result.total, "document")
    if shown == result.total:
        return ToolResult("\n".join(lines), documents)
    lines.append(f"… {at_least}{result.total - shown} more. Narrow the glob, or scope by source.")
    return ToolResult("\n".join(lines), f"{shown} of {at_least}{documents}")


async def grep_documents(
    session: AsyncSession, arguments: Arguments, turn: ToolScope
) -> ToolResult:
    """The lines that match an expression, with the lines around them."""
    pattern = text_argument(arguments, "pattern")
    if pattern is None:
        raise Refusal(MISSING_EXPRESSION)
    scope = await _folder_scope(session, arguments, turn.visible)
    expression = regex.Expression(pattern, flag(arguments, "case_sensitive"))
    page = Page(
        limit=limited(arguments, "limit", _LIMITS, 100),
        width=_GREP_WIDTH,
        context=limited(arguments, "context", _CONTEXT, 0),
    )
    result = await regex.search(session, expression, turn.visible, scope, page)
    if not result.hits:
        return ToolResult(no_matches(result, pattern, "matches"), "no matches")
    lines = within_room(as_grep(result.hits), turn.budget - NOTICE_ROOM)
    shown = set(lines)
    return _matches(result, lines, sum(hit.as_grep() in shown for hit in result.hits))


def _matches(result: SearchResult, lines: list[str], shown: int) -> ToolResult:
    if result.total > shown:
        lines.append(more_matches(result, shown))
        at_least = "" if result.total_is_exact else "at least "
        return ToolResult("\n".join(lines), f"{shown} of {at_least}{result.total} matches")
    return ToolResult("\n".join(lines), "1 match" if shown == 1 else f"{shown} matches")


async def _check_scope(session: AsyncSession, visible: Visible, scope: Scope) -> None:
    if scope.source is None:
        if scope.path is not None:
            raise Refusal(PATH_WITHOUT_SOURCE)
        return
    if scope.path is not None:
        await find_document(session, visible, (scope.source, scope.path))
    else:
        await check_source(session, visible, scope.source)


async def check_source(session: AsyncSession, visible: Visible, source: str) -> None:
    """Refuse a source that there is not, and name those that there are."""
    if await queries.count_documents(session, visible, source):
        return
    known = await queries.source_names(session, visible, _NAMED_SOURCES + 1)
    named = ", ".join(known[:_NAMED_SOURCES]) + (", …" if len(known) > _NAMED_SOURCES else "")
    there_are = f"The sources are: {named}." if known else NO_DOCUMENTS
    raise Refusal(f"There is no source “{echo(source)}”. {there_are}", "no such source")


async def _folder_scope(session: AsyncSession, arguments: Arguments, visible: Visible) -> Scope:
    source, path = text_argument(arguments, "source"), text_argument(arguments, "path")
    if source is not None:
        await check_source(session, visible, source)
    elif path is not None:
        raise Refusal(PATH_WITHOUT_SOURCE)
    return replace(
        await locate(session, visible, source, path),
        include=texts_argument(arguments, "include"),
        exclude=texts_argument(arguments, "exclude"),
    )
