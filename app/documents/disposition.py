"""File names in headers: as browsers and programs send them, and as we send them."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

_PARAMETER = re.compile(rb';\s*([A-Za-z]+\*?)\s*=\s*("(?:\\.|[^"\\])*"|[^;\s]*)', re.DOTALL)
_QUOTED_PAIR = re.compile(rb'\\(["\\])')
_EXTENDED = re.compile(rb"[\w-]*'[^']*'(.*)", re.IGNORECASE)
# What browsers write for the three characters that a quoted name cannot hold.
_BROWSER_ESCAPES = ((b"%22", b'"'), (b"%0D", b"\r"), (b"%0A", b"\n"))


@dataclass(frozen=True)
class Disposition:
    """The field `name` and the `filename`, folders included; None when the part is no file."""

    name: str
    filename: str | None


def parse_disposition(header: bytes) -> Disposition:
    """Read a `Content-Disposition`; `filename*` (RFC 5987) counts before `filename`."""
    values = {name.lower(): _unquoted(value) for name, value in _PARAMETER.findall(header)}
    name = _decoded(values.get(b"name", b""))
    extended = _EXTENDED.fullmatch(values.get(b"filename*", b""))
    if extended:
        return Disposition(name, _decoded(unquote_to_bytes(extended.group(1))))
    filename = values.get(b"filename")
    return Disposition(name, None if filename is None else _decoded(filename))


def inline(filename: str) -> str:
    """A `Content-Disposition` to show a file in the browser, safe for any name."""
    return f"inline; filename*=UTF-8''{quote(filename, safe='')}"


def _unquoted(value: bytes) -> bytes:
    if value[:1] != b'"':
        return value
    bare = _QUOTED_PAIR.sub(rb"\1", value[1:-1])
    for escape, character in _BROWSER_ESCAPES:
        bare = bare.replace(escape, character)
    return bare


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
