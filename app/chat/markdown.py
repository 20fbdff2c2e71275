"""Markdown as sanitised HTML, block by block, in one go or while it arrives."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from io import IncrementalNewlineDecoder

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

from app.chat.dialect import DEEPEST, create_parser
from app.chat.sanitizer import sanitize

Change = tuple[int, str]
"""The index of a block and its HTML."""

# The last line, while incomplete, can still turn out to be of another kind: `#` becomes `#1`,
# a rule becomes bold text, a fence a code span.
_UNSETTLED_LINE = re.compile(r"(?:[-#*_+=~`>|:.)\d \t]*|[ \t]*`{3}.*)\Z")
# A block is rendered again when it has grown by this share of itself, so that an answer costs a
# fixed multiple of its length; a long one less often, as its cost is felt.
_SHORT_BLOCK = 4_000
_SHORT_SHARE, _LONG_SHARE = 32, 8


@dataclass(frozen=True)
class _Block:
    """A top-level block: the line, from 0, where it begins, and its HTML."""

    line: int
    html: str


def render_blocks(text: str) -> list[str]:
    """The sanitised HTML of each top-level block of an answer."""
    return [block.html for block in _blocks(text)]


class BlockRenderer:
    """Renders an answer while it arrives.

    Applied in order, the changes that `feed` and `finish` return make up `render_blocks` of the
    whole text. What comes can change no block but the last: so the others are settled.
    """

    def __init__(self) -> None:
        self._newlines = IncrementalNewlineDecoder(None, translate=True)
        self._waiting: list[str] = []
        self._grown = 0
        self._text = ""
        self._settled = 0
        self._shown: list[str] = []

    @property
    def shown(self) -> int:
        """How many blocks there are so far."""
        return self._settled + len(self._shown)

    def feed(self, text: str) -> list[Change]:
        """Take more of the answer; the blocks that changed, perhaps none until there is more."""
        self._waiting.append(self._newlines.decode(text))
        self._grown += len(text)
        share = _SHORT_SHARE if len(self._text) < _SHORT_BLOCK else _LONG_SHARE
        if self._grown * share < len(self._text):
            return []
        self._take()
        complete, newline, line = self._text.rpartition("\n")
        blocks = _blocks(complete + newline + ("" if _UNSETTLED_LINE.match(line) else line))
        changes = self._changes(blocks)
        self._settle(blocks)
        return changes

    def finish(self) -> list[Change]:
        """The answer is complete; the blocks that still changed."""
        self._waiting.append(self._newlines.decode("", final=True))
        self._take()
        return self._changes(_blocks(self._text))

    def _take(self) -> None:
        self._text += "".join(self._waiting)
        self._waiting.clear()
        self._grown = 0

    def _changes(self, blocks: list[_Block]) -> list[Change]:
        before = self._shown
        self._shown = [block.html for block in blocks]
        return [
            (self._settled + index, html)
            for index, html in enumerate(self._shown)
            if before[index : index + 1] != [html]
        ]

    def _settle(self, blocks: list[_Block]) -> None:
        """Forget the text of the blocks before the last that has two complete lines.

        Where a block ends is decided by the line that follows and, for a table, the one after it.
        """
        complete = self._text.count("\n")
        last = max((n for n, block in enumerate(blocks) if block.line + 2 <= complete), default=0)
        if last:
            self._text = "\n".join(self._text.split("\n")[blocks[last].line :])
            self._settled += last
            del self._shown[:last]


@cache
def _parser() -> MarkdownIt:
    return create_parser()


def _blocks(text: str) -> list[_Block]:
    return [_block(tokens, text) for tokens in _grouped(_parser().parse(text))]


def _grouped(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each top-level block."""
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting < 1:
            yield group
            group = []


def _block(tokens: list[Token], text: str) -> _Block:
    first, end = tokens[0].map or (0, 0)
    if any(token.nesting == 1 and token.level >= DEEPEST - 1 for token in tokens):
        # The parser has left out what is nested even deeper.
        source = "\n".join(re.split(r"\r\n?|\n", text)[first:end])
        return _Block(first, sanitize(f'<pre dir="auto">{escapeHtml(source)}</pre>'))
    # One direction for all of a list or table, that of its first words.
    tokens[0].attrSet("dir", "auto")
    parser = _parser()
    return _Block(first, sanitize(parser.renderer.render(tokens, parser.options, {})).strip("\n"))
