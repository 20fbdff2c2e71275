"""The words of a question, as the offline model looks for them in lines."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, cast

import Stemmer

from app.llm.languages import PHRASES, asks_for_number, asks_for_steps, language_of
from app.llm.set_phrases import asks_for_more, is_whole_question
from app.stop_words import stop_words
from app.text import normalize

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_QUOTED = re.compile(r"[\"“„«「]([^\"“”„«»「」]{2,80})[\"”“»」]|(?<!\w)'([^']{2,80})'(?!\w)")
_OUTER = " \t\n.,;:!?()[]{}<>\"'“”„«»「」¿¡？。，"
# A mark between letters or digits, letters and digits mixed, or an inner capital.
_IDENTIFIER = re.compile(
    r"[^\W_]+(?:[_./:#@+-]+[^\W_]+)+|(?=[^\W\d]*\d)(?=\d*[^\W\d])\w+|[^\W\d_]*[a-z][A-Z]\w*"
)
_JOINTS = re.compile(r"[.:/#@-]+")
# What a question is lies in its beginning; behind it stands what was pasted.
QUESTION_CHARACTERS = 2_000
_FADED = 0.4
# What many lines say and few answers: no use in searching for it.
_VAGUE = frozenset(
    """difference differences between example examples default happen happens explain describe mean
    meaning purpose work works return returns way kind type use used uses using
    unterschied bedeutet beispiel""".split()
)


@dataclass(frozen=True)
class Terms:
    """`weights` by stem; `phrases` are folded texts to be found literally; `patterns` are what to
    search for, most telling first."""

    language: str
    weights: dict[str, float]
    phrases: tuple[str, ...]
    patterns: tuple[str, ...]
    wants_number: bool
    wants_steps: bool


def terms_of(question: str, previous: str) -> Terms:
    """The terms of a question; one that says little by itself leans on the question before."""
    question, previous = question[:QUESTION_CHARACTERS], previous[:QUESTION_CHARACTERS]
    if previous and asks_for_more(question):
        question, previous = previous, ""
    language = language_of(question)
    telling = _telling(question, language)
    weights = dict.fromkeys(stems(telling, language), 1.0)
    if len(weights) <= 1 and previous and not is_whole_question(question):
        before = _telling(previous, language)
        weights = dict.fromkeys(stems(before, language), _FADED) | weights
        telling += before
    literal = _literals(question)
    telling = [word for word in telling if word.casefold() not in _VAGUE] or telling
    patterns = [*literal, *sorted(dict.fromkeys(telling), key=_weight_as_pattern, reverse=True)]
    return Terms(
        language=language,
        weights=weights,
        phrases=tuple(map(folded, literal)),
        patterns=tuple(_without_repeats(patterns)),
        wants_number=asks_for_number(question, language),
        wants_steps=asks_for_steps(question) and not asks_for_number(question, language),
    )


def folded(text: str) -> str:
    """Case-folded, without accents and with single blanks."""
    plain = normalize("NFKD", text.casefold())
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).split())


def parts(identifier: str) -> list[str]:
    """The parts of an identifier that people use instead, last and so most telling first."""
    found = _JOINTS.split(identifier) if _IDENTIFIER.fullmatch(identifier) else []
    return [part for part in reversed(found) if len(part) >= 4 and part != identifier]


def words(text: str) -> list[str]:
    """Words; of a script without blanks, pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(normalize("NFC", text)):
        if _UNSPACED.fullmatch(word):
            found += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        else:
            found.append(word)
    return found


def stems(some: Iterable[str], language: str) -> list[str]:
    return [folded(_stem(word.casefold(), language)) for word in some]


@lru_cache(maxsize=10_000)
def stems_in(text: str, language: str) -> frozenset[str]:
    return frozenset(stems(words(text), language))


def shared_form(word: str, language: str) -> str:
    """What the forms of a word have in common (`retr` for retry and retries), or the word."""
    if not word.isalpha():
        return word
    stem = _stem(word.casefold(), language)
    stem = stem.removesuffix("i") if not word.casefold().endswith("i") else stem
    fits = len(stem) >= 4 and word.casefold().startswith(stem)
    return word[: len(stem)] if fits else word


@lru_cache(maxsize=50_000)
def _stem(word: str, language: str) -> str:
    stem: str = _stemmer(language).stemWord(word)
    return stem


@cache
def _stemmer(language: str) -> Any:
    return cast("Any", Stemmer).Stemmer(PHRASES[language].stemmer)


def _telling(question: str, language: str) -> list[str]:
    """The words that are no stop words, or the longest ones when all are."""
    found = words(question)
    stop = stop_words(language)
    telling = [word for word in found if word.casefold() not in stop and not _is_filler(word)]
    return telling or sorted((word for word in found if len(word) > 2), key=len)[-2:]


def _is_filler(word: str) -> bool:
    """Whether a pair of characters is Chinese or Japanese grammar, in whole or in part."""
    stop = stop_words("zh") | stop_words("ja")
    return bool(_UNSPACED.fullmatch(word)) and not stop.isdisjoint((word, *word))


def _literals(question: str) -> list[str]:
    quoted = [first or second for first, second in _QUOTED.findall(question)]
    tokens = [token.strip(_OUTER) for token in question.split()]
    return quoted + [t for t in tokens if 4 <= len(t) <= 80 and _IDENTIFIER.fullmatch(t)]


def _weight_as_pattern(word: str) -> float:
    looks_like_a_name = word[:1].isupper() or any(map(str.isdigit, word))
    return min(len(word), 12) + (3 if looks_like_a_name else 0)


def _without_repeats(patterns: list[str]) -> list[str]:
    kept: list[str] = []
    for pattern in patterns:
        if not any(folded(pattern) in folded(longer) for longer in kept):
            kept.append(pattern)
    return kept
