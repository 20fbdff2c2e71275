"""Storing the passages of a document, and only those that a new version changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.documents.upload import SearchablePiece

# Room between two passages for those that a later version puts there.
_GAP = 2**20
_BATCH = 2_000


INSERT = """INSERT INTO passages (document_id, position, lines, characters, text, folded, words)
  SELECT kept.id, given.position, given.lines, given.characters, given.text, given.folded,
    array_to_tsvector(string_to_array(given.words, ' '))
  FROM kept, unnest(CAST(:positions AS bigint[]), CAST(:line_counts AS int[]),
    CAST(:lengths AS int[]), CAST(:texts AS text[]), CAST(:folded_texts AS text[]),
    CAST(:words AS text[])) AS given (position, lines, characters, text, folded, words)"""
"""Inserts passages of the document in the table `kept`, which the statement has to name."""

_INSERT = text(f"WITH kept AS (SELECT CAST(:id AS bigint) AS id) {INSERT}")
_OLD = text("SELECT position, text FROM passages WHERE document_id = :id ORDER BY position")
_DELETE = text("""
DELETE FROM passages WHERE document_id = :id AND position BETWEEN :first AND :last
""")


@dataclass(frozen=True)
class Placed:
    """Passages that are to be stored, and their positions in the document."""

    passages: Sequence[SearchablePiece]
    positions: Sequence[int]

    def first(self) -> dict[str, Any]:
        """The values of `INSERT` for as many as one statement stores."""
        return self.batch(0)

    def batch(self, start: int) -> dict[str, Any]:
        some = self.passages[start : start + _BATCH]
        return {
            "positions": list(self.positions[start : start + _BATCH]),
            "line_counts": [one.piece.lines for one in some],
            "lengths": [one.piece.characters for one in some],
            "texts": [one.piece.text for one in some],
            "folded_texts": [one.folded for one in some],
            "words": [one.words for one in some],
        }


def place(passages: Sequence[SearchablePiece]) -> Placed:
    """The passages of a new document."""
    return Placed(passages, positions_for(len(passages)))


async def make_way(
    session: AsyncSession, document_id: int, new: Sequence[SearchablePiece]
) -> Placed:
    """Delete what differs between the beginning and the end that old and new have in common.

    Returns what is to be stored in its place.
    """
    old = (await session.execute(_OLD, {"id": document_id})).all()
    head = _common((text for _, text in old), (item.piece.text for item in new))
    tail = _common(
        (text for _, text in reversed(old[head:])),
        (item.piece.text for item in reversed(new[head:])),
    )
    before = old[head - 1][0] if head else None
    behind = old[-tail][0] if tail else None
    positions = positions_for(len(new) - head - tail, before, behind)
    if len(positions) < len(new) - head - tail:  # no room is left: number anew to the end
        tail, positions = 0, positions_for(len(new) - head, before)
    gone = old[head : len(old) - tail]
    if gone:
        ends = {"id": document_id, "first": gone[0][0], "last": gone[-1][0]}
        await session.execute(_DELETE, ends)
    return Placed(new[head : len(new) - tail], positions)


async def insert_rest(session: AsyncSession, document_id: int, placed: Placed) -> None:
    """Store what comes after the first batch."""
    for start in range(_BATCH, len(placed.passages), _BATCH):
        await session.execute(_INSERT, placed.batch(start) | {"id": document_id})


def _common(old: Iterable[str], new: Iterable[str]) -> int:
    pairs = zip(old, new, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def positions_for(count: int, before: int | None = None, behind: int | None = None) -> range:
    """`count` positions between two neighbours, far apart; fewer where there is no room."""
    if behind is None:
        start = 0 if before is None else before
        return range(start + _GAP, start + _GAP * (count + 1), _GAP)
    if before is None:
        return range(behind - _GAP * count, behind, _GAP)
    step = (behind - before) // (count + 1)
    return range(before + step, behind, step)[:count] if step else range(0)
