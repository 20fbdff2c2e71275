"""What the model is told: the system prompt, and the user's message with what belongs to it."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from app.rag.passages import Found

PROMPTS = Path(__file__).parent / "prompts"
MOST_SOURCES = 20
LEFT_OUT = "(These passages were left out to save room: use the tools.)"
NO_SOURCES = "(there are no documents yet)"


@cache
def _prompt(name: str) -> str:
    return (PROMPTS / f"{name}.md").read_text("utf-8").strip()


def system_prompt() -> str:
    """The same for every turn, so that providers can cache what begins with it."""
    return _prompt("system")


def grounded_message(question: str, passages: Sequence[Found]) -> str:
    """The question behind the passages, which are numbered lines under their place."""
    blocks = [
        f'<passage source="{p.source}" path="{p.path}" lines="{p.first_line}-{p.last_line}">\n'
        f"{p.numbered()}\n</passage>"
        for p in passages
    ]
    return _filled("grounded", passages="\n".join(blocks), question=question)


def without_passages(message: str) -> str:
    """A user's message as `grounded_message` made it, its passages left out."""
    # Every line of a passage is numbered, so that this mark can only be ours.
    before, end, question = message.partition("\n</documents>\n")
    if not (end and before.startswith("<documents>\n")):
        return message
    return f"<documents>\n{LEFT_OUT}{end}{question}"


def deflected_message(question: str, sources: Sequence[str]) -> str:
    """The request to say that the documents do not cover the question, and what they cover."""
    named = "\n".join(f"- {source}" for source in sources[:MOST_SOURCES])
    return _filled("deflected", sources=named or NO_SOURCES, question=question)


def closing_message() -> str:
    """What asks for words when the rounds with tools are used up."""
    return _prompt("closing")


def _filled(name: str, **values: str) -> str:
    # Not str.format: a question or a document may hold braces, a placeholder's name even.
    before, _, rest = _prompt(name).partition("{")
    filled = before
    for part in rest.split("{"):
        placeholder, _, text = part.partition("}")
        filled += values[placeholder] + text
    return filled
