"""What PostgreSQL's planner is told about searches."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# A search ends with the first matches: plans that begin at once are worth more.
_PREFER = text(
    "SELECT set_config('enable_seqscan', :seqscan, true),"
    " set_config('cursor_tuple_fraction', '0.001', true)"
)


async def prefer_index(session: AsyncSession, *, preferred: bool = True) -> None:
    """Make sequential scans the last choice: the planner underrates the trigram index.

    It holds to the end of the transaction, which is a search's own.
    """
    await session.execute(_PREFER, {"seqscan": "off" if preferred else "on"})
