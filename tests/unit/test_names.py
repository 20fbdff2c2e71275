"""What sources and paths may be called."""

import unicodedata

import pytest

from app.documents.names import check_path, check_source
from app.errors import BadPath, BadSource


@pytest.mark.parametrize("name", ["acme", "a", "v1.2_x-Y", "...", "a" * 100])
def test_a_plain_name_is_a_source(name: str) -> None:
    assert check_source(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "é", "a" * 101, "a\n", "a\0"])
def test_any_other_name_is_no_source(name: str) -> None:
    with pytest.raises(BadSource):
        check_source(name)


@pytest.mark.parametrize(
    "path",
    [
        "guide/setup.md",
        ".hidden/h.md",
        "[draft] plan.md",
        "100%.txt",
        'a"b.txt',
        "...",
        "a/..b",
        "d" + "/d" * 300,
        "x" * 1024,
        "漢" * 341,
        "file\u202etxt.exe",
        "a:b",
    ],
)
def test_a_relative_path_stays_as_it_is(path: str) -> None:
    assert check_path(path) == (path, ())


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        (".", "“.”"),
        ("a/./b", "“.”"),
        ("a/../b.txt", "“..”"),
        ("../../etc/passwd", "“..”"),
        ("/etc/passwd", "relative"),
        ("C:/x", "relative"),
        ("C:\\x", "backslash"),
        ("..\\..\\x", "backslash"),
        ("a//b", "//"),
        ("foo/", "ends"),
        ("a\0.txt", "control"),
        ("a\r\nb", "control"),
        ("a\x85b", "control"),
        ("a\x7fb", "control"),
        ("x\ud83d", "surrogate"),
        ("x" * 1025, "1,024 bytes"),
        ("漢" * 342, "1,024 bytes"),
    ],
)
def test_a_path_that_is_none_is_refused_with_the_reason(path: str, reason: str) -> None:
    with pytest.raises(BadPath) as refusal:
        check_path(path)
    assert reason in refusal.value.detail
    refusal.value.detail.encode()


def test_a_decomposed_path_is_composed_and_reported() -> None:
    path, notices = check_path(unicodedata.normalize("NFD", "résumé.txt"))
    assert path == "résumé.txt"
    assert len(notices) == 1
