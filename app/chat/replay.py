"""An ended turn told again from its rows: as events for a reader, as content for the page."""

import uuid
from collections.abc import Iterator
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.markdown import render_blocks
from app.chat.queries import Cited, citations_of, rounds_of
from app.models import Citation, Round, Turn
from app.schemas import (
    ChatCitationsEvent,
    ChatDeltaEvent,
    ChatDoneEvent,
    ChatErrorEvent,
    ChatEvent,
    ChatToolEvent,
    ChatToolResultEvent,
    ChatTurnEvent,
    CitationState,
    PassageRange,
    Problem,
    RoundContent,
    ToolLine,
    TurnContent,
)


async def replay(session: AsyncSession, turn_id: uuid.UUID) -> list[ChatEvent]:
    """The events of an ended turn, made again from its rounds."""
    turn = await session.get_one(Turn, turn_id)
    rounds = (await rounds_of(session, [turn_id]))[turn_id]
    citations = (await citations_of(session, [turn_id]))[turn_id]
    return list(_events(turn, rounds, citations))


def _events(turn: Turn, rounds: list[Round], citations: list[Cited]) -> Iterator[ChatEvent]:
    if turn.grounded is not None:
        yield ChatTurnEvent(
            conversation_id=turn.conversation_id,
            turn_id=turn.id,
            grounded=turn.grounded,
            score=turn.score or 0.0,
            reason=turn.reason or "",
            sources=[PassageRange.model_validate(passage) for passage in turn.passages],
            scope=turn.sources,
        )
    for made in rounds:
        if made.text:
            yield ChatDeltaEvent(text=made.text)
        for call in made.calls:
            yield ChatToolEvent(id=call["id"], name=call["name"], argument=call["argument"])
            yield ChatToolResultEvent(id=call["id"], summary=call["summary"], failed=call["failed"])
    if citations:
        yield ChatCitationsEvent(citations=[_citation(citation) for citation in citations])
    if turn.error is not None:
        yield ChatErrorEvent.model_validate(turn.error)
    else:
        yield ChatDoneEvent.model_validate({"turn_id": turn.id, "finish": turn.state})


def _citation(cited: Cited) -> CitationState:
    citation = cited.citation
    moved = (cited.source, cited.path) != (citation.source, citation.path)
    now_source, now_path = (cited.source, cited.path) if moved else (None, None)
    told = {"since": _since(cited), "now_source": now_source, "now_path": now_path}
    return CitationState.model_validate({**_columns(citation), "index": citation.position, **told})


def _since(cited: Cited) -> Literal["changed", "deleted"] | None:
    if cited.citation.document_id is None or cited.citation.text_sha256 == cited.text_sha256:
        return None
    return "deleted" if cited.text_sha256 is None else "changed"


def turn_content(turn: Turn, rounds: list[Round], citations: list[Cited]) -> TurnContent:
    """A turn as the page shows it."""
    error = turn.error and Problem(error=turn.error["code"], detail=turn.error["message"])
    told = {
        "sources": turn.passages,
        "scope": turn.sources,
        "rounds": [_round_content(made) for made in rounds],
        "citations": [_citation(citation) for citation in citations],
        "error": error,
    }
    return TurnContent.model_validate({**_columns(turn), **told})


def _columns(row: Turn | Citation) -> dict[str, Any]:
    return {column.name: getattr(row, column.name) for column in row.__table__.columns}


def _round_content(made: Round) -> RoundContent:
    return RoundContent(
        text=made.text,
        blocks=render_blocks(made.text),
        calls=[ToolLine.model_validate(call) for call in made.calls],
    )
