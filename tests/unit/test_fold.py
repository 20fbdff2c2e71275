"""Case folding and the searchable alphabet."""

import string
from functools import cache
from typing import Any

import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from app.search.fold import fold, searchable, transcode

# The module has no types.
RE2: Any = re2
# Planes 2 to 16 hold ideographs, tags and private characters.
TWO_PLANES = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
HIGHER_PLANES = "[\U00020000-\U0010ffff]"
MARKS = string.punctuation + " \t"
texts = st.text(st.characters(codec="utf-8") | st.sampled_from(MARKS + "aAéÉßẞıİKσςµΜ"))


@cache
def folded_planes() -> str:
    """`TWO_PLANES` folded; Latin-1 by itself, since a text of nothing else goes another way."""
    return fold("".join(TWO_PLANES[:256])) + fold("".join(TWO_PLANES[256:]))


@cache
def folding_classes() -> dict[str, str]:
    """Each folded character that stands for several, with all of them."""
    classes: dict[str, str] = {}
    for character, folded in zip(TWO_PLANES, folded_planes(), strict=True):
        classes[folded] = classes.get(folded, "") + character
    return {folded: members for folded, members in classes.items() if len(members) > 1}


def test_characters_that_fold_together_are_those_that_re2_takes_for_equal() -> None:
    classes = folding_classes()
    cased = "".join(classes.values())
    for members in classes.values():
        for member in members:
            assert "".join(RE2.findall("(?i)" + RE2.escape(member), cased)) == members


def test_re2_knows_no_other_case_for_the_characters_that_fold_to_themselves() -> None:
    cased = set("".join(folding_classes().values()))
    caseless = [c for c in TWO_PLANES if c not in cased and c not in MARKS and c not in "\0\n"]
    for start in range(0, len(caseless), 1024):
        block = caseless[start : start + 1024]
        # An expression for several cases is longer, unless they are neighbours, which make a range.
        size = RE2.compile("(?i)" + "".join(block)).programsize
        assert size == RE2.compile("".join(block)).programsize
        assert not RE2.search("(?i)[" + "".join(block[::2]) + "]", "".join(block[1::2]))
        assert not RE2.search("(?i)[" + "".join(block[1::2]) + "]", "".join(block[::2]))


def test_no_character_of_the_higher_planes_has_cases() -> None:
    assert not RE2.search("(?i)" + HIGHER_PLANES, "".join(TWO_PLANES))
    assert fold("\U00020000\U0001f600\U0010ffff") == "\U00020000\U0001f600\U0010ffff"


def test_folding_follows_no_language_and_expands_nothing() -> None:
    assert fold("ÉЖΣςK") == "éжσσk"
    assert fold("ßẞıİﬁ") == "ßßıİﬁ"


@given(texts)
@settings(max_examples=100)
def test_searchable_text_is_the_transcoded_folded_text(text: str) -> None:
    assert searchable(text) == transcode(fold(text))
    assert len(searchable(text)) == len(text)
    assert not set(searchable(text)) & set(MARKS)


@given(texts)
@settings(max_examples=100)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_transcoding_can_be_undone() -> None:
    alphabet = set(folded_planes())
    assert len(set(transcode("".join(alphabet)))) == len(alphabet)
