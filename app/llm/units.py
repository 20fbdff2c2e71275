"""Cuts shown lines into what can be quoted: lines as they stand, and sentences of wrapped text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from app.llm.view import Line

LONGEST = 280
_HEADING = re.compile(r"(#{1,6})\s+(.*)|(\S.*)(?:\n)(?:={3,}|-{3,})")
_STRUCTURE = re.compile(r"\s*(?:[-*+>|#]|\d+[.)]\s|\W*$|.*[=|{}\t;]|\S+:\s)")
_SENTENCE_END = re.compile(r"(?<=[^\W\d]{3}[.!?…])\s+(?=[\W\d]*[A-ZÀ-Ý])|(?<=[\d)”\"][.!?])\s+(?=[A-ZÀ-Ý])|(?<=[。！？])")
_MARKER = re.compile(r"[\s>#*+|-]+(?=\w|[\"'“„«(\[`$€£<])|[\s|]+$")


@dataclass(frozen=True)
class Unit:
    """Lines `first`-`last` of a document, or a sentence in them; `text` is what is quoted.

    `heading` is what stands over it, `lead` the line before when that announces it.
    """

    source: str
    path: str
    first: int
    last: int
    text: str
    heading: str = ""
    lead: str = ""
    is_heading: bool = False
    in_context: bool = True

    @property
    def place(self) -> tuple[str, str]:
        return self.source, self.path


def units_of(lines: Sequence[Line]) -> list[Unit]:
    """The units of lines that are in document order."""
    found: list[Unit] = []
    for _, document in groupby(lines, key=lambda line: (line.source, line.path)):
        found += _with_headings(_document_units(list(document)))
    return found


def _document_units(lines: list[Line]) -> Iterator[Unit]:
    paragraph: list[Line] = []
    for line in lines:
        if paragraph and not _continues(paragraph[-1], line):
            yield from _cut(paragraph)
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield from _cut(paragraph)


def _continues(line: Line, following: Line) -> bool:
    """Whether a sentence that was wrapped goes on in the following line."""
    text = line.text.rstrip()
    is_wrapped = len(text) >= 40 and len(text.split()) >= 5 and text[-1] not in ".!?:;"
    begins_anew = not following.text.strip() or _STRUCTURE.match(following.text)
    is_prose = not re.match(r"\s*[|#]|.*[=|{}\t]", text)
    return following.number == line.number + 1 and is_wrapped and is_prose and not begins_anew


def _cut(paragraph: list[Line]) -> Iterator[Unit]:
    """One unit for what is short, else one for each sentence, with the lines it stands in."""
    first = paragraph[0]
    text = " ".join(line.text.strip() for line in paragraph)
    if not text:
        return
    whole = Unit(
        first.source,
        first.path,
        first.number,
        paragraph[-1].number,
        _MARKER.sub("", text) if _MARKER.match(text) or text.endswith("|") else text,
        is_heading=bool(re.match(r"\s*#{1,6}\s", text)),
        in_context=all(line.in_context for line in paragraph),
    )
    if len(paragraph) == 1 and len(text) <= LONGEST:
        yield whole
        return
    at = 0
    for sentence in _SENTENCE_END.split(text):
        at = text.index(sentence, at)
        place = _line_at(paragraph, at), _line_at(paragraph, at + len(sentence) - 1)
        quoted = _MARKER.sub("", sentence) if at == 0 and _MARKER.match(sentence) else sentence
        if quoted:
            yield replace(whole, text=quoted, first=place[0], last=place[1])
        at += len(sentence)


def _line_at(paragraph: list[Line], offset: int) -> int:
    """The number of the line that holds a character of the joined text."""
    for line in paragraph:
        length = len(line.text.strip())
        if offset <= length:
            return line.number
        offset -= length + 1
    return paragraph[-1].number


def _with_headings(units: Iterator[Unit]) -> Iterator[Unit]:
    """Give each unit the heading over it, and the line before it if that leads to it."""
    heading, before = "", ""
    for unit in units:
        lead = before if before.rstrip().endswith((":", "?")) else ""
        yield replace(unit, heading=heading, lead=lead)
        if unit.is_heading:
            heading = unit.text
        # What a colon announces may be a list of several lines.
        before = unit.text if not lead or unit.is_heading or unit.text.endswith((":", "?")) else lead
