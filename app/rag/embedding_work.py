"""Gives every passage its vectors, in the background, until there are no more."""

import asyncio
import time
from collections.abc import Sequence

import structlog

from app.db.engine import Sessions
from app.errors import EmbeddingError, RefusedText
from app.models import EmbeddingModel
from app.rag import queries_embedding as rows
from app.rag.embeddings import Embedder, Vector
from app.rag.windows import windows

log = structlog.get_logger()

# Few, so that a new upload does not wait behind them, and a crash loses little.
CLAIMED = 16
IDLE_SECONDS = 1.0
PATIENCE_SECONDS = 20.0
_LONGEST_PAUSE = 60.0
_REPORT_SECONDS = 2.0


class EmbeddingWork:
    """The work with one model; only one process at a time does it for a database."""

    def __init__(
        self, sessions: Sessions, embedder: Embedder, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        """After `patience_seconds` without a new passage the work is done."""
        self._patience_seconds = patience_seconds
        self._sessions = sessions
        self._embedder = embedder
        self._pace: float | None = None
        self._report_at = 0.0

    async def run(self) -> None:
        """Work until there has been nothing to do for a while; raises what the database raises."""
        failures = 0
        is_needed = True
        while is_needed:
            try:
                await self.sweep()
                failures = 0
                is_needed = await self._wait_for_news()
            except EmbeddingError as error:
                await self._report_problem(error)
                pause = min(_LONGEST_PAUSE, max(error.retry_after, 2.0**failures))
                failures += 1
                await asyncio.sleep(pause)

    async def sweep(self) -> None:
        """Embed all that lacks vectors now; then this model is the one that serves."""
        model = await self._register()
        after: int | None = 0
        while after is not None:
            after = await self._step(model, after)
        async with self._sessions.begin() as session:
            await rows.report(session, model.id, complete=True, problem=None)
            await rows.forget_others(session, model.id)

    async def _wait_for_news(self) -> bool:
        """Look behind the newest passage each second for a while; whether any came."""
        model = await self._register()
        async with self._sessions.begin() as session:
            before = newest = await rows.newest_passage(session, visible=None)
        end = time.monotonic() + self._patience_seconds
        while time.monotonic() < end:
            await asyncio.sleep(min(IDLE_SECONDS, self._patience_seconds))
            while (after := await self._step(model, newest)) is not None:
                newest = after
        return newest > before

    async def _register(self) -> EmbeddingModel:
        async with self._sessions.begin() as session:
            model = await rows.register(session, self._embedder.name, self._embedder.dimension)
            await rows.make_index(session, model)
        return model

    async def _step(self, model: EmbeddingModel, after: int) -> int | None:
        """Embed the next passages with ids over `after`; the last id, None when there are none."""
        begun = time.monotonic()
        async with self._sessions.begin() as session:
            claimed = await rows.claim(session, model.id, after, CLAIMED, visible=None)
        if not claimed:
            return None
        cut = {id_: windows(text) for id_, text in claimed}
        vectors = iter(await self._embed([window for each in cut.values() for window in each]))
        made = {id_: [next(vectors) for _ in each] for id_, each in cut.items()}
        await self._ensure_dimension(model)
        async with self._sessions.begin() as session:
            await rows.store_vectors(session, model.id, made, visible=None)
        await self._report_pace(model, len(made) / (time.monotonic() - begun))
        return claimed[-1][0]

    async def _embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """The vectors of the texts; None for a text that the model refuses even alone."""
        worth = [text for text in texts if text]
        try:
            vectors = iter(await self._embedder.embed(worth) if worth else [])
        except RefusedText:
            if len(texts) == 1:
                return [None]
            half = len(texts) // 2
            return [*await self._embed(texts[:half]), *await self._embed(texts[half:])]
        return [next(vectors) if text else None for text in texts]

    async def _ensure_dimension(self, model: EmbeddingModel) -> None:
        """An endpoint's dimension is known by its first vectors, and has to stay."""
        if model.dimension is None and self._embedder.dimension is not None:
            model.dimension = (await self._register()).dimension
        if self._embedder.dimension not in (None, model.dimension):
            raise EmbeddingError(
                f"The model {model.name} answers {self._embedder.dimension} numbers a vector, and"
                f" used to answer {model.dimension}: if it is another one, give it another name."
            )

    async def _report_pace(self, model: EmbeddingModel, pace: float) -> None:
        self._pace = pace if self._pace is None else 0.9 * self._pace + 0.1 * pace
        if time.monotonic() >= self._report_at:
            self._report_at = time.monotonic() + _REPORT_SECONDS
            async with self._sessions.begin() as session:
                await rows.report(session, model.id, passages_per_second=self._pace, problem=None)

    async def _report_problem(self, error: EmbeddingError) -> None:
        log.warning("no new vectors", reason=error.detail)
        model = await self._register()
        async with self._sessions.begin() as session:
            await rows.report(session, model.id, problem=error.detail)
