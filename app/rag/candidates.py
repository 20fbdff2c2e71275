"""The passages that may speak of a question: found by its words, its meaning, and to the letter."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.documents.words import question_terms
from app.rag import queries_words
from app.rag.grounding import Evidence, Weights, rarity
from app.rag.lookups import lookups, names
from app.rag.queries_vectors import Meant, find_nearest, measure

CANDIDATES = 50
MOST_WORDS = 32
EXACT_PASSAGES = 20
# A name in more passages is a subject, and whether they cover it is judged as ever.
NAME_PASSAGES = 1

Ids = Sequence[int]


@dataclass(frozen=True)
class Candidates:
    """Passages by id with what speaks for each, best first; `exact` are the hits of a phrase."""

    weights: Weights
    ranked: tuple[tuple[int, Evidence], ...]
    exact: Mapping[str, Ids]


async def find_candidates(
    session: AsyncSession, text: str, meant: Meant | None, visible: Visible
) -> Candidates:
    """The best by words and the best by meaning in one ranking, exact hits before them."""
    words = question_terms(text)[:MOST_WORDS]
    hits = await queries_words.find_words(session, words, visible) if words else {}
    weights = await _weigh(session, hits, visible)
    exact = await _look_up(session, text, visible)
    first = frozenset(id_ for ids in exact.values() for id_ in ids)
    matched = _sum_weights(hits, weights)
    found = first.union(nsmallest(CANDIDATES, matched, key=lambda id_: (-matched[id_], id_)))
    similarity: dict[int, float] = {}
    if meant:
        similarity = await find_nearest(session, meant, CANDIDATES, visible)
        others = list(found.difference(similarity))
        similarity |= await measure(session, meant, others, visible)
        found = found.union(similarity)
    more = await _hits_beyond(session, hits, found, visible)
    for id_, weight in _sum_weights(more, weights).items():
        matched[id_] += weight
    evidence = {id_: Evidence(matched[id_], similarity.get(id_)) for id_ in found}
    best_first = sorted(
        evidence, key=lambda id_: (id_ not in first, -weights.rank(evidence[id_]), id_)
    )
    return Candidates(weights, tuple((id_, evidence[id_]) for id_ in best_first), exact)


async def _look_up(session: AsyncSession, text: str, visible: Visible) -> dict[str, Ids]:
    """The passages with each identifier or quoted phrase, and with each name that is rare."""
    phrases, full_names = lookups(text), names(text)
    if not phrases and not full_names:
        return {}
    asked = list(dict.fromkeys([*phrases, *full_names]))
    found = await queries_words.find_phrases(session, asked, EXACT_PASSAGES, visible)
    rare = {phrase: ids for phrase, ids in found.items() if len(ids) <= NAME_PASSAGES}
    return {phrase: ids for phrase, ids in found.items() if phrase in phrases or phrase in rare}


async def _weigh(session: AsyncSession, hits: Mapping[str, Ids], visible: Visible) -> Weights:
    total = await queries_words.count_passages(session, visible)
    counts = {word: len(ids) for word, ids in hits.items()}
    if frequent := _frequent(hits):
        counts |= await queries_words.count_frequent(session, frequent, visible)
    return Weights(total, {word: rarity(total, count) for word, count in counts.items()})


def _frequent(hits: Mapping[str, Ids]) -> list[str]:
    return [word for word, ids in hits.items() if len(ids) >= queries_words.MOST_HITS]


def _sum_weights(hits: Mapping[str, Ids], weights: Weights) -> defaultdict[int, float]:
    """The weight of the words that each passage has."""
    sums: defaultdict[int, float] = defaultdict(float)
    for word, ids in hits.items():
        weight = weights.by_word[word]
        for id_ in ids:
            sums[id_] += weight
    return sums


async def _hits_beyond(
    session: AsyncSession, hits: Mapping[str, Ids], found: Iterable[int], visible: Visible
) -> dict[str, Ids]:
    """Which of the passages found have the frequent words, where `hits` does not say so."""
    beyond: dict[str, Ids] = {}
    for word in _frequent(hits):
        unknown = list(set(found).difference(hits[word]))
        beyond[word] = list(await queries_words.have_word(session, word, unknown, visible))
    return beyond
