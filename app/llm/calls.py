"""Puts tool calls together from the pieces in which servers stream them."""

import json
from dataclasses import dataclass, field
from typing import Any

from app.errors import ModelError
from app.llm.loose import fields, text
from app.llm.messages import ToolCall
from app.text import clean

_MOST_CALLS = 1_000


@dataclass
class _Open:
    """A call that may still grow."""

    id: str
    index: int | None
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])

    def is_complete(self) -> bool:
        if not (self.arguments and self.arguments[-1].rstrip().endswith("}")):
            return False
        try:
            return isinstance(json.loads("".join(self.arguments)), dict)
        except ValueError:
            return False

    def add_name(self, piece: str) -> None:
        """Names come whole, in pieces, growing, or again with every chunk."""
        if piece.startswith(self.name):
            self.name = piece
        elif piece:
            self.name += piece


@dataclass(frozen=True)
class _Piece:
    """What one chunk says about one call; whatever is missing or of a wrong type is empty."""

    id: str
    index: int | None
    name: str
    arguments: str

    def is_empty(self) -> bool:
        return not (self.id or self.name or self.arguments.strip())


class CallAssembler:
    """Which call a piece belongs to: its id says, then its index, else it continues the last one.

    An id not seen before opens a call, even at a used index. Without ids, a named piece that brings
    arguments after arguments that are complete opens one.
    """

    def __init__(self) -> None:
        self._calls: list[_Open] = []

    def add(self, entry: Any) -> int:
        """Take one entry of a `tool_calls` list; how many characters it added.

        Raises `ModelError` at more calls than any reply can mean.
        """
        piece = _read(entry)
        if piece.is_empty() and not self._calls:
            return 0
        call = self._find(piece)
        if call is None:
            if len(self._calls) == _MOST_CALLS:
                raise ModelError("The model asks for far too many tool calls at once.")
            call = _Open(piece.id, piece.index)
            self._calls.append(call)
        call.id = call.id or piece.id
        call.add_name(piece.name)
        if piece.arguments:
            call.arguments.append(piece.arguments)
        return len(piece.name) + len(piece.arguments)

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order in which they were opened, each with an id of its own."""
        taken: set[str] = set()
        done: list[ToolCall] = []
        for number, call in enumerate(self._calls, 1):
            call_id = unused(clean(call.id) or f"call_{number}", taken)
            taken.add(call_id)
            done.append(ToolCall(call_id, clean(call.name), "".join(call.arguments)))
        return tuple(done)

    def _find(self, piece: _Piece) -> _Open | None:
        if piece.id:
            return self._by_id(piece)
        if piece.index is not None:
            found = [call for call in self._calls if call.index == piece.index]
        else:
            found = self._calls
        if not found or _starts_anew(found[-1], piece):
            return None
        return found[-1]

    def _by_id(self, piece: _Piece) -> _Open | None:
        for call in reversed(self._calls):
            same_index = piece.index is None or call.index in (None, piece.index)
            if call.id == piece.id and (same_index or not piece.name):
                return call
        last = self._calls[-1] if self._calls else None
        # The id of a call may come after its first piece.
        if last and not last.id and last.index == piece.index and not _starts_anew(last, piece):
            return last
        return None


def unused(call_id: str, taken: set[str]) -> str:
    """`call_id`, or with the first number behind it that makes it differ from all of `taken`."""
    number, candidate = 1, call_id
    while candidate in taken:
        number += 1
        candidate = f"{call_id}_{number}"
    return candidate


def _starts_anew(call: _Open, piece: _Piece) -> bool:
    return bool(piece.name and piece.arguments.strip()) and call.is_complete()


def _read(entry: Any) -> _Piece:
    function = fields(fields(entry).get("function"))
    index, arguments = fields(entry).get("index"), function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments)
    return _Piece(
        id=text(fields(entry).get("id")),
        index=index if isinstance(index, int) else None,
        name=text(function.get("name")),
        arguments=arguments,
    )
