"""The answer context."""

from app.rag.context import Context, Range
from app.rag.passages import Found


def lines(first: int, last: int, path: str = "a.txt") -> Range:
    return Range("acme", path, first, last)


def holding(*ranges: Range) -> Context:
    context = Context()
    for added in ranges:
        context.add(added)
    return context


def test_an_empty_context_covers_nothing() -> None:
    assert not Context().covers(lines(1, 1))


def test_passages_given_at_the_start_are_covered() -> None:
    assert Context.of([Found("acme", "a.txt", 3, 9, "")]).covers(lines(4, 9))


def test_touching_and_overlapping_ranges_cover_what_spans_them() -> None:
    assert holding(lines(5, 8), lines(1, 2), lines(3, 6)).covers(lines(1, 8))


def test_a_gap_of_one_line_is_not_covered() -> None:
    assert not holding(lines(1, 2), lines(4, 6)).covers(lines(2, 4))


def test_a_range_within_a_larger_one_takes_nothing_away() -> None:
    assert holding(lines(1, 9), lines(2, 3)).covers(lines(1, 9))


def test_documents_are_kept_apart() -> None:
    assert not holding(lines(1, 9)).covers(lines(1, 9, "b.txt"))
