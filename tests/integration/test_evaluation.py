"""The measuring instrument, and what it must find over the project's own documents."""

import subprocess
from pathlib import Path

import pytest

from app.db.engine import Sessions
from app.errors import InvalidRequest
from app.rag.embedding_work import EmbeddingWork
from app.rag.evaluation import Evaluation, KnownQuestion, Outcome, evaluate, read_questions
from app.rag.meaning import Meaning
from app.rag.minilm import MiniLM
from app.rag.retrieval import Finding, Retriever
from app.settings import Settings
from tests.e2e.server import BOR
from tests.stored import store_texts

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "tests" / "questions" / "project.jsonl"
TEXTS = ["README.md", "CONTRIBUTING.md", *(f"docs/decisions/{n:04}-*.md" for n in range(1, 7))]


@pytest.fixture
async def stored(sessions: Sessions) -> Sessions:
    files = [file for pattern in TEXTS for file in ROOT.glob(pattern)]
    await store_texts(
        sessions, {f.relative_to(ROOT).as_posix(): f.read_text("utf-8") for f in files}
    )
    return sessions


async def ask_all(retriever: Retriever) -> Evaluation:
    questions = read_questions(QUESTIONS.read_text("utf-8").splitlines())
    return Evaluation([await evaluate(retriever, known, None) for known in questions])


async def test_by_words_the_projects_documents_answer_most_questions(stored: Sessions) -> None:
    found = await ask_all(Retriever(stored))
    assert (found.balanced_accuracy or 0) >= 0.85, found.worst_misses(5)
    assert (found.hit_rate(5) or 0) >= 0.85


async def test_by_meaning_they_answer_nearly_all(stored: Sessions) -> None:
    model = MiniLM(2)
    await EmbeddingWork(stored, model).sweep()
    found = await ask_all(Retriever(stored, Meaning(stored, model, lambda _: None)))
    assert (found.balanced_accuracy or 0) >= 0.9, found.worst_misses(5)
    assert (found.auc or 0) >= 0.95
    assert (found.hit_rate(1) or 0) >= 0.8
    assert found.hit_rate(5) == 1.0


def outcome(expect: str, score: float, rank: int | None = None) -> Outcome:
    known = KnownQuestion.model_validate({"question": "?", "expect": expect, "path": "a"})
    return Outcome(known, Finding(score >= 0.5, score, 0.5, 0.0, "why"), rank)


def test_the_figures_are_those_of_the_textbook() -> None:
    found = Evaluation(
        [
            outcome("grounded", 0.9, 1),
            outcome("grounded", 0.45, 4),
            outcome("deflected", 0.6),
            outcome("deflected", 0.1),
        ]
    )
    assert found.balanced_accuracy == 0.5
    assert found.auc == 0.75
    assert (found.hit_rate(1), found.hit_rate(5)) == (0.5, 1.0)
    assert found.mean_reciprocal_rank == pytest.approx((1 + 0.25) / 2)
    assert [miss.finding.score for miss in found.worst_misses(5)] == [0.6, 0.45]


def test_without_questions_of_both_kinds_there_are_no_figures() -> None:
    assert Evaluation([]).auc is None
    assert Evaluation([outcome("grounded", 0.9, 1)]).balanced_accuracy is None
    assert Evaluation([outcome("deflected", 0.9)]).hit_rate(1) is None


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "Line 2"),
        ('{"question": "a"}', "expect"),
        ('{"question": 1, "expect": "grounded"}', "q"),
    ],
)
def test_a_malformed_question_is_named(line: str, complaint: str) -> None:
    with pytest.raises(InvalidRequest, match=complaint):
        read_questions(["", line])


async def test_the_command_prints_the_tables(stored: Sessions, settings: Settings) -> None:
    environment = {
        "BOR_DATABASE_URL": settings.database_url,
        "BOR_EMBEDDINGS": "off",
        "COLUMNS": "120",
        "PATH": "",
    }
    ran = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this test
        [BOR, "eval", QUESTIONS], capture_output=True, text=True, env=environment, check=False
    )
    assert ran.returncode == 0, ran.stderr
    for shown in ("Meaning: off", "balanced accuracy", "hit@5", "not covered"):
        assert shown in ran.stdout


def test_the_command_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    ran = subprocess.run(
        [BOR, "eval", tmp_path / "none.jsonl"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "none.jsonl" in ran.stderr.replace("\n", "")
