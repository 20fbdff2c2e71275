"""What Brain adds to a model's answer, measured against the same model asked directly.

`python -m benchmarks.chat` prints the tables of docs/benchmarks-chat.md; `--soak MINUTES` instead
lets answers stream for so long and prints what grows; `--streams 50` measures one number only.
"""

import argparse
import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from app.db import embedded
from benchmarks.processes import connections, data_folder, open_files, paced_model, pss_kib
from benchmarks.streams import CHAT, MODEL, Heard, hear, hear_many, middle, ms, quantile
from tests.e2e.server import Server

SMALL_TALK = "Hello there!"
QUESTION = "Which port does the ledger of section 17 listen on?"
DOCUMENTS, LINES = 40, 120
REPEATS = 40
TOKENS_A_SECOND = 20
SECONDS = 12


@dataclass(frozen=True)
class Setup:
    brain: str
    model: str
    pid: int
    database: str


@contextmanager
def setup() -> Generator[Setup]:
    """A server with documents, its database, and the model that it asks."""
    with (
        data_folder() as folder,
        embedded.start(folder) as database,
        paced_model() as model,
        Server(
            database_url=database.url,
            llm_base_url=f"{model}/v1",
            llm_model="m",
            log_level="warning",
        ) as server,
    ):
        server.ready()
        _upload(server.url)
        yield Setup(server.url, model, server.process.pid, database.url)


def _upload(base: str) -> None:
    with httpx.Client(base_url=base, timeout=60) as client:
        for number in range(DOCUMENTS):
            lines = [
                f"section {number} line {n}: the ledger listens on port {n}" for n in range(LINES)
            ]
            text = "\n".join(lines)
            client.put(f"/api/documents/bench/{number}.txt", content=text.encode())


async def set_pace(model: str, rate: float, count: int) -> None:
    async with httpx.AsyncClient() as client:
        await client.get(f"{model}/set", params={"rate": rate, "count": count})


async def added_times(given: Setup) -> None:
    """Time to the first event and token, and per token, one answer at a time."""
    await set_pace(given.model, 200, 40)
    heard: dict[str, list[Heard]] = {"direct": [], "small talk": [], "retrieval": []}
    for number in range(REPEATS + 3):
        for name, one in (
            ("direct", await hear(given.model, MODEL, SMALL_TALK)),
            ("small talk", await hear(given.brain, CHAT, SMALL_TALK)),
            ("retrieval", await hear(given.brain, CHAT, QUESTION)),
        ):
            if number >= 3:
                heard[name].append(one)
    print("\n| asked | first event, ms | first token p50, ms | added | p95 | token late p50, ms |")
    print("|---|---|---|---|---|---|")
    base = middle([one.first_token for one in heard["direct"]])
    for name, all_heard in heard.items():
        token = [one.first_token for one in all_heard]
        late = [late for one in all_heard for late in one.late[1:]]
        print(
            f"| {name} | {ms(middle([one.first_event for one in all_heard]))} |"
            f" {ms(middle(token))} | {ms(middle(token) - base)} | {ms(quantile(token, 0.95))} |"
            f" {ms(middle(late))} |"
        )
    await _added_per_token(given)


async def _added_per_token(given: Setup) -> None:
    """How much longer a long answer takes that the model sends as fast as it is taken."""
    await set_pace(given.model, 0, 3_000)
    took: dict[str, list[float]] = {MODEL: [], CHAT: []}
    for _ in range(5):
        for base, path in ((given.model, MODEL), (given.brain, CHAT)):
            one = await hear(base, path, SMALL_TALK)
            took[path].append((one.ended - one.first_token) / max(1, len(one.late)))
    added = middle(took[CHAT]) - middle(took[MODEL])
    print(f"\nAdded per token, 3,000 at full speed: {added * 1000:.3f} ms")


async def many_streams(given: Setup, number: int) -> None:
    """One row: lateness of the tokens of so many answers at once, and what they take."""
    await set_pace(given.model, TOKENS_A_SECOND, TOKENS_A_SECOND * SECONDS)
    spread = 2.0 if number > 1 else 0.0
    direct = await hear_many(given.model, MODEL, number, spread)
    before = pss_kib(given.pid)
    listening = asyncio.create_task(hear_many(given.brain, CHAT, number, spread))
    await asyncio.sleep(spread + SECONDS * 0.6)
    memory = (pss_kib(given.pid) - before) / number
    used = await asyncio.to_thread(connections, given.database)
    heard = await listening
    complete = sum(b'"done"' in one.tail for one in heard)
    rows = (
        (name, [x for h in hs for x in h.late])
        for name, hs in (("direct", direct), ("Brain", heard))
    )
    told = [
        f"{name}: {' / '.join(ms(quantile(late, q)) for q in (0.5, 0.95, 0.99, 1.0))}"
        for name, late in rows
    ]
    first = [one.first_token for one in heard]
    print(
        f"| {number} | {complete} | {told[0].partition(': ')[2]} | {told[1].partition(': ')[2]} |"
        f" {ms(middle(first))} / {ms(quantile(first, 0.99))} | {memory:.0f} | {used} |",
        flush=True,
    )


async def soak(given: Setup, minutes: float) -> None:
    """Answers without a pause; memory and open files each half minute."""
    await set_pace(given.model, TOKENS_A_SECOND, TOKENS_A_SECOND * 5)
    end = time.monotonic() + minutes * 60
    print("\n| second | answers | PSS, MiB | open files | connections |\n|---|---|---|---|---|")
    answers, begun = 0, time.monotonic()
    while time.monotonic() < end:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            heard = await hear_many(given.brain, CHAT, 40, 5.0)
            answers += sum(b'"done"' in one.tail for one in heard)
        used = await asyncio.to_thread(connections, given.database)
        print(
            f"| {time.monotonic() - begun:.0f} | {answers} | {pss_kib(given.pid) / 1024:.1f} |"
            f" {open_files(given.pid)} | {used} |",
            flush=True,
        )


async def measure(given: Setup, numbers: list[int]) -> None:
    await added_times(given)
    print(
        "\n| streams | complete | direct p50 / p95 / p99 / worst, ms | Brain, the same |"
        " first token p50 / p99, ms | KiB a stream | connections |\n|---|---|---|---|---|---|---|"
    )
    for number in numbers:
        await many_streams(given, number)
        await asyncio.sleep(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--soak", type=float, default=0.0, metavar="MINUTES")
    parser.add_argument("--streams", type=int, nargs="*", default=[1, 50, 300])
    arguments = parser.parse_args()
    with setup() as given:
        if arguments.soak:
            asyncio.run(soak(given, arguments.soak))
        else:
            asyncio.run(measure(given, arguments.streams))


if __name__ == "__main__":
    main()
