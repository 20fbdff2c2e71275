"""Cuts a passage into the windows of which vectors are made.

Embedding models read a few hundred tokens and forget the rest, so a passage scores by its best
window.
"""

import re
from math import ceil

WINDOW_CHARACTERS = 700
MOST_WINDOWS = 20
# How far from the even cut a better place may be.
_REACH = 150
_ENDS = (re.compile(r"\n"), re.compile(r"[.!?;:]\s|[。！？；]"), re.compile(r"\s"))


def windows(text: str) -> list[str]:
    """At least one window, each of about 700 characters; of a very long line the first 20 only.

    They are of about the same length: a last one of three words would say nothing.
    """
    text = text[: WINDOW_CHARACTERS * MOST_WINDOWS].strip()
    cut: list[str] = []
    for left in range(ceil(len(text) / WINDOW_CHARACTERS), 1, -1):
        end = _end_near(text, len(text) // left)
        cut.append(text[:end].strip())
        text = text[end:].strip()
    return [*cut, text]


def _end_near(text: str, wanted: int) -> int:
    """The end of a line, else of a sentence, else of a word that is closest to `wanted`."""
    for pattern in _ENDS:
        found = pattern.finditer(text, max(wanted - _REACH, 1), wanted + _REACH)
        if ends := [match.end() for match in found]:
            return min(ends, key=lambda end: abs(end - wanted))
    return wanted
