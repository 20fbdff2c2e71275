"""The tool `read_document`: numbered lines, as many as fit, and how to go on."""

from collections.abc import AsyncIterator

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.documents import queries
from app.errors import NotFound
from app.models import Document
from app.rag.context import Range
from app.rag.refusals import ALREADY_IN_CONTEXT, MISSING_READ_ARGS, Refusal, echo
from app.rag.tool_arguments import Arguments, text_argument, whole_number
from app.rag.tool_result import ToolResult, ToolScope
from app.rag.tool_text import NOTICE_ROOM, Excerpt, counted

_LINES_AT_ONCE = 500


async def read_document(session: AsyncSession, arguments: Arguments, turn: ToolScope) -> ToolResult:
    """Read the wanted lines; raises `Refusal`."""
    source, path = text_argument(arguments, "source"), text_argument(arguments, "path")
    if source is None or path is None:
        raise Refusal(MISSING_READ_ARGS)
    document = await find_document(session, turn.visible, (source, path))
    wanted = _wanted_lines(arguments, document)
    column = whole_number(arguments, "start_column")
    if column is None and document.lines and turn.context.covers(wanted):
        return ToolResult(ALREADY_IN_CONTEXT, "already read")
    header = f"source: {source} path: {path} lines"
    if not document.lines:
        return ToolResult(f"{header} 0-0 of 0\n(The document is empty.)", "empty")
    excerpt = Excerpt(turn.budget - len(header) - NOTICE_ROOM)
    async for number, line in _lines(session, turn.visible, wanted):
        start = _start(column, number, line) if number == wanted.first else 0
        if not excerpt.add(number, line, start):
            break
    last = wanted.first + len(excerpt.lines) - 1
    shown = f"{wanted.first}-{last} of {document.lines}"
    text = "\n".join([f"{header} {shown}", *excerpt.lines, *_left_out(last, wanted)])
    return ToolResult(text, f"lines {shown}", added=Range(source, path, wanted.first, last))


async def find_document(session: AsyncSession, visible: Visible, key: tuple[str, str]) -> Document:
    """The document `key` (source, path); a `Refusal` that names the nearest if there is none."""
    try:
        return await queries.get(session, visible, *key)
    except NotFound:
        pass
    nearest = await queries.nearest(session, visible, (echo(key[0]), echo(key[1])))
    hint = f"The nearest are: {', '.join(nearest)}." if nearest else "list_documents shows them."
    raise Refusal(f"There is no document “{echo('/'.join(key))}”. {hint}", "no such document")


def _wanted_lines(arguments: Arguments, document: Document) -> Range:
    """The lines asked for, within the document; one that begins before line 1 begins there."""
    total = document.lines
    first = max(whole_number(arguments, "start_line") or 1, 1)
    # A column is asked for to go on within one line.
    usual = 1 if whole_number(arguments, "start_column") else total
    count = whole_number(arguments, "line_count")
    count = usual if count is None else count
    if first > max(total, 1):
        raise Refusal(f"The document has {counted(total, 'line')}: start_line is past its end.")
    if count < 1 and total:
        raise Refusal("line_count must be at least 1.")
    return Range(document.source, document.path, first, min(first + count - 1, total))


async def _lines(
    session: AsyncSession, visible: Visible, wanted: Range
) -> AsyncIterator[tuple[int, str]]:
    """The wanted lines with their numbers, read a few at a time: most of them may not fit."""
    for first in range(wanted.first, wanted.last + 1, _LINES_AT_ONCE):
        last = min(first + _LINES_AT_ONCE - 1, wanted.last)
        key = (wanted.source, wanted.path)
        found = await queries.read_lines(session, visible, key, first, last)
        for numbered in enumerate(found.lines, start=first):
            yield numbered


def _start(column: int | None, number: int, line: str) -> int:
    """The code point of `line` to begin at."""
    start = max(column or 1, 1) - 1
    if start and start >= len(line):
        raise Refusal(
            f"Line {number} has {counted(len(line), 'character')}: start_column is past its end."
        )
    return start


def _left_out(last: int, wanted: Range) -> list[str]:
    if last >= wanted.last:
        return []
    return [f"… lines {last + 1}-{wanted.last} left out; continue with start_line={last + 1}"]
