"""Questions that name a document, or ask what documents there are, are grounded."""

import base64
import time

import pytest

from app.db.engine import Sessions
from app.documents.queries_store import store
from app.documents.upload import prepare
from app.rag.named import file_names
from app.rag.passages import LINE_WINDOW
from app.rag.refusals import NO_DOCUMENTS
from app.rag.retrieval import ABOUT_COLLECTION, Finding, Question, Retriever, retrieve
from tests.stored import store_texts

TEXTS = {
    "library/heapq.rst.txt": "Heaps are trees.\n" * 200 + "The last line tells of zebras.\n",
    "guide.md": "# Seasonal Maintenance\n\nOil the hinges.\n\nSweep the chimney.\n",
    "net/README.md": "# Read\n\nWires.\n",
    "disk/README.md": "# Read\n\nPlatters.\n",
}


@pytest.fixture
async def manual(sessions: Sessions) -> Sessions:
    async with sessions.begin() as session:
        for path, text in TEXTS.items():
            kind = "text/markdown" if path.endswith(".md") else "text/plain"
            await store(session, None, prepare("manual", path, text.encode(), kind))
    return sessions


async def find(sessions: Sessions, message: str, previous: str | None = None) -> Finding:
    return await retrieve(Retriever(sessions), Question(message, previous), None)


@pytest.mark.parametrize(
    "question",
    [
        "summarize heapq.rst.txt",
        "What is written in HEAPQ.rst.txt?",
        "Give an overview of library/heapq.rst.txt, please.",
        "What’s “manual/library/heapq.rst.txt” good for?",
    ],
)
async def test_a_named_file_is_opened_at_its_beginning(manual: Sessions, question: str) -> None:
    finding = await find(manual, question)
    assert finding.grounded
    assert (finding.passages[0].path, finding.passages[0].first_line) == (
        "library/heapq.rst.txt",
        1,
    )
    assert "is the name of a document" in finding.reason


async def test_a_full_title_is_a_name(manual: Sessions) -> None:
    finding = await find(manual, "Please digest the entire seasonal maintenance for my boss")
    assert finding.grounded
    assert finding.passages[0].path == "guide.md"


async def test_a_part_of_a_title_is_none(manual: Sessions) -> None:
    finding = await find(manual, "Please digest the entire maintenance for my boss in Bern")
    assert not finding.grounded
    assert finding.reason.startswith("The best passage has")


async def test_a_name_that_several_have_opens_each(manual: Sessions) -> None:
    finding = await find(manual, "Summarize README.md")
    assert [p.path for p in finding.passages[:2]] == ["disk/README.md", "net/README.md"]


async def test_of_several_names_each_opens_its_document(manual: Sessions) -> None:
    finding = await find(manual, "Compare guide.md with disk/readme.md and nothing.md")
    assert [p.path for p in finding.passages[:2]] == ["guide.md", "disk/README.md"]


@pytest.mark.parametrize("question", ["Sum up ÜBERSICHT_1.md", "Sum up übersicht_1.MD"])
async def test_a_name_is_found_in_capitals_and_in_small_letters(
    sessions: Sessions, question: str
) -> None:
    await store_texts(sessions, {"Übersicht_1.md": "Wires.\n", "übersichtx1.md": "Platters.\n"})
    assert [p.path for p in (await find(sessions, question)).passages] == ["Übersicht_1.md"]


async def test_of_a_named_document_of_one_line_a_part_is_shown(sessions: Sessions) -> None:
    texts = {"data.min.json": '{"pump": 17, ' * 15_000 + '"valve": 4}'}
    await store_texts(sessions, texts | {f"{n}.txt": "A zebra is striped.\n" for n in range(60)})
    for asked in ("Summarize data.min.json", "Is the zebra of data.min.json striped?"):
        passages = (await find(sessions, asked)).passages
        (opening,) = [passage for passage in passages if passage.path == "data.min.json"]
        assert len(opening.text) <= LINE_WINDOW
        assert not opening.is_whole


@pytest.mark.parametrize("limit", [1, 4, 5, 20])
async def test_openings_count_among_the_passages_that_are_wanted(
    manual: Sessions, limit: int
) -> None:
    question = Question("Which heaps are trees in library/heapq.rst.txt?", passages=limit)
    passages = (await retrieve(Retriever(manual), question, None)).passages
    assert 1 <= len(passages) <= limit


async def test_what_a_named_document_says_comes_before_its_beginning(manual: Sessions) -> None:
    finding = await find(manual, "What does heapq.rst.txt tell of zebras in the last line?")
    assert "zebras" in finding.passages[0].text
    assert any(passage.first_line == 1 for passage in finding.passages)


async def test_a_name_that_no_document_has_grounds_nothing(manual: Sessions) -> None:
    assert not (await find(manual, "summarize bisect.rst.txt")).grounded


async def test_hidden_documents_are_not_known_by_name(manual: Sessions) -> None:
    question = Question("summarize heapq.rst.txt")
    assert not (await retrieve(Retriever(manual), question, frozenset({"other"}))).grounded


@pytest.mark.parametrize("question", ["What documents do you have?", "Welche Dokumente gibt es?"])
async def test_a_question_for_the_documents_themselves_is_left_to_the_tools(
    manual: Sessions, question: str
) -> None:
    finding = await find(manual, question)
    assert (finding.grounded, finding.reason, finding.passages) == (True, ABOUT_COLLECTION, ())


async def test_without_documents_it_is_not(sessions: Sessions) -> None:
    finding = await find(sessions, "What documents do you have?")
    assert (finding.grounded, finding.reason) == (False, NO_DOCUMENTS)


@pytest.mark.parametrize("message", ["Tell me more", "Give me an example.", "Why?", "And how?"])
async def test_who_asks_for_more_asks_the_question_before_again(
    manual: Sessions, message: str
) -> None:
    asked = "Who should oil the hinges?"
    assert (await find(manual, message, asked)).passages[0].path == "guide.md"
    assert (await find(manual, message, asked)).score >= (await find(manual, asked)).score - 0.1


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Sum up a.md and docs/b.txt.", ["a.md", "docs/b.txt"]),
        ("Is 3.11 newer than v2.7, e.g. here?", []),
        ("Look at ./notes.txt!", ["notes.txt"]),
        ("Where is the 100%_sure.pdf?", ["100%_sure.pdf"]),
        ("Is it in (a.b.c.txt), x.md.?", ["a.b.c.txt", "x.md"]),
        ("Open docs.d/a.toolongextension or a.b/c", []),
        ("Look into 北京.txt and\u00a0über_uns.md", ["北京.txt", "über_uns.md"]),
    ],
)
def test_file_names_have_an_extension(question: str, names: list[str]) -> None:
    assert file_names(question) == names


@pytest.mark.parametrize(
    "text",
    [
        "x" * 200_000,
        base64.b64encode(bytes(range(256)) * 600).decode(),
        "北" * 200_000,
        "a." * 99_999,
    ],
    ids=["letters", "base64", "chinese", "dots"],
)
def test_a_long_word_takes_no_longer_than_its_length(text: str) -> None:
    assert seconds_for(text) < 60 * seconds_for(text[: len(text) // 20])


def seconds_for(text: str) -> float:
    """The processor time of looking for names, the shortest of a few."""
    taken: list[float] = []
    for _ in range(5):
        begun = time.process_time_ns()
        assert file_names(text) == []
        taken.append((time.process_time_ns() - begun) / 1e9)
    return min(taken)
