"""What a passage must hold to be looked at: a fixed string, or what an expression requires."""

import re
from dataclasses import dataclass
from typing import Protocol

from app.search.conditions import ALWAYS, Condition, all_of, any_of
from app.search.fold import searchable
from app.search.grams import grams
from app.search.literals import AllOf, Requirement
from app.search.signature import marks

# More of a pattern does not narrow the candidates, and costs a look-up for each trigram.
_INDEXED_CHARACTERS = 200
# More marks hardly rule out more documents.
_MARKS = 6
_IS_SET = """get_bit(signature,
  CAST(:{mark} AS int) & (8 * octet_length(signature) - 1)) = 1"""
_WORD = re.compile(r"[^\W_]+")


class Needle(Protocol):
    """Conditions on a row with the column `folded` of passages, in the forms that plans need."""

    def is_in(self) -> Condition:
        """That it stands there."""
        ...

    def indexed(self) -> Condition | None:
        """The same in a form that the trigram index serves; None where it cannot."""
        ...

    def is_vague(self) -> bool:
        """Whether the trigram index gives much in which it does not stand."""
        ...

    def grams(self) -> list[int]:
        """Grams that a document must have."""
        ...

    def signed(self) -> Condition:
        """That the column `signature` of a document does not rule it out."""
        ...


@dataclass(frozen=True)
class FixedString:
    """A searchable pattern."""

    pattern: str

    def is_in(self) -> Condition:
        return _stands(self.pattern, "pattern")

    def indexed(self) -> Condition | None:
        like = _like(self.pattern, "like")
        if like is None or len(self.pattern) <= _INDEXED_CHARACTERS:
            return like
        return all_of((like, self.is_in()))

    def is_vague(self) -> bool:
        # However long the row is, it has one trigram.
        return len(set(self.pattern)) == 1

    def grams(self) -> list[int]:
        return _longest_grams([self.pattern])

    def signed(self) -> Condition:
        return _unless_unknown(_signed(self.pattern, "mark"))


@dataclass(frozen=True)
class Required:
    """What an expression requires; a passage that has it may match."""

    requirement: Requirement

    def is_in(self) -> Condition:
        return _is_in(self.requirement, "required")

    def indexed(self) -> Condition | None:
        narrowed = _narrowed(self.requirement, "like")
        return None if narrowed is None else all_of((narrowed, self.is_in()))

    def is_vague(self) -> bool:
        return False

    def grams(self) -> list[int]:
        return _longest_grams(list(map(searchable, _always(self.requirement))))

    def signed(self) -> Condition:
        return _unless_unknown(_all_signed(self.requirement, "mark"))


def has_trigram(pattern: str) -> bool:
    """Whether pg_trgm finds a trigram in `%pattern%`; it pads words, at inner ends only."""
    return any(
        len(word[0]) + 2 * (word.start() > 0) + (word.end() < len(pattern)) >= 3
        for word in _WORD.finditer(pattern)
    )


def _stands(pattern: str, name: str) -> Condition:
    return Condition(f"strpos(folded, :{name}) > 0", {name: pattern})


def _like(pattern: str, name: str) -> Condition | None:
    if not has_trigram(pattern):
        return None
    return Condition(f"folded LIKE :{name}", {name: f"%{pattern[:_INDEXED_CHARACTERS]}%"})


def _is_in(requirement: Requirement, name: str) -> Condition:
    if isinstance(requirement, str):
        return _stands(searchable(requirement), name)
    parts = [_is_in(part, f"{name}_{n}") for n, part in enumerate(requirement.parts)]
    return all_of(parts) if isinstance(requirement, AllOf) else any_of(parts)


def _narrowed(requirement: Requirement, name: str) -> Condition | None:
    if isinstance(requirement, str):
        return _like(searchable(requirement), name)
    parts = [_narrowed(part, f"{name}_{n}") for n, part in enumerate(requirement.parts)]
    known = [part for part in parts if part is not None]
    if isinstance(requirement, AllOf):
        return all_of(known) if known else None
    return any_of(known) if len(known) == len(parts) else None


def _signed(pattern: str, name: str) -> Condition:
    """That all marks looked at are there; `get_bit` counts as search/signature.py does."""
    return all_of(
        Condition(_IS_SET.format(mark=f"{name}_{n}"), {f"{name}_{n}": mark})
        for n, mark in enumerate(marks(pattern, _MARKS))
    )


def _all_signed(requirement: Requirement, name: str) -> Condition:
    if isinstance(requirement, str):
        return _signed(searchable(requirement), name)
    parts = [_all_signed(part, f"{name}_{n}") for n, part in enumerate(requirement.parts)]
    return all_of(parts) if isinstance(requirement, AllOf) else any_of(parts)


def _unless_unknown(condition: Condition) -> Condition:
    if condition == ALWAYS:
        return ALWAYS
    return Condition(f"(signature IS NULL OR {condition.sql})", condition.values)


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
