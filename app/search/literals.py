"""Which fixed strings a line must hold for a regular expression to match it.

The analysis errs on one side only: what it does not understand requires nothing. It is given
expressions that RE2 has accepted, so it need not find out what is wrong with them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
      \\Q(?P<quoted>.*?)(?:\\E|\Z)
    | (?P<set>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\.|\\[dDsSwWC]|\\[pP](?:\{[^}]*\}|.)
        |\\x\{[^}]*\}|\\x..|\\[0-7]{1,3}|\\[aftrv])
    | (?P<end>\\n)
    | (?P<flags>\(\?[imsU-]+\))
    | (?P<open>\((?:\?(?:P?<\w+>|[imsU-]*:?))?)
    | (?P<close>\))
    | (?P<bar>\|)
    | (?P<repeat>(?:[*+?]|\{(?P<least>\d+)(?:,\d*)?\})\??)
    | (?P<edge>\^|\$|\\[bBAz])
    | \\(?P<escaped>[^a-zA-Z0-9])
    | (?P<letter>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_MOST_LITERALS = 50
# Strings that come of joining alternatives to what stands before and behind them.
_MOST_JOINED = 16
_DEEPEST = 50


@dataclass(frozen=True)
class AllOf:
    """Every part must be there; no part at all requires nothing."""

    parts: "tuple[Requirement, ...]" = ()


@dataclass(frozen=True)
class AnyOf:
    """One of the parts must be there."""

    parts: "tuple[Requirement, ...]"


Requirement = str | AllOf | AnyOf
NOTHING = AllOf()


def required(expression: str) -> Requirement:
    """What a matching line holds, apart from case."""
    groups = [_Group()]
    for token in _TOKEN.finditer(expression):
        if token.lastgroup == "open":
            if len(groups) > _DEEPEST:
                return NOTHING
            groups.append(_Group())
        elif token.lastgroup == "close" and len(groups) > 1:
            inside = groups.pop()
            groups[-1].add(inside.exactly() or inside.requirement())
        else:
            groups[-1].read(token)
    requirement = groups[0].requirement()
    return requirement if _count(requirement) <= _MOST_LITERALS else NOTHING


def spans_lines(expression: str) -> bool:
    """Whether the expression asks for a line end, which no line holds."""
    return any(
        token.lastgroup == "end" or "\n" in (token["letter"] or token["quoted"] or "")
        for token in _TOKEN.finditer(expression)
    )


def asks_for_bytes(expression: str) -> bool:
    """Whether the expression asks for single bytes, which tears lines and characters apart."""
    return any(token["set"] == r"\C" for token in _TOKEN.finditer(expression))


@dataclass(frozen=True)
class _Exactly:
    """One of the strings and nothing else, so that it touches what stands before and behind it."""

    strings: tuple[str, ...]


_Part = _Exactly | Requirement


@dataclass
class _Group:
    """An alternation while it is read: rows of exact strings and of what interrupts them."""

    branches: list[list[_Part]] = field(default_factory=list[list[_Part]])
    row: list[_Part] = field(default_factory=list[_Part])
    # Where the part begins to which a repetition applies.
    last: int = 0

    def read(self, token: re.Match[str]) -> None:
        match token.lastgroup:
            case "bar":
                self.next_branch()
            case "repeat":
                self.repeat(token["repeat"], token["least"])
            case "quoted":
                self.add(*(_Exactly((letter,)) for letter in token["quoted"]))
            case "letter" | "escaped":
                self.add(_Exactly((token[token.lastgroup],)))
            case "edge":
                self.add(_Exactly(("",)))
            case "flags":
                self.add()
            case _:
                self.add(NOTHING)

    def add(self, *parts: _Part) -> None:
        # A repetition behind nothing, such as “\Q\E”, applies to what stands before that.
        if parts:
            self.row += parts
            self.last = len(self.row) - 1

    def repeat(self, how: str, least: str | None) -> None:
        is_optional = how[0] in "*?" or (least is not None and int(least) == 0)
        repeated = self.row[self.last :]
        if is_optional:
            del self.row[self.last :]
        match repeated:
            case [_Exactly(strings)] if how[0] == "?":
                self.row.append(_Exactly(tuple(dict.fromkeys((*strings, "")))))
            case _:
                self.row.append(NOTHING)
        self.last = min(self.last, len(self.row) - 1)

    def next_branch(self) -> None:
        self.branches.append(self.row)
        self.row, self.last = [], 0

    def exactly(self) -> _Exactly | None:
        """The strings that the group matches, if they are all that it matches, and few."""
        found: list[str] = []
        for row in [*self.branches, self.row]:
            strings: Sequence[str] | None = ("",)
            for part in row:
                strings = _product(strings, part) if strings else None
            if not strings or len(found) + len(strings) > _MOST_JOINED:
                return None
            found += strings
        return _Exactly(tuple(found))

    def requirement(self) -> Requirement:
        self.next_branch()
        branches = tuple(map(_joined, self.branches))
        if len(branches) == 1:
            return branches[0]
        return NOTHING if any(map(_is_empty, branches)) else AnyOf(branches)


def _joined(row: list[_Part]) -> Requirement:
    """What all of the row requires, with neighbouring strings as one."""
    parts: list[Requirement] = []
    strings: Sequence[str] = ("",)
    for part in [*row, NOTHING]:
        if joined := _product(strings, part):
            strings = joined
            continue
        if all(strings):
            parts.append(strings[0] if len(strings) == 1 else AnyOf(tuple(strings)))
        strings = part.strings if isinstance(part, _Exactly) else ("",)
        if not isinstance(part, _Exactly) and not _is_empty(part):
            parts.append(part)
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _product(strings: Sequence[str], part: _Part) -> Sequence[str] | None:
    """Each string with each that follows; None where too many come of it, or anything follows."""
    if not isinstance(part, _Exactly) or len(strings) * len(part.strings) > _MOST_JOINED:
        return None
    return list(dict.fromkeys(before + behind for before in strings for behind in part.strings))


def _is_empty(requirement: Requirement) -> bool:
    return _count(requirement) == 0


def _count(requirement: Requirement) -> int:
    return 1 if isinstance(requirement, str) else sum(map(_count, requirement.parts))
