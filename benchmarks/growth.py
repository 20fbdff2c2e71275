"""How long searches take while the documents grow in number; they are made up.

    python -m benchmarks.growth [--sizes 10000,100000,1000000] [--data DIR] [--svg FILE]

There is a database for each size, whose indexes are built when it is full. With `--data` they are
kept; all are measured in the end, one after the other.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

import httpx
import psycopg

from app.db import embedded
from app.db.engine import Sessions, create_engine, create_sessions
from app.db.migrate import migrate
from app.documents.queries_batch import store_batch
from app.documents.upload import Upload, prepare
from benchmarks.curves import draw
from benchmarks.peers import milliseconds, serving

_AT_ONCE = 2_000
_WORDS = 30
_ROUNDS = 15
_SEARCH_INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam WHERE amname = 'gin'
"""
_QUERIES = {
    "absent": ("text", "zirconquartz"),
    "in 5 documents": ("text", "quokka"),
    "in 1 of 1,000": ("text", "marmot"),
    "in every document": ("text", "the end"),
    "two characters": ("text", "zq"),
    "expression": ("regex", r"quok+a\s+[a-z]+"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--svg", type=Path)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with tempfile.TemporaryDirectory() as temporary:
        root = given.data or Path(temporary)
        root.chmod(0o711)
        for size in sizes:
            if not (root / str(size)).exists():
                _fill(root / str(size), size)
        curves: dict[str, list[float]] = {name: [] for name in _QUERIES}
        for size in sizes:
            with serving(root / str(size)) as client:
                for name, (mode, pattern) in _QUERIES.items():
                    curves[name].append(_measure(client, mode, pattern))
                    growth = curves[name][-1] / curves[name][0]
                    print(f"| {size:,} | {name} | {curves[name][-1]:.1f} | {growth:.2f} |")
    if given.svg:
        given.svg.write_text(draw(sizes, curves), "utf-8")


def _measure(client: httpx.Client, mode: str, pattern: str) -> float:
    parameters = {"q": pattern, "mode": mode, "limit": "20"}

    def search() -> None:
        client.get("/api/search", params=parameters).raise_for_status()

    search()
    return median(milliseconds(search) for _ in range(_ROUNDS))


def _fill(data: Path, size: int) -> None:
    """Store the documents without the search indexes, which are made in the end."""
    with embedded.start(data) as server:
        migrate(server.url)
        with psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True) as connection:
            found = connection.execute(_SEARCH_INDEXES).fetchall()
            for name, _ in found:
                connection.execute(f"DROP INDEX {name}".encode())
            asyncio.run(_store(server.url, size))
            connection.execute("SET maintenance_work_mem = '1GB'")
            for _, definition in found:
                connection.execute(definition.encode())
            connection.execute("VACUUM ANALYZE")


async def _store(url: str, size: int) -> None:
    engine = create_engine(url, pool_size=2)
    sessions = create_sessions(engine)
    with ProcessPoolExecutor(2) as pool:
        starts = range(0, size, _AT_ONCE)
        for uploads in pool.map(_prepared, starts, [size] * len(starts)):
            await _store_batch(sessions, uploads)
    await engine.dispose()


async def _store_batch(sessions: Sessions, uploads: list[Upload]) -> None:
    async with sessions.begin() as session:
        await store_batch(session, None, uploads)


def _prepared(start: int, size: int) -> list[Upload]:
    chance = random.Random(start)
    numbers = range(start, min(start + _AT_ONCE, size))
    return [
        prepare("growth", _path(n), " ".join(_words(chance, n)).encode(), None) for n in numbers
    ]


def _path(number: int) -> str:
    # Spread over the catalog: what was stored last is not at its end.
    return f"{number * 7_919 % 1_000:03}/{number}.txt"


def _words(chance: random.Random, number: int) -> Iterator[str]:
    for place in range(_WORDS):
        # The frequencies of words in a language: the second is half as frequent as the first.
        yield f"w{int(20_000 ** chance.random())}" + ("." if place % 12 == 11 else "")
    yield "the end"
    if number % 1_000 == 7:
        yield "marmot"
    if number in (11, 1_011, 4_011, 6_011, 9_011):
        yield "quokka hops zq"


if __name__ == "__main__":
    main()
