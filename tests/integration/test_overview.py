"""The overview of a large collection tells sums that are a few seconds old at most."""

import asyncio

from app.db.engine import Sessions
from app.documents.queries_store import remove
from app.rag.embedding_work import EmbeddingWork
from app.rag.meaning import Meaning
from app.rag.overview import OLDEST_SECONDS, Overview
from app.rag.retrieval import Retriever
from tests.fake_embedder import FakeEmbedder
from tests.stored import store_texts


class Clock:
    """Stands still until it is told to go on, in seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def overview_of(sessions: Sessions, small_documents: int, clock: Clock | None = None) -> Overview:
    meaning = Meaning(sessions, FakeEmbedder(), lambda _: None)
    return Overview(Retriever(sessions, meaning), small_documents, clock or Clock())


async def embedded(overview: Overview) -> int:
    (source,) = await overview.sources(None)
    assert source.meaning
    return source.meaning.embedded


async def test_a_large_collection_is_exact_at_once_when_documents_came_or_went(
    sessions: Sessions,
) -> None:
    overview = overview_of(sessions, small_documents=0)
    for number in range(3):
        await store_texts(sessions, {f"{number}.md": "A cat.\n"})
        (source,) = await overview.sources(None)
        assert (source.documents, source.lines) == (number + 1, number + 1)
        assert source.meaning
        assert source.meaning.passages == number + 1
    async with sessions.begin() as session:
        await remove(session, None, "acme", "0.md")
    (source,) = await overview.sources(None)
    assert (source.documents, source.lines) == (2, 2)
    await overview.close()


async def test_in_a_large_collection_no_sums_are_told_that_are_older_than_some_seconds(
    sessions: Sessions,
) -> None:
    clock = Clock()
    overview = overview_of(sessions, 0, clock)
    await store_texts(sessions, {"a.md": "A cat.\n"})
    assert await embedded(overview) == 0
    await EmbeddingWork(sessions, FakeEmbedder()).sweep()
    assert await embedded(overview) == 0
    clock.now += OLDEST_SECONDS + 0.1
    assert await embedded(overview) == 1
    await overview.close()


async def test_sums_of_a_few_seconds_ago_are_told_while_new_ones_are_made(
    sessions: Sessions,
) -> None:
    clock = Clock()
    overview = overview_of(sessions, 0, clock)
    await store_texts(sessions, {"a.md": "A cat.\n"})
    await overview.sources(None)
    await EmbeddingWork(sessions, FakeEmbedder()).sweep()
    clock.now += OLDEST_SECONDS - 0.1
    assert await embedded(overview) == 0
    async with asyncio.timeout(20):
        while True:
            if await embedded(overview):
                break
            await asyncio.sleep(0.05)
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


async def test_callers_at_once_are_told_the_same(sessions: Sessions) -> None:
    overview = overview_of(sessions, small_documents=10)
    await store_texts(sessions, {"a.md": "A cat.\n"})
    told = await asyncio.gather(*(overview.sources(None) for _ in range(20)))
    assert {source.lines for (source,) in told} == {1}
    await overview.close()
