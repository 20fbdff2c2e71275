"""What is said to the language model and what it says back, as plain values."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Protocol

DEFAULT_CONTEXT = 32_768
"""Tokens of context where nobody says: less than most models have, as some servers cut silently."""


@dataclass(frozen=True)
class ToolCall:
    """One call that the model asks for; `arguments` is JSON text as it came, perhaps malformed."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class SystemMessage:
    text: str


@dataclass(frozen=True)
class UserMessage:
    text: str


@dataclass(frozen=True)
class AssistantMessage:
    """What the model said before; `thinking` and `reasoning` are taken over from its `Reply`."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    thinking: bool = False
    reasoning: str = ""


@dataclass(frozen=True)
class ToolMessage:
    call_id: str
    text: str


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True)
class LlmRequest:
    """One request; `tools` are OpenAI function definitions, none means no `tools` key."""

    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] = field(default=())


@dataclass(frozen=True)
class TextDelta:
    """A piece of the answer as it arrives.

    With `restarts` it is the first: what was shown of this reply before turned out to be thinking.
    """

    text: str
    restarts: bool = False


@dataclass(frozen=True)
class Waiting:
    """The client waits before it tries again, and why, in words for a person."""

    text: str


@dataclass(frozen=True)
class Reply:
    """A complete reply; the last thing that a stream yields. `finish` is `stop` or `length`.

    `text` is the deltas joined. `thinking` says that it ended amid thinking, which the next reply
    of the turn may close. `reasoning` came beside the text; some servers want it back in this turn.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    thinking: bool = False
    reasoning: str = ""


class Model(Protocol):
    """A language model: the OpenAI-compatible client, the offline model, or a test's script."""

    def stream(self, request: LlmRequest) -> AsyncGenerator[TextDelta | Waiting | Reply, None]:
        """Yield text as it arrives, then one `Reply`; raise `ModelError` when it fails.

        Closing the generator (`contextlib.aclosing`) stops the model at once. A request that is too
        long for the model raises `ContextOverflow`.
        """
        ...

    async def context_tokens(self) -> int:
        """How many tokens a request and its reply may have together, as far as is known."""
        ...
