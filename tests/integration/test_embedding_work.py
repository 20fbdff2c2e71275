"""The background work: every passage gets its vectors, whatever goes wrong in between."""

import asyncio

import pytest
from sqlalchemy import func, select, text

from app.db.engine import Sessions
from app.documents.queries_store import remove
from app.errors import EmbeddingError
from app.models import EmbeddingModel, Window
from app.rag import queries_embedding
from app.rag.embedding_work import EmbeddingWork
from tests.fake_embedder import FakeEmbedder
from tests.stored import store_texts

LONG = "".join(f"Line {n} of a long text about a cat.\n" for n in range(60))


@pytest.fixture
def fake() -> FakeEmbedder:
    return FakeEmbedder()


async def count_windows(sessions: Sessions, *conditions: object) -> int:
    async with sessions() as session:
        query = select(func.count()).select_from(Window).where(*conditions)  # pyright: ignore[reportArgumentType]
        return await session.scalar(query) or 0


async def the_model(sessions: Sessions, name: str = "fake") -> EmbeddingModel | None:
    async with sessions() as session:
        return await queries_embedding.find_model(session, name)


async def test_every_passage_gets_vectors_of_all_its_windows(
    sessions: Sessions, fake: FakeEmbedder
) -> None:
    await store_texts(sessions, {"long.md": LONG, "short.md": "A cat.\n"})
    await EmbeddingWork(sessions, fake).sweep()
    assert await count_windows(sessions) == len(fake.asked) > 3
    model = await the_model(sessions)
    assert model is not None
    assert (model.complete, model.dimension, model.problem) == (True, 384, None)
    assert (model.passages_per_second or 0) > 0


async def test_what_has_vectors_is_not_embedded_again(
    sessions: Sessions, fake: FakeEmbedder
) -> None:
    await store_texts(sessions, {"long.md": LONG})
    await EmbeddingWork(sessions, fake).sweep()
    asked = len(fake.asked)
    await EmbeddingWork(sessions, fake).sweep()
    assert len(fake.asked) == asked
    await store_texts(sessions, {"new.md": "A ship.\n"})
    await EmbeddingWork(sessions, fake).sweep()
    assert fake.asked[asked:] == ["A ship."]


async def test_only_what_a_new_version_changed_is_embedded_again(
    sessions: Sessions, fake: FakeEmbedder
) -> None:
    await store_texts(sessions, {"long.md": LONG})
    await EmbeddingWork(sessions, fake).sweep()
    before, fake.asked = len(fake.asked), []
    await store_texts(sessions, {"long.md": f"{LONG}A last line.\n"})
    await EmbeddingWork(sessions, fake).sweep()
    assert 0 < len(fake.asked) < before


async def test_a_removed_document_takes_its_vectors_along(
    sessions: Sessions, fake: FakeEmbedder
) -> None:
    await store_texts(sessions, {"a.md": "A cat.\n"})
    await EmbeddingWork(sessions, fake).sweep()
    async with sessions.begin() as session:
        await remove(session, None, "acme", "a.md")
    assert await count_windows(sessions) == 0


async def test_a_text_that_the_model_refuses_costs_no_other_its_vectors(
    sessions: Sessions, fake: FakeEmbedder
) -> None:
    await store_texts(
        sessions, {f"{n}.md": "A cat.\n" for n in range(5)} | {"bad.md": "§\n", "blank.md": "\n"}
    )
    await EmbeddingWork(sessions, fake).sweep()
    assert await count_windows(sessions, Window.vector.is_not(None)) == 5
    assert await count_windows(sessions, Window.vector.is_(None)) == 2


async def test_a_failure_keeps_what_was_done(sessions: Sessions, fake: FakeEmbedder) -> None:
    await store_texts(sessions, {f"{n}.md": "A cat.\n" for n in range(20)})
    fake.failures = [EmbeddingError("It is down.")]
    with pytest.raises(EmbeddingError):
        await EmbeddingWork(sessions, fake).sweep()
    await EmbeddingWork(sessions, fake).sweep()
    assert await count_windows(sessions) == 20


async def test_a_model_whose_dimension_changes_is_refused(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.md": "A cat.\n"})
    await EmbeddingWork(sessions, FakeEmbedder()).sweep()
    await store_texts(sessions, {"b.md": "A cat.\n"})
    with pytest.raises(EmbeddingError, match="another name"):
        await EmbeddingWork(sessions, FakeEmbedder(dimension=100)).sweep()


async def test_the_old_models_vectors_go_when_the_new_ones_are_complete(
    sessions: Sessions, fake: FakeEmbedder
) -> None:
    await store_texts(sessions, {"a.md": "A cat.\n"})
    await EmbeddingWork(sessions, fake).sweep()
    await EmbeddingWork(sessions, FakeEmbedder("newer")).sweep()
    assert await the_model(sessions) is None
    assert await count_windows(sessions) == 1


async def test_passages_of_a_document_that_is_being_replaced_are_passed_over(
    sessions: Sessions, fake: FakeEmbedder
) -> None:
    await store_texts(sessions, {"a.md": "A cat.\n", "b.md": "A ship.\n"})
    async with sessions() as replacing:
        await replacing.execute(text("SELECT FROM passages WHERE id = 1 FOR UPDATE"))
        await EmbeddingWork(sessions, fake).sweep()
    assert fake.asked == ["A ship."]


async def test_progress_counts_passages_by_source(sessions: Sessions, fake: FakeEmbedder) -> None:
    await store_texts(sessions, {"a.md": "A cat.\n"})
    await EmbeddingWork(sessions, fake).sweep()
    await store_texts(sessions, {"b.md": "A ship.\n", "c.md": "A law.\n"}, "other")
    async with sessions() as session:
        progress = await queries_embedding.progress(session, "fake", None)
        seen = await queries_embedding.progress(session, "fake", frozenset({"acme"}))
    assert (progress["acme"].passages, progress["acme"].embedded) == (1, 1)
    assert (progress["other"].passages, progress["other"].embedded) == (2, 0)
    assert set(seen) == {"acme"}


async def test_the_work_ends_when_nothing_comes_for_a_while(
    sessions: Sessions, fake: FakeEmbedder
) -> None:
    await store_texts(sessions, {"long.md": LONG})
    async with asyncio.timeout(10):
        await EmbeddingWork(sessions, fake, patience_seconds=0.05).run()
    model = await the_model(sessions)
    assert model is not None
    assert model.complete
