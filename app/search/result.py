"""What a search found."""

from dataclasses import dataclass

from app.search.lines import Stretch


@dataclass(frozen=True)
class Hit:
    """A line that matches, once; 1-based `line` and `column`.

    `shown` is the part of the line to show, `ranges` the matches in it, counted in code points from
    the beginning of the line, ends excluded; the first may reach beyond what is shown.
    """

    source: str
    path: str
    line: int
    column: int
    ranges: tuple[tuple[int, int], ...]
    shown: Stretch

    @property
    def text(self) -> str:
        return self.shown.text

    @property
    def text_start(self) -> int:
        return self.shown.start

    def as_grep(self) -> str:
        return f"{self.source}/{self.path}:{self.line}: {self.shown.marked}"


@dataclass(frozen=True)
class SearchResult:
    """The first hits in catalog order; `total` counts lines.

    When `total_is_exact` is false, `total` and `documents_matched` are only what is sure to exist,
    and more than what is shown.
    """

    hits: tuple[Hit, ...]
    total: int
    total_is_exact: bool
    documents_matched: int
    documents_searched: int

    @property
    def truncated(self) -> bool:
        return self.total > len(self.hits)
