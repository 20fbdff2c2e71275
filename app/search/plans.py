"""The plans of a search: which passages are looked at, as SQL that statements are made of.

No single plan is safe for "the first 20 of all": the index is slow on what is frequent, a scan in
catalog order on what is rare.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.db.visible import Visible
from app.search.conditions import ALWAYS, Condition, all_of
from app.search.needles import Needle
from app.search.scope import Scope

# So many passages at the head of the catalog are looked at before an index is asked.
HEAD = 150
# A longer passage is a single line, which is never read whole.
LONG_PASSAGE = 4_000
_PLACE = "(documents.source, documents.path)"
_FROM = "FROM documents JOIN passages ON passages.document_id = documents.id"
_ORDER = "ORDER BY documents.source, documents.path, passages.position"
# Once for all strings that are looked for in it.
_DECOMPRESSED = "folded || ''"
# Without “:head” and “:most”, which may be null, it is all of them.
_IN_ORDER = f"""SELECT {{columns}} FROM (
    SELECT passages.id, document_id, position, passages.characters, {{folded}} AS folded,
      passages.ctid AS place, documents.source, documents.path {_FROM}
    WHERE {{covered}} {_ORDER} LIMIT :head
  ) AS first WHERE {{is_in}} LIMIT :most"""
_WHOLE_HEAD = f"""SELECT passages.id, document_id, passages.position, folded,
  documents.source, documents.path {_FROM} WHERE {{covered}} {_ORDER} LIMIT :head"""
_BY_INDEX = """SELECT id, document_id, position, ctid AS place FROM passages
  WHERE {is_in} AND {gate} LIMIT :bound"""
_OF_DOCUMENTS = "document_id IN (SELECT documents.id FROM documents WHERE {covered})"
# With “OFFSET 0” it is planned on its own: for the limit around it, its index would be left aside.
_WITH_GRAMS = """SELECT document_id FROM document_grams
  WHERE grams @> CAST(:grams AS int[]) OFFSET 0"""
# A row that has not moved, as none does in one state of the database.
_NOT_PASSED = """(id = ANY(CAST(:passed_ids AS bigint[]))
  OR (place > CAST(:passed_last AS tid) AND {is_in}))"""
_COVERED = """SELECT found.id, document_id, documents.source, documents.path, found.position
  FROM found JOIN documents ON documents.id = document_id WHERE {covered}"""


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

    @property
    def is_indexed(self) -> bool:
        """Whether the trigram index is of use."""
        return self.needle.indexed() is not None

    def covers_document(self) -> Condition:
        """That a row of `documents` is to be searched."""
        covered = self.scope.covers(self.visible)
        if self.start is None:
            return covered
        place = {"start_source": self.start.source, "start_path": self.start.path}
        behind = Condition(f"{_PLACE} >= (:start_source, :start_path)", place)
        return all_of((covered, behind))

    def until(self, end: tuple[str, str] | None) -> Condition:
        """That a row of `documents` may hold the needle, and does not come after `end`."""
        conditions = [self.covers_document()]
        if end is not None:
            place = {"end_source": end[0], "end_path": end[1]}
            conditions.append(Condition(f"{_PLACE} <= (:end_source, :end_path)", place))
        grams = self.grams()
        if grams != ALWAYS:
            # “IS TRUE” keeps the planner from looking up one document after the other.
            conditions.append(Condition(f"(documents.id IN ({_WITH_GRAMS})) IS TRUE", grams.values))
        return all_of(conditions)

    def covers_passage(self, position: str = "passages.position") -> Condition:
        """That a passage of such a document is not before the start."""
        if self.start is None:
            return ALWAYS
        values = {
            "start_source": self.start.source,
            "start_path": self.start.path,
            "start_position": self.start.position,
        }
        return Condition(
            f"({position} >= :start_position OR {_PLACE} <> (:start_source, :start_path))", values
        )

    def grams(self) -> Condition:
        """That the column `document_id` names a document with the grams of what has no trigram."""
        is_of_use = not self.is_indexed and self.scope.path is None
        wanted = self.needle.grams() if is_of_use else []
        return Condition(f"document_id IN ({_WITH_GRAMS})", {"grams": wanted}) if wanted else ALWAYS


@dataclass(frozen=True)
class Passed:
    """What the index gave: all that is in the table up to the row `last`, in the table's order.

    The row `furthest` is the last of those that make the first page in catalog order.
    """

    ids: Sequence[int] = ()
    last: str | None = None
    furthest: str | None = None


@dataclass(frozen=True)
class Reach:
    """How many passages are looked at: first in catalog order, then as the index gives them.

    None means all of them. In order, `end` is the last document to look at, and what the index has
    `passed` in the same state of the database is not read again.
    """

    head: int | None = 0
    bound: int | None = 0
    end: tuple[str, str] | None = None
    passed: Passed | None = None
    # Whether all hits at the head are counted: so the total hardly depends on the page.
    counts: bool = False


@dataclass(frozen=True)
class Selection:
    """An SQL query for passages, and the values of the names in it."""

    sql: str
    values: Mapping[str, Any]


def in_order(query: Query, columns: str, reach: Reach) -> Selection:
    """The first `:most` passages with the needle, of the first `:head` in catalog order.

    The scan ends when enough are found.
    """
    documents = query.until(reach.end) if reach.head is None else query.covers_document()
    covered = all_of((documents, query.covers_passage()))
    is_in, folded = query.needle.is_in(), _DECOMPRESSED
    if (passed := reach.passed) is not None:
        # Few are read.
        folded = "folded"
        known = {"passed_ids": list(passed.ids), "passed_last": passed.last}
        is_in = Condition(_NOT_PASSED.format(is_in=is_in.sql), {**is_in.values, **known})
    sql = _IN_ORDER.format(columns=columns, folded=folded, covered=covered.sql, is_in=is_in.sql)
    return Selection(sql, {**covered.values, **is_in.values})


def whole_head(query: Query) -> Selection:
    """The first `:head` passages in catalog order, with the needle or without."""
    covered = all_of((query.covers_document(), query.covers_passage()))
    return Selection(_WHOLE_HEAD.format(covered=covered.sql), covered.values)


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
