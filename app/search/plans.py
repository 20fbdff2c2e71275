"""The plans of a search: which passages are looked at, as SQL that statements are made of.

No single plan is safe for "the first 20 of all": the index is slow on what is frequent, a scan in
catalog order on what is rare.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.search.conditions import Condition, all_of
from app.search.query import Query

# A longer passage is a single line, which is never read whole.
LONG_PASSAGE = 4_000
# The documents at the head that may hold the needle, and then the passages of each. What is lateral
# can only be joined by a loop over what it depends on, which keeps the order of both. To demand the
# order of all would sort what is in order, which takes as long as to read it.
_FROM = """FROM (
      SELECT id, source, path FROM (
        SELECT id, source, path, signature FROM documents WHERE {documents}
        ORDER BY source, path LIMIT :documents
      ) AS firsts WHERE {signed}
    ) AS documents, LATERAL (
      SELECT id, document_id, position, characters, folded, ctid AS place FROM passages
      WHERE document_id = documents.id AND {passages} ORDER BY position OFFSET 0
    ) AS passages LIMIT :head"""
# Once for all strings that are looked for in it.
_DECOMPRESSED = "folded || ''"
# Without “:documents”, “:head” and “:most”, which may be null, it is all of them.
_IN_ORDER = """SELECT {columns} FROM (
    SELECT passages.id, document_id, position, characters, {folded} AS folded, place, source, path
    {head}
  ) AS first WHERE {is_in} LIMIT :most"""
_WHOLE_HEAD = "SELECT passages.id, document_id, position, folded, source, path {head}"
_IS_WHOLE = """count(*) < :head AND (SELECT count(*) FROM (
    SELECT FROM documents WHERE {documents} LIMIT :documents) AS within) < :documents"""
_BY_INDEX = """SELECT id, document_id, position, ctid AS place FROM passages
  WHERE {is_in} AND {gate} LIMIT :bound"""
_OF_DOCUMENTS = "document_id IN (SELECT documents.id FROM documents WHERE {covered})"
# A row that has not moved, as none does in one state of the database. The last block is read again:
# an index keeps the order of blocks, but not that of the rows of one.
_NOT_PASSED = """(id = ANY(CAST(:passed_ids AS bigint[]))
  OR (place > CAST(:passed_last AS tid) AND {is_in}))"""
_COVERED = """SELECT found.id, document_id, documents.source, documents.path, found.position
  FROM found JOIN documents ON documents.id = document_id WHERE {covered}"""


@dataclass(frozen=True)
class Passed:
    """What the index gave: all that is in the table up to the row `last`, in the table's order.

    The row `furthest` is the last of those that make the first page in catalog order.
    """

    ids: Sequence[int] = ()
    last: str | None = None
    furthest: str | None = None


@dataclass(frozen=True)
class Head:
    """So much is looked at in catalog order: passages of those documents that may hold the needle.

    `documents` bounds how many are gone through for them.
    """

    passages: int = 0
    documents: int = 0


@dataclass(frozen=True)
class Reach:
    """How many passages are looked at: first in catalog order, then as the index gives them.

    None means all of them. In order, `end` is the last document to look at, and what the index has
    `passed` in the same state of the database is not read again.
    """

    head: Head | None = Head()
    bound: int | None = 0
    end: tuple[str, str] | None = None
    passed: Passed | None = None
    # Whether all hits at the head are counted: so the total hardly depends on the page.
    counts: bool = False

    def values(self) -> dict[str, Any]:
        """The values of `:head` and `:documents`."""
        head = self.head
        return {"head": head and head.passages, "documents": head and head.documents}


@dataclass(frozen=True)
class Selection:
    """An SQL query for passages, and the values of the names in it."""

    sql: str
    values: Mapping[str, Any]


def in_order(query: Query, columns: str, reach: Reach) -> Selection:
    """The first `:most` passages with the needle, of the first `:head` in catalog order.

    The scan ends when enough are found.
    """
    head = _head(query, query.until(reach.end) if reach.head is None else query.covers_document())
    is_in, folded = query.needle.is_in(), _DECOMPRESSED
    if (passed := reach.passed) is not None:
        # Few are read.
        folded = "folded"
        known = {"passed_ids": list(passed.ids), "passed_last": f"({block(passed.last)},0)"}
        is_in = Condition(_NOT_PASSED.format(is_in=is_in.sql), {**is_in.values, **known})
    sql = _IN_ORDER.format(columns=columns, folded=folded, head=head.sql, is_in=is_in.sql)
    return Selection(sql, {**head.values, **is_in.values, **reach.values()})


def whole_head(query: Query, reach: Reach) -> tuple[Selection, str]:
    """The first passages in catalog order that may hold the needle, and that these are all."""
    documents = query.covers_document()
    head = _head(query, documents)
    selected = Selection(_WHOLE_HEAD.format(head=head.sql), {**head.values, **reach.values()})
    return selected, _IS_WHOLE.format(documents=documents.sql)


def _head(query: Query, documents: Condition) -> Condition:
    signed, passages = query.needle.signed(), query.covers_passage()
    sql = _FROM.format(documents=documents.sql, signed=signed.sql, passages=passages.sql)
    return Condition(sql, {**documents.values, **signed.values, **passages.values})


def by_index(query: Query, gate: str = "true", *, bounded: bool = True) -> Selection:
    """The first `:bound` passages with the needle that an index gives, in the order of the table.

    They are bounded before the scope is applied: a small scope would let the scan run on. Where
    `gate` is false nothing is looked up. To find all in one document, it is read as a whole.
    """
    is_in = query.needle.indexed()
    if query.scope.path is not None and not bounded:
        few = query.covers_document()
        inside = Condition(_OF_DOCUMENTS.format(covered=few.sql), few.values)
        is_in = all_of((inside, query.needle.is_in()))
    elif is_in is None:
        is_in = all_of((query.grams(), query.needle.is_in()))
    return Selection(_BY_INDEX.format(is_in=is_in.sql, gate=gate), is_in.values)


def covered(query: Query) -> Selection:
    """Those of `found`, the rows of `by_index`, that are to be searched, and their documents."""
    condition = all_of((query.covers_document(), query.covers_passage("found.position")))
    return Selection(_COVERED.format(covered=condition.sql), condition.values)


def block(place: str | None) -> int:
    """The number of the block that a row is in, of its place “(block,row)” in the table."""
    return int(place[1:].partition(",")[0]) if place else 0
