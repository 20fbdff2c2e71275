"""Documents that a question calls by name: by file name, or by a title of two words and more."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.visible import Visible
from app.documents.words import question_terms
from app.rag.passages import Found
from app.rag.queries_found import find_by_names, openings
from app.search.fold import fold

# Documents of one name that are opened; a name that more have, like README.md, opens the first.
MOST_NAMED = 3
# Passages from the beginnings of the named documents, all together.
OPENINGS = 6
# What a file name does not hold stands between the pieces; the last extension ends its name.
_BETWEEN = re.compile(r"[\s\"“”„«»`<>|*?()\[\]{},;]+")
_EXTENSION = re.compile(r"(?<=[^\W_])\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/])")
# No path is longer, and who names a document does it at the beginning.
_LONGEST, _QUESTION_CHARACTERS = 1_024, 4_000
_MOST_FILES = 4
_ABBREVIATION = 3
_WORDS = re.compile(r"[^\W_]+")
_TITLE_WORDS = 2


@dataclass(frozen=True)
class Named:
    """The names that the question calls documents by, and how those begin."""

    names: tuple[str, ...] = ()
    passages: tuple[Found, ...] = ()


async def find_named(
    session: AsyncSession, question: str, found: Iterable[Found], visible: Visible
) -> Named:
    """The documents that are named; titles are known of the passages that were found."""
    documents = titles_in(question, found)
    if names := file_names(question):
        for id_, name in await find_by_names(session, names, MOST_NAMED, visible):
            documents.setdefault(id_, name)
    if not documents:
        return Named()
    ids = list(documents)[:MOST_NAMED]
    begun = await openings(session, ids, OPENINGS // len(ids), visible)
    return Named(tuple(dict.fromkeys(documents[id_] for id_ in ids)), tuple(begun))


def file_names(question: str) -> list[str]:
    """What looks like a document's file name or path, with its extension, in small letters."""
    pieces = _BETWEEN.split(question[:_QUESTION_CHARACTERS])
    found = (_file_name(piece).lstrip("'./").lower() for piece in pieces if len(piece) <= _LONGEST)
    # Of three characters are e.g. and i.e.
    return list(dict.fromkeys(name for name in found if len(name) > _ABBREVIATION))[:_MOST_FILES]


def _file_name(piece: str) -> str:
    """The piece up to the end of its last extension; empty when it has none."""
    ends = [match.end() for match in _EXTENSION.finditer(piece)]
    return piece[: ends[-1]] if ends else ""


def titles_in(question: str, passages: Iterable[Found]) -> dict[int, str]:
    """The documents of the passages whose whole title stands in the question: titles by id."""
    asked = _plain(question)
    titles = {passage.document_id: passage.title for passage in passages}
    named = {id_: title for id_, title in titles.items() if f" {_plain(title)} " in f" {asked} "}
    telling = {id_: title for id_, title in named.items() if _tells(title)}
    return dict(list(telling.items())[:MOST_NAMED])


def _tells(title: str) -> bool:
    """Whether it is more than one word, of which two say something."""
    return len(question_terms(title)) >= _TITLE_WORDS and len(_WORDS.findall(title)) >= _TITLE_WORDS


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(fold(text)))
