"""The gate: do the documents cover this question? Pure arithmetic over what retrieval found."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

# What a person would look up to the letter: letter and digit mixed, an inner capital, or a joint
# between letters or digits; four characters at least.
_WORD = re.compile(r"[^\W_](?:[\w.:/\-#@+]*[^\W])?", re.UNICODE)
# Letter and digit mixed, too, yet no name of anything: 19th, 1950s.
_ORDINARY = re.compile(r"\d+(st|nd|rd|th|s)", re.IGNORECASE)
_JOINT = re.compile(r"[^\W_][_.:/\-#@+]+[^\W_]")
_QUOTED = re.compile(
    r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|„([^“”\n]{2,200})[“”]|«([^»\n]{2,200})»|`([^`\n]{2,200})`"
)
_PRONOUN = re.compile(
    r"\b(it|its|they|them|their|theirs|this|that|these|those|he|him|his|she|her|hers|there|one|ones"
    r"|former|latter|es|sie|ihn|ihm|ihr|dies\w*|davon|damit|dazu|dort|il|elle|ils|elles|cela|celui"
    r"|ello|ella|ellos|ellas|eso|esto|esso|essa|quello|questo|isso|isto|ele|ela|dat|dit|daar)\b"
)
_CONTINUES = re.compile(
    r"(and|or|but|so|then|also|what about|how about|und|oder|aber|et|ou|mais|y|o|pero|e|ma|en|maar)"
    r"\b"
)
SMALL_COLLECTION = 500
EXACT_PASSAGES = 20
MOST_LOOKUPS = 8


def lookups(question: str) -> list[str]:
    """The quoted phrases and identifier-like words of a question, in order, without repeats."""
    quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(question)]
    rest = _QUOTED.sub(" ", question)
    words = [match.group() for match in _WORD.finditer(rest)]
    found = [phrase for phrase in quoted if phrase] + [w for w in words if is_identifier(w)]
    return list(dict.fromkeys(found))[:MOST_LOOKUPS]


def is_identifier(word: str) -> bool:
    """Whether a word looks like a name that a machine or a registry gave."""
    if len(word) < 4 or _ORDINARY.fullmatch(word):
        return False
    has_digit = any(c.isdigit() for c in word)
    has_letter = any(c.isalpha() for c in word)
    inner_capital = any(c.isupper() for c in word[1:]) and any(c.islower() for c in word)
    return (has_digit and has_letter) or inner_capital or bool(_JOINT.search(word))


def is_follow_up(message: str, informative_words: int) -> bool:
    """Whether a message only makes sense together with the question before it."""
    plain = message.casefold().lstrip(" ¿¡\"'(")
    return informative_words <= 1 or bool(_CONTINUES.match(plain)) or bool(_PRONOUN.search(plain))


def rarity(passages: int, containing: int) -> float:
    """The inverse document frequency of a word; `ln(2N+2)` for one that no passage has.

    In a handful of passages every word is frequent, so they count as part of a small collection.
    """
    passages = max(passages, SMALL_COLLECTION)
    return math.log((passages + 1) / (min(containing, passages) + 0.5))


@dataclass(frozen=True)
class Weights:
    """How much each word of the question counts, in a collection of `passages` passages."""

    passages: int
    by_word: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.by_word.values())

    def coverage(self, matched: float) -> float:
        """The share of the question's words, by weight, that a passage with `matched` has."""
        return matched / self.total if self.total else 0.0

    def score(self, matched: float) -> float:
        """Coverage, damped so that a question of one common word proves little."""
        damped = self.total + 0.5 * rarity(self.passages, 0)
        return matched / damped if self.total else 0.0
