"""How far a turn has come: steps become events, and the round in the making is kept."""

import uuid

from app.chat.queries_running import passages_given
from app.llm.messages import TextDelta, Waiting
from app.rag.agent import Step
from app.rag.decision import Decision
from app.rag.history import CallMade, CallStarted, RoundMade
from app.schemas import (
    ChatDeltaEvent,
    ChatEvent,
    ChatStatusEvent,
    ChatToolEvent,
    ChatToolResultEvent,
    ChatTurnEvent,
)

INTERRUPTED_CALL = "This call was interrupted before it had a result."


class Progress:
    """The rounds of a turn so far, and what there is of the next one."""

    def __init__(
        self, conversation_id: uuid.UUID, turn_id: uuid.UUID, scope: list[str] | None
    ) -> None:
        self._conversation_id = conversation_id
        self._turn_id = turn_id
        self._scope = scope
        self.rounds: list[RoundMade] = []
        self._text: list[str] = []
        self._calls: dict[str, CallStarted] = {}

    def take(self, step: Step) -> ChatEvent | None:
        """Note a step; the event that tells of it, if any does."""
        match step:
            case Decision():
                return self._turn_event(step)
            case TextDelta(text, restarts):
                if restarts:
                    self._text.clear()
                self._text.append(text)
                return ChatDeltaEvent(text=f"\n\n{text}" if restarts else text, restarts=restarts)
            case Waiting(text):
                return ChatStatusEvent(text=text)
            case CallMade():
                self._calls[step.id] = step
                return ChatToolResultEvent(id=step.id, summary=step.summary, failed=step.failed)
            case CallStarted():
                self._calls[step.id] = step
                return ChatToolEvent(id=step.id, name=step.name, argument=step.argument)
            case RoundMade():
                self.rounds.append(step)
                self._text, self._calls = [], {}
                return None
            case _:
                return None

    def partial(self) -> RoundMade | None:
        """What was said and called in the unfinished round; calls without a result get one."""
        if not self._text and not self._calls:
            return None
        return RoundMade(
            "".join(self._text),
            tuple(
                call if isinstance(call, CallMade) else cut_off(call)
                for call in self._calls.values()
            ),
        )

    def unsaved(self) -> tuple[int, RoundMade] | None:
        """What the end of the turn has to store: the unfinished round, or the answer."""
        partial = self.partial()
        if partial is not None:
            return len(self.rounds), partial
        if self.rounds and not self.rounds[-1].calls:
            return len(self.rounds) - 1, self.rounds[-1]
        return None

    def _turn_event(self, decision: Decision) -> ChatTurnEvent:
        return ChatTurnEvent(
            conversation_id=self._conversation_id,
            turn_id=self._turn_id,
            grounded=decision.grounded,
            score=decision.finding.score,
            reason=decision.finding.reason,
            sources=passages_given(decision),
            scope=self._scope,
        )


def cut_off(call: CallStarted) -> CallMade:
    """A call whose result will never come, so that the history stays valid."""
    return CallMade(
        call.id,
        call.name,
        call.arguments,
        call.argument,
        result=INTERRUPTED_CALL,
        summary="interrupted",
        failed=True,
    )
