"""The plans of a substring search: each selects passages and counts their matching lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, and_, case, func, select, true
from sqlalchemy.sql.selectable import Subquery

from app.db.visible import Visible, within
from app.models import Document, Passage

# More of a pattern does not narrow the candidates, and costs a look-up for each trigram.
_INDEXED_CHARACTERS = 200
# No searchable text holds this letter.
_MARK = "A"
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Scope:
    """All documents, those of one source, or one document."""

    source: str | None = None
    path: str | None = None


@dataclass(frozen=True)
class Query:
    """A searchable pattern, and the documents to look into."""

    pattern: str
    visible: Visible
    scope: Scope

    def covers_document(self) -> ColumnElement[bool]:
        """The condition that a row of `documents` is to be searched."""
        source, path = self.scope.source, self.scope.path
        return and_(
            within(self.visible, Document.source),
            true() if source is None else Document.source == source,
            true() if path is None else Document.path == path,
        )

    def is_in(self, folded: SQLColumnExpression[str]) -> ColumnElement[bool]:
        return func.strpos(folded, self.pattern) > 0


Scanned = Select[int, int, str, str, int, int]
"""Rows of passage_id, document_id, source, path, position, hits: the number of matching lines."""


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
    indexed = has_trigram(query.pattern)
    if indexed:
        yield by_index(query, 400)
    yield in_order(query, 1_500)
    if indexed:
        yield by_index(query, 4_000)
    yield in_order(query, 12_000)
    yield everything(query, limit + 1)


def by_index(query: Query, bound: int) -> Plan:
    """The first `bound` matching passages that the trigram index gives, in no order.

    They are bounded before the scope is applied: a small scope would let the scan run on.
    """
    narrowed = f"%{query.pattern[:_INDEXED_CHARACTERS]}%"
    found = (
        select(Passage.id, Passage.document_id, Passage.position, Passage.lines, Passage.folded)
        .where(Passage.folded.like(narrowed))
        .limit(bound)
        .subquery()
    )
    hits = case((query.covers_document(), _matching_lines(query, found)), else_=0)
    scanned = select(
        found.c.id.label("passage_id"),
        Document.id.label("document_id"),
        Document.source,
        Document.path,
        found.c.position,
        hits.label("hits"),
    ).join(Document, Document.id == found.c.document_id)
    return Plan(scanned, bound, ordered=False)


def in_order(query: Query, bound: int) -> Plan:
    """The first `bound` passages in catalog order, whether they match or not."""
    head = _passages(query).limit(bound).subquery()
    return Plan(_scanned(query, head), bound, ordered=True)


def everything(query: Query, bound: int | None) -> Plan:
    """The first `bound` matching passages in catalog order."""
    found = _passages(query).where(query.is_in(Passage.folded)).limit(bound).subquery()
    return Plan(_scanned(query, found), bound, ordered=True)


def has_trigram(pattern: str) -> bool:
    """Whether pg_trgm finds a trigram in `%pattern%`; it pads words, at inner ends only."""
    return any(
        len(word[0]) + 2 * (word.start() > 0) + (word.end() < len(pattern)) >= 3
        for word in _WORD.finditer(pattern)
    )


def _passages(query: Query) -> Select[int, int, str, str, int, int, str]:
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
        .where(query.covers_document())
        .order_by(Document.source, Document.path, Passage.position)
    )


def _scanned(query: Query, passages: Subquery) -> Scanned:
    columns = passages.c
    return select(
        columns.passage_id,
        columns.document_id,
        columns.source,
        columns.path,
        columns.position,
        _matching_lines(query, passages).label("hits"),
    )


def _matching_lines(query: Query, passages: Subquery) -> ColumnElement[int]:
    """How many lines of a passage hold the pattern, once each, counted without shipping it."""
    marked = func.replace(passages.c.folded, query.pattern, _MARK)
    return case(
        (~query.is_in(passages.c.folded), 0),
        (passages.c.lines == 1, 1),
        else_=func.regexp_count(marked, f"{_MARK}[^\n]*"),
    )
