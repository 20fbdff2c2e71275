"""Which passages speak of this question, and do they cover it? Ranked by words; words decide.

Similarity of meaning belongs into `_rank`, beside the coverage of words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVarTuple

from sqlalchemy import ColumnElement, Float, Select, case, cast, func, literal, or_, select
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.db.visible import Visible, within
from app.documents.words import question_terms
from app.models import Document, Passage
from app.rag.grounding import EXACT_PASSAGES, Weights, is_follow_up, lookups, rarity
from app.rag.passages import Found
from app.rag.small_talk import is_small_talk
from app.search.fold import searchable
from app.search.lines import normal_pattern

Columns = TypeVarTuple("Columns")

CANDIDATES = 50
MOST_WORDS = 32
# Above this many passages, frequent words only score what rarer words have found.
EVERY_WORD_FINDS = 50_000
SMALL_TALK = "smalltalk"
NO_DOCUMENTS = "There are no documents yet."
NONE_CHOSEN = "None of the chosen sources holds a document."
# A passage is longer only when a single line is; this much of such a line can matter here.
LONGEST = 20_000


@dataclass(frozen=True)
class Question:
    """What is asked, after what, and how well a passage must cover it."""

    message: str
    previous: str | None = None
    threshold: float = 0.455
    passages: int = 20


@dataclass(frozen=True)
class Finding:
    """What retrieval found; `reason` says in words why the question is covered or not."""

    grounded: bool
    score: float
    threshold: float
    coverage: float
    reason: str
    passages: tuple[Found, ...] = ()
    similarity: float | None = None


async def retrieve(session: AsyncSession, question: Question, visible: Visible) -> Finding:
    """Find and judge the passages for a question; the one way in for chat, API and evaluation."""
    nothing = Finding(False, 0.0, question.threshold, 0.0, SMALL_TALK)
    if is_small_talk(question.message):
        return nothing
    text = normal_pattern(_with_previous(question))
    weights = await _weigh(session, question_terms(text)[:MOST_WORDS], visible)
    if not weights.passages:
        return replace(nothing, reason=NO_DOCUMENTS if visible is None else NONE_CHOSEN)
    held = {phrase: await _containing(session, phrase, visible) for phrase in lookups(text)}
    exact = {phrase: ids for phrase, ids in held.items() if ids}
    ranked = await _rank(session, weights, [id_ for ids in exact.values() for id_ in ids], visible)
    best = max((matched for _, matched in ranked), default=0.0)
    score = weights.score(best)
    found = await _load(session, [id_ for id_, _ in ranked[: question.passages]], visible)
    passages = [
        found[id_].scored(weights.score(matched), weights.coverage(matched))
        for id_, matched in ranked
        if id_ in found
    ]
    return Finding(
        grounded=bool(exact) or score >= question.threshold,
        score=round(score, 4),
        threshold=question.threshold,
        coverage=round(weights.coverage(best), 4),
        reason=_reason(exact, weights.coverage(best)),
        passages=tuple(passages),
    )


def _with_previous(question: Question) -> str:
    informative = len(question_terms(question.message))
    if question.previous and is_follow_up(question.message, informative):
        return f"{question.previous}\n{question.message}"
    return question.message


async def _weigh(session: AsyncSession, words: Sequence[str], visible: Visible) -> Weights:
    total = await session.scalar(_over(select(func.count(Passage.id)), visible)) or 0
    counts = [
        _over(select(func.count(Passage.id)), visible).where(_has(word)).scalar_subquery()
        for word in words
    ]
    row = (await session.execute(select(*counts))).one() if counts and total else ()
    return Weights(
        total,
        {word: rarity(total, count) for word, count in zip(words, row, strict=bool(total))},
    )


async def _containing(session: AsyncSession, phrase: str, visible: Visible) -> list[int]:
    """The passages that hold a phrase to the letter; none when too many do to mean anything."""
    pattern = f"%{searchable(phrase)}%"
    query = _over(select(Passage.id), visible).where(Passage.folded.like(pattern))
    ids = (await session.scalars(query.limit(EXACT_PASSAGES + 1))).all()
    return list(ids) if len(ids) <= EXACT_PASSAGES else []


async def _rank(
    session: AsyncSession, weights: Weights, exact: list[int], visible: Visible
) -> list[tuple[int, float]]:
    """Passages and the weight of the words they have: exact hits first, then the best."""
    matched: ColumnElement[float] = sum(
        (case((_has(word), weight), else_=0.0) for word, weight in weights.by_word.items()),
        start=cast(literal(0.0), Float),
    )
    query = _over(select(Passage.id, matched.label("matched")), visible)
    order = (matched.desc(), Passage.characters, Passage.id)
    first = (await session.execute(query.where(Passage.id.in_(exact)).order_by(*order))).all()
    finding = _finding_words(weights)
    if not finding:
        return [(id_, float(value)) for id_, value in first]
    hit = or_(*(_has(word) for word in finding))
    rest = await session.execute(
        query.where(hit, Passage.id.not_in(exact)).order_by(*order).limit(CANDIDATES)
    )
    return [(id_, float(value)) for id_, value in (*first, *rest)]


def _finding_words(weights: Weights) -> list[str]:
    if weights.passages <= EVERY_WORD_FINDS:
        return list(weights.by_word)
    rarest = sorted(weights.by_word, key=lambda word: -weights.by_word[word])
    return rarest[: max(3, len(rarest) // 2)]


def _over(query: Select[*Columns], visible: Visible) -> Select[*Columns]:
    """Narrow a query over passages to the visible sources."""
    if visible is None:
        return query.select_from(Passage)
    return query.join(Document, Document.id == Passage.document_id).where(
        within(visible, Document.source)
    )


async def _load(session: AsyncSession, ids: Sequence[int], visible: Visible) -> dict[int, Found]:
    """The passages with these ids; one that vanished meanwhile is left out."""
    before = aliased(Passage)
    skipped = (
        select(func.coalesce(func.sum(before.lines), 0))
        .where(before.document_id == Passage.document_id, before.position < Passage.position)
        .scalar_subquery()
    )
    text = func.substr(Passage.text, 1, LONGEST)
    query = (
        select(Passage.id, Document.source, Document.path, skipped, Passage.lines, text)
        .join(Document, Document.id == Passage.document_id)
        .where(Passage.id.in_(ids), within(visible, Document.source))
    )
    return {
        id_: Found(source, path, int(first) + 1, int(first) + max(lines, 1), content)
        for id_, source, path, first, lines, content in await session.execute(query)
    }


def _has(word: str) -> ColumnElement[bool]:
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return Passage.words.op("@@", is_comparison=True)(cast(literal(f"'{escaped}'"), TSQUERY))


def _reason(exact: dict[str, list[int]], coverage: float) -> str:
    said = [
        f"“{phrase[:80]}” stands word for word in {len(ids)} passage{'s'[: len(ids) > 1]}"
        for phrase, ids in exact.items()
    ]
    said.append(f"the best passage has {coverage:.0%} of the question's words".replace("%", " %"))
    sentence = "; ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}."
