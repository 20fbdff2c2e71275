"""Which strings a regular expression requires, and that a matching line always holds them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.search.fold import fold
from app.search.literals import NOTHING, AllOf, AnyOf, Requirement, required
from app.search.matcher import Matcher

LETTERS = st.sampled_from(["a", "b", "K", "é", "σ", "\\.", "\\_", "-", " "])
ATOMS = st.one_of(
    LETTERS,
    st.sampled_from(
        [".", "[ab]", "[^a]", "[]b]", "\\d", "\\pL", "\\b", "\\Qa.b\\E", "(?i)", "x{,2}"]
    ),
)


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeats = st.sampled_from(["", "*", "+", "?", "{0,2}", "{2}", "{1,}", "*?"])
    groups = st.tuples(inner, repeats).map(lambda pair: f"({pair[0]}){pair[1]}")
    repeated = st.tuples(LETTERS, repeats).map("".join)
    return st.one_of(
        groups,
        repeated,
        st.lists(st.one_of(inner, repeated), max_size=4).map("".join),
        st.tuples(inner, inner).map("|".join),
    )


EXPRESSIONS = st.recursive(ATOMS, combined, max_leaves=12)
LINES = st.text("aAbBkKéÉσς.-_ x{,2}1", max_size=12)


def holds(line: str, requirement: Requirement) -> bool:
    if isinstance(requirement, str):
        return fold(requirement) in fold(line)
    each = (holds(line, part) for part in requirement.parts)
    return all(each) if isinstance(requirement, AllOf) else any(each)


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS.filter(bool), LINES)
def test_a_matching_line_holds_what_is_required(expression: str, line: str) -> None:
    if list(Matcher(expression).matches(line)):
        assert holds(line, required(expression))


@pytest.mark.parametrize(
    ("expression", "literals"),
    [
        ("retry_budget", "retry_budget"),
        (r"\bfoo\.bar\b", "foo.bar"),
        (r"\Qa+b\Ec", "a+bc"),
        ("fo+bar", AllOf(("fo", "bar"))),
        ("ab*c", AllOf(("a", "c"))),
        ("[[:alpha:]]+err_[0-9]{4}", "err_"),
        ("foo|bar", AnyOf(("foo", "bar"))),
        ("foo|b*", NOTHING),
        ("a{,3}", "a{,3}"),
        ("(todo|fixme):", AnyOf(("todo:", "fixme:"))),
        ("err(or)?_[a-z]", AnyOf(("error_", "err_"))),
        ("a(?i)*b", "b"),
        ("foo(?i)?b", AnyOf(("foob", "fob"))),
        (r"a+\Q\E*b", "b"),
        (r"a\Q\E{0}b", "b"),
        ("xyy(abc)(?s)* here", AllOf(("xyy", " here"))),
        ("https?://", AnyOf(("https://", "http://"))),
        ("(a|b)+c", AllOf((AnyOf(("a", "b")), "c"))),
        ("(a?b?c?d?e?)f", "f"),
        (r"\d+", NOTHING),
        ("|".join(["abc"] * 60), NOTHING),
    ],
)
def test_what_is_required(expression: str, literals: Requirement) -> None:
    assert required(expression) == literals


def test_a_group_that_may_end_in_anything_is_not_joined_with_what_follows() -> None:
    assert required("(a.*)b") == AllOf(("a", "b"))


def test_what_is_nested_deeply_requires_nothing() -> None:
    assert required("(?:" * 900 + "a" + ")" * 900) == NOTHING
