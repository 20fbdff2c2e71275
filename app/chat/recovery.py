"""Turns whose process died: their partial answer is kept, and their conversation goes on."""

import uuid
from collections.abc import Container

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat import queries_events
from app.chat import queries_running as rows
from app.chat.progress import cut_off
from app.chat.queries import rounds_of
from app.chat.running import INTERRUPTED
from app.models import Event, Round, Turn
from app.rag.history import CallMade, CallStarted, RoundMade
from app.schemas import CHAT_EVENT, ChatDeltaEvent, ChatEvent, ChatToolEvent

log = structlog.get_logger()


async def recover_abandoned(
    session: AsyncSession, ours: Container[uuid.UUID] = frozenset()
) -> None:
    """Mark as interrupted every running turn that no process renews any more.

    Those that run in this process (`ours`, as it is then) are none of them, however long the
    writer was held up.
    """
    for turn in await rows.abandoned(session):
        if turn.id in ours:
            continue
        await _recover(session, turn)
        log.warning("turn was interrupted", turn=str(turn.id))


async def _recover(session: AsyncSession, turn: Turn) -> None:
    stored = await queries_events.events_after(session, turn.id, 0)
    rounds = (await rounds_of(session, [turn.id]))[turn.id]
    events = [CHAT_EVENT.validate_python(event) for _, event in stored]
    partial = _unfinished_round(events, rounds)
    last_round = (len(rounds), partial) if partial else None
    await rows.save_ending(session, turn.id, rows.Ending("interrupted", INTERRUPTED), last_round)
    last = stored[-1][0] if stored else 0
    event = INTERRUPTED.model_dump(mode="json")
    session.add(Event(turn_id=turn.id, position=last + 1, event=event))


def _unfinished_round(events: list[ChatEvent], rounds: list[Round]) -> RoundMade | None:
    """The round that was in the making, from the events behind the last stored call."""
    stored = {call["id"] for made in rounds for call in made.calls}
    known = [n for n, event in enumerate(events) if getattr(event, "id", None) in stored]
    behind = events[max(known, default=-1) + 1 :]
    deltas = [event for event in behind if isinstance(event, ChatDeltaEvent)]
    first = max((n for n, delta in enumerate(deltas) if delta.restarts), default=0)
    text = "".join(delta.text for delta in deltas[first:]).lstrip("\n")
    calls: list[CallMade] = [
        cut_off(CallStarted(event.id, event.name, "{}", event.argument))
        for event in behind
        if isinstance(event, ChatToolEvent)
    ]
    return RoundMade(text, tuple(calls)) if text or calls else None
