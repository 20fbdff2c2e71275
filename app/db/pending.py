"""Keeps the lists short in which new entries wait to be merged into the search indexes.

A search reads these lists from end to end; a write that finds one full has to merge it.
"""

import asyncio

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions

log = structlog.get_logger()

_INTERVAL_SECONDS = 1.0
# Free pages of about a sixteenth of the text are left behind, and no list takes seconds to read.
_SHARE_OF_BYTES = 16
_LEAST_KIB, _MOST_KIB = 8 * 1024, 64 * 1024
_INDEXES = ("ix_passages_folded", "ix_passages_words", "ix_document_grams_grams")
# Counts the writes of all processes.
_WRITES = text(
    "SELECT n_tup_ins + n_tup_upd FROM pg_stat_user_tables WHERE relid = 'passages'::regclass"
)


async def merge_seldom(session: AsyncSession, size: int) -> None:
    """For the rest of the transaction, one of many that store `size` bytes, let more trigrams wait.

    Merging is most of the work of a large ingest, and a merge of eight times as much costs little
    more. A running server keeps merging meanwhile, so its searches do not meet the long list.
    """
    limit = min(max(size // 1024 // _SHARE_OF_BYTES, _LEAST_KIB), _MOST_KIB)
    await session.execute(
        text(
            "SELECT set_config('gin_pending_list_limit', :limit, true),"
            " set_config('work_mem', :memory, true)"
        ),
        # What does not fit into the memory is merged in parts.
        {"limit": f"{limit}kB", "memory": f"{4 * limit}kB"},
    )


async def keep_merged(sessions: Sessions) -> None:
    """Merge what waits, once a second while documents are written; until cancelled."""
    merged = -1
    while True:
        await asyncio.sleep(_INTERVAL_SECONDS)
        try:
            merged = await merge_after(sessions, merged)
        except (SQLAlchemyError, OSError) as error:
            # The database may be restarting; the lists can wait.
            log.warning("search indexes not merged", reason=str(error).partition("\n")[0])


async def merge_after(sessions: Sessions, merged: int) -> int:
    """Merge if there were writes since the count `merged`; returns the present count."""
    async with sessions.begin() as session:
        writes = await session.scalar(_WRITES) or 0
    if writes == merged:
        return merged
    for index in _INDEXES:
        async with sessions.begin() as session:
            await session.execute(
                text("SELECT gin_clean_pending_list(to_regclass(:index))"), {"index": index}
            )
    return writes
