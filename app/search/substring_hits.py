"""The hits in the passages that a search for a fixed string has found."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Row

from app.search.fold import searchable
from app.search.lines import Stretch, occurrences, split_lines, window
from app.search.page import Page
from app.search.result import Hit


def first_hits(pattern: str, page: Page, rows: Sequence[Row[Any]]) -> Iterator[Hit]:
    """Up to one more than the page holds, and those of its first passage that come before it."""
    behind = 0
    for hit in _hits_of(pattern, rows, page.width):
        yield hit
        behind += page.after is None or hit.comes_after(page.after)
        if behind > page.limit:
            return


def _hits_of(pattern: str, rows: Sequence[Row[Any]], width: int) -> Iterator[Hit]:
    for row in rows:
        for number, line, start in _matching_lines(pattern, row):
            shown = window(line, start, start + len(pattern), width)
            yield Hit(
                source=row.source,
                path=row.path,
                line=int(row.lines_before) + number,
                column=start + 1,
                ranges=_ranges(pattern, shown, start),
                shown=shown,
            )


def _matching_lines(pattern: str, row: Row[Any]) -> Iterator[tuple[int, Stretch, int]]:
    """The number within the passage, the line, and where in it the first match begins."""
    if row.match is not None:
        yield 1, Stretch(row.text.removesuffix("\n"), row.start, row.length), row.match
    elif row.text is not None:
        folded = split_lines(searchable(row.text))
        for number, line in enumerate(folded, start=1):
            if (start := line.find(pattern)) >= 0:
                whole = split_lines(row.text)[number - 1]
                yield number, Stretch.whole(whole), start


def _ranges(pattern: str, shown: Stretch, start: int) -> tuple[tuple[int, int], ...]:
    """The first match, and the others that are shown whole."""
    first = (start, start + len(pattern))
    others = occurrences(searchable(shown.text), pattern, first[1] - shown.start)
    return (first, *((shown.start + one, shown.start + end) for one, end in others))
