"""Lines: how a text splits into them, which of them a pattern hits, and how a long one is cut."""

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from app.search.fold import fold
from app.text import normalize

SHOWN = 200
_CLUSTER = regex.compile(r"\X")
_REGIONAL_INDICATORS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
# Marks in a longer row than this are no character, and may be cut.
CLUSTER_REACH = 64


@dataclass(frozen=True)
class Match:
    """A line that holds a pattern; 1-based `line` and `column`, `ranges` from 0, ends excluded."""

    line: int
    column: int
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Stretch:
    """A part of a line of `length` code points: `text`, which begins at code point `start`."""

    text: str
    start: int
    length: int

    @classmethod
    def whole(cls, line: str) -> "Stretch":
        return cls(line, 0, len(line))

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def marked(self) -> str:
        """The text with `…` on each side where the line goes on."""
        before = "…" if self.start > 0 else ""
        after = "…" if self.end < self.length else ""
        return f"{before}{self.text}{after}"


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends: only `\\n` ends one, and a last `\\n` opens none."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def normal_pattern(pattern: str) -> str:
    """The pattern in the normal form of the stored texts."""
    return normalize("NFC", pattern)


def grep_document(text: str, pattern: str) -> list[Match]:
    """Every line of `text` that holds `pattern`, ignoring case; an empty pattern is in none."""
    wanted = fold(normal_pattern(pattern))
    found: list[Match] = []
    for number, line in enumerate(split_lines(text), start=1):
        ranges = tuple(occurrences(fold(line), wanted))
        if ranges:
            found.append(Match(number, ranges[0][0] + 1, ranges))
    return found


def occurrences(line: str, wanted: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Where `wanted` stands in `line` from `start` on, without overlaps; ends excluded."""
    at = line.find(wanted, start) if wanted else -1
    while at >= 0:
        yield at, at + len(wanted)
        at = line.find(wanted, at + len(wanted))


def window(line: Stretch, start: int, end: int, width: int = SHOWN) -> Stretch:
    """The part of at most `width` code points that shows the match `start`-`end` of `line`.

    That is the beginning of the line when the match lies in it, else a window around the match, or
    the head of a match that is longer. It is shorter where `width` would split a grapheme.
    """
    return take(line, _window_start(line.length, start, end, width), width)


def take(line: Stretch, start: int, width: int) -> Stretch:
    """At most `width` code points of `line` from `start` on; both ends move back to a grapheme."""
    first = _cluster_start(line, start)
    last = _cluster_start(line, min(first + width, line.length))
    return Stretch(line.text[first - line.start : last - line.start], first, line.length)


def _window_start(length: int, start: int, end: int, width: int) -> int:
    if end <= width:
        return 0
    margin = max(width - (end - start), 0) // 2
    return max(min(start - margin, length - width), 0)


def _cluster_start(line: Stretch, place: int) -> int:
    """The start of the grapheme cluster that `place` is in; `place` itself between clusters."""
    text, at = line.text, place - line.start
    if place in (0, line.length) or at <= 0:
        return place
    known = max(at - CLUSTER_REACH, 0)
    # Flags are pairs: only from the first of a run on it is known how they pair.
    known = len(text[:known].rstrip(_REGIONAL_INDICATORS))
    for cluster in _CLUSTER.finditer(text, known, at + CLUSTER_REACH):
        if cluster.end() > at:
            # One that begins where the look-back does may be the rest of an endless one.
            return place if 0 < known == cluster.start() else line.start + cluster.start()
    return place
