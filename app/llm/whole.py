"""Questions about a whole document, which the offline model tells from its beginning on."""

import re
from collections.abc import Set
from typing import Any

from app.llm.called import beginnings, called, file_names
from app.llm.languages import language_of
from app.llm.set_phrases import asks_for_more
from app.llm.terms import QUESTION_CHARACTERS
from app.llm.units import Unit, units_of
from app.llm.view import View

_LINES_AT_ONCE = 60
_DOCUMENTS_AT_ONCE = 2
_SUMMARY = re.compile(
    r"summar|overview|outline|gist|what(?:'s| is| does) .*(?:about|say|in|contain)\b|describe"
    r"|zusammenfass|fasse?\b.*zusammen|überblick|résum|aperçu|resum",
    re.IGNORECASE,
)
# That a document is empty, and that all of it has been told.
_REMARKS = {
    "en": ("is empty.", "That is all that there is."),
    "de": ("ist leer.", "Mehr steht nicht darin."),
    "fr": ("est vide.", "Il n’y a rien de plus."),
    "es": ("está vacío.", "No hay nada más."),
    "it": ("è vuoto.", "Non c’è altro."),
    "pt": ("está vazio.", "Não há mais nada."),
    "nl": ("is leeg.", "Meer staat er niet in."),
}


def subject(seen: View) -> str:
    """The question that is meant: to who asks for more, the one before."""
    return seen.previous if asks_for_more(seen.question) and seen.previous else seen.question


def is_about_whole(seen: View) -> bool:
    """Whether documents that the question calls by name are to be told from the beginning."""
    asked = subject(seen)[:QUESTION_CHARACTERS]
    return bool(_SUMMARY.search(asked) and file_names(asked))


def beginning(seen: View) -> list[Unit]:
    """What to quote of the documents: what comes first and was not quoted before."""
    if not asks_for_more(seen.question):
        return beginnings(units_of(seen.lines), subject(seen))
    ends = {place: _end(seen, place) for place in {unit.place for unit in untold(seen)}}
    return beginnings([u for u in untold(seen) if u.last <= ends[u.place]], subject(seen))


def next_reading(seen: View, offered: Set[str]) -> list[tuple[str, dict[str, Any]]]:
    """The calls that find the named documents and read what has not been told; at last none."""
    made = [call.name for call in seen.calls]
    if beginning(seen) or "read_document" in made or "read_document" not in offered:
        return []
    if named := dict.fromkeys(u.place for u in called(units_of(seen.lines), subject(seen))):
        return [("read_document", _reading(*place, _end(seen, place) + 1)) for place in named]
    if seen.found:
        return [("read_document", _reading(*place, 1)) for place in seen.found[:_DOCUMENTS_AT_ONCE]]
    if "find_documents" in made or "find_documents" not in offered:
        return []
    names = file_names(subject(seen))[:_DOCUMENTS_AT_ONCE]
    return [("find_documents", {"glob": name}) for name in names]


def is_told_whole(seen: View) -> bool:
    """Whether the answer is the beginning of named documents, or a remark on them."""
    return is_about_whole(seen) and bool(beginning(seen) or remark(seen))


def remark(seen: View) -> str:
    """What is said of documents that have nothing to quote, or nothing more; or nothing."""
    is_empty, is_all = _REMARKS[language_of(subject(seen))]
    if seen.empty:
        return " ".join(f"`{document}` {is_empty}" for document in seen.empty)
    is_told = asks_for_more(seen.question) and called(units_of(seen.lines), subject(seen))
    return is_all if is_told else ""


def untold(seen: View) -> list[Unit]:
    """What may be quoted: to who asks for more, what was not quoted before."""
    units = units_of(seen.lines)
    return [u for u in units if u.text not in seen.told] if asks_for_more(seen.question) else units


def _end(seen: View, place: tuple[str, str]) -> int:
    """The last line of the document that is shown without a gap behind what was quoted of it."""
    cited = re.findall(rf"\[{re.escape('/'.join(place))}:(\d+)(?:-(\d+))?\]", seen.told)
    end = max((int(last or first) for first, last in cited), default=0)
    shown = {line.number for line in seen.lines if (line.source, line.path) == place}
    while end + 1 in shown:
        end += 1
    return end


def _reading(source: str, path: str, line: int) -> dict[str, Any]:
    return {"source": source, "path": path, "start_line": line, "line_count": _LINES_AT_ONCE}
