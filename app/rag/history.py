"""Earlier turns as messages: always a history that a strict server accepts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from app.llm.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage

NO_ANSWER = "(This question was not answered.)"


@dataclass(frozen=True)
class CallStarted:
    """A call; `arguments` is valid JSON text, `argument` what the page says it is about."""

    id: str
    name: str
    arguments: str
    argument: str | None


@dataclass(frozen=True)
class CallMade(CallStarted):
    """A call with its result; `summary` is the result in a few words for the page."""

    result: str
    summary: str
    failed: bool


@dataclass(frozen=True)
class RoundMade:
    """One reply of the model, with the results of the tools it called."""

    text: str
    calls: tuple[CallMade, ...] = ()
    # The reply ended amid thinking, which the next reply of the same turn may close.
    thinking: bool = False
    # What the model thought beside the text; it is sent back in the same turn, and never stored.
    reasoning: str = ""


@dataclass(frozen=True)
class TurnMade:
    """A turn as it was sent: the user's message with its passages, then the rounds."""

    prompt: str
    rounds: tuple[RoundMade, ...] = field(default=())


def messages(turns: Iterable[TurnMade], *, with_tools: bool) -> list[Message]:
    """The messages of earlier turns; without tools, calls and results become labelled text."""
    found: list[Message] = []
    for turn in turns:
        found.append(UserMessage(turn.prompt))
        answer = list(rounds_as_messages(turn.rounds, with_tools=with_tools))
        if not answer or not isinstance(answer[-1], AssistantMessage):
            answer.append(AssistantMessage(NO_ANSWER))
        found += answer
    return found


def rounds_as_messages(rounds: Sequence[RoundMade], *, with_tools: bool) -> Iterator[Message]:
    """The rounds of one turn, for the turns after it and for its own next round."""
    if not with_tools:
        if text := "\n\n".join(filter(None, map(_as_text, rounds))):
            yield AssistantMessage(text)
        return
    for made in rounds:
        calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in made.calls)
        if made.text.strip() or calls:
            yield AssistantMessage(made.text, calls, made.thinking, made.reasoning)
        for call in made.calls:
            yield ToolMessage(call.id, call.result)


def _as_text(made: RoundMade) -> str:
    parts = [made.text] if made.text.strip() else []
    parts += [
        f"[Called {call.name} {call.arguments}]\n[Result]\n{call.result}\n[End of result]"
        for call in made.calls
    ]
    return "\n\n".join(parts)
