"""Conditions on rows, as SQL text with named values.

Searches are many and short: building their statements from expressions took longer than running
them. The names of values are unique over all conditions of a search.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.db.visible import Visible


@dataclass(frozen=True)
class Condition:
    """An SQL expression, and the values of the names in it."""

    sql: str
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])


ALWAYS = Condition("true")


def all_of(conditions: Iterable[Condition]) -> Condition:
    return _joined(" AND ", conditions)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """One of them holds; no condition at all asks for nothing."""
    given = tuple(conditions)
    return ALWAYS if ALWAYS in given else _joined(" OR ", given)


def no(condition: Condition) -> Condition:
    return Condition(f"NOT ({condition.sql})", condition.values)


def is_visible(visible: Visible, column: str = "documents.source") -> Condition:
    """That the column names a visible source."""
    if visible is None:
        return ALWAYS
    return Condition(f"{column} = ANY(CAST(:visible AS text[]))", {"visible": sorted(visible)})


def _joined(word: str, conditions: Iterable[Condition]) -> Condition:
    known = [condition for condition in conditions if condition != ALWAYS]
    if len(known) < 2:
        return known[0] if known else ALWAYS
    values = {name: value for one in known for name, value in one.values.items()}
    return Condition(f"({word.join(one.sql for one in known)})", values)
