"""Single characters and pairs of a text, which find what is too short for a trigram.

A gram is one UTF-16 unit of searchable text, or two that stand side by side in a line. What is made
of frequent letters alone is left out: a scan in catalog order meets it at once.
"""

from functools import cache

from app.search.fold import searchable

_FREQUENT = " etaoinsrlhdcumpfg"
_LINE_END = ord("\n")


def grams(folded: str) -> list[int]:
    """The distinct grams of a searchable text, as signed 32-bit numbers in ascending order."""
    units = folded.encode("utf-16-le")
    found = _numbers(units, "H")
    found.update(_numbers(units, "i"), _numbers(units[2:], "i"))
    return sorted(gram for gram in found - _frequent() if not _has_line_end(gram))


def _numbers(units: bytes, form: str) -> set[int]:
    width = 2 if form == "H" else 4
    return set(memoryview(units[: len(units) // width * width]).cast(form))


def _has_line_end(gram: int) -> bool:
    return gram & 0xFFFF == _LINE_END or gram >> 16 == _LINE_END


@cache
def _frequent() -> frozenset[int]:
    codes = [ord(char) for char in searchable(_FREQUENT)]
    pairs = {first | second << 16 for first in codes for second in codes}
    return frozenset(codes) | pairs
