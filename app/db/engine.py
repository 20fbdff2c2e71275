"""The database engine and its sessions."""

from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)

Sessions = async_sessionmaker[AsyncSession]


def create_engine(url: str, pool_size: int) -> AsyncEngine:
    """An engine for psycopg; dead pooled connections are noticed before they are used."""
    return create_async_engine(
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


def create_sessions(engine: AsyncEngine) -> Sessions:
    return async_sessionmaker(engine, expire_on_commit=False)
