"""The plans of a search: each selects passages and counts the hits in them."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, case, or_, select, tuple_
from sqlalchemy.sql.selectable import Subquery

from app.db.visible import Visible
from app.models import Document, DocumentGrams, Passage
from app.search.needles import Needle
from app.search.scope import Scope

_MOST_PASSAGES = 12_000


@dataclass(frozen=True)
class Start:
    """Where in catalog order a search begins: at a passage, and the lines before it."""

    source: str
    path: str
    position: int
    lines_before: int


@dataclass(frozen=True)
class Query:
    """What is looked for, in which documents, and from where on."""

    needle: Needle
    visible: Visible
    scope: Scope
    start: Start | None = None

    def covers_document(self) -> ColumnElement[bool]:
        """The condition that a row of `documents` is to be searched."""
        conditions = self.scope.covers(self.visible)
        if self.start is not None:
            place = tuple_(Document.source, Document.path)
            conditions.append(place >= tuple_(self.start.source, self.start.path))
        return and_(*conditions)

    def covers_passage(self, position: ColumnElement[int]) -> ColumnElement[bool]:
        """The condition that a passage of such a document is not before the start."""
        if self.start is None:
            return and_(True)
        return or_(
            position >= self.start.position,
            Document.source != self.start.source,
            Document.path != self.start.path,
        )

    def has_grams(self) -> ColumnElement[bool]:
        """The condition that a row of `documents` has the grams of what has no trigram."""
        indexed = self.needle.narrowed(Passage.folded) is not None
        wanted = [] if indexed else self.needle.grams()
        having = select(DocumentGrams.document_id).where(DocumentGrams.grams.contains(wanted))
        return Document.id.in_(having) if wanted else and_(True)


Scanned = Select[int, int, str, str, int, int]
"""Rows of passage_id, document_id, source, path, position, hits."""


@dataclass(frozen=True)
class Plan:
    """`scanned` has seen every passage that can match if it has fewer than `bound` rows.

    If not, its matches are the first ones only when it is `ordered`.
    """

    scanned: Scanned
    bound: int | None
    ordered: bool


def schedule(query: Query, limit: int) -> Iterator[Plan]:
    """The plans in turn, cheapest first, for who wants to know of more than `limit` lines."""
    if query.scope.path is not None:
        yield everything(query, None)
        return
    yield from bounded(query)
    yield everything(query, limit + 1)


def bounded(query: Query) -> Iterator[Plan]:
    """The plans that look at a limited number of passages, cheapest first."""
    # What stands everywhere is at once seen to; for what is rare this costs next to nothing.
    yield in_order(query, 150)
    indexed = query.needle.narrowed(Passage.folded) is not None
    if indexed and query.needle.is_vague():
        yield in_order(query, 1_500)
        yield in_order(query, _MOST_PASSAGES)
        yield by_index(query, 4_000)
        return
    if indexed:
        yield by_index(query, 400)
    yield in_order(query, 1_500)
    if indexed:
        yield by_index(query, 4_000)
    elif query.needle.grams():
        yield by_grams(query, _MOST_PASSAGES)
    yield in_order(query, _MOST_PASSAGES)


def by_index(query: Query, bound: int | None) -> Plan:
    """The first `bound` matching passages that the trigram index gives, in no order.

    They are bounded before the scope is applied: a small scope would let the scan run on.
    """
    narrowed = query.needle.narrowed(Passage.folded)
    found = (
        select(Passage.id, Passage.document_id, Passage.position, Passage.lines, Passage.folded)
        .where(query.needle.is_in(Passage.folded) if narrowed is None else narrowed)
        .limit(bound)
        .subquery()
    )
    columns = found.c
    is_covered = and_(query.covers_document(), query.covers_passage(columns.position))
    hits = case((is_covered, query.needle.hits(columns.folded, columns.lines)), else_=0)
    scanned = select(
        columns.id.label("passage_id"),
        Document.id.label("document_id"),
        Document.source,
        Document.path,
        columns.position,
        hits.label("hits"),
    ).join(Document, Document.id == columns.document_id)
    return Plan(scanned, bound, ordered=False)


def by_grams(query: Query, bound: int) -> Plan:
    """The first `bound` passages of documents that have the grams, in no order."""
    found = _passages(query).where(query.has_grams()).limit(bound).subquery()
    return Plan(_scanned(query, found), bound, ordered=False)


def in_order(query: Query, bound: int) -> Plan:
    """The first `bound` passages in catalog order, whether they match or not."""
    head = _ordered(_passages(query)).limit(bound).subquery()
    return Plan(_scanned(query, head), bound, ordered=True)


def everything(query: Query, bound: int | None) -> Plan:
    """The first `bound` matching passages in catalog order."""
    narrowed = query.needle.narrowed(Passage.folded)
    if narrowed is None or query.scope.path is not None:
        matching = _passages(query).where(query.has_grams(), query.needle.is_in(Passage.folded))
    else:
        # Apart from the rest: for its limit the planner would rather scan all in order.
        held = select(Passage.id).where(narrowed).cte("held").prefix_with("MATERIALIZED")
        matching = _passages(query).where(
            Passage.id.in_(select(held.c.id)), query.needle.is_in(Passage.folded)
        )
    return Plan(_scanned(query, _ordered(matching).limit(bound).subquery()), bound, ordered=True)


_Passages = Select[int, int, str, str, int, int, str]


def _passages(query: Query) -> _Passages:
    return (
        select(
            Passage.id.label("passage_id"),
            Document.id.label("document_id"),
            Document.source,
            Document.path,
            Passage.position,
            Passage.lines,
            Passage.folded,
        )
        .join(Document, Document.id == Passage.document_id)
        .where(query.covers_document(), query.covers_passage(Passage.position.expression))
    )


def _ordered(passages: _Passages) -> _Passages:
    return passages.order_by(Document.source, Document.path, Passage.position)


def _scanned(query: Query, passages: Subquery) -> Scanned:
    columns = passages.c
    return select(
        columns.passage_id,
        columns.document_id,
        columns.source,
        columns.path,
        columns.position,
        query.needle.hits(columns.folded, columns.lines).label("hits"),
    )
