"""Passages that were found: where they stand, what they say, and which of them fit a budget."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from app.rag.focus import focus
from app.search.lines import split_lines

# The model sees a longer line cut to this many characters.
LINE_WINDOW = 1_500
# Room for the words that say what is left out.
_PART = LINE_WINDOW - 60


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
    # Of an overlong line the model gets a part.
    is_whole: bool = True
    document_id: int = 0
    title: str = ""

    def scored(self, score: float, coverage: float, similarity: float | None) -> "Found":
        return replace(
            self,
            score=round(score, 4),
            coverage=round(coverage, 4),
            similarity=None if similarity is None else round(similarity, 4),
        )

    def focused(self, weights: Mapping[str, float]) -> "Found":
        """The same with only the part of an overlong line that has the weightiest words."""
        line = self.text.removesuffix("\n")
        if len(line) <= LINE_WINDOW or "\n" in line:
            return self
        start = focus(line, weights, _PART)
        return replace(self, text=_part(line, start), is_whole=False)

    def numbered(self) -> str:
        """The text as `12: line`, so that nothing in it can pass for a line of the prompt."""
        numbers = range(self.first_line, self.last_line + 1)
        return "\n".join(
            f"{number}: {line}"
            for number, line in zip(numbers, split_lines(self.text), strict=False)
        )


def _part(line: str, start: int) -> str:
    end = start + _PART
    before = "…" if start else ""
    behind = f"… (read_document goes on with start_column={end + 1})" if end < len(line) else ""
    return f"{before}{line[start:end]}{behind}"


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
        # Of an overlong line a part was loaded, without its end.
        text=one.text.removesuffix("\n") + "\n" + other.text,
        score=max(one.score, other.score),
        coverage=max(one.coverage, other.coverage),
        is_whole=one.is_whole and other.is_whole,
    )
