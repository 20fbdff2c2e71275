"""Servers that start at once, before their database, or without the rights they need."""

import asyncio
import time
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import make_url

from tests.e2e.databases import execute, fetch, fresh_database
from tests.e2e.server import Server, ServerFailed
from tests.folders import open_folder

AT_ONCE = 4
# Notes in a schema of its own which process has changed the database's structure.
NOTE_DDL = (
    "CREATE SCHEMA notes",
    "CREATE TABLE notes.ddl (process int, command text)",
    """CREATE FUNCTION notes.note() RETURNS event_trigger LANGUAGE plpgsql AS $$
       BEGIN INSERT INTO notes.ddl VALUES (pg_backend_pid(), tg_tag); END $$""",
    "CREATE EVENT TRIGGER note ON ddl_command_end EXECUTE FUNCTION notes.note()",
)


@pytest.fixture
def fresh(database_url: str) -> Generator[str]:
    """The URL of a database without tables."""
    with fresh_database(database_url) as url:
        yield url


@pytest.fixture
def folder() -> Generator[Path]:
    """A folder that root's PostgreSQL, and any other user, may enter."""
    with open_folder() as made:
        yield made


async def is_ready(server: Server) -> bool:
    async with httpx.AsyncClient(base_url=server.url) as client:
        return (await client.get("/readyz")).is_success


async def test_servers_that_start_at_once_on_an_empty_database_all_come_up(fresh: str) -> None:
    execute(fresh, *NOTE_DDL)
    servers = [Server(database_url=fresh) for _ in range(AT_ONCE)]
    try:
        await asyncio.gather(*(asyncio.to_thread(server.ready) for server in servers))
        assert all([await is_ready(server) for server in servers])
    finally:
        for server in servers:
            server.__exit__()
    makers = fetch(fresh, "SELECT process FROM notes.ddl WHERE command = 'CREATE TABLE'")
    assert len(set(makers)) == 1
    assert len(fetch(fresh, "SELECT version_num FROM alembic_version")) == 1


async def test_a_server_waits_for_a_database_that_comes_later(fresh: str, folder: Path) -> None:
    url = make_url(fresh)
    away = url.set(query={**url.query, "host": str(folder)})
    with Server(database_url=away.render_as_string(hide_password=False)) as server:
        await asyncio.to_thread(wait_for, server, "waiting for the database")
        assert server.process.poll() is None
        name = f".s.PGSQL.{url.query['port']}"
        (folder / name).symlink_to(Path(str(url.query["host"])) / name)
        await asyncio.to_thread(server.ready)
        assert await is_ready(server)


def wait_for(server: Server, words: str) -> None:
    deadline = time.monotonic() + 30
    while words not in server.log:
        assert time.monotonic() < deadline, server.log
        time.sleep(0.05)


def test_a_role_without_rights_is_told_in_one_sentence_which_it_needs(fresh: str) -> None:
    execute(fresh, "DROP ROLE IF EXISTS powerless", "CREATE ROLE powerless LOGIN")
    powerless = make_url(fresh).set(username="powerless").render_as_string(hide_password=False)
    try:
        with Server(database_url=powerless) as server:
            with pytest.raises(ServerFailed) as failure:
                server.ready()
            assert server.process.returncode == 1
    finally:
        execute(fresh, "DROP ROLE powerless")
    assert "permission denied" in str(failure.value)
    assert "extensions pg_trgm and vector" in str(failure.value)
    assert "its role" in str(failure.value).lower()
    assert "Traceback" not in str(failure.value)
