"""Events for a page that wants HTML: text becomes the Markdown blocks that it changes."""

from collections.abc import AsyncIterator, Iterator

from app.chat.log import ends
from app.chat.markdown import BlockRenderer
from app.chat.turns import Batch
from app.schemas import ChatBlockEvent, ChatDeltaEvent, ChatEvent, ChatStatusEvent


async def as_blocks(batches: AsyncIterator[Batch], after: int) -> AsyncIterator[Batch]:
    """Replace `delta` by `block` events; `batches` begin with the turn, `after` was seen already.

    All blocks that a piece of text changes have the id of its last `delta`.
    """
    feed = _Feed()
    async for batch in batches:
        rendered = [(n, event) for n, event in feed.take(batch) if n > after or ends(event)]
        if rendered:
            yield rendered


class _Feed:
    """The text of the round in the making, rendered."""

    def __init__(self) -> None:
        self._renderer = BlockRenderer()
        self._text: list[str] = []
        self._last = 0

    def take(self, batch: Batch) -> Iterator[tuple[int, ChatEvent]]:
        for number, event in batch:
            if isinstance(event, ChatDeltaEvent):
                if event.restarts:
                    yield from self._restart(number)
                self._text.append(event.text)
                self._last = number
                continue
            yield from self._blocks(self._renderer.feed(self._taken()))
            if not isinstance(event, ChatStatusEvent):
                # Whatever else comes stands behind the text of this round, which is complete.
                yield from self._blocks(self._renderer.finish())
                self._renderer = BlockRenderer()
            yield number, event
        yield from self._blocks(self._renderer.feed(self._taken()))

    def _restart(self, number: int) -> Iterator[tuple[int, ChatEvent]]:
        """Empty the blocks so far; those of the answer take their places."""
        for index in range(self._renderer.shown):
            yield number, ChatBlockEvent(index=index, html="")
        self._renderer, self._text = BlockRenderer(), []

    def _taken(self) -> str:
        text, self._text = "".join(self._text), []
        return text

    def _blocks(self, changes: list[tuple[int, str]]) -> Iterator[tuple[int, ChatEvent]]:
        for index, html in changes:
            yield self._last, ChatBlockEvent(index=index, html=html)
