"""Is it alive, is it ready, how is it doing; and what a page must know first."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.dependencies import CurrentRetriever, CurrentSettings
from app.errors import NotReady, Unauthorized
from app.rag.progress import meaning_state
from app.schemas import Interface, Readiness

router = APIRouter(tags=["status"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(retriever: CurrentRetriever) -> Readiness:
    """The database answers, too. Without meaning it is as ready: words find the documents."""
    try:
        meaning = await meaning_state(retriever)
    except Exception as error:  # whatever the driver raises, the answer is the same
        raise NotReady("The database does not answer.") from error
    return Readiness(meaning=meaning)


@router.get("/metrics")
async def metrics() -> Response:
    """Counters for Prometheus."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


@router.get("/api/interface")
async def interface(request: Request, settings: CurrentSettings) -> Interface:
    """What the page must know before anything else; open to callers without a token."""
    try:
        caller = request.app.state.tokens.caller(request.headers.get("authorization"))
    except Unauthorized:
        caller = None
    return Interface(
        brand=settings.brand,
        model=settings.llm_model or "offline",
        offline=not settings.llm_base_url,
        needs_token=caller is None,
        may_write=caller is not None and caller.may_write,
        max_document_bytes=settings.max_document_bytes,
    )
