"""What tool results look like to the model: text of bounded length that says what it leaves out."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.models import Document
from app.rag.refusals import echo
from app.search.lines import Stretch, take
from app.search.result import SearchResult

# A line of more characters is read in windows.
LONG_LINE = 2_000
LINE_WINDOW = 1_500
_SMALLEST_WINDOW = 100
# For the last line of a result, which says what is missing.
NOTICE_ROOM = 300


@dataclass
class Excerpt:
    """Numbered lines, as many as `room` characters hold, but at least a part of one."""

    room: int
    lines: list[str] = field(default_factory=list[str])

    def add(self, number: int, line: str, start: int = 0) -> bool:
        """Add a line from code point `start` on; False when there is no room for it."""
        part = self._part(line, start)
        shown = f"{number}: {part.marked}{_which_part(number, part)}"
        if self.lines and len(shown) + 1 > self.room:
            return False
        self.lines.append(shown)
        self.room -= len(shown) + 1
        return True

    def _part(self, line: str, start: int) -> Stretch:
        room = self.room if not self.lines else LONG_LINE
        if len(line) <= min(LONG_LINE, room) and start == 0:
            return Stretch.whole(line)
        width = max(min(LINE_WINDOW, room - NOTICE_ROOM), _SMALLEST_WINDOW)
        return take(Stretch.whole(line), start, width)


def _which_part(number: int, part: Stretch) -> str:
    """Which part of a line is shown, and how to see the next."""
    if part.length == len(part.text):
        return ""
    shown = f"characters {part.start + 1}-{part.end} of {part.length}"
    if part.end == part.length:
        return f" [{shown}]"
    return f" [{shown}; continue with start_line={number}, start_column={part.end + 1}]"


def within_room(lines: Sequence[str], room: int) -> list[str]:
    """The first of `lines` that fit `room` characters, but at least one."""
    fitting: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if fitting and room < 0:
            break
        fitting.append(line)
    return fitting


def catalog_line(document: Document) -> str:
    return f"source: {document.source} path: {document.path} ({counted(document.lines, 'line')})"


def no_matches(result: SearchResult, pattern: str, verb: str = "holds") -> str:
    documents = counted(result.documents_searched, "document")
    return f"No line {verb} “{echo(pattern)}”: {documents} searched."


def more_matches(result: SearchResult, shown: int) -> str:
    """The last line of a result that does not show everything."""
    at_least = "" if result.total_is_exact else "at least "
    documents = counted(result.documents_matched, "document")
    return (
        f"… {at_least}{result.total - shown} more; in all {at_least}{result.total} matching lines"
        f" in {at_least}{documents}. Narrow the pattern, or scope by source or source and path."
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
