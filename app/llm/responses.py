"""The answers of a model's server over HTTP: the body of a reply, and what a refusal means."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import suppress

import httpx

from app.errors import ModelError
from app.llm.deltas import StreamReader
from app.llm.failures import from_status, sentence, shortened

# Of an exception's words, what tells a person nothing.
_SAYS_NOTHING = re.compile(r"\[Errno -?\d+\] |All connection attempts failed")
_GRACE_SECONDS = 2.0
_END_SECONDS = 0.05
_ERROR_BODY_BYTES = 64 * 1024


async def chunks_of(response: httpx.Response, reader: StreamReader) -> AsyncGenerator[bytes, None]:
    """The body up to `[DONE]`; not all servers end it once a reply is finished.

    Those that do get a moment for it: only then can the connection serve the next request.
    """
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
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            async for _ in chunks:
                pass


async def refusal_of(response: httpx.Response) -> ModelError:
    """What a response other than 200 means."""
    body = await start_of(response, _ERROR_BODY_BYTES)
    return from_status(response.status_code, body, response.headers)


async def start_of(response: httpx.Response, enough: int) -> bytes:
    """The body, or its first bytes, when it has many more than `enough`."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > enough:
            break
    return bytes(body)


def broken(error: Exception, silence: float) -> ModelError:
    """What an exception of the HTTP client means; `silence` is the limit in seconds."""
    if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol)):
        return ModelError("BOR_LLM_BASE_URL is not the address of a web server.")
    if isinstance(error, httpx.LocalProtocolError):
        # What it says may hold the key.
        return ModelError("BOR_LLM_API_KEY holds characters that cannot be sent.")
    why = shortened(_SAYS_NOTHING.sub("", str(error)))
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
        return ModelError(sentence("The model's server cannot be reached", why), retryable=True)
    if isinstance(error, httpx.TimeoutException):
        return ModelError(f"The model was silent for {silence:g} s.")
    return ModelError(sentence("The connection to the model's server broke", why), retryable=True)
