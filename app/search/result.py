"""What a search found, and how it looks as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from app.search.lines import Stretch
from app.search.page import Cursor


@dataclass(frozen=True)
class ContextLine:
    """A line near a match, as much of it as is shown."""

    line: int
    shown: Stretch


@dataclass(frozen=True)
class Hit:
    """A line that matches, once; 1-based `line` and `column`, which a matching path has not.

    `shown` is the part of the line to show, `ranges` the matches in it, counted in code points from
    the beginning of the line, ends excluded; the first may reach beyond what is shown.
    """

    source: str
    path: str
    line: int | None
    column: int | None
    ranges: tuple[tuple[int, int], ...]
    shown: Stretch
    before: tuple[ContextLine, ...] = ()
    after: tuple[ContextLine, ...] = ()

    @property
    def text(self) -> str:
        return self.shown.text

    @property
    def text_start(self) -> int:
        return self.shown.start

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.source, self.path, self.line or 0)

    def comes_after(self, cursor: Cursor) -> bool:
        place = (self.source, self.path, self.line or 0)
        return place > (cursor.source, cursor.path, cursor.line)

    def as_grep(self) -> str:
        name = f"{self.source}/{self.path}"
        return name if self.line is None else f"{name}:{self.line}: {self.shown.marked}"


@dataclass(frozen=True)
class SearchResult:
    """Hits in catalog order; `total` counts lines, `next` is where the following page begins.

    When `total_is_exact` is false, `total` and `documents_matched` are only what is sure to exist.
    """

    hits: tuple[Hit, ...]
    total: int
    total_is_exact: bool
    documents_matched: int
    documents_searched: int
    documents_skipped: int = 0
    next: str | None = None

    @property
    def truncated(self) -> bool:
        """Whether there are more matches behind the last hit."""
        return self.next is not None


def as_grep(hits: Sequence[Hit]) -> list[str]:
    """The hits as grep prints them: each line once, `--` between lines that are apart."""
    lines: list[str] = []
    has_context = any(hit.before or hit.after for hit in hits)
    for _, of_document in groupby(hits, key=attrgetter("source", "path")):
        numbered = _numbered(list(of_document))
        for number in sorted(numbered):
            if has_context and lines and number - 1 not in numbered:
                lines.append("--")
            lines.append(numbered[number])
    return lines


def _numbered(hits: Sequence[Hit]) -> dict[int, str]:
    """The lines of a document by their numbers: what is near one match may be another."""
    nearby = {
        near.line: f"{hit.source}/{hit.path}-{near.line}- {near.shown.marked}"
        for hit in hits
        for near in (*hit.before, *hit.after)
    }
    return nearby | {hit.line or 0: hit.as_grep() for hit in hits}
