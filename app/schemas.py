"""Everything that crosses HTTP: requests, answers, and the events of a turn."""

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
)

from app.text import clean


def _cleaned(value: Any) -> Any:
    return clean(value) if isinstance(value, str) else value


CleanText = Annotated[str, BeforeValidator(_cleaned)]


class Problem(BaseModel):
    """Every error answer."""

    error: str
    detail: str


# Documents


class DocumentSummary(BaseModel):
    """A document without its content."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    source: str
    path: str
    title: str
    media_type: str
    bytes: int
    characters: int
    lines: int
    sha256: str
    text_sha256: str
    version: int
    notices: list[str]
    created_at: datetime
    updated_at: datetime


class StoredDocument(DocumentSummary):
    """The answer to an upload."""

    outcome: Literal["created", "replaced", "unchanged"]


class RefusedFile(BaseModel):
    """A file of a batch that was not stored, and why."""

    path: str
    outcome: Literal["refused"] = "refused"
    error: str
    detail: str


class UploadResults(BaseModel):
    results: list[StoredDocument | RefusedFile]


class Catalog(BaseModel):
    """A page of documents in catalog order; `next` is the `after` of the next page."""

    documents: list[DocumentSummary]
    total: int
    next: str | None


class DocumentContent(DocumentSummary):
    """A document's text, or the lines `first_line`-`last_line` of it (1-based, inclusive)."""

    content: str
    first_line: int
    last_line: int


class Destination(BaseModel):
    source: CleanText
    path: CleanText


class MeaningProgress(BaseModel):
    """How many passages can be found by their meaning; `seconds_left` is a guess."""

    passages: int
    embedded: int
    seconds_left: float | None


class SourceSummary(BaseModel):
    """`meaning` is null where documents are found by their words alone."""

    source: str
    documents: int
    bytes: int
    characters: int
    lines: int
    updated_at: datetime
    meaning: MeaningProgress | None = None


class Sources(BaseModel):
    sources: list[SourceSummary]


# Search


class SearchRequest(BaseModel):
    """What to search for, and where; some parameters have a second name."""

    q: CleanText = Field(validation_alias=AliasChoices("q", "pattern", "query", "search"))
    mode: Literal["text", "literal", "regex", "path"] = "text"
    case_sensitive: bool = False
    source: CleanText | None = None
    path: CleanText | None = Field(
        default=None, validation_alias=AliasChoices("path", "corpus_path")
    )
    include: list[CleanText] = Field(
        default=[], validation_alias=AliasChoices("include", "file_glob")
    )
    exclude: list[CleanText] = []
    max_bytes: int | None = Field(
        default=None, ge=0, validation_alias=AliasChoices("max_bytes", "max_file_size")
    )
    context: int = Field(
        default=0, ge=0, le=20, validation_alias=AliasChoices("context", "context_lines")
    )
    limit: int = Field(
        default=100, ge=1, le=1_000, validation_alias=AliasChoices("limit", "max_results")
    )
    after: CleanText | None = None
    count: Literal["exact"] | None = None


class LineNear(BaseModel):
    """A line before or after a match, as much of it as is shown."""

    line: int
    text: str


class FoundLine(BaseModel):
    """A matching line, or (without `line` and `column`) a matching path.

    `text` begins at code point `text_start` of the line; `ranges` count from the line's beginning.
    """

    source: str
    path: str
    line: int | None
    column: int | None
    text: str
    text_start: int
    ranges: list[tuple[int, int]]
    context_before: list[LineNear]
    context_after: list[LineNear]


class SearchAnswer(BaseModel):
    """A page of matches; `total` is a lower bound unless `total_is_exact`."""

    matches: list[FoundLine]
    shown: int
    total: int
    total_is_exact: bool
    truncated: bool
    documents_searched: int
    documents_matched: int
    documents_skipped: int
    next: str | None
    elapsed_ms: float
    text_view: str


# A turn


class ChatRequest(BaseModel):
    message: CleanText = Field(min_length=1, max_length=200_000)
    conversation_id: uuid.UUID | None = None
    sources: list[CleanText] | None = Field(default=None, max_length=1_000)
    search_anyway: bool = False
    render: Literal["text", "html"] = "text"
    key: CleanText | None = Field(default=None, min_length=1, max_length=200)
    replaces_turn: uuid.UUID | None = None


class PassageRange(BaseModel):
    """A passage given to the model at the start of the turn."""

    source: str
    path: str
    first_line: int
    last_line: int
    score: float


class ChatTurnEvent(BaseModel):
    """`scope` names the sources that the question was narrowed to; null means all."""

    type: Literal["turn"] = "turn"
    conversation_id: uuid.UUID
    turn_id: uuid.UUID
    grounded: bool
    score: float
    reason: str
    sources: list[PassageRange]
    scope: list[str] | None = None


class ChatToolEvent(BaseModel):
    """A tool call starts; `argument` is the path, the pattern or the glob that it is about."""

    type: Literal["tool"] = "tool"
    id: str
    name: str
    argument: str | None


class ChatToolResultEvent(BaseModel):
    type: Literal["tool_result"] = "tool_result"
    id: str
    summary: str
    failed: bool


class ChatDeltaEvent(BaseModel):
    """A piece of the answer; with `restarts`, the text of this round before was no part of it."""

    type: Literal["delta"] = "delta"
    text: str
    restarts: bool = Field(default=False, exclude_if=lambda restarts: not restarts)


class ChatBlockEvent(BaseModel):
    """The sanitised HTML of Markdown block `index` of the answer, so far."""

    type: Literal["block"] = "block"
    index: int
    html: str


class ChatStatusEvent(BaseModel):
    type: Literal["status"] = "status"
    text: str


class CitationState(BaseModel):
    index: int
    document_id: int | None
    source: str
    path: str
    first_line: int
    last_line: int
    state: Literal["quoted", "present", "unverified"]
    reason: str | None
    text_sha256: str | None
    text: str
    # What has become of the document since the citation was checked, and where it moved to.
    since: Literal["changed", "deleted"] | None = None
    now_source: str | None = None
    now_path: str | None = None


class ChatCitationsEvent(BaseModel):
    type: Literal["citations"] = "citations"
    citations: list[CitationState]


class ChatDoneEvent(BaseModel):
    type: Literal["done"] = "done"
    turn_id: uuid.UUID
    finish: Literal["answered", "deflected", "stopped", "length"]


class ChatErrorEvent(BaseModel):
    """The turn failed; what was answered so far is kept."""

    type: Literal["error"] = "error"
    code: str
    message: str


ChatEvent = Annotated[
    ChatTurnEvent
    | ChatToolEvent
    | ChatToolResultEvent
    | ChatDeltaEvent
    | ChatBlockEvent
    | ChatStatusEvent
    | ChatCitationsEvent
    | ChatDoneEvent
    | ChatErrorEvent,
    Field(discriminator="type"),
]
CHAT_EVENT: TypeAdapter[ChatEvent] = TypeAdapter(ChatEvent)


# Conversations


class ConversationSummary(BaseModel):
    id: uuid.UUID
    title: str
    created_at: datetime
    updated_at: datetime
    running: bool


class Conversations(BaseModel):
    conversations: list[ConversationSummary]


class ToolLine(BaseModel):
    """A tool call as the page shows it."""

    id: str
    name: str
    argument: str | None
    summary: str
    failed: bool


class RoundContent(BaseModel):
    """What the model wrote in a round, as text and as sanitised HTML, and the calls it made."""

    text: str
    blocks: list[str]
    calls: list[ToolLine]


class TurnContent(BaseModel):
    id: uuid.UUID
    message: str
    state: str
    grounded: bool | None
    score: float | None
    reason: str | None
    sources: list[PassageRange]
    scope: list[str] | None
    rounds: list[RoundContent]
    citations: list[CitationState]
    error: Problem | None
    created_at: datetime
    ended_at: datetime | None


class ConversationContent(ConversationSummary):
    turns: list[TurnContent]


class Title(BaseModel):
    title: Annotated[str, BeforeValidator(_cleaned), StringConstraints(strip_whitespace=True)] = (
        Field(min_length=1, max_length=200)
    )


class RetrievalRequest(BaseModel):
    q: CleanText = Field(min_length=1, max_length=200_000)
    source: CleanText | None = None
    limit: int = Field(default=10, ge=1, le=50)


class Retrieved(BaseModel):
    """A passage as retrieval found it."""

    source: str
    path: str
    first_line: int
    last_line: int
    score: float
    similarity: float | None
    coverage: float
    text: str


class Retrieval(BaseModel):
    """What a turn would see, without a model."""

    grounded: bool
    score: float
    threshold: float
    similarity: float | None
    coverage: float
    reason: str
    passages: list[Retrieved]


class Readiness(BaseModel):
    """`meaning` is `ready`, `off`, how far it is, or what keeps it from going on."""

    status: Literal["ready"] = "ready"
    meaning: str


class Interface(BaseModel):
    """What the page must know before anything else."""

    brand: str
    model: str
    offline: bool
    needs_token: bool
    may_write: bool
    max_document_bytes: int
