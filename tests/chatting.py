"""A running application with a scripted model, and its chat as a list of events."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from app.main import create_app
from app.settings import Settings
from tests.fakes import ScriptedModel

Events = list[dict[str, Any]]


def parse_events(text: str) -> Events:
    """The events of a whole stream; each with its `id`, when it has one, under `event_id`."""
    events: Events = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in lines:
            events.append(json.loads(lines["data"]) | {"event_id": lines.get("id")})
    return events


def kinds(events: Iterable[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def answer_of(events: Events) -> str:
    answer = ""
    for event in events:
        if event["type"] == "delta":
            answer = event["text"].lstrip("\n") if "restarts" in event else answer + event["text"]
    return answer


@dataclass
class Chat:
    """The API of one application, as one of its users."""

    client: httpx.AsyncClient
    model: ScriptedModel

    async def ask(self, message: str, **fields: Any) -> Events:
        response = await self.client.post("/api/chat", json={"message": message, **fields})
        assert response.status_code == 200, response.text
        return parse_events(response.text)

    def start(self, message: str, **fields: Any) -> asyncio.Task[Events]:
        """Ask, and go on while the answer streams."""
        return asyncio.create_task(self.ask(message, **fields))

    async def running_turn(self) -> dict[str, Any]:
        """The latest conversation with its turn, as soon as the model is being asked."""
        while not self.model.requests:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        listed = (await self.client.get("/api/conversations")).json()["conversations"]
        shown = await self.client.get(f"/api/conversations/{listed[0]['id']}")
        return shown.json()

    async def conversation(self, events: Events) -> dict[str, Any]:
        response = await self.client.get(f"/api/conversations/{events[0]['conversation_id']}")
        assert response.status_code == 200
        return response.json()

    async def replay(self, turn_id: str, after: str = "", render: str = "text") -> Events:
        response = await self.client.get(
            f"/api/turns/{turn_id}/events",
            params={"render": render},
            headers={"last-event-id": after},
        )
        return parse_events(response.text)


@asynccontextmanager
async def chatting(
    settings: Settings, model: ScriptedModel, token: str = ""
) -> AsyncGenerator[Chat]:
    app = create_app(settings, model)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        headers = {"authorization": f"Bearer {token}"} if token else {}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as client:
            yield Chat(client, model)
