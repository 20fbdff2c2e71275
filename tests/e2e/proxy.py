"""A proxy between client and server whose connections can be cut, or end when it gets bored."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Proxy:
    """Hands bytes on between its clients and the server at `target`.

    It cuts a connection on which the server says nothing for `patience` seconds.
    """

    def __init__(self, target: str, patience: float | None = None) -> None:
        self._target = urlsplit(target)
        self._patience = patience
        self._writers: set[asyncio.StreamWriter] = set()
        self.url = ""

    def cut(self) -> None:
        """Reset every connection that is open now."""
        for writer in self._writers:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(self._target.hostname, self._target.port)
        self._writers |= {writer, there[1]}
        await asyncio.gather(
            self._hand_on(reader, there[1], None), self._hand_on(there[0], writer, self._patience)
        )

    async def _hand_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: float | None
    ) -> None:
        with suppress(ConnectionError, TimeoutError):
            while piece := await asyncio.wait_for(reader.read(65_536), patience):
                writer.write(piece)
                await writer.drain()
        writer.close()
        self._writers.discard(writer)


@asynccontextmanager
async def proxied(target: str, patience: float | None = None) -> AsyncGenerator[Proxy]:
    proxy = Proxy(target, patience)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    yield proxy
    listening.close()
    proxy.cut()
