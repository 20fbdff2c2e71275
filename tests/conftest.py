"""One PostgreSQL for the whole run, emptied before each test, and the application on it."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from sqlalchemy import Engine, create_engine, text

from app.db import embedded
from app.db.engine import Sessions, create_sessions
from app.db.engine import create_engine as create_async_engine
from app.db.migrate import migrate
from app.logs import configure_logs
from app.models import Base
from app.settings import Settings
from tests.folders import open_folder

MUCH = 16_000_000  # bytes; an empty database has 9 million
TABLES = [table.name for table in Base.metadata.sorted_tables]
TRUNCATE = f"TRUNCATE {', '.join(TABLES)} RESTART IDENTITY CASCADE"
# New files for each table and index take ten times as long as a few rows.
DELETE = ";".join(
    [
        *(f"DELETE FROM {table}" for table in reversed(TABLES)),
        "SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'",
    ]
)


def pytest_configure() -> None:
    # Structlog's own way to show a traceback takes a second.
    configure_logs("debug")
    # A shell lets what runs behind it ignore Ctrl-C, as would the processes that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    """A migrated database; nothing in it survives the run, so nothing waits for the disk."""
    with open_folder() as folder, embedded.start(folder / "data") as server:
        migrate(server.url)
        _forget_the_disk(server.url)
        yield server.url


@pytest.fixture(scope="session")
def _emptier(database_url: str) -> Iterator[Engine]:
    engine = create_engine(database_url, isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()


@pytest.fixture
def empty_database(database_url: str, _emptier: Engine) -> str:
    """The URL of the database, with empty tables and identities that begin at 1."""
    with _emptier.connect() as connection:
        connection.execute(text("SET lock_timeout = '10s'"))
        size = connection.scalar(text("SELECT pg_database_size(current_database())"))
        connection.execute(text(DELETE if size < MUCH else TRUNCATE))
    return database_url


@pytest.fixture
async def sessions(empty_database: str) -> AsyncIterator[Sessions]:
    engine = create_async_engine(empty_database, pool_size=10)
    yield create_sessions(engine)
    await engine.dispose()


@pytest.fixture
def settings(empty_database: str, tmp_path: Path) -> Settings:
    """Without meaning: a process that makes vectors would outlive many a test."""
    return Settings(database_url=empty_database, data_dir=tmp_path, embeddings="off")  # pyright: ignore[reportCallIssue]


@pytest.fixture
def app(settings: Settings) -> FastAPI:
    from app.main import create_app  # noqa: PLC0415 - unit tests need no application

    return create_app(settings)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A browser's view of the running application."""
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    """The address of the application, served over a real socket."""
    config = uvicorn.Config(app, port=0, log_config=None)
    listening = config.bind_socket()
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    await serving


def _forget_the_disk(url: str) -> None:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(text(f"ALTER SYSTEM SET {setting} = off"))
        connection.execute(text("SELECT pg_reload_conf()"))
    engine.dispose()
