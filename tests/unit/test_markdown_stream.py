"""Markdown rendered while it arrives ends as rendered in one go."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chat.markdown import BlockRenderer, render_blocks


def streamed(pieces: list[str]) -> tuple[list[str], int]:
    """The blocks after all changes, and how many characters of HTML went over the wire."""
    renderer = BlockRenderer()
    shown: dict[int, str] = {}
    sent = 0
    for piece in pieces:
        for index, block in renderer.feed(piece):
            shown[index] = block
            sent += len(block)
    shown.update(renderer.finish())
    assert list(shown) == sorted(shown)
    return list(shown.values()), sent


SAMPLES = [
    "SHA:\n\n```text\nabc $1 <b>\n```",
    "~~~\na\n~~~\n\n````\n```\nx\n```\n````\n   ```\n   y\n   ```",
    "```\nleft open\n\n# no heading\n",
    "a [b](https://host.invalid) **bo** and [s/a b.md:3-4] x\ny  \nz",
    "| a | b |\n|---|---|\n| 1 | [s/c:1] |\n| 2 | `x` |\n\nafter",
    "text\n| a |\n|---|\n| b |\n> q\nlazy\n\n> r\n",
    "- a\n- b\n\n- loose\n\n  more\n    - c\n\n      ```\n      d\n      ```\n",
    "- a\n\n1. e\n2) f\n\n-\n\n  g\n\n10 h\n\n- - i\n\n -j",
    "Title\n===\nother\n---\n***\n* * *\n***bold** it*\n#\n#no\n## yes ##",
    "a\r\n\r\nb\rc\n\n\td\n \n    e\n\n```a``` b\n\n1234\n5. x\n\n+\n\n=\n_\n",
    "[x]: /url\n\n[x]\n\n<b>\n\n</b>\n<!-- \n\n -->\nend",
    "para\n```f``` g\n\npara\n~~~f~~~ g\n\nh",
    "> - a\n>\n>   b\n> # c\n\n> ```\nd\n",
]


@pytest.mark.parametrize("text", SAMPLES)
def test_streamed_character_by_character_it_ends_as_in_one_go(text: str) -> None:
    assert streamed(list(text))[0] == render_blocks(text)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_streamed_in_any_pieces_it_ends_as_in_one_go(data: st.DataObject) -> None:
    fragments = re.findall(r"[^\n]*\n|[^\n]+", "\n".join(SAMPLES))
    text = "".join(
        data.draw(st.lists(st.sampled_from([*fragments, "\n", "- ", "> "]), max_size=25))
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert streamed(pieces)[0] == render_blocks(text)


@pytest.mark.parametrize("text", ["[a](http", "**bo", "[s/a.md:1", "![x](http", "<scr"])
def test_what_is_half_open_shows_as_text(text: str) -> None:
    changes = BlockRenderer().feed(text)
    assert changes == [(0, f'<p dir="auto">{text.replace("<", "&lt;")}</p>')]


def test_a_fence_shows_as_code_before_it_is_closed() -> None:
    changes = BlockRenderer().feed("```sh\nls **x**\n``")
    assert changes == [(0, '<pre dir="auto"><code class="language-sh">ls **x**\n</code></pre>')]


def test_a_block_that_is_settled_is_not_sent_again() -> None:
    renderer = BlockRenderer()
    renderer.feed("one\n\ntwo\nand\n")
    assert [index for index, _ in renderer.feed("more of two, and longer than before\n")] == [1]


@pytest.mark.parametrize(
    "text",
    [
        "word and *more* " * 300 + "\n```\nopen",
        "```\n" + "code line\n" * 750,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 100,
        "a paragraph\n\n" * 300,
    ],
    ids=["paragraph", "fence", "table", "paragraphs"],
)
def test_streaming_costs_a_fixed_multiple_of_the_answer(text: str) -> None:
    blocks, sent = streamed([text[start : start + 5] for start in range(0, len(text), 5)])
    assert blocks == render_blocks(text)
    assert sent < 40 * sum(map(len, blocks))
