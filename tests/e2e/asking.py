"""Asking over HTTP, without a browser: a question in, its events out."""

import json
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from httpx_sse import EventSource, ServerSentEvent

from tests.e2e.mock_wire import Json


@dataclass
class Turn:
    """The events of a turn in the order in which they came."""

    events: list[Json] = field(default_factory=list[Json])

    @property
    def first(self) -> Json:
        return self.events[0]

    @property
    def last(self) -> Json:
        return self.events[-1]

    @property
    def text(self) -> str:
        return "".join(event["text"] for event in self.events if event["type"] == "delta")


async def ask(client: httpx.AsyncClient, message: str, **fields: Any) -> Turn:
    """Ask a question and hear its turn to the end."""
    async with asking(client, message, **fields) as events:
        return Turn([event async for event in events])


@asynccontextmanager
async def asking(
    client: httpx.AsyncClient, message: str, **fields: Any
) -> AsyncGenerator[AsyncGenerator[Json]]:
    """Ask a question; its events as they arrive."""
    body = {"message": message, **fields}
    async with client.stream("POST", "/api/chat", json=body, timeout=30) as response:
        yield _events(response)


async def heard(events: AsyncGenerator[Json], deltas: int) -> Turn:
    """The events up to the `deltas`-th piece of text."""
    turn = Turn()
    async for event in events:
        turn.events.append(event)
        deltas -= event["type"] == "delta"
        if deltas == 0:
            return turn
    raise AssertionError(f"The turn ended early: {turn.events}")


async def follow(client: httpx.AsyncClient, turn_id: str, **headers: str) -> Turn:
    """Hear a turn that was asked before, from its first event to its end."""
    address = f"/api/turns/{turn_id}/events"
    async with client.stream("GET", address, headers=headers, timeout=30) as response:
        return Turn([event async for event in _events(response)])


async def conversation(client: httpx.AsyncClient, conversation_id: str) -> Json:
    """A conversation as the page loads it."""
    answer = await client.get(f"/api/conversations/{uuid.UUID(conversation_id)}")
    assert answer.is_success, answer.text
    return answer.json()


async def _events(response: httpx.Response) -> AsyncGenerator[Json]:
    if response.is_error:
        await response.aread()
    response.raise_for_status()
    source = EventSource(response)
    async for event in source.aiter_sse():
        if event.data:  # This client takes a ping for an event without data.
            yield _value(event)


def _value(event: ServerSentEvent) -> Json:
    return json.loads(event.data)
