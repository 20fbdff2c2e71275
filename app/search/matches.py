"""The matches of a regular expression, as they come in: those to show, and how many there are."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from app.errors import TooSlow
from app.search.contents import Content
from app.search.lines import Stretch, window
from app.search.matcher import LineMatch, Matcher
from app.search.page import Page
from app.search.planner import TOO_SLOW
from app.search.query import Start
from app.search.result import Hit

_PIECE = 1024 * 1024


@dataclass(frozen=True)
class Candidate:
    """A passage that may match, and its text."""

    id: int
    source: str
    path: str
    position: int
    text: str


@dataclass
class Matches:
    """The first matches in catalog order: texts must come in that order.

    `hits` of passages have line numbers within the passage, until `numbered`. `last` is the
    document of the last match; `looked_at` counts the passages.
    """

    matcher: Matcher
    page: Page
    deadline: float
    start: Start | None = None
    hits: list[Hit] = field(default_factory=list[Hit])
    passages: list[int] = field(default_factory=list[int])
    total: int = 0
    documents: int = 0
    behind: int = 0
    looked_at: int = 0
    last: tuple[str, str] | None = None

    @property
    def is_enough(self) -> bool:
        """Whether nothing more has to be known: there is a page, and a match behind it."""
        return self.behind > self.page.limit and not self.page.exact

    def in_documents(self, contents: Iterable[Content]) -> None:
        """Match whole documents; slow, so call it in a thread. Raises `TooSlow`."""
        for content in contents:
            for found in self._in_text(content.text):
                self._count(content.source, content.path)
                after = self.page.after
                place = (content.source, content.path, found.number)
                if after is None or place > (after.source, after.path, after.line):
                    self._show(content, found)
                if self.is_enough:
                    return

    def in_passages(self, candidates: Iterable[Candidate]) -> None:
        """Match passages; slow, so call it in a thread. Raises `TooSlow`."""
        for candidate in candidates:
            self.looked_at += 1
            for found in self._in_text(candidate.text):
                self._count(candidate.source, candidate.path)
                if self._is_behind_start(candidate, found.number):
                    self._show(candidate, found)
                if self.is_enough:
                    return

    def numbered(self, lines_before: dict[int, int]) -> list[Hit]:
        """The hits, with the numbers of their lines: given the lines before each passage."""
        if not self.passages:
            return self.hits
        pairs = zip(self.hits, self.passages, strict=True)
        return [replace(hit, line=lines_before[key] + (hit.line or 0)) for hit, key in pairs]

    def give_up(self) -> None:
        """Make what is matched in another thread stop."""
        self.deadline = 0

    def _in_text(self, text: str) -> Iterator[LineMatch]:
        offset = 0
        for piece in _pieces(text):
            for found in self.matcher.matches(piece):
                self._check_time()
                yield replace(found, number=offset + found.number) if offset else found
            self._check_time()
            offset += piece.count("\n")

    def _check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise TooSlow(TOO_SLOW)

    def _count(self, source: str, path: str) -> None:
        self.total += 1
        if self.last != (source, path):
            self.last = (source, path)
            self.documents += 1

    def _is_behind_start(self, candidate: Candidate, number: int) -> bool:
        if self.start is None or self.page.after is None:
            return True
        begin = (self.start.source, self.start.path, self.start.position)
        place = (candidate.source, candidate.path, candidate.position)
        is_same_passage = place == begin
        return place > begin or (
            is_same_passage and self.start.lines_before + number > self.page.after.line
        )

    def _show(self, where: Candidate | Content, found: LineMatch) -> None:
        self.behind += 1
        if len(self.hits) < self.page.limit:
            self.hits.append(_hit(where.source, where.path, found, self.page.width))
            if isinstance(where, Candidate):
                self.passages.append(where.id)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that end at line ends, so that the clock is looked at now and then."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE) + 1 if len(text) - start > _PIECE else len(text)
        yield text[start : end or len(text)]
        start = end or len(text)


def _hit(source: str, path: str, found: LineMatch, width: int) -> Hit:
    # The part that is shown has the first match, so it ends within its width behind it.
    ranges = found.ranges(width)
    start, end = ranges[0]
    shown = window(Stretch.whole(found.line), start, end, width)
    visible = tuple(one for one in ranges[1:] if one[0] >= shown.start and one[1] <= shown.end)
    return Hit(source, path, found.number, start + 1, ((start, end), *visible), shown)
