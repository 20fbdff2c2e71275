"""What a passage must hold to be looked at: a fixed string, or what an expression requires."""

import re
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import ColumnElement, SQLColumnExpression, and_, case, func, or_, true

from app.search.fold import searchable
from app.search.grams import grams
from app.search.literals import AllOf, Requirement

# More of a pattern does not narrow the candidates, and costs a look-up for each trigram.
_INDEXED_CHARACTERS = 200
# No searchable text holds this letter.
_MARK = "A"
_WORD = re.compile(r"[^\W_]+")

Folded = SQLColumnExpression[str]
Condition = ColumnElement[bool]


class Needle(Protocol):
    """A condition on the column `folded` of passages, in the forms that the plans need."""

    def is_in(self, folded: Folded) -> Condition:
        """Whether it stands there."""
        ...

    def narrowed(self, folded: Folded) -> Condition | None:
        """The same or less, as the trigram index can answer it; None where it cannot."""
        ...

    def is_vague(self) -> bool:
        """Whether the trigram index gives much in which it does not stand."""
        ...

    def grams(self) -> list[int]:
        """Grams that a document must have."""
        ...

    def hits(self, folded: Folded, lines: SQLColumnExpression[int]) -> ColumnElement[int]:
        """How many lines of a passage count as hits."""
        ...


@dataclass(frozen=True)
class FixedString:
    """A searchable pattern; the lines that hold it are counted in the database."""

    pattern: str

    def is_in(self, folded: Folded) -> Condition:
        return func.strpos(folded, self.pattern) > 0

    def narrowed(self, folded: Folded) -> Condition | None:
        if not has_trigram(self.pattern):
            return None
        return folded.like(f"%{self.pattern[:_INDEXED_CHARACTERS]}%")

    def is_vague(self) -> bool:
        # However long the row is, it has one trigram.
        return len(set(self.pattern)) == 1

    def grams(self) -> list[int]:
        return _longest_grams([self.pattern])

    def hits(self, folded: Folded, lines: SQLColumnExpression[int]) -> ColumnElement[int]:
        """Each line once, counted without shipping it."""
        marked = func.replace(folded, self.pattern, _MARK)
        return case(
            (~self.is_in(folded), 0),
            (lines == 1, 1),
            else_=func.regexp_count(marked, f"{_MARK}[^\n]*"),
        )


@dataclass(frozen=True)
class Required:
    """What an expression requires; a passage that has it counts as one, whatever matches there."""

    requirement: Requirement

    def is_in(self, folded: Folded) -> Condition:
        return _is_in(folded, self.requirement)

    def narrowed(self, folded: Folded) -> Condition | None:
        return _narrowed(folded, self.requirement)

    def is_vague(self) -> bool:
        return False

    def grams(self) -> list[int]:
        return _longest_grams(list(map(searchable, _always(self.requirement))))

    def hits(self, folded: Folded, lines: SQLColumnExpression[int]) -> ColumnElement[int]:
        return case((self.is_in(folded), 1), else_=0)


def has_trigram(pattern: str) -> bool:
    """Whether pg_trgm finds a trigram in `%pattern%`; it pads words, at inner ends only."""
    return any(
        len(word[0]) + 2 * (word.start() > 0) + (word.end() < len(pattern)) >= 3
        for word in _WORD.finditer(pattern)
    )


def _is_in(folded: Folded, requirement: Requirement) -> Condition:
    if isinstance(requirement, str):
        return func.strpos(folded, searchable(requirement)) > 0
    parts = [_is_in(folded, part) for part in requirement.parts]
    return and_(true(), *parts) if isinstance(requirement, AllOf) else or_(*parts)


def _narrowed(folded: Folded, requirement: Requirement) -> Condition | None:
    if isinstance(requirement, str):
        return FixedString(searchable(requirement)).narrowed(folded)
    parts = [_narrowed(folded, part) for part in requirement.parts]
    known = [part for part in parts if part is not None]
    if isinstance(requirement, AllOf):
        return and_(*known) if known else None
    return or_(*known) if len(known) == len(parts) else None


def _always(requirement: Requirement) -> list[str]:
    """The strings that are required in any case."""
    if isinstance(requirement, str):
        return [requirement]
    if isinstance(requirement, AllOf):
        return [literal for part in requirement.parts for literal in _always(part)]
    return []


def _longest_grams(patterns: list[str]) -> list[int]:
    """Pairs, and characters where no pair has them."""
    found: set[int] = set()
    for pattern in patterns:
        every = grams(pattern)
        pairs = [gram for gram in every if not 0 <= gram <= 0xFFFF]
        found.update(pairs or every)
    return sorted(found)
