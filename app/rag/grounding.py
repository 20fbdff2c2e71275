"""The gate: do the documents cover this question? Pure arithmetic over what retrieval found."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SMALL_COLLECTION = 500
# The gate looks at this many of the best passages.
JUDGED = 5
# Measured with the offline model on questions to articles: docs/benchmarks-grounding.md.
_MEANING_IN_RANK = 2 / 3
_MEANING_IN_SCORE = 1 / 2


def rarity(passages: int, containing: int) -> float:
    """The inverse document frequency of a word; `ln(2N+2)` for one that no passage has.

    In a handful of passages every word is frequent, so they count as part of a small collection.
    """
    passages = max(passages, SMALL_COLLECTION)
    return math.log((passages + 1) / (min(containing, passages) + 0.5))


@dataclass(frozen=True)
class Evidence:
    """What speaks for a passage: the weight of the question's words in it, and the similarity.

    The similarity is None where there is no vector of the passage, or none of the question.
    """

    matched: float = 0.0
    similarity: float | None = None


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

    def damped_coverage(self, matched: float) -> float:
        """Coverage, damped so that a question of one common word proves little."""
        damped = self.total + 0.5 * rarity(self.passages, 0)
        return matched / damped if self.total else 0.0

    def rank(self, evidence: Evidence) -> float:
        """What passages are ordered by; without a vector, coverage stands in for similarity."""
        coverage = self.coverage(evidence.matched)
        meaning = coverage if evidence.similarity is None else evidence.similarity
        return _MEANING_IN_RANK * meaning + (1 - _MEANING_IN_RANK) * coverage

    def score(self, evidence: Evidence) -> float:
        """How far the passage covers the question, from 0 to 1."""
        words = self.damped_coverage(evidence.matched)
        if evidence.similarity is None:
            return words
        return _MEANING_IN_SCORE * evidence.similarity + (1 - _MEANING_IN_SCORE) * words


@dataclass(frozen=True)
class Verdict:
    """The score of the best passage, the threshold that it must reach, and what it rests on."""

    score: float
    threshold: float
    evidence: Evidence

    @property
    def passed(self) -> bool:
        return self.score >= self.threshold


@dataclass(frozen=True)
class Gate:
    """The thresholds: of passages with a vector, and of those that have only words so far."""

    threshold: float = 0.41
    words_threshold: float = 0.455

    def judge(self, weights: Weights, best: Iterable[Evidence]) -> Verdict:
        """Judge by the passage that is furthest above its threshold, or least below it."""
        verdicts = [self._verdict(weights, evidence) for evidence in best]
        nothing = self._verdict(weights, Evidence())
        return max(verdicts, key=lambda v: v.score - v.threshold, default=nothing)

    def _verdict(self, weights: Weights, evidence: Evidence) -> Verdict:
        has_meaning = evidence.similarity is not None
        threshold = self.threshold if has_meaning else self.words_threshold
        return Verdict(weights.score(evidence), threshold, evidence)
