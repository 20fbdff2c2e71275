"""What text must be before it can be stored, sent or shown."""

import unicodedata


def clean(text: str) -> str:
    """Join surrogate pairs; replace U+0000 and lone surrogates, which UTF-8 and SQL cannot hold."""
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return paired.replace("\0", "\ufffd")


def quoted(name: str) -> str:
    """A refused name or pattern as it can stand in an error text: short, printable, encodable."""
    shown = name if len(name) <= 120 else name[:100] + "…"
    return "".join(char if _is_printable(char) else f"\\u{ord(char):04x}" for char in shown)


def _is_printable(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cs")
