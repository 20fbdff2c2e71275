"""Which passages speak of this question, and do they cover it? The one way in, for every caller."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from app.db.engine import Sessions
from app.db.visible import Visible
from app.documents.queries import source_names
from app.llm.set_phrases import asks_about_collection, source_to_list
from app.rag.candidates import Candidates, find_candidates
from app.rag.follow_ups import with_previous
from app.rag.grounding import JUDGED, Gate, Verdict
from app.rag.meaning import Meaning
from app.rag.named import Named, find_named
from app.rag.passages import Found
from app.rag.queries_found import load
from app.rag.refusals import NO_DOCUMENTS
from app.rag.small_talk import is_small_talk
from app.search.lines import normal_pattern
from app.settings import Settings

SMALL_TALK = "smalltalk"
ABOUT_COLLECTION = "You ask what documents there are: the tools tell."
NONE_CHOSEN = "None of the chosen sources holds a document."


# The beginnings of named documents come behind so many passages that answer the question.
BEFORE_NAMED = 4


@dataclass(frozen=True)
class Retriever:
    """What retrieval works with; without `meaning`, words alone find and decide."""

    sessions: Sessions
    meaning: Meaning | None = None
    gate: Gate = field(default_factory=Gate)


@dataclass(frozen=True)
class Question:
    """What is asked, after what, and how many passages are wanted."""

    message: str
    previous: str | None = None
    passages: int = 20


@dataclass(frozen=True)
class Finding:
    """What retrieval found; `reason` says in words why the question is covered or not.

    `similarity` and `coverage` are those of the passage that decided.
    """

    grounded: bool
    score: float
    threshold: float
    coverage: float
    reason: str
    passages: tuple[Found, ...] = ()
    similarity: float | None = None


def gate_of(settings: Settings) -> Gate:
    return Gate(settings.gate, settings.gate_words)


async def retrieve(retriever: Retriever, question: Question, visible: Visible) -> Finding:
    """Find and judge the passages for a question, as many as it wants at most."""
    nothing = Finding(False, 0.0, retriever.gate.threshold, 0.0, SMALL_TALK)
    if is_small_talk(question.message):
        return nothing
    text = normal_pattern(with_previous(question.message, question.previous))
    if asks_about_collection(question.message):
        return await _about_collection(retriever, nothing, visible)
    if await _names_source(retriever, source_to_list(question.message), visible):
        return replace(nothing, grounded=True, reason=ABOUT_COLLECTION)
    meant = await retriever.meaning.of(text) if retriever.meaning else None
    async with retriever.sessions() as session:
        candidates = await find_candidates(session, text, meant, visible)
        if not candidates.weights.passages:
            return replace(nothing, reason=_no_passages(visible))
        wanted = [id_ for id_, _ in candidates.ranked[: question.passages]]
        found = await load(session, wanted, visible)
        named = await find_named(session, text, found.values(), visible)
    finding = _judged(retriever.gate, candidates, found, named)
    return replace(finding, passages=finding.passages[: question.passages])


async def _about_collection(retriever: Retriever, nothing: Finding, visible: Visible) -> Finding:
    """No passage tells what there is, but the tools do."""
    async with retriever.sessions() as session:
        if await source_names(session, visible, 1):
            return replace(nothing, grounded=True, reason=ABOUT_COLLECTION)
    return replace(nothing, reason=_no_passages(visible))


async def _names_source(retriever: Retriever, name: str | None, visible: Visible) -> bool:
    if name is None or (visible is not None and name not in visible):
        return False
    async with retriever.sessions() as session:
        return bool(await source_names(session, frozenset({name}), 1))


def _no_passages(visible: Visible) -> str:
    return NO_DOCUMENTS if visible is None else NONE_CHOSEN


def _judged(
    gate: Gate, candidates: Candidates, found: Mapping[int, Found], named: Named
) -> Finding:
    weights = candidates.weights
    best = [evidence for _, evidence in candidates.ranked]
    verdict = gate.judge(weights, sorted(best, key=weights.rank, reverse=True)[:JUDGED])
    evidence = verdict.evidence
    begun = [passage.focused(_telling(candidates)) for passage in named.passages]
    return Finding(
        grounded=bool(candidates.exact or named.names) or verdict.passed,
        score=round(verdict.score, 4),
        threshold=verdict.threshold,
        coverage=round(weights.coverage(evidence.matched), 4),
        reason=_reason(candidates, named, verdict),
        passages=tuple(_in_order(_shown(candidates, found), begun, verdict)),
        similarity=None if evidence.similarity is None else round(evidence.similarity, 4),
    )


def _shown(candidates: Candidates, found: Mapping[int, Found]) -> Iterator[Found]:
    weights, telling = candidates.weights, _telling(candidates)
    for id_, evidence in candidates.ranked:
        if id_ in found:
            score, coverage = weights.score(evidence), weights.coverage(evidence.matched)
            yield found[id_].focused(telling).scored(score, coverage, evidence.similarity)


def _telling(candidates: Candidates) -> dict[str, float]:
    """What a part of an overlong line is chosen by, and how much each weighs."""
    weights = candidates.weights
    # A name that was looked up to the letter outweighs all the other words.
    return {**weights.by_word, **dict.fromkeys(candidates.exact, 1.0 + weights.total)}


def _in_order(shown: Iterable[Found], begun: Iterable[Found], verdict: Verdict) -> Iterable[Found]:
    """Of named documents first what was found in them, then their beginnings, then the others."""
    known = {(p.document_id, p.first_line): p for p in shown}
    openings = {(p.document_id, p.first_line): p for p in begun}
    inside = {document for document, _ in openings}
    ahead = [place for place, p in known.items() if verdict.passed or _speaks(p, inside)]
    order = dict.fromkeys([*ahead[:BEFORE_NAMED], *openings, *known])
    return ((openings | known)[place] for place in order)


def _speaks(passage: Found, inside: Set[int]) -> bool:
    return passage.document_id in inside and passage.coverage > 0


def _reason(candidates: Candidates, named: Named, verdict: Verdict) -> str:
    """“Similarity 0.58; the passage has 71 % of your words.”"""
    evidence = verdict.evidence
    said = [f"“{name[:80]}” is the name of a document" for name in named.names]
    said += [_word_for_word(phrase, ids) for phrase, ids in candidates.exact.items()]
    if evidence.similarity is not None:
        said.append(f"similarity {evidence.similarity:.2f}")
    coverage = candidates.weights.coverage(evidence.matched)
    passage = "the passage" if verdict.passed else "the best passage"
    common = ", which are too common here to tell" if _is_common(verdict, coverage) else ""
    said.append(f"{passage} has {round(100 * coverage)} % of your words{common}")
    sentence = "; ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _is_common(verdict: Verdict, coverage: float) -> bool:
    """Whether a passage with all the words falls short because they say little."""
    return not verdict.passed and round(coverage, 2) == 1


def _word_for_word(phrase: str, ids: Sequence[int]) -> str:
    passages = "1 passage" if len(ids) == 1 else f"{len(ids)} passages"
    return f"“{phrase[:80]}” stands word for word in {passages}"
