"""A stored turn ends in its row as well, whatever cannot be read or stored at first."""

from typing import Any, cast

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from app.access import EVERYONE
from app.chat.asking import begin
from app.chat.turns import Turns
from app.db.engine import Sessions
from app.models import Turn
from app.rag.agent import Agent
from app.rag.retrieval import SMALL_TALK
from app.schemas import ChatErrorEvent, ChatEvent, ChatRequest
from app.settings import Settings
from tests.fakes import ScriptedModel

NO_CONNECTION = PoolTimeoutError("no connection in 30 s")
RESTARTED = OperationalError("SELECT", {}, Exception("connection refused"))


class FailingSecond:
    def __init__(self, sessions: Sessions, error: Exception) -> None:
        self._sessions, self._error, self._asked = sessions, error, 0

    def __call__(self) -> AsyncSession:
        self._asked += 1
        if self._asked == 2:
            raise self._error
        return self._sessions()


def unread(sessions: Sessions, error: Exception) -> Sessions:
    """Sessions of a request that stores its turn, and at first cannot read what came before."""
    return cast("Sessions", FailingSecond(sessions, error))


def undecided(sessions: Sessions, times: int) -> async_sessionmaker[Any]:
    """Sessions that cannot store a decision so many times."""
    refusals = iter(range(times))

    class Refusing(AsyncSession):
        async def execute(self, statement: Any, *values: Any, **options: Any) -> Any:
            if "SET grounded" in str(statement) and next(refusals, None) is not None:
                raise RuntimeError("away for too long")
            return await super().execute(statement, *values, **options)

    return async_sessionmaker(sessions.kw["bind"], class_=Refusing, expire_on_commit=False)


def make_turns(settings: Settings, sessions: Sessions) -> Turns:
    return Turns(Agent(settings, sessions, ScriptedModel()), sessions)


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
    turn = await begin(request, EVERYONE, unread(sessions, NO_CONNECTION), turns)
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
    turn = await begin(request, EVERYONE, unread(sessions, RESTARTED), turns)
    assert (await told(turns, turn))[-1].type == "done"
    assert (await stored(sessions, turn)).state == "answered"


async def test_a_decision_that_could_not_be_stored_at_once_costs_no_answer(
    settings: Settings, sessions: Sessions
) -> None:
    turns = make_turns(settings, undecided(sessions, 1))
    turn = await begin(ChatRequest(message="Hello!"), EVERYONE, sessions, turns)
    assert (await told(turns, turn))[-1].type == "done"
    row = await stored(sessions, turn)
    assert (row.state, row.reason) == ("answered", SMALL_TALK)


async def test_an_answer_is_stored_even_if_its_decision_cannot_be(
    settings: Settings, sessions: Sessions
) -> None:
    turns = make_turns(settings, undecided(sessions, 2))
    turn = await begin(ChatRequest(message="Hello!"), EVERYONE, sessions, turns)
    assert (await told(turns, turn))[-1].type == "done"
    row = await stored(sessions, turn)
    assert (row.state, row.reason) == ("answered", None)
