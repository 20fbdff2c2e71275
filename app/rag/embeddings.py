"""Vectors of texts: the protocol, and an OpenAI-compatible `/v1/embeddings` that fulfils it."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

import httpx

from app.errors import EmbeddingError, RefusedText
from app.llm.failures import is_retryable_status, provider_message, retry_after
from app.llm.loose import entries, fields
from app.settings import Settings

Vector = list[float]

_BATCH = 32
_RETRIES = 3
_LONGEST_WAIT = 20.0
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_REFUSALS = frozenset({400, 413, 422})


class Embedder(Protocol):
    """Makes vectors; those of two names cannot be compared."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int | None:
        """Numbers in a vector; None until an endpoint has answered for the first time."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector of length 1 for each text, in order.

        Raises `EmbeddingError`; `RefusedText` when one of the texts is to blame.
        """
        ...


class Endpoint:
    """An `Embedder` that speaks HTTP; `dimension` fixes what it may answer."""

    def __init__(
        self,
        settings: Settings,
        http: httpx.AsyncClient,
        dimension: int | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = http
        self._url = settings.embeddings_base_url.strip().rstrip("/") + "/embeddings"
        self._key = settings.embeddings_api_key.get_secret_value().strip()
        self._sleep = sleep
        self.name = settings.embeddings_model
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), _BATCH):
            vectors += await self._embed_batch(texts[start : start + _BATCH])
        return vectors

    async def _embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        attempt = 0
        while True:
            try:
                return self._checked(await self._ask(texts), len(texts))
            except EmbeddingError as error:
                if not error.retryable or attempt == _RETRIES:
                    raise
                wait = error.retry_after or 0.5 * 2**attempt
            attempt += 1
            await self._sleep(min(wait, _LONGEST_WAIT))

    async def _ask(self, texts: Sequence[str]) -> Any:
        asked = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            answer = await self._http.post(
                self._url, json=asked, headers=headers, timeout=_TIMEOUT, follow_redirects=False
            )
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            said = str(error) or "the connection broke, or was silent for too long."
            raise EmbeddingError(
                f"The embeddings endpoint does not answer: {said}", retryable=True
            ) from error
        if answer.status_code != 200:
            raise _failure(answer)
        try:
            return answer.json()
        except (ValueError, RecursionError) as error:
            raise EmbeddingError("The embeddings endpoint sent no JSON.") from error

    def _checked(self, answer: Any, expected: int) -> list[Vector]:
        """The vectors of an answer in the order of the texts; anything odd is an error."""
        rows = [fields(row) for row in entries(fields(answer).get("data"))]
        if len(rows) != expected:
            raise EmbeddingError(
                f"The embeddings endpoint answered {len(rows)} vectors for {expected} texts."
            )
        places = [row.get("index", place) for place, row in enumerate(rows)]
        if sorted(map(str, places)) != sorted(map(str, range(expected))):
            raise EmbeddingError("The embeddings endpoint does not say which vector is whose.")
        by_place = {int(place): row for place, row in zip(places, rows, strict=True)}
        vectors = [_unit(by_place[place].get("embedding")) for place in range(expected)]
        for vector in vectors:
            self.dimension = self.dimension or len(vector)
            if len(vector) != self.dimension:
                raise EmbeddingError(
                    f"The model {self.name} answered {len(vector)} numbers a vector instead of"
                    f" {self.dimension}."
                )
        return vectors


def _unit(numbers: Any) -> Vector:
    """The vector scaled to length 1."""
    given = entries(numbers)
    try:
        values = [float(number) for number in given if isinstance(number, int | float)]
    except OverflowError:
        values = []
    length = math.hypot(*values) if values else 0.0
    if len(values) != len(given) or not 0.0 < length < math.inf:
        raise EmbeddingError("The embeddings endpoint answered something that is no vector.")
    return [value / length for value in values]


def _failure(answer: httpx.Response) -> EmbeddingError:
    status = answer.status_code
    try:
        said = provider_message(answer.json())
    except (ValueError, RecursionError):
        said = ""
    sentence = f"The embeddings endpoint failed ({status})" + (f": {said}" if said else ".")
    if status in _REFUSALS:
        return RefusedText(sentence)
    return EmbeddingError(
        sentence,
        retryable=is_retryable_status(status),
        retry_after=retry_after(answer.headers, datetime.now(UTC)),
    )
