"""What went wrong with the model, in words for a person, and whether asking again may help."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from app.errors import ModelError
from app.llm.loose import entries, fields
from app.llm.overflow import ContextOverflow, overflow_limit
from app.text import clean

_MESSAGE_LIMIT = 300
# Characters of an error that are looked at.
_READ = 20_000
_TOO_LONG = "The conversation is too long for the model"
_RETRYABLE_STATUSES = frozenset({408, 409, 425, 429})
_RETRYABLE_WORDS = re.compile(
    r"overload|rate.?limit|server.?error|internal|unavailable|time.?out|try.?again|capacity",
    re.IGNORECASE,
)
_TELLING_KEYS = ("message", "error", "detail", "msg", "type", "code")
_HIDDEN = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_MEANINGS = {
    401: "The model's server does not accept the API key (401)",
    403: "The model's server forbids this (403)",
    404: "The model's server knows no such address or model (404)",
    429: "The model is busy (429)",
    503: "The model is busy (503)",
    529: "The model is busy (529)",
}


class EmptyReply(ModelError):
    """The reply held neither text nor calls."""


class RejectedRequest(ModelError):
    """The server takes the request for malformed (400 or 422)."""


def is_retryable_status(status: int) -> bool:
    return status in _RETRYABLE_STATUSES or status >= 500


def from_status(status: int, body: bytes, headers: Mapping[str, str]) -> ModelError:
    """The error that an answer other than 200 means; `body` may be cut."""
    said = body.decode("utf-8", "replace")
    message = _said(said)
    if 300 <= status < 400:
        where = shortened(headers.get("location", "elsewhere"))
        return ModelError(f"The model's server redirects to {where}: set BOR_LLM_BASE_URL to it.")
    if status != 429 and (limit := overflow_limit(said[:_READ])) is not None:
        return ContextOverflow(sentence(f"{_TOO_LONG} ({status})", message), limit)
    if status in (400, 422):
        return RejectedRequest(
            sentence(f"The model's server rejects the request ({status})", message)
        )
    meaning = _MEANINGS.get(status) or f"The model's server failed ({status})"
    return ModelError(
        sentence(meaning, message),
        retryable=is_retryable_status(status),
        retry_after=retry_after(headers, datetime.now(UTC)),
    )


def from_object(error: Any) -> ModelError:
    """The error that an error object (or plain text) inside a reply means."""
    said = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    if (limit := overflow_limit(said[:_READ])) is not None:
        return ContextOverflow(sentence(_TOO_LONG, provider_message(error)), limit)
    marks = [str(fields(error).get(key, "")) for key in ("code", "status", "type")]
    statuses = [int(mark) for mark in marks if re.fullmatch(r"[1-5]\d\d", mark)]
    retryable = any(map(is_retryable_status, statuses))
    retryable = retryable or bool(_RETRYABLE_WORDS.search(" ".join(marks)))
    return ModelError(
        sentence("The model's server reported an error", provider_message(error)),
        retryable=retryable,
    )


def from_page(text: str) -> ModelError:
    """The error that a 200 answer means which is neither a stream nor JSON."""
    if not text.strip():
        return EmptyReply("The model's server sent an empty reply.", retryable=True)
    return ModelError(sentence("The model's server sent no reply but a page", _said(text)))


def provider_message(value: Any) -> str:
    """The sentence somewhere in a provider's error object, bounded; empty when there is none."""
    if isinstance(value, (dict, list)):
        told = entries(value)[:1] + [fields(value).get(key) for key in _TELLING_KEYS]
        messages: list[str] = [provider_message(part) for part in told if part]
        return next(filter(None, messages), "")
    return "" if value is None else shortened(str(value))


def retry_after(headers: Mapping[str, str], now: datetime) -> float:
    """The seconds that a `Retry-After` header asks to wait (a number or an HTTP date), or 0."""
    asked = headers.get("retry-after", "").strip()
    try:
        seconds = float(asked)
    except ValueError:
        try:
            when = parsedate_to_datetime(asked)
        except ValueError:
            return 0.0
        seconds = (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds()
    return seconds if 0 < seconds < float("inf") else 0.0


def shortened(text: str) -> str:
    """`text` on one line, at most 300 characters of it."""
    line = " ".join(clean(text[: 10 * _MESSAGE_LIMIT]).split())
    return line if len(line) <= _MESSAGE_LIMIT else line[: _MESSAGE_LIMIT - 1] + "…"


def sentence(meaning: str, message: str) -> str:
    """What happened, and what was said about it, if anything was."""
    return f"{meaning}: {message}" if message else f"{meaning}."


def _said(body: str) -> str:
    try:
        return provider_message(json.loads(body))
    except (ValueError, RecursionError):
        return shortened(_HIDDEN.sub(" ", body[:_READ]))
