"""`bor ingest` that goes on or breaks off, as a process, and `bor search` on a terminal."""

import asyncio
import pty
import signal
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from app.cli import cli
from app.db.engine import Sessions
from app.documents import queries, queries_store
from app.documents.queries_catalog import upload_hashes
from app.documents.upload import prepare
from tests.integration.commands import Command, counted, start

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
FILES = 250


@pytest.fixture(params=["database", "rest"])
def environment(request: pytest.FixtureRequest, empty_database: str) -> dict[str, str]:
    if request.param == "rest":
        return {"BOR_URL": request.getfixturevalue("address")}
    return {"BOR_DATABASE_URL": empty_database}


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await reached():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_what_was_interrupted_goes_on_where_it_stopped(
    environment: dict[str, str], tmp_path: Path, sessions: Sessions
) -> None:
    for number in range(FILES):
        (tmp_path / f"{number:03}.txt").write_text(f"text {number}")

    async def are_many_stored() -> bool:
        async with sessions.begin() as session:
            return await queries.count_documents(session, None) >= 200

    async with sessions.begin() as holding:
        # The last file has to wait for this transaction: so there is a middle to break off in.
        await queries_store.lock_names(holding, ("docs", f"{FILES - 1:03}.txt"))
        running = start(environment, "ingest", tmp_path, "--source", "docs", **PIPES)
        await until(are_many_stored)
        running.send_signal(signal.SIGINT)
        out, error = await asyncio.to_thread(running.communicate, timeout=60)
    assert running.returncode == 130
    assert error.strip().endswith("Interrupted. The same command goes on from here.")
    assert "Traceback" not in error
    assert set(counted(out)) <= {"created"}
    again = await Command(environment).counts(tmp_path, "--source", "docs")
    assert again["unchanged"] >= 200
    assert again["unchanged"] + again["created"] == FILES


async def test_a_watched_folder_stays_what_is_stored(
    empty_database: str, tmp_path: Path, sessions: Sessions
) -> None:
    for name in ("changed.md", "gone.md", "kept.md"):
        (tmp_path / name).write_text("old")

    async def paths() -> dict[str, str]:
        async with sessions.begin() as session:
            return await upload_hashes(session, None, "docs")

    async def is_stored() -> bool:
        return set(await paths()) == {"changed.md", "gone.md", "kept.md"}

    async def is_followed() -> bool:
        now = await paths()
        return set(now) == {"added.md", "changed.md", "kept.md"} and len(set(now.values())) == 3

    arguments = ("ingest", tmp_path, "--source", "docs", "--watch", "--prune")
    running = start({"BOR_DATABASE_URL": empty_database}, *arguments, **PIPES)
    try:
        await until(is_stored)
        (tmp_path / "changed.md").write_text("new")
        (tmp_path / "added.md").write_text("added")
        (tmp_path / "gone.md").unlink()
        await until(is_followed)
        running.send_signal(signal.SIGINT)
        _, error = await asyncio.to_thread(running.communicate, timeout=60)
    finally:
        running.kill()
    assert (running.returncode, "Traceback" in error) == (130, False)


async def test_a_terminal_shows_matches_in_colour(
    empty_database: str, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"BOR_DATABASE_URL": empty_database, "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    for name in ("BOR_URL", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    async with sessions.begin() as session:
        upload = prepare("acme", "notes.txt", b"alpha\nRetry_Budget = 3\n", None)
        await queries_store.store(session, None, upload)
    code, shown = await asyncio.to_thread(on_a_terminal, "search", "budget")
    magenta, bold_red, plain = "\x1b[35m", "\x1b[1;31m", "\x1b[0m"
    assert code == 0
    assert shown == f"{magenta}acme/notes.txt:2: {plain}Retry_{bold_red}Budget{plain} = 3\r\n"


def on_a_terminal(*arguments: str) -> tuple[int, str]:
    """Run a command of `bor`; its exit code, and what a terminal would get."""
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as screen, open(theirs, "w") as terminal:
        with redirect_stdout(terminal), pytest.raises(SystemExit) as ended:
            cli(arguments)
        terminal.flush()
        return int(ended.value.code or 0), screen.read(10_000).decode()
