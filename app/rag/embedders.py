"""Which embedding model the settings name, and how an older one can still be asked."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx

from app.db.engine import Sessions
from app.rag.embeddings import Embedder, Endpoint
from app.rag.meaning import Meaning
from app.rag.minilm import MiniLM
from app.settings import Settings


@asynccontextmanager
async def open_embedder(settings: Settings, *, threads: int) -> AsyncGenerator[Embedder | None]:
    """The embedder of the settings; None when they switch meaning off."""
    async with _client(settings) as http:
        yield _embedder(settings, http, threads)


@asynccontextmanager
async def open_meaning(settings: Settings, sessions: Sessions) -> AsyncGenerator[Meaning | None]:
    """What makes the vectors of questions; None when the settings switch meaning off."""
    async with _client(settings) as http:
        wanted = _embedder(settings, http, threads=1)

        def named(name: str) -> Embedder | None:
            if name == MiniLM.name:
                return MiniLM()
            if http:
                older = settings.model_copy(update={"embeddings_model": name})
                return Endpoint(older, http)
            return None

        yield Meaning(sessions, wanted, named, settings.embeddings_floor) if wanted else None


@asynccontextmanager
async def _client(settings: Settings) -> AsyncGenerator[httpx.AsyncClient | None]:
    """None where no endpoint is named: the certificates alone take a while to load."""
    if not settings.embeddings_base_url:
        yield None
        return
    async with httpx.AsyncClient() as http:
        yield http


def _embedder(settings: Settings, http: httpx.AsyncClient | None, threads: int) -> Embedder | None:
    if settings.embeddings == "off":
        return None
    return Endpoint(settings, http) if http else MiniLM(threads)
