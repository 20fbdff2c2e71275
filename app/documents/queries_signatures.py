"""Works out the signatures of documents that were stored before there were any.

Until then such a document is looked into by every scan in catalog order.
"""

import asyncio

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.db.engine import Sessions
from app.documents.signature import document_signature

log = structlog.get_logger()

_RETRY_SECONDS = 5.0
# Locked: a new text brings a signature of its own, which must not be written over. What another
# process works on is left to it.
_NEXT = text("""
SELECT id FROM documents WHERE signature IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
""")
_FOLDED = text("SELECT folded FROM passages WHERE document_id = :id ORDER BY position")
_SIGN = text("UPDATE documents SET signature = :signature WHERE id = :id")


async def sign_all(sessions: Sessions) -> None:
    """Sign one document after the other, until none is left."""
    while True:
        try:
            if not await sign_next(sessions):
                return
        except (SQLAlchemyError, OSError) as error:
            # The database may be restarting; searches are right without signatures.
            log.warning("documents not signed", reason=str(error).partition("\n")[0])
            await asyncio.sleep(_RETRY_SECONDS)


async def sign_next(sessions: Sessions) -> bool:
    """Whether there was a document to sign."""
    async with sessions.begin() as session:
        document_id = await session.scalar(_NEXT)
        if document_id is None:
            return False
        passages = await session.scalars(_FOLDED, {"id": document_id})
        folded = "".join(passages)
        signature = await asyncio.to_thread(document_signature, folded)
        await session.execute(_SIGN, {"id": document_id, "signature": signature})
    return True
