"""Which passages have which words of a question, and which hold a phrase to the letter.

Plain text: it takes SQLAlchemy longer to put such statements together than PostgreSQL to run them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.search.fold import searchable

# Passages that one word may find: of a more frequent one, the first of them.
MOST_HITS = 5_000
# From here on numbers of passages are estimated: to count takes longer than all the rest.
LARGE = 50_000
# Documents of the chosen sources that are counted, or looked at to estimate the rest.
_SAMPLED = 2_000
_PASSAGE_CHARACTERS = 1_200

_ROWS = "FROM unnest(CAST(:asked AS text[])) WITH ORDINALITY AS asked (value, number)"
_OF_VISIBLE = "JOIN documents d ON d.id = p.document_id AND d.source = ANY(:visible)"
_ESTIMATE = "SELECT reltuples FROM pg_class WHERE oid = CAST('passages' AS regclass)"
_COUNT = "SELECT count(*) FROM passages p"
_SAMPLE = """
SELECT count(*), coalesce(sum(characters), 0) FROM
  (SELECT characters FROM documents WHERE source = ANY(:visible) LIMIT :most) AS sampled
"""
_KEPT = "SELECT coalesce(sum(documents), 0) FROM document_counts WHERE source = ANY(:visible)"
_HITS = """
SELECT asked.number, array_agg(hit.id) {rows} CROSS JOIN LATERAL
  (SELECT p.id FROM passages p {joined} WHERE {matches} LIMIT :most) AS hit
GROUP BY asked.number ORDER BY asked.number
"""
_FREQUENT = """
SELECT asked.number, counted.n {rows} CROSS JOIN LATERAL
  (SELECT count(*) AS n FROM passages p {joined}
   WHERE p.words @@ CAST(asked.value AS tsquery)) AS counted
"""
# Materialized, or the index would look for all passages with a word that most have.
_AMONG = """
WITH given AS MATERIALIZED (SELECT id, words FROM passages WHERE id = ANY(:ids))
SELECT asked.number, array_agg(given.id) {rows}
JOIN given ON given.words @@ CAST(asked.value AS tsquery) GROUP BY asked.number
"""
_SHARES = """
SELECT common.word, common.share FROM pg_stats s CROSS JOIN LATERAL
  unnest(CAST(CAST(s.most_common_elems AS text) AS text[]), s.most_common_elem_freqs)
  AS common (word, share)
WHERE s.schemaname = current_schema() AND s.tablename = 'passages' AND s.attname = 'words'
  AND common.word = ANY(:words)
"""


async def count_passages(session: AsyncSession, visible: Visible) -> int:
    """How many passages the visible sources have; above `LARGE`, about how many.

    About: as many as their characters would fill, which is too many where lines are very long.
    """
    if visible is None:
        estimate = int(await session.scalar(text(_ESTIMATE)) or 0)
        return estimate if estimate > LARGE else await _number(session, _COUNT, {})
    values: dict[str, Any] = {"visible": list(visible)}
    sampled, characters = (await session.execute(text(_SAMPLE), values | {"most": _SAMPLED})).one()
    if not sampled:
        return 0
    estimate = int(characters) / _PASSAGE_CHARACTERS
    if sampled == _SAMPLED:
        documents = await _number(session, _KEPT, values)
        # Each has a passage at least.
        estimate = documents * max(estimate / sampled, 1.0)
    if estimate > LARGE:
        return int(estimate)
    return await _number(session, f"{_COUNT} {_OF_VISIBLE}", values)


async def find_words(
    session: AsyncSession, words: Sequence[str], visible: Visible
) -> dict[str, list[int]]:
    """The ids of the passages that have each word, `MOST_HITS` at most."""
    statement, values = _over(_HITS, visible, matches="p.words @@ CAST(asked.value AS tsquery)")
    asked = {"asked": list(map(_quoted, words)), "most": MOST_HITS}
    found = await _by_number(session, statement, values | asked)
    return {word: found.get(number, []) for number, word in enumerate(words, 1)}


async def count_frequent(
    session: AsyncSession, words: Sequence[str], visible: Visible
) -> Mapping[str, int]:
    """How many passages have each of the words; slow for words that nearly all have."""
    statement, values = _over(_FREQUENT, visible)
    rows = await session.execute(text(statement), values | {"asked": list(map(_quoted, words))})
    return {words[int(number) - 1]: int(count) for number, count in rows}


async def estimate_shares(session: AsyncSession, words: Sequence[str]) -> dict[str, float]:
    """Which part of all passages has a word, for the most common of the words: 0.0 to 1.0.

    PostgreSQL has looked at a sample; before it did, no word is known.
    """
    rows = await session.execute(text(_SHARES), {"words": list(words)})
    return {word: float(share) for word, share in rows}


async def have_words(
    session: AsyncSession, words: Sequence[str], passages: Sequence[int]
) -> dict[str, list[int]]:
    """Those of the passages, which were found before, that have each word."""
    values = {"asked": list(map(_quoted, words)), "ids": list(passages)}
    found = await _by_number(session, _AMONG.format(rows=_ROWS), values)
    return {word: found.get(number, []) for number, word in enumerate(words, 1)}


async def find_phrases(
    session: AsyncSession, phrases: Sequence[str], limit: int, visible: Visible
) -> dict[str, list[int]]:
    """The passages that hold each phrase to the letter.

    A phrase that no passage has is left out, and one that over `limit` have: it means nothing.
    """
    statement, values = _over(_HITS, visible, matches="p.folded LIKE asked.value")
    patterns = [f"%{searchable(phrase)}%" for phrase in phrases]
    found = await _by_number(session, statement, values | {"asked": patterns, "most": limit + 1})
    return {phrases[number - 1]: ids for number, ids in found.items() if len(ids) <= limit}


def _over(statement: str, visible: Visible, matches: str = "") -> tuple[str, dict[str, Any]]:
    """The statement narrowed to the visible sources, and the values for that."""
    joined = "" if visible is None else _OF_VISIBLE
    values = {} if visible is None else {"visible": list(visible)}
    return statement.format(rows=_ROWS, joined=joined, matches=matches), values


async def _by_number(
    session: AsyncSession, statement: str, values: dict[str, Any]
) -> dict[int, list[int]]:
    rows = await session.execute(text(statement), values)
    return {int(number): list(ids) for number, ids in rows}


async def _number(session: AsyncSession, statement: str, values: dict[str, Any]) -> int:
    return int(await session.scalar(text(statement), values) or 0)


def _quoted(word: str) -> str:
    """A tsquery of this word alone, whatever characters it has."""
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
