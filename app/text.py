"""What text must be before it can be stored, sent or shown."""

import re
import unicodedata
from functools import cache
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
# No script puts more marks on a letter; longer runs are put in order before Python sees them.
_MARKS_IN_A_ROW = 30
# Unicode has no combining marks behind its second plane.
_END_OF_MARKS = 0x20000


def clean(text: str) -> str:
    """Join surrogate pairs; replace U+0000 and lone surrogates, which UTF-8 and SQL cannot hold."""
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return paired.replace("\0", "\ufffd")


def normalize(form: Form, text: str) -> str:
    """The Unicode normal form, in linear time.

    `unicodedata.normalize` takes time quadratic in the length of a run of unordered combining
    marks, and stops every thread meanwhile: 80,000 of them are 45 seconds.
    """
    if text.isascii():
        return text
    decomposing: Form = "NFKD" if "K" in form else "NFD"

    def in_order(run: re.Match[str]) -> str:
        # Sorting is stable, so this is the canonical order, which normalizing leaves alone.
        decomposed = "".join(unicodedata.normalize(decomposing, mark) for mark in run.group())
        return "".join(sorted(decomposed, key=unicodedata.combining))

    return unicodedata.normalize(form, _long_runs(decomposing).sub(in_order, text))


@cache
def _long_runs(decomposing: Form) -> re.Pattern[str]:
    marks = (
        char
        for char in map(chr, range(_END_OF_MARKS))
        # Few are a mark or made of others, and to ask for that is quick.
        if (unicodedata.combining(char) or unicodedata.decomposition(char))
        and all(map(unicodedata.combining, unicodedata.normalize(decomposing, char)))
    )
    # The first mark is U+0300: looking at that alone first is thirty times faster.
    run = f"[{re.escape(''.join(marks))}]{{{_MARKS_IN_A_ROW},}}"
    return re.compile(f"(?=[^\\x00-\u02ff]){run}")


def quoted(name: str) -> str:
    """A refused name or pattern as it can stand in an error text: short, printable, encodable."""
    shown = name if len(name) <= 120 else name[:100] + "…"
    return "".join(char if _is_printable(char) else f"\\u{ord(char):04x}" for char in shown)


def _is_printable(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cs")
