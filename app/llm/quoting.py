"""Chooses the lines that answer a question, without a model: by words, and how rare they are."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.llm.terms import Terms, folded, parts, stems, stems_in, words
from app.llm.units import LONGEST, Unit

MOST_QUOTES = 4
# What part of the question's words, weighed by rarity, a unit must hold to be an answer.
_ENOUGH = 0.34
_NEAR_THE_BEST = 0.7
# Below this score even the best is a guess, and two quotes of it are enough.
_SURE = 0.55
_GIVEN = 0.25
_IN_HEADING, _IN_LEAD, _IN_NAME, _BESIDE = 0.6, 0.7, 0.35, 0.2
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twice|daily|weekly"
    r"|monthly|yearly|annual\w*|zwei|drei|vier|fünf|deux|trois|quatre|cinq|dos|tres|cuatro|due|tre"
    r"|quattro|dois|três|twee|drie|vier)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(r"(?:see|siehe|voir)(?: also| auch| aussi)?\b", re.IGNORECASE)
_MARKS = (("“", "”"), ("«", "»"), ("「", "」"), ('"', '"'))


@dataclass(frozen=True)
class Scored:
    """A unit and how well it answers, from 0 to a little over 1."""

    score: float
    unit: Unit


def ranked(units: Sequence[Unit], terms: Terms, *, enough: float = _ENOUGH) -> list[Scored]:
    """The units with a score of at least `enough`, best first."""
    rarity = _rarity(units, terms)
    found: list[Scored] = []
    for before, unit, after in zip((None, *units), units, (*units[1:], None), strict=False):
        beside = [near.text for near in (before, after) if near and near.place == unit.place]
        score = _matched(unit, " ".join(beside), terms, rarity) * _fitness(unit, terms)
        found.append(Scored(score + _literal(unit, terms), unit))
    good = [scored for scored in found if scored.score >= enough]
    return sorted(good, key=lambda scored: -scored.score)


def best_quotes(units: Sequence[Unit], terms: Terms) -> list[Unit]:
    """The units to quote: those nearly as good as the best, and the list that it belongs to."""
    candidates = ranked(units, terms)
    candidates = [c for c in candidates if not c.unit.is_heading] or candidates
    if not candidates:
        return []
    best = candidates[0]
    chosen = {unit.text: unit for unit in (best.unit, *_list_of(best.unit, units, terms))}
    for scored in candidates[: 3 * MOST_QUOTES]:
        if scored.score >= _NEAR_THE_BEST * best.score:
            chosen.setdefault(scored.unit.text, scored.unit)
    most = MOST_QUOTES if best.score >= _SURE else 2
    return _lists_in_order(list(chosen.values())[:most])


def _list_of(unit: Unit, units: Sequence[Unit], terms: Terms) -> list[Unit]:
    """What the unit announces, or the steps that it is one of."""
    announces = unit.text.endswith(":")
    if not announces and not (terms.wants_steps and unit.lead):
        return []
    lead = unit.text if announces else unit.lead
    return [other for other in units if other.place == unit.place and other.lead == lead]


def _lists_in_order(quoted: list[Unit]) -> list[Unit]:
    """Best first, but what belongs to one list in the order in which it stands there."""

    def belongs(unit: Unit) -> tuple[str, ...]:
        lead = unit.text if unit.text.endswith(":") else unit.lead
        return (*unit.place, lead or unit.text)

    rank = {belongs(unit): place for place, unit in reversed(list(enumerate(quoted)))}
    return sorted(quoted, key=lambda unit: (rank[belongs(unit)], unit.first))


def quotation(unit: Unit, terms: Terms) -> str:
    """The words of a unit between quotation marks, behind them the citation."""
    text = unit.text if len(unit.text) <= LONGEST else _part(unit.text, terms)
    opening, closing = next(
        ((a, b) for a, b in _MARKS if a not in text and b not in text), ("“", "”")
    )
    path = unit.path.replace("%5D", "%255D").replace("]", "%5D")
    lines = str(unit.first) if unit.first == unit.last else f"{unit.first}-{unit.last}"
    return f"{opening}{text}{closing} [{unit.source}/{path}:{lines}]"


def _rarity(units: Sequence[Unit], terms: Terms) -> dict[str, float]:
    """What each term weighs: the more, the fewer units hold it. They add up to 1.

    A term in no unit weighs as one in a single unit: the documents may use another word for it.
    """
    weights: dict[str, float] = {}
    for stem, weight in terms.weights.items():
        holding = sum(stem in stems_in(unit.text, terms.language) for unit in units) or 1
        weights[stem] = weight * math.log(1 + (len(units) - holding + 0.5) / (holding + 0.5))
    total = sum(weights.values()) or 1.0
    return {stem: weight / total for stem, weight in weights.items()}


def _matched(unit: Unit, beside: str, terms: Terms, rarity: dict[str, float]) -> float:
    """The part of the terms that the unit holds, itself or in what belongs to it."""
    held = dict.fromkeys(rarity, 0.0)
    belonging = (
        (beside, _BESIDE),
        # A definition is that of its document: heappush in heapq.rst.
        (unit.path, 1.0 if unit.defines else _IN_NAME),
        (unit.heading, 1.0 if unit.defines else _IN_HEADING),
        (unit.lead, _IN_LEAD),
        (unit.text, 1.0),
    )
    for text, worth in belonging:
        for stem in held.keys() & stems_in(text, terms.language):
            held[stem] = worth
    if not {_IN_LEAD, _IN_HEADING, 1.0} & set(held.values()):
        return 0.0
    in_order = stems(words(unit.text), terms.language)
    together = set(pairwise(terms.weights)) & set(pairwise(in_order))
    return sum(held[stem] * weight for stem, weight in rarity.items()) + 0.08 * len(together)


def _fitness(unit: Unit, terms: Terms) -> float:
    """How much of an answer the unit can be, whatever its words are."""
    fitness = 1.0
    if unit.is_heading or unit.text.endswith("?") or _REFERS.match(unit.text):
        fitness *= 0.6
    if terms.wants_number:
        fitness *= 1.2 if _NUMBER.search(unit.text) else 0.85
    first_word = stems(words(unit.text)[:1], terms.language)
    if (
        re.match(r"[\w .-]{1,40}[:=|]\s*\S", unit.text)
        and first_word[:1]
        and first_word[0] in terms.weights
    ):
        fitness *= 1.1
    # Retrieval knows of meanings, of which words alone say nothing.
    return fitness * (1 + _GIVEN * unit.given)


def _literal(unit: Unit, terms: Terms) -> float:
    """What it counts that a quoted phrase or an identifier of the question stands in the unit."""
    text = folded(f"{unit.heading}\n{unit.text}" if unit.defines else unit.text)
    phrases = terms.phrases
    if unit.defines:
        phrases += tuple(part for phrase in phrases for part in parts(phrase)[:1])
    return 0.5 if any(phrase in text for phrase in phrases) else 0.0


def _part(text: str, terms: Terms) -> str:
    """A stretch of whole words around the first term that a long text holds."""
    found = list(re.finditer(r"\S+", text))
    held = (
        word.start()
        for word in found
        if not terms.weights.keys().isdisjoint(stems_in(word.group(), terms.language))
    )
    start = max(next(held, 0) - LONGEST // 3, 0)
    inside = [word for word in found if word.start() >= start and word.end() <= start + LONGEST]
    return text[inside[0].start() : inside[-1].end()] if inside else text[:LONGEST]
