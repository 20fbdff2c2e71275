"""Which matches of a search are shown, and how."""

import re
from dataclasses import dataclass

from app.errors import InvalidRequest
from app.search.lines import SHOWN


@dataclass(frozen=True)
class Cursor:
    """A place in catalog order: a line of a document (from 1), or in lists of paths only that."""

    source: str
    path: str
    line: int = 0

    @classmethod
    def parse(cls, written: str, *, of_lines: bool = True) -> "Cursor":
        """The place that `written` names; raises `InvalidRequest`."""
        source, _, path = written.partition("/")
        line = "0"
        if of_lines:
            path, _, line = path.rpartition(":")
        if not source or not path or not re.fullmatch(r"[0-9]{1,9}", line):
            raise InvalidRequest("`after` is the `next` of the page before.")
        return cls(source, path, int(line))

    def __str__(self) -> str:
        return (
            f"{self.source}/{self.path}:{self.line}" if self.line else f"{self.source}/{self.path}"
        )


@dataclass(frozen=True)
class Page:
    """How many lines to return, of how many code points, from where, with how many around each.

    When `exact`, all matching lines are counted, however long that takes.
    """

    limit: int = 20
    width: int = SHOWN
    after: Cursor | None = None
    context: int = 0
    exact: bool = False


FIRST_PAGE = Page()
