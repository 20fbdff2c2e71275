"""What a recorded request to the model holds."""

import json
from dataclasses import dataclass
from typing import Any

from tests.e2e.mock_wire import DONE, Json, called, chunk, finished


@dataclass(frozen=True)
class Exchange:
    """A tool call of the history with its result."""

    name: str
    arguments: Json
    result: str


def offered(body: Json) -> list[str]:
    """The names of the tools that the model may call, in their order."""
    return [tool["function"]["name"] for tool in body.get("tools", [])]


def exchanges(body: Json) -> list[Exchange]:
    """The calls in their order; each must be followed by the results of its reply, in order."""
    found: list[Exchange] = []
    messages: list[Json] = body["messages"]
    for position, message in enumerate(messages):
        calls: list[Json] = message.get("tool_calls") or []
        answers = messages[position + 1 : position + 1 + len(calls)]
        for call, answer in zip(calls, answers, strict=True):
            assert (answer["role"], answer["tool_call_id"]) == ("tool", call["id"])
            arguments = json.loads(call["function"]["arguments"])
            found.append(Exchange(call["function"]["name"], arguments, answer["content"]))
    return found


def said(body: Json, role: str) -> list[str]:
    """The texts of all messages of `role`."""
    return [m["content"] for m in body["messages"] if m["role"] == role]


def calling(*calls: tuple[str, Json]) -> tuple[bytes, ...]:
    """The steps of a scripted reply that calls tools together."""
    entries = [
        called(n, id=f"scripted_{n}", name=name, arguments=json.dumps(arguments))
        for n, (name, arguments) in enumerate(calls)
    ]
    return (*(chunk({"tool_calls": [entry]}) for entry in entries), finished("tool_calls"), DONE)


def saying(text: str) -> tuple[bytes, ...]:
    """The steps of a scripted reply in words."""
    return chunk({"content": text}), finished(), DONE


def slowly(words: int, pause: float = 0.25) -> tuple[bytes | float, ...]:
    """The steps of a scripted reply that takes its time, `pause` seconds after each word."""
    pieces = [chunk({"content": f"word{n} **strong** "}) for n in range(words)]
    return (*(step for piece in pieces for step in (piece, pause)), finished(), DONE)


def outline(body: Json) -> list[tuple[str, Any]]:
    """Role and content of each message."""
    return [(message["role"], message["content"]) for message in body["messages"]]
