"""Retrieval and the gate on stored documents, and `GET /api/retrieve`."""

import httpx
import pytest
from sqlalchemy import text, update

from app.db.engine import Sessions
from app.models import Document
from app.rag.queries_words import LARGE, count_passages
from app.rag.retrieval import NO_DOCUMENTS, Finding, Question, Retriever, retrieve
from tests.factories import put
from tests.stored import store_texts

MANUAL = {
    "install.md": "# Install\n\nDownload the archive and unpack it into a folder of your choice.\n",
    "backup.md": "# Backups\n\nThe nightly snapshot is kept for 35 days in the vault.\n",
    "network.md": "# Network\n\nThe gateway listens on port 8443 and speaks TLS only.\n",
    "kosten.md": "# Kosten\n\nDie Wartung der Wärmepumpe kostet 240 Euro im Jahr.\n",
    "中文.md": "# 说明\n\n备份保存三十五天。\n",
    "errors.md": "ERR_4821 means that the retry-budget_ms is spent. See LOT#A4-77.\n",
}


@pytest.fixture
async def manual(sessions: Sessions) -> Sessions:
    await store_texts(sessions, MANUAL, source="manual")
    return sessions


async def find(sessions: Sessions, message: str, previous: str | None = None) -> Finding:
    return await retrieve(Retriever(sessions), Question(message, previous), None)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("How long is the nightly snapshot kept?", "backup.md"),
        ("On which port does the gateway listen?", "network.md"),
        ("Was kostet die Wartung der Wärmepumpe?", "kosten.md"),
    ],
)
async def test_a_covered_question_is_grounded_in_its_passage(
    manual: Sessions, question: str, path: str
) -> None:
    finding = await find(manual, question)
    assert finding.grounded
    assert finding.passages[0].path == path
    assert finding.score >= finding.threshold
    assert "of your words" in finding.reason


@pytest.mark.parametrize(
    "question", ["Who won the cup in Bern?", "What is the best recipe for goulash with dumplings?"]
)
async def test_a_question_about_something_else_is_not(manual: Sessions, question: str) -> None:
    finding = await find(manual, question)
    assert not finding.grounded
    assert finding.score < finding.threshold


@pytest.mark.parametrize(
    "question",
    [
        "Please tell me everything about err_4821 in this enormous unknown galaxy",
        "RETRY-BUDGET_MS?",
        "budget_ms, what would that possibly be, colleague?",
        "Who ordered lot#a4-77 yesterday?",
    ],
)
async def test_an_identifier_grounds_a_turn_whatever_else_is_asked(
    manual: Sessions, question: str
) -> None:
    finding = await find(manual, question)
    assert finding.grounded
    assert finding.passages[0].path == "errors.md"
    assert "word for word" in finding.reason


async def test_a_quoted_phrase_grounds_a_turn(manual: Sessions) -> None:
    finding = await find(manual, "Which colleague of ours wrote “speaks tls only” yesterday?")
    assert finding.grounded
    assert finding.passages[0].path == "network.md"


async def test_small_talk_is_known_as_such(manual: Sessions) -> None:
    finding = await find(manual, "Hello, how are you?")
    assert (finding.grounded, finding.reason, finding.passages) == (False, "smalltalk", ())


async def test_a_follow_up_is_found_with_the_question_before_it(manual: Sessions) -> None:
    alone = await find(manual, "And where is that?")
    followed = await find(manual, "And where is that?", "How long is the nightly snapshot kept?")
    assert not alone.grounded
    assert followed.grounded
    assert followed.passages[0].path == "backup.md"


async def test_thanks_after_a_question_stay_small_talk(manual: Sessions) -> None:
    finding = await find(manual, "Thanks!", "How long is the nightly snapshot kept?")
    assert finding.reason == "smalltalk"


async def test_an_empty_store_says_so(sessions: Sessions) -> None:
    finding = await find(sessions, "How long is the nightly snapshot kept?")
    assert finding.reason == NO_DOCUMENTS


async def test_hidden_sources_are_not_found(manual: Sessions) -> None:
    await store_texts(manual, {"secret.md": "The nightly snapshot is kept in Bern.\n"}, "hidden")
    question = Question("How long is the nightly snapshot kept?")
    finding = await retrieve(Retriever(manual), question, frozenset({"manual"}))
    assert {passage.source for passage in finding.passages} == {"manual"}


async def test_lines_are_those_of_the_document(sessions: Sessions) -> None:
    filler = "".join(f"filler {n} lorem ipsum dolor\n" for n in range(1, 400))
    await store_texts(sessions, {"long.txt": f"{filler}the zebra is striped\n"})
    finding = await find(sessions, "Is the zebra striped?")
    best = finding.passages[0]
    assert best.last_line == 400
    assert best.numbered().endswith("400: the zebra is striped")


async def test_passages_are_counted_where_few_and_estimated_where_many(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.md": "One.\n", "b.md": "Two.\n"})
    chosen = frozenset({"acme"})
    async with sessions.begin() as session:
        assert await count_passages(session, chosen) == 2
        assert await count_passages(session, frozenset({"other"})) == 0
        # Two documents are few, but these would be cut into very many passages.
        await session.execute(update(Document).values(characters=LARGE * 1_200))
        assert await count_passages(session, chosen) == 2 * LARGE


async def test_in_a_large_collection_the_rare_words_find_and_the_frequent_count(
    sessions: Sessions,
) -> None:
    texts = {f"{n:03}.md": f"The valve of pump {n}.\n" for n in range(200)}
    await store_texts(sessions, texts | {"150.md": "The valve of the zeppelin.\n"})
    async with sessions.begin() as session:
        await session.execute(update(Document).values(characters=LARGE * 12))
        await session.execute(text("ANALYZE passages"))
    retriever = Retriever(sessions)
    finding = await retrieve(retriever, Question("zeppelin valve"), frozenset({"acme"}))
    # By its frequent word, none of the two hundred others was found.
    assert [passage.path for passage in finding.passages] == ["150.md"]
    assert finding.coverage == 1
    common = await retrieve(retriever, Question("valve"), frozenset({"acme"}))
    assert len(common.passages) == 20


@pytest.mark.parametrize(
    "question", ["'", "\\", "a'b\\c", "%_", "🙂", "x" * 100_000, "!!!", "' OR 1=1"]
)
async def test_no_question_breaks_it(manual: Sessions, question: str) -> None:
    assert not (await find(manual, question)).grounded


async def test_the_api_shows_what_a_turn_would_see(client: httpx.AsyncClient) -> None:
    await put(client, "manual", "backup.md", MANUAL["backup.md"])
    question = "How long is the nightly snapshot kept?"
    answer = (await client.get("/api/retrieve", params={"q": question, "limit": 1})).json()
    assert set(answer) == {
        *("grounded", "score", "threshold", "similarity", "coverage", "reason", "passages"),
    }
    assert answer["grounded"] is True
    (passage,) = answer["passages"]
    assert passage["path"] == "backup.md"
    assert (passage["first_line"], passage["last_line"]) == (1, 3)
    assert passage["text"] == MANUAL["backup.md"]
    elsewhere = await client.get("/api/retrieve", params={"q": question, "source": "other"})
    assert elsewhere.json()["passages"] == []


@pytest.mark.parametrize(
    "params", [{}, {"q": ""}, {"q": "x", "limit": 0}, {"q": "x", "limit": "1e9"}]
)
async def test_bad_parameters_are_refused(
    client: httpx.AsyncClient, params: dict[str, str]
) -> None:
    refused = await client.get("/api/retrieve", params=params)
    assert refused.status_code == 422
