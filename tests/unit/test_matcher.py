"""Regular expressions, line by line."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidPattern
from app.search.lines import split_lines
from app.search.matcher import Matcher


def numbers(expression: str, text: str, *, case_sensitive: bool = False) -> list[int]:
    matcher = Matcher(expression, case_sensitive=case_sensitive)
    return [match.number for match in matcher.matches(text)]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("^beta$", [2]),
        ("alpha$", [1, 3]),
        ("(?s)a.*b", []),
        ("(?m)^", [1, 2, 3, 4]),
        ("^", [1, 2, 3, 4]),
        ("$", [1, 2, 3, 4]),
        (r"\z", [1, 2, 3, 4]),
        (r"\Aalpha", [1, 3]),
        (r"(?-m)^beta", [2]),
        ("x*", [1, 2, 3, 4]),
        (r"\s", []),
        ("[^a-z]", []),
        ("^$", [4]),
        ("ALPHA", [1, 3]),
    ],
)
def test_an_expression_sees_one_line_at_a_time(expression: str, found: list[int]) -> None:
    assert numbers(expression, "alpha\nbeta\nalpha\n\n") == found


def test_the_empty_text_has_no_line() -> None:
    assert numbers("x*", "") == []
    assert numbers("x*", "\n") == [1]


def test_case_can_matter() -> None:
    assert numbers("É", "é\nÉ", case_sensitive=True) == [2]
    assert numbers("É", "é\nÉ") == [1, 2]


def test_ranges_count_code_points() -> None:
    (match,) = Matcher("b+").matches("é北b👍bb\n")
    assert match.ranges(100) == ((2, 3), (4, 6))


def test_ranges_of_a_long_line_take_one_pass() -> None:
    line = "é " * 20_000
    (match,) = Matcher("é").matches(line)
    assert match.ranges(40_000)[-1] == (39_998, 39_999)
    assert {(at, at + 1) for at in range(0, 12, 2)} <= set(match.ranges(10))
    assert len(match.ranges(10)) < 20
    (empty,) = Matcher("x*").matches("é北")
    assert empty.ranges(10)[0] == (0, 0)


@pytest.mark.parametrize(
    "expression",
    [
        r"a\C",
        "",
        "(",
        "[z-a]",
        r"(a)\1",
        "a**",
        "((a{1,100}){1,100}){1,100}",
        "x" * 100_000,
        "\ud800",
    ],
)
def test_what_is_no_expression_is_refused_with_the_reason(expression: str) -> None:
    with pytest.raises(InvalidPattern, match="expression"):
        Matcher(expression)


@pytest.mark.parametrize("expression", ["a\nb", r"alpha\nbeta", r"a\n"])
def test_an_expression_over_lines_is_answered_with_the_rule(expression: str) -> None:
    with pytest.raises(InvalidPattern, match="per line"):
        Matcher(expression)


def test_nested_repetition_takes_linear_time() -> None:
    begun = time.process_time()
    assert numbers("(a+)+$", "a" * 1_000 + "b") == []
    short = time.process_time() - begun
    begun = time.process_time()
    assert numbers("(a+)+$", "a" * 100_000 + "b") == []
    assert time.process_time() - begun < 1_000 * max(short, 0.001)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["a", "a|b", "^a", "b$", "a+b", "[ab]c", "^$", "c*", r"\ba", "a.c"]),
    st.text("abc \né", max_size=30),
)
def test_one_pass_over_a_text_finds_what_each_line_alone_has(expression: str, text: str) -> None:
    lines = enumerate(split_lines(text), start=1)
    alone = [number for number, line in lines if numbers(expression, f"{line}\n")]
    assert numbers(expression, text) == alone
