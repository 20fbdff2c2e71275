"""Texts are cut at line ends, and joined again they are what they were."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.documents.passages import PASSAGE_CHARACTERS, count_lines, cut

LINES = st.text("ab #\n\x0b\x0c\x85\u2028é漢", max_size=40) | st.builds(
    "x".__mul__, st.integers(0, 2_000)
)


@given(st.lists(LINES, max_size=120).map("\n".join))
@settings(max_examples=100, deadline=None)
def test_pieces_are_whole_lines_and_together_the_text(text: str) -> None:
    pieces = cut(text)
    assert "".join(piece.text for piece in pieces) == text
    assert sum(piece.lines for piece in pieces) == count_lines(text)
    assert all(piece.characters == len(piece.text) for piece in pieces)
    assert all(piece.text.endswith("\n") for piece in pieces[:-1])
    for piece in pieces:
        assert piece.characters <= PASSAGE_CHARACTERS or "\n" not in piece.text[:-1]


def test_an_empty_text_has_no_passage() -> None:
    assert cut("") == []


def test_a_last_line_end_opens_no_further_line() -> None:
    assert [count_lines(text) for text in ("", "\n", "a", "a\n", "a\nb", "a\n\n")] == [
        0, 1, 1, 1, 2, 2,
    ]  # fmt: skip


def test_a_long_line_stays_whole() -> None:
    line = "y" * 5_000 + "\n"
    assert [piece.text for piece in cut("first\n" + line + "last")] == ["first\n", line, "last"]


def test_a_piece_ends_before_a_heading() -> None:
    text = "# One\n" + "word " * 200 + "\n\n# Two\n" + "word " * 200
    assert [piece.text[:5] for piece in cut(text)] == ["# One", "# Two"]


def test_a_piece_ends_after_a_paragraph() -> None:
    text = ("word " * 50 + "\n") * 4 + "\n" + "Second\n" + "word " * 100
    assert cut(text)[1].text.startswith("Second\n")


def test_behind_an_insertion_the_old_pieces_come_again() -> None:
    text = "".join(f"Paragraph {n}\n{'word ' * (n % 7 * 20)}\n\n" for n in range(300))
    old = [piece.text for piece in cut(text)]
    new = [piece.text for piece in cut("An insertion\n" * 30 + text)]
    assert new[-len(old) // 2 :] == old[-len(old) // 2 :]
