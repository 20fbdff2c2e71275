"""The model that is always there: no network, no chance, and not a word that no document says."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from app.llm.languages import PHRASES, language_of, small_talk
from app.llm.messages import LlmRequest, Reply, TextDelta, ToolCall, Waiting
from app.llm.quoting import best_quotes, quotation, ranked
from app.llm.set_phrases import asks_about_collection, source_to_list
from app.llm.terms import Terms, folded, parts, shared_form, terms_of
from app.llm.units import Unit, units_of
from app.llm.view import View, view
from app.llm.whole import beginning, is_about_whole, is_told_whole, next_reading, remark, untold

_SEARCHES_AT_ONCE = 2
_READS_AT_ONCE = 2
_WORTH_A_LOOK = 0.15
_MOST_LISTED = 50
_LINES_BEFORE, _LINES_AT_ONCE = 15, 60

Wanted = tuple[str, dict[str, Any]]


# It reads whatever it is given.
CONTEXT_TOKENS = 1_000_000


class OfflineModel:
    """A `Model` that extracts instead of composing.

    It knows of a turn what any model knows, the messages and the tools: it searches for the telling
    words of the question, reads around the best lines that only a search has shown, then quotes the
    lines that hold most of the question, each with its citation.
    """

    async def stream(
        self, request: LlmRequest
    ) -> AsyncGenerator[TextDelta | Waiting | Reply, None]:
        """Yield the words of the answer one by one, then the reply."""
        seen = view(request)
        terms = terms_of(seen.question, seen.previous)
        wanted = _next_calls(request, seen, terms)
        made_before = sum(len(getattr(message, "calls", ())) for message in request.messages)
        calls = tuple(
            ToolCall(f"call_{made_before + n}", name, json.dumps(arguments, ensure_ascii=False))
            for n, (name, arguments) in enumerate(wanted, 1)
        )
        text = "" if calls else _answer(seen, terms)
        for word in re.findall(r"\S+\s*", text):
            yield TextDelta(word)
            await asyncio.sleep(0)
        yield Reply(text, calls)

    async def context_tokens(self) -> int:
        return CONTEXT_TOKENS


def _next_calls(request: LlmRequest, seen: View, terms: Terms) -> Sequence[Wanted]:
    """The calls to make now: searches, then one round of reading, then none."""
    offered = {str(tool.get("function", {}).get("name")) for tool in request.tools}
    made = [call.name for call in seen.calls]
    if "list_documents" in offered and not made and (listing := _listing_call(seen.question)):
        return [listing]
    if seen.listed or asks_about_collection(seen.question):
        return []
    if is_about_whole(seen) and (reading := next_reading(seen, offered)):
        return reading
    if is_told_whole(seen) or "read_document" in made or not seen.is_about_documents:
        return []
    if "search_documents" in offered and (patterns := _patterns(seen, terms)):
        return [("search_documents", {"pattern": pattern}) for pattern in patterns]
    if "read_document" in offered:
        return [("read_document", arguments) for arguments in _worth_reading(seen, terms)]
    return []


def _listing_call(question: str) -> Wanted | None:
    if asks_about_collection(question):
        return "list_documents", {}
    source = source_to_list(question)
    return ("list_documents", {"source": source}) if source else None


def _patterns(seen: View, terms: Terms) -> list[str]:
    """What to search for: the telling words at first; if they lead nowhere, parts of them."""
    searched = _searched(seen)
    if not searched:
        return list(terms.patterns[:_SEARCHES_AT_ONCE])
    if len(searched) > _SEARCHES_AT_ONCE:
        return []
    shown = [folded(line.text) for line in seen.lines]
    lost = [pattern for pattern in searched if not any(folded(pattern) in text for text in shown)]
    if pieces := [part for pattern in lost for part in parts(pattern) if part not in searched]:
        return list(dict.fromkeys(pieces))[:_SEARCHES_AT_ONCE]
    if ranked(units_of(seen.lines), terms):
        return []
    forms = [shared_form(pattern, terms.language) for pattern in terms.patterns]
    fresh = [part for part in dict.fromkeys(forms) if part not in searched]
    return fresh[:_SEARCHES_AT_ONCE]


def _worth_reading(seen: View, terms: Terms) -> list[dict[str, Any]]:
    """The surroundings of the best lines that only a search has shown, one for each document."""
    wanted: dict[tuple[str, str], dict[str, Any]] = {}
    for scored in ranked(units_of(seen.lines), terms, enough=_WORTH_A_LOOK)[:_READS_AT_ONCE]:
        unit = scored.unit
        if not unit.in_context:
            wanted.setdefault(unit.place, _reading(unit))
    return list(wanted.values())


def _reading(unit: Unit) -> dict[str, Any]:
    return {
        "source": unit.source,
        "path": unit.path,
        "start_line": max(1, unit.first - _LINES_BEFORE),
        "line_count": _LINES_AT_ONCE,
    }


def _answer(seen: View, terms: Terms) -> str:
    phrases = PHRASES[language_of(seen.question)]
    if not seen.is_about_documents:
        return small_talk(seen.question)
    if seen.sources is not None:
        named = ", ".join(seen.sources)
        said = (phrases.not_covered, phrases.by_words, f"{phrases.covered}: {named}.")
        return " ".join(filter(None, said)) if named else phrases.no_documents
    if seen.listed:
        return _listing(seen, phrases.listing)
    if is_told_whole(seen) and not beginning(seen):
        return remark(seen)
    if quotes := (is_told_whole(seen) and beginning(seen)) or best_quotes(untold(seen), terms):
        # Blank lines between them: an odd backtick in one must not reach into the next.
        items = [f"- {quotation(unit, terms)}" for unit in quotes]
        return "\n\n".join([phrases.quoting, *items])
    searched = ", ".join(f"“{pattern}”" for pattern in _searched(seen) or terms.patterns[:3])
    return f"{phrases.nothing} {searched}." if searched else phrases.not_covered


def _listing(seen: View, said: str) -> str:
    left = seen.unlisted + max(len(seen.listed) - _MOST_LISTED, 0)
    items = [*seen.listed[:_MOST_LISTED], *([f"… {left}"] if left else [])]
    return "\n".join([said, "", *(f"- {item}" for item in items)])


def _searched(seen: View) -> list[str]:
    patterns = [json.loads(call.arguments).get("pattern") for call in seen.calls]
    return [pattern for pattern in patterns if isinstance(pattern, str)]
