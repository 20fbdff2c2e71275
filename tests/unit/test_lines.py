"""Lines, the pure matcher, and the cutting of long lines."""

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from app.search.lines import Match, Stretch, grep_document, split_lines, take, window

FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇩🇪"
CLUSTERS = ["a", " ", "é", "e\u0301\u0323", FAMILY, FLAG, "👍🏽", "각", "กำ", "क्ष", "❤️"]


def shown(line: str, match: str) -> str:
    start = line.index(match)
    return window(Stretch.whole(line), start, start + len(match)).marked


def test_only_a_newline_ends_a_line() -> None:
    text = "one\ntwo\x0cstill two\nthr\u2028ee\nfo\x85ur\nfi\x0bve\n"
    assert split_lines(text) == ["one", "two\x0cstill two", "thr\u2028ee", "fo\x85ur", "fi\x0bve"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("\na", ["", "a"]),
    ],
)
def test_a_last_newline_opens_no_further_line(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


def test_a_line_matches_once_with_all_its_ranges() -> None:
    assert grep_document("none\naXbx x\n", "x") == [Match(2, 2, ((1, 2), (3, 4), (5, 6)))]


def test_matches_do_not_overlap() -> None:
    assert grep_document("aaaaa", "aa") == [Match(1, 1, ((0, 2), (2, 4)))]


@pytest.mark.parametrize("pattern", ["", "a\nb", "zz"])
def test_what_stands_in_no_line_has_no_matches(pattern: str) -> None:
    assert grep_document("a\nb\n", pattern) == []


def test_a_decomposed_pattern_finds_composed_text() -> None:
    assert grep_document("caf\u00e9", "CAFE\u0301") == [Match(1, 1, ((0, 4),))]


@pytest.mark.parametrize("length", [199, 200])
def test_a_line_that_fits_is_shown_without_marks(length: int) -> None:
    line = "x" + "a" * (length - 1)
    assert shown(line, "x") == line


def test_a_match_within_the_first_200_shows_exactly_those() -> None:
    assert shown("a" * 197 + "END" + "b", "END") == "a" * 197 + "END…"


def test_a_match_across_the_first_200_gets_a_window_around_it() -> None:
    assert shown("a" * 198 + "END" + "b" * 300, "END") == f"…{'a' * 98}END{'b' * 99}…"


def test_a_match_far_along_a_line_is_marked_on_both_sides() -> None:
    line = "a" * 5000 + "NEEDLE" + "b" * 5000
    cut = shown(line, "NEEDLE")
    assert cut.startswith("…a")
    assert "NEEDLE" in cut
    assert cut.endswith("b…")
    assert len(cut) == 202


def test_a_match_at_the_end_is_not_marked_as_cut_behind_it() -> None:
    assert shown("a" * 500 + "END", "END") == f"…{'a' * 197}END"


def test_a_match_longer_than_the_window_shows_its_head() -> None:
    assert shown("b" * 50 + "a" * 300, "a" * 300) == f"…{'a' * 200}…"


@given(st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=40), st.data())
@settings(max_examples=150)
def test_no_window_splits_a_grapheme(clusters: list[str], data: st.DataObject) -> None:
    line = "".join(clusters)
    start = data.draw(st.integers(0, len(line) - 1))
    cut = window(Stretch.whole(line), start, start + 1, width=30)
    ends = {0, *(cluster.end() for cluster in regex.finditer(r"\X", line))}
    assert {cut.start, cut.end} <= ends
    assert len(cut.text) <= 30


def test_flags_are_never_taken_apart_however_many_stand_in_a_row() -> None:
    cut = take(Stretch.whole("a" + FLAG * 500), 602, 200)
    assert cut.text == FLAG * 100


def test_a_cluster_without_end_is_cut_all_the_same() -> None:
    cut = window(Stretch.whole("a" + "\u0301" * 5000), 0, 1)
    assert len(cut.text) == 200
