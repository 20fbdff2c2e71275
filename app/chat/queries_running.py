"""What a running turn writes: its decision, its rounds, its events, its lease and its end."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import NotFound, TurnInterrupted
from app.models import Citation, Round, Turn
from app.rag.decision import Decision
from app.rag.history import RoundMade
from app.schemas import ChatErrorEvent, CitationState, PassageRange

# After a restart of the database every process first gets the time to renew its leases.
SETTLED = "3 seconds"


LastRound = tuple[int, RoundMade] | None


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
    # A single statement needs no transaction around it, which would take two more round trips.
    await session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
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
    """Store a round; once more does no harm, so that a broken connection may be tried again.

    Raises `NotFound` when the conversation was deleted, `TurnInterrupted` when the turn was ended
    by another process, which took this one for dead.
    """
    await _lock(session, turn_id, ("running",))
    await _insert_round(session, turn_id, position, made)


async def _insert_round(
    session: AsyncSession, turn_id: uuid.UUID, position: int, made: RoundMade
) -> None:
    calls = [asdict(call) for call in made.calls]
    row = {"turn_id": turn_id, "position": position, "text": made.text, "calls": calls}
    await session.execute(insert(Round).values(row).on_conflict_do_nothing())


async def save_ending(
    session: AsyncSession, turn_id: uuid.UUID, ending: Ending, last: LastRound = None
) -> None:
    """Store the `last` round of a running turn, with its position, and how it ended.

    Once more does no harm. Raises as `save_round` does.
    """
    error = ending.error.model_dump(exclude={"type"}) if ending.error else None
    end = update(Turn).where(Turn.id == turn_id, Turn.state == "running")
    values = {"state": ending.state, "error": error, "ended_at": func.now()}
    if await session.scalar(end.values(values).returning(Turn.id)) is None:
        await _lock(session, turn_id, (ending.state,))
    if last is not None:
        await _insert_round(session, turn_id, *last)
    for citation in ending.citations:
        values = citation.model_dump(exclude={"index", "since", "now_source", "now_path"}) | {
            "position": citation.index
        }
        await session.execute(
            insert(Citation).values(turn_id=turn_id, **values).on_conflict_do_nothing()
        )


async def _lock(session: AsyncSession, turn_id: uuid.UUID, states: Collection[str]) -> None:
    """Keep a turn, which is in one of `states`, from being ended by anybody else."""
    state = await session.scalar(select(Turn.state).where(Turn.id == turn_id).with_for_update())
    if state is None:
        raise NotFound("This conversation was deleted.")
    if state not in states:
        raise TurnInterrupted("This turn was ended by another process.")


async def request_stop(session: AsyncSession, turn_id: uuid.UUID) -> None:
    await session.execute(
        update(Turn).where(Turn.id == turn_id, Turn.state == "running").values(stop_requested=True)
    )


async def abandoned(session: AsyncSession) -> Sequence[Turn]:
    """Running turns whose lease has run out, locked until the session ends."""
    settled = text(f"pg_postmaster_start_time() < now() - interval '{SETTLED}'")
    lost = (Turn.state == "running", Turn.lease_until < func.now())
    # Whoever comes second waits, and then finds nothing left to do.
    query = select(Turn).where(*lost, settled).order_by(Turn.id)
    return (await session.scalars(query.with_for_update())).all()


async def state_of(session: AsyncSession, turn_id: uuid.UUID) -> str | None:
    return await session.scalar(select(Turn.state).where(Turn.id == turn_id))
