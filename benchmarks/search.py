"""Searches a folder with Brain, over HTTP, and with ripgrep and GNU grep, side by side.

    python benchmarks/search.py FOLDER... [--data DIR] [--rounds N] [--no-grep]

Each folder becomes a source. With `--data` the database is kept there for the next run.
"""

import argparse
import random
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import httpx

from benchmarks.peers import BIN, bor, mean_ratio, milliseconds, serving, spread
from benchmarks.queries import EXPRESSIONS, Query, fixed_strings

_SECONDS = 8.0
# Nobody notices a shorter time.
_NEGLIGIBLE_MS = 15
# Of what is measured for a query.
_BRAIN, _SORTED, _, _ALL = range(4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-grep", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = given.data or Path(temporary)
        if not (data / "postgres").exists():
            for folder in given.folders:
                bor(data, "ingest", folder, "--source", folder.name, "--exclude", "")
        with serving(data) as client:
            _compare(client, given.folders, given.rounds, not given.no_grep)
            _load(client, [query.pattern for query in fixed_strings(given.folders[0])])
            _upsert(client)


def _compare(client: httpx.Client, folders: Sequence[Path], rounds: int, grep: bool) -> None:
    print(
        "| kind | pattern | Brain ms | rg sorted ms | rg ms | rg to its end ms | grep ms |", end=""
    )
    print(" Brain / rg sorted | Brain / rg to its end |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for title, mode, queries in (
        ("fixed strings", "text", fixed_strings(folders[0])),
        ("expressions", "regex", EXPRESSIONS),
    ):
        measured: dict[str, list[Sequence[float]]] = {}
        for query in queries:
            times = _measure(client, folders, (mode, query), rounds, grep)
            measured.setdefault(query.kind, []).append(times)
            shown = query.pattern.replace("|", "\\|")
            cells = " | ".join(f"{one:.0f}" if one else "" for one in times)
            print(f"| {query.kind} | `{shown!r}` | {cells} | {_ratios([times])} |", flush=True)
        _summary(title, measured)


def _summary(title: str, measured: dict[str, list[Sequence[float]]]) -> None:
    """The geometric means of the ratios, of each kind and of all; and what was slowest."""
    for kind, some in measured.items():
        print(f"| {kind} | geometric mean | | | | | | {_ratios(some)} |")
    every = [times for some in measured.values() for times in some]
    worst = max(every, key=lambda times: times[_BRAIN] / times[_SORTED])
    own, peer = worst[_BRAIN], worst[_SORTED]
    slower = sum(times[_BRAIN] > max(times[_SORTED], _NEGLIGIBLE_MS) for times in every)
    print(f"| **{title}** | geometric mean of all | | | | | | {_ratios(every)} |")
    print(f"| | worst | {own:.0f} | {peer:.0f} | | | | {_ratios([worst])} |")
    print(f"| | slower than rg and {_NEGLIGIBLE_MS} ms | {slower} of {len(every)} | | | | | | |")


def _ratios(some: Sequence[Sequence[float]]) -> str:
    """How many times the time of ripgrep sorted and cut off, and to its end, Brain takes."""
    ratios = (mean_ratio([(one[_BRAIN], one[peer]) for one in some]) for peer in (_SORTED, _ALL))
    return " | ".join(f"{ratio:.3f}" for ratio in ratios)


def _measure(
    client: httpx.Client,
    folders: Sequence[Path],
    asked: tuple[str, Query],
    rounds: int,
    grep: bool,
) -> list[float]:
    """Medians in ms of Brain and of ripgrep in three ways, and one run of `grep` (0: not run)."""
    mode, query = asked
    fixed = "-F" if mode == "text" else ""
    inside = [folders[0] / query.path] if query.path else folders
    where = " ".join(shlex.quote(str(folder)) for folder in inside)
    quoted = shlex.quote(query.pattern)
    rg = f"{BIN}/rg -i {fixed} -n -uu --no-messages"
    commands = [
        f"{rg} --sort path -e {quoted} {where} | head -20",
        f"{rg} -e {quoted} {where} | head -20",
        f"{rg} --sort path -e {quoted} {where} | wc -l",
    ]
    parameters = {"q": query.pattern, "mode": mode, "limit": "20"}
    if query.path:
        parameters |= {"source": folders[0].name, "path": query.path}
    times: list[list[float]] = [[], [], [], []]
    for _ in range(rounds):
        times[0].append(milliseconds(lambda: _search(client, parameters)))
        for known, command in zip(times[1:], commands, strict=True):
            known.append(milliseconds(lambda c=command: _run(c)))
    flag = "-F" if fixed else "-E"
    greps = f"grep -r -i {flag} -n -s -I -e {quoted} {where} | head -20"
    return [*map(median, times), milliseconds(lambda: _run(greps)) if grep else 0.0]


def _search(client: httpx.Client, parameters: dict[str, str]) -> None:
    client.get("/api/search", params=parameters).raise_for_status()


def _run(command: str) -> None:
    subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL, check=False)


def _load(client: httpx.Client, patterns: Sequence[str]) -> None:
    print("\n| clients | searches/s | latency |\n|--:|--:|---|")
    for clients in (1, 8, 32):
        times: list[float] = []
        until = time.monotonic() + _SECONDS
        threads = [
            threading.Thread(target=_search_until, args=(client, patterns, until, times))
            for _ in range(clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(f"| {clients} | {len(times) / _SECONDS:.0f} | {spread(times)} |", flush=True)


def _search_until(
    client: httpx.Client, patterns: Sequence[str], until: float, times: list[float]
) -> None:
    chance = random.Random()
    while time.monotonic() < until:
        parameters = {"q": chance.choice(patterns), "limit": 20}
        times.append(milliseconds(lambda p=parameters: client.get("/api/search", params=p)))


def _upsert(client: httpx.Client) -> None:
    """Replace documents of 10 KB while one client searches."""
    stop = time.monotonic() + _SECONDS
    searching = threading.Thread(target=_search_until, args=(client, ["error", "the"], stop, []))
    searching.start()
    words = [f"{random.randrange(10**6):x}" for _ in range(2_000)]
    times: list[float] = []
    while time.monotonic() < stop:
        body = " ".join(random.choices(words, k=1_700))[:10_000]
        address = f"/api/documents/benchmark/{len(times) % 50}.txt"
        times.append(milliseconds(lambda b=body, a=address: client.put(a, content=b)))
    searching.join()
    client.delete("/api/sources/benchmark")
    print(f"\nUpsert of 10 KB while searches run: {spread(times)} ({len(times)} uploads)")


if __name__ == "__main__":
    main()
