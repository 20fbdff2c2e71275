"""The event log of one running turn, in memory: readers follow it, the writer stores it."""

import asyncio
from collections.abc import Sequence

from app.schemas import ChatDoneEvent, ChatErrorEvent, ChatEvent


def ends(event: ChatEvent) -> bool:
    """Whether no event can follow this one."""
    return isinstance(event, ChatDoneEvent | ChatErrorEvent)


class TurnLog:
    """Events in order; the first one has the id 1."""

    def __init__(self) -> None:
        self._events: list[ChatEvent] = []
        self._grown = asyncio.Event()

    @property
    def ended(self) -> bool:
        return bool(self._events) and ends(self._events[-1])

    def add(self, event: ChatEvent) -> None:
        self._events.append(event)
        self._grown.set()
        self._grown = asyncio.Event()

    def after(self, position: int) -> Sequence[tuple[int, ChatEvent]]:
        """The events behind `position`, with their ids."""
        return list(enumerate(self._events[position:], start=position + 1))

    def last(self) -> Sequence[tuple[int, ChatEvent]]:
        return self.after(len(self._events) - 1)

    async def beyond(self, position: int) -> Sequence[tuple[int, ChatEvent]]:
        """The events behind `position` as soon as there are any; none when there will be none."""
        while len(self._events) <= position and not self.ended:
            await self._grown.wait()
        return self.after(position)
