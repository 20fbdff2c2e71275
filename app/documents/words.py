"""Terms of the word search, made alike from passages and from questions.

A word is split at punctuation, folded and stemmed by the rules of its script: Russian for Cyrillic,
Greek, Arabic, Hindi and so on for theirs, English for Latin letters. The script is known from the
word alone, so a passage and a question always agree; a guess at the language of a short question
would not. Scripts without blanks, and Hangul, whose particles cling to words, give pairs of
neighbouring characters.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import Any, cast

import Stemmer

from app.documents.stop_words import informative_runs, is_informative, without_stop_words
from app.search.fold import fold
from app.text import normalize

INDEXED_CHARACTERS = 200_000
_TERM_BYTES = 255
# A tsvector holds less than 1 MiB of terms.
_INDEX_BYTES = 900_000

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\uac00-\ud7ff"  # Hangul
)
_RUN = re.compile(f"([{_UNSPACED}]+)")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# All of ASCII but letters and digits becomes a blank: three times as fast as an expression.
_ASCII_WORDS = bytes(code if chr(code).isalnum() else ord(" ") for code in range(128)).ljust(256)
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
# The planes in which Unicode has marks: letters, symbols, and selectors of variants.
_MARKED = (range(0x20000), range(0xE0000, 0xF0000))
_SCRIPTS = {
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "DEVANAGARI": "hindi",
    "ARMENIAN": "armenian",
    "TAMIL": "tamil",
}


def index_terms(text: str) -> list[str]:
    """The distinct terms of the first 200,000 characters: at most 255 bytes each, 900,000 in all.

    A name like `retryBudget` is found as a whole and by its parts.
    """
    words = _distinct_words(text[:INDEXED_CHARACTERS])
    # Long words are not worth the memory.
    are_short = max(map(len, words), default=0) <= 40
    terms_of = _remembered_terms if are_short else _index_terms
    terms = dict.fromkeys(chain.from_iterable(map(terms_of, words)))
    # No character takes more than four bytes.
    fits = 4 * sum(map(len, terms)) <= _INDEX_BYTES
    return list(terms if fits else _within_budget(terms))


def question_terms(question: str) -> list[str]:
    """The distinct terms of a question in its order, without stop words."""
    words = [fold(word) for word in _distinct_words(question[:INDEXED_CHARACTERS])]
    terms = (term for word in without_stop_words(words) for term in _terms_to_ask(word))
    return list(dict.fromkeys(terms))


def _terms_to_ask(folded: str) -> Iterator[str]:
    parts = [folded] if folded.isascii() else informative_runs(folded)
    yield from filter(is_informative, chain.from_iterable(map(_terms, parts)))


def _distinct_words(text: str) -> dict[str, None]:
    if text.isascii():
        return dict.fromkeys(text.encode().translate(_ASCII_WORDS).decode().split())
    # Compatibility forms (ﬁ, full width) and soft hyphens are another spelling of the same word.
    plain = normalize("NFKC", text.replace("\u00ad", ""))
    return dict.fromkeys(_word().findall(plain))


@lru_cache(maxsize=1 << 16)
def _remembered_terms(word: str) -> tuple[str, ...]:
    return _index_terms(word)


def _index_terms(word: str) -> tuple[str, ...]:
    terms = dict.fromkeys(_terms(fold(word)))
    if word.isascii() and not (word.islower() or word.isupper() or word.istitle()):
        for part in _CAMEL.findall(word):
            terms.update(dict.fromkeys(_terms(part.lower())))
    return tuple(terms)


def _terms(folded: str) -> tuple[str, ...]:
    """The terms of one folded word."""
    if folded.isascii():
        return (_short(_stemmer("english")(folded)),)
    return tuple(
        term
        for number, run in enumerate(_RUN.split(folded))
        if run
        for term in (_pairs(run) if number % 2 else (_stem(run),))
    )


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _stem(word: str) -> str:
    script = unicodedata.name(word[0], "").partition(" ")[0]
    if script in _SCRIPTS:
        return _short(_stemmer(_SCRIPTS[script])(word) or word)
    # Latin letters lose their accents, which people leave out when they ask.
    bare = _ACCENTS.sub("", normalize("NFD", word))
    return _short(_stemmer("english")(normalize("NFC", bare)))


def _short(term: str) -> str:
    if len(term) * 4 <= _TERM_BYTES:
        return term
    return term.encode()[:_TERM_BYTES].decode(errors="ignore")


def _within_budget(terms: dict[str, None]) -> Iterator[str]:
    left = _INDEX_BYTES
    for term in terms:
        left -= len(term.encode())
        if left < 0:
            return
        yield term


@cache
def _stemmer(algorithm: str) -> Callable[[str], str]:
    # Without its own cache a stemmer keeps no state that threads could share.
    return cast("Any", Stemmer).Stemmer(algorithm, 0).stemWord


@cache
def _word() -> re.Pattern[str]:
    """Letters and digits with the marks that belong to them, which `\\w` leaves out."""
    marks = "".join(map(chr, filter(_is_mark, chain(*_MARKED))))
    # The first mark is U+0300: looking at that alone first is ten times faster.
    return re.compile(f"[^\\W_]+(?:(?=[^\\x00-\u02ff])[{marks}]+[^\\W_]*)*")


def _is_mark(code: int) -> bool:
    return unicodedata.category(chr(code))[0] == "M"
