"""What is looked for, in which documents, and from where on, as conditions on rows."""

from dataclasses import dataclass

from app.db.visible import Visible
from app.search.conditions import ALWAYS, Condition, all_of
from app.search.needles import Needle
from app.search.scope import Scope

_PLACE = "(documents.source, documents.path)"
# With “OFFSET 0” it is planned on its own: for the limit around it, its index would be left aside.
_WITH_GRAMS = """SELECT document_id FROM document_grams
  WHERE grams @> CAST(:grams AS int[]) OFFSET 0"""


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
