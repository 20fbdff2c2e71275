"""Stores a folder with `bor ingest`, and the same text by a bare COPY into a table without indexes.

python benchmarks/ingest.py FOLDER
"""

import argparse
import tempfile
import time
from pathlib import Path

import psycopg

from app.db import embedded
from app.documents.extract import to_text
from app.documents.folder import Found, Rules, walk
from app.errors import AppError
from benchmarks.peers import bor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    texts = list(_texts(folder))
    size = sum(len(text.encode()) for text in texts) / 1e6
    with tempfile.TemporaryDirectory() as temporary:
        Path(temporary).chmod(0o711)
        data = Path(temporary) / "data"
        with embedded.start(data) as server:
            url = server.url.replace("+psycopg", "")
            copied = _copy(url, texts)
            begun = time.perf_counter()
            bor(data, "ingest", folder, "--source", "benchmark", "--exclude", "")
            stored = time.perf_counter() - begun
            disk = _disk(url)
    print("| | MB/s | times |\n|---|--:|--:|")
    print(f"| `bor ingest`, all indexes | {size / stored:.2f} | {stored / copied:.1f} |")
    print(f"| bare COPY, no index | {size / copied:.2f} | 1 |")
    print(
        f"\n{len(texts):,} documents, {size:.0f} MB of text; on disk {disk / size:.2f} times that."
    )


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
