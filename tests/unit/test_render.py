"""Text events on their way to a page become blocks."""

import uuid
from collections.abc import AsyncIterator

from app.chat.markdown import render_blocks
from app.chat.render import as_blocks
from app.chat.turns import Batch
from app.schemas import ChatBlockEvent, ChatDeltaEvent, ChatDoneEvent, ChatEvent

EVENTS: list[ChatEvent] = [
    ChatDeltaEvent(text="I *wonder*.\n\nWell.\n\nSo "),
    ChatDeltaEvent(text="\n\n", restarts=True),
    ChatDeltaEvent(text="The **port**."),
    ChatDoneEvent(turn_id=uuid.UUID(int=1), finish="answered"),
]


async def blocks_of(*sizes: int) -> list[str]:
    """What stands in the blocks in the end, when the events come in batches of these sizes."""

    async def batches() -> AsyncIterator[Batch]:
        numbered = list(enumerate(EVENTS, 1))
        for size in sizes:
            yield [numbered.pop(0) for _ in range(size)]

    shown: dict[int, str] = {}
    async for batch in as_blocks(batches(), 0):
        shown |= {
            event.index: event.html for _, event in batch if isinstance(event, ChatBlockEvent)
        }
    return [html for _, html in sorted(shown.items()) if html]


async def test_an_answer_takes_the_place_of_thinking_that_was_shown() -> None:
    for sizes in ((1, 1, 1, 1), (4,), (1, 3), (2, 2), (3, 1)):
        assert await blocks_of(*sizes) == render_blocks("The **port**.")
