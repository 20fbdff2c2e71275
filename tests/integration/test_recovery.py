"""A turn whose process died is found, kept and marked, and its conversation goes on."""

import asyncio
import uuid
from datetime import timedelta

import pytest
from sqlalchemy import func, select, text

from app.chat import queries_events as events
from app.chat import queries_running as rows
from app.chat.queries_begin import insert_turn
from app.chat.recovery import recover_abandoned
from app.db.engine import Sessions
from app.errors import TurnInterrupted
from app.models import Event, Round, Turn
from app.rag.history import CallMade, RoundMade
from app.schemas import (
    ChatDeltaEvent,
    ChatEvent,
    ChatRequest,
    ChatToolEvent,
    ChatToolResultEvent,
)
from app.settings import Settings
from tests.chatting import answer_of, chatting, kinds
from tests.fakes import ScriptedModel, saying

STORED = RoundMade(
    "Let me look. ", (CallMade("c1", "list_documents", "{}", None, "x", "1", False),)
)
SETTLED = text(f"SELECT pg_postmaster_start_time() < clock_timestamp() - interval '{rows.SETTLED}'")
EVENTS: list[ChatEvent] = [
    ChatDeltaEvent(text="Let me look. "),
    ChatToolEvent(id="c1", name="list_documents", argument=None),
    ChatToolResultEvent(id="c1", summary="1", failed=False),
    ChatDeltaEvent(text="The port "),
    ChatToolEvent(id="c2", name="search_documents", argument="port"),
]


@pytest.fixture
async def abandoned(sessions: Sessions) -> Turn:
    """A turn amid its second round, whose process has been gone for a minute."""
    async with sessions() as session:
        turn = await insert_turn(session, "", ChatRequest(message="Which port?"), uuid.uuid4())
        assert turn is not None
    async with sessions.begin() as session:
        lost = await session.get_one(Turn, turn.id)
        lost.lease_until = func.now() - timedelta(minutes=1)
    async with sessions.begin() as session:
        await rows.save_round(session, turn.id, 0, STORED)
    async with sessions() as session:
        numbered = [(turn.id, number, event) for number, event in enumerate(EVENTS, 1)]
        await events.record(session, numbered, [])
        # The database may just have been started.
        while not await session.scalar(SETTLED):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return turn


async def test_its_partial_answer_is_kept(sessions: Sessions, abandoned: Turn) -> None:
    async with sessions.begin() as session:
        await recover_abandoned(session)
    async with sessions() as session:
        turn = await session.get_one(Turn, abandoned.id)
        first, second = await session.scalars(select(Round).order_by(Round.position))
    assert turn.state == "interrupted"
    assert first.text == "Let me look. "
    assert second.text == "The port "
    assert [(call["id"], call["argument"]) for call in second.calls] == [("c2", "port")]
    assert second.calls[0]["result"]


async def test_it_is_recovered_once(sessions: Sessions, abandoned: Turn) -> None:
    for _ in range(2):
        async with sessions.begin() as session:
            await recover_abandoned(session)
    async with sessions() as session:
        assert await session.scalar(select(func.count()).select_from(Round)) == 2
        last = await session.scalar(select(func.max(Event.position)))
    assert last == len(EVENTS) + 1
    assert abandoned.id


async def test_the_next_question_works_at_once(settings: Settings, abandoned: Turn) -> None:
    model = ScriptedModel(saying("Port 8081."))
    async with chatting(settings, model) as chat:
        events = await chat.ask("Hello again!", conversation_id=str(abandoned.conversation_id))
        replayed = await chat.replay(str(abandoned.id))
        shown = await chat.conversation(events)
    assert kinds(events)[-1] == "done"
    assert answer_of(replayed) == "Let me look. The port "
    assert replayed[-1]["code"] == "interrupted"
    assert [turn["state"] for turn in shown["turns"]] == ["interrupted", "answered"]
    said = model.requests[0].messages
    assert "The port" in str(said)


async def test_a_process_that_comes_back_cannot_undo_it(
    sessions: Sessions, abandoned: Turn
) -> None:
    async with sessions.begin() as session:
        await recover_abandoned(session)
    with pytest.raises(TurnInterrupted):
        async with sessions.begin() as session:
            await rows.save_round(session, abandoned.id, 2, STORED)
    with pytest.raises(TurnInterrupted):
        async with sessions.begin() as session:
            await rows.save_ending(session, abandoned.id, rows.Ending("answered"))
    async with sessions.begin() as session:
        await rows.save_ending(session, abandoned.id, rows.Ending("interrupted"))


async def test_a_renewed_turn_is_left_alone(sessions: Sessions, abandoned: Turn) -> None:
    async with sessions() as session:
        seen = await events.record(session, [], [abandoned.id])
        assert seen.running == {abandoned.id}
    async with sessions.begin() as session:
        await recover_abandoned(session)
        assert (await session.get_one(Turn, abandoned.id)).state == "running"


async def test_the_writer_learns_whom_to_stop(sessions: Sessions, abandoned: Turn) -> None:
    async with sessions.begin() as session:
        await rows.request_stop(session, abandoned.id)
    async with sessions() as session:
        seen = await events.record(session, [], [abandoned.id, uuid.uuid4()])
    assert seen.stopped == {abandoned.id}
    assert seen.running == {abandoned.id}


async def test_events_of_a_deleted_conversation_are_dropped(sessions: Sessions) -> None:
    gone = uuid.uuid4()
    async with sessions.begin() as session:
        await events.record(session, [(gone, 1, EVENTS[0])], [gone])
        assert await session.scalar(select(func.count()).select_from(Event)) == 0


async def test_events_are_forgotten_an_hour_after_the_end(
    sessions: Sessions, abandoned: Turn
) -> None:
    async with sessions.begin() as session:
        await recover_abandoned(session)
        await events.forget_events(session)
        assert await events.has_events(session, abandoned.id)
        turn = await session.get_one(Turn, abandoned.id)
        turn.ended_at = func.now() - timedelta(hours=2)
        await session.flush()
        await events.forget_events(session)
        assert not await events.has_events(session, abandoned.id)


async def test_thinking_that_was_taken_back_is_not_recovered(
    sessions: Sessions, abandoned: Turn
) -> None:
    async with sessions() as session:
        last = len(EVENTS)
        said = [ChatDeltaEvent(text="\n\n", restarts=True), ChatDeltaEvent(text="Port 8081")]
        numbered = [(abandoned.id, last + n, event) for n, event in enumerate(said, 1)]
        await events.record(session, numbered, [])
    async with sessions.begin() as session:
        await recover_abandoned(session)
    async with sessions() as session:
        _, second = await session.scalars(select(Round).order_by(Round.position))
    assert second.text == "Port 8081"
