"""The process that makes vectors: it works beside the server, and comes back when it dies."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app.db.engine import Sessions
from app.models import Window
from app.rag.embedding_process import keep_embedding
from app.settings import Settings
from tests.stored import store_texts

PATIENCE_SECONDS = 60.0


@asynccontextmanager
async def kept(settings: Settings, sessions: Sessions) -> AsyncGenerator[None]:
    task = asyncio.create_task(keep_embedding(settings, settings.database_url, sessions, 0.1))
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def until_embedded(sessions: Sessions, windows: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            async with sessions() as session:
                if await session.scalar(select(func.count()).select_from(Window)) == windows:
                    return
            await asyncio.sleep(0.1)


def children() -> list[int]:
    """The processes that this one has started for vectors."""
    found = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", "app.rag.embedding_process"],
        capture_output=True,
        text=True,
        check=False,
    )
    return [int(line) for line in found.stdout.split()]


def gives_way(process: int) -> bool:
    """Whether it has a lower priority than the server, within the server's own session.

    Sessions share the processor evenly, whatever the priorities of their processes.
    """
    is_lower = os.getpriority(os.PRIO_PROCESS, process) > os.getpriority(os.PRIO_PROCESS, 0)
    return is_lower and os.getsid(process) == os.getsid(0)


@pytest.fixture
def with_meaning(settings: Settings) -> Settings:
    return settings.model_copy(update={"embeddings": "on"})


async def test_it_gives_vectors_to_what_is_stored_and_survives_its_death(
    with_meaning: Settings, sessions: Sessions
) -> None:
    await store_texts(sessions, {"a.md": "The cat sleeps.\n"})
    async with kept(with_meaning, sessions):
        await until_embedded(sessions, 1)
        (process,) = children()
        assert gives_way(process)
        os.kill(process, signal.SIGKILL)
        await store_texts(sessions, {"b.md": "The ship leaves.\n"})
        await until_embedded(sessions, 2)
    assert children() == []


async def test_a_second_server_of_the_folder_starts_no_other(
    with_meaning: Settings, sessions: Sessions
) -> None:
    await store_texts(sessions, {"a.md": "The cat sleeps.\n"})
    async with kept(with_meaning, sessions), kept(with_meaning, sessions):
        await until_embedded(sessions, 1)
        assert len(children()) == 1


async def test_a_folder_that_nobody_may_write_keeps_no_one_from_vectors(
    with_meaning: Settings, sessions: Sessions, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    await store_texts(sessions, {"a.md": "The cat sleeps.\n"})
    elsewhere = with_meaning.model_copy(update={"data_dir": tmp_path / "file" / "data"})
    async with kept(elsewhere, sessions):
        await until_embedded(sessions, 1)


async def test_without_passages_it_does_not_run(with_meaning: Settings, sessions: Sessions) -> None:
    async with kept(with_meaning, sessions):
        await asyncio.sleep(0.5)
        assert children() == []
