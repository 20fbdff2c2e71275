"""Uploads and retrieval while vectors are made in the background, against the same in peace."""

import fcntl
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

import httpx

from benchmarks.peers import serving

_MEASURED = 100
_BACKLOG = 150
_PIECES_EACH = 30


def compare_embedding(data: Path, pieces: Sequence[str], asked: Sequence[str]) -> None:
    """Print p95 of uploads and of `/api/retrieve`, in peace and while the embedder works."""
    with _embedder_held(data), serving(data, embeds=True) as client:
        for number in range(_BACKLOG):
            _upload(client, f"backlog/{number}.txt", pieces[number:][:_PIECES_EACH])
        _measure(client, pieces, asked, "warm")
        before = _measure(client, pieces, asked, "peace")
    with serving(data, embeds=True) as client:
        _await_pace(client)
        during = _measure(client, pieces, asked, "busy")
        left = _left(client)
    print("\n| | p95 alone, ms | while embedding, ms | ratio |\n|---|--:|--:|--:|")
    for name in before:
        alone, busy = 1000 * before[name], 1000 * during[name]
        print(f"| {name} | {alone:.1f} | {busy:.1f} | {busy / alone:.2f} |")
    print(f"\n{left} passages were still without vectors at the end.\n", flush=True)


@contextmanager
def _embedder_held(data: Path) -> Generator[None]:
    """Keep the server from making vectors: one process of a data folder does."""
    with (data / "embedding.lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _await_pace(client: httpx.Client) -> None:
    """Wait until the first vectors of the backlog are there."""
    before = _left(client)
    while _left(client) >= before:
        time.sleep(1.0)


def _left(client: httpx.Client) -> int:
    sources = client.get("/api/sources").json()["sources"]
    return sum(s["meaning"]["passages"] - s["meaning"]["embedded"] for s in sources)


def _measure(
    client: httpx.Client, pieces: Sequence[str], asked: Sequence[str], name: str
) -> dict[str, float]:
    """p95 of uploads and retrievals, which take turns, in seconds."""
    seconds: dict[str, list[float]] = {"uploads": [], "retrieval": []}
    for number, question in enumerate(islice(cycle(asked), _MEASURED)):
        path, some = f"{name}/{number}.txt", pieces[number:][:4]
        seconds["uploads"].append(_timed(lambda p=path, s=some: _upload(client, p, s)))
        params = {"q": question}
        seconds["retrieval"].append(
            _timed(lambda p=params: client.get("/api/retrieve", params=p).raise_for_status())
        )
    return {kind: sorted(each)[int(len(each) * 0.95)] for kind, each in seconds.items()}


def _upload(client: httpx.Client, path: str, pieces: Sequence[str]) -> None:
    content = f"{path}\n{''.join(pieces)}".encode()
    client.put(f"/api/documents/meanwhile/{path}", content=content).raise_for_status()


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
