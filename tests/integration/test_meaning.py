"""Retrieval by meaning: vectors in the database, and what happens while they are missing."""

import pytest

from app.db.engine import Sessions
from app.errors import EmbeddingError
from app.rag.embedding_work import EmbeddingWork
from app.rag.grounding import Gate
from app.rag.meaning import Meaning
from app.rag.retrieval import Finding, Question, Retriever, retrieve
from tests.fake_embedder import FakeEmbedder
from tests.stored import store_texts

TEXTS = {
    "pets.md": "The feline sleeps most of the day.\n",
    "harbour.md": "A vessel leaves the harbour at noon.\n",
    "kitchen.md": "Knead a loaf for ten minutes.\n",
}


@pytest.fixture
def fake() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
async def stored(sessions: Sessions) -> Sessions:
    await store_texts(sessions, TEXTS)
    return sessions


def by_meaning(
    sessions: Sessions, fake: FakeEmbedder, older: FakeEmbedder | None = None
) -> Retriever:
    def named(name: str) -> FakeEmbedder | None:
        return older if older and older.name == name else None

    return Retriever(sessions, Meaning(sessions, fake, named), Gate(0.4, 0.455))


async def find(retriever: Retriever, message: str, *visible: str) -> Finding:
    return await retrieve(retriever, Question(message), frozenset(visible) or None)


async def embed(sessions: Sessions, fake: FakeEmbedder) -> None:
    await EmbeddingWork(sessions, fake).sweep()


async def test_a_passage_is_found_without_any_word_of_the_question(
    stored: Sessions, fake: FakeEmbedder
) -> None:
    await embed(stored, fake)
    finding = await find(by_meaning(stored, fake), "Where do cats rest?")
    assert finding.grounded
    assert finding.passages[0].path == "pets.md"
    assert finding.similarity == pytest.approx(1.0, abs=0.01)
    assert finding.reason == "Similarity 1.00; the passage has 0 % of your words."


async def test_before_there_are_vectors_words_find_and_decide(
    stored: Sessions, fake: FakeEmbedder
) -> None:
    finding = await find(by_meaning(stored, fake), "When does the vessel leave the harbour?")
    assert (finding.grounded, finding.similarity, finding.threshold) == (True, None, 0.455)
    assert fake.asked == []


async def test_a_new_document_is_found_by_words_among_embedded_ones(
    stored: Sessions, fake: FakeEmbedder
) -> None:
    await embed(stored, fake)
    await store_texts(stored, {"new.md": "The vault code of the zebra is 7714.\n"})
    finding = await find(by_meaning(stored, fake), "What is the vault code of the zebra?")
    assert finding.grounded
    assert finding.passages[0].path == "new.md"
    assert finding.threshold == 0.455


async def test_when_the_model_fails_words_carry_on(stored: Sessions, fake: FakeEmbedder) -> None:
    await embed(stored, fake)
    retriever = by_meaning(stored, fake)
    fake.failures = [EmbeddingError("It is down.")]
    finding = await find(retriever, "When does the vessel leave the harbour?")
    assert finding.grounded
    assert finding.similarity is None
    assert retriever.meaning is not None
    assert retriever.meaning.problem == "It is down."


async def test_after_a_failure_questions_do_not_wait_for_the_model(
    stored: Sessions, fake: FakeEmbedder
) -> None:
    await embed(stored, fake)
    retriever = by_meaning(stored, fake)
    fake.failures = [EmbeddingError("It is down.")]
    await find(retriever, "Where do cats rest?")
    asked = len(fake.asked)
    await find(retriever, "Where do cats rest?")
    assert len(fake.asked) == asked


async def test_a_model_that_answers_another_dimension_is_not_compared(
    stored: Sessions, fake: FakeEmbedder
) -> None:
    await embed(stored, fake)
    retriever = by_meaning(stored, FakeEmbedder(dimension=100))
    finding = await find(retriever, "Where do cats rest?")
    assert finding.similarity is None
    assert retriever.meaning is not None
    assert "has changed" in (retriever.meaning.problem or "")


async def test_hidden_sources_are_not_found_by_meaning(
    stored: Sessions, fake: FakeEmbedder
) -> None:
    await store_texts(stored, {"secret.md": "Cat, cat, cat.\n"}, "hidden")
    await embed(stored, fake)
    finding = await find(by_meaning(stored, fake), "Where do cats rest?", "acme")
    assert finding.passages[0].path == "pets.md"
    assert {passage.source for passage in finding.passages} == {"acme"}


async def test_the_vectors_of_the_old_model_serve_until_all_are_made_anew(
    stored: Sessions, fake: FakeEmbedder
) -> None:
    await embed(stored, fake)
    newer = FakeEmbedder("newer")
    newer.failures = [EmbeddingError("Not yet.")]
    with pytest.raises(EmbeddingError):
        await embed(stored, newer)
    before = await find(by_meaning(stored, newer, older=fake), "Where do cats rest?")
    assert before.similarity is not None
    assert newer.asked == []
    await embed(stored, newer)
    after = await find(by_meaning(stored, newer, older=fake), "Where do cats rest?")
    assert after.similarity is not None
    assert newer.asked[-1] == "Where do cats rest?"


async def test_a_long_question_is_asked_in_part(stored: Sessions, fake: FakeEmbedder) -> None:
    await embed(stored, fake)
    await find(by_meaning(stored, fake), "cat " * 25_000)
    assert len(fake.asked[-1]) == 2_000
