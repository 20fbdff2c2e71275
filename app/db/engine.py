"""The database engine and its sessions."""

from typing import Any

from psycopg.types.array import ListBinaryDumper
from sqlalchemy.event import listen
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)

Sessions = async_sessionmaker[AsyncSession]


def create_engine(url: str, pool_size: int) -> AsyncEngine:
    """An engine for psycopg; dead pooled connections are noticed before they are used."""
    engine = create_async_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_pre_ping=True,
        pool_timeout=30,
        # The values of statements are questions and documents, which do not belong in a log.
        hide_parameters=True,
        # Named prepared statements break behind poolers and pin generic plans for LIKE.
        connect_args={"prepare_threshold": None},
    )
    listen(engine.sync_engine, "connect", _send_lists_in_binary)
    return engine


def _send_lists_in_binary(connection: Any, _: object) -> None:
    # As text, each quotation mark is escaped twice: a large JSON document takes ten times as long
    # and five times the memory, and holds up every other request meanwhile.
    connection.driver_connection.adapters.register_dumper(list, ListBinaryDumper)


def create_sessions(engine: AsyncEngine) -> Sessions:
    return async_sessionmaker(engine, expire_on_commit=False)
