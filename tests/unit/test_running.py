"""A turn that is cut short at an awkward moment still ends, with an event and a row."""

import asyncio
import uuid

from app.chat.log import ends
from app.chat.running import RunningTurn
from app.rag.agent import Agent, Task
from app.settings import Settings
from tests.fakes import ScriptedModel


class BrokenSessions:
    """A database that does not answer until it is let go, and then fails."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.let_go = asyncio.Event()

    def begin(self) -> "BrokenSessions":
        return self

    __call__ = begin

    async def __aenter__(self) -> None:
        self.asked.set()
        await self.let_go.wait()
        raise RuntimeError("no database")

    async def __aexit__(self, *_: object) -> None: ...


async def hello() -> Task:
    return Task("Hello!")


def make_turn() -> tuple[RunningTurn, BrokenSessions]:
    sessions = BrokenSessions()
    agent = Agent(Settings.model_validate({}), sessions, ScriptedModel())  # pyright: ignore[reportArgumentType]
    return RunningTurn(agent, uuid.uuid4(), uuid.uuid4()), sessions


async def test_a_turn_interrupted_before_its_first_step_ends() -> None:
    turn, sessions = make_turn()
    sessions.let_go.set()
    turn.start(hello)
    turn.interrupt()
    await asyncio.wait_for(turn.finished(), 5)
    assert ends(turn.log.last()[0][1])


async def test_a_second_interruption_does_not_cut_off_the_end() -> None:
    turn, sessions = make_turn()
    turn.start(hello)
    await sessions.asked.wait()
    turn.stop()
    await asyncio.sleep(0)
    turn.interrupt()
    turn.stop()
    sessions.let_go.set()
    await asyncio.wait_for(turn.finished(), 5)
    assert ends(turn.log.last()[0][1])
