"""Kills the server at random moments of a turn and looks what is lost.

`python -m benchmarks.kills 200` prints the table of docs/benchmarks-chat.md: half of the kills on
the embedded database, half on an external one. A question counts as acknowledged once its first
event has arrived, an upload once it was answered.
"""

import argparse
import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from app.db import embedded
from benchmarks.processes import data_folder
from tests.e2e.asking import ask, asking, conversation
from tests.e2e.mock_llm import MockLLM
from tests.e2e.requests import calling, slowly
from tests.e2e.server import Server, connect

# In one document only, so that the question is grounded and tools are called.
QUESTION = "Which port does LEDGER_77 have?"
LEDGER = b"LEDGER_77 has the port 8081.\n"
SEARCH = calling(("search_documents", {"pattern": "port"}))
LIST = calling(("list_documents", {}))
# From asking to well behind the last token of the scripted answers.
LONGEST_LIFE = 1.6
USABLE_SECONDS = 15.0


@dataclass
class Tally:
    """What was acknowledged, and what came of it."""

    kills: int = 0
    messages: int = 0
    uploads: int = 0
    lost: list[str] = field(default_factory=list[str])
    states: Counter[str] = field(default_factory=Counter[str])
    usable_after: list[float] = field(default_factory=list[float])


@dataclass
class Acknowledged:
    conversation: str = ""
    text: str = ""
    ended: bool = False
    uploads: list[str] = field(default_factory=list[str])


async def until_killed(server: Server, number: int) -> Acknowledged:
    """Ask and upload until the server is killed; what it acknowledged before."""
    known = Acknowledged()
    async with connect(server) as client:
        work = [
            asyncio.create_task(_ask(client, known)),
            asyncio.create_task(_upload(client, number, known)),
        ]
        await asyncio.sleep(random.uniform(0.02, LONGEST_LIFE))
        server.kill()
        await asyncio.gather(*work, return_exceptions=True)
    return known


async def look(server: Server, known: Acknowledged, tally: Tally) -> None:
    """Count what the next server does not have."""
    begun = time.monotonic()
    async with connect(server) as client:
        for path in known.uploads:
            tally.uploads += 1
            if (await client.get(f"/api/documents/kills/{path}")).status_code != 200:
                tally.lost.append(f"upload {path}")
        if known.conversation:
            tally.messages += 1
            try:
                await _goes_on(client, known, tally)
            except (TimeoutError, httpx.HTTPError) as error:
                tally.lost.append(f"conversation {known.conversation}: {error!r}")
            tally.usable_after.append(time.monotonic() - begun)


async def _ask(client: httpx.AsyncClient, known: Acknowledged) -> None:
    async with asking(client, QUESTION) as events:
        async for event in events:
            known.conversation = event.get("conversation_id", known.conversation)
            known.text += event.get("text", "") if event["type"] == "delta" else ""
            known.ended = event["type"] == "done"


async def _upload(client: httpx.AsyncClient, number: int, known: Acknowledged) -> None:
    for part in range(1_000):
        path = f"{number}-{part}.txt"
        answer = await client.put(f"/api/documents/kills/{path}", content=b"PORT_8081 is it\n" * 50)
        if answer.is_success:
            known.uploads.append(path)


async def _goes_on(client: httpx.AsyncClient, known: Acknowledged, tally: Tally) -> None:
    """The conversation holds its question and takes the next one."""
    async with asyncio.timeout(USABLE_SECONDS):
        while True:
            try:
                turn = await ask(client, "Hello again!", conversation_id=known.conversation)
                break
            except httpx.HTTPStatusError as refused:
                if refused.response.status_code != 409:
                    raise
                await asyncio.sleep(0.1)
    shown = await conversation(client, known.conversation)
    first: dict[str, Any] = shown["turns"][0]
    tally.states[first["state"]] += 1
    stored = "".join(made["text"] for made in first["rounds"])
    if first["message"] != QUESTION or turn.last["type"] != "done":
        tally.lost.append(f"conversation {known.conversation}: {json.dumps(turn.last)}")
    if known.ended and stored != known.text:
        tally.lost.append(f"answer of {known.conversation}")


@contextmanager
def external() -> Generator[dict[str, object]]:
    with data_folder() as folder, embedded.start(folder) as database:
        yield {"database_url": database.url}


async def kills(number: int, name: str, settings: dict[str, object], mock: MockLLM) -> None:
    tally = Tally()
    usual = {"llm_base_url": mock.url, "llm_model": "mock", "log_level": "error", **settings}
    with Server(**usual) as server:
        async with connect(server.ready()) as client:
            (await client.put("/api/documents/kills/ledger.txt", content=LEDGER)).raise_for_status()
    known = Acknowledged()
    for position in range(number + 1):
        mock.reset()
        with Server(**usual) as server:
            server.ready()
            await look(server, known, tally)
            if position == number:
                break
            for script in ((0.15, *SEARCH), (0.15, *LIST), slowly(words=4)):
                mock.script(*script)
            known = await until_killed(server, position)
            tally.kills += 1
    slowest = max(tally.usable_after, default=0.0)
    states = ", ".join(f"{count} {state}" for state, count in tally.states.most_common())
    print(
        f"| {name} | {tally.kills} | {tally.messages} | {tally.uploads} | {len(tally.lost)} |"
        f" {states} | {slowest:.1f} s |",
        flush=True,
    )
    for lost in tally.lost:
        print(f"  lost: {lost}")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=20)
    half = parser.parse_args().kills // 2
    print("| database | kills | messages | uploads | lost | turns | slowest next question |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with MockLLM() as mock:
        with data_folder() as folder:
            await kills(half, "embedded", {"data_dir": folder}, mock)
        with external() as settings:
            await kills(half, "external", settings, mock)


if __name__ == "__main__":
    asyncio.run(main())
