"""Databases beside the one of the session, on the same PostgreSQL."""

import uuid
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import create_engine, make_url, text

from app.models import Base


@contextmanager
def fresh_database(server: str) -> Generator[str]:
    """The URL of a new database without tables, on the PostgreSQL that `server` leads to."""
    name = f"test_{uuid.uuid4().hex}"
    execute(server, f"CREATE DATABASE {name}")
    try:
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def execute(url: str, *statements: str) -> None:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def fetch(url: str, query: str) -> list[tuple[object, ...]]:
    engine = create_engine(url)
    with engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return rows


def empty(url: str) -> None:
    """Remove every row; servers on this database go on."""
    tables = ", ".join(Base.metadata.tables)
    execute(url, "SET lock_timeout = '10s'", f"TRUNCATE {tables} RESTART IDENTITY CASCADE")
