"""The arguments of a tool call, repaired where only one meaning is possible, else refused."""

import math
import re
from typing import Any

from app.rag.refusals import Refusal, echo
from app.text import clean, normalize

Arguments = dict[str, Any]
# A longer number is not what somebody wanted to look up.
_REPEATABLE = 10**100
_WHOLE = re.compile(r"\s*([+-]?\d{1,400})(\.0*)?\s*", re.ASCII)


def text_argument(arguments: Arguments, name: str) -> str | None:
    """A text in normal form C; None when it is absent, null or empty."""
    value = arguments.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _REPEATABLE:
        value = str(value)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise Refusal(f"{name} must be a string, not {_kind(value)}.")
    return normalize("NFC", clean(value))


def whole_number(arguments: Arguments, name: str) -> int | None:
    """A whole number, also out of `"5"` and `5.0`; None when it is absent, null or empty."""
    value = arguments.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float | str | None):
        raise Refusal(f"{name} must be a whole number, not {_kind(value)}.")
    match value:
        case None | "":
            return None
        case int():
            return value
        case float() if math.isfinite(value) and value.is_integer():
            return int(value)
        case str() if written := _WHOLE.fullmatch(value):
            return int(written[1])
        case _:
            raise Refusal(f"{name} must be a whole number, not {echo(clean(str(value)))}.")


def _kind(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "a number"
