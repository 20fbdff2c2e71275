"""What each source holds, and how far the vectors of its passages are, told at once.

To add up a million passages takes PostgreSQL a second. In a small collection that is done each
time; in a large one the sums of a few seconds ago are told while new ones are made. Who asks when
they are older, or when a source has got or lost documents since, waits for new ones. How many
documents there are is always exact, and there is one count at a time.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from app.db.visible import Visible
from app.documents.queries import count_by_source, sources
from app.rag.progress import meaning_progress
from app.rag.retrieval import Retriever
from app.schemas import SourceSummary

# Up to so many documents and passages, counting takes a few milliseconds.
SMALL_DOCUMENTS, SMALL_PASSAGES = 2_000, 20_000
# Sums older than this begin a count, and those older than that are not told.
_FRESH_SECONDS, OLDEST_SECONDS = 5.0, 10.0

Clock = Callable[[], float]


@dataclass(frozen=True)
class _Counted:
    """The sources by name, and when they had been counted."""

    sources: Mapping[str, SourceSummary]
    at: float

    @property
    def passages(self) -> int:
        return sum(s.meaning.passages for s in self.sources.values() if s.meaning)


class Overview:
    """The sources of one database, for all callers of this process."""

    def __init__(
        self,
        retriever: Retriever,
        small_documents: int = SMALL_DOCUMENTS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._retriever = retriever
        self._small_documents = small_documents
        self._clock = clock
        self._counted = _Counted({}, 0.0)
        self._counting: asyncio.Task[None] | None = None

    async def sources(self, visible: Visible) -> list[SourceSummary]:
        """The visible sources by name."""
        async with self._retriever.sessions() as session:
            documents = await count_by_source(session, visible)
        age = self._clock() - self._counted.at
        if self._is_small(documents) or age > OLDEST_SECONDS or self._have_changed(documents):
            await self._count_again()
        elif age > _FRESH_SECONDS:
            self._begin()
        known = self._counted.sources
        return [
            known[source].model_copy(update={"documents": documents[source]})
            for source in sorted(documents)
            if source in known
        ]

    async def close(self) -> None:
        if self._counting and self._counting.cancel():
            with suppress(asyncio.CancelledError):
                await self._counting

    def _is_small(self, documents: Mapping[str, int]) -> bool:
        few = sum(documents.values()) <= self._small_documents
        return few and self._counted.passages <= SMALL_PASSAGES

    def _have_changed(self, documents: Mapping[str, int]) -> bool:
        known = {name: source.documents for name, source in self._counted.sources.items()}
        return any(known.get(source) != count for source, count in documents.items())

    async def _count_again(self) -> None:
        # What is being counted may not have what was stored since.
        if self._counting and not self._counting.done():
            await asyncio.wait([self._counting])
        await asyncio.shield(self._begin())

    def _begin(self) -> asyncio.Task[None]:
        if self._counting is None or self._counting.done():
            self._counting = asyncio.create_task(self._keep_count())
            # Without a caller that waits, a failure shows at the next count.
            self._counting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._counting

    async def _keep_count(self) -> None:
        counted = await self._count()
        self._counted = _Counted(counted, self._clock())

    async def _count(self) -> dict[str, SourceSummary]:
        async with self._retriever.sessions() as session:
            totals = await sources(session, visible=None)
        progress = await meaning_progress(self._retriever, visible=None)
        return {
            total.source: SourceSummary.model_validate(
                {**vars(total), "meaning": progress.get(total.source)}
            )
            for total in totals
        }
