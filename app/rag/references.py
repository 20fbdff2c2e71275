"""Citations as the model writes them: `[source/path:12]` or `[source/path:12-18]`.

A bracket may hold several: `[a/x:1; b/y:2-3]`, `[a/x:1, 5-7]`. In a path `%5D` stands for `]` and
`%255D` for a literal `%5D`; every other `%` is itself. Nothing in code is a citation.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.documents.names import PATH_BYTES, check_path, check_source
from app.errors import AppError
from app.rag.quotations import sentences

# The longest path, were it all `]`, each written as three characters; and room for the rest.
LONGEST = 4 * PATH_BYTES
_LINES = r"([1-9][0-9]{0,8})(?:[-–]([1-9][0-9]{0,8}))?"
_PLACE = re.compile(rf"([A-Za-z0-9._-]{{1,100}})/(.+):{_LINES}")
_MORE_LINES = re.compile(_LINES)
_SEPARATOR = re.compile(r"[;,] *")
_CLOSING = re.compile(r"%(25)?5[Dd]")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
# A code span ends with its paragraph; a longer run of backticks than that opens none here.
_ESCAPED_OR_CODE = re.compile(
    r"\\[!-/:-@\[-`{-~]|(?<!`)(`{1,10})(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL
)
_VISIBLE = re.compile(r"[^\n]")


@dataclass(frozen=True)
class Place:
    """Lines of a document (1-based, inclusive)."""

    source: str
    path: str
    first_line: int
    last_line: int


@dataclass(frozen=True)
class Bracket:
    """The places that the citation at `text[start:end]` names."""

    start: int
    end: int
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Reference:
    """One place of the citation at `text[start:end]`, and all that is quoted in its sentence."""

    place: Place
    start: int
    end: int
    sentence: int
    quotes: tuple[str, ...]


def bracket_at(text: str, start: int, end: int | None = None) -> Bracket | None:
    """The citation whose `[` is `text[start]`, before `end`; None when it is something else."""
    limit = len(text) if end is None else end
    closing = text.find("]", start, min(start + LONGEST, limit))
    if closing < 0 or _is_image(text, start, closing):
        return None
    inside = text[start + 1 : closing]
    places = _places(_SEPARATOR.split(inside)) or _places([inside])
    return Bracket(start, closing + 1, places) if places else None


def find_references(text: str) -> list[Reference]:
    """The citations of an answer in order, those of one bracket as several."""
    shape = _without_code(text)
    brackets = list(_brackets(shape))
    if not brackets:
        return []
    found: list[Reference] = []
    split = sentences(_blanked(shape, brackets), _blanked(text, brackets))
    for number, sentence in enumerate(split):
        while brackets and brackets[0].start < sentence.end:
            bracket = brackets.pop(0)
            found += [
                Reference(place, bracket.start, bracket.end, number, sentence.quotes)
                for place in bracket.places
            ]
    return found


def _is_image(text: str, start: int, closing: int) -> bool:
    return text[start - 1 : start] == "!" and text[closing + 1 : closing + 2] == "("


def _places(parts: Sequence[str]) -> tuple[Place, ...]:
    """The places that the parts of a bracket name; none when one of them is no place."""
    places: list[Place] = []
    for part in parts:
        place = _place(part, places[-1] if places else None)
        if place is None:
            return ()
        places.append(place)
    return tuple(places)


def _place(part: str, before: Place | None) -> Place | None:
    if before and (lines := _MORE_LINES.fullmatch(part)):
        source, path = before.source, before.path
        first, last = lines.groups()
    elif match := _PLACE.fullmatch(part):
        source, path, first, last = match.groups()
    else:
        return None
    try:
        path, _ = check_path(_CLOSING.sub(_unescaped, path))
        place = Place(check_source(source), path, int(first), int(last or first))
    except AppError:
        return None
    return place if place.first_line <= place.last_line else None


def _unescaped(escape: re.Match[str]) -> str:
    return f"%{escape[0][3:]}" if escape[1] else "]"


def _brackets(shape: str) -> Iterator[Bracket]:
    start = shape.find("[")
    while start >= 0:
        bracket = bracket_at(shape, start)
        if bracket:
            yield bracket
        start = shape.find("[", bracket.end if bracket else start + 1)


def _blanked(text: str, brackets: Sequence[Bracket]) -> str:
    parts: list[str] = []
    position = 0
    for bracket in brackets:
        parts += text[position : bracket.start], " " * (bracket.end - bracket.start)
        position = bracket.end
    return "".join(parts) + text[position:]


def _without_code(text: str) -> str:
    """`text` with a letter for each character of code, and for each that a backslash escapes."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        opening = _FENCE.match(line)
        closes = fence and line.strip(" \t>").strip(fence[0]) == "" and fence in line
        lines.append("x" * len(line) if fence or opening else line)
        if closes:
            fence = ""
        elif not fence and opening:
            fence = opening[1]
    return _ESCAPED_OR_CODE.sub(lambda m: _VISIBLE.sub("x", m[0]), "\n".join(lines))
