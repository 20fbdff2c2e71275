"""The one glob dialect, as regular expressions over paths.

`**` is zero or more folders; `*` and `?` stay inside a segment; `[…]`, `[!…]` and `{a,b}` work, and
braces without a comma are ordinary; a backslash takes the meaning from the next mark. A pattern
with no `/` matches names at any depth; a leading `/` or `./` is harmless; dotfiles match.
Case does not matter: each letter becomes the class of the letters that fold to it, so the result
depends neither on a flag nor on the database's locale.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from app.documents.names import quoted
from app.errors import InvalidPattern
from app.search.fold import fold
from app.text import normalize

_LONGEST = 1_000
_DEEPEST = 20
_SPECIAL = frozenset(r"\.+*?()|[]{}^$-")
_TOKEN = re.compile(
    r"\\(?P<escaped>.)|(?P<class>\[[!^]?+\]?+[^\]]*\])|(?P<stars>\*+)|(?P<one>\?)|(?P<group>[{,}])"
    r"|(?P<slash>/+)|(?P<char>.)",
    re.DOTALL,
)
_RANGE = re.compile(r"(.)-(.)|(.)", re.DOTALL)
# No letter above folds to another one.
_CASED = 0x1E944


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def to_regex(glob: str) -> str:
    """An anchored expression for Python, RE2 and PostgreSQL's `~`; raises `InvalidPattern`.

    Match strangers' patterns with RE2 or PostgreSQL: they take linear time, Python's `re` may not.
    """
    if len(glob) > _LONGEST:
        raise InvalidPattern(f"The glob is too long: at most {_LONGEST:,} characters.")
    pattern = _plain(normalize("NFC", glob))
    if not pattern:
        raise InvalidPattern("The glob is empty.")
    anywhere = "" if "/" in pattern else "(?:.*/)?"
    return f"^(?:{anywhere}{_translate(_tokens(pattern), glob)})$"


def _plain(glob: str) -> str:
    while glob.startswith(("/", "./")):
        glob = glob.removeprefix(".").removeprefix("/")
    return glob


def _tokens(pattern: str) -> list[_Token]:
    tokens = [
        _Token(match.lastgroup or "", match.group(match.lastgroup or 0))
        for match in _TOKEN.finditer(pattern)
    ]
    grouping = _grouping(tokens)
    return [
        token if token.kind != "group" or at in grouping else _Token("char", token.text)
        for at, token in enumerate(tokens)
    ]


def _grouping(tokens: list[_Token]) -> set[int]:
    """Where the braces and commas of alternatives are; others stand for themselves."""
    found: set[int] = set()
    open_groups: list[list[int]] = []
    for at, token in enumerate(tokens):
        if token == _Token("group", "{"):
            open_groups.append([at])
            if len(open_groups) > _DEEPEST:
                raise InvalidPattern(f"The glob nests braces deeper than {_DEEPEST} levels.")
        elif token == _Token("group", ",") and open_groups:
            open_groups[-1].append(at)
        elif token == _Token("group", "}") and open_groups:
            group = open_groups.pop()
            if len(group) > 1:
                found.update(group, [at])
    return found


def _translate(tokens: list[_Token], glob: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "stars" and _is_segment(tokens, at):
            before_name = at + 1 < len(tokens) and tokens[at + 1].kind == "slash"
            part = "(?:.*/)?" if before_name else ".*"
            # `**/**/` says no more than `**/` and would only cost time.
            if not (before_name and parts[-1:] == [part]):
                parts.append(part)
            at += 2 if before_name else 1
            continue
        parts.append(_part(token, glob))
        at += 1
    return "".join(parts)


def _is_segment(tokens: list[_Token], at: int) -> bool:
    """Whether the stars at `at` are `**` and a segment of their own."""
    before = tokens[at - 1] if at else _Token("slash", "/")
    after = tokens[at + 1] if at + 1 < len(tokens) else _Token("slash", "/")
    edges = all(token.kind in ("slash", "group") for token in (before, after))
    return len(tokens[at].text) > 1 and edges


def _part(token: _Token, glob: str) -> str:
    if token.kind == "group":
        return {"{": "(?:", ",": "|", "}": ")"}[token.text]
    if token.kind == "class":
        return _character_class(token.text[1:-1], glob)
    if token == _Token("char", "["):
        raise InvalidPattern(f"The glob “{quoted(glob)}” has a “[” without “]”.")
    fixed = {"stars": "[^/]*", "one": "[^/]", "slash": "/"}
    return fixed.get(token.kind) or _letter(token.text)


def _letter(char: str) -> str:
    variants = _variants(char)
    return f"[{''.join(variants)}]" if len(variants) > 1 else _escaped(char)


def _character_class(inside: str, glob: str) -> str:
    negated = inside[0] in "!^"
    members: list[str] = []
    for low, high, single in _RANGE.findall(inside[1:] if negated else inside):
        if low > high:
            raise InvalidPattern(
                f"The glob “{quoted(glob)}” has a range that runs backwards: “{quoted(low)}-"
                f"{quoted(high)}”."
            )
        members += map(_escaped, _variants(single)) if single else _range(low, high)
    if "/" in members and not negated:
        raise InvalidPattern(f"The glob “{quoted(glob)}” has a “/” in a class, which matches none.")
    return f"[{'^/' if negated else ''}{''.join(members)}]"


def _range(low: str, high: str) -> list[str]:
    """Members for all letters from `low` to `high` in any case, but never for `/`."""
    others = [
        variant
        for variants in _fold_classes().values()
        if any(low <= variant <= high for variant in variants)
        for variant in variants
        if not low <= variant <= high
    ]
    pieces = [(low, "."), ("0", high)] if low <= "/" <= high else [(low, high)]
    ranges = [f"{_escaped(first)}-{_escaped(last)}" for first, last in pieces if first <= last]
    return ranges + others


def _escaped(char: str) -> str:
    return f"\\{char}" if char in _SPECIAL else char


def _variants(char: str) -> list[str]:
    return _fold_classes().get(fold(char), [char])


@cache
def _fold_classes() -> dict[str, list[str]]:
    """Folded letter → all letters that fold to it, for letters that have more than one form."""
    characters = "".join(chr(code) for code in range(_CASED) if not 0xD800 <= code < 0xE000)
    classes: dict[str, list[str]] = defaultdict(list)
    for char, folded in zip(characters, fold(characters), strict=True):
        if char != folded:
            classes[folded].append(char)
    return {folded: [folded, *others] for folded, others in classes.items()}
