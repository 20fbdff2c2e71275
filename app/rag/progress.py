"""How far the background work is, and what keeps it: for the page and for whoever operates it."""

from app.db.visible import Visible
from app.rag.queries_embedding import find_model, progress
from app.rag.retrieval import Retriever
from app.schemas import MeaningProgress


async def meaning_progress(retriever: Retriever, visible: Visible) -> dict[str, MeaningProgress]:
    """By source; empty when meaning is off. The time left is that of all sources together."""
    if retriever.meaning is None:
        return {}
    name = retriever.meaning.name
    async with retriever.sessions() as session:
        model = await find_model(session, name)
        sources = await progress(session, name, visible)
    pace = model.passages_per_second if model else None
    left = sum(source.passages - source.embedded for source in sources.values())
    return {
        source: MeaningProgress(
            passages=each.passages,
            embedded=each.embedded,
            seconds_left=round(left / pace, 1) if pace else None,
        )
        for source, each in sources.items()
    }


async def meaning_state(retriever: Retriever) -> str:
    """`off`, `ready`, that documents are being read, or the problem that they or questions meet.

    Raises what the driver raises when the database does not answer.
    """
    async with retriever.sessions() as session:
        # Asked for in any case: without an answer of the database nothing is ready.
        name = retriever.meaning.name if retriever.meaning else ""
        model = await find_model(session, name)
    if retriever.meaning is None:
        return "off"
    if problem := retriever.meaning.problem or (model.problem if model else None):
        return problem
    return "ready" if model and model.complete else "documents are being read"
