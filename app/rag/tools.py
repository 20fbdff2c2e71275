"""Runs one tool of the agent: arguments in, text of bounded length out, never an error."""

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.documents.queries_catalog import Selection, catalog
from app.errors import BadPath, InvalidPattern, NotFound, TooSlow
from app.rag.reading import read_document
from app.rag.refusals import (
    NO_DOCUMENTS,
    UNKNOWN_TOOL,
    Refusal,
    echo,
)
from app.rag.searching import (
    check_source,
    find_documents,
    grep_documents,
    search_documents,
)
from app.rag.tool_arguments import Arguments, text_argument
from app.rag.tool_result import ToolResult, ToolScope
from app.rag.tool_text import (
    NOTICE_ROOM,
    catalog_line,
    counted,
    within_room,
)

__all__ = ["ToolResult", "ToolScope", "run_tool"]

_CATALOG_LINES = 200


async def run_tool(
    sessions: Sessions, name: str, arguments: Arguments, turn: ToolScope
) -> ToolResult:
    """Run the tool `name` in a session of its own, which sees one state of the documents."""
    tools = {
        "list_documents": _list_documents,
        "read_document": read_document,
        "search_documents": search_documents,
        "find_documents": find_documents,
        "grep_documents": grep_documents,
    }
    if name not in tools:
        return ToolResult(UNKNOWN_TOOL, "unknown tool", failed=True)
    try:
        async with sessions.begin() as session:
            await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            return await tools[name](session, arguments, turn)
    except Refusal as refusal:
        return ToolResult(refusal.sentence, refusal.summary, failed=True)
    except (BadPath, InvalidPattern, NotFound, TooSlow) as error:
        return ToolResult(error.detail, error.code.replace("_", " "), failed=True)


async def _list_documents(
    session: AsyncSession, arguments: Arguments, turn: ToolScope
) -> ToolResult:
    source = text_argument(arguments, "source")
    selection = Selection(source, text_argument(arguments, "prefix"))
    after = text_argument(arguments, "after")
    if source is not None:
        await check_source(session, turn.visible, source)
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


def _nothing_listed(selection: Selection, after: str | None) -> str:
    if after is not None:
        return f"No document comes after “{echo(after)}”."
    if selection.prefix is not None:
        return f"No document’s path begins with “{echo(selection.prefix)}”."
    return NO_DOCUMENTS
