"""Documents over HTTP: list, read, rename, remove."""

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import PlainTextResponse
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.dependencies import CurrentOverview, CurrentSessions, Editor, Reader
from app.documents import queries, queries_catalog, queries_store
from app.documents.disposition import inline
from app.documents.names import check_path, check_source
from app.errors import InvalidRequest
from app.models import Document
from app.schemas import (
    Catalog,
    CleanText,
    Destination,
    DocumentContent,
    DocumentSummary,
    Sources,
)

router = APIRouter(prefix="/api", tags=["documents"])

_LINES = re.compile(r"([0-9]{1,15})(?:(-)([0-9]{1,15})?)?")
_ALL = 10**15


def _key(source: str, path: str) -> tuple[str, str]:
    return check_source(source), check_path(path)[0]


def _selection(
    source: CleanText | None = None,
    prefix: CleanText | None = None,
    glob: CleanText | None = None,
    name: CleanText | None = None,
) -> queries_catalog.Selection:
    return queries_catalog.Selection(source or None, prefix, glob or None, name or None)


Key = Annotated[tuple[str, str], Depends(_key)]
Selected = Annotated[queries_catalog.Selection, Depends(_selection)]


@router.get("/documents")
async def list_documents(
    selected: Selected,
    sessions: CurrentSessions,
    caller: Reader,
    after: CleanText | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Catalog:
    """The catalog in order of source and path; `after` is the `next` of the page before.

    `name` is a part of `source/path`, or with `*` or `?` a glob over that or over the path.
    """
    async with sessions.begin() as session:
        page = await queries_catalog.catalog(session, caller.visible, selected, after, limit)
    documents = [DocumentSummary.model_validate(document) for document in page.documents]
    return Catalog(documents=documents, total=page.total, next=page.next)


@router.get("/documents/{source}/{path:path}", response_model=DocumentContent)
async def get_document(
    key: Key,
    sessions: CurrentSessions,
    caller: Reader,
    lines: CleanText | None = None,
    raw: bool = False,
) -> DocumentContent | Response:
    """A document, or some `lines` of it (`40-80`, `40`, `40-`); `raw` gives the text alone."""
    async with sessions.begin() as session:
        if lines is None:
            shown = await _whole(session, caller.visible, key)
        else:
            shown = await _excerpt(session, caller.visible, key, _parse_lines(lines))
    if not raw:
        return shown
    headers = {
        "Content-Disposition": inline(shown.path.rpartition("/")[2]),
        "X-Content-Type-Options": "nosniff",
    }
    return PlainTextResponse(shown.content, headers=headers)


@router.post("/documents/{source}/{path:path}/move")
async def move_document(
    key: Key, destination: Destination, sessions: CurrentSessions, caller: Editor
) -> DocumentSummary:
    """Rename a document; its id and all that refers to it stay."""
    to = _key(destination.source, destination.path)
    async with sessions.begin() as session:
        moved = await queries_store.move(session, caller.visible, key, to)
    return DocumentSummary.model_validate(moved)


@router.delete("/documents/{source}/{path:path}", status_code=204)
async def delete_document(key: Key, sessions: CurrentSessions, caller: Editor) -> None:
    async with sessions.begin() as session:
        await queries_store.remove(session, caller.visible, *key)


@router.get("/sources")
async def list_sources(overview: CurrentOverview, caller: Reader) -> Sources:
    """The sources by name, each with how far the vectors of its passages are.

    In a large collection all but the number of documents may be a few seconds old.
    """
    return Sources(sources=await overview.sources(caller.visible))


@router.delete("/sources/{source}", status_code=204)
async def delete_source(source: str, sessions: CurrentSessions, caller: Editor) -> None:
    async with sessions.begin() as session:
        await queries_store.remove_source(session, caller.visible, check_source(source))


def _parse_lines(lines: str) -> tuple[int, int]:
    parts = _LINES.fullmatch(lines.strip())
    if parts is None:
        raise InvalidRequest("`lines` is a range like 40-80, 40- or 40.")
    first = int(parts[1])
    last = int(parts[3] or _ALL) if parts[2] else first
    if not 1 <= first <= last:
        raise InvalidRequest("`lines` counts from 1, and the first comes before the last.")
    return first, last


async def _whole(session: AsyncSession, visible: Visible, key: tuple[str, str]) -> DocumentContent:
    document = await queries.get_with_content(session, visible, *key)
    return _content(document, document.content, 1, document.lines)


async def _excerpt(
    session: AsyncSession, visible: Visible, key: tuple[str, str], lines: tuple[int, int]
) -> DocumentContent:
    found = await queries.read_lines(session, visible, key, *lines)
    if not found.lines:
        total = "1 line" if found.total == 1 else f"{found.total:,} lines"
        raise InvalidRequest(f"There is no line {lines[0]:,}: “{'/'.join(key)}” has {total}.")
    return _content(found.document, "\n".join(found.lines), found.first, found.last)


def _content(document: Document, content: str, first: int, last: int) -> DocumentContent:
    summary = DocumentSummary.model_validate(document).model_dump()
    return DocumentContent(**summary, content=content, first_line=first, last_line=last)
