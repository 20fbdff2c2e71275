"""A source in the database of this machine: files are prepared by processes of their own."""

import asyncio
import hashlib
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import asynccontextmanager

from app.commands.collection import Ended, batches, refused
from app.commands.options import told_when_slow
from app.db.database import database
from app.db.engine import Sessions, create_engine, create_sessions
from app.db.pending import merge_after, merge_seldom
from app.documents import queries_store
from app.documents.folder import Found
from app.documents.queries_batch import store_batch
from app.documents.queries_catalog import upload_hashes
from app.documents.upload import Upload, prepare
from app.errors import AppError, NotFound
from app.settings import Settings

Prepared = list[Upload | Ended]

_WORKERS = min(os.cpu_count() or 1, 8)
# Transactions at a time: most of their work is the server's, one process for each.
_STORING = min(_WORKERS, 4)
# Batches that are prepared ahead of the one that is being stored.
_AHEAD = _WORKERS + 2
# A process takes a second to start, in which a thread has prepared more than this.
_FEW_BYTES = 4 * 1024 * 1024


@asynccontextmanager
async def local_sessions(settings: Settings) -> AsyncGenerator[Sessions]:
    """Sessions on the database of the settings, which is started where it is our own."""
    opened = database(settings)
    with told_when_slow("Starting the database …"):
        url = await asyncio.to_thread(opened.__enter__)
    try:
        engine = create_engine(url, settings.database_pool)
        try:
            yield create_sessions(engine)
        finally:
            await engine.dispose()
    finally:
        with told_when_slow("Stopping the database …"):
            opened.__exit__(None, None, None)


class LocalCollection:
    """A source in a database."""

    def __init__(self, sessions: Sessions, source: str) -> None:
        self._sessions = sessions
        self._source = source
        self._storing = asyncio.Semaphore(_STORING)
        self._bytes = 0

    async def known(self) -> dict[str, str]:
        async with self._sessions.begin() as session:
            return await upload_hashes(session, None, self._source)

    async def store(self, files: Sequence[Found], known: Mapping[str, str]) -> AsyncIterator[Ended]:
        under_way: deque[asyncio.Task[list[Ended]]] = deque()
        self._bytes = sum(file.bytes for file in files)
        executor = _executor(self._bytes)
        try:
            for batch in batches(files):
                under_way.append(asyncio.create_task(self._store(executor, batch, known)))
                if len(under_way) > _AHEAD:
                    for ended in await under_way.popleft():
                        yield ended
            while under_way:
                for ended in await under_way.popleft():
                    yield ended
            await merge_after(self._sessions, merged=-1)
        finally:
            for task in under_way:
                task.cancel()
            executor.shutdown(wait=False, cancel_futures=True)

    async def remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            async with self._sessions.begin() as session:
                try:
                    await queries_store.remove(session, None, self._source, path)
                except NotFound:
                    continue

    async def _store(
        self, executor: Executor, batch: list[Found], known: Mapping[str, str]
    ) -> list[Ended]:
        hashes = [known.get(file.path, "") for file in batch]
        loop = asyncio.get_running_loop()
        prepared = await loop.run_in_executor(executor, _prepare, self._source, batch, hashes)
        uploads = [one for one in prepared if isinstance(one, Upload)]
        async with self._storing, self._sessions.begin() as session:
            await merge_seldom(session, self._bytes)
            outcomes = iter(await store_batch(session, None, uploads))
        return [
            one if isinstance(one, Ended) else Ended(file, next(outcomes))
            for file, one in zip(batch, prepared, strict=True)
        ]


def _executor(size: int) -> Executor:
    if size < _FEW_BYTES:
        return ThreadPoolExecutor(1)
    # The parent alone answers Ctrl-C: it stores what is ready, and ends the workers.
    ignore = (signal.SIGINT, signal.SIG_IGN)
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(_WORKERS, context, initializer=signal.signal, initargs=ignore)


def _prepare(source: str, files: Sequence[Found], hashes: Sequence[str]) -> Prepared:
    """Read the files and make uploads of those whose hash is another one."""
    pairs = zip(files, hashes, strict=True)
    return [_prepare_one(source, file, known_hash) for file, known_hash in pairs]


def _prepare_one(source: str, file: Found, known_hash: str) -> Upload | Ended:
    try:
        body = file.file.read_bytes()
        if hashlib.sha256(body).hexdigest() == known_hash:
            return Ended(file, "unchanged")
        return prepare(source, file.path, body, None)
    except (AppError, OSError) as error:
        return refused(file, error)
