"""Which fixed strings a line must hold for a regular expression to match it.

The analysis errs on one side only: what it does not understand requires nothing. It is given
expressions that RE2 has accepted, so it need not find out what is wrong with them.
"""

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
      \\Q(?P<quoted>.*?)(?:\\E|\Z)
    | (?P<set>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\.|\\[dDsSwWC]|\\[pP](?:\{[^}]*\}|.)
        |\\x\{[^}]*\}|\\x..|\\[0-7]{1,3}|\\[aftrv])
    | (?P<end>\\n)
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
            inside = groups.pop().requirement()
            # In a part of its own: what surrounds the group need not touch what it requires.
            groups[-1].add(AllOf((inside,)))
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


@dataclass
class _Group:
    """An alternation while it is read: a row of letters (`str`) and of what interrupts them."""

    branches: list[Requirement] = field(default_factory=list[Requirement])
    row: list[Requirement] = field(default_factory=list[Requirement])
    # Where the part begins to which a repetition applies.
    last: int = 0

    def read(self, token: re.Match[str]) -> None:
        match token.lastgroup:
            case "bar":
                self.next_branch()
            case "repeat":
                self.repeat(token["repeat"], token["least"])
            case "quoted":
                self.add(*token["quoted"])
            case "letter" | "escaped":
                self.add(token[token.lastgroup])
            case "edge":
                self.add("")
            case _:
                self.add(NOTHING)

    def add(self, *parts: Requirement) -> None:
        self.row += parts
        self.last = max(len(self.row) - 1, 0)

    def repeat(self, how: str, least: str | None) -> None:
        is_optional = how[0] in "*?" or (least is not None and int(least) == 0)
        if is_optional:
            del self.row[self.last :]
        self.row.append(NOTHING)
        self.last = min(self.last, len(self.row) - 1)

    def next_branch(self) -> None:
        self.branches.append(_joined(self.row))
        self.row, self.last = [], 0

    def requirement(self) -> Requirement:
        self.next_branch()
        if len(self.branches) == 1:
            return self.branches[0]
        return NOTHING if any(map(_is_empty, self.branches)) else AnyOf(tuple(self.branches))


def _joined(row: list[Requirement]) -> Requirement:
    """What all of the row requires, with neighbouring letters as one string."""
    parts: list[Requirement] = []
    letters = ""
    for part in [*row, NOTHING]:
        if isinstance(part, str):
            letters += part
            continue
        if letters:
            parts.append(letters)
            letters = ""
        if not _is_empty(part):
            parts.append(part)
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _is_empty(requirement: Requirement) -> bool:
    return _count(requirement) == 0


def _count(requirement: Requirement) -> int:
    return 1 if isinstance(requirement, str) else sum(map(_count, requirement.parts))
