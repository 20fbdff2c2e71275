"""A request that is too long for the model: how servers say so, and how much they would take."""

import json
import re
from typing import Any

from app.errors import ModelError
from app.llm.loose import entries, fields, text

_SAID = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|maximum (?:model|sequence) length"
    r"|(?:prompt|input|request|messages?)\b[^.]{0,40}\b(?:too (?:long|large)|longer than)"
    r"|reduce the length|too many (?:input )?tokens|token count[^.]{0,20}exceeds"
    r"|tokens?\b[^.]{0,40}(?:must be <=|exceeds?\b)",
    re.IGNORECASE,
)
# The number behind or before the words that speak of the limit, not that of the request.
_LIMITS = [
    re.compile(limit, re.IGNORECASE)
    for limit in (
        r'"?n_ctx"?\D{1,4}(\d+)',
        r"(?:context|model)(?: length| window| size| limit)?\D{0,25}?(\d{3,8})",
        r"(\d{3,8})\s*(?:maximum\b|tokens? limit)",
        r"(?:must be <=|maximum(?: number of tokens)?[^.\d]{0,20}|>)\s*(\d{3,8})",
    )
]
_TELLING_KEYS = ("context_length", "max_model_len", "context_window", "max_context_length", "n_ctx")
_NESTED_KEYS = ("meta", "top_provider", "limits")
# What the model was trained for bounds what the server takes, which says nothing better.
_TRAINED_KEYS = ("n_ctx_train",)


class ContextOverflow(ModelError):
    """The request is longer than the model takes; `limit` in tokens, 0 where nobody says."""

    def __init__(self, detail: str, limit: int = 0) -> None:
        super().__init__(detail)
        self.limit = limit


def overflow_limit(said: str) -> int | None:
    """The limit that an error of a server names (0: it names none); None: it is another error."""
    if not _SAID.search(said):
        return None
    found = (limit.search(said) for limit in _LIMITS)
    return next((int(match[1]) for match in found if match), 0)


def context_length(models: Any, name: str) -> int:
    """The context of the model `name` in the answer to `/v1/models`; 0 where it does not say."""
    listed = [fields(model) for model in entries(fields(models).get("data")) or entries(models)]
    named = [model for model in listed if text(model.get("id")) == name]
    for model in named or (listed if len(listed) == 1 else []):
        nested = [model, *(fields(model.get(key)) for key in _NESTED_KEYS)]
        for keys in (_TELLING_KEYS, _TRAINED_KEYS):
            told = [part.get(key) for part in nested for key in keys]
            if lengths := [length for length in told if isinstance(length, int) and length > 0]:
                return min(lengths)
    return 0


def context_length_of(body: bytes, name: str) -> int:
    """The same from the bytes of the answer, whatever they are."""
    try:
        return context_length(json.loads(body), name)
    except (ValueError, RecursionError):
        return 0
