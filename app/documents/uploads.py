"""Uploads over HTTP: one document as a body, or many files in a form."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.requests import ClientDisconnect

from app.dependencies import CurrentSessions, CurrentSettings, Editor, LargeUploads
from app.documents import queries_store
from app.documents.bodies import limited
from app.documents.multipart import Field, File, read_parts
from app.documents.names import check_path, check_source, quoted
from app.documents.upload import prepare
from app.errors import AppError, BadPath, InvalidRequest
from app.schemas import CleanText, DocumentSummary, RefusedFile, StoredDocument, UploadResults

# Lifts the limit of all other requests: uploads have their own, from the settings, with an answer
# that names the file.
router = APIRouter(prefix="/api", tags=["documents"], max_body_size=sys.maxsize)

LARGE_BYTES = 1024 * 1024
_BINARY = {"type": "string", "format": "binary"}
_FORM = {
    "type": "object",
    "required": ["source", "files"],
    "properties": {"source": {"type": "string"}, "files": {"type": "array", "items": _BINARY}},
}


@dataclass(frozen=True)
class _Received:
    """A body that has arrived, and the name it shall have, unchecked."""

    source: str
    path: str
    content_type: str | None
    body: bytes


async def _received(
    source: str, path: str, request: Request, settings: CurrentSettings, _: Editor
) -> _Received:
    check_source(source)
    check_path(path)
    body = bytearray()
    async for chunk in _chunks(request, settings.max_document_bytes, f"“{quoted(path)}”"):
        body += chunk
    return _Received(source, path, request.headers.get("content-type"), bytes(body))


Received = Annotated[_Received, Depends(_received)]


class _Store:
    """Stores what a caller sends, each document in a transaction of its own."""

    def __init__(self, sessions: CurrentSessions, caller: Editor, large: LargeUploads) -> None:
        self._sessions = sessions
        self._caller = caller
        self._large = large

    async def document(self, received: _Received) -> StoredDocument:
        async with self._large if len(received.body) > LARGE_BYTES else nullcontext():
            upload = await asyncio.to_thread(
                prepare, received.source, received.path, received.body, received.content_type
            )
            async with self._sessions.begin() as session:
                stored, outcome = await queries_store.store(session, self._caller.visible, upload)
        summary = DocumentSummary.model_validate(stored)
        return StoredDocument(**summary.model_dump(), outcome=outcome)

    async def file(self, source: str, file: File) -> StoredDocument | RefusedFile:
        try:
            if file.error:
                raise file.error
            return await self.document(_Received(source, file.name, file.content_type, file.body))
        except AppError as error:
            return _refused(file.name, error)


CurrentStore = Annotated[_Store, Depends()]


def _body(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


@router.put(
    "/documents/{source}/{path:path}",
    responses={201: {"model": StoredDocument}},
    openapi_extra=_body("*/*", _BINARY),
)
async def put_document(
    received: Received, response: Response, store: CurrentStore
) -> StoredDocument:
    """Store the body as a document: 201 when it is new, 200 when it is replaced or unchanged."""
    stored = await store.document(received)
    response.status_code = 201 if stored.outcome == "created" else 200
    return stored


@router.post("/documents", openapi_extra=_body("multipart/form-data", _FORM))
async def post_documents(
    request: Request,
    settings: CurrentSettings,
    store: CurrentStore,
    source: CleanText | None = None,
) -> UploadResults:
    """Store files, each in its own transaction; the field `source` comes before the first one."""
    chunks = _chunks(request, settings.max_request_bytes, "The request")
    content_type = request.headers.get("content-type", "")
    parts = read_parts(chunks, content_type, settings.max_document_bytes)
    results: list[StoredDocument | RefusedFile] = []
    try:
        async for result in _store_parts(parts, store, source):
            results.append(result)  # noqa: PERF401 - what is there when it breaks off counts
    except AppError as error:
        # What is stored already is told, whatever is wrong with the rest.
        if not results:
            raise
        results.append(_refused("", error))
    if not results:
        raise InvalidRequest("The form holds no files: send them in the field “files”.")
    return UploadResults(results=results)


async def _store_parts(
    parts: AsyncIterator[Field | File], store: _Store, source: str | None
) -> AsyncIterator[StoredDocument | RefusedFile]:
    async for part in parts:
        if isinstance(part, File):
            if source is None:
                raise InvalidRequest("The field “source” must come before the files.")
            yield await store.file(check_source(source), part)
        elif part.name == "source":
            source = part.value
        elif part.name == "files":
            yield _refused("", BadPath("A part of “files” has no file name."))


def _refused(path: str, error: AppError) -> RefusedFile:
    return RefusedFile(path=path, error=error.code, detail=error.detail)


async def _chunks(request: Request, limit: int, what: str) -> AsyncIterator[bytes]:
    """The body as it arrives; refused at once when it announces to be larger than `limit`."""
    announced = request.headers.get("content-length", "")
    try:
        async for chunk in limited(request.stream(), limit, what, announced):
            yield chunk
    except ClientDisconnect as error:
        raise InvalidRequest("The upload broke off.") from error
