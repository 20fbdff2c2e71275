"""A model for measuring: it sends numbered tokens at a given pace, each with the time it is due.

`python -m benchmarks.paced_model` prints its address. `GET /set?rate=20&count=200` sets tokens a
second (0: as fast as they are taken) and tokens a reply.
"""

import asyncio
import json
import re
import time
from urllib.parse import parse_qs, urlsplit

EMPTY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n"
    + b'{"data":[]}'
)
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
FINISHED = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class PacedModel:
    """The server; a token is the word `@` and its due time in seconds of the monotonic clock."""

    rate = 20.0
    count = 200

    async def serve(self) -> None:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0, backlog=1000)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            is_last = False
            while not is_last:
                head = await reader.readuntil(b"\r\n\r\n")
                length = LENGTH.search(head)
                await reader.readexactly(int(length[1]) if length else 0)
                await self._reply(head.split(b" ", 2)[1].decode(), writer)
                is_last = b"connection: close" in head.lower()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _reply(self, target: str, writer: asyncio.StreamWriter) -> None:
        asked = urlsplit(target)
        if asked.path == "/v1/chat/completions":
            await self._stream(writer)
            return
        if asked.path == "/set":
            given = {name: values[0] for name, values in parse_qs(asked.query).items()}
            self.rate, self.count = float(given["rate"]), int(given["count"])
        writer.write(EMPTY)
        await writer.drain()

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        begun = time.monotonic()
        for number in range(self.count):
            due = begun + number / self.rate if self.rate else time.monotonic()
            wait = due - time.monotonic()
            await asyncio.sleep(max(wait, 0))
            writer.write(_chunk(_token(due)))
            await writer.drain()
        writer.write(_chunk(FINISHED) + _chunk(b""))
        await writer.drain()


def _chunk(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


def _token(due: float) -> bytes:
    delta = {"content": f"@{due:.6f} "}
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"


if __name__ == "__main__":
    asyncio.run(PacedModel().serve())
