"""Works out the signatures of documents that were stored before there were any.

Until then such a document is looked into by every scan in catalog order.
"""

import asyncio
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import structlog
from sqlalchemy import Row, text
from sqlalchemy.exc import SQLAlchemyError

from app.db.engine import Sessions
from app.documents.signature import document_signature

log = structlog.get_logger()

_INTERVAL_SECONDS = 60.0
_CHARACTERS = 2_000_000
# One process at a time, and a bounded amount of text. What is locked is being replaced or removed:
# a new text brings a signature of its own, which must not be written over.
_NEXT = text("""
SELECT id FROM (
  SELECT id, sum(characters) OVER (ORDER BY id) - characters AS before FROM (
    SELECT id, characters FROM documents WHERE signature IS NULL
    ORDER BY id LIMIT 100 FOR NO KEY UPDATE SKIP LOCKED
  ) AS unsigned
) AS counted
WHERE before < :characters AND pg_try_advisory_xact_lock(hashtextextended('signatures', 0))
""")
_FOLDED = text("""
SELECT document_id, folded FROM passages WHERE document_id = ANY(:ids)
ORDER BY document_id, position
""")
_SIGN = text("""
UPDATE documents SET signature = signed.signature
FROM unnest(CAST(:ids AS bigint[]), CAST(:signatures AS bytea[])) AS signed (id, signature)
WHERE documents.id = signed.id
""")


async def keep_signed(sessions: Sessions) -> None:
    """Sign what has no signature, and look again once a minute; until cancelled."""
    while True:
        try:
            while await sign_some(sessions):
                pass
        except (SQLAlchemyError, OSError) as error:
            # The database may be restarting; searches are right without signatures.
            log.warning("documents not signed", reason=str(error).partition("\n")[0])
        await asyncio.sleep(_INTERVAL_SECONDS)


async def sign_some(sessions: Sessions) -> int:
    """Sign some documents, and return how many."""
    async with sessions.begin() as session:
        ids = list(await session.scalars(_NEXT, {"characters": _CHARACTERS}))
        if ids:
            passages = (await session.execute(_FOLDED, {"ids": ids})).all()
            signatures = await asyncio.to_thread(_signatures, ids, passages)
            await session.execute(_SIGN, {"ids": ids, "signatures": signatures})
    return len(ids)


def _signatures(ids: Iterable[int], passages: Iterable[Row[Any]]) -> list[bytes]:
    """In the order of the ids; an empty document has no passages."""
    by_document = groupby(passages, key=lambda passage: passage.document_id)
    folded = {key: "".join(one.folded for one in group) for key, group in by_document}
    return [document_signature(folded.get(key, "")) for key in ids]
