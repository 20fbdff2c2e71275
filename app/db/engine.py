"""The database engine and its sessions."""

import selectors
from time import monotonic
from typing import Any

from psycopg.types.array import ListBinaryDumper
from sqlalchemy import event
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

Sessions = async_sessionmaker[AsyncSession]

# A database that went away closed its connections, which is seen without a word. One that cannot
# even do this, or a firewall in between, is asked about connections that were idle for longer.
UNASKED_SECONDS = 10.0
_RETURNED = "returned"


def create_engine(url: str, pool_size: int) -> AsyncEngine:
    """An engine for psycopg; dead pooled connections are noticed before they are used."""
    engine = create_async_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=30,
        # The values of statements are questions and documents, which do not belong in a log.
        hide_parameters=True,
        # Named prepared statements break behind poolers and pin generic plans for LIKE.
        connect_args={"prepare_threshold": None},
    )
    event.listen(engine.sync_engine, "connect", _send_lists_in_binary)
    _ask_before_use(engine)
    return engine


def _send_lists_in_binary(connection: Any, _: object) -> None:
    # As text, each quotation mark is escaped twice: a large JSON document takes ten times as long
    # and five times the memory, and holds up every other request meanwhile.
    connection.driver_connection.adapters.register_dumper(list, ListBinaryDumper)


def create_sessions(engine: AsyncEngine) -> Sessions:
    return async_sessionmaker(engine, expire_on_commit=False)


async def without_transaction(session: AsyncSession) -> None:
    """Let each statement of the session be stored by itself.

    One that stands alone needs no transaction around it, which would take two more round trips.
    """
    await session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})


def _ask_before_use(engine: AsyncEngine) -> None:
    sync = engine.sync_engine

    @event.listens_for(sync, "checkin")
    def checkin(_: Any, record: ConnectionPoolEntry) -> None:  # pyright: ignore[reportUnusedFunction]
        record.info[_RETURNED] = monotonic()

    @event.listens_for(sync, "checkout")
    def checkout(  # pyright: ignore[reportUnusedFunction]
        connection: Any, record: ConnectionPoolEntry, _: PoolProxiedConnection
    ) -> None:
        idle = monotonic() - record.info.get(_RETURNED, monotonic())
        try:
            if idle >= UNASKED_SECONDS or _has_something_to_say(connection):
                sync.dialect.do_ping(connection)
        except sync.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error


def _has_something_to_say(connection: Any) -> bool:
    """Whether there is something to read that nobody asked for: the end, for the most part."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.driver_connection.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))
