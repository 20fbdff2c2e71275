"""Checks the citations of an answer against the stored text."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.documents.queries import LineRange, read_lines
from app.errors import NotFound
from app.rag.quotations import plain_words, stands_in
from app.rag.references import Place, Reference, find_references
from app.rag.shown import Shown

MOST_CITATIONS = 100
MOST_CHARACTERS = 2_000
# Quoted words are looked for in this much of a citation, and this many quotations of a sentence.
MOST_LINES = 2_000
MOST_SEARCHED = 100_000
MOST_QUOTES = 50
_NAMED_CHARACTERS = 80

State = Literal["quoted", "present", "unverified"]


@dataclass(frozen=True)
class CheckedCitation:
    """A citation as it was when it was checked; `text` is the cited lines, cut.

    `reason` is a sentence for a person, where the state is `unverified`.
    """

    index: int
    document_id: int | None
    source: str
    path: str
    first_line: int
    last_line: int
    state: State
    reason: str | None
    text_sha256: str | None
    text: str


@dataclass(frozen=True)
class _Cited:
    """A reference and the lines that it names; none where the document does not exist."""

    reference: Reference
    found: LineRange | None

    @cached_property
    def text(self) -> str:
        return "\n".join(self.found.lines)[:MOST_SEARCHED] if self.found else ""

    @cached_property
    def _words(self) -> str:
        return plain_words(self.text)

    def has(self, quote: str) -> bool:
        return stands_in(quote, self._words)


async def check_citations(
    session: AsyncSession, text: str, shown: Shown, visible: Visible
) -> list[CheckedCitation]:
    """The first citations of `text`, in order, each with its state; a repeated one each time."""
    references = find_references(text)[:MOST_CITATIONS]
    places = dict.fromkeys(reference.place for reference in references)
    found = {place: await _read(session, place, visible) for place in places}
    cited = [_Cited(reference, found[reference.place]) for reference in references]
    checked: list[CheckedCitation] = []
    for _, group in groupby(cited, key=lambda one: one.reference.sentence):
        together = list(group)
        missing = _missing_quote(together)
        for one in together:
            checked.append(_checked(len(checked), one, _judge(one, shown, missing)))
    return checked


async def _read(session: AsyncSession, place: Place, visible: Visible) -> LineRange | None:
    last = min(place.last_line, place.first_line + MOST_LINES - 1)
    try:
        return await read_lines(
            session, visible, (place.source, place.path), place.first_line, last
        )
    except NotFound:
        return None


def _missing_quote(sentence: Sequence[_Cited]) -> str | None:
    """The first quotation of a sentence that none of the lines cited in it have."""
    quotes = sentence[0].reference.quotes[:MOST_QUOTES]
    return next((q for q in quotes if not any(cited.has(q) for cited in sentence)), None)


def _judge(cited: _Cited, shown: Shown, missing: str | None) -> tuple[State, str | None]:
    place, found = cited.reference.place, cited.found
    if found is None:
        return "unverified", f"There is no document “{place.source}/{place.path}”."
    if place.last_line > found.total:
        lines = "1 line" if found.total == 1 else f"{found.total} lines"
        return "unverified", f"“{place.source}/{place.path}” has {lines}."
    if not shown.covers(place.source, place.path, place.first_line, place.last_line):
        return "unverified", "The model was never shown these lines."
    if missing is not None:
        words = missing if len(missing) <= _NAMED_CHARACTERS else f"{missing[:_NAMED_CHARACTERS]}…"
        return "unverified", f"The quoted words “{words}” are not in these lines."
    # With several citations in a sentence, each must have some of its quotations, not all.
    quoted = any(map(cited.has, cited.reference.quotes[:MOST_QUOTES]))
    return ("quoted" if quoted else "present"), None


def _checked(index: int, cited: _Cited, judged: tuple[State, str | None]) -> CheckedCitation:
    place, document = cited.reference.place, cited.found and cited.found.document
    return CheckedCitation(
        index=index,
        document_id=document.id if document else None,
        source=place.source,
        path=place.path,
        first_line=place.first_line,
        last_line=place.last_line,
        state=judged[0],
        reason=judged[1],
        text_sha256=document.text_sha256 if document else None,
        text=cited.text[:MOST_CHARACTERS],
    )
