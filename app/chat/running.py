"""One turn as it runs: a task of the server, whoever listens."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.log import TurnLog
from app.chat.progress import Progress
from app.chat.queries_running import Ending, save_decision, save_ending, save_round
from app.db.engine import without_transaction
from app.db.retrying import UNREACHABLE, retried
from app.errors import AppError, NotFound, TurnInterrupted
from app.rag.agent import Agent, Finished, Task, run
from app.rag.citations import check_citations
from app.rag.decision import Decision
from app.rag.history import RoundMade, TurnMade
from app.rag.shown import Shown
from app.schemas import ChatCitationsEvent, ChatDoneEvent, ChatErrorEvent, CitationState

log = structlog.get_logger()

INTERRUPTED = ChatErrorEvent(
    code="interrupted",
    message="The server stopped before this answer was complete. Ask again to get all of it.",
)
INTERNAL = ChatErrorEvent(
    code="internal", message="Something went wrong in Brain; its log says what."
)
AWAY = ChatErrorEvent(
    code="not_ready", message="The database cannot be reached; try again in a moment."
)
DELETED = ChatErrorEvent(code="not_found", message="This conversation was deleted.")
NOT_SAVED = ChatErrorEvent(
    code="not_saved", message="The database cannot be reached: this answer was not saved."
)


class RunningTurn:
    """A turn with its log; cancelling its task ends it as stopped or as interrupted."""

    def __init__(
        self,
        agent: Agent,
        conversation_id: uuid.UUID,
        turn_id: uuid.UUID,
        scope: list[str] | None = None,
    ) -> None:
        """`scope` names the sources that the question was narrowed to."""
        self.id = turn_id
        self.log = TurnLog()
        self.written = 0
        self._agent = agent
        self._progress = Progress(conversation_id, turn_id, scope)
        self._decision: Decision | None = None
        self._deciding: asyncio.Task[None] | None = None
        self._stopping = False
        self._cut = False
        self._begun = False
        self._task: asyncio.Task[None] | None = None

    def start(self, asked: Callable[[], Awaitable[Task]]) -> None:
        """Run from now on; `asked` reads what the turn is asked, again if need be."""
        self._task = asyncio.create_task(self._run(asked), name=f"turn {self.id}")

    def stop(self) -> None:
        """End the turn because its user wants it to."""
        self._stopping = self._stopping or not self._cut
        self.interrupt()

    def interrupt(self) -> None:
        """End the turn because the server stops."""
        # Once only, and never while the turn ends: that would cut off the storing of what there is.
        # A task that is cancelled before its first step never runs at all; this one looks itself.
        if not self._cut:
            self._cut = True
            if self._begun and self._task is not None:
                self._task.cancel()

    async def finished(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self, asked: Callable[[], Awaitable[Task]]) -> None:
        self._begun = True
        try:
            ending = self._cut_short() if self._cut else await self._answer(await retried(asked))
        except asyncio.CancelledError:
            ending = self._cut_short()
        except TurnInterrupted:
            ending = Ending("interrupted", INTERRUPTED)
        except AppError as error:
            ending = Ending("error", ChatErrorEvent(code=error.code, message=error.detail))
        except UNREACHABLE as error:
            log.warning("turn failed", turn=str(self.id), reason=str(error).partition("\n")[0])
            ending = Ending("error", AWAY)
        except Exception:  # whatever happens, the turn ends with an event and a state
            log.exception("turn failed", turn=str(self.id))
            ending = Ending("error", INTERNAL)
        self._cut = True
        await self._end(ending)

    def _cut_short(self) -> Ending:
        return Ending("stopped") if self._stopping else Ending("interrupted", INTERRUPTED)

    async def _answer(self, task: Task) -> Ending:
        ending = Ending("answered")
        async with aclosing(run(self._agent, task)) as steps:
            async for step in steps:
                if isinstance(step, Decision):
                    # The model need not wait until it is stored.
                    self._deciding = self._decide(step)
                elif isinstance(step, RoundMade) and step.calls:
                    await self._decided()
                    position = len(self._progress.rounds)
                    await self._save(lambda s, p=position, m=step: save_round(s, self.id, p, m))
                elif isinstance(step, Finished):
                    ending = Ending(step.finish, citations=await self._citations(task))
                event = self._progress.take(step)
                if event is not None:
                    self.log.add(event)
        return ending

    def _decide(self, decision: Decision) -> asyncio.Task[None]:
        self._decision = decision
        saving = self._save(lambda s: save_decision(s, self.id, decision))
        return asyncio.create_task(saving)

    async def _decided(self) -> None:
        """Wait until the decision is stored; one that could not be is tried again."""
        if self._deciding is None or self._decision is None:
            return
        await asyncio.wait([self._deciding])
        if self._deciding.exception() is not None:
            self._deciding = self._decide(self._decision)
            await asyncio.shield(self._deciding)

    async def _citations(self, task: Task) -> tuple[CitationState, ...]:
        """Check the citations of the answer against the stored text and what the model saw."""
        rounds = tuple(self._progress.rounds)
        answer = "\n\n".join(made.text for made in rounds if made.text)
        prompt = self._decision.prompt if self._decision else task.message
        shown = Shown.of((*task.history, TurnMade(prompt, rounds)))
        try:
            async with self._agent.sessions() as session:
                checked = await check_citations(session, answer, shown, task.visible)
        except Exception:  # an answer that cannot be checked is still an answer
            log.exception("citations not checked", turn=str(self.id))
            return ()
        return tuple(CitationState.model_validate(c, from_attributes=True) for c in checked)

    async def _end(self, ending: Ending) -> None:
        last = self._progress.unsaved()
        try:
            if self._deciding is not None:
                await asyncio.gather(self._deciding, return_exceptions=True)
            await self._save(lambda s, e=ending: save_ending(s, self.id, e, last))
        except NotFound:
            ending = Ending("error", DELETED)
        except TurnInterrupted:
            ending = Ending("interrupted", INTERRUPTED)
        except Exception:  # the reader is told; the lease runs out, and the turn is found
            log.exception("turn not saved", turn=str(self.id))
            ending = Ending("error", NOT_SAVED)
        else:
            await self._decided_at_last()
        self._tell(ending)

    async def _decided_at_last(self) -> None:
        try:
            await self._decided()
        except Exception:  # an answer whose decision is lost is still an answer
            log.exception("decision not saved", turn=str(self.id))

    def _tell(self, ending: Ending) -> None:
        if ending.citations:
            self.log.add(ChatCitationsEvent(citations=list(ending.citations)))
        if ending.error is not None:
            self.log.add(ending.error)
        else:
            self.log.add(ChatDoneEvent.model_validate({"turn_id": self.id, "finish": ending.state}))

    async def _save(self, write: Callable[[AsyncSession], Awaitable[None]]) -> None:
        async def once() -> None:
            async with self._agent.sessions() as session:
                await without_transaction(session)
                await write(session)

        await retried(once)
