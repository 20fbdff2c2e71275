"""Cuts a text into the passages that are searched and shown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

PASSAGE_CHARACTERS = 1500
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_BLANK_LINE = re.compile(r"^[ \t]*\n(?=[ \t]*\S)", re.MULTILINE)


@dataclass(frozen=True)
class Piece:
    """Whole lines of a text; `lines` and `characters` count them."""

    text: str
    lines: int
    characters: int


def cut(text: str) -> list[Piece]:
    """Pieces of at most 1,500 characters that end at line ends; joined they are `text`.

    A longer line is a piece of its own. Where it can, a piece ends before a heading or after a
    blank line: such a place belongs to the text, not to the distance from its beginning, so that
    behind an insertion the old pieces come again.
    """
    return [_piece(text[start:end]) for start, end in _spans(text)]


def count_lines(text: str) -> int:
    """Lines between `\\n`; a last `\\n` opens no further one."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def _piece(text: str) -> Piece:
    return Piece(text, count_lines(text), len(text))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = _end(text, start)
        yield start, end
        start = end


def _end(text: str, start: int) -> int:
    limit = start + PASSAGE_CHARACTERS
    if limit >= len(text):
        return len(text)
    last_line_end = text.rfind("\n", start, limit)
    if last_line_end < 0:
        line_end = text.find("\n", limit)
        return len(text) if line_end < 0 else line_end + 1
    return _natural_break(text, start + PASSAGE_CHARACTERS // 2, limit) or last_line_end + 1


def _natural_break(text: str, first: int, last: int) -> int | None:
    """Where the last section, or else the last paragraph, begins between `first` and `last`."""
    headings = [match.start() for match in _HEADING.finditer(text, first, last)]
    if headings:
        return headings[-1]
    paragraphs = [match.end() for match in _BLANK_LINE.finditer(text, first, last)]
    return paragraphs[-1] if paragraphs else None
