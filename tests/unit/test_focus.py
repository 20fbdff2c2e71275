"""The part of a very long line that is shown is the part that matters."""

import pytest

from app.rag.focus import focus

WIDTH = 300
LONG = "filler " * 500 + "the backup port is 8443 " + "filler " * 500


def shown(line: str, weights: dict[str, float]) -> str:
    start = focus(line, weights, WIDTH)
    return line[start : start + WIDTH]


def test_the_words_of_the_question_are_shown() -> None:
    assert "the backup port is 8443" in shown(LONG, {"backup": 2.0, "port": 1.0})


def test_the_weightiest_words_win() -> None:
    line = f"port {LONG} the zebra is striped {'filler ' * 200}"
    assert "zebra" in shown(line, {"port": 1.0, "zebra": 9.0})


@pytest.mark.parametrize("weights", [{}, {"absent": 1.0}, {"": 1.0}])
def test_without_any_of_the_words_it_is_the_beginning(weights: dict[str, float]) -> None:
    assert focus(LONG, weights, WIDTH) == 0


def test_the_end_of_the_line_fills_the_width() -> None:
    line = f"{'x ' * 900}ERR_4821"
    assert focus(line, {"err_4821": 1.0}, WIDTH) == len(line) - WIDTH
