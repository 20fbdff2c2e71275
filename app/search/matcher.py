"""Matches a regular expression against lines: RE2, so in linear time and bounded memory."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Any

import re2

from app.errors import InvalidPattern
from app.search.lines import normal_pattern
from app.search.literals import asks_for_bytes, spans_lines
from app.text import quoted

ONE_LINE = "The search is per line: give an expression without line breaks."
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_LONGEST = 10_000
_MEMORY = 4 * 1024 * 1024
# The bytes of UTF-8 that begin no character.
_CONTINUATION = bytes(range(0x80, 0xC0))
_LONGEST_CHARACTER = 4
# What begins or ends the text, or may: in these an expression sees more than its line.
_ANCHORED = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-?[a-zA-Z]*m")


@dataclass(frozen=True)
class LineMatch:
    """A matching line of a text, by its number from 1; where it matches is found when asked for."""

    number: int
    encoded: bytes
    compiled: Any

    @property
    def line(self) -> str:
        return self.encoded.decode()

    def ranges(self, within: int) -> tuple[tuple[int, int], ...]:
        """In code points: the first, and at least all that begin `within` characters behind it.

        A line of megabytes may have as many.
        """
        matches = ((one.start(), one.end()) for one in self.compiled.finditer(self.encoded))
        first = next(matches)
        last = first[0] + _LONGEST_CHARACTER * within
        spans = [first, *takewhile(lambda span: span[0] <= last, matches)]
        if not self.encoded.isascii():
            spans = _in_characters(self.encoded, spans)
        return tuple(dict.fromkeys(spans))


class Matcher:
    """A compiled expression; raises `InvalidPattern` when it is none, or is too large."""

    def __init__(self, expression: str, *, case_sensitive: bool = False) -> None:
        expression = normal_pattern(expression)
        _check(expression)
        self._by_line = bool(_ANCHORED.search(expression))
        # `^` and `$` are the ends of a line, not of the text that holds it.
        source = expression if self._by_line else f"(?m){expression}"
        self._compiled: Any = _compile(source, expression, case_sensitive)

    def matches(self, text: str) -> Iterator[LineMatch]:
        """The matching lines of a text, each once."""
        for number, line in self._lines(text.encode()):
            yield LineMatch(number, line, self._compiled)

    def _lines(self, text: bytes) -> Iterator[tuple[int, bytes]]:
        return self._line_by_line(text) if self._by_line else self._in_one_go(text)

    def _line_by_line(self, text: bytes) -> Iterator[tuple[int, bytes]]:
        lines = text.removesuffix(b"\n").split(b"\n") if text else []
        for number, line in enumerate(lines, start=1):
            if self._compiled.search(line) is not None:
                yield number, line

    def _in_one_go(self, text: bytes) -> Iterator[tuple[int, bytes]]:
        number, counted, at = 1, 0, 0
        # Behind a last line end no further line begins.
        while at < len(text) and (found := self._compiled.search(text, at)) is not None:
            place: int = found.start()
            if place == len(text) and text.endswith(b"\n"):
                return
            number += text.count(b"\n", counted, place)
            start = text.rfind(b"\n", 0, place) + 1
            end = text.find(b"\n", place)
            end = len(text) if end < 0 else end
            yield number, text[start:end]
            counted, at = place, end + 1


def literal(text: str) -> str:
    """An expression for a fixed string."""
    return _PUNCTUATION.sub(r"\\\g<0>", text)


def _in_characters(line: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in code points, of ascending places in bytes; an empty match may be inside of one."""
    counted: dict[int, int] = {}
    at = characters = 0
    for place in chain.from_iterable(spans):
        characters += len(line[at:place].translate(None, _CONTINUATION))
        is_inside = place < len(line) and line[place] in _CONTINUATION
        counted[place] = characters - is_inside
        at = place
    return [(counted[start], counted[end]) for start, end in spans]


def _check(expression: str) -> None:
    if not expression:
        raise InvalidPattern("The expression is empty.")
    if len(expression) > _LONGEST:
        raise InvalidPattern(f"The expression is too long: at most {_LONGEST:,} characters.")
    if spans_lines(expression):
        raise InvalidPattern(ONE_LINE)
    if asks_for_bytes(expression):
        raise InvalidPattern(
            "The expression asks for a single byte (\\C): the search is for characters."
        )


def _compile(source: str, expression: str, case_sensitive: bool) -> object:
    engine: Any = re2
    options = engine.Options()
    options.case_sensitive = case_sensitive
    options.never_nl = True
    options.never_capture = True
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        return engine.compile(source.encode(), options)
    except UnicodeEncodeError:
        reason = "it holds half of a surrogate pair"
    except engine.error as error:
        reason = _reason(error).replace("(?m)", "", 1)
    raise InvalidPattern(f"“{quoted(expression)}” is no regular expression (RE2): {reason}.")


def _reason(error: Exception) -> str:
    said = error.args[0]
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
