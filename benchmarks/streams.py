"""Reads answers as fast as they come, and notes when: of Brain, and of the model asked directly."""

import asyncio
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from urllib.parse import urlsplit

TOKEN = re.compile(rb"@(\d+\.\d{6}) ")
CHAT, MODEL = "/api/chat", "/v1/chat/completions"


@dataclass
class Heard:
    """Seconds from asking to the first event and the first token; lateness of each token."""

    first_event: float = 0.0
    first_token: float = 0.0
    ended: float = 0.0
    late: list[float] = field(default_factory=list[float])
    tail: bytes = b""


async def hear(base: str, path: str, message: str) -> Heard:
    """Ask once and listen to the end."""
    where = urlsplit(base)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    body = json.dumps({"message": message} if path == CHAT else {"messages": [], "stream": True})
    heard = Heard()
    begun = time.monotonic()
    head = f"POST {path} HTTP/1.1\r\nHost: {where.netloc}\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write((head + body).encode())
    rest = b""
    while part := await reader.read(1 << 16):
        now = time.monotonic()
        rest += part
        if not heard.first_event and b"data: " in rest:
            heard.first_event = now - begun
        found = list(TOKEN.finditer(rest))
        heard.late += [now - float(token[1]) for token in found]
        if found and not heard.first_token:
            heard.first_token = now - begun
        rest = rest[found[-1].end() :] if found else rest[-4_000:]
        heard.ended = now - begun
    heard.tail = rest
    writer.close()
    return heard


async def hear_many(base: str, path: str, number: int, spread: float) -> list[Heard]:
    """Ask `number` times, evenly over `spread` seconds, and listen to all of the answers."""

    async def later(position: int) -> Heard:
        await asyncio.sleep(spread * position / number)
        return await hear(base, path, "Hello there!")

    return list(await asyncio.gather(*map(later, range(number))))


def quantile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f}"


def middle(values: Sequence[float]) -> float:
    return median(values)
