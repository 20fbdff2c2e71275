"""Reading whole streams, for the tests of what stands in them."""

from collections.abc import Sequence

from app.llm.deltas import StreamReader
from app.llm.messages import Reply, TextDelta, ToolCall
from tests.e2e.mock_wire import DONE, chunk, finished


def read(*parts: bytes, thinking: bool = False) -> tuple[str, Reply]:
    """What is shown in the end, and the reply, of a stream whose network reads are `parts`."""
    reader = StreamReader(thinking=thinking)
    pieces: list[TextDelta | Reply] = [delta for part in parts for delta in reader.feed(part)]
    *deltas, reply = [*pieces, *reader.close()]
    assert isinstance(reply, Reply)
    shown = ""
    for delta in deltas:
        assert isinstance(delta, TextDelta)
        shown = delta.text if delta.restarts else shown + delta.text
    return shown, reply


def text_of(*contents: str, thinking: bool = False) -> str:
    chunks = [chunk({"content": content}) for content in contents]
    shown, reply = read(*chunks, finished(), DONE, thinking=thinking)
    assert shown == reply.text
    return reply.text


def calls_of(*entries: Sequence[object], finish: str | None = "tool_calls") -> tuple[ToolCall, ...]:
    chunks = [chunk({"tool_calls": entry}) for entry in entries]
    return read(*chunks, finished(finish), DONE)[1].calls
