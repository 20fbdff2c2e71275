"""The arguments of a tool call: JSON text that models write, and write wrongly."""

import json
import math
import re
from typing import Any

from app.llm.loose import entries, fields
from app.text import clean

_NOTHING = frozenset({"", "null", '""', '"null"'})
_BACKSLASH = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt]|(?P<lone>))')
# After one of these a lone backslash elsewhere leaves open what this one was meant to be.
_AMBIGUOUS = re.compile(r"\\(?:\\|[\"/])|(?P<control>\\(?:[bfnrt]|u[0-9a-fA-F]{4}))")
_INVALID_LIMIT = 2_000


class BadArguments(Exception):
    """The arguments cannot be read; the message is a sentence for the model."""


def parse_arguments(raw: str) -> dict[str, Any]:
    """The arguments that `raw` means; raises `BadArguments`.

    Nothing, blanks and `null` mean no arguments. Raw control characters are taken as they stand,
    and a lone backslash (`\\d`, `C:\\guides`) as itself, unless the same text also holds `\\n` or
    the like: then nobody can say what is meant. Several objects in one text are refused, since each
    wants a call of its own; only an empty one beside them, a server's placeholder, is passed over.
    """
    value = _read(raw)
    if isinstance(value, str):
        value = _read(value)  # Some servers encode the JSON text twice.
    if not isinstance(value, dict):
        raise BadArguments('The arguments must be one JSON object, like {} or {"path": "a.txt"}.')
    return fields(_cleaned(value))


def replayable(raw: str) -> str:
    """Arguments as a later request repeats them: the JSON text of an object in every case."""
    try:
        return json.dumps(parse_arguments(raw), ensure_ascii=False)
    except BadArguments:
        return json.dumps({"invalid": clean(raw[:_INVALID_LIMIT])}, ensure_ascii=False)


def _read(raw: str) -> Any:
    text = raw.strip()
    if text in _NOTHING:
        return {}
    try:
        values = _decode(text)
    except json.JSONDecodeError as error:
        values = _decode_repaired(text, error)
    except (ValueError, RecursionError) as error:
        raise BadArguments(f"The arguments are not valid JSON: {error}.") from None
    told = [value for value in values if value != {}] or values[:1]
    if len(told) > 1:
        raise BadArguments(
            f"The arguments hold {len(told)} JSON values in a row: make one call for each."
        )
    return told[0]


def _decode_repaired(text: str, error: json.JSONDecodeError) -> list[Any]:
    if not any(found["control"] for found in _AMBIGUOUS.finditer(text)):
        repaired = _BACKSLASH.sub(_doubled, text)
        try:
            return _decode(repaired)
        except (ValueError, RecursionError):
            pass
    what = error.msg[:1].lower() + error.msg[1:]
    raise BadArguments(f"The arguments are not valid JSON: {what} at character {error.pos + 1}.")


def _doubled(found: re.Match[str]) -> str:
    return "\\\\" if found["lone"] is not None else found.group()


def _decode(text: str) -> list[Any]:
    """The JSON values of `text`, one after the other."""
    decoder = json.JSONDecoder(strict=False, parse_constant=_refuse, parse_float=_finite)
    values: list[Any] = []
    at = 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        values.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    return values


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _refuse(number)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(entry) for entry in entries(value)]
    if isinstance(value, dict):
        return {clean(key): _cleaned(entry) for key, entry in fields(value).items()}
    return value
