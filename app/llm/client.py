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
from app.llm.failures import EmptyReply, RejectedRequest, from_status, shortened
from app.llm.messages import AssistantMessage, LlmRequest, Reply, TextDelta, UserMessage, Waiting
from app.llm.wire import to_wire
from app.settings import Settings

_LONGEST_WAIT = 30.0
_CONNECT_SECONDS = 15.0
_GRACE_SECONDS = 2.0
_ERROR_BODY_BYTES = 64 * 1024


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
        self._url = settings.llm_base_url.strip().rstrip("/") + "/chat/completions"
        self._model = settings.llm_model
        self._key = settings.llm_api_key.get_secret_value().strip()
        self._silence = settings.llm_silence_seconds
        self._retries = settings.llm_retries
        self._null_content = settings.llm_null_content
        self._backoff = backoff
        self._sleep = sleep
        # Set once a reply closed thinking that it had not opened: the next ones will, too.
        self._begins_thinking = False

    async def stream(
        self, request: LlmRequest
    ) -> AsyncGenerator[TextDelta | Waiting | Reply, None]:
        """Yield the reply, trying again as long as nothing of it was shown; raises `ModelError`."""
        failures = 0
        shown = False
        while True:
            null_content = self._null_content
            try:
                async with aclosing(self._attempt(request)) as pieces:
                    async for piece in pieces:
                        shown = True
                        yield piece
            except ModelError as failure:
                error = self._without_key(failure)
                if not failures and not shown and _is_about_content(error, request):
                    # Not the opposite of what holds by now: another turn may have learnt it, too.
                    self._null_content = not null_content
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
                    raise await _refusal(response)
                async with aclosing(_chunks(response, reader)) as chunks:
                    async for chunk in chunks:
                        for delta in reader.feed(chunk):
                            yield delta
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            if not reader.finished:
                raise self._broken(error) from error
        for piece in reader.close():
            yield piece
        self._begins_thinking = reader.began_thinking and not went_on

    def _post(self, request: LlmRequest) -> AbstractAsyncContextManager[httpx.Response]:
        body = to_wire(request, self._model, null_content=self._null_content)
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            # Compressed events arrive late, and a small body may unpack to a huge one.
            "Accept-Encoding": "identity",
        }
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return self._http.stream(
            "POST",
            self._url,
            content=json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
            headers=httpx.Headers(headers, encoding="utf-8"),
            timeout=httpx.Timeout(self._silence, connect=min(_CONNECT_SECONDS, self._silence)),
            follow_redirects=False,
        )

    def _broken(self, error: Exception) -> ModelError:
        if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol)):
            return ModelError("BOR_LLM_BASE_URL is not the address of a web server.")
        if isinstance(error, httpx.LocalProtocolError):
            # What it says may hold the key.
            return ModelError("BOR_LLM_API_KEY holds characters that cannot be sent.")
        why = shortened(str(error)) or type(error).__name__
        if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
            return ModelError(f"The model's server cannot be reached: {why}", retryable=True)
        if isinstance(error, httpx.TimeoutException):
            return ModelError(f"The model was silent for {self._silence:g} s.")
        return ModelError(f"The connection to the model's server broke: {why}", retryable=True)

    def _without_key(self, error: ModelError) -> ModelError:
        if self._key:
            error.detail = error.detail.replace(self._key, "…")
            error.args = (error.detail,)
        return error


async def _chunks(response: httpx.Response, reader: StreamReader) -> AsyncGenerator[bytes, None]:
    """The body up to `[DONE]`; not all servers close the connection once a reply is finished."""
    chunks = response.aiter_bytes()
    while not reader.done:
        try:
            async with asyncio.timeout(_GRACE_SECONDS if reader.finished else None):
                chunk = await anext(chunks, None)
        except TimeoutError:
            return
        if chunk is None:
            return
        yield chunk


async def _refusal(response: httpx.Response) -> ModelError:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _ERROR_BODY_BYTES:
            break
    return from_status(response.status_code, bytes(body), response.headers)


def _ended_thinking(request: LlmRequest) -> bool:
    """Whether the last reply of the running turn ended amid thinking."""
    for message in reversed(request.messages):
        if isinstance(message, (AssistantMessage, UserMessage)):
            return isinstance(message, AssistantMessage) and message.thinking
    return False


def _is_about_content(error: ModelError, request: LlmRequest) -> bool:
    """Whether the server may dislike how we say that there is no text beside tool calls."""
    is_suspect = isinstance(error, RejectedRequest) and "content" in error.detail.lower()
    return is_suspect and any(
        isinstance(message, AssistantMessage) and message.calls and not message.text
        for message in request.messages
    )
