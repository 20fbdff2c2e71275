"""Single characters and pairs of a text, which find what is too short for a trigram.

A gram is one UTF-16 unit of searchable text, or two that stand side by side in a line. What is made
of frequent letters alone is left out: a scan in catalog order meets it at once.
"""

from functools import cache

from app.search.fold import searchable

FREQUENT = " etaoinsrlhdcumpfgbywvk"
_LINE_END = ord("\n")


def grams(folded: str) -> list[int]:
    """The distinct grams of a searchable text, as signed 32-bit numbers in ascending order."""
    units = folded.encode("utf-16-le")
    found = set(memoryview(units).cast("H"))
    for shifted in (units, units[2:]):
        found.update(memoryview(shifted[: len(shifted) // 4 * 4]).cast("i"))
    return sorted(gram for gram in found - _frequent() if not _has_line_end(gram))


def _has_line_end(gram: int) -> bool:
    return gram & 0xFFFF == _LINE_END or gram >> 16 == _LINE_END


@cache
def _frequent() -> frozenset[int]:
    codes = [ord(char) for char in searchable(FREQUENT)]
    pairs = {first | second << 16 for first in codes for second in codes}
    return frozenset(codes) | pairs
