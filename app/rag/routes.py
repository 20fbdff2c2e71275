"""Retrieval without a model: what a turn would see."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.db.visible import narrowed
from app.dependencies import CurrentSessions, CurrentSettings, Reader
from app.rag.retrieval import Finding, Question, retrieve
from app.schemas import Retrieval, RetrievalRequest, Retrieved

router = APIRouter(prefix="/api", tags=["search"])


@router.get("/retrieve")
async def show_retrieval(
    settings: CurrentSettings,
    sessions: CurrentSessions,
    caller: Reader,
    asked: Annotated[RetrievalRequest, Query()],
) -> Retrieval:
    """The passages that a turn would begin with, and whether it would be grounded."""
    question = Question(asked.q, threshold=settings.gate_words, passages=asked.limit)
    visible = narrowed(caller.visible, [asked.source] if asked.source else None)
    async with sessions() as session:
        finding = await retrieve(session, question, visible)
    return _shown(finding)


def _shown(finding: Finding) -> Retrieval:
    passages = [
        Retrieved(
            source=found.source,
            path=found.path,
            first_line=found.first_line,
            last_line=found.last_line,
            score=found.score,
            similarity=None,
            coverage=found.coverage,
            text=found.text,
        )
        for found in finding.passages
    ]
    return Retrieval(
        grounded=finding.grounded,
        score=finding.score,
        threshold=finding.threshold,
        similarity=finding.similarity,
        coverage=finding.coverage,
        reason=finding.reason,
        passages=passages,
    )
