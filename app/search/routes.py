"""Search over HTTP: for a fixed string, by regular expression, by path."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.dependencies import CurrentSessions, Reader, Searches
from app.schemas import SearchAnswer, SearchRequest
from app.search.answer import answer

router = APIRouter(prefix="/api", tags=["search"])


@router.get("/search")
async def get_search(
    asked: Annotated[SearchRequest, Query()],
    sessions: CurrentSessions,
    searches: Searches,
    caller: Reader,
) -> SearchAnswer:
    """The matches in catalog order; `after` is the `next` of the page before."""
    async with searches:
        return await answer(sessions, asked, caller.visible)
