"""Conversations and the turns that begin in them, as rows."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import NotFound, TurnRunning
from app.models import Citation, Conversation, Document, Round, Turn
from app.schemas import ChatRequest

TITLE_CHARACTERS = 80
# A running turn whose process has not renewed it for this long has lost its process.
LEASE = timedelta(seconds=5)
MOST_CONVERSATIONS = 500


async def begin_turn(session: AsyncSession, owner: str, request: ChatRequest) -> tuple[Turn, bool]:
    """The turn that answers a request, and whether it is new: a `key` sent again finds its turn."""
    if request.key is not None:
        known = await _turn_with_key(session, owner, request.key)
        if known is not None:
            return known, False
    conversation = await _conversation_for(session, owner, request)
    last = 0
    if request.conversation_id is not None:
        last = await _make_room(session, conversation.id, request.replaces_turn)
        conversation.updated_at = func.now()
    turn = Turn(
        id=uuid.uuid4(),
        conversation_id=conversation.id,
        position=last + 1,
        owner=owner,
        key=request.key,
        message=request.message,
        sources=request.sources or None,
        search_anyway=request.search_anyway,
        passages=[],
        state="running",
        lease_until=func.clock_timestamp() + LEASE,
    )
    session.add(turn)
    await session.flush()
    return turn, True


async def _turn_with_key(session: AsyncSession, owner: str, key: str) -> Turn | None:
    # Two requests with one key wait for each other here, before either looks.
    lock = func.pg_advisory_xact_lock(func.hashtextextended(f"{owner}\n{key}", 0))
    await session.execute(select(lock))
    return await session.scalar(select(Turn).where(Turn.owner == owner, Turn.key == key))


async def _conversation_for(
    session: AsyncSession, owner: str, request: ChatRequest
) -> Conversation:
    if request.conversation_id is not None:
        return await get_conversation(session, owner, request.conversation_id, lock=True)
    title = " ".join(request.message.split())
    shortened = title if len(title) <= TITLE_CHARACTERS else f"{title[: TITLE_CHARACTERS - 1]}…"
    conversation = Conversation(id=uuid.uuid4(), owner=owner, title=shortened)
    session.add(conversation)
    await session.flush()
    return conversation


async def _make_room(
    session: AsyncSession, conversation_id: uuid.UUID, replaces: uuid.UUID | None
) -> int:
    """The last position so far; refuse while another turn runs.

    The turn that is asked again, and all after it, are set aside.
    """
    known = select(func.max(Turn.position), func.bool_or(Turn.state == "running"))
    last, is_running = (
        await session.execute(known.where(Turn.conversation_id == conversation_id))
    ).one()
    if is_running:
        raise TurnRunning("The question before is still being answered: wait for it or stop it.")
    if replaces is None:
        return last or 0
    replaced = await session.get(Turn, replaces)
    if replaced is None or replaced.conversation_id != conversation_id:
        raise NotFound("The turn to be asked again is not in this conversation.")
    await session.execute(
        update(Turn)
        .where(Turn.conversation_id == conversation_id, Turn.position >= replaced.position)
        .values(replaced=True)
    )
    return last or 0


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
