"""What PostgreSQL's planner is told about searches."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


@asynccontextmanager
async def index_preferred(session: AsyncSession, *, preferred: bool = True) -> AsyncGenerator[None]:
    """Within it, sequential scans are the last choice: the planner underrates the trigram index."""
    if not preferred:
        yield
        return
    await session.execute(text("SET LOCAL enable_seqscan = off"))
    yield
    await session.execute(text("SET LOCAL enable_seqscan = on"))
