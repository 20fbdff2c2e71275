"""Signatures of documents, and the marks that patterns look for in them."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.documents.signature import document_signature
from app.search.fold import searchable
from app.search.signature import MOST_BITS, marks

TEXTS = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("aqzé\n👍")))


def has(signature: bytes, mark: int) -> bool:
    """What the condition of app/search/needles.py asks of PostgreSQL."""
    bit = mark & (8 * len(signature) - 1)
    return bool(signature[bit // 8] >> bit % 8 & 1)


def may_hold(text: str, pattern: str) -> bool:
    signature = document_signature(searchable(text))
    return all(has(signature, mark) for mark in marks(searchable(pattern), 6))


@settings(deadline=None)  # the first one loads NumPy
@given(TEXTS, st.integers(0, 50), st.integers(1, 12))
def test_a_document_has_the_marks_of_all_that_stands_in_its_lines(
    text: str, at: int, length: int
) -> None:
    text = text.replace("\0", "")
    pattern = text[at : at + length]
    if "\n" not in pattern:
        assert may_hold(text, pattern)


@pytest.mark.parametrize("at", [2**20 - 3, 2**20 - 2, 2**20 - 1, 2**20])
def test_a_large_text_loses_no_run(at: int) -> None:
    assert may_hold("z" * at + "qxj" + "z" * 10, "qxj")


@pytest.mark.parametrize("pattern", ["needle", "qz", "§", "catsits", "北京"])
def test_what_stands_in_no_line_is_ruled_out(pattern: str) -> None:
    assert not may_hold("An ordinary line about dogs.\nthe cat\nsits on a mat\n", pattern)


def test_runs_do_not_reach_over_line_ends() -> None:
    assert may_hold("abc", "abc")
    assert not may_hold("a\nb\nc", "abc")


def test_the_size_follows_from_what_there_is_to_tell_apart() -> None:
    assert len(document_signature("")) == len(document_signature("a line " * 10_000)) == 64
    varied = "".join(map(chr, range(0x4E00, 0x9F00)))
    assert len(document_signature(varied[:300])) == 256
    assert len(document_signature(varied)) == 16_384
    random = "".join(Random(0).choices(varied, k=100_000))
    assert len(document_signature(random)) == MOST_BITS // 8


def test_the_rarest_letters_are_looked_for_first() -> None:
    assert marks("the fizz", 1) == marks("izz", 1)
    assert len(marks(searchable("a rather long pattern"), 6)) == 6
    assert marks("aaaaaa", 6) == marks("aaa", 6)
    assert marks("", 6) == []
