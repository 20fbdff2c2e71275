"""Runs one tool of the agent: arguments in, text of bounded length out, never an error."""

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.db.visible import Visible
from app.documents import queries
from app.documents.queries_catalog import Selection, catalog
from app.rag.reading import find_document, read_document
from app.rag.refusals import (
    MISSING_PATTERN,
    NO_DOCUMENTS,
    ONE_LINE_PATTERN,
    PATH_WITHOUT_SOURCE,
    UNKNOWN_TOOL,
    Refusal,
    echo,
)
from app.rag.tool_arguments import Arguments, text_argument
from app.rag.tool_result import ToolResult, ToolScope
from app.rag.tool_text import (
    NOTICE_ROOM,
    catalog_line,
    counted,
    more_matches,
    no_matches,
    within_room,
)
from app.search.plans import Scope
from app.search.substring import search

__all__ = ["ToolResult", "ToolScope", "run_tool"]

_CATALOG_LINES = 200
_NAMED_SOURCES = 20


async def run_tool(
    sessions: Sessions, name: str, arguments: Arguments, turn: ToolScope
) -> ToolResult:
    """Run the tool `name` in a session of its own, which sees one state of the documents."""
    tools = {
        "list_documents": _list_documents,
        "read_document": read_document,
        "search_documents": _search_documents,
    }
    if name not in tools:
        return ToolResult(UNKNOWN_TOOL, "unknown tool", failed=True)
    try:
        async with sessions.begin() as session:
            await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            return await tools[name](session, arguments, turn)
    except Refusal as refusal:
        return ToolResult(refusal.sentence, refusal.summary, failed=True)


async def _list_documents(
    session: AsyncSession, arguments: Arguments, turn: ToolScope
) -> ToolResult:
    source = text_argument(arguments, "source")
    selection = Selection(source, text_argument(arguments, "prefix"))
    after = text_argument(arguments, "after")
    if source is not None:
        await _check_source(session, turn.visible, source)
    page = await catalog(session, turn.visible, selection, after, _CATALOG_LINES)
    if not page.documents:
        return ToolResult(_nothing_listed(selection, after), "no documents")
    every_line = [catalog_line(document) for document in page.documents]
    # The notice repeats the last name, which may be long.
    room = turn.budget - NOTICE_ROOM - max(map(len, every_line))
    lines = within_room(every_line, room)
    shown = len(lines)
    left = page.left + len(every_line) - shown
    if left:
        last = page.documents[shown - 1]
        lines.append(f'… {left} more; continue with after="{last.source}/{last.path}"')
    documents = counted(page.total, "document")
    summary = documents if shown == page.total else f"{shown} of {documents}"
    return ToolResult("\n".join(lines), summary)


async def _search_documents(
    session: AsyncSession, arguments: Arguments, turn: ToolScope
) -> ToolResult:
    pattern = text_argument(arguments, "pattern")
    scope = Scope(text_argument(arguments, "source"), text_argument(arguments, "path"))
    if pattern is None:
        raise Refusal(MISSING_PATTERN)
    if "\n" in pattern or "\r" in pattern:
        raise Refusal(ONE_LINE_PATTERN)
    await _check_scope(session, turn.visible, scope)
    result = await search(session, pattern, turn.visible, scope)
    if not result.hits:
        return ToolResult(no_matches(result, pattern), "no matches")
    lines = within_room([hit.as_grep() for hit in result.hits], turn.budget - NOTICE_ROOM)
    shown = len(lines)
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
        await _check_source(session, visible, scope.source)


async def _check_source(session: AsyncSession, visible: Visible, source: str) -> None:
    if await queries.count_documents(session, visible, source):
        return
    known = await queries.source_names(session, visible, _NAMED_SOURCES + 1)
    named = ", ".join(known[:_NAMED_SOURCES]) + (", …" if len(known) > _NAMED_SOURCES else "")
    there_are = f"The sources are: {named}." if known else NO_DOCUMENTS
    raise Refusal(f"There is no source “{echo(source)}”. {there_are}", "no such source")


def _nothing_listed(selection: Selection, after: str | None) -> str:
    if after is not None:
        return f"No document comes after “{echo(after)}”."
    if selection.prefix is not None:
        return f"No document’s path begins with “{echo(selection.prefix)}”."
    return NO_DOCUMENTS
