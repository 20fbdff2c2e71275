"""A turn begins: in one statement, and the constraints of its tables keep two from beginning."""

import uuid
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from sqlalchemy import exists, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.queries import LEASE, get_conversation
from app.db.engine import without_transaction
from app.errors import NotFound, TurnRunning
from app.models import Turn
from app.rag.history import CallMade, RoundMade, TurnMade
from app.schemas import ChatRequest

TITLE_CHARACTERS = 80
_BEGIN = """
    WITH known AS (SELECT FROM turns WHERE owner = :owner AND key = :key),
    {}
    INSERT INTO turns
        (id, conversation_id, position, owner, key, message, sources, search_anyway, lease_until)
    SELECT :turn, asked.id,
        1 + coalesce((SELECT max(position) FROM turns WHERE conversation_id = asked.id), 0),
        :owner, :key, :message, CAST(:sources AS text[]), :search_anyway,
        clock_timestamp() + CAST(:lease AS interval)
    FROM asked RETURNING conversation_id
"""
_BEGIN_CONVERSATION = text(
    _BEGIN.format(
        """
    asked AS (
        INSERT INTO conversations (id, owner, title) SELECT :conversation, :owner, :title
        WHERE NOT EXISTS (SELECT FROM known) RETURNING id
    )"""
    )
)
# A turn that is asked again is set aside with all that follow it.
_GO_ON = text(
    _BEGIN.format(
        """
    again AS (
        SELECT position FROM turns WHERE id = :replaces AND conversation_id = :conversation
    ),
    asked AS (
        UPDATE conversations SET updated_at = now()
        WHERE id = :conversation AND owner = :owner AND NOT EXISTS (SELECT FROM known)
            AND NOT EXISTS (
                SELECT FROM turns WHERE conversation_id = :conversation AND state = 'running'
            )
            AND (CAST(:replaces AS uuid) IS NULL OR EXISTS (SELECT FROM again))
        RETURNING id
    ),
    set_aside AS (
        UPDATE turns SET replaced = true FROM asked, again
        WHERE conversation_id = asked.id AND turns.position >= again.position
    )"""
    )
)
_HISTORY = text(
    """
    SELECT turns.id, message, coalesce(prompt, message) AS prompt, rounds.text, calls
    FROM turns LEFT JOIN rounds ON turn_id = turns.id
    WHERE conversation_id = :conversation AND NOT replaced AND turns.id <> :turn
    ORDER BY turns.position, rounds.position
    """
)


async def insert_turn(
    session: AsyncSession, owner: str, request: ChatRequest, turn_id: uuid.UUID
) -> Turn | None:
    """Begin the turn that answers a request; it is stored for good when this returns.

    None when something is `in_the_way`; so it is when this raises `IntegrityError`, as somebody
    was faster.
    """
    goes_on = request.conversation_id is not None
    values = {
        "turn": turn_id,
        "conversation": request.conversation_id or uuid.uuid4(),
        "owner": owner,
        "key": request.key,
        "message": request.message,
        "sources": request.sources or None,
        "search_anyway": request.search_anyway,
        "lease": LEASE,
        **({"replaces": request.replaces_turn} if goes_on else {"title": _title(request.message)}),
    }
    await without_transaction(session)
    conversation_id = await session.scalar(_GO_ON if goes_on else _BEGIN_CONVERSATION, values)
    if conversation_id is None:
        return None
    return Turn(id=turn_id, conversation_id=conversation_id, sources=request.sources or None)


def _title(message: str) -> str:
    title = " ".join(message.split())
    return title if len(title) <= TITLE_CHARACTERS else f"{title[: TITLE_CHARACTERS - 1]}…"


async def in_the_way(session: AsyncSession, owner: str, request: ChatRequest) -> Turn | None:
    """The turn that a `key` sent again means, or else why no turn can begin: raises `AppError`.

    None when there is nothing, or nothing any more.
    """
    if request.key is not None:
        same = select(Turn).where(Turn.owner == owner, Turn.key == request.key)
        known = await session.scalar(same)
        if known is not None:
            return known
    if request.conversation_id is None:
        return None
    await get_conversation(session, owner, request.conversation_id)
    others = Turn.conversation_id == request.conversation_id
    if await session.scalar(select(exists().where(others, Turn.state == "running"))):
        raise TurnRunning("The question before is still being answered: wait for it or stop it.")
    replaced = request.replaces_turn
    if replaced and not await session.scalar(select(exists().where(others, Turn.id == replaced))):
        raise NotFound("The turn to be asked again is not in this conversation.")
    return None


async def earlier_turns(session: AsyncSession, turn: Turn) -> tuple[list[str], Sequence[TurnMade]]:
    """What was asked before a turn, and the turns before it as sent."""
    await without_transaction(session)
    values = {"conversation": turn.conversation_id, "turn": turn.id}
    rows = (await session.execute(_HISTORY, values)).all()
    made = [
        TurnMade(
            together[0].prompt,
            tuple(
                RoundMade(row.text, tuple(CallMade(**call) for call in row.calls))
                for row in together
                if row.text is not None
            ),
        )
        for together in (list(group) for _, group in groupby(rows, key=attrgetter("id")))
    ]
    return list({row.id: row.message for row in rows}.values()), made
