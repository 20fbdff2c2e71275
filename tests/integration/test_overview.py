"""The overview of a large collection tells the sums of a moment ago."""

import asyncio

from app.db.engine import Sessions
from app.rag.embedding_work import EmbeddingWork
from app.rag.meaning import Meaning
from app.rag.overview import Overview
from app.rag.retrieval import Retriever
from app.schemas import SourceSummary
from tests.fake_embedder import FakeEmbedder
from tests.stored import store_texts


def overview_of(sessions: Sessions, small_documents: int) -> Overview:
    meaning = Meaning(sessions, FakeEmbedder(), lambda _: None)
    return Overview(Retriever(sessions, meaning), small_documents)


async def until_embedded(overview: Overview) -> SourceSummary:
    async with asyncio.timeout(20):
        while True:
            (source,) = await overview.sources(None)
            if source.meaning and source.meaning.embedded:
                return source
            await asyncio.sleep(0.05)


async def test_a_large_collection_is_exact_in_documents_and_soon_in_the_rest(
    sessions: Sessions,
) -> None:
    overview = overview_of(sessions, small_documents=0)
    await store_texts(sessions, {"a.md": "A cat.\n"})
    (first,) = await overview.sources(None)
    await store_texts(sessions, {"b.md": "A ship.\n"})
    (second,) = await overview.sources(None)
    assert (first.documents, second.documents) == (1, 2)
    assert second.bytes == first.bytes
    await EmbeddingWork(sessions, FakeEmbedder()).sweep()
    last = await until_embedded(overview)
    assert last.bytes > first.bytes
    await overview.close()


async def test_a_new_source_is_counted_at_once_and_hidden_ones_are_not_told(
    sessions: Sessions,
) -> None:
    overview = overview_of(sessions, small_documents=0)
    await store_texts(sessions, {"a.md": "A cat.\n"})
    await overview.sources(None)
    await store_texts(sessions, {"b.md": "A ship.\n"}, "other")
    assert [source.source for source in await overview.sources(None)] == ["acme", "other"]
    assert [s.source for s in await overview.sources(frozenset({"other"}))] == ["other"]
    await overview.close()


async def test_a_small_collection_is_always_exact(sessions: Sessions) -> None:
    overview = overview_of(sessions, small_documents=10)
    for number in range(3):
        await store_texts(sessions, {f"{number}.md": "A cat.\n"})
        (source,) = await overview.sources(None)
        assert (source.documents, source.lines) == (number + 1, number + 1)
    await overview.close()
