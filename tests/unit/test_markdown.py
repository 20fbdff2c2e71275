"""Markdown becomes sanitised HTML."""

import re

import pytest

from app.chat.markdown import render_blocks
from app.chat.sanitizer import sanitize
from app.rag.references import find_references


def html(text: str) -> str:
    return "\n".join(render_blocks(text))


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


@pytest.mark.parametrize(
    "text",
    [
        "> " * 5_000 + "end",
        "- " * 5_000 + "end",
        "[" * 20_000 + "end",
        "*a " * 20_000 + "end",
        "x" * 200_000 + "end",
        "[" * 5_000 + "end",
        "[a](" * 2_000 + "end",
        "**a " * 1_000 + "a** " * 1_000 + "end",
        "a" + "`" * 20_000 + "end",
    ],
    ids=lambda text: f"{text[:4]!r} {len(text)}",
)
def test_pathological_markdown_loses_no_text(text: str) -> None:
    (block,) = render_blocks(text)
    plain = re.sub(r"<[^>]*>|[\s*]", "", block).replace("&gt;", ">")
    # Emphasis is drawn, not written.
    assert plain == re.sub(r"[\s*]", "", text)
