"""Measures the retrieval of a turn at several sizes: time, what the index misses, and embedding.

    python -m benchmarks.retrieval TEXTS [--passages 7000,100000] [--questions 200] [--no-embedding]

TEXTS is a folder of texts, from which the passages are strung together; their vectors are real ones
moved at random (benchmarks/filled.py). Run it on a machine that does nothing else.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from app.db import embedded
from app.db.engine import Sessions, create_engine, create_sessions
from app.db.migrate import migrate
from app.db.visible import Visible
from app.rag.embedders import open_embedder, open_meaning
from app.rag.meaning import Meaning
from app.rag.queries_vectors import EXACT_WINDOWS, Meant, find_nearest
from app.rag.retrieval import Question, Retriever, gate_of, retrieve
from app.settings import Settings
from benchmarks.filled import (
    SOURCES,
    Pieces,
    questions,
    read_pieces,
    store_documents,
    store_vectors,
)
from benchmarks.meanwhile import compare_embedding
from benchmarks.processes import data_folder

NEAREST = 50
RECALLED = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--passages", default="7000,100000")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--no-embedding", action="store_true")
    given = parser.parse_args()
    settings = Settings.model_validate({"embeddings": "on"})
    pieces = asyncio.run(_pieces(settings, given.texts))
    print("| passages | windows | asked | p50 ms | p95 ms | processor ms | recall@50 |")
    print("|--:|--:|---|--:|--:|--:|--:|", flush=True)
    for passages in map(int, given.passages.split(",")):
        with data_folder() as data:
            with embedded.start(data) as server:
                migrate(server.url)
                asyncio.run(_measure(server.url, settings, pieces, (passages, given.questions)))
            if not given.no_embedding:
                compare_embedding(data, pieces.texts, questions(pieces, given.questions))


async def _pieces(settings: Settings, folder: Path) -> Pieces:
    async with open_embedder(settings, threads=2) as embedder:
        assert embedder
        return await read_pieces(folder, embedder)


@dataclass(frozen=True)
class _Row:
    """What is asked in one row of the table: of which sources, and with what."""

    name: str
    visible: Visible
    asked: Sequence[str]
    windows: int
    passages: int


async def _measure(url: str, settings: Settings, pieces: Pieces, size: tuple[int, int]) -> None:
    engine = create_engine(url, pool_size=4)
    sessions = create_sessions(engine)
    await store_documents(sessions, pieces, size[0])
    async with open_embedder(settings, threads=2) as embedder:
        assert embedder
        windows = await store_vectors(sessions, url, pieces, embedder)
    async with open_meaning(settings, sessions) as meaning:
        assert meaning
        for name, share in {"everything": 1.0, **SOURCES}.items():
            part = round(windows * share)
            way = "exact" if name in SOURCES and part <= EXACT_WINDOWS else "index"
            visible = frozenset({name}) if name in SOURCES else None
            title = f"{name} ({way})"
            row = _Row(title, visible, questions(pieces, size[1]), part, part // 2)
            await _measure_row(sessions, settings, meaning, row)
    await engine.dispose()


async def _measure_row(sessions: Sessions, settings: Settings, meaning: Meaning, row: _Row) -> None:
    retriever = Retriever(sessions, meaning, gate_of(settings))
    for question in row.asked[:5]:
        await retrieve(retriever, Question(question), row.visible)
    seconds: list[float] = []
    used = time.process_time()
    for question in row.asked:
        begun = time.perf_counter()
        await retrieve(retriever, Question(question), row.visible)
        seconds.append(time.perf_counter() - begun)
    used = (time.process_time() - used) / len(row.asked)
    recall = await _recall(sessions, meaning, row)
    p50, p95 = quantiles(seconds)
    print(
        f"| {row.passages:,} | {row.windows:,} | {row.name} | {p50:.1f} | {p95:.1f} |"
        f" {1000 * used:.1f} | {recall:.3f} |",
        flush=True,
    )


async def _recall(sessions: Sessions, meaning: Meaning, row: _Row) -> float:
    """The part of the nearest passages by a scan of all that retrieval finds."""
    shares: list[float] = []
    for question in row.asked[:RECALLED]:
        meant = await meaning.of(question)
        assert meant
        async with sessions() as session:
            found = await find_nearest(session, meant, NEAREST, row.visible)
        nearest = await _scan(sessions, meant, row.visible)
        shares.append(len(nearest & found.keys()) / len(nearest))
    return sum(shares) / len(shares)


async def _scan(sessions: Sessions, meant: Meant, visible: Visible) -> set[int]:
    """The passages of the nearest windows, of all that there are."""
    size = len(meant.vector)
    statement = f"""
        SELECT w.passage_id FROM windows w JOIN passages p ON p.id = w.passage_id
        JOIN documents d ON d.id = p.document_id
        WHERE CAST(:visible AS text[]) IS NULL OR d.source = ANY(:visible)
        GROUP BY w.passage_id
        ORDER BY min(w.vector::halfvec({size}) <=> CAST(:asked AS halfvec({size}))), 1
        LIMIT {NEAREST}
    """
    values = {"asked": str(meant.vector), "visible": list(visible) if visible else None}
    async with sessions() as session:
        return set(await session.scalars(text(statement), values))


def quantiles(seconds: Sequence[float]) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    sort = sorted(seconds)
    return 1000 * sort[len(sort) // 2], 1000 * sort[int(len(sort) * 0.95)]


if __name__ == "__main__":
    main()
