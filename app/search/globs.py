"""The one glob dialect, as regular expressions over paths.

`**` is zero or more folders; `*` and `?` stay inside a segment; `[…]`, `[!…]` and `{a,b}` work, and
braces without a comma are ordinary; a backslash takes the meaning from the next mark. A pattern
with no `/` matches names at any depth; a leading `/` or `./` is harmless; dotfiles match.
Case does not matter: each letter becomes the class of the letters that fold to it, so the result
depends neither on a flag nor on the database's locale.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import re2

from app.errors import InvalidPattern
from app.search.variants import fold_classes, variants
from app.text import normalize, quoted

_LONGEST = 1_000
_DEEPEST = 20
# Together with alternatives, each of them multiplies the ways to match.
_MOST_STARS = 20
_SPECIAL = frozenset(r"\.+*?()|[]{}^$-")
_TOKEN = re.compile(
    r"\\(?P<escaped>.)|(?P<class>\[[!^]?+\]?+[^\]]*\])|(?P<stars>\*+)|(?P<one>\?)|(?P<group>[{,}])"
    r"|(?P<slash>/+)|(?P<char>.)",
    re.DOTALL,
)
_RANGE = re.compile(r"(.)-(.)|(.)", re.DOTALL)


@dataclass(frozen=True)
class _Glob:
    """What was written, and whether case matters."""

    text: str
    case_sensitive: bool

    def variants(self, char: str) -> list[str]:
        """The letters that `char` stands for."""
        return [char] if self.case_sensitive else variants(char)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def to_regex(glob: str, *, case_sensitive: bool = False) -> str:
    """An anchored expression for Python, RE2 and PostgreSQL's `~`; raises `InvalidPattern`.

    Match strangers' patterns with RE2 or PostgreSQL: they take linear time, Python's `re` may not.
    """
    if len(glob) > _LONGEST:
        raise InvalidPattern(f"The glob is too long: at most {_LONGEST:,} characters.")
    pattern = _plain(normalize("NFC", glob))
    if not pattern:
        raise InvalidPattern("The glob is empty.")
    anywhere = "" if "/" in pattern else "(?:.*/)?"
    return f"^(?:{anywhere}{_translate(_tokens(pattern), _Glob(glob, case_sensitive))})$"


def containing(name: str) -> str:
    """An expression for what holds `name`, every mark for itself; raises `InvalidPattern`."""
    if len(name) > _LONGEST:
        raise InvalidPattern(f"The name is too long: at most {_LONGEST:,} characters.")
    return "".join(
        _letter(char, _Glob(name, case_sensitive=False)) for char in normalize("NFC", name)
    )


def matcher(glob: str) -> Callable[[str], bool]:
    """Tells which paths match; raises `InvalidPattern`."""
    engine: Any = re2
    compiled = engine.compile(to_regex(glob))
    return lambda path: compiled.search(path) is not None


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
    if grouping and sum(token.kind == "stars" for token in tokens) > _MOST_STARS:
        raise InvalidPattern(
            f"The glob “{quoted(pattern)}” has braces and more than {_MOST_STARS} stars."
        )
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


def _translate(tokens: list[_Token], glob: _Glob) -> str:
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


def _part(token: _Token, glob: _Glob) -> str:
    if token.kind == "group":
        return {"{": "(?:", ",": "|", "}": ")"}[token.text]
    if token.kind == "class":
        return _character_class(token.text[1:-1], glob)
    if token == _Token("char", "["):
        raise InvalidPattern(f"The glob “{quoted(glob.text)}” has a “[” without “]”.")
    fixed = {"stars": "[^/]*", "one": "[^/]", "slash": "/"}
    return fixed.get(token.kind) or _letter(token.text, glob)


def _letter(char: str, glob: _Glob) -> str:
    letters = glob.variants(char)
    return f"[{''.join(letters)}]" if len(letters) > 1 else _escaped(char)


def _character_class(inside: str, glob: _Glob) -> str:
    negated = inside[0] in "!^"
    members: list[str] = []
    for low, high, single in _RANGE.findall(inside[1:] if negated else inside):
        if low > high:
            raise InvalidPattern(
                f"The glob “{quoted(glob.text)}” has a range that runs backwards: “{quoted(low)}-"
                f"{quoted(high)}”."
            )
        members += map(_escaped, glob.variants(single)) if single else _range(low, high, glob)
    if "/" in members and not negated:
        raise InvalidPattern(
            f"The glob “{quoted(glob.text)}” has a “/” in a class, which matches none."
        )
    return f"[{'^/' if negated else ''}{''.join(members)}]"


def _range(low: str, high: str, glob: _Glob) -> list[str]:
    """Members for all letters from `low` to `high` in any case, but never for `/`."""
    classes = {} if glob.case_sensitive else fold_classes()
    others = [
        letter
        for letters in classes.values()
        if any(low <= letter <= high for letter in letters)
        for letter in letters
        if not low <= letter <= high
    ]
    pieces = [(low, "."), ("0", high)] if low <= "/" <= high else [(low, high)]
    ranges = [f"{_escaped(first)}-{_escaped(last)}" for first, last in pieces if first <= last]
    return ranges + others


def _escaped(char: str) -> str:
    return f"\\{char}" if char in _SPECIAL else char
