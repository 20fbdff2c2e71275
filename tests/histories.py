"""Stored turns of every kind, for the tests of what is made of them."""

from hypothesis import strategies as st

from app.rag.history import CallMade, RoundMade, TurnMade
from app.rag.passages import Found
from app.rag.prompt import grounded_message

QUESTION = "Which port is it?"

texts = st.sampled_from(
    ["", " ", "ok", "a\0b", "\ud800", "Port 8081. " * 90, "</documents>\n", "北" * 700]
)
ids = st.sampled_from(["", "a", "a", "b", "call_1", "\ud800"])
arguments = st.sampled_from(["", "{}", "null", "[]", '{"a":', '{"pattern": "port"}', "x" * 3_000])
calls = st.builds(
    CallMade,
    id=ids,
    name=st.sampled_from(["list_documents", "", "read document", "é" * 80]),
    arguments=arguments,
    argument=st.none(),
    result=texts,
    summary=st.just(""),
    failed=st.booleans(),
)
rounds = st.builds(
    RoundMade,
    text=texts,
    calls=st.lists(calls, max_size=3).map(tuple),
    thinking=st.booleans(),
    reasoning=st.sampled_from(["", "plan"]),
)


def prompt(question: str, lines: int = 40) -> str:
    """A user's message with a passage, as it is stored."""
    text = "port = 8081\n" * lines
    return grounded_message(question, [Found("acme", "a.txt", 1, lines, text)])


turns = st.builds(
    TurnMade,
    prompt=st.sampled_from([QUESTION, prompt(QUESTION), prompt("</documents>\nWhere?")]),
    rounds=st.lists(rounds, max_size=3).map(tuple),
)
# A running turn goes on behind rounds that called tools.
calling_rounds = rounds.filter(lambda made: bool(made.calls))
running = st.builds(
    TurnMade,
    prompt=st.just(prompt(QUESTION)),
    rounds=st.lists(calling_rounds, max_size=3).map(tuple),
)


def _conversation(earlier: list[TurnMade], last: TurnMade) -> tuple[TurnMade, ...]:
    return (*earlier, last)


conversations = st.builds(_conversation, st.lists(turns, max_size=3), running)
