"""What callers learn of the background work."""

import httpx
import pytest

from app.db.engine import Sessions
from app.errors import EmbeddingError
from app.rag import queries_embedding
from app.rag.embedding_work import EmbeddingWork
from app.rag.meaning import Meaning
from app.rag.progress import meaning_progress, meaning_state
from app.rag.retrieval import Retriever
from tests.fake_embedder import FakeEmbedder
from tests.stored import store_texts


@pytest.fixture
def retriever(sessions: Sessions) -> Retriever:
    return Retriever(sessions, Meaning(sessions, FakeEmbedder(), lambda _: None))


async def test_progress_is_told_by_source(retriever: Retriever) -> None:
    await store_texts(retriever.sessions, {"a.md": "A cat.\n"})
    await EmbeddingWork(retriever.sessions, FakeEmbedder()).sweep()
    await store_texts(retriever.sessions, {"b.md": "A ship.\n"}, "other")
    progress = await meaning_progress(retriever, None)
    assert (progress["acme"].embedded, progress["acme"].passages) == (1, 1)
    assert (progress["other"].embedded, progress["other"].passages) == (0, 1)
    assert progress["other"].seconds_left is not None
    assert set(await meaning_progress(retriever, frozenset({"other"}))) == {"other"}


async def test_the_state_goes_from_reading_to_ready(retriever: Retriever) -> None:
    await store_texts(retriever.sessions, {"a.md": "A cat.\n"})
    assert await meaning_state(retriever) == "documents are being read"
    await EmbeddingWork(retriever.sessions, FakeEmbedder()).sweep()
    assert await meaning_state(retriever) == "ready"


async def test_the_state_names_the_problem_of_the_background_work(retriever: Retriever) -> None:
    async with retriever.sessions.begin() as session:
        model = await queries_embedding.register(session, "fake", None)
        await queries_embedding.report(session, model.id, problem="The endpoint is down.")
    assert await meaning_state(retriever) == "The endpoint is down."


async def test_the_state_names_the_problem_of_questions(retriever: Retriever) -> None:
    await store_texts(retriever.sessions, {"a.md": "A cat.\n"})
    fake = FakeEmbedder()
    await EmbeddingWork(retriever.sessions, fake).sweep()
    meaning = Meaning(retriever.sessions, fake, lambda _: None)
    fake.failures = [EmbeddingError("It is slow.")]
    await meaning.of("Where is the cat?")
    assert await meaning_state(Retriever(retriever.sessions, meaning)) == "It is slow."


async def test_without_meaning_the_api_says_so(
    client: httpx.AsyncClient, sessions: Sessions
) -> None:
    await store_texts(sessions, {"a.md": "A cat.\n"})
    assert (await client.get("/readyz")).json() == {"status": "ready", "meaning": "off"}
    (source,) = (await client.get("/api/sources")).json()["sources"]
    assert source["meaning"] is None
