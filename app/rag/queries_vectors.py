"""Which passages mean what a question means: nearest vectors, exact or by the index."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVarTuple

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import Float, Select, cast, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible, within
from app.models import Document, EmbeddingModel, Passage, Window

Columns = TypeVarTuple("Columns")

# pgvector indexes halfvec up to this many numbers.
INDEXED_DIMENSION = 4_000
# With a source filter, HNSW misses: up to this many windows all are compared instead.
EXACT_WINDOWS = 50_000
# Characters that a window moves a document forward, on average.
_STRIDE = 550
# A passage has up to three windows, seldom more.
_WINDOWS_EACH = 3
_LONGEST_SCAN = 200_000
# Candidates that HNSW keeps. At 200,000 windows 150 of them miss 18 % of the nearest 50 passages,
# 400 miss 2 % in the same time.
_KEPT = 400


@dataclass(frozen=True)
class Meant:
    """What a question means to the model with this id: a vector of length 1.

    `floor` is the cosine that texts without anything in common reach with this model.
    """

    model_id: int
    vector: list[float]
    floor: float = 0.0

    def similarity(self, cosine: float) -> float:
        """From 0 for texts without anything in common to 1."""
        return max(0.0, (cosine - self.floor) / (1.0 - self.floor))

    def distance(self) -> Any:
        """The cosine distance of a window's vector; spelled as in the index, or it is not used."""
        sized = HALFVEC(len(self.vector))
        asked = cast(literal(self.vector, HALFVEC()), sized)
        return cast(Window.vector, sized).op("<=>", return_type=Float())(asked)


async def find_nearest(
    session: AsyncSession, meant: Meant, limit: int, visible: Visible
) -> dict[int, float]:
    """The `limit` passages with the nearest windows, with their similarity."""
    distance = meant.distance()
    windows = limit * _WINDOWS_EACH
    near = select(Window.passage_id, distance.label("distance")).where(*_of(meant))
    near = _over(near, visible)
    if visible is not None and await _estimate_windows(session, visible) <= EXACT_WINDOWS:
        every = near.cte("every").prefix_with("MATERIALIZED", dialect="postgresql")
        near = select(every.c.passage_id, every.c.distance).order_by(every.c.distance)
    else:
        await _widen_index_scan(session, windows, filtered=visible is not None)
        near = near.order_by(distance)
    nearest = near.limit(windows).subquery()
    best = func.min(nearest.c.distance)
    query = select(nearest.c.passage_id, best).group_by(nearest.c.passage_id)
    rows = await session.execute(query.order_by(best).limit(limit))
    return {id_: meant.similarity(1 - distance) for id_, distance in rows}


async def measure(
    session: AsyncSession, meant: Meant, passages: Sequence[int], visible: Visible
) -> dict[int, float]:
    """The similarity of each passage's best window, for those that have vectors."""
    measured = (
        select(Window.passage_id, func.min(meant.distance()))
        .where(Window.passage_id.in_(passages), *_of(meant))
        .group_by(Window.passage_id)
    )
    rows = await session.execute(_over(measured, visible))
    return {id_: meant.similarity(1 - distance) for id_, distance in rows}


async def models(session: AsyncSession) -> Sequence[EmbeddingModel]:
    """The models that have made vectors, the latest first."""
    known = select(EmbeddingModel).where(EmbeddingModel.dimension.is_not(None))
    return (await session.scalars(known.order_by(EmbeddingModel.id.desc()))).all()


def _over(query: Select[*Columns], visible: Visible) -> Select[*Columns]:
    """Narrow a query over windows to the visible sources."""
    if visible is None:
        return query
    return (
        query.join(Passage, Passage.id == Window.passage_id)
        .join(Document, Document.id == Passage.document_id)
        .where(within(visible, Document.source))
    )


def _of(meant: Meant) -> tuple[Any, ...]:
    # Without the type the planner sees no constant in it, and the partial index stays unused.
    return Window.model_id == text(str(int(meant.model_id))), Window.vector.is_not(None)


async def _estimate_windows(session: AsyncSession, visible: Visible) -> int:
    counted = text("SELECT reltuples FROM pg_class WHERE oid = CAST('windows' AS regclass)")
    # While vectors are being made, there are fewer than the documents have room for.
    if 0 < (all_windows := int(await session.scalar(counted) or 0)) <= EXACT_WINDOWS:
        return all_windows
    characters = await session.scalar(
        select(func.sum(Document.characters)).where(within(visible, Document.source))
    )
    return int(characters or 0) // _STRIDE


async def _widen_index_scan(session: AsyncSession, windows: int, *, filtered: bool) -> None:
    """HNSW finds no more rows than it keeps candidates, and none that a filter rejects."""
    settings = {"hnsw.ef_search": str(max(windows, _KEPT))}
    if filtered:
        settings |= {
            "hnsw.iterative_scan": "relaxed_order",
            "hnsw.max_scan_tuples": str(_LONGEST_SCAN),
        }
    await session.execute(
        select(*(func.set_config(name, value, True) for name, value in settings.items()))
    )
