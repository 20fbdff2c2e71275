"""The passages that may speak of a question: found by its words, its meaning, and to the letter."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import accumulate

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.documents.words import question_terms
from app.rag import queries_words
from app.rag.grounding import Evidence, Weights, rarity
from app.rag.lookups import MOST_LOOKUPS, lookups, names, parts
from app.rag.named import file_names
from app.rag.queries_found import find_by_names
from app.rag.queries_vectors import Meant, find_nearest, measure

CANDIDATES = 50
MOST_WORDS = 32
EXACT_PASSAGES = 20
# A name in more passages is a subject, and whether they cover it is judged as ever.
NAME_PASSAGES = 1
# Of so many times more passages it is looked up which frequent words they have.
_WIDER = 4
# To gather more passages with the words of a question takes too long.
_MOST_GATHERED = 15_000

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
    hits, frequent, weights = await _find_words(session, words, visible)
    exact = await _look_up(session, text, visible)
    first = frozenset(id_ for ids in exact.values() for id_ in ids)
    similarity: dict[int, float] = {}
    if meant:
        similarity = await find_nearest(session, meant, CANDIDATES, visible)
    matched = _sum_weights(hits, weights)
    wide = _best(matched, _WIDER * CANDIDATES if frequent else CANDIDATES)
    found = first.union(wide, similarity)
    more = await _hits_beyond(session, frequent, hits, found)
    for id_, weight in _sum_weights(more, weights).items():
        matched[id_] += weight
    pool = {id_: matched[id_] for id_ in wide}
    found = first.union(_best(pool, CANDIDATES), similarity)
    if meant:
        others = list(found.difference(similarity))
        similarity |= await measure(session, meant, others, visible)
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
    exact = {phrase: ids for phrase, ids in found.items() if phrase in phrases or phrase in rare}
    return exact | await _look_up_parts(session, text, exact, visible)


async def _look_up_parts(
    session: AsyncSession, text: str, exact: Mapping[str, Ids], visible: Visible
) -> dict[str, Ids]:
    """The passages with a part of an identifier that none has as a whole, nor as its file name.

    What too many passages have as a whole, even more have in part, which is too many again.
    """
    missing = {word: found for word, found in parts(text).items() if word not in exact}
    if not missing:
        return {}
    files = [name for word in missing for name in file_names(word)]
    named = {name for _, name in await find_by_names(session, files, 1, visible)} if files else ()
    asked = [p for word, found in missing.items() if word.lower() not in named for p in found]
    asked = list(dict.fromkeys(asked))[:MOST_LOOKUPS]
    return dict(await queries_words.find_phrases(session, asked, EXACT_PASSAGES, visible))


async def _find_words(
    session: AsyncSession, words: Sequence[str], visible: Visible
) -> tuple[dict[str, Ids], list[str], Weights]:
    """The passages that have each word, the words of which these are not all, and all weights.

    In a large collection only the rarest words find passages: the index would gather all that have
    a word first. The others count in what these find, like all words of over `MOST_HITS`.
    """
    total = await queries_words.count_passages(session, visible)
    if not words or not total:
        return {}, [], Weights(total, {})
    is_large = total > queries_words.LARGE
    shares = await queries_words.estimate_shares(session, words) if is_large else {}
    rarest = _rarest(words, {word: share * total for word, share in shares.items()})
    found = await queries_words.find_words(session, rarest, visible)
    hits: dict[str, Ids] = {word: found.get(word, ()) for word in words}
    counts: dict[str, int] = {word: len(hits[word]) for word in words}
    most = queries_words.MOST_HITS
    frequent = [w for w in words if w not in found or counts[w] >= most]
    if is_large:
        counts |= {w: max(counts[w], round(shares.get(w, 0) * total)) for w in frequent}
    elif frequent:
        counts |= await queries_words.count_frequent(session, frequent, visible)
    by_word = {word: rarity(total, count) for word, count in counts.items()}
    return hits, frequent, Weights(total, by_word)


def _rarest(words: Sequence[str], having: Mapping[str, float]) -> list[str]:
    """The rarest words that few enough passages have together; one at least."""
    by_rarity = sorted(words, key=lambda word: having.get(word, 0))
    together = accumulate(having.get(word, 0) for word in by_rarity)
    few = [word for word, n in zip(by_rarity, together, strict=True) if n <= _MOST_GATHERED]
    return few or by_rarity[:1]


def _best(matched: Mapping[int, float], most: int) -> list[int]:
    return nsmallest(most, matched, key=lambda id_: (-matched[id_], id_))


def _sum_weights(hits: Mapping[str, Ids], weights: Weights) -> defaultdict[int, float]:
    """The weight of the words that each passage has."""
    sums: defaultdict[int, float] = defaultdict(float)
    for word, ids in hits.items():
        weight = weights.by_word[word]
        for id_ in ids:
            sums[id_] += weight
    return sums


async def _hits_beyond(
    session: AsyncSession, words: Sequence[str], hits: Mapping[str, Ids], found: Iterable[int]
) -> dict[str, Ids]:
    """Which of the passages found have the frequent words, where `hits` does not say so."""
    if not words:
        return {}
    having = await queries_words.have_words(session, words, list(found))
    return {word: list(set(having[word]).difference(hits[word])) for word in words}
