"""Which lines of which documents the model was shown: in passages, by reading and by searching."""

import re
from collections.abc import Iterable, Iterator
from typing import Self

from app.rag.context import Context, Range
from app.rag.history import CallMade, TurnMade

_PASSAGE = re.compile(r'<passage source="([^"]+)" path="(.+)" lines="(\d+)-(\d+)">')
_HEADER = re.compile(r"source: (\S+) path: (.+) lines (\d+)-(\d+) of \d+")
_SOURCE = re.compile(r"([A-Za-z0-9._-]+)/")
_NUMBER = re.compile(r":(\d{1,9}): |-(\d{1,9})- ")
# Readings of one line of a search result that are believed.
_READINGS = 4


class Shown:
    """The lines that stand in the request to the model."""

    def __init__(self, ranges: Iterable[Range]) -> None:
        self._context = Context()
        for shown in ranges:
            self._context.add(shown)

    @classmethod
    def of(cls, turns: Iterable[TurnMade]) -> Self:
        """What the turns of a conversation have shown, the running one included."""
        return cls(shown for turn in turns for shown in _ranges(turn))

    def covers(self, source: str, path: str, first: int, last: int) -> bool:
        """Whether all of the lines `first`-`last` (1-based, inclusive) were shown."""
        return self._context.covers(Range(source, path, first, last))


def _ranges(turn: TurnMade) -> Iterator[Range]:
    yield from _in_prompt(turn.prompt)
    for call in (call for made in turn.rounds for call in made.calls):
        yield from _in_result(call)


def _in_prompt(prompt: str) -> Iterator[Range]:
    """The passages. Behind them stands the question, which may look like one."""
    first, *lines = prompt.split("\n")
    if first != "<documents>":
        return
    for line in lines:
        if line == "</documents>":
            return
        if tag := _PASSAGE.fullmatch(line):
            yield _range(*tag.groups())


def _in_result(call: CallMade) -> Iterator[Range]:
    lines = call.result.split("\n")
    if call.failed:
        return
    if call.name == "read_document":
        # Only the first line is ours: the others are the document's.
        if header := _HEADER.fullmatch(lines[0]):
            yield _range(*header.groups())
    elif call.name in ("search_documents", "grep_documents"):
        for line in lines:
            yield from _in_match(line)


def _in_match(line: str) -> Iterator[Range]:
    """What `source/path:LINE: text` or `source/path-LINE- text` can mean.

    Both path and text may hold what looks like a line number. A reading that is not meant names a
    path that hardly exists, while a missed one would make a true citation look false.
    """
    source = _SOURCE.match(line)
    if not source:
        return
    for number, _ in zip(_NUMBER.finditer(line, source.end() + 1), range(_READINGS), strict=False):
        shown = number[1] or number[2]
        yield _range(source[1], line[source.end() : number.start()], shown, shown)


def _range(source: str, path: str, first: str, last: str) -> Range:
    return Range(source, path, int(first), int(last))
