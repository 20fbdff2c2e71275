"""Case folding, and the alphabet in which passages are searched.

Searchable text holds no punctuation mark and no blank: each is a capital letter, which folded text
cannot hold. So the trigram index covers every ASCII character, LIKE meets no wildcard, and matching
is exact, because no two folded texts have the same transcription.
"""

import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_MARKS = " .,-\t" + "".join(mark for mark in string.punctuation if mark not in ".,-")
# The four most frequent marks take one byte. Of the ASCII capitals the rarest serve, as pg_trgm
# lower-cases its trigrams: there a mark looks like that letter.
_CAPITALS = "QXZJ" + "".join(chr(code) for code in range(0xC0, 0xDF) if chr(code) != "×")


def fold(text: str) -> str:
    """Unicode simple case folding, code point by code point: what RE2's `(?i)` compares by."""
    return _translate(text, _folding())


def transcode(folded: str) -> str:
    """Folded text with each ASCII punctuation mark, blank and tab as a letter; same length."""
    return folded.translate(_transcoding())


def searchable(text: str) -> str:
    """`transcode(fold(text))` in one pass: what `passages.folded` holds; same length as `text`."""
    return _translate(text, _folding_and_transcoding())


@dataclass(frozen=True)
class _Table:
    """A mapping of characters in the two forms that are fastest: for Latin-1 and for the rest."""

    latin: bytes
    characters: list[str]


def _translate(text: str, table: _Table) -> str:
    try:
        latin = text.encode("latin-1")
    except UnicodeEncodeError:
        return text.translate(table.characters)
    # The micro sign alone folds to a letter outside of Latin-1.
    return latin.translate(table.latin).decode("latin-1").replace("µ", "μ")


def _table(characters: list[str]) -> _Table:
    latin = "".join(characters[:256]).replace("μ", "µ")
    return _Table(latin.encode("latin-1"), characters)


@cache
def _folding() -> _Table:
    pairs = dict(_case_folding())
    return _table([chr(pairs.get(code, code)) for code in range(max(pairs) + 1)])


@cache
def _folding_and_transcoding() -> _Table:
    characters = _folding().characters.copy()
    for code, capital in _transcoding().items():
        characters[code] = capital
    return _table(characters)


@cache
def _transcoding() -> dict[int, str]:
    return {ord(mark): capital for mark, capital in zip(_MARKS, _CAPITALS, strict=True)}


def _case_folding() -> Iterator[tuple[int, int]]:
    """Pairs of a code point and the one that it folds to."""
    runs = Path(__file__).with_name("case_folding.txt").read_text("ascii")
    for run in runs.splitlines():
        if run.startswith("#"):
            continue
        span, target = run.split()
        bounds, step = span.split("/")
        first, last = (int(bound, 16) for bound in bounds.split("-"))
        for code in range(first, last + 1, int(step)):
            yield code, code - first + int(target, 16)
