"""Matches a regular expression against lines: RE2, so in linear time and bounded memory."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import re2

from app.errors import InvalidPattern
from app.search.lines import normal_pattern
from app.search.literals import spans_lines
from app.text import quoted

ONE_LINE = "The search is per line: give an expression without line breaks."
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_LONGEST = 10_000
_MEMORY = 4 * 1024 * 1024
# What begins or ends the text, or may: in these an expression sees more than its line.
_ANCHORED = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-?[a-zA-Z]*m")


@dataclass(frozen=True)
class LineMatch:
    """A matching line of a text: its number (from 1), and where it matches in code points."""

    number: int
    line: str
    ranges: tuple[tuple[int, int], ...]


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
            shown = line.decode()
            yield LineMatch(number, shown, self._ranges(line, shown))

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

    def _ranges(self, line: bytes, shown: str) -> tuple[tuple[int, int], ...]:
        spans = [(found.start(), found.end()) for found in self._compiled.finditer(line)]
        if len(line) != len(shown):
            spans = [(_characters(line, start), _characters(line, end)) for start, end in spans]
        return tuple(dict.fromkeys(spans))


def literal(text: str) -> str:
    """An expression for a fixed string."""
    return _PUNCTUATION.sub(r"\\\g<0>", text)


def _characters(line: bytes, place: int) -> int:
    """Code points in the first `place` bytes; an empty match may stand inside of one."""
    return len(line[:place].decode(errors="ignore"))


def _check(expression: str) -> None:
    if not expression:
        raise InvalidPattern("The expression is empty.")
    if len(expression) > _LONGEST:
        raise InvalidPattern(f"The expression is too long: at most {_LONGEST:,} characters.")
    if spans_lines(expression):
        raise InvalidPattern(ONE_LINE)


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
