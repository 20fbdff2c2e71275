"""The database engine and its sessions."""

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

# A connection that was used a moment ago hardly died since: asking it each time would be one more
# round trip for every transaction.
UNASKED_SECONDS = 0.2
_RETURNED = "returned"


def create_engine(url: str, pool_size: int) -> AsyncEngine:
    """An engine for psycopg; dead pooled connections are noticed before they are used."""
    engine = create_async_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=30,
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
        if idle < UNASKED_SECONDS:
            return
        try:
            sync.dialect.do_ping(connection)
        except sync.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error
