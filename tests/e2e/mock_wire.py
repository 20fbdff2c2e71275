"""The wire format of the mock LLM: the chunks it sends, and the histories it refuses."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

DONE = b"data: [DONE]\n\n"


def refusal(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """What a strict server finds wrong with a history."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                return "messages with role 'tool' must follow the 'tool_calls' they answer"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"tool_call_ids did not have response messages: {', '.join(waiting)}"
        calls: list[Json] = message.get("tool_calls") or []
        if message["role"] == "assistant" and not calls and not message.get("content"):
            return "assistant messages need either content or tool_calls"
        if flaw := next(filter(None, map(_flaw, calls)), None):
            return flaw
        waiting = [call["id"] for call in calls]
    return (
        f"tool_call_ids did not have response messages: {', '.join(waiting)}" if waiting else None
    )


def _flaw(call: Json) -> str | None:
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"] or ""):
        return f"the name of tool call {call['id']} is invalid"
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = None
    return None if isinstance(arguments, dict) else f"the arguments of {call['id']} are no object"


def event(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def chunk(delta: Json, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "mock"}
    return event({**head, "choices": [choice]})


def called(index: int | None = None, **fields: Any) -> Json:
    """An entry of `tool_calls`: `id`, `name` and `arguments`; what is not given is absent."""
    function = {key: fields[key] for key in ("name", "arguments") if key in fields}
    entry: Json = {"type": "function", "function": function}
    if index is not None:
        entry["index"] = index
    return entry | ({"id": fields["id"]} if "id" in fields else {})


def finished(reason: str | None = "stop") -> bytes:
    return chunk({}, reason)
