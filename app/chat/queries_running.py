"""What a running turn writes: its decision, its rounds, its events, its lease and its end."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import delete, exists, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.queries import LEASE
from app.errors import NotFound
from app.models import Citation, Event, Round, Turn
from app.rag.decision import Decision
from app.rag.history import RoundMade
from app.schemas import ChatErrorEvent, ChatEvent, CitationState, PassageRange

# Events outlive their turn for as long as a reader may want to go on from where it was.
KEEP_EVENTS = "1 hour"
# After a restart of the database every process first gets the time to renew its leases.
SETTLED = "3 seconds"


@dataclass(frozen=True)
class Ending:
    """How a turn ended; `error` tells of one that failed."""

    state: str
    error: ChatErrorEvent | None = None
    citations: tuple[CitationState, ...] = ()


async def save_decision(session: AsyncSession, turn_id: uuid.UUID, decision: Decision) -> None:
    finding = decision.finding
    values = {
        "grounded": decision.grounded,
        "score": finding.score,
        "reason": finding.reason,
        "prompt": decision.prompt,
        "passages": [passage.model_dump() for passage in passages_given(decision)],
    }
    await session.execute(update(Turn).where(Turn.id == turn_id).values(values))


def passages_given(decision: Decision) -> list[PassageRange]:
    return [
        PassageRange(
            source=given.source,
            path=given.path,
            first_line=given.first_line,
            last_line=given.last_line,
            score=given.score,
        )
        for given in decision.given
    ]


async def save_round(
    session: AsyncSession, turn_id: uuid.UUID, position: int, made: RoundMade
) -> None:
    """Store a round; once more does no harm, so that a broken connection may be tried again."""
    calls = [asdict(call) for call in made.calls]
    row = {"turn_id": turn_id, "position": position, "text": made.text, "calls": calls}
    await session.execute(insert(Round).values(row).on_conflict_do_nothing())


async def save_ending(session: AsyncSession, turn_id: uuid.UUID, ending: Ending) -> None:
    """Store how a running turn ended; raises `NotFound` when its conversation was deleted."""
    error = ending.error.model_dump(exclude={"type"}) if ending.error else None
    known = select(Turn.id).where(Turn.id == turn_id).with_for_update()
    if await session.scalar(known) is None:
        raise NotFound("This conversation was deleted.")
    await session.execute(
        update(Turn)
        .where(Turn.id == turn_id, Turn.state == "running")
        .values(state=ending.state, error=error, ended_at=func.now())
    )
    for citation in ending.citations:
        values = citation.model_dump(exclude={"index", "since", "now_source", "now_path"}) | {
            "position": citation.index
        }
        await session.execute(
            insert(Citation).values(turn_id=turn_id, **values).on_conflict_do_nothing()
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
    """Store new events of all turns of this process and renew the leases of its running ones."""
    renew = (
        update(Turn)
        .where(Turn.id.in_(running), Turn.state == "running")
        .values(lease_until=func.now() + LEASE)
        .returning(Turn.id, Turn.stop_requested)
    )
    rows = (await session.execute(renew)).all()
    if events:
        await _insert_events(session, events)
    return Seen(
        frozenset(turn_id for turn_id, _ in rows),
        frozenset(turn_id for turn_id, stop in rows if stop),
    )


async def _insert_events(
    session: AsyncSession, events: Sequence[tuple[uuid.UUID, int, ChatEvent]]
) -> None:
    # A conversation may be deleted while its turn runs: then its events have no place.
    turns = select(Turn.id).where(Turn.id.in_({turn_id for turn_id, _, _ in events}))
    known = set(await session.scalars(turns.with_for_update(key_share=True)))
    values = [
        {"turn_id": turn_id, "position": position, "event": event.model_dump(mode="json")}
        for turn_id, position, event in events
        if turn_id in known
    ]
    if values:
        await session.execute(insert(Event).on_conflict_do_nothing(), values)


async def request_stop(session: AsyncSession, turn_id: uuid.UUID) -> None:
    await session.execute(
        update(Turn).where(Turn.id == turn_id, Turn.state == "running").values(stop_requested=True)
    )


async def abandoned(session: AsyncSession, ours: Collection[uuid.UUID]) -> Sequence[Turn]:
    """Running turns that have lost their process, locked until the session ends.

    Those that run in this process (`ours`) are none of them, however long it was held up.
    """
    settled = text(f"pg_postmaster_start_time() < now() - interval '{SETTLED}'")
    lost = (Turn.state == "running", Turn.lease_until < func.now(), Turn.id.not_in(ours))
    # Whoever comes second waits, and then finds nothing left to do.
    query = select(Turn).where(*lost, settled).order_by(Turn.id)
    return (await session.scalars(query.with_for_update())).all()


async def state_of(session: AsyncSession, turn_id: uuid.UUID) -> str | None:
    return await session.scalar(select(Turn.state).where(Turn.id == turn_id))


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
