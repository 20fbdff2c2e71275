"""The turns of this process: started, stopped, written down, and followed from anywhere."""

import asyncio
import math
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat import queries_events as events
from app.chat import queries_running as rows
from app.chat.log import TurnLog, ends
from app.chat.recovery import recover_abandoned
from app.chat.replay import replay
from app.chat.running import DELETED, RunningTurn
from app.db.engine import Sessions
from app.models import Turn
from app.rag.agent import Agent, Task
from app.schemas import CHAT_EVENT, ChatEvent

log = structlog.get_logger()

WRITE_SECONDS = 0.25
# Often enough for a stop to be heard of within a second.
RENEW_SECONDS = 0.75
POLL_SECONDS = 0.25
RECOVER_SECONDS = 2.0
FORGET_SECONDS = 600.0
# How many polls the last event of an ended turn may lag behind its state.
LAST_EVENT_POLLS = 8

Batch = Sequence[tuple[int, ChatEvent]]


class Turns:
    """The running turns of one process, and the one writer that stores their events."""

    def __init__(self, agent: Agent, own_sessions: Sessions) -> None:
        """`own_sessions` have a pool of their own: leases are renewed however busy others are."""
        self._agent = agent
        self._own_sessions = own_sessions
        self._turns: dict[uuid.UUID, RunningTurn] = {}
        self._reserved: set[uuid.UUID] = set()
        self._closing = False
        self._renewed = -math.inf

    @contextmanager
    def reserved(self, turn_id: uuid.UUID) -> Generator[None]:
        """A turn that is stored amid this is about to be started here, and not lost."""
        self._reserved.add(turn_id)
        try:
            yield
        finally:
            self._reserved.discard(turn_id)

    def __contains__(self, turn_id: object) -> bool:
        """Whether a turn runs, or is about to run, in this process."""
        return turn_id in self._turns or turn_id in self._reserved

    def start(self, turn: Turn, asked: Callable[[], Awaitable[Task]]) -> None:
        """Run a stored turn from now on; `asked` reads what it is asked, again if need be."""
        running = RunningTurn(self._agent, turn.conversation_id, turn.id, turn.sources)
        self._turns[turn.id] = running
        running.start(asked)
        if self._closing:
            running.interrupt()

    async def stop(self, turn_id: uuid.UUID) -> None:
        """Stop a turn in whichever process it runs; one that has ended stays as it is."""
        if turn_id in self._turns:
            self._turns[turn_id].stop()
            return
        async with self._agent.sessions.begin() as session:
            await rows.request_stop(session, turn_id)

    async def close(self) -> None:
        """Interrupt what runs, and return when all of it is stored."""
        self._closing = True
        running = list(self._turns.values())
        for turn in running:
            turn.interrupt()
        await asyncio.gather(*(turn.finished() for turn in running))
        await self._write()

    async def keep_written(self) -> None:
        """Store events and renew leases as long as the server lives."""
        while True:
            await asyncio.sleep(WRITE_SECONDS)
            try:
                await self._write()
            except Exception as error:  # tried again with the same events in the next pass
                log.warning("events not stored yet", reason=_first_line(error))

    async def keep_recovering(self) -> None:
        """Find turns that lost their process, and drop events that nobody needs any more."""
        loop = asyncio.get_running_loop()
        forget_at = loop.time()
        while True:
            try:
                async with self._own_sessions.begin() as session:
                    await self.recover(session)
                    if loop.time() >= forget_at:
                        await events.forget_events(session)
                        forget_at = loop.time() + FORGET_SECONDS
            except Exception as error:  # the database may be away for a while
                log.warning("turns not looked through", reason=_first_line(error))
            await asyncio.sleep(RECOVER_SECONDS)

    async def recover(self, session: AsyncSession) -> None:
        """Find the turns that have lost their process."""
        await recover_abandoned(session, self)

    async def _write(self) -> None:
        turns = list(self._turns.values())
        if not turns:
            return
        fresh = [(t, number, event) for t in turns for number, event in t.log.after(t.written)]
        now = asyncio.get_running_loop().time()
        is_due = now - self._renewed >= RENEW_SECONDS
        live = [t.id for t in turns if is_due and not t.log.ended]
        if not fresh and not live:
            return
        async with self._own_sessions() as session:
            seen = await events.record(session, [(t.id, n, e) for t, n, e in fresh], live)
        self._renewed = now if is_due else self._renewed
        for turn, number, _ in fresh:
            turn.written = max(turn.written, number)
        for turn in turns:
            if turn.id in seen.stopped:
                turn.stop()
            elif turn.id in live and turn.id not in seen.running:
                # Its conversation was deleted, or it was given up for lost.
                turn.interrupt()
            if turn.log.ended and not turn.log.after(turn.written):
                self._turns.pop(turn.id, None)

    async def follow(self, turn: Turn, after: int) -> AsyncIterator[Batch]:
        """The events of a turn behind id `after`, up to its last one, wherever it runs."""
        running = self._turns.get(turn.id)
        batches = self._follow_log(running.log, after) if running else self._poll(turn, after)
        async for batch in batches:
            yield batch

    async def _follow_log(self, turn_log: TurnLog, after: int) -> AsyncIterator[Batch]:
        # More may arrive while a batch is on its way: only when nothing is left does an end count.
        last = None
        while batch := await turn_log.beyond(after):
            last = batch[-1]
            after = last[0]
            yield batch
        if last is None:
            yield turn_log.last()

    async def _poll(self, turn: Turn, after: int) -> AsyncIterator[Batch]:
        """Follow a turn of another process, or one that has ended, by its rows."""
        polls = 0
        while polls <= LAST_EVENT_POLLS:
            async with self._agent.sessions() as session:
                state = await rows.state_of(session, turn.id)
                stored = await events.events_after(session, turn.id, after)
                told = state == "running" or await events.has_events(session, turn.id)
            if state is None:
                yield [(after + 1, DELETED)]
                return
            if not told:
                break
            batch = [(number, CHAT_EVENT.validate_python(event)) for number, event in stored]
            if batch:
                after = batch[-1][0]
                yield batch
                if ends(batch[-1][1]):
                    return
            polls = polls + 1 if state != "running" else 0
            await asyncio.sleep(POLL_SECONDS)
        async with self._agent.sessions() as session:
            told_again = await replay(session, turn.id)
        rest = [(n, e) for n, e in enumerate(told_again, 1) if n > after]
        yield rest or [(after + 1, told_again[-1])]


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
