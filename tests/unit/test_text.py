"""Normal forms are those of Unicode, whatever marks a text piles up."""

import random
import sys
import unicodedata

import pytest

from app.text import Form, clean, normalize

FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
MARKS = "\u0301\u0323\u0344\u0300\u0327\u3099\uff9e\u0345\u05b0\u094d"
BASES = "ae한가é \u1100\u1161ﬁ"


@pytest.mark.parametrize("form", FORMS)
def test_normal_forms_are_those_of_unicode(form: Form) -> None:
    chance = random.Random(1)
    for length in range(25, 325):
        text = "".join(chance.choice(MARKS * 3 + BASES) for _ in range(length))
        assert normalize(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_hundreds_of_thousands_of_marks_in_a_row_take_no_time(form: Form) -> None:
    marks = "a" + "\u0301\u0323" * 100_000
    ordered = "a" + "\u0323" * 100_000 + "\u0301" * 100_000
    assert normalize(form, marks) == unicodedata.normalize(form, ordered)


def test_all_marks_stand_where_they_are_looked_for() -> None:
    elsewhere = map(chr, (*range(0x300), *range(0x20000, sys.maxunicode + 1)))
    assert not any(map(unicodedata.combining, elsewhere))


def test_pairs_are_joined_and_what_cannot_be_stored_is_replaced() -> None:
    assert clean("a\ud83d\ude00b\ud83d\0") == "a😀b\ufffd\ufffd"
