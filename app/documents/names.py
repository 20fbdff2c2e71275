"""What sources and paths may be called; everything else is refused by name and reason."""

import re
import unicodedata

from app.errors import BadPath, BadSource
from app.text import normalize

PATH_BYTES = 1024
SOURCE = re.compile(r"[A-Za-z0-9._-]{1,100}")
_DRIVE = re.compile(r"[A-Za-z]:(/|$)")


def check_source(name: str) -> str:
    """The name of a source; raises `BadSource`."""
    if not SOURCE.fullmatch(name) or name in (".", ".."):
        raise BadSource(
            f"“{quoted(name)}” cannot name a source: 1 to 100 characters of A-Z, a-z, 0-9,"
            " “.”, “_” and “-”, but not “.” or “..”."
        )
    return name


def check_path(raw: str) -> tuple[str, tuple[str, ...]]:
    """The path as it is stored, in NFC, and notices about what had to change; raises `BadPath`.

    Marks that turn the writing direction (U+202E …) are text: whoever shows a path isolates it.
    """
    path = normalize("NFC", raw)
    if reason := _objection(path):
        raise BadPath(f"“{quoted(raw)}” cannot be a path: {reason}.")
    if path == raw:
        return path, ()
    return path, (f"The path was stored in Unicode normal form C: “{path}”.",)


def quoted(name: str) -> str:
    """A refused name as it can stand in an error text: short, printable, encodable."""
    shown = name if len(name) <= 120 else name[:100] + "…"
    return "".join(char if _is_printable(char) else f"\\u{ord(char):04x}" for char in shown)


def _is_printable(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cs")


def _objection(path: str) -> str | None:
    return _bad_character(path) or _bad_shape(path)


def _bad_character(path: str) -> str | None:
    categories = {unicodedata.category(char) for char in path}
    if "Cs" in categories:
        return "it holds half of a surrogate pair"
    if "Cc" in categories:
        return "it holds a control character"
    if "\\" in path:
        return "it holds a backslash; folders are separated by “/”"
    if len(path.encode()) > PATH_BYTES:
        return f"it is too long, at most {PATH_BYTES:,} bytes"
    return None


def _bad_shape(path: str) -> str | None:
    if not path:
        return "it is empty"
    if path.startswith("/") or _DRIVE.match(path):
        return "it must be relative to its source"
    segments = path.split("/")
    if not segments[-1]:
        return "it ends with “/”"
    if not all(segments):
        return "it holds an empty folder name, “//”"
    if "." in segments or ".." in segments:
        return "it holds “.” or “..” as a folder or file name"
    return None
