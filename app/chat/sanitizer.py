"""The second fence behind the Markdown renderer: only what an answer needs is let through."""

import re
from functools import cache

import nh3

_BLOCKS = frozenset("p h1 h2 h3 h4 h5 h6 ul ol blockquote pre table".split())
_TAGS = _BLOCKS | frozenset("a bdi br code em hr li s strong tbody td th thead tr".split())
_ATTRIBUTES: dict[str, set[str]] = {
    "a": {"class", "href", "target", "title"}
    | {f"data-{name}" for name in ("source", "path", "first", "last")},
    "code": {"class"},
    "ol": {"start"},
}
_VALUES = {
    ("a", "class"): re.compile("citation"),
    ("a", "href"): re.compile(r"(?:https?://|mailto:|#/documents/).*", re.IGNORECASE | re.DOTALL),
    ("code", "class"): re.compile(r"language-[\w.+#-]{1,40}"),
}


def sanitize(html: str) -> str:
    """`html` without any element, attribute or address that answers have no use for."""
    return _cleaner().clean(html)


@cache
def _cleaner() -> nh3.Cleaner:
    values: dict[str, dict[str, set[str]]] = {name: {"dir": {"auto"}} for name in _BLOCKS}
    for cell in ("td", "th"):
        values[cell] = {"align": {"left", "center", "right"}}
    return nh3.Cleaner(
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        tag_attribute_values=values,
        attribute_filter=_allowed,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def _allowed(element: str, attribute: str, value: str) -> str | None:
    wanted = _VALUES.get((element, attribute))
    return value if wanted is None or wanted.fullmatch(value) else None
