"""Arguments as models write them."""

from typing import Any

import pytest

from app.rag.refusals import Refusal
from app.rag.tool_arguments import text_argument, whole_number


@pytest.mark.parametrize("written", [5, "5", " 5 ", 5.0, "5.0", "+5"])
def test_a_number_is_recognised_in_every_clear_spelling(written: Any) -> None:
    assert whole_number({"n": written}, "n") == 5


@pytest.mark.parametrize("arguments", [{}, {"n": None}, {"n": ""}])
def test_null_and_empty_mean_absent(arguments: dict[str, Any]) -> None:
    assert whole_number(arguments, "n") is None
    assert text_argument(arguments, "n") is None


@pytest.mark.parametrize(
    "written", [True, 5.5, "five", [5], {}, float("nan"), float("inf"), "9" * 100_000, "\ud800"]
)
def test_any_other_number_is_refused_in_a_short_sentence(written: Any) -> None:
    with pytest.raises(Refusal) as refused:
        whole_number({"n": written}, "n")
    assert refused.value.sentence.startswith("n must be a whole number, not ")
    assert len(refused.value.sentence) < 300
    refused.value.sentence.encode()


def test_a_text_may_come_as_a_number() -> None:
    assert text_argument({"pattern": 8081}, "pattern") == "8081"


@pytest.mark.parametrize("written", [True, ["a"], {"a": 1}, 10**101, 1e300])
def test_what_is_no_text_is_refused(written: Any) -> None:
    with pytest.raises(Refusal, match="pattern must be a string"):
        text_argument({"pattern": written}, "pattern")


def test_a_text_is_composed_and_holds_nothing_that_cannot_be_stored() -> None:
    assert text_argument({"p": "e\u0301 \0 \ud83d\ude00 \ud800"}, "p") == "é \ufffd 😀 \ufffd"
