"""Brings the database to the schema of this version, once, however many processes start."""

import time
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

log = structlog.get_logger()

MIGRATIONS = Path(__file__).parents[2] / "migrations"
DRIVER = "postgresql+psycopg"
OLDEST_SERVER = 160_000
# Any number that nothing else in the database locks.
LOCK = 0x627261696E
PATIENCE_SECONDS = 60.0


class MigrationError(Exception):
    """The database cannot be used; the message says what a person can do."""


def migrate(url: str) -> None:
    """Wait for the database and migrate it under a lock; blocks, raises `MigrationError`."""
    _check_url(url)
    engine = create_engine(url, connect_args={"prepare_threshold": None})
    try:
        with _connect(engine) as connection:
            _check_version(connection)
            # Taken before the schema is looked at: whoever waits here finds the work done.
            connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
            connection.commit()
            _upgrade(connection)
    finally:
        engine.dispose()


def _check_url(url: str) -> None:
    """The URL may hold a password, so it is not repeated."""
    try:
        is_ours = make_url(url).drivername == DRIVER
    except ArgumentError:
        is_ours = False
    if not is_ours:
        raise MigrationError(
            "BOR_DATABASE_URL is not the URL of a PostgreSQL database:"
            " postgresql://user:password@host/database."
        )


def _connect(engine: Engine) -> Connection:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return engine.connect()
        except OperationalError as error:
            if time.monotonic() > deadline:
                raise MigrationError(f"The database cannot be reached: {error.orig}") from error
            log.warning("waiting for the database", reason=str(error.orig).strip())
            time.sleep(1)


def _check_version(connection: Connection) -> None:
    version = int(connection.execute(text("SHOW server_version_num")).scalar_one())
    if version < OLDEST_SERVER:
        raise MigrationError(
            f"The database is PostgreSQL {version // 10_000}; Brain needs 16 or newer."
        )


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise MigrationError(
            f"The database was made by another version of Brain: {error}."
        ) from error
    except DBAPIError as error:
        raise MigrationError(
            f"The database could not be migrated: {_first_line(error)}. Its server must have"
            " the extensions pg_trgm and vector (pgvector), and its role be able to create them and"
            " tables."
        ) from error


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().partition("\n")[0].rstrip(".")
