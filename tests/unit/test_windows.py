"""Windows: all of a passage, in parts that an embedding model reads whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.rag.windows import MOST_WINDOWS, WINDOW_CHARACTERS, windows

WORDS = st.lists(st.text("abc.é \n", min_size=1, max_size=60), max_size=400).map("".join)


@settings(max_examples=40, deadline=None)
@given(WORDS)
def test_windows_hold_everything_of_a_passage_in_order(text: str) -> None:
    text = text[: WINDOW_CHARACTERS * MOST_WINDOWS]
    assert "".join("".join(windows(text)).split()) == "".join(text.split())


@settings(max_examples=40, deadline=None)
@given(WORDS)
def test_windows_are_few_and_of_about_the_same_length(text: str) -> None:
    cut = windows(text)
    assert 1 <= len(cut) <= MOST_WINDOWS
    assert all(len(window) < 2 * WINDOW_CHARACTERS for window in cut)


def test_a_short_passage_is_one_window() -> None:
    assert windows("# Ports\n\nIt listens on 8443.\n") == ["# Ports\n\nIt listens on 8443."]


def test_a_window_ends_at_the_end_of_a_line_where_it_can() -> None:
    line = "word " * 25 + "end"
    assert all(window.endswith("end") for window in windows(f"{line}\n" * 9))


def test_nothing_to_read_is_one_empty_window() -> None:
    assert windows(" \n\n") == [""]


def test_of_a_very_long_line_only_the_beginning_counts() -> None:
    assert len(windows("x" * 1_000_000)) == MOST_WINDOWS
