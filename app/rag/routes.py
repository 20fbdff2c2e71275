"""Retrieval without a model: what a turn would see."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.db.visible import narrowed
from app.dependencies import CurrentRetriever, Reader
from app.rag.retrieval import Finding, Question, retrieve
from app.schemas import Retrieval, RetrievalRequest, Retrieved

router = APIRouter(prefix="/api", tags=["search"])


@router.get("/retrieve")
async def show_retrieval(
    retriever: CurrentRetriever,
    caller: Reader,
    asked: Annotated[RetrievalRequest, Query()],
) -> Retrieval:
    """The passages that a turn would begin with, and whether it would be grounded."""
    question = Question(asked.q, passages=asked.limit)
    visible = narrowed(caller.visible, [asked.source] if asked.source else None)
    return _shown(await retrieve(retriever, question, visible))


def _shown(finding: Finding) -> Retrieval:
    passages = [
        Retrieved(
            source=found.source,
            path=found.path,
            first_line=found.first_line,
            last_line=found.last_line,
            score=found.score,
            similarity=found.similarity,
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
