"""Retrieval without a model: what a turn would see."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.db.visible import narrowed
from app.dependencies import CurrentRetriever, Reader
from app.rag.retrieval import Question, retrieve
from app.schemas import Retrieval, RetrievalRequest

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
    finding = await retrieve(retriever, question, visible)
    return Retrieval.model_validate(finding, from_attributes=True)
