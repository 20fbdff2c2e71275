"""A turn's events on their way to one reader, as server-sent events."""

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from app.chat.turns import Batch

PING = b": ping\n\n"
HEADERS = {
    # Proxies must neither keep nor compress events, nor wait until they have more of them.
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}


class EventStream(StreamingResponse):
    """All events that are there are sent at once; a comment tells that the server still lives.

    It does when nothing was sent for one to two times `ping_seconds`.
    """

    media_type = "text/event-stream"

    # FastAPI looks for the status code in the signature when it describes the API.
    def __init__(
        self, batches: AsyncIterator[Batch], ping_seconds: float, status_code: int = 200
    ) -> None:
        super().__init__(_encoded(batches), status_code, headers=HEADERS)
        self._ping_seconds = ping_seconds
        self._quiet = True

    async def stream_response(self, send: Send) -> None:
        async def noted(message: Message) -> None:
            self._quiet = False
            await send(message)

        pinging = asyncio.create_task(self._ping(send))
        try:
            await super().stream_response(noted)
        finally:
            pinging.cancel()

    async def _ping(self, send: Send) -> None:
        while True:
            self._quiet = True
            await asyncio.sleep(self._ping_seconds)
            if self._quiet:
                await send({"type": "http.response.body", "body": PING, "more_body": True})


async def _encoded(batches: AsyncIterator[Batch]) -> AsyncIterator[bytes]:
    async for batch in batches:
        yield encode(batch)


def encode(batch: Batch) -> bytes:
    """Events with one id belong together: only with the last of them has a reader seen them."""
    following = [number for number, _ in batch[1:]] + [0]
    parts: list[str] = []
    for (number, event), next_number in zip(batch, following, strict=True):
        told = "" if number == next_number else f"id: {number}\n"
        parts.append(f"{told}data: {event.model_dump_json()}\n\n")
    return "".join(parts).encode()
