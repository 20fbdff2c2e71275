"""Storing the passages of a document, and only those that a new version changed."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from sqlalchemy import ARRAY, BigInteger, Integer, Text, delete, func, insert, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.documents.upload import SearchablePiece
from app.models import Passage

# Room between two passages for those that a later version puts there.
_GAP = 2**20
_BATCH = 2_000


async def insert_passages(
    session: AsyncSession, document_id: int, passages: Sequence[SearchablePiece]
) -> None:
    """Store the passages of a new document."""
    await _insert(session, document_id, passages, positions_for(len(passages)))


async def replace_passages(
    session: AsyncSession, document_id: int, new: Sequence[SearchablePiece]
) -> None:
    """Exchange what differs between the beginning and the end that old and new have in common."""
    rows = await session.execute(
        select(Passage.position, Passage.text)
        .where(Passage.document_id == document_id)
        .order_by(Passage.position)
    )
    old = rows.all()
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
    await _delete(session, document_id, [position for position, _ in old[head : len(old) - tail]])
    await _insert(session, document_id, new[head : len(new) - tail], positions)


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


async def _delete(session: AsyncSession, document_id: int, positions: Sequence[int]) -> None:
    if positions:
        await session.execute(
            delete(Passage).where(
                Passage.document_id == document_id,
                Passage.position.between(positions[0], positions[-1]),
            )
        )


async def _insert(
    session: AsyncSession,
    document_id: int,
    passages: Sequence[SearchablePiece],
    positions: Sequence[int],
) -> None:
    for start in range(0, len(passages), _BATCH):
        batch = passages[start : start + _BATCH]
        rows = func.unnest(
            literal(list(positions[start : start + _BATCH]), ARRAY(BigInteger)),
            literal([item.piece.lines for item in batch], ARRAY(Integer)),
            literal([item.piece.characters for item in batch], ARRAY(Integer)),
            literal([item.piece.text for item in batch], ARRAY(Text)),
            literal([item.folded for item in batch], ARRAY(Text)),
            literal([item.words for item in batch], ARRAY(Text)),
        ).table_valued("position", "lines", "characters", "text", "folded", "words")
        given = rows.render_derived().c
        words = func.array_to_tsvector(func.string_to_array(given.words, " "))
        columns = (given.position, given.lines, given.characters, given.text, given.folded)
        await session.execute(
            insert(Passage).from_select(
                ["document_id", "position", "lines", "characters", "text", "folded", "words"],
                select(literal(document_id, BigInteger), *columns, words),
            )
        )
