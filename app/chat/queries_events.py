"""The events of turns as rows: written by the one writer of a process, read from any process."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, exists, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.queries import LEASE
from app.db.engine import without_transaction
from app.models import Event, Turn
from app.schemas import ChatEvent

# Events outlive their turn for as long as a reader may want to go on from where it was.
KEEP_EVENTS = "1 hour"
# One statement whatever their number. A conversation may be deleted while its turn runs: then its
# events have no place. Deleted at this very moment, it makes the statement fail, and the next one
# knows of it.
_RECORD = text(
    """
    WITH made AS (
        INSERT INTO events (turn_id, position, event)
        SELECT turn_id, position, event::jsonb
        FROM unnest(CAST(:turns AS uuid[]), CAST(:positions AS int[]), CAST(:events AS text[]))
            AS made (turn_id, position, event)
        WHERE turn_id IN (SELECT id FROM turns WHERE id = ANY(:turns))
        ON CONFLICT DO NOTHING
    )
    UPDATE turns SET lease_until = clock_timestamp() + CAST(:lease AS interval)
    WHERE id = ANY(CAST(:running AS uuid[])) AND state = 'running'
    RETURNING id, stop_requested
    """
)


@dataclass(frozen=True)
class Seen:
    """What one pass of the writer learns: turns that still run here, and those to be stopped."""

    running: frozenset[uuid.UUID]
    stopped: frozenset[uuid.UUID]


async def record(
    session: AsyncSession,
    events: Sequence[tuple[uuid.UUID, int, ChatEvent]],
    running: Sequence[uuid.UUID],
) -> Seen:
    """Store new events of turns of this process and renew the leases of its `running` ones."""
    values = {
        "turns": [turn_id for turn_id, _, _ in events],
        "positions": [position for _, position, _ in events],
        "events": [event.model_dump_json() for _, _, event in events],
        "running": list(running),
        "lease": LEASE,
    }
    await without_transaction(session)
    seen = (await session.execute(_RECORD, values)).all()
    return Seen(
        frozenset(turn_id for turn_id, _ in seen),
        frozenset(turn_id for turn_id, stop in seen if stop),
    )


async def events_after(
    session: AsyncSession, turn_id: uuid.UUID, position: int
) -> Sequence[tuple[int, dict[str, Any]]]:
    query = (
        select(Event.position, Event.event)
        .where(Event.turn_id == turn_id, Event.position > position)
        .order_by(Event.position)
    )
    return [(number, event) for number, event in await session.execute(query)]


async def has_events(session: AsyncSession, turn_id: uuid.UUID) -> bool:
    found = await session.scalar(select(exists().where(Event.turn_id == turn_id)))
    return bool(found)


async def forget_events(session: AsyncSession) -> None:
    """Drop the events of turns that ended long ago; their rounds tell the same."""
    old = select(Turn.id).where(Turn.ended_at < func.now() - text(f"interval '{KEEP_EVENTS}'"))
    await session.execute(delete(Event).where(Event.turn_id.in_(old)))
