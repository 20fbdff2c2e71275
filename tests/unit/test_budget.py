"""A conversation that is too long for the model is shortened from its oldest parts on."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from app.rag.budget import (
    ANSWER_CHARACTERS,
    SHORTENED,
    TOO_LONG,
    characters_within,
    conversation_tokens,
    fit,
    tokens_of,
)
from app.rag.history import CallMade, RoundMade, TurnMade
from app.rag.prompt import LEFT_OUT
from tests.histories import QUESTION, conversations, prompt

RESULT = "acme/a.txt:2: port = 8081\n" * 100
ANSWER = "The port is 8081. " * 100


def looked_up(*results: str) -> RoundMade:
    calls = [
        CallMade(str(n), "search_documents", "{}", None, r, "", False)
        for n, r in enumerate(results)
    ]
    return RoundMade("Let me look.", tuple(calls))


def results_of(turn: TurnMade) -> list[str]:
    return [call.result for made in turn.rounds for call in made.calls]


EARLIER = TurnMade(prompt(QUESTION), (looked_up(RESULT, "none"), RoundMade(ANSWER)))
RUNNING = TurnMade(prompt(QUESTION), (looked_up(RESULT), looked_up(RESULT)))
TURNS = (EARLIER, EARLIER, RUNNING)


def test_a_conversation_that_fits_stays_as_it_is() -> None:
    assert fit(TURNS, conversation_tokens(TURNS)) == TURNS


def test_the_oldest_results_go_first_and_short_ones_stay() -> None:
    first, *others = fit(TURNS, conversation_tokens(TURNS) - 1)
    assert results_of(first) == [SHORTENED, "none"]
    assert first.prompt == EARLIER.prompt
    assert others[-1] == RUNNING


def test_then_passages_of_earlier_turns_then_their_answers() -> None:
    without_results = sum(tokens_of(RESULT) - tokens_of(SHORTENED) for _ in range(3))
    room = conversation_tokens(TURNS) - without_results - 1
    first, _, running = fit(TURNS, room)
    assert LEFT_OUT in first.prompt
    assert first.prompt.endswith(f"Question: {QUESTION}")
    assert results_of(running) == [SHORTENED, RESULT]
    first, _, running = fit(TURNS, conversation_tokens(TURNS) * 4 // 10)
    assert len(first.rounds[-1].text) < ANSWER_CHARACTERS + 100
    assert results_of(running)[-1] == RESULT
    assert running.prompt == RUNNING.prompt


def test_what_the_running_turn_was_given_goes_last() -> None:
    running = fit(TURNS, 1)[-1]
    assert results_of(running) == [SHORTENED, TOO_LONG]
    assert LEFT_OUT in running.prompt


def test_a_conversation_that_grows_keeps_its_beginning_for_many_rounds() -> None:
    room = conversation_tokens(TURNS) + 200
    beginnings: list[TurnMade] = []
    for rounds in range(3, 15):
        running = replace(RUNNING, rounds=tuple(looked_up(RESULT[:600]) for _ in range(rounds)))
        grown = fit((EARLIER, EARLIER, running), room)
        assert conversation_tokens(grown) <= room
        beginnings.append(grown[0])
    assert len(set(beginnings)) <= 3


@settings(max_examples=50, deadline=None)
@given(conversations, st.integers(1, 4_000))
def test_no_question_and_no_call_is_ever_lost(turns: tuple[TurnMade, ...], room: int) -> None:
    shortened = fit(turns, room)
    for before, after in zip(turns, shortened, strict=True):
        assert after.prompt.rpartition("Question: ")[2] == before.prompt.rpartition("Question: ")[2]
        assert len(results_of(after)) == len(results_of(before))
        assert len(after.rounds) == len(before.rounds)
    assert conversation_tokens(shortened) <= conversation_tokens(turns)


def test_tokens_are_counted_by_bytes() -> None:
    assert tokens_of("port = 8081") == 4
    assert tokens_of("北京") == 2
    assert tokens_of("\ud800") == 1


def test_a_small_context_leaves_less_to_passages_and_results() -> None:
    assert characters_within(32_768, 24_000) == 24_000
    assert characters_within(4_096, 24_000) == 3_584
