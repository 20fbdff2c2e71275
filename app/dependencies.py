"""Everything that a route may ask for: settings, sessions, and who is calling.

None of it waits for anything; as plain functions they would be run in threads.
"""

import asyncio
from typing import Annotated

from fastapi import Depends, Request

from app.access import Caller
from app.chat.turns import Turns
from app.db.engine import Sessions
from app.errors import Forbidden
from app.rag.overview import Overview
from app.rag.retrieval import Retriever
from app.settings import Settings


async def _settings(request: Request) -> Settings:
    return request.app.state.settings


async def _sessions(request: Request) -> Sessions:
    return request.app.state.sessions


async def _large_uploads(request: Request) -> asyncio.Semaphore:
    return request.app.state.large_uploads


async def _searches(request: Request) -> asyncio.Semaphore:
    return request.app.state.searches


async def _turns(request: Request) -> Turns:
    return request.app.state.turns


async def _retriever(request: Request) -> Retriever:
    return request.app.state.retriever


async def _overview(request: Request) -> Overview:
    return request.app.state.overview


async def _reader(request: Request) -> Caller:
    return request.app.state.tokens.caller(request.headers.get("authorization"))


async def _editor(caller: Annotated[Caller, Depends(_reader)]) -> Caller:
    if not caller.may_write:
        raise Forbidden("A guest may read, search and chat, but not change documents.")
    return caller


CurrentSettings = Annotated[Settings, Depends(_settings)]
# A factory, never an open session: a session opened here would stay open while a stream runs.
CurrentSessions = Annotated[Sessions, Depends(_sessions)]
# Reading a large document takes much memory, so that one is read after the other.
LargeUploads = Annotated[asyncio.Semaphore, Depends(_large_uploads)]
# Who waits for a search to end holds no connection meanwhile.
Searches = Annotated[asyncio.Semaphore, Depends(_searches)]
CurrentRetriever = Annotated[Retriever, Depends(_retriever)]
CurrentOverview = Annotated[Overview, Depends(_overview)]
CurrentTurns = Annotated[Turns, Depends(_turns)]
Reader = Annotated[Caller, Depends(_reader)]
Editor = Annotated[Caller, Depends(_editor)]
