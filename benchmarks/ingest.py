"""Stores a folder with `bor ingest`, and the same text by a bare COPY into a table without indexes.

Processor seconds tell more than the clock on a machine that has other work to do.

python -m benchmarks.ingest FOLDER
"""

import argparse
import resource
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

from app.db import embedded
from app.documents.extract import to_text
from app.documents.folder import Found, Rules, walk
from app.errors import AppError
from benchmarks.peers import bor
from benchmarks.processes import data_folder, processor_seconds


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock, and of all processors together."""

    clock: float
    processor: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    texts = list(_texts(folder))
    size = sum(len(text.encode()) for text in texts) / 1e6
    with data_folder() as data, embedded.start(data) as server:
        url = server.url.replace("+psycopg", "")
        copied = _copy(url, texts)
        nothing = data.with_name("nothing")
        nothing.mkdir()
        idle = _ingest(data, nothing)
        stored = _ingest(data, folder)
        disk = _disk(url)
    clock, processor = stored.clock - idle.clock, stored.processor - idle.processor
    print("| | MB/s | times | processor seconds a MB |\n|---|--:|--:|--:|")
    _row("`bor ingest`, all indexes", size / clock, clock / copied, f"{processor / size:.2f}")
    _row("bare COPY, no index", size / copied, 1, "")
    print(
        f"\n{len(texts):,} documents, {size:.0f} MB of text; on disk {disk / size:.2f} times that;"
        f" start and end of the command, {idle.clock:.1f} s, not counted."
    )


def _row(what: str, speed: float, times: float, processor: str) -> None:
    print(f"| {what} | {speed:.2f} | {times:.1f} | {processor} |")


def _ingest(data: Path, folder: Path) -> Cost:
    postmaster = int((data / "postgres" / "postmaster.pid").read_text().split()[0])
    before, begun = _processor(postmaster), time.perf_counter()
    bor(data, "ingest", folder, "--source", "benchmark", "--exclude", "")
    return Cost(time.perf_counter() - begun, _processor(postmaster) - before)


def _processor(postmaster: int) -> float:
    """Seconds of all commands that have ended, and of the database."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + processor_seconds(postmaster)


def _texts(folder: Path) -> list[str]:
    texts: list[str] = []
    for one in walk(folder, Rules(max_bytes=32 * 1024 * 1024, defaults=False)):
        if isinstance(one, Found):
            try:
                texts.append(to_text(one.file.read_bytes(), None, one.path).text)
            except AppError:
                continue
    return texts


def _copy(url: str, texts: list[str]) -> float:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE bare (content text)")
        begun = time.perf_counter()
        with connection.cursor().copy("COPY bare FROM STDIN") as copy:
            for text in texts:
                copy.write_row((text,))
        elapsed = time.perf_counter() - begun
        connection.execute("DROP TABLE bare")
    return elapsed


def _disk(url: str) -> float:
    """Megabytes of the tables of documents, with their indexes."""
    with psycopg.connect(url) as connection:
        tables = ("documents", "passages", "document_grams")
        sizes = [
            connection.execute("SELECT pg_total_relation_size(%s::regclass)", (table,)).fetchone()
            for table in tables
        ]
    return sum(size[0] for size in sizes if size) / 1e6


if __name__ == "__main__":
    main()
