"""Which passages have which words of a question, and which hold a phrase to the letter."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVarTuple

from sqlalchemy import ARRAY, Select, Text, cast, func, literal, select, true
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible, within
from app.models import Document, Passage
from app.search.fold import searchable

Columns = TypeVarTuple("Columns")

# Passages that one word may find: of a more frequent one, the first of them.
MOST_HITS = 5_000


async def count_passages(session: AsyncSession, visible: Visible) -> int:
    """How many passages the visible sources have."""
    return await session.scalar(_over(select(func.count(Passage.id)), visible)) or 0


async def find_words(
    session: AsyncSession, words: Sequence[str], visible: Visible
) -> dict[str, list[int]]:
    """The ids of the passages that have each word, `MOST_HITS` at most."""
    asked = _unnested("word", [_quoted(word) for word in words])
    query = cast(asked.c.word, TSQUERY)
    hit = _over(select(Passage.id.label("id")), visible)
    found = hit.where(Passage.words.op("@@")(query)).limit(MOST_HITS).lateral("hit")
    rows = await session.execute(
        select(asked.c.number, func.array_agg(found.c.id))
        .select_from(asked)
        .join(found, true())
        .group_by(asked.c.number)
    )
    ids = {int(number) - 1: hits for number, hits in rows}
    return {word: list(ids.get(number, ())) for number, word in enumerate(words)}


async def count_frequent(
    session: AsyncSession, words: Sequence[str], visible: Visible
) -> Mapping[str, int]:
    """How many passages have each of the words; slow for words that nearly all have."""
    asked = _unnested("word", [_quoted(word) for word in words])
    has = Passage.words.op("@@")(cast(asked.c.word, TSQUERY))
    counted = (
        _over(select(func.count(Passage.id).label("n")), visible).where(has).lateral("counted")
    )
    rows = await session.execute(
        select(asked.c.number, counted.c.n).select_from(asked).join(counted, true())
    )
    return {words[int(number) - 1]: count for number, count in rows}


async def have_word(
    session: AsyncSession, word: str, passages: Sequence[int], visible: Visible
) -> set[int]:
    """Those of the passages that have the word."""
    has = Passage.words.op("@@")(cast(literal(_quoted(word)), TSQUERY))
    query = _over(select(Passage.id), visible).where(Passage.id.in_(passages), has)
    return set(await session.scalars(query))


async def find_phrases(
    session: AsyncSession, phrases: Sequence[str], limit: int, visible: Visible
) -> dict[str, list[int]]:
    """The passages that hold each phrase to the letter.

    A phrase that no passage has is left out, and one that over `limit` have: it means nothing.
    """
    asked = _unnested("pattern", [f"%{searchable(phrase)}%" for phrase in phrases])
    hit = _over(select(Passage.id.label("id")), visible)
    found = hit.where(Passage.folded.like(asked.c.pattern)).limit(limit + 1).lateral("hit")
    rows = await session.execute(
        select(asked.c.number, func.array_agg(found.c.id))
        .select_from(asked)
        .join(found, true())
        .group_by(asked.c.number)
        .order_by(asked.c.number)
    )
    return {phrases[int(number) - 1]: list(ids) for number, ids in rows if len(ids) <= limit}


def _over(query: Select[*Columns], visible: Visible) -> Select[*Columns]:
    """Narrow a query over passages to the visible sources."""
    if visible is None:
        return query.select_from(Passage)
    return query.join(Document, Document.id == Passage.document_id).where(
        within(visible, Document.source)
    )


def _unnested(name: str, values: Sequence[str]) -> Any:
    """Rows of the values, with their `number` from 1."""
    rows = func.unnest(literal(list(values), ARRAY(Text)))
    return rows.table_valued(name, with_ordinality="number").render_derived()


def _quoted(word: str) -> str:
    """A tsquery of this word alone, whatever characters it has."""
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
