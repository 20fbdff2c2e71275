"""What the model is asked in each round: the conversation as messages, and its tools."""

from collections.abc import Sequence
from typing import Any

from app.llm.messages import LlmRequest, Message, SystemMessage, UserMessage
from app.rag.budget import fit, room_in
from app.rag.history import TurnMade, messages, rounds_as_messages
from app.rag.prompt import closing_message, system_prompt

Tools = Sequence[dict[str, Any]]


def request_of(turns: Sequence[TurnMade], tools: Tools) -> LlmRequest:
    """The request of the next round; without tools it knows earlier calls only as plain text."""
    *history, running = turns
    said: list[Message] = [SystemMessage(system_prompt())]
    said += messages(history, with_tools=bool(tools))
    said.append(UserMessage(running.prompt))
    said += rounds_as_messages(running.rounds, with_tools=bool(tools))
    if running.rounds and not tools:
        said.append(UserMessage(closing_message()))
    return LlmRequest(tuple(said), tuple(tools))


def fitted(turns: Sequence[TurnMade], tools: Tools, context: int) -> tuple[TurnMade, ...]:
    """The turns as a context of so many tokens has room for them."""
    fixed = (SystemMessage(system_prompt()), UserMessage(closing_message()))
    return fit(turns, room_in(context, LlmRequest(fixed, tuple(tools))))
