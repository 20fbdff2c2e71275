"""The background embedder's side of the database: what lacks vectors, and where they go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import (
    Row,
    delete,
    exists,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from app.db.visible import Visible, within
from app.models import Document, EmbeddingModel, Passage, Window
from app.rag.embeddings import Vector
from app.rag.queries_vectors import INDEXED_DIMENSION
from app.rag.windows import MOST_WINDOWS, WINDOW_CHARACTERS

_READ_CHARACTERS = WINDOW_CHARACTERS * MOST_WINDOWS
# Any number that nothing else in the database locks.
_TURN = 0x656D626564


@dataclass(frozen=True)
class Progress:
    """How many passages of a source have vectors of the model in use."""

    passages: int
    embedded: int


async def register(session: AsyncSession, name: str, dimension: int | None) -> EmbeddingModel:
    """The row of a model, made when it is new; a dimension once known stays."""
    row = upsert(EmbeddingModel).values(name=name, dimension=dimension)
    kept = func.coalesce(EmbeddingModel.dimension, row.excluded.dimension)
    statement = row.on_conflict_do_update(index_elements=["name"], set_={"dimension": kept})
    models = await session.scalars(
        statement.returning(EmbeddingModel), execution_options={"populate_existing": True}
    )
    return models.one()


async def make_index(session: AsyncSession, model: EmbeddingModel) -> None:
    """The HNSW index over this model's vectors; instantaneous as long as there are none."""
    if model.dimension is None or model.dimension > INDEXED_DIMENSION:
        return
    vector = f"(vector::halfvec({model.dimension})) halfvec_cosine_ops"
    await session.execute(
        text(
            f"CREATE INDEX IF NOT EXISTS ix_windows_vector_{model.id} ON windows"
            f" USING hnsw ({vector}) WHERE model_id = {model.id}"
        )
    )


async def forget_others(session: AsyncSession, model_id: int) -> None:
    """Remove the vectors of all other models, and their indexes."""
    others = select(EmbeddingModel.id).where(EmbeddingModel.id != model_id)
    for other in (await session.scalars(others)).all():
        await session.execute(text(f"DROP INDEX IF EXISTS ix_windows_vector_{other}"))
        await session.execute(delete(Window).where(Window.model_id == other))
        await session.execute(delete(EmbeddingModel).where(EmbeddingModel.id == other))


async def claim(
    session: AsyncSession, model_id: int, after: int, limit: int, visible: Visible
) -> Sequence[Row[int, str]]:
    """Id and text of the next passages without vectors.

    Passages that are being replaced at this moment are passed over: they will be gone.
    """
    known = exists().where(Window.passage_id == Passage.id, Window.model_id == model_id)
    rows = await session.execute(
        select(Passage.id, func.substr(Passage.text, 1, _READ_CHARACTERS))
        .join(Document, Document.id == Passage.document_id)
        .where(Passage.id > after, ~known, within(visible, Document.source))
        .order_by(Passage.id)
        .limit(limit)
        .with_for_update(of=Passage, key_share=True, read=True, skip_locked=True)
    )
    return rows.all()


async def newest_passage(session: AsyncSession, visible: Visible) -> int:
    """The highest id of a passage; 0 when there are none."""
    query = (
        select(func.max(Passage.id))
        .join(Document, Document.id == Passage.document_id)
        .where(within(visible, Document.source))
    )
    return await session.scalar(query) or 0


async def store_vectors(
    session: AsyncSession,
    model_id: int,
    vectors: Mapping[int, Sequence[Vector | None]],
    visible: Visible,
) -> None:
    """Store the vectors of the windows of passages, except those that are gone by now."""
    existing = (
        select(Passage.id)
        .join(Document, Document.id == Passage.document_id)
        .where(Passage.id.in_(list(vectors)), within(visible, Document.source))
        .with_for_update(of=Passage, key_share=True, read=True, skip_locked=True)
    )
    rows = [
        {"passage_id": id_, "model_id": model_id, "position": position, "vector": vector}
        for id_ in await session.scalars(existing)
        for position, vector in enumerate(vectors[id_])
    ]
    if rows:
        await session.execute(insert(Window).values(rows))


async def report(session: AsyncSession, model_id: int, **state: object) -> None:
    """Say how it goes: `passages_per_second`, `problem`, `complete`."""
    await session.execute(
        update(EmbeddingModel).where(EmbeddingModel.id == model_id).values(**state)
    )


async def find_model(session: AsyncSession, name: str) -> EmbeddingModel | None:
    """The row of a model; None before the background work has begun."""
    return await session.scalar(select(EmbeddingModel).where(EmbeddingModel.name == name))


async def progress(session: AsyncSession, model_name: str, visible: Visible) -> dict[str, Progress]:
    """How far the sources are, by name."""
    known = (
        select(Window.passage_id)
        .join(EmbeddingModel, EmbeddingModel.id == Window.model_id)
        .where(EmbeddingModel.name == model_name, Window.position == 0)
        .subquery()
    )
    rows = await session.execute(
        select(Document.source, func.count(Passage.id), func.count(known.c.passage_id))
        .join(Passage, Passage.document_id == Document.id)
        .outerjoin(known, known.c.passage_id == Passage.id)
        .where(within(visible, Document.source))
        .group_by(Document.source)
    )
    return {source: Progress(total, done) for source, total, done in rows}


async def take_turn(connection: AsyncConnection) -> bool:
    """Whether this connection is now the one that works on this database, until it is closed."""
    return bool(await connection.scalar(select(func.pg_try_advisory_lock(_TURN))))
