"""Measures retrieval and the gate on a collection: quality, latency, and a picture of the scores.

    uv run python benchmarks/grounding.py DOCUMENTS QUESTIONS.jsonl [--picture scores.svg]

DOCUMENTS is a folder of texts (`.txt`, `.md`, `.rst`, `.html`; packed with gzip, too), or JSON
Lines `{source, path, content}`. The collection goes into a database of its own, which is removed.
"""

import argparse
import asyncio
import gzip
import html
import json
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from app.db import embedded
from app.db.engine import Sessions, create_engine, create_sessions
from app.db.migrate import migrate
from app.documents.queries_store import store
from app.documents.upload import prepare
from app.doors.evaluation import show
from app.rag.embedders import open_embedder, open_meaning
from app.rag.embedding_work import EmbeddingWork
from app.rag.evaluation import Evaluation, KnownQuestion, Outcome, evaluate, read_questions
from app.rag.retrieval import Retriever, gate_of
from app.settings import Settings
from benchmarks.picture import draw

SUFFIXES = {".txt", ".md", ".rst", ".html"}
Text = tuple[str, str, str]
console = Console()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--words", action="store_true", help="without meaning")
    given = parser.parse_args()
    questions = read_questions(given.questions.read_text("utf-8").splitlines())
    settings = Settings.model_validate({"embeddings": "off" if given.words else "on"})
    folder = Path(tempfile.mkdtemp(prefix="brain-benchmark-"))
    folder.chmod(0o711)
    with embedded.start(folder / "data") as server:
        migrate(server.url)
        texts = list(read_texts(given.documents))
        evaluation = asyncio.run(measure(server.url, settings, texts, questions))
    show(evaluation, console)
    if given.picture:
        covered, others = evaluation.scores(expected=True), evaluation.scores(expected=False)
        given.picture.write_text(draw(covered, others, settings.gate), "utf-8")


async def measure(
    url: str, settings: Settings, texts: list[Text], questions: list[KnownQuestion]
) -> Evaluation:
    engine = create_engine(url, pool_size=4)
    sessions = create_sessions(engine)
    await fill(sessions, settings, texts)
    outcomes: list[Outcome] = []
    seconds: list[float] = []
    async with open_meaning(settings, sessions) as meaning:
        retriever = Retriever(sessions, meaning, gate_of(settings))
        await evaluate(retriever, questions[0], None)
        for question in questions:
            begun = time.perf_counter()
            outcomes.append(await evaluate(retriever, question, None))
            if outcomes[-1].finding.passages:
                seconds.append(time.perf_counter() - begun)
    await engine.dispose()
    show_latency(sorted(seconds))
    return Evaluation(outcomes)


async def fill(sessions: Sessions, settings: Settings, texts: list[Text]) -> None:
    begun = time.perf_counter()
    for source, path, content in texts:
        upload = prepare(source, path, content.encode(), "text/plain")
        async with sessions.begin() as session:
            await store(session, None, upload)
    console.print(f"{len(texts)} documents stored in {time.perf_counter() - begun:.1f} s")
    begun = time.perf_counter()
    async with open_embedder(settings, threads=2) as embedder:
        if embedder:
            await EmbeddingWork(sessions, embedder).sweep()
            console.print(f"embedded in {time.perf_counter() - begun:.0f} s")


def read_texts(documents: Path) -> Iterator[Text]:
    if documents.is_file():
        for line in documents.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield row["source"], row["path"], row["content"]
        return
    for file in sorted(documents.rglob("*")):
        name = file.relative_to(documents).as_posix().removesuffix(".gz")
        if file.is_file() and Path(name).suffix in SUFFIXES:
            yield "manual", name, text_of(file, name)


def text_of(file: Path, name: str) -> str:
    body = file.read_bytes()
    text = (gzip.decompress(body) if file.suffix == ".gz" else body).decode("utf-8", "replace")
    if not name.endswith(".html"):
        return text
    plain = re.sub(r"(?s)<(script|style|head)\b.*?</\1>|<[^>]+>", "", text)
    return re.sub(r"\n\s*\n+", "\n\n", html.unescape(plain)).strip()


def show_latency(seconds: list[float]) -> None:
    table = Table("p50", "p95", "p99", title="Retrieval of a turn, in ms")
    table.add_row(*(f"{1000 * seconds[int(len(seconds) * q)]:.1f}" for q in (0.5, 0.95, 0.99)))
    console.print(table)


if __name__ == "__main__":
    main()
