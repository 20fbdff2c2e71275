"""Chat over HTTP: ask, follow, stop; list, show, rename and remove conversations."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Response
from sqlalchemy.ext.asyncio import AsyncSession

from app.access import Caller
from app.chat import queries
from app.chat.render import as_blocks
from app.chat.replay import turn_content, turn_made
from app.chat.stream import EventStream
from app.chat.turns import Batch, Turns
from app.db.engine import Sessions
from app.db.visible import narrowed
from app.dependencies import CurrentSessions, CurrentTurns, Reader
from app.errors import InvalidRequest, TurnRunning
from app.models import Conversation, Round, Turn
from app.rag.agent import Task
from app.rag.follow_ups import last_question
from app.schemas import (
    ChatEvent,
    ChatRequest,
    ConversationContent,
    Conversations,
    ConversationSummary,
    Title,
)

router = APIRouter(prefix="/api", tags=["chat"])

Render = Literal["text", "html"]
# Blocks are rendered at most this often while text arrives.
FRAME_SECONDS = 0.04
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Server-sent events, one JSON object each", "model": ChatEvent}
}


async def asked_turn(
    request: ChatRequest, caller: Reader, sessions: CurrentSessions, turns: CurrentTurns
) -> Turn:
    """Everything that may refuse a question, before the stream opens; the turn runs after it."""
    if not request.message.strip():
        raise InvalidRequest("message: there is no question in it.")
    try:
        return await _begin(request, caller, sessions, turns)
    except TurnRunning:
        # It may have lost its process.
        async with sessions.begin() as session:
            await turns.recover(session)
        return await _begin(request, caller, sessions, turns)


async def _begin(request: ChatRequest, caller: Caller, sessions: Sessions, turns: Turns) -> Turn:
    async with sessions.begin() as session:
        turn, is_new = await queries.begin_turn(session, caller.owner, request)
        if not is_new:
            return turn
        turns.reserve(turn.id)
        earlier = await _earlier(session, turn) if request.conversation_id else []
    task = Task(
        message=turn.message,
        history=tuple(turn_made(before, rounds) for before, rounds in earlier),
        previous=last_question(before.message for before, _ in earlier),
        visible=narrowed(caller.visible, turn.sources),
        search_anyway=turn.search_anyway,
    )
    turns.start(turn, task)
    return turn


async def _earlier(session: AsyncSession, turn: Turn) -> list[tuple[Turn, list[Round]]]:
    turns = await queries.turns_of(session, turn.conversation_id)
    rounds = await queries.rounds_of(session, [before.id for before in turns])
    return [(before, rounds[before.id]) for before in turns if before.id != turn.id]


async def known_turn(turn_id: uuid.UUID, caller: Reader, sessions: CurrentSessions) -> Turn:
    async with sessions() as session:
        return await queries.get_turn(session, caller.owner, turn_id)


@router.post("/chat", response_class=EventStream, responses=STREAM)
async def chat(
    request: ChatRequest, turn: Annotated[Turn, Depends(asked_turn)], turns: CurrentTurns
) -> EventStream:
    """Ask a question; the answer streams as events, and goes on when nobody listens."""
    return EventStream(_events(turns, turn, 0, request.render))


@router.get("/turns/{turn_id}/events", response_class=EventStream, responses=STREAM)
async def follow(
    turn: Annotated[Turn, Depends(known_turn)],
    turns: CurrentTurns,
    render: Render = "text",
    last_event_id: Annotated[str, Header()] = "",
) -> EventStream:
    """Replay a turn from its first event, or from behind `Last-Event-ID`, and follow it."""
    after = int(last_event_id) if last_event_id.isdecimal() and len(last_event_id) < 10 else 0
    return EventStream(_events(turns, turn, after, render))


async def _events(turns: Turns, turn: Turn, after: int, render: Render) -> AsyncIterator[Batch]:
    # HTML is made from the text since the last tool call, so its reader starts at the beginning.
    batches = (
        as_blocks(turns.follow(turn, 0), after) if render == "html" else turns.follow(turn, after)
    )
    async for batch in batches:
        yield batch
        if render == "html":
            await asyncio.sleep(FRAME_SECONDS)


@router.post("/turns/{turn_id}/stop", status_code=204)
async def stop(turn: Annotated[Turn, Depends(known_turn)], turns: CurrentTurns) -> None:
    """Stop a turn; what it has said so far is kept."""
    await turns.stop(turn.id)


@router.get("/conversations")
async def list_conversations(caller: Reader, sessions: CurrentSessions) -> Conversations:
    async with sessions() as session:
        found = await queries.list_conversations(session, caller.owner)
    return Conversations(conversations=[_summary(c, running) for c, running in found])


def _summary(conversation: Conversation, running: bool) -> ConversationSummary:
    return ConversationSummary(
        id=conversation.id,
        title=conversation.title,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        running=running,
    )


@router.get("/conversations/{conversation_id}")
async def show_conversation(
    conversation_id: uuid.UUID, caller: Reader, sessions: CurrentSessions
) -> ConversationContent:
    """A conversation with its turns, as the page shows them."""
    async with sessions() as session:
        conversation = await queries.get_conversation(session, caller.owner, conversation_id)
        turns = await queries.turns_of(session, conversation_id)
        ids = [turn.id for turn in turns]
        rounds = await queries.rounds_of(session, ids)
        citations = await queries.citations_of(session, ids)
    summary = _summary(conversation, any(turn.state == "running" for turn in turns))
    # A long conversation takes a while to render; other requests go on meanwhile.
    shown = await asyncio.to_thread(
        lambda: [turn_content(turn, rounds[turn.id], citations[turn.id]) for turn in turns]
    )
    return ConversationContent(**summary.model_dump(), turns=shown)


@router.patch("/conversations/{conversation_id}")
async def rename_conversation(
    conversation_id: uuid.UUID, new: Title, caller: Reader, sessions: CurrentSessions
) -> ConversationSummary:
    async with sessions.begin() as session:
        conversation = await queries.get_conversation(
            session, caller.owner, conversation_id, lock=True
        )
        conversation.title = new.title
        turns = await queries.turns_of(session, conversation_id)
    return _summary(conversation, any(turn.state == "running" for turn in turns))


@router.delete("/conversations/{conversation_id}", status_code=204)
async def delete_conversation(
    conversation_id: uuid.UUID, caller: Reader, sessions: CurrentSessions
) -> Response:
    async with sessions.begin() as session:
        await queries.delete_conversation(session, caller.owner, conversation_id)
    return Response(status_code=204)
