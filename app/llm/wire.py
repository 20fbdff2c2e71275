"""A request as `/v1/chat/completions` takes it: the same request always makes the same bytes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from app.llm.arguments import replayable
from app.llm.calls import unused
from app.llm.forms import USUAL, Forms
from app.llm.messages import (
    AssistantMessage,
    LlmRequest,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from app.text import clean

_INTERRUPTED = "The call was interrupted: there is no result."
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def to_wire(request: LlmRequest, model: str, forms: Forms = USUAL) -> dict[str, Any]:
    """The JSON body, in the forms that this server takes.

    Strict servers refuse a call without result, a result without call, an id used twice, and an
    assistant that says nothing: such histories are mended here, whatever left them behind.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": list(_messages(request.messages, forms)),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = list(request.tools)
    return body


def _messages(messages: tuple[Message, ...], forms: Forms) -> Iterator[dict[str, Any]]:
    taken: set[str] = set()
    for position, message in enumerate(messages):
        match message:
            case SystemMessage(text):
                yield {"role": "system", "content": clean(text)}
            case UserMessage(text):
                yield {"role": "user", "content": clean(text)}
            case AssistantMessage(text, calls) if calls:
                ids = _new_ids(calls, taken)
                yield _calling(message, ids, forms)
                results = _results(messages[position + 1 :])
                for call, new_id in zip(calls, ids, strict=True):
                    result = next(results.get(call.id, iter(())), _INTERRUPTED)
                    yield {"role": "tool", "tool_call_id": new_id, "content": clean(result)}
            case AssistantMessage(text) if text.strip():
                yield {"role": "assistant", "content": clean(text)}
            case AssistantMessage() | ToolMessage():
                pass  # It says nothing, or stands with its call.


def _calling(message: AssistantMessage, ids: Sequence[str], forms: Forms) -> dict[str, Any]:
    wired: dict[str, Any] = {
        "role": "assistant",
        "content": clean(message.text) or (None if forms.null_content else ""),
        "tool_calls": [
            _call(call, new_id) for call, new_id in zip(message.calls, ids, strict=True)
        ],
    }
    if forms.reasoning and message.reasoning:
        wired["reasoning_content"] = clean(message.reasoning)
    return wired


def _new_ids(calls: Iterable[ToolCall], taken: set[str]) -> list[str]:
    """Ids for calls that no call before has; some servers number anew in each reply."""
    ids: list[str] = []
    for call in calls:
        ids.append(unused(clean(call.id) or "call_1", taken))
        taken.add(ids[-1])
    return ids


def _results(following: Iterable[Message]) -> dict[str, Iterator[str]]:
    """The results right behind an assistant message, by call id, in their order."""
    texts: dict[str, list[str]] = {}
    for message in following:
        if not isinstance(message, ToolMessage):
            break
        texts.setdefault(message.call_id, []).append(message.text)
    return {call_id: iter(found) for call_id, found in texts.items()}


def _call(call: ToolCall, new_id: str) -> dict[str, Any]:
    name = _NOT_IN_A_NAME.sub("_", call.name)[:64] or "unknown"
    function = {"name": name, "arguments": replayable(call.arguments)}
    return {"id": new_id, "type": "function", "function": function}
