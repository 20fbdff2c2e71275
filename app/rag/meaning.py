"""What a question means: its vector, made by the model whose vectors of passages serve now."""

import asyncio
import time
from collections.abc import Callable

import structlog

from app.db.engine import Sessions
from app.errors import EmbeddingError
from app.models import EmbeddingModel
from app.rag.embeddings import Embedder
from app.rag.queries_vectors import Meant, models

log = structlog.get_logger()

# A question waits no longer for its vector; without one, words carry it.
PATIENCE_SECONDS = 6.0
# After a failure words alone carry the questions of this time.
PAUSE_SECONDS = 15.0
_REMEMBERED_SECONDS = 2.0
_QUESTION_CHARACTERS = 2_000

Named = Callable[[str], Embedder | None]


class Meaning:
    """Makes the vectors of questions, by `wanted` or by the model before it.

    When the settings name another model, the vectors of the old one serve until all are made anew;
    `named` gives the embedder of an older model by its name, if it can still be asked.
    """

    def __init__(
        self, sessions: Sessions, wanted: Embedder, named: Named, floor: float = 0.0
    ) -> None:
        self._sessions = sessions
        self._wanted = wanted
        self._named = named
        self._floor = floor
        self._older: dict[str, Embedder | None] = {}
        self._serving: tuple[EmbeddingModel, Embedder] | None = None
        self._look_again_at = 0.0
        self._paused_until = 0.0
        self.problem: str | None = None

    @property
    def name(self) -> str:
        """The name of the model that the settings want."""
        return self._wanted.name

    async def of(self, question: str) -> Meant | None:
        """The question's meaning; None while no model can tell, which `problem` explains."""
        now = time.monotonic()
        if now < self._paused_until or not (serving := await self._serving_model(now)):
            return None
        model, embedder = serving
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                (vector,) = await embedder.embed([question[:_QUESTION_CHARACTERS]])
        except (EmbeddingError, TimeoutError) as error:
            return self._fail(str(error) or "The embeddings endpoint is too slow.")
        if len(vector) != model.dimension:
            return self._fail(f"The model {model.name} has changed: give it another name.")
        self.problem = None
        return Meant(model.id, vector, self._floor)

    async def _serving_model(self, now: float) -> tuple[EmbeddingModel, Embedder] | None:
        if now >= self._look_again_at:
            async with self._sessions() as session:
                known = await models(session)
            usable = [(model, one) for model in known if (one := self._embedder(model.name))]
            usable.sort(key=lambda row: (row[0].complete, row[1] is self._wanted), reverse=True)
            self._serving = usable[0] if usable else None
            self._look_again_at = now + _REMEMBERED_SECONDS
        return self._serving

    def _embedder(self, name: str) -> Embedder | None:
        if name == self._wanted.name:
            return self._wanted
        if name not in self._older:
            self._older[name] = self._named(name)
        return self._older[name]

    def _fail(self, problem: str) -> None:
        self.problem = problem
        self._paused_until = time.monotonic() + PAUSE_SECONDS
        log.warning("questions without meaning", reason=problem)
