"""Which embedding model the settings name, and how an older one can still be asked."""

import httpx

from app.db.engine import Sessions
from app.rag.embeddings import Embedder, Endpoint
from app.rag.meaning import Meaning
from app.rag.minilm import MiniLM
from app.settings import Settings


def make_embedder(
    settings: Settings, http: httpx.AsyncClient, *, threads: int = 1
) -> Embedder | None:
    """The embedder of the settings; None when they switch meaning off."""
    if settings.embeddings == "off":
        return None
    if settings.embeddings_base_url:
        return Endpoint(settings, http)
    return MiniLM(threads)


def make_meaning(settings: Settings, sessions: Sessions, http: httpx.AsyncClient) -> Meaning | None:
    """What makes the vectors of questions; None when the settings switch meaning off."""
    wanted = make_embedder(settings, http)
    if wanted is None:
        return None

    def named(name: str) -> Embedder | None:
        if name == MiniLM.name:
            return MiniLM()
        if settings.embeddings_base_url:
            return Endpoint(settings.model_copy(update={"embeddings_model": name}), http)
        return None

    return Meaning(sessions, wanted, named, settings.embeddings_floor)
