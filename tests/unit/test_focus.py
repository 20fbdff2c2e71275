"""The part of a very long line that is shown is the part that matters."""

import pytest

from app.rag.focus import focus

WIDTH = 300
LONG = "filler " * 500 + "the backup port is 8443 " + "filler " * 500


def test_a_short_line_stays_whole() -> None:
    assert focus("the backup port", {"port": 1.0}, WIDTH) == "the backup port"


def test_the_words_of_the_question_are_shown_with_marks_for_what_is_left_out() -> None:
    shown = focus(LONG, {"backup": 2.0, "port": 1.0}, WIDTH)
    assert "the backup port is 8443" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) == WIDTH


def test_the_weightiest_words_win() -> None:
    line = f"port {LONG} the zebra is striped {'filler ' * 200}"
    assert "zebra" in focus(line, {"port": 1.0, "zebra": 9.0}, WIDTH)


@pytest.mark.parametrize("weights", [{}, {"absent": 1.0}, {"": 1.0}])
def test_without_any_of_the_words_it_is_the_beginning(weights: dict[str, float]) -> None:
    assert focus(LONG, weights, WIDTH) == f"{LONG[: WIDTH - 2]}…"


def test_case_does_not_matter() -> None:
    assert "ERR_4821" in focus(f"{'x ' * 900}ERR_4821", {"err_4821": 1.0}, WIDTH)
