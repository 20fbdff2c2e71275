"""A language model that says what a test wrote down, and remembers what it was asked."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable

from app.llm.messages import LlmRequest, Reply, TextDelta, ToolCall, Waiting

Piece = TextDelta | Waiting | Reply | Exception | asyncio.Event
Script = list[Piece]


def call(name: str, id_: str = "c1", /, **arguments: object) -> ToolCall:
    return ToolCall(id_, name, json.dumps(arguments))


def calling(*calls: ToolCall, text: str = "") -> Script:
    """A reply that calls tools."""
    said: Script = [TextDelta(text)] if text else []
    return [*said, Reply(text, calls)]


def saying(text: str, finish: str = "stop") -> Script:
    """A reply in words, in two pieces."""
    half = len(text) // 2
    return [TextDelta(text[:half]), TextDelta(text[half:]), Reply(text, (), finish)]


class ScriptedModel:
    """Plays one script per request; the last one again when they run out.

    An `asyncio.Event` in a script is waited for, an exception raised.
    """

    context = 1_000_000

    def __init__(self, *scripts: Script | Callable[[LlmRequest], Script]) -> None:
        self._scripts = list(scripts) or [saying("All is well.")]
        self.requests: list[LlmRequest] = []
        self.closed = 0

    async def stream(self, request: LlmRequest) -> AsyncGenerator[TextDelta | Waiting | Reply]:
        number = min(len(self.requests), len(self._scripts) - 1)
        self.requests.append(request)
        script = self._scripts[number]
        try:
            for piece in script(request) if callable(script) else script:
                if isinstance(piece, asyncio.Event):
                    await piece.wait()
                elif isinstance(piece, Exception):
                    raise piece
                else:
                    yield piece
        finally:
            self.closed += 1

    async def context_tokens(self) -> int:
        return self.context
