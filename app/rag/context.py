"""The answer context: which lines of which documents the model has in full."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from app.rag.passages import Found


@dataclass(frozen=True)
class Range:
    """Lines `first`-`last` (1-based, inclusive) of a document."""

    source: str
    path: str
    first: int
    last: int


@dataclass
class Context:
    """Ranges per document, in order, neither overlapping nor touching."""

    _lines: dict[tuple[str, str], list[tuple[int, int]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[int, int]]]
    )

    @classmethod
    def of(cls, passages: Iterable[Found]) -> Self:
        context = cls()
        for passage in passages:
            if not passage.is_whole:
                continue
            context.add(Range(passage.source, passage.path, passage.first_line, passage.last_line))
        return context

    def add(self, added: Range) -> None:
        key = (added.source, added.path)
        merged: list[tuple[int, int]] = []
        for first, last in sorted([*self._lines.get(key, ()), (added.first, added.last)]):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        self._lines[key] = merged

    def covers(self, wanted: Range) -> bool:
        """Whether all of the lines `wanted` are in the context."""
        ranges = self._lines.get((wanted.source, wanted.path), ())
        return any(first <= wanted.first and wanted.last <= last for first, last in ranges)
