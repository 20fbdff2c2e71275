"""Grams of texts and of patterns."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.documents.grams import document_grams
from app.search.fold import searchable
from app.search.grams import grams
from app.search.needles import FixedString

TEXTS = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("aqzé\n👍")))


@given(TEXTS, st.integers(0, 50), st.integers(1, 3))
def test_a_text_has_the_grams_of_all_that_stands_in_it(text: str, at: int, length: int) -> None:
    pattern = text[at : at + length]
    if pattern and "\n" not in pattern and "\0" not in text:
        assert set(FixedString(searchable(pattern)).grams()) <= set(grams(searchable(text)))


@settings(deadline=None)  # the first one loads NumPy
@given(TEXTS)
def test_a_document_has_the_grams_of_its_text(text: str) -> None:
    stored = searchable(text.replace("\0", ""))
    assert document_grams(stored) == grams(stored)


@pytest.mark.parametrize(
    "text", ["".join(map(chr, range(0x4E00, 0x6200))), "z" * (2**20 - 1) + "qxqj" + "z" * 2**20]
)
def test_a_large_alphabet_or_text_loses_no_pair(text: str) -> None:
    assert document_grams(text) == grams(text)


def test_what_is_frequent_is_left_out() -> None:
    assert grams(searchable("the rest is at sea")) == []
    assert grams("") == []


def test_a_pair_stands_for_its_characters() -> None:
    (pair,) = FixedString(searchable("zq")).grams()
    assert pair > 0xFFFF
    assert FixedString("§").grams() == [ord("§")]
