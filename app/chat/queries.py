"""Conversations and their turns as rows."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, delete, exists, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import NotFound
from app.models import Citation, Conversation, Document, Round, Turn

# A running turn whose process has not renewed it for this long has lost its process.
LEASE = timedelta(seconds=5)
MOST_CONVERSATIONS = 500


async def get_conversation(
    session: AsyncSession, owner: str, conversation_id: uuid.UUID, *, lock: bool = False
) -> Conversation:
    """The owner's conversation; somebody else's is as unknown as none."""
    query = select(Conversation).where(
        Conversation.id == conversation_id, Conversation.owner == owner
    )
    conversation = await session.scalar(query.with_for_update() if lock else query)
    if conversation is None:
        raise NotFound("There is no such conversation.")
    return conversation


async def list_conversations(
    session: AsyncSession, owner: str
) -> Sequence[tuple[Conversation, bool]]:
    """The owner's conversations, the latest first, and whether a turn runs in each."""
    running = exists().where(and_(Turn.conversation_id == Conversation.id, Turn.state == "running"))
    query = (
        select(Conversation, running)
        .where(Conversation.owner == owner)
        .order_by(Conversation.updated_at.desc(), Conversation.id)
        .limit(MOST_CONVERSATIONS)
    )
    return [(conversation, is_running) for conversation, is_running in await session.execute(query)]


async def delete_conversation(
    session: AsyncSession, owner: str, conversation_id: uuid.UUID
) -> None:
    await get_conversation(session, owner, conversation_id, lock=True)
    await session.execute(delete(Conversation).where(Conversation.id == conversation_id))


async def hand_over(session: AsyncSession, heir: str) -> None:
    """Give `heir` the conversations from before there were tokens, which nobody else could open."""
    mine = update(Conversation).where(Conversation.owner == "").values(owner=heir)
    await session.execute(mine)
    # A key is there for a question sent twice within moments, and the heir may have the same.
    await session.execute(update(Turn).where(Turn.owner == "").values(owner=heir, key=None))


async def get_turn(session: AsyncSession, owner: str, turn_id: uuid.UUID) -> Turn:
    turn = await session.scalar(select(Turn).where(Turn.id == turn_id, Turn.owner == owner))
    if turn is None:
        raise NotFound("There is no such turn.")
    return turn


async def turns_of(session: AsyncSession, conversation_id: uuid.UUID) -> Sequence[Turn]:
    """The turns of a conversation in order, without those that were asked again."""
    query = select(Turn).where(Turn.conversation_id == conversation_id, ~Turn.replaced)
    return (await session.scalars(query.order_by(Turn.position))).all()


async def rounds_of(
    session: AsyncSession, turn_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[Round]]:
    query = select(Round).where(Round.turn_id.in_(turn_ids)).order_by(Round.position)
    found: dict[uuid.UUID, list[Round]] = {turn_id: [] for turn_id in turn_ids}
    for made in await session.scalars(query):
        found[made.turn_id].append(made)
    return found


@dataclass(frozen=True)
class Cited:
    """A citation, and the document that it refers to as it is now: moved, changed or gone."""

    citation: Citation
    source: str | None
    path: str | None
    text_sha256: str | None


async def citations_of(
    session: AsyncSession, turn_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[Cited]]:
    query = (
        select(Citation, Document.source, Document.path, Document.text_sha256)
        .join(Document, Document.id == Citation.document_id, isouter=True)
        .where(Citation.turn_id.in_(turn_ids))
        .order_by(Citation.position)
    )
    found: dict[uuid.UUID, list[Cited]] = {turn_id: [] for turn_id in turn_ids}
    for citation, source, path, text_sha256 in await session.execute(query):
        found[citation.turn_id].append(Cited(citation, source, path, text_sha256))
    return found
