"""Which passages speak of this question, and do they cover it? The one way in, for every caller."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.db.engine import Sessions
from app.db.visible import Visible
from app.documents.words import question_terms
from app.rag.candidates import Candidates, find_candidates
from app.rag.grounding import JUDGED, Evidence, Gate, is_follow_up
from app.rag.meaning import Meaning
from app.rag.passages import Found
from app.rag.queries_found import load
from app.rag.refusals import NO_DOCUMENTS
from app.rag.small_talk import is_small_talk
from app.search.lines import normal_pattern
from app.settings import Settings

SMALL_TALK = "smalltalk"
NONE_CHOSEN = "None of the chosen sources holds a document."


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
    """Find and judge the passages for a question."""
    nothing = Finding(False, 0.0, retriever.gate.threshold, 0.0, SMALL_TALK)
    if is_small_talk(question.message):
        return nothing
    text = normal_pattern(_with_previous(question))
    meant = await retriever.meaning.of(text) if retriever.meaning else None
    async with retriever.sessions() as session:
        candidates = await find_candidates(session, text, meant, visible)
        if not candidates.weights.passages:
            return replace(nothing, reason=NO_DOCUMENTS if visible is None else NONE_CHOSEN)
        wanted = [id_ for id_, _ in candidates.ranked[: question.passages]]
        found = await load(session, wanted, visible)
    return _judged(retriever.gate, candidates, found)


def _with_previous(question: Question) -> str:
    informative = len(question_terms(question.message))
    if question.previous and is_follow_up(question.message, informative):
        return f"{question.previous}\n{question.message}"
    return question.message


def _judged(gate: Gate, candidates: Candidates, found: Mapping[int, Found]) -> Finding:
    weights = candidates.weights
    best = [evidence for _, evidence in candidates.ranked]
    verdict = gate.judge(weights, sorted(best, key=weights.rank, reverse=True)[:JUDGED])
    evidence = verdict.evidence
    return Finding(
        grounded=bool(candidates.exact) or verdict.passed,
        score=round(verdict.score, 4),
        threshold=verdict.threshold,
        coverage=round(weights.coverage(evidence.matched), 4),
        reason=_reason(candidates, evidence),
        passages=tuple(_shown(candidates, found)),
        similarity=None if evidence.similarity is None else round(evidence.similarity, 4),
    )


def _shown(candidates: Candidates, found: Mapping[int, Found]) -> Iterator[Found]:
    weights = candidates.weights
    # A name that was looked up to the letter outweighs all the other words.
    telling = {**weights.by_word, **dict.fromkeys(candidates.exact, 1.0 + weights.total)}
    for id_, evidence in candidates.ranked:
        if id_ in found:
            score, coverage = weights.score(evidence), weights.coverage(evidence.matched)
            yield found[id_].focused(telling).scored(score, coverage, evidence.similarity)


def _reason(candidates: Candidates, evidence: Evidence) -> str:
    """“Similarity 0.58; the passage has 71 % of your words.”"""
    said = [_word_for_word(phrase, ids) for phrase, ids in candidates.exact.items()]
    if evidence.similarity is not None:
        said.append(f"similarity {evidence.similarity:.2f}")
    coverage = candidates.weights.coverage(evidence.matched)
    said.append(f"the passage has {round(100 * coverage)} % of your words")
    sentence = "; ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _word_for_word(phrase: str, ids: Sequence[int]) -> str:
    passages = "1 passage" if len(ids) == 1 else f"{len(ids)} passages"
    return f"“{phrase[:80]}” stands word for word in {passages}"
