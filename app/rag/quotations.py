"""What an answer quotes: sentences, the words between quotation marks, and whether a text has them.

Quotation marks are " “” „“ „” «» »« 「」 『』 and, in pairs, ‘’; a code span is none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from app.search.fold import fold

# A list item, a table row, a quote or a heading begins anew; so does what stands behind a heading.
_UNIT = re.compile(
    r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>|#]|\d{1,9}[.)][ \t]))|(?<=\n)#[^\n]*\n|\A#[^\n]*\n"
)
_QUOTED = re.compile(
    r'"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』'
    r"|(?<!\w)‘([^‘’]+(?:’(?=\w)[^‘’]+)*)’(?!\w)"
)
# No end before a small letter: “e.g. this”.
_END = regex.compile(r"[.!?…][\"“”’»)*_]*+\s++(?!\p{Ll})|[。！？][”」』]*+\s*+")
_OMISSION = re.compile(r"\[(?:…|\.\.\.)\]|…|\.\.\.")
_OUTER = " \t\n.,;:!?"
_EMPHASIS = re.compile(r"(?<!\w)[*_`]+|[*_`]+(?!\w)")
_WITHOUT_BLANKS = "\u0e00"


@dataclass(frozen=True)
class Sentence:
    """A sentence at `text[start:end]`, and what stands between quotation marks in it."""

    start: int
    end: int
    quotes: tuple[str, ...]


def sentences(shape: str, text: str) -> Iterator[Sentence]:
    """The sentences of `text` in order; `shape`, of the same length, decides where they end.

    In `shape`, code is masked by letters and citations by blanks, and so are citations in `text`.
    A blank behind a sentence, and a citation there, still belongs to it.
    """
    start = 0
    for unit in (*_UNIT.finditer(shape), None):
        end = unit.end() if unit else len(shape)
        yield from _within(shape[start:end], text[start:end], start)
        start = end


def _within(shape: str, text: str, offset: int) -> Iterator[Sentence]:
    quoted = list(_QUOTED.finditer(shape))
    # What ends inside a quotation ends no sentence, unless the quotation ends with it.
    masked = _QUOTED.sub(lambda m: "X" * (len(m[0]) - 2) + m[0][-2:], shape)
    start = 0
    for found in (*_END.finditer(masked), None):
        end = found.end() if found else len(shape)
        quotes = [
            text[quote.start() + 1 : quote.end() - 1]
            for quote in quoted
            if start <= quote.start() < end
        ]
        yield Sentence(offset + start, offset + end, tuple(filter(str.strip, quotes)))
        start = end


def plain_words(text: str) -> str:
    """`text` as quotations are compared: without case, runs of blanks and Markdown's emphasis."""
    return " ".join(fold(_EMPHASIS.sub("", text)).split())


def stands_in(quote: str, words: str) -> bool:
    """Whether `quote` stands in the `plain_words` of a text, no word cut in two.

    Punctuation around the quote does not count; an ellipsis leaves out.
    """
    position = 0
    for part in _OMISSION.split(quote):
        wanted = plain_words(part).strip(_OUTER)
        position = _find(words, wanted, position)
        if position < 0:
            return False
        position += len(wanted)
    return True


def _find(text: str, wanted: str, start: int) -> int:
    """Where `wanted` stands in `text` from `start` on, no word cut in two; -1 if nowhere."""
    found = text.find(wanted, start)
    while found >= 0 and not (_parts(text, found) and _parts(text, found + len(wanted))):
        found = text.find(wanted, found + 1)
    return found


def _parts(text: str, place: int) -> bool:
    """Whether no word goes on across `place`; scripts without blanks have no such words."""
    around = text[max(place - 1, 0) : place + 1]
    return len(around) < 2 or not around.isalnum() or max(around) >= _WITHOUT_BLANKS
