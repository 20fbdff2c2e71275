"""What one chunk of a chat completion says, whichever server wrote it."""

from dataclasses import dataclass
from typing import Any

from app.errors import ModelError
from app.llm.failures import from_object
from app.llm.loose import entries, fields, text


@dataclass(frozen=True)
class Chunk:
    """Text, reasoning, entries of `tool_calls`, finish reason; what a chunk lacks is empty."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Any, ...] = ()
    finish: str = ""


def read_chunk(value: Any, *, is_error: bool = False) -> Chunk:
    """Read a chunk, or a whole completion; raises `ModelError` when it holds an error.

    Chunks without choices (usage, content filters), without a delta, and `null` say nothing.
    """
    error = fields(value).get("error")
    if is_error or error:
        raise from_object(error or value)
    choice = fields(next(iter(entries(fields(value).get("choices"))), None))
    delta = fields(choice.get("delta")) or fields(choice.get("message"))
    finish = text(choice.get("finish_reason"))
    if choice.get("error") or finish == "error":
        raise _broken_off(choice.get("error"))
    return Chunk(
        text=_content(delta.get("content")) + _content(delta.get("refusal")),
        reasoning=text(delta.get("reasoning_content")) or text(delta.get("reasoning")),
        calls=tuple(entries(delta.get("tool_calls"))),
        finish=finish,
    )


def _broken_off(error: Any) -> ModelError:
    if error:
        return from_object(error)
    return ModelError("The model's server broke the reply off with an error.", retryable=True)


def _content(value: Any) -> str:
    """Content is a string or a list of parts, of which only those of type `text` are the answer."""
    if isinstance(value, str):
        return value
    parts = [fields(part) for part in entries(value)]
    return "".join(_content(part.get("text")) for part in parts if part.get("type") == "text")
