"""Citations as the model writes them, and what is quoted beside them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.documents.names import check_path
from app.errors import BadPath
from app.rag.quotations import plain_words, stands_in
from app.rag.references import Place, find_references


def places(text: str) -> list[tuple[str, str, int, int]]:
    found = (reference.place for reference in find_references(text))
    return [(place.source, place.path, place.first_line, place.last_line) for place in found]


def quotes(text: str) -> list[tuple[str, ...]]:
    return [reference.quotes for reference in find_references(text)]


@pytest.mark.parametrize(
    ("written", "path", "first", "last"),
    [
        ("[s/a.md:12]", "a.md", 12, 12),
        ("[s/a.md:12-18]", "a.md", 12, 18),
        ("[s/a.md:12–18]", "a.md", 12, 18),
        ("[s/deep/er/a b (1).md:3]", "deep/er/a b (1).md", 3, 3),
        ("[s/a:1:2.md:3]", "a:1:2.md", 3, 3),
        ("[s/src/__init__.py:3]", "src/__init__.py", 3, 3),
        ("[s/*a* [b.md:3]", "*a* [b.md", 3, 3),
        ("[s/a%5D.md:3]", "a].md", 3, 3),
        ("[s/a%255D 100% %20.md:3]", "a%5D 100% %20.md", 3, 3),
        ("[s/a; b, c.md:3]", "a; b, c.md", 3, 3),
        ("[s/e\u0301.md:3]", "\u00e9.md", 3, 3),
    ],
)
def test_a_citation_names_source_path_and_lines(
    written: str, path: str, first: int, last: int
) -> None:
    assert places(f"So it is {written}.") == [("s", path, first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "[s/a.md]",
        "[a.md:3]",
        "[s/a.md:0]",
        "[s/a.md:5-3]",
        "[s/a.md:3-]",
        "[s/../a.md:3]",
        "[s//a.md:3]",
        "[../a.md:3]",
        "[ö/a.md:3]",
        "[s/a\n.md:3]",
        "[s/a.md:3",
        "[http://host:80]",
        "[s/a.md:9999999999]",
        r"\[s/a.md:3]",
        "![s/a.md:3](https://host.invalid/x.png)",
        "`[s/a.md:3]`",
        "`` ` [s/a.md:3] ``",
        "```\n[s/a.md:3]\n```",
        "- ~~~\n  [s/a.md:3]",
        "````\n```\n[s/a.md:3]\n````",
    ],
)
def test_what_is_malformed_escaped_an_image_or_code_is_no_citation(text: str) -> None:
    assert places(text) == []


def test_code_ends_where_its_fence_or_paragraph_ends() -> None:
    assert places("```\nx\n```\n[s/a:1] and ` open\n\n[s/a:2] `") == [
        ("s", "a", 1, 1),
        ("s", "a", 2, 2),
    ]


def test_one_bracket_may_hold_several_citations() -> None:
    expected = [("s", "a", 1, 1), ("t", "b", 2, 3), ("t", "b", 5, 5)]
    assert places("[s/a:1; t/b:2-3, 5]") == expected


def test_offsets_are_those_of_the_bracket() -> None:
    text = "`[x/y:1]` so [s/a:1; s/b:2] and [s/c:3]"
    found = [text[reference.start : reference.end] for reference in find_references(text)]
    assert found == ["[s/a:1; s/b:2]", "[s/a:1; s/b:2]", "[s/c:3]"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('It says "one two" [s/a:1].', [("one two",)]),
        ("Es heißt „eins“, «zwei» und »drei« [s/a:1].", [("eins", "zwei", "drei")]),
        ("It’s ‘that’s it’, isn’t it [s/a:1]?", [("that’s it",)]),
        ("“x” [s/a:1]. 「y」です[s/b:2]。", [("x",), ("y",)]),
        ('"One." [s/a:1] Then "two." [s/b:2]', [("One.",), ("two.",)]),
        ('He said "A. B." in [s/a:1]', [("A. B.",)]),
        ('"One". [s/a:1] Two [s/b:2].', [("One",), ()]),
        ('"One", e.g. this [s/a:1].', [("One",)]),
        ('This is it. "one" [s/a:1]', [("one",)]),
        ('"Two". "one" [s/a:1]', [("one",)]),
        ('"One" [s/a:1] and "two" [s/b:2].', [("One", "two"), ("One", "two")]),
        ('- "one" [s/a:1]\n- two [s/b:2]', [("one",), ()]),
        ('| "one" | [s/a:1] |\n| two | [s/b:2] |', [("one",), ()]),
        ('# "Title"\nText [s/a:1]', [()]),
        ('"one\n\ntwo" [s/a:1]', [()]),
        ('`"code"` [s/a:1]', [()]),
        ('"a `code` b" [s/a:1]', [("a `code` b",)]),
        ('["x"] "one [s/a"b:1] two" ""', [("x", "one           two")]),
    ],
)
def test_quotes_are_those_of_the_same_sentence(text: str, expected: list[tuple[str, ...]]) -> None:
    assert quotes(text) == expected


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("The  LIMIT\nis 90", "so the limit is\n90 s"),
        ("ninety seconds.", "about ninety seconds in all"),
        ("one … three", "one two three"),
        ("one [...] three", "one two three"),
        ("**90** s", "is 90 s"),
        ("is 90 s", "is **90** `s`"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("限制", "重试限制是"),
    ],
)
def test_quoted_words_stand_in_a_text_whatever_the_case_blanks_and_emphasis(
    quote: str, text: str
) -> None:
    assert stands_in(quote, plain_words(text))


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("9", "it is 90"),
        ("able", "unable"),
        ("two … one", "one two"),
        ("one two", "one and two"),
        ("retry_budget", "retrybudget"),
    ],
)
def test_other_words_or_parts_of_words_do_not_stand_in_it(quote: str, text: str) -> None:
    assert not stands_in(quote, plain_words(text))


_PIECES = [
    "[",
    "]",
    "s/a",
    ":1",
    "-2",
    "; ",
    "`",
    "```",
    "\n",
    '"',
    "“",
    "”",
    ". ",
    "\\",
    "A",
    "!",
    "(",
]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_whatever_the_text_citations_come_in_order_and_inside_of_it(text: str) -> None:
    found = find_references(text)
    assert [reference.start for reference in found] == sorted(r.start for r in found)
    for reference in found:
        assert text[reference.start] == "["
        assert text[reference.end - 1] == "]"


def _is_path(path: str) -> bool:
    try:
        return check_path(path)[0] == path
    except BadPath:
        return False


@settings(max_examples=100, deadline=None)
@given(
    st.text("abc]%5D[: ;,.()*_é", min_size=1, max_size=12).filter(_is_path),
    st.integers(1, 9_999),
)
def test_any_path_can_be_cited(path: str, line: int) -> None:
    written = path.replace("%5D", "%255D").replace("]", "%5D")
    assert [r.place for r in find_references(f"[s/{written}:{line}]")][:1] == [
        Place("s", path, line, line)
    ]
