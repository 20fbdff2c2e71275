"""Which sources a caller may see: an argument that every query over documents must be given."""

from typing import Any

from sqlalchemy import ColumnElement, true

Visible = frozenset[str] | None
"""The names of the visible sources; None means all of them."""


def within(visible: Visible, source: Any) -> ColumnElement[bool]:
    """The condition that the column `source` names a visible source."""
    return true() if visible is None else source.in_(sorted(visible))


def narrowed(visible: Visible, sources: list[str] | None) -> Visible:
    """The visible sources among `sources`; None or empty narrows nothing."""
    if not sources:
        return visible
    wanted = frozenset(sources)
    return wanted if visible is None else wanted & visible
