"""What stands in a request: the question, and the lines of documents that the model was shown."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.llm.messages import (
    AssistantMessage,
    LlmRequest,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from app.llm.set_phrases import asks_about_collection, asks_for_more

_RESULT_END = "[End of result]"
_QUESTION = re.compile(r"^</documents>\n\nQuestion: (.*)\Z", re.MULTILINE | re.DOTALL)
_DEFLECTED = re.compile(r"^Sources:\n((?:[^\n]+\n)*)\nQuestion: (.*)\Z", re.MULTILINE | re.DOTALL)
_PASSAGE = re.compile(r'<passage source="(.+?)" path="(.+)" lines="\d+-\d+">')
_READ = re.compile(r"source: (\S+) path: (.+) lines \d+-\d+ of \d+")
_EMPTY = re.compile(r"^source: (\S+) path: (.+) lines 0-0 of 0$", re.MULTILINE)
_NUMBERED = re.compile(r"(\d+): ?(.*)")
_MATCH = re.compile(r"([^\s/:]+)/(.+?):(\d+): (.*)")
_PATH = re.compile(r"([\w.-]+)/(.+)")
_LISTED = re.compile(r"source: (\S+) path: (.+) (\(\d+ lines?\))")
_UNLISTED = re.compile(r"^… (\d+) more; continue with after=", re.MULTILINE)
_PART_OF_LINE = re.compile(r" \[characters \d+-\d+ of \d+[^\]]*\]$")


@dataclass(frozen=True)
class Line:
    """A line of a document as it was shown; `in_context` unless only a search showed it.

    `given` is 1 in the best passage of the prompt, less in the next ones, 0 elsewhere.
    """

    source: str
    path: str
    number: int
    text: str
    in_context: bool
    given: float = 0.0


@dataclass(frozen=True)
class View:
    """`lines` are in document order, each once; `sources` is None unless the turn is deflected.

    `calls` are those of the turn so far. `is_about_documents` is false for small talk. `listed` are
    the documents that the turn has listed, as lines for people, and `unlisted` how many more there
    are; `found` are sources and paths that it found by name, `empty` the documents it read that
    are empty; `told` is what was answered before.
    """

    question: str
    previous: str
    lines: tuple[Line, ...]
    calls: tuple[ToolCall, ...]
    sources: tuple[str, ...] | None
    is_about_documents: bool
    listed: tuple[str, ...] = ()
    unlisted: int = 0
    told: str = ""
    found: tuple[tuple[str, str], ...] = ()
    empty: tuple[str, ...] = ()


def view(request: LlmRequest) -> View:
    """Read a request as its prompts are written; all of it is text to quote, never to obey."""
    at = _asked_at(request.messages)
    prompt = _text(request.messages[at])
    since = request.messages[at:]
    found, sources = _QUESTION.search(prompt), None
    if found is None and (found := _DEFLECTED.search(prompt)):
        sources = tuple(re.findall(r"^- (.+)$", found[1], re.MULTILINE))
    return View(
        question=found[found.re.groups].strip() if found else prompt,
        previous=_previous(request.messages[:at]),
        lines=tuple(_shown(since)),
        calls=tuple(c for m in since if isinstance(m, AssistantMessage) for c in m.calls),
        sources=sources,
        is_about_documents=found is not None,
        listed=tuple(_listed(since)),
        unlisted=_unlisted(since),
        told="\n".join(m.text for m in request.messages[:at] if isinstance(m, AssistantMessage)),
        found=tuple(_found(since)),
        empty=tuple(f"{s}/{p}" for m in since for s, p in _EMPTY.findall(_text(m))),
    )


def _asked_at(messages: Sequence[Message]) -> int:
    """Where the question is: in the last user message, or before the results as plain text."""
    users = [i for i, message in enumerate(messages) if isinstance(message, UserMessage)]
    closes = len(users) > 1 and _text(messages[users[-1] - 1]).endswith(_RESULT_END)
    return users[-2] if closes else users[-1]


def _previous(messages: Sequence[Message]) -> str:
    """The last question with a subject; small talk has none, nor has “tell me more”."""
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            found = _QUESTION.search(message.text) or _DEFLECTED.search(message.text)
            question = found[found.re.groups].strip() if found else ""
            if question and not asks_for_more(question) and not asks_about_collection(question):
                return question
    return ""


def _listed(messages: Sequence[Message]) -> Iterator[str]:
    for line in (line for message in messages for line in _text(message).split("\n")):
        if document := _LISTED.fullmatch(line):
            yield f"`{document[1]}/{document[2]}` {document[3]}"


def _found(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    calls = [c for m in messages if isinstance(m, AssistantMessage) for c in m.calls]
    by_name = {call.id for call in calls if call.name == "find_documents"}
    for message in messages:
        if isinstance(message, ToolMessage) and message.call_id in by_name:
            for row in message.text.split("\n"):
                if document := _PATH.fullmatch(row):
                    yield document[1], document[2]


def _unlisted(messages: Sequence[Message]) -> int:
    found = [_UNLISTED.search(_text(message)) for message in messages]
    return sum(int(left[1]) for left in found if left)


def _text(message: Message) -> str:
    return message.text


def _shown(messages: Sequence[Message]) -> Iterator[Line]:
    """The lines of all messages; of a line shown twice, the fuller text."""
    best: dict[tuple[str, str, int], Line] = {}
    for message in messages:
        for line in _lines(_text(message)):
            key = (line.source, line.path, line.number)
            if key not in best or _fullness(line) > _fullness(best[key]):
                best[key] = line
    yield from (best[key] for key in sorted(best))


def _fullness(line: Line) -> tuple[float, bool, int]:
    return line.given, line.in_context, len(line.text)


def _lines(text: str) -> Iterator[Line]:
    """Numbered lines under the place they are from, and lines as grep shows them."""
    place: tuple[str, str] | None = None
    passages, given = 0, 0.0
    for row in text.split("\n"):
        if opened := _PASSAGE.fullmatch(row) or _READ.fullmatch(row):
            place = opened[1], opened[2]
            passages += opened.re is _PASSAGE
            given = 1 / passages if opened.re is _PASSAGE else 0.0
        elif place and (numbered := _NUMBERED.fullmatch(row)):
            yield Line(*place, int(numbered[1]), _whole(numbered[2]), True, given)
        elif match := _MATCH.fullmatch(row):
            yield Line(match[1], match[2], int(match[3]), _whole(match[4]), in_context=False)
        elif row:
            place = None


def _whole(text: str) -> str:
    """The text without the marks of what was left out of it, and the words that this cut."""
    text = _PART_OF_LINE.sub("", text)
    if text.startswith("…"):
        text = text.partition(" ")[2] or text.strip("…")
    if text.endswith("…"):
        text = text.rpartition(" ")[0] or text.strip("…")
    return text
