"""Questions that only make sense together with one that was asked before."""

import re
from collections.abc import Iterable

from app.documents.words import question_terms
from app.llm.set_phrases import asks_about_collection, asks_for_more, is_whole_question
from app.rag.small_talk import is_small_talk

_PRONOUN = re.compile(
    r"\b(it|its|they|them|their|theirs|this|that|these|those|he|him|his|she|her|hers|there|one|ones"
    r"|former|latter|es|sie|ihn|ihm|ihr|dies\w*|davon|damit|dazu|dort|il|elle|ils|elles|cela|celui"
    r"|ello|ella|ellos|ellas|eso|esto|esso|essa|quello|questo|isso|isto|ele|ela|dat|dit|daar)\b"
)
_CONTINUES = re.compile(
    r"(and|or|but|so|then|also|what about|how about|und|oder|aber|et|ou|mais|y|o|pero|e|ma|en|maar)"
    r"\b"
)


def is_follow_up(message: str, informative_words: int) -> bool:
    """Whether a message only makes sense together with the question before it."""
    plain = message.casefold().lstrip(" ¿¡\"'(")
    if _CONTINUES.match(plain) or _PRONOUN.search(plain):
        return True
    return informative_words < 1 or (informative_words == 1 and not is_whole_question(message))


def with_previous(message: str, previous: str | None) -> str:
    """What to look for: a follow-up leans on the question before it, or stands for it."""
    if not previous:
        return message
    if asks_for_more(message):
        return previous
    if is_follow_up(message, len(question_terms(message))):
        return f"{previous}\n{message}"
    return message


def last_question(messages: Iterable[str]) -> str | None:
    """The latest of the messages that has a subject; None when none has."""
    spoken = list(messages)
    has_none = (is_small_talk, asks_for_more, asks_about_collection)
    return next((m for m in reversed(spoken) if not any(test(m) for test in has_none)), None)
