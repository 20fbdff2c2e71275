"""Names that machines and registries give are found to the letter, however they are asked for."""

import random

import pytest

from app.db.engine import Sessions
from app.rag.minilm import VOCABULARY
from app.rag.passages import best_within
from app.rag.retrieval import Question, Retriever, retrieve
from tests.stored import store_texts

# An identifier, and a part of it that people use instead.
IDENTIFIERS = {
    "retry_budget_ms": "budget_ms",
    "ERR_4821": "4821",
    "vault-rotation-key": "rotation-key",
    "2026-0091": "0091",
    "billing.ledger.entry": "ledger.entry",
    "opt/relay/hooks": "relay/hooks",
    "config/relay.toml": "relay.toml",
    "INV/2024/00417": "00417",
    "Codec::FrameReader": "FrameReader",
    "urn:isbn:0451450523": "0451450523",
    "LOT#A4-77": "A4-77",
    "deploy@harbor-9": "harbor-9",
    "ops@acme.example": "acme.example",
    "0x7fd4a2b1": "7fd4a2b1",
    "9f86d081884c": "9f86d081",
    "v4.18.2-rc3": "4.18.2",
    "gcc+12.1": "12.1",
    "getShardOwner": "ShardOwner",
    "Ostrander Ridge": "Ostrander",
    "Project Nightjar": "Nightjar",
}
ASKED = [
    *((name, f"Who is responsible for {name} and when did that change?") for name in IDENTIFIERS),
    *((name, f"What can you tell me about {name.swapcase()}?") for name in IDENTIFIERS),
    *((name, f"Where do we mention {part}?") for name, part in IDENTIFIERS.items()),
]
DOCUMENTS = 500
BUDGET = 9_000


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Documents of English words in a random order, every 25th with an identifier in it."""
    chance = random.Random(7)
    known = VOCABULARY.read_text("utf-8").split()
    words = [word for word in known if word.isalpha() and word.isascii() and len(word) > 3]
    sentences = [" ".join(chance.choices(words[:9_000], k=12)) for _ in range(4_000)]
    texts = {
        f"{number}.md": ".\n".join(chance.choices(sentences, k=40)) for number in range(DOCUMENTS)
    }
    for number, name in enumerate(IDENTIFIERS):
        before = texts[f"{number * 25}.md"]
        texts[f"{number * 25}.md"] = f"{before}\nThe entry {name} belongs to the night shift."
    return texts


async def test_the_passage_with_the_identifier_is_given_to_the_model(
    sessions: Sessions, texts: dict[str, str]
) -> None:
    await store_texts(sessions, texts)
    missed: list[str] = []
    for name, question in ASKED:
        finding = await retrieve(Retriever(sessions), Question(question), None)
        given = best_within(finding.passages, BUDGET)
        if not (finding.grounded and any(name in passage.text for passage in given)):
            missed.append(f"{question} {finding.score}")
    assert missed == []


PAGES = {
    "heap.rst": ".. function:: heapreplace(heap, item)\n\n   Pops and pushes.",
    "known.md": "The well of the village is deep, and nobody has a bucket.",
}


async def test_a_name_that_stands_nowhere_is_looked_up_by_its_parts(sessions: Sessions) -> None:
    await store_texts(sessions, PAGES)
    found = await retrieve(Retriever(sessions), Question("And what is heap.heapreplace?"), None)
    assert found.grounded
    assert "“heapreplace” stands word for word in 1 passage" in found.reason


@pytest.mark.parametrize("question", ["Who are well-known actors?", "Summarize known.md"])
async def test_ordinary_words_and_file_names_are_looked_up_as_a_whole(
    sessions: Sessions, question: str
) -> None:
    await store_texts(sessions, PAGES)
    finding = await retrieve(Retriever(sessions), Question(question), None)
    assert "word for word" not in finding.reason


async def test_that_words_are_too_common_to_tell_is_said(sessions: Sessions) -> None:
    await store_texts(sessions, {f"{number}.md": f"Call {number}." for number in range(400)})
    finding = await retrieve(Retriever(sessions), Question("Who is on call?"), None)
    assert not finding.grounded
    assert finding.reason.endswith("100 % of your words, which are too common here to tell.")
