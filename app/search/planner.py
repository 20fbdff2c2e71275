"""What PostgreSQL is told about a search: how to plan it, and when to give it up."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from psycopg.errors import QueryCanceled
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import TooSlow

TOO_SLOW = "The search takes too long: make the pattern longer or simpler, or narrow the scope."
# A search ends with the first matches: plans that begin at once are worth more. Sequential scans
# are the last choice, as the planner underrates the trigram index. What an index gives must come in
# the order of the table (search/plans.py): neither shared with other scans nor between processes.
_SETTINGS = text(
    "SELECT set_config('enable_seqscan', 'off', true),"
    " set_config('cursor_tuple_fraction', '0.001', true),"
    " set_config('synchronize_seqscans', 'off', true),"
    " set_config('max_parallel_workers_per_gather', '0', true),"
    " set_config('statement_timeout', :timeout, true)"
)
_SCAN = text("SET LOCAL enable_seqscan = on")


@asynccontextmanager
async def planned(session: AsyncSession, seconds: float) -> AsyncGenerator[None]:
    """Plan what is in it as a search, each statement of which may take so many seconds.

    Raises `TooSlow`. Several statements build on what they saw: in a database that changes, the
    transaction has to be REPEATABLE READ. The settings hold to its end; it is a search's own.
    """
    await session.execute(_SETTINGS, {"timeout": f"{max(int(seconds * 1000), 1)}ms"})
    try:
        yield
    except DBAPIError as error:
        if isinstance(error.orig, QueryCanceled):
            raise TooSlow(TOO_SLOW) from error
        raise


async def prefer_scan(session: AsyncSession) -> None:
    """Let the rest of the transaction scan tables, where no index helps."""
    await session.execute(_SCAN)
