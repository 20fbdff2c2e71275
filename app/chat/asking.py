"""A question becomes a turn that runs, or is refused, or is known already."""

import uuid
from functools import partial

from sqlalchemy.exc import IntegrityError

from app.access import Caller
from app.chat.queries_begin import earlier_turns, in_the_way, insert_turn
from app.chat.turns import Turns
from app.db.engine import Sessions
from app.db.visible import narrowed
from app.errors import TurnRunning
from app.models import Turn
from app.rag.agent import Task
from app.rag.follow_ups import last_question
from app.schemas import ChatRequest

# Whatever was in the way was gone when it was looked for: hardly ever, and never so often.
TRIES = 5


async def begin(request: ChatRequest, caller: Caller, sessions: Sessions, turns: Turns) -> Turn:
    """The turn that answers a request: a new one runs from now on, one with its `key` did already.

    What was said before is read as it runs, so that a stored turn always ends.

    Raises `NotFound` and `TurnRunning`.
    """
    turn_id = uuid.uuid4()
    with turns.reserved(turn_id):
        turn = await _stored(sessions, caller.owner, request, turn_id)
        if turn.id == turn_id:
            turns.start(turn, partial(_task, request, caller, sessions, turn))
    return turn


async def _stored(sessions: Sessions, owner: str, request: ChatRequest, turn_id: uuid.UUID) -> Turn:
    for _ in range(TRIES):
        try:
            async with sessions() as session:
                turn = await insert_turn(session, owner, request, turn_id)
        except IntegrityError:
            turn = None
        if turn is None:
            async with sessions() as session:
                turn = await in_the_way(session, owner, request)
        if turn is not None:
            return turn
    raise TurnRunning("Other questions are being asked in this conversation: try again.")


async def _task(request: ChatRequest, caller: Caller, sessions: Sessions, turn: Turn) -> Task:
    asked, history = [], ()
    if request.conversation_id is not None:
        async with sessions() as session:
            asked, history = await earlier_turns(session, turn)
    return Task(
        message=request.message,
        history=tuple(history),
        previous=last_question(asked),
        visible=narrowed(caller.visible, request.sources or None),
        search_anyway=request.search_anyway,
    )
