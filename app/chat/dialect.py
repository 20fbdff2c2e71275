"""The Markdown of answers: CommonMark with tables and strike-through, and citations as links.

What could reach beyond its block or its page is left out: reference definitions, HTML, images.
Indented code is left out too, as models indent for other reasons.
"""

import re
from collections.abc import MutableMapping, Sequence
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from app.rag.references import Place, bracket_at

# markdown-it drops what is nested deeper.
DEEPEST = 20
# Longer than any paragraph: markup is looked for in linear time, but not in little.
LONGEST_INLINE = 10_000
_WEB = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)
_LANGUAGE = re.compile(r"[\w.+#-]{1,40}")

Environment = MutableMapping[str, Any]


def create_parser() -> MarkdownIt:
    """The parser and renderer of answers; its HTML is well-formed but not yet sanitised."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    parser.enable(["table", "strikethrough"])
    parser.disable(["reference", "code", "html_block", "html_inline"])
    parser.validateLink = _leads_to_the_web
    parser.inline.ruler.before("backticks", "citation", _citation)
    parser.inline.ruler.before("link", "lone_bracket", _lone_bracket)
    parser.core.ruler.before("inline", "long_inline", _long_inline)
    parser.add_render_rule("citation", _citation_links)
    parser.add_render_rule("image", _alternative_text)
    parser.add_render_rule("link_open", _link)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("th_open", _cell)
    parser.add_render_rule("td_open", _cell)
    return parser


def _leads_to_the_web(url: str) -> bool:
    return _WEB.match(url) is not None


def _citation(state: StateInline, silent: bool) -> bool:
    """Recognise a citation before its path is taken for emphasis or its brackets for a link."""
    if state.src[state.pos] != "[":
        return False
    bracket = bracket_at(state.src, state.pos, state.posMax)
    if bracket is None:
        return False
    if not silent:
        state.push("citation", "a", 0).meta = {"places": bracket.places}
    state.pos = bracket.end
    return True


def _lone_bracket(state: StateInline, silent: bool) -> bool:
    """Take a bracket that no `](` follows as text, before the end of its label is looked for."""
    mark = state.src[state.pos]
    if mark not in "![" or state.src.find("](", state.pos, state.posMax) >= 0:
        return False
    if not silent:
        state.pending += mark
    state.pos += 1
    return True


def _long_inline(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline" and len(token.content) > LONGEST_INLINE:
            token.type = "text"


def _citation_links(
    _: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, ___: Environment
) -> str:
    return " ".join(map(_citation_link, tokens[index].meta["places"]))


def _citation_link(place: Place) -> str:
    first, last = place.first_line, place.last_line
    lines = str(first) if first == last else f"{first}-{last}"
    segments = [quote(segment, safe="") for segment in (place.source, *place.path.split("/"))]
    attributes = {
        "class": "citation",
        "href": f"#/documents/{'/'.join(segments)}?lines={first}-{last}",
        "title": f"{place.source}/{place.path}:{lines}",
        "data-source": place.source,
        "data-path": place.path,
        "data-first": str(first),
        "data-last": str(last),
    }
    written = "".join(f' {name}="{escapeHtml(value)}"' for name, value in attributes.items())
    # Isolated, as a name may hold marks that turn the writing direction.
    return f"<a{written}><bdi>[{escapeHtml(place.path.split('/')[-1])}:{lines}]</bdi></a>"


def _alternative_text(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    environment: Environment,
) -> str:
    children = tokens[index].children or []
    return escapeHtml(renderer.renderInlineAsText(children, options, environment))


def _link(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    environment: Environment,
) -> str:
    tokens[index].attrSet("target", "_blank")
    return renderer.renderToken(tokens, index, options, environment)


def _fence(
    _: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, ___: Environment
) -> str:
    token = tokens[index]
    language = _LANGUAGE.match(token.info.strip())
    kind = f' class="language-{escapeHtml(language[0])}"' if language else ""
    return f'<pre dir="auto"><code{kind}>{escapeHtml(token.content)}</code></pre>\n'


def _cell(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    environment: Environment,
) -> str:
    """A table cell, aligned by an attribute: a style would need a laxer policy of the page."""
    style = str(tokens[index].attrs.pop("style", ""))
    if style:
        tokens[index].attrSet("align", style.removeprefix("text-align:"))
    return renderer.renderToken(tokens, index, options, environment)
