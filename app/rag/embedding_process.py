"""The process that makes vectors in the background: started when needed, watched, started again.

One server process per data folder starts it, and one such process at a time works on a database.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from app.db.engine import Sessions, create_engine, create_sessions
from app.logs import configure_logs
from app.rag import queries_embedding
from app.rag.embedders import open_embedder
from app.rag.embedding_work import EmbeddingWork
from app.settings import Settings

log = structlog.get_logger()

_NICENESS = 10
_THREADS = 2
_RETRY_SECONDS = 2.0
# What the process is told through its environment, whatever the server was told.
_TOLD = ("database_url", "data_dir", "log_level", "embeddings", "embeddings_base_url")
_TOLD_TOO = ("embeddings_model", "embeddings_api_key")


async def keep_embedding(
    settings: Settings,
    database_url: str,
    sessions: Sessions,
    retry_seconds: float = _RETRY_SECONDS,
) -> None:
    """Run the process whenever there are new passages; several servers of a data folder run one.

    With nothing to do it ends, as it takes as much memory as all the rest.
    """
    environment = _environment(settings, database_url)
    seen = 0
    while True:
        newest = await _newest_passage(sessions)
        with _alone(settings.data_dir) as alone:
            if newest > seen and alone and await _run(environment):
                # What came while it ran may have come too late for it: then it runs once more.
                seen = newest
        await asyncio.sleep(retry_seconds)


async def _newest_passage(sessions: Sessions) -> int:
    try:
        async with sessions() as session:
            return await queries_embedding.newest_passage(session, visible=None)
    except Exception as error:  # the database may be away for a while
        log.warning("new passages not looked for", reason=str(error).partition("\n")[0])
        return 0


async def _run(environment: Mapping[str, str]) -> bool:
    """Run the process to its end; whether it had nothing left to do."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__),
        # Closed when this process ends in whatever way, which ends the other.
        stdin=asyncio.subprocess.PIPE,
        env=environment,
        # Ctrl-C in the terminal is for the server, which ends it. A session of its own would do as
        # well, but sessions share the processor evenly, whatever the priorities of their processes.
        process_group=0,
    )
    try:
        if code := await process.wait():
            log.warning("the process that makes vectors ended; it is started again", code=code)
        return not code
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def _environment(settings: Settings, database_url: str) -> dict[str, str]:
    given = settings.model_copy(update={"database_url": database_url})
    told = {name: getattr(given, name) for name in (*_TOLD, *_TOLD_TOO)}
    told["embeddings_api_key"] = given.embeddings_api_key.get_secret_value()
    return {**os.environ, **{f"BOR_{name.upper()}": str(value) for name, value in told.items()}}


@contextmanager
def _alone(folder: Path) -> Generator[bool]:
    """Whether no other process of this data folder has started it."""
    try:
        import fcntl  # noqa: PLC0415 - not on every platform

        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "embedding.lock").open("ab")
    except (ImportError, OSError):  # the database's own lock is left
        yield True
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


async def _work(settings: Settings) -> None:
    engine = create_engine(settings.database_url, pool_size=3)
    sessions = create_sessions(engine)
    alone = engine.execution_options(isolation_level="AUTOCOMMIT")
    async with alone.connect() as connection, open_embedder(settings, threads=_THREADS) as embedder:
        while not await queries_embedding.take_turn(connection):  # noqa: ASYNC110
            await asyncio.sleep(_RETRY_SECONDS)
        if embedder:
            await EmbeddingWork(sessions, embedder).run()


def _end_with_server() -> None:
    # Without the buffer of Python's file: the end of the process cannot take that from a thread.
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(0)


def main() -> None:
    """What the process does, with its settings in the environment."""
    with suppress(AttributeError):  # not on every platform
        # Not the idle class of the scheduler: what holds a row lock has to get on with it.
        os.nice(_NICENESS)
    threading.Thread(target=_end_with_server, daemon=True).start()
    settings = Settings()
    configure_logs(settings.log_level)
    asyncio.run(_work(settings))


if __name__ == "__main__":
    main()
