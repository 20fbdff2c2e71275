"""Markdown becomes sanitised HTML, the same in one go and in pieces."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chat.markdown import BlockRenderer, render_blocks
from app.chat.sanitizer import sanitize
from app.rag.references import find_references


def html(text: str) -> str:
    return "\n".join(render_blocks(text))


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


def test_markdown_becomes_html_with_the_direction_of_its_words() -> None:
    assert render_blocks("# A\n\n*b* **c** ~~d~~ `e`\n\n- f\n\n---") == [
        '<h1 dir="auto">A</h1>',
        '<p dir="auto"><em>b</em> <strong>c</strong> <s>d</s> <code>e</code></p>',
        '<ul dir="auto">\n<li>f</li>\n</ul>',
        "<hr>",
    ]


def test_a_fence_keeps_its_text_and_names_its_language() -> None:
    assert render_blocks("SHA:\n\n```text x\nabc $1 <b>\n```") == [
        '<p dir="auto">SHA:</p>',
        '<pre dir="auto"><code class="language-text">abc $1 &lt;b&gt;\n</code></pre>',
    ]


def test_a_table_is_aligned_without_styles() -> None:
    table = html("| a | b |\n|:--|--:|\n| 1 | 2 |")
    assert '<td align="left">1</td>\n<td align="right">2</td>' in table
    assert "style" not in table


def test_a_citation_is_a_link_to_its_lines() -> None:
    assert render_blocks("[s/a b/50%(é).md:3-4]") == [
        '<p dir="auto"><a class="citation"'
        ' href="#/documents/s/a%20b/50%25%28%C3%A9%29.md?lines=3-4" title="s/a b/50%(é).md:3-4"'
        ' data-source="s" data-path="a b/50%(é).md" data-first="3" data-last="4"'
        ' rel="noopener noreferrer nofollow"><bdi>[50%(é).md:3-4]</bdi></a></p>'
    ]


def test_a_citation_comes_before_emphasis_and_links() -> None:
    shown = html("[app/src/__init__.py:3] __b__ [a/b*:1]* [a/b:1](https://host.invalid)")
    assert shown.count('class="citation"') == 3
    assert "__init__.py:3]</bdi>" in shown
    assert "<em>" not in shown
    assert "host.invalid)" in shown
    assert 'href="https' not in shown


def test_a_name_cannot_break_out_of_its_attributes() -> None:
    shown = html('[s/"><img src=x onerror=alert(1)>&quot;.md:1]')
    assert "<img" not in shown
    assert 'data-path="&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;quot;.md"' in shown


@pytest.mark.parametrize(
    "text",
    [
        "[s/a:1; t/b:2, 5-7] and [s/c.md:3].",
        "`[s/a:1]` [s/a:2] \\[s/a:3] ![s/a:4](https://host.invalid) [x [s/a:5]](https://h.invalid)",
        "- [s/a:1]\n  ```\n  [s/a:2]\n  ```\n- [s/a:3]\n\n| a | b |\n|---|---|\n| [s/a:4] | x |",
        "# [s/a:1]\n\n> **[s/a:2]** ~~[s/b_*:3]~~\n\n    [s/a:4]\n\n~~~\n[s/a:5]",
        "[s/a:0] [s/../b:1] [a:1] [s/a:1-] [[s/a:1]]",
    ],
)
def test_what_is_checked_as_a_citation_is_shown_as_one(text: str) -> None:
    shown = re.findall(r'data-source="(.*?)" data-path="(.*?)" data-first="(\d+)"', html(text))
    found = [reference.place for reference in find_references(text)]
    assert shown == [(place.source, place.path, str(place.first_line)) for place in found]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<iframe src=https://host.invalid></iframe>",
        '<p style="background:url(https://host.invalid)">x</p>',
        "<svg><use href='https://host.invalid'/></svg>",
        "![x](https://host.invalid/p.png?q=secret)",
        "![x][1]\n\n[1]: https://host.invalid/p.png",
        "[![x](https://host.invalid/p.png)](#/)",
        "![x](data:image/png;base64,AAAA)",
        "[x](javascript:alert(1))",
        "[x](java&#115;cript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html,y)",
        "[x](vbscript:y)",
        "[x](//host.invalid)",
        "[x](/api/documents)",
        "[x](#/documents/s/a)",
        "<javascript:alert(1)>",
        "[1]: javascript:alert(1)\n\n[x][1]",
        '```"onload=alert(1)\nx\n```',
        "``` <script>\nx\n```",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<style>@import url(https://host.invalid)</style>",
        "<!-- x -->",
        "<video poster=https://host.invalid>",
        "| <img src=x> |\n|---|\n| <b onclick=x> |",
    ],
)
def test_nothing_that_acts_or_loads_survives(text: str) -> None:
    tags = re.findall(r"<(\w+)([^>]*)>", html(text))
    assert {tag for tag, _ in tags} <= set("p pre code table thead tbody tr th td".split())
    assert {attributes for _, attributes in tags} <= {"", ' dir="auto"'}


def test_links_lead_to_the_web_alone_and_tell_it_nothing() -> None:
    assert render_blocks("[x](https://host.invalid/?a=1&b) <mailto:a@host.invalid>") == [
        '<p dir="auto"><a href="https://host.invalid/?a=1&amp;b" target="_blank"'
        ' rel="noopener noreferrer nofollow">x</a>'
        ' <a href="mailto:a@host.invalid" target="_blank" rel="noopener noreferrer nofollow">'
        "mailto:a@host.invalid</a></p>"
    ]


def test_an_image_is_its_alternative_text() -> None:
    assert render_blocks('![a *b* "c"](https://host.invalid/x.png)') == [
        '<p dir="auto">a b "c"</p>'
    ]


def test_the_second_fence_holds_without_the_first() -> None:
    assert (
        sanitize(
            '<a class="x citation" href="/api" id="y" onclick="z">a</a><img src="x">'
            '<b style="c">d</b>'
            '<code class="evil">e</code><p dir="rtl" class="f">g</p><script>h</script>'
        )
        == '<a rel="noopener noreferrer nofollow">a</a>d<code>e</code><p>g</p>'
    )


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
        "> " * 5_000 + "end",
        "- " * 5_000 + "end",
        "[" * 20_000 + "end",
        "*a " * 20_000 + "end",
        "x" * 200_000 + "end",
        "[a](" * 5_000 + "end",
        "a" + "`" * 20_000 + "end",
    ],
    ids=lambda text: repr(text[:4]),
)
def test_pathological_markdown_loses_no_text(text: str) -> None:
    (block,) = render_blocks(text)
    plain = re.sub(r"<[^>]*>|\s", "", block).replace("&gt;", ">")
    assert plain == re.sub(r"\s", "", text)


@pytest.mark.parametrize(
    "text",
    [
        "word and *more* " * 600 + "\n```\nopen",
        "```\n" + "code line\n" * 1_500,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200,
        "a paragraph\n\n" * 600,
    ],
    ids=["paragraph", "fence", "table", "paragraphs"],
)
def test_streaming_costs_a_fixed_multiple_of_the_answer(text: str) -> None:
    blocks, sent = streamed([text[start : start + 5] for start in range(0, len(text), 5)])
    assert blocks == render_blocks(text)
    assert sent < 40 * sum(map(len, blocks))
