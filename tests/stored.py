"""Documents for tests of what is built on stored documents."""

from collections.abc import Mapping

from app.db.engine import Sessions
from app.documents.queries_store import store
from app.documents.upload import prepare


async def store_texts(sessions: Sessions, texts: Mapping[str, str], source: str = "acme") -> None:
    """Store each text under its path, as an upload does."""
    async with sessions.begin() as session:
        for path, text in texts.items():
            await store(session, None, prepare(source, path, text.encode(), "text/plain"))
