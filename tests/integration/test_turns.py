"""A stored turn ends in its row as well, whatever cannot be read or stored at first."""

from typing import cast

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession

from app.access import EVERYONE
from app.chat.asking import begin
from app.chat.turns import Turns
from app.db.engine import Sessions
from app.models import Turn
from app.rag.agent import Agent
from app.schemas import ChatErrorEvent, ChatEvent, ChatRequest
from app.settings import Settings
from tests.fakes import ScriptedModel

NO_CONNECTION = PoolTimeoutError("no connection in 30 s")
RESTARTED = OperationalError("SELECT", {}, Exception("connection refused"))


class Failing:
    """Sessions; the one who asks for the n-th meets an error instead."""

    def __init__(self, sessions: Sessions, nth: int, error: Exception) -> None:
        self._sessions, self._left, self._error = sessions, nth, error

    def __call__(self) -> AsyncSession:
        self._left -= 1
        if self._left == 0:
            raise self._error
        return self._sessions()


def failing(sessions: Sessions, nth: int, error: Exception) -> Sessions:
    return cast("Sessions", Failing(sessions, nth, error))


def make_turns(settings: Settings, sessions: Sessions, saved: Sessions | None = None) -> Turns:
    return Turns(Agent(settings, saved or sessions, ScriptedModel()), sessions)


async def told(turns: Turns, turn: Turn) -> list[ChatEvent]:
    batches = [batch async for batch in turns.follow(turn, 0)]
    return [event for batch in batches for _, event in batch]


async def stored(sessions: Sessions, turn: Turn) -> Turn:
    async with sessions() as session:
        return await session.get_one(Turn, turn.id)


async def going_on(turns: Turns, sessions: Sessions) -> ChatRequest:
    """The second question of a conversation."""
    first = await begin(ChatRequest(message="Hello!"), EVERYONE, sessions, turns)
    await told(turns, first)
    return ChatRequest(message="Hello again!", conversation_id=first.conversation_id, key="k1")


async def test_a_turn_whose_history_cannot_be_read_ends(
    settings: Settings, sessions: Sessions
) -> None:
    turns = make_turns(settings, sessions)
    request = await going_on(turns, sessions)
    turn = await begin(request, EVERYONE, failing(sessions, 2, NO_CONNECTION), turns)
    events = await told(turns, turn)
    assert [e.code for e in events if isinstance(e, ChatErrorEvent)] == ["not_ready"]
    assert (await stored(sessions, turn)).state == "error"
    again = await begin(request, EVERYONE, sessions, turns)
    assert (again.id, again.state) == (turn.id, "error")


async def test_the_history_is_read_again_when_the_database_is_back(
    settings: Settings, sessions: Sessions
) -> None:
    turns = make_turns(settings, sessions)
    request = await going_on(turns, sessions)
    turn = await begin(request, EVERYONE, failing(sessions, 2, RESTARTED), turns)
    assert (await told(turns, turn))[-1].type == "done"
    assert (await stored(sessions, turn)).state == "answered"
