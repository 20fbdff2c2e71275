"""Where lines stand: the passage in which a page begins, and the lines around matches."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.search.lines import Stretch, split_lines, take
from app.search.page import Cursor, Page
from app.search.plans import LONG_PASSAGE
from app.search.query import Start
from app.search.result import ContextLine, Hit

# Of a long line the beginning is shown.
_HEAD = 2_000

_START = """
SELECT position, before FROM (
  SELECT position, sum(lines) OVER (ORDER BY position) - lines AS before
  FROM passages WHERE document_id = (
    SELECT id FROM documents WHERE source = :source AND path = :path
    AND (:everything OR source = ANY(:visible)))
) AS counted WHERE before < :line ORDER BY position DESC LIMIT 1
"""
_AROUND = """
WITH wanted AS (
  SELECT id, first, last FROM unnest(
    CAST(:sources AS text[]), CAST(:paths AS text[]), CAST(:firsts AS int[]), CAST(:lasts AS int[])
  ) AS given (source, path, first, last) JOIN documents USING (source, path)
), counted AS (
  SELECT document_id, position, lines,
    sum(lines) OVER (PARTITION BY document_id ORDER BY position) AS through
  FROM passages WHERE document_id IN (SELECT id FROM wanted)
)
SELECT source, path, counted.through - counted.lines AS before,
  CASE WHEN held.characters > :long THEN left(text, :head) ELSE text END AS text, held.characters
FROM counted JOIN passages AS held USING (document_id, position)
JOIN documents ON documents.id = document_id
WHERE EXISTS (
  SELECT FROM wanted WHERE wanted.id = counted.document_id
  AND counted.through >= first AND counted.through - counted.lines < last
)
"""
_Texts = dict[tuple[str, str, int], Stretch]


async def start_at(session: AsyncSession, visible: Visible, after: Cursor) -> Start:
    """The passage that holds the line of a cursor, or the last one of a shorter document."""
    values = {
        "source": after.source,
        "path": after.path,
        "line": max(after.line, 1),
        "everything": visible is None,
        "visible": sorted(visible or ()),
    }
    found = (await session.execute(text(_START), values)).first()
    position, before = found or (0, 0)
    return Start(after.source, after.path, position, before)


async def with_context(session: AsyncSession, hits: Sequence[Hit], page: Page) -> tuple[Hit, ...]:
    """The hits with the lines around them; these were found by who may see their documents."""
    if not page.context or not hits:
        return tuple(hits)
    texts = await _texts(session, hits, page)
    return tuple(_with_context(hit, texts, page.context) for hit in hits)


def _with_context(hit: Hit, texts: _Texts, context: int) -> Hit:
    line = hit.line or 0

    def near(numbers: Iterable[int]) -> tuple[ContextLine, ...]:
        found = ((number, texts.get((hit.source, hit.path, number))) for number in numbers)
        return tuple(ContextLine(number, shown) for number, shown in found if shown is not None)

    return replace(
        hit,
        before=near(range(line - context, line)),
        after=near(range(line + 1, line + context + 1)),
    )


async def _texts(session: AsyncSession, hits: Sequence[Hit], page: Page) -> _Texts:
    """The lines of all passages that hold one that is near a hit."""
    ranges = _ranges(hits, page.context)
    values: dict[str, Any] = {
        "sources": [source for source, _, _, _ in ranges],
        "paths": [path for _, path, _, _ in ranges],
        "firsts": [first for _, _, first, _ in ranges],
        "lasts": [last for _, _, _, last in ranges],
        "long": LONG_PASSAGE,
        "head": _HEAD,
    }
    texts: _Texts = {}
    for row in await session.execute(text(_AROUND), values):
        for number, line in enumerate(split_lines(row.text), start=row.before + 1):
            is_cut = len(row.text) < row.characters
            whole = Stretch(line, 0, row.characters if is_cut else len(line))
            texts[row.source, row.path, number] = take(whole, 0, page.width)
    return texts


def _ranges(hits: Sequence[Hit], context: int) -> list[tuple[str, str, int, int]]:
    """Source, path, first and last line: of hits that are near each other as one."""
    ranges: list[tuple[str, str, int, int]] = []
    for hit in hits:
        first, last = max((hit.line or 1) - context, 1), (hit.line or 1) + context
        if ranges and ranges[-1][:2] == (hit.source, hit.path) and first <= ranges[-1][3] + 1:
            first = ranges.pop()[2]
        ranges.append((hit.source, hit.path, first, last))
    return ranges
