"""What a running turn writes: its decision, its rounds and its end.

Each is one statement, which needs no transaction around it.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import NotFound, TurnInterrupted
from app.models import Turn
from app.rag.decision import Decision
from app.rag.history import RoundMade
from app.schemas import ChatErrorEvent, CitationState, PassageRange

_ROUND = text(
    """
    WITH running AS (SELECT id FROM turns WHERE id = :turn AND state = 'running' FOR UPDATE),
    said AS (
        INSERT INTO rounds (turn_id, position, text, calls)
        SELECT id, :position, :text, CAST(:calls AS jsonb) FROM running
        ON CONFLICT DO NOTHING
    )
    SELECT id FROM running
    """
)
# What a turn leaves behind is stored with its end, or not at all.
_END = text(
    """
    WITH ended AS (
        UPDATE turns SET state = :state, error = CAST(:error AS jsonb), ended_at = now()
        WHERE id = :turn AND state = 'running' RETURNING id
    ), said AS (
        INSERT INTO rounds (turn_id, position, text, calls)
        SELECT id, :position, :text, CAST(:calls AS jsonb)
        FROM ended WHERE CAST(:position AS int) IS NOT NULL
        ON CONFLICT DO NOTHING
    ), cited AS (
        INSERT INTO citations (turn_id, position, document_id, source, path, first_line, last_line,
            state, reason, text_sha256, text)
        SELECT ended.id, index, document_id, source, path, first_line, last_line,
            state, reason, text_sha256, text
        FROM ended, jsonb_to_recordset(CAST(:citations AS jsonb)) AS made (index int,
            document_id bigint, source text, path text, first_line int, last_line int,
            state text, reason text, text_sha256 text, text text)
    )
    SELECT id FROM ended
    """
)
_DECIDED = text(
    """
    UPDATE turns SET grounded = :grounded, score = :score, reason = :reason, prompt = :prompt,
        passages = CAST(:passages AS jsonb)
    WHERE id = :turn
    """
)
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
        "turn": turn_id,
        "grounded": decision.grounded,
        "score": finding.score,
        "reason": finding.reason,
        "prompt": decision.prompt,
        "passages": json.dumps([passage.model_dump() for passage in passages_given(decision)]),
    }
    await session.execute(_DECIDED, values)


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
    values = {"turn": turn_id, "position": position, **_said(made)}
    if await session.scalar(_ROUND, values) is None:
        await _look_for(session, turn_id, "running")


def _said(made: RoundMade) -> dict[str, str]:
    return {"text": made.text, "calls": json.dumps([asdict(call) for call in made.calls])}


async def save_ending(
    session: AsyncSession, turn_id: uuid.UUID, ending: Ending, last: LastRound = None
) -> None:
    """Store the `last` round of a running turn, with its position, and how it ended.

    Once more does no harm. Raises as `save_round` does.
    """
    position, made = last or (None, RoundMade(""))
    values = {
        "turn": turn_id,
        "state": ending.state,
        "error": ending.error.model_dump_json(exclude={"type"}) if ending.error else None,
        "position": position,
        **_said(made),
        "citations": json.dumps([citation.model_dump() for citation in ending.citations]),
    }
    if await session.scalar(_END, values) is None:
        await _look_for(session, turn_id, ending.state)


async def _look_for(session: AsyncSession, turn_id: uuid.UUID, wanted: str) -> None:
    """Why nothing was stored, unless the turn is as wanted: then it was, the time before."""
    state = await state_of(session, turn_id)
    if state is None:
        raise NotFound("This conversation was deleted.")
    if state != wanted:
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
