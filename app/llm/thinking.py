"""Takes a model's thinking (`<think>…</think>`) out of the text that it streams.

Some servers open the thinking in the prompt, so that only a `</think>` arrives. Then all of the
reply before it was thinking, but by now it has been shown. What follows from it:

* What is stored is the answer alone. A reader of `block` events sees it take the place of the
  thinking; one of `delta` events, who cannot be made to forget, gets a blank line and `restarts`.
* A server is known by its first such reply: from then on, until a reply comes without, the
  beginning of each one is held back until the tag has come (or the end, if none does).
* Nothing is held back from other servers: an answer must not wait for a tag that never comes.
"""

import re
from enum import Enum, auto

_OPENING = ("<think>", "<thinking>")
_CLOSING = ("</think>", "</thinking>")
# Tags, and what decides whether one stands in Markdown code: runs of backticks, and blank lines.
_TOKEN = re.compile(r"(</?think(?:ing)?>|`+|\n[ \t]*\n)")
_TAG_BEGUN = "|".join(
    re.escape(tag[:length]) for tag in (*_OPENING, *_CLOSING) for length in range(1, len(tag))
)
# The look-behind keeps the search linear in a run of backticks.
_UNFINISHED = re.compile(rf"(?:(?<!`)`+|(?:\n[ \t]*)+|{_TAG_BEGUN})\Z")
_LONGEST_TOKEN = 100


class _Mode(Enum):
    UNDECIDED = auto()
    TEXT = auto()
    THINKING = auto()


class ThinkingFilter:
    """Text in, text without thinking out, wherever it is cut.

    A tag inside Markdown code is ordinary text. A `</think>` that nothing opened means that all
    before it was thinking (some templates open it in the prompt): with `thinking` the beginning is
    held back to see whether one comes. `closings` counts them: what is not shown yet is void.
    An opening amid a line that nothing closes was only spoken of, and comes out at the end.
    """

    def __init__(self, *, thinking: bool = False) -> None:
        self.closings = 0
        self.seen = False
        self._mode = _Mode.UNDECIDED if thinking else _Mode.TEXT
        self._code = 0
        self._line_is_blank = True
        self._opened_amid_line = False
        self._unfinished = ""
        self._thoughts: list[str] = []
        self._out: list[str] = []

    @property
    def thinking(self) -> bool:
        """Whether the text so far ends in thinking that nothing closed."""
        return self._mode is _Mode.THINKING

    def feed(self, text: str) -> str:
        text = self._unfinished + text
        # No further back than a token may reach, so that each piece costs its own length only.
        tail = _UNFINISHED.search(text, max(0, len(text) - _LONGEST_TOKEN - 1))
        end = tail.start() if tail and len(tail[0]) <= _LONGEST_TOKEN else len(text)
        self._unfinished = text[end:]
        self._take_all(text[:end])
        return self._let_out()

    def close(self, *, last: bool) -> str:
        """What was held back; `last` says that no later round can close open thinking."""
        self._take_all(self._unfinished)
        self._unfinished = ""
        if self._mode is _Mode.UNDECIDED:
            self._mode = _Mode.TEXT if last else _Mode.THINKING
            self._out = self._out if last else []
        if self.thinking and self._opened_amid_line and last:
            self._mode = _Mode.TEXT
            self._out += self._thoughts
        return self._let_out()

    def _let_out(self) -> str:
        if self._mode is _Mode.UNDECIDED:
            return ""
        text = "".join(self._out)
        self._out.clear()
        return text

    def _take_all(self, text: str) -> None:
        for piece in _TOKEN.split(text):
            if self._mode is _Mode.THINKING:
                self._think(piece)
            elif piece in _OPENING and not self._code:
                self._open(piece)
            elif piece in _CLOSING and not self._code:
                self._close_unopened()
            elif piece:
                self._keep(piece)

    def _think(self, piece: str) -> None:
        if piece in _CLOSING:
            self._mode = _Mode.TEXT
        else:
            self._thoughts.append(piece)

    def _open(self, tag: str) -> None:
        self._mode, self.seen = _Mode.THINKING, True
        self._opened_amid_line = not self._line_is_blank
        self._thoughts = [tag]

    def _close_unopened(self) -> None:
        self.closings += 1
        self._mode, self.seen, self._line_is_blank = _Mode.TEXT, True, True
        self._out.clear()

    def _keep(self, piece: str) -> None:
        self._out.append(piece)
        before, newline, line = piece.rpartition("\n")
        self._line_is_blank = not line.strip() and (bool(newline) or self._line_is_blank)
        if piece.startswith("`"):
            self._mark_code(len(piece))
        elif newline and not before.strip() and before.startswith("\n") and self._code < 3:
            self._code = 0

    def _mark_code(self, run: int) -> None:
        """A run of backticks opens code, and one as long (a fence: or longer) ends it."""
        if not self._code:
            self._code = run
        elif run == self._code or run > self._code >= 3:
            self._code = 0
