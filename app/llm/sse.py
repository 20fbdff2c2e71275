"""Server-sent events: bytes in, events out, framed as the HTML standard says."""

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class Event:
    """One event; `complete` is false when the stream ended before the event's blank line."""

    name: str
    data: str
    complete: bool = True


class EventDecoder:
    """Cuts a byte stream into events.

    Lines end at CR, LF and CRLF only, and are cut as bytes: neither U+2028 nor U+0085 ends one, and
    a character that arrives in two pieces is decoded whole.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._after_cr = False
        self._name = ""
        self._data: list[str] = []
        self._data_size = 0
        self._at_start = True

    @property
    def pending(self) -> int:
        """Bytes held back for the event that is not complete yet."""
        return len(self._pending) + self._data_size

    def feed(self, chunk: bytes) -> list[Event]:
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        *ended, rest = _LINE_END.split(chunk)
        events: list[Event] = []
        for part in ended:
            self._pending += part
            events += self._line(bytes(self._pending))
            self._pending.clear()
        self._pending += rest
        # A CR at the end of a chunk ends its line at once; the LF that may follow opens no other.
        self._after_cr = chunk.endswith(b"\r")
        return events

    def close(self) -> list[Event]:
        """The event that the end of the stream cut off, if there is one."""
        self._line(bytes(self._pending))
        self._pending.clear()
        return [Event(self._name, "\n".join(self._data), complete=False)] if self._data else []

    def _line(self, raw: bytes) -> list[Event]:
        if self._at_start:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
            self._at_start = False
        if not raw:
            return self._blank_line()
        field, _, value = raw.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
            self._data_size += len(raw)
        elif field == "event":
            self._name = value
        return []

    def _blank_line(self) -> list[Event]:
        events = [Event(self._name, "\n".join(self._data))] if self._data else []
        self._name, self._data, self._data_size = "", [], 0
        return events
