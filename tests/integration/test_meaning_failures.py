"""Whatever is wrong with the model or with the texts: words carry on, and the state says why."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.db.engine import Sessions
from app.rag import queries_embedding
from app.rag.embedding_work import EmbeddingWork
from app.rag.embeddings import Embedder, Endpoint
from app.rag.meaning import Meaning
from app.rag.minilm import MiniLM
from app.rag.progress import meaning_progress, meaning_state
from app.rag.refusals import NO_DOCUMENTS
from app.rag.retrieval import Question, Retriever, retrieve
from app.settings import Settings
from tests.fake_embedder import DIMENSION, FakeEmbedder
from tests.stored import store_texts

ASKED = "How long is the nightly snapshot kept?"
BACKUP = {"backup.md": "The nightly snapshot is kept for 35 days in the vault.\n"}


def vectors(*rows: list[float]) -> httpx.Response:
    data = [{"index": n, "embedding": row} for n, row in enumerate(rows)]
    return httpx.Response(200, text=json.dumps({"data": data}))


FAILURES = {
    "down": httpx.ConnectError("nobody is there"),
    "slow": httpx.ReadTimeout(""),
    "of another dimension": vectors([1.0, 0.0]),
    "not a number": vectors([1.0, float("nan"), 0.0]),
    "too few": vectors(),
    "busy": httpx.Response(429, headers={"retry-after": "5"}),
}


async def at_once(_: float) -> None: ...


@pytest.fixture(params=FAILURES)
async def endpoint(request: pytest.FixtureRequest) -> AsyncIterator[Endpoint]:
    answer = FAILURES[request.param]

    def handle(_: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    given = {"embeddings_base_url": "http://embed.test/v1", "embeddings_model": "fake"}
    async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as http:
        yield Endpoint(Settings.model_validate(given), http, sleep=at_once)


async def check_that_words_carry_on(sessions: Sessions, embedder: Embedder) -> str:
    """Embed and ask; what the state says then."""
    async with sessions.begin() as session:
        await queries_embedding.register(session, embedder.name, DIMENSION)
    await store_texts(sessions, BACKUP)
    retriever = Retriever(sessions, Meaning(sessions, embedder, lambda _: None))
    working = asyncio.create_task(EmbeddingWork(sessions, embedder, 0.1).run())
    try:
        async with asyncio.timeout(20):
            while (state := await meaning_state(retriever)) == "documents are being read":  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    finally:
        working.cancel()
    finding = await retrieve(retriever, Question(ASKED), None)
    assert (finding.grounded, finding.similarity) == (True, None)
    progress = await meaning_progress(retriever, None)
    assert (progress["acme"].embedded, progress["acme"].passages) == (0, 1)
    return state


async def test_an_endpoint_that_fails_costs_meaning_alone(
    sessions: Sessions, endpoint: Endpoint
) -> None:
    assert await check_that_words_carry_on(sessions, endpoint) not in ("ready", "off")


async def test_wrong_weights_cost_meaning_alone(sessions: Sessions, tmp_path: Path) -> None:
    weights = tmp_path / "model.onnx"
    weights.write_bytes(b"something else")
    state = await check_that_words_carry_on(sessions, MiniLM(weights=weights))
    assert "does not hold the embedding model" in state


async def test_odd_passages_are_stored_embedded_and_found_around(sessions: Sessions) -> None:
    odd = {
        "one.txt": "x",
        "line.txt": "word " * 200_000,
        "emoji.txt": "🙂🙃🙂\n",
        "unknown.txt": "zxqj vvbn qqwz\n",
        "blank.txt": "\n",
    }
    await store_texts(sessions, odd | BACKUP)
    fake = FakeEmbedder()
    await EmbeddingWork(sessions, fake).sweep()
    retriever = Retriever(sessions, Meaning(sessions, fake, lambda _: None))
    assert await meaning_state(retriever) == "ready"
    for question in (ASKED, "🙂", "x", "zxqj?"):
        await retrieve(retriever, Question(question), None)
    assert (await retrieve(retriever, Question(ASKED), None)).passages[0].path == "backup.md"


@pytest.mark.parametrize("texts", [{}, BACKUP])
async def test_a_question_of_100_kb_is_answered_whatever_there_is(
    sessions: Sessions, texts: dict[str, str]
) -> None:
    await store_texts(sessions, texts)
    fake = FakeEmbedder()
    await EmbeddingWork(sessions, fake).sweep()
    retriever = Retriever(sessions, Meaning(sessions, fake, lambda _: None))
    question = " ".join(f"snapshot{n}" for n in range(8_000))
    finding = await retrieve(retriever, Question(question), None)
    assert bool(finding.passages) is bool(texts)
    assert texts or finding.reason == NO_DOCUMENTS
