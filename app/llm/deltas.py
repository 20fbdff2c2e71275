"""A streamed chat completion: bytes in, text out as it arrives, and the reply at the end."""

import json
from typing import Any

from app.errors import ModelError
from app.llm.calls import CallAssembler
from app.llm.chunks import Chunk, read_chunk
from app.llm.failures import EmptyReply, from_object, from_page, shortened
from app.llm.messages import Reply, TextDelta
from app.llm.sse import Event, EventDecoder
from app.llm.thinking import ThinkingFilter
from app.text import clean

REPLY_LIMIT = 4 * 1024 * 1024
"""Characters of text, thinking and arguments (or bytes of one event) that are too many."""

_CUT_SHORT = frozenset({"length", "max_tokens", "model_length"})


class StreamReader:
    """Reads one reply. What arrived counts, not what the server says about it: calls are calls
    whatever the finish reason is, and a JSON completion is taken where a stream was asked for.

    Text that looks like a tool call (`<tool_call>…`, bare JSON) is shown as text and never run: a
    model that quotes a document would otherwise do what the document says. So an answer that begins
    with `{` streams at once, too.

    With `thinking` the reply may begin amid thinking: its beginning is held back (ThinkingFilter).
    """

    def __init__(self, *, thinking: bool = False, limit: int = REPLY_LIMIT) -> None:
        self.done = False
        """`[DONE]` or an error came: read no further, close."""
        self._failure: ModelError | None = None
        self._limit = limit
        self._size = 0
        self._events = EventDecoder()
        self._body: bytearray | None = None
        self._begun = False
        self._filter = ThinkingFilter(thinking=thinking)
        self._closings = 0
        self._restarts = False
        self._calls = CallAssembler()
        self._finish = ""
        self._high_surrogate = ""
        self._ready: list[str] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []

    @property
    def finished(self) -> bool:
        """Whether the reply is complete; only usage may follow."""
        return self.done or bool(self._finish)

    @property
    def began_thinking(self) -> bool:
        """Whether the reply closed thinking that it had not opened."""
        return self._closings > 0

    def feed(self, chunk: bytes) -> list[TextDelta]:
        """Read the next bytes; raises `ModelError` at an error that the server reports.

        Text that came with the error is returned first: then `close` raises it.
        """
        if not self._begun:
            chunk = chunk.lstrip(b" \t\r\n")
            self._begun = bool(chunk)
            # No line of an event stream begins like this: it is JSON or a page.
            self._body = bytearray() if chunk[:1] in (b"{", b"[", b"<") else None
        if self._body is not None:
            self._body += chunk
            self._bound(len(self._body))
            return []
        try:
            for event in self._events.feed(chunk):
                self._event(event)
            self._bound(self._size + self._events.pending)
        except ModelError as error:
            self.done, self._failure = True, error
        deltas = self._let_out()
        if self._failure and not deltas:
            raise self._failure
        return deltas

    def close(self) -> list[TextDelta | Reply]:
        """The text held back, then the reply; raises `ModelError` when there is none."""
        if self._failure:
            raise self._failure
        for event in self._events.close():
            self._event(event)
        if self._body is not None:
            self._take(self._whole_body(self._body))
        elif self._begun and not self.finished:
            raise ModelError("The model's reply broke off.", retryable=True)
        calls = self._calls.calls()
        self._filtered(self._high_surrogate)
        self._ready.append(self._filter.close(last=not calls))
        deltas = self._let_out()
        text = "".join(self._text)
        if not text and not calls:
            raise self._nothing()
        finish = "length" if self._finish in _CUT_SHORT else "stop"
        reasoning = clean("".join(self._reasoning))
        return [*deltas, Reply(text, calls, finish, self._filter.thinking, reasoning)]

    def _event(self, event: Event) -> None:
        data = event.data.strip()
        self.done = self.done or data == "[DONE]"
        if self.done or not data:
            return
        is_error = event.name == "error"
        try:
            value: Any = json.loads(data)
        except (ValueError, RecursionError):
            if not event.complete:
                return
            if is_error:
                raise from_object(data) from None
            what = f"The model's server sent something that is no JSON: {shortened(data)}"
            raise ModelError(what, retryable=True) from None
        self._take(read_chunk(value, is_error=is_error))

    def _whole_body(self, body: bytearray) -> Chunk:
        text = body.decode("utf-8", "replace")
        try:
            return read_chunk(json.loads(text))
        except (ValueError, RecursionError):
            raise from_page(text) from None

    def _take(self, chunk: Chunk) -> None:
        self._finish = chunk.finish or self._finish
        self._size += len(chunk.text) + len(chunk.reasoning)
        self._size += sum(map(self._calls.add, chunk.calls))
        if chunk.reasoning:
            self._reasoning.append(chunk.reasoning)
        text = self._high_surrogate + chunk.text
        # The other half of a pair may come with the next chunk.
        self._high_surrogate = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        self._filtered(text.removesuffix(self._high_surrogate))

    def _filtered(self, text: str) -> None:
        answer = self._filter.feed(clean(text))
        if self._filter.closings > self._closings:
            self._closings = self._filter.closings
            self._restarts = self._restarts or bool(self._text)
            self._ready, self._text = [], []
        self._ready.append(answer)

    def _let_out(self) -> list[TextDelta]:
        """Let text out, but blanks only in front of something to see: they show nothing yet."""
        text = "".join(self._ready)
        restarts, self._restarts = self._restarts, False
        if not self._text and not text.strip():
            self._ready = [text]
            return [TextDelta("", restarts=True)] if restarts else []
        if not self._text:
            blank_lines = text[: len(text) - len(text.lstrip())].rpartition("\n")
            text = text.removeprefix("".join(blank_lines[:2]))
        self._ready.clear()
        self._text.append(text)
        return [TextDelta(text, restarts)] if text else []

    def _bound(self, size: int) -> None:
        if size > self._limit:
            raise ModelError("The model's reply is far too long; it was cut off.")

    def _nothing(self) -> EmptyReply:
        if self._filter.seen or self._reasoning:
            return EmptyReply("The model thought about it, but gave no answer.")
        if self._finish == "content_filter":
            return EmptyReply("The content filter of the model's server stopped the reply.")
        return EmptyReply("The model sent an empty reply.", retryable=True)
