"""What is said to the language model and what it says back, as plain values."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class ToolCall:
    """One call that the model asks for; `arguments` is a JSON text, valid in what we send."""

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
    text: str
    calls: tuple[ToolCall, ...] = ()


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
    """A piece of the answer as it arrives."""

    text: str


@dataclass(frozen=True)
class Waiting:
    """The client waits before it tries again, and why, in words for a person."""

    text: str


@dataclass(frozen=True)
class Reply:
    """A complete reply; the last thing that a stream yields. `finish` is `stop` or `length`."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"


class Model(Protocol):
    """A language model: the OpenAI-compatible client, the offline model, or a test's script."""

    def stream(self, request: LlmRequest) -> AsyncIterator[TextDelta | Waiting | Reply]:
        """Yield text as it arrives, then one `Reply`; raise `ModelError` when it fails."""
        ...
