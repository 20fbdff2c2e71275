"""Cuts shown lines into what can be quoted: lines as they stand, and sentences of wrapped text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest

from app.llm.view import Line

LONGEST = 280
_STRUCTURE = re.compile(r"\s*(?:[-*+]\s|[>|#]|\.\. |\d+[.)]\s|\W*$|.*[=|{}\t;]|\S+:\s)")
_SENTENCE_END = re.compile(
    r"(?<=[^\W\d]{3}[.!?…])\s+(?=[\W\d]*[A-ZÀ-Ý])|(?<=[\d)”\"][.!?])\s+(?=[A-ZÀ-Ý])|(?<=[。！？])"
)
# What reStructuredText defines, as in `.. function:: open(file)`, and the line under a title.
_DEFINES = re.compile(
    r"\s*\.\. (?:[a-z]+:)?(?:function|method|classmethod|staticmethod|class|exception|attribute"
    r"|data|module|envvar|option|cmdoption|describe|opcode|decorator|macro|type|member)::\s"
)
_DIRECTIVE = re.compile(r"\.\. (?:[\w:-]+::|_)")
_UNDERLINE = re.compile(r"([=~^\"'#*+.-])\1{2,}")
_MARKERS = re.compile(r"(?:(?:[-*+>|]|#{1,6})\s+)+")


@dataclass(frozen=True)
class Unit:
    """Lines `first`-`last` of a document, or a sentence in them; `text` is what is quoted.

    `heading` is what stands over it, `lead` the line before when that announces it; `defines` what
    stands first under the definition in its heading.
    """

    source: str
    path: str
    first: int
    last: int
    text: str
    heading: str = ""
    lead: str = ""
    is_heading: bool = False
    defines: bool = False
    in_context: bool = True
    given: float = 0.0

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
        if paragraph and not _continues(paragraph, line):
            yield from _cut(paragraph)
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield from _cut(paragraph)


def _continues(paragraph: list[Line], following: Line) -> bool:
    """Whether a wrapped sentence, or what a directive defines, goes on in the following line."""
    line = paragraph[-1]
    text = line.text.rstrip()
    if _DEFINES.match(paragraph[0].text) or text.endswith("\\"):
        return following.number == line.number + 1 and following.text[:1].isspace()
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
        _bare(text),
        is_heading=bool(re.match(r"\s*#{1,6}\s", text) or _DIRECTIVE.match(text)),
        in_context=all(line.in_context for line in paragraph),
        given=max(line.given for line in paragraph),
    )
    if len(paragraph) == 1 and len(text) <= LONGEST:
        yield whole
        return
    at = 0
    for sentence in _SENTENCE_END.split(text):
        at = text.index(sentence, at)
        place = _line_at(paragraph, at), _line_at(paragraph, at + len(sentence) - 1)
        if quoted := _bare(sentence) if at == 0 else sentence.strip():
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


def _bare(text: str) -> str:
    """The text without the marks of a list, a quotation, a heading or a table around it."""
    text = text.strip()
    if text.startswith("|"):
        text = text.rstrip("| \t")
    return _MARKERS.sub("", text, count=1) if _MARKERS.match(text) else text


def _with_headings(units: Iterator[Unit]) -> Iterator[Unit]:
    """Give each unit the heading over it, and the line that leads to it: one that ends with a colon
    or a question mark before a list or an answer, or the head of a table."""
    heading, lead, last, is_fresh, is_open = "", "", 0, False, False
    listed = list(units)
    for unit, following in zip_longest(listed, listed[1:]):
        if not is_fresh and unit.first > last + 1:
            lead = ""
        last = unit.last
        if not _has_words(unit):
            continue
        is_table_head = following is not None and _is_rule(following) and "|" in unit.text
        is_title = following is not None and bool(_UNDERLINE.fullmatch(following.text))
        is_heading = unit.is_heading or is_table_head or is_title
        opens, is_open = is_open and not is_heading, is_open and is_heading
        if _DEFINES.match(unit.text):
            is_open = True
        placed = replace(unit, heading=heading, is_heading=is_heading, defines=opens)
        yield replace(placed, lead="" if is_heading else lead)
        is_fresh = is_table_head or unit.text.endswith((":", "?"))
        if (unit.is_heading and not _is_aside(unit)) or is_title:
            heading, lead = unit.text, ""
        elif is_fresh:
            lead = unit.text


def _is_aside(unit: Unit) -> bool:
    """Whether it is markup that no text belongs to, such as `.. index::`."""
    return bool(_DIRECTIVE.match(unit.text)) and not _DEFINES.match(unit.text)


def _has_words(unit: Unit) -> bool:
    return re.search(r"\w", unit.text) is not None


def _is_rule(unit: Unit) -> bool:
    """Whether the unit is the line below the head of a Markdown table."""
    return "-" in unit.text and not _has_words(unit)
