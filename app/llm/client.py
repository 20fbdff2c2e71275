"""The model behind an OpenAI-compatible `/v1/chat/completions`, streamed, with retries."""

import asyncio
import json
import math
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing

import httpx

from app.errors import ModelError
from app.llm.deltas import StreamReader
from app.llm.failures import EmptyReply
from app.llm.forms import Forms, other_forms
from app.llm.messages import (
    DEFAULT_CONTEXT,
    AssistantMessage,
    LlmRequest,
    Reply,
    TextDelta,
    UserMessage,
    Waiting,
)
from app.llm.overflow import ContextOverflow, context_length_of
from app.llm.responses import broken, chunks_of, refusal_of, start_of
from app.llm.wire import to_wire
from app.settings import Settings

_LONGEST_WAIT = 30.0
_CONNECT_SECONDS = 15.0
_DESCRIBED_SECONDS = 5.0
_DESCRIBED_BYTES = 8 * 1024 * 1024


def exponential(attempt: int) -> float:
    """Seconds to wait after failure number `attempt` (from 0): 1, 2, 4 …, half of it by chance."""
    return min(_LONGEST_WAIT, 2.0**attempt) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


class OpenAIModel:
    """A `Model` that speaks HTTP.

    `http` decides about proxies (httpx takes them from the environment unless told otherwise, which
    suits people behind one). Its time limits are not used: a reply may take for ever as long as it
    is not silent for `llm_silence_seconds`. Redirects are not followed: they would lose the body.
    """

    def __init__(
        self,
        settings: Settings,
        http: httpx.AsyncClient,
        *,
        backoff: Callable[[int], float] = exponential,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = http
        self._url = settings.llm_base_url.strip().rstrip("/")
        self._model = settings.llm_model
        self._key = settings.llm_api_key.get_secret_value().strip()
        self._silence = settings.llm_silence_seconds
        self._retries = settings.llm_retries
        self._forms = Forms(settings.llm_null_content, settings.llm_echo_reasoning)
        self._context = settings.context_tokens
        self._backoff = backoff
        self._sleep = sleep
        # Set once a reply closed thinking that it had not opened: the next ones will, too.
        self._begins_thinking = False

    async def context_tokens(self) -> int:
        """The setting, else what the server said of its model when it was first asked."""
        if not self._context:
            try:
                self._context = await self._described() or DEFAULT_CONTEXT
            except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, UnicodeError):
                return DEFAULT_CONTEXT  # Asked again next time: it may only have been starting.
        return self._context

    async def stream(
        self, request: LlmRequest
    ) -> AsyncGenerator[TextDelta | Waiting | Reply, None]:
        """Yield the reply, trying again as long as nothing of it was shown; raises `ModelError`."""
        failures = 0
        shown = False
        while True:
            forms = self._forms
            try:
                async with aclosing(self._attempt(request)) as pieces:
                    async for piece in pieces:
                        shown = True
                        yield piece
            except ModelError as failure:
                error = self._understood(failure)
                other = None if failures or shown else other_forms(forms, error, request)
                if other is not None:
                    # Not the opposite of what holds by now: another turn may have learnt it, too.
                    self._forms = other
                elif shown or not self._may_retry(error, failures):
                    raise error from None
            else:
                return
            seconds = min(error.retry_after or self._backoff(failures), _LONGEST_WAIT)
            failures += 1
            reason = error.detail.partition(": ")[0].removesuffix(".")
            yield Waiting(f"{reason}; trying again in {math.ceil(seconds)} s")
            await self._sleep(seconds)

    def _may_retry(self, error: ModelError, failures: int) -> bool:
        allowed = min(1, self._retries) if isinstance(error, EmptyReply) else self._retries
        return error.retryable and failures < allowed

    async def _attempt(self, request: LlmRequest) -> AsyncGenerator[TextDelta | Reply, None]:
        went_on = _ended_thinking(request)
        reader = StreamReader(thinking=went_on or self._begins_thinking)
        try:
            async with self._post(request) as response:
                if response.status_code != 200:
                    raise await refusal_of(response)
                async with aclosing(chunks_of(response, reader)) as chunks:
                    async for chunk in chunks:
                        for delta in reader.feed(chunk):
                            yield delta
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            if not reader.finished:
                raise broken(error, self._silence) from error
        for piece in reader.close():
            yield piece
        self._begins_thinking = reader.began_thinking and not went_on

    def _post(self, request: LlmRequest) -> AbstractAsyncContextManager[httpx.Response]:
        body = to_wire(request, self._model, self._forms)
        return self._http.stream(
            "POST",
            f"{self._url}/chat/completions",
            content=json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
            headers=self._headers("text/event-stream"),
            timeout=httpx.Timeout(self._silence, connect=min(_CONNECT_SECONDS, self._silence)),
            follow_redirects=False,
        )

    def _headers(self, accepted: str) -> httpx.Headers:
        headers = {
            "Content-Type": "application/json",
            "Accept": accepted,
            # Compressed events arrive late, and a small body may unpack to a huge one.
            "Accept-Encoding": "identity",
        }
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return httpx.Headers(headers, encoding="utf-8")

    async def _described(self) -> int:
        """What `/v1/models` says of the context; 0 where it does not."""
        async with self._http.stream(
            "GET",
            f"{self._url}/models",
            headers=self._headers("application/json"),
            timeout=_DESCRIBED_SECONDS,
            follow_redirects=False,
        ) as response:
            return context_length_of(await start_of(response, _DESCRIBED_BYTES), self._model)

    def _understood(self, error: ModelError) -> ModelError:
        """The error without the key; what it says of the context is remembered."""
        if self._key:
            error.detail = error.detail.replace(self._key, "…")
            error.args = (error.detail,)
        if isinstance(error, ContextOverflow) and error.limit:
            self._context = min(self._context or error.limit, error.limit)
        return error


def _ended_thinking(request: LlmRequest) -> bool:
    """Whether the last reply of the running turn ended amid thinking."""
    for message in reversed(request.messages):
        if isinstance(message, (AssistantMessage, UserMessage)):
            return isinstance(message, AssistantMessage) and message.thinking
    return False
