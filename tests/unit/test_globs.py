"""The glob dialect, one rule at a time."""

import re

import pytest

from app.errors import InvalidPattern
from app.search.globs import to_regex

PATHS = ["top.md", "guide/setup.md", "guide/deep/x.md", ".hidden/h.md"]
ODD = ["[draft] plan.md", "{rule} one.md", "a,b.txt", "what?.txt", "100%.txt", "star*.txt"]


def matches(glob: str, paths: list[str]) -> list[str]:
    return [path for path in paths if re.search(to_regex(glob), path)]


@pytest.mark.parametrize("glob", ["**/*.md", "/**/*.md", "*.md", "**", "./*.MD", "/*"])
def test_every_folder_is_reached(glob: str) -> None:
    assert matches(glob, PATHS) == PATHS


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("guide/*.md", ["guide/setup.md"]),
        ("/guide/*.md", ["guide/setup.md"]),
        ("./guide/*.md", ["guide/setup.md"]),
        ("GUIDE/*.MD", ["guide/setup.md"]),
        ("guide/**", ["guide/setup.md", "guide/deep/x.md"]),
        ("guide/**/x.md", ["guide/deep/x.md"]),
        ("guide/**/setup.md", ["guide/setup.md"]),
        ("**/**/**/x.md", ["guide/deep/x.md"]),
        ("guide", []),
        ("acme:guide/*.md", []),
        ("{guide,.hidden}/*.md", ["guide/setup.md", ".hidden/h.md"]),
        ("guide/{setup,**/x}.md", ["guide/setup.md", "guide/deep/x.md"]),
        ("{to{p,x},h}.md", ["top.md", ".hidden/h.md"]),
        ("?.md", ["guide/deep/x.md", ".hidden/h.md"]),
        ("[!a-w].md", ["guide/deep/x.md"]),
        ("[A-H].md", [".hidden/h.md"]),
    ],
)
def test_folders_and_alternatives(glob: str, found: list[str]) -> None:
    assert matches(glob, PATHS) == found


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.{md,txt}", ODD),
        ("[draft]*", ["a,b.txt"]),
        ("[[]draft]*", ["[draft] plan.md"]),
        ("\\[draft\\]*", ["[draft] plan.md"]),
        ("{rule}*", ["{rule} one.md"]),
        ("a,*", ["a,b.txt"]),
        ("what[?].txt", ["what?.txt"]),
        ("star[*]*", ["star*.txt"]),
        ("100%.txt", ["100%.txt"]),
        ("*] PLAN*", ["[draft] plan.md"]),
    ],
)
def test_odd_names_can_be_matched(glob: str, found: list[str]) -> None:
    assert matches(glob, ODD) == found


@pytest.mark.parametrize(("glob", "path"), [("É*", "été"), ("σ", "ς"), ("k", "\u212a"), ("ж", "Ж")])
def test_case_is_simple_folding(glob: str, path: str) -> None:
    assert matches(glob, [path]) == [path]


@pytest.mark.parametrize(
    "glob",
    [
        "",
        "/",
        "[",
        "[]",
        "a[!]",
        "[z-a]*",
        "a[/]b",
        "x" * 1_001,
        "{" * 30 + "," + "}" * 30,
        "{*,**}" * 11,
    ],
)
def test_a_glob_that_is_none_is_refused_in_words(glob: str) -> None:
    with pytest.raises(InvalidPattern, match=r"glob"):
        to_regex(glob)


def test_no_class_reaches_across_a_folder() -> None:
    assert not matches("a[+-9]b*", ["a/b"])
    assert not matches("a[!x]b*", ["a/b"])
