"""Passages that were found: where they stand, what they say, and which of them fit a budget."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from app.rag.focus import focus
from app.search.lines import split_lines

# The model sees a longer line cut to this many characters.
LINE_WINDOW = 1_500


@dataclass(frozen=True)
class Found:
    """A passage of `source/path`, lines `first_line`-`last_line` (1-based, inclusive)."""

    source: str
    path: str
    first_line: int
    last_line: int
    text: str
    score: float = 0.0
    coverage: float = 0.0
    similarity: float | None = None

    def scored(self, score: float, coverage: float, similarity: float | None) -> "Found":
        return replace(
            self,
            score=round(score, 4),
            coverage=round(coverage, 4),
            similarity=None if similarity is None else round(similarity, 4),
        )

    def focused(self, weights: Mapping[str, float]) -> "Found":
        """The same with only the part of a very long line that has the weightiest words."""
        if "\n" in self.text.rstrip("\n"):
            return self
        return replace(self, text=focus(self.text, weights, LINE_WINDOW))

    def numbered(self) -> str:
        """The text as `12: line`, so that nothing in it can pass for a line of the prompt."""
        numbers = range(self.first_line, self.last_line + 1)
        return "\n".join(
            f"{number}: {_cut(line)}"
            for number, line in zip(numbers, split_lines(self.text), strict=False)
        )


def _cut(line: str) -> str:
    return line if len(line) <= LINE_WINDOW else f"{line[:LINE_WINDOW]}…"


def best_within(passages: Iterable[Found], budget: int) -> list[Found]:
    """The best passages that fit `budget` characters, neighbours joined, best first."""
    chosen: list[Found] = []
    for passage in passages:
        cost = len(passage.numbered())
        if chosen and cost > budget:
            break
        budget -= cost
        chosen.append(passage)
    return _joined(chosen)


def _joined(passages: list[Found]) -> list[Found]:
    """Join what stands directly one after the other; a group keeps the place of its best."""
    place = {(p.source, p.path, p.first_line): rank for rank, p in enumerate(passages)}
    groups: list[tuple[int, Found]] = []
    for passage in sorted(passages, key=lambda p: (p.source, p.path, p.first_line)):
        rank = place[passage.source, passage.path, passage.first_line]
        if groups and _adjoins(groups[-1][1], passage):
            earlier, group = groups.pop()
            groups.append((min(earlier, rank), _join(group, passage)))
        else:
            groups.append((rank, passage))
    return [group for _, group in sorted(groups, key=lambda ranked: ranked[0])]


def _adjoins(one: Found, other: Found) -> bool:
    return (one.source, one.path, one.last_line + 1) == (other.source, other.path, other.first_line)


def _join(one: Found, other: Found) -> Found:
    return replace(
        one,
        last_line=other.last_line,
        text=one.text + other.text,
        score=max(one.score, other.score),
        coverage=max(one.coverage, other.coverage),
    )
