"""Work in a thread while the next piece of it is fetched."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

Piece = TypeVar("Piece")


class Meanwhile(Generic[Piece]):
    """One piece of work at a time, in a thread."""

    def __init__(self, work: Callable[[Piece], None]) -> None:
        self._work = work
        self._running: asyncio.Task[None] | None = None

    def begin(self, piece: Piece) -> None:
        """Begin with a piece; the one before must be `done`."""
        self._running = asyncio.create_task(asyncio.to_thread(self._work, piece))

    async def done(self) -> None:
        """Wait for the piece that was begun; raises what its work raised."""
        running, self._running = self._running, None
        if running is not None:
            await running

    async def abandoned(self, give_up: Callable[[], None]) -> None:
        if self._running is not None:
            give_up()
            await asyncio.wait([self._running])
            self._running.exception()


@asynccontextmanager
async def meanwhile(
    work: Callable[[Piece], None], give_up: Callable[[], None]
) -> AsyncGenerator[Meanwhile[Piece]]:
    """Pieces of work whose last is done at the end; after an error `give_up` makes it stop."""
    pieces = Meanwhile(work)
    try:
        yield pieces
        await pieces.done()
    finally:
        await pieces.abandoned(give_up)
