"""Documents that a question calls by their file names, and how they begin."""

import re
from collections.abc import Sequence

from app.llm.terms import QUESTION_CHARACTERS
from app.llm.units import Unit

MOST_BEGINNINGS = 4
# Words that a sentence has at least.
_SENTENCE = 7
_EXTENSION = re.compile(r"[^\W_]\.[A-Za-z][A-Za-z0-9]{0,7}$")
_OUTER = " \t\n.,;:!?()[]{}<>*\"'“”„«»「」`¿¡"


def beginnings(units: Sequence[Unit], question: str) -> list[Unit]:
    """The first sentences of the documents whose whole file names stand in the question.

    Where there are none, the first words that are no heading.
    """
    named = [u for u in called(units, question) if not u.is_heading and re.search(r"\w", u.text)]
    sentences = [u for u in named if len(u.text.split()) >= _SENTENCE]
    return (sentences or named)[:MOST_BEGINNINGS]


def called(units: Sequence[Unit], question: str) -> list[Unit]:
    """The units of the documents whose whole file names stand in the question."""
    asked = question[:QUESTION_CHARACTERS].casefold()
    names = {name for name in {unit.path.rpartition("/")[2] for unit in units} if _in(asked, name)}
    return [unit for unit in units if unit.path.rpartition("/")[2] in names]


def file_names(question: str) -> list[str]:
    """What looks like a file name in the question, without the folders before it."""
    tokens = (token.strip(_OUTER) for token in question[:QUESTION_CHARACTERS].split())
    names = (token.rpartition("/")[2] for token in tokens)
    return [name for name in dict.fromkeys(names) if len(name) > 4 and _EXTENSION.search(name)]


def _in(asked: str, name: str) -> bool:
    """Whether a file name stands there by itself; without an extension it may be any word."""
    whole = rf"(?<![\w.-]){re.escape(name.casefold())}(?![\w/-]|\.\w)"
    return bool(_EXTENSION.search(name)) and re.search(whole, asked) is not None
