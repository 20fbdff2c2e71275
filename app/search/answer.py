"""A search as an answer: for HTTP, and for the command line."""

import time
from collections.abc import Sequence

from app.db.engine import Sessions
from app.db.visible import Visible
from app.errors import InvalidPattern
from app.schemas import FoundLine, LineNear, SearchAnswer, SearchRequest
from app.search.request import search
from app.search.result import ContextLine, Hit, as_grep


async def answer(sessions: Sessions, asked: SearchRequest, visible: Visible) -> SearchAnswer:
    """Search in a session of its own, which sees one state of the documents."""
    begun = time.perf_counter()
    if not asked.q:
        raise InvalidPattern("`q` is what to look for: it may not be empty.")
    async with sessions.begin() as session:
        await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        result = await search(session, asked, visible)
    return SearchAnswer(
        matches=[_found(hit) for hit in result.hits],
        shown=len(result.hits),
        total=result.total,
        total_is_exact=result.total_is_exact,
        truncated=result.truncated,
        documents_searched=result.documents_searched,
        documents_matched=result.documents_matched,
        documents_skipped=result.documents_skipped,
        next=result.next,
        elapsed_ms=round((time.perf_counter() - begun) * 1_000, 1),
        text_view="\n".join(as_grep(result.hits)),
    )


def _found(hit: Hit) -> FoundLine:
    return FoundLine(
        source=hit.source,
        path=hit.path,
        line=hit.line,
        column=hit.column,
        text=hit.text,
        text_start=hit.text_start,
        ranges=list(hit.ranges),
        context_before=_near(hit.before),
        context_after=_near(hit.after),
    )


def _near(lines: Sequence[ContextLine]) -> list[LineNear]:
    return [LineNear(line=one.line, text=one.shown.text) for one in lines]
