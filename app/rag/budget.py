"""Fits a conversation into the model's context: what is oldest is shortened first.

The cuts depend on the conversation alone, and more is cut than must be, in steps: so the requests
of many rounds begin with the same text, which servers keep in their caches.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.llm.messages import LlmRequest
from app.rag.history import RoundMade, TurnMade
from app.rag.prompt import without_passages

SHORTENED = "(This result was left out to save room: call the tool again if you need it.)"
TOO_LONG = "(This result is too long for what room is left: ask for less, or for fewer lines.)"
CUT = "… (the rest of this answer was left out to save room)"

# Bytes, not characters: a token is about four letters of English, but hardly one of Chinese, whose
# characters take three bytes. Numbers and code take more tokens than prose; hence not 4.
BYTES_PER_TOKEN = 3.5
# What a message takes besides its text: its role, and the names and ids of calls.
MESSAGE_TOKENS = 12
# The reply's part of the context, and no more than replies can use.
REPLY_PART, LONGEST_REPLY = 4, 4_096
# What passages, and the results of one round, may take of the context.
PART = 4
# One step of shortening is this part of the room.
STEP_PART = 4
ANSWER_CHARACTERS = 400

Cut = tuple[int, TurnMade]


def tokens_of(text: str) -> int:
    """About how many tokens a text is, rather too many than too few."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def characters_within(context: int, wanted: int) -> int:
    """`wanted` characters of passages or results, or as many as a small context has room for."""
    return min(wanted, int(context / PART * BYTES_PER_TOKEN))


def room_in(context: int, fixed: LlmRequest) -> int:
    """The tokens that a context leaves to the conversation, beside a reply and what is `fixed`."""
    told = [str(tool) for tool in fixed.tools]
    told += [getattr(message, "text", "") for message in fixed.messages]
    taken = sum(map(tokens_of, told)) + MESSAGE_TOKENS * len(told)
    return context - min(context // REPLY_PART, LONGEST_REPLY) - taken


def conversation_tokens(turns: Sequence[TurnMade]) -> int:
    return sum(map(_tokens_of_turn, turns))


def fit(turns: Sequence[TurnMade], room: int) -> tuple[TurnMade, ...]:
    """The turns, the running one last, shortened to about `room` tokens if they are longer.

    First the results of tools, then the passages of earlier turns, then their answers, each from
    the oldest on; at last what the running turn was given. The words of a user stay: only these can
    be too long in the end.
    """
    excess = conversation_tokens(turns) - room
    fitted = list(turns)
    if excess <= 0:
        return tuple(fitted)
    step = max(1, room // STEP_PART)
    reserve = math.ceil(excess / step) * step - excess
    for shorten, spare in _PHASES:
        for index, turn in shorten(fitted):
            if excess + reserve * spare <= 0:
                return tuple(fitted)
            excess -= _tokens_of_turn(fitted[index]) - _tokens_of_turn(turn)
            fitted[index] = turn
    return tuple(fitted)


def _tokens_of_turn(turn: TurnMade) -> int:
    return MESSAGE_TOKENS + tokens_of(turn.prompt) + sum(map(_tokens_of_round, turn.rounds))


def _tokens_of_round(made: RoundMade) -> int:
    calls = sum(
        2 * MESSAGE_TOKENS + tokens_of(call.arguments) + tokens_of(call.result)
        for call in made.calls
    )
    return MESSAGE_TOKENS + tokens_of(made.text) + tokens_of(made.reasoning) + calls


def _results(turns: Sequence[TurnMade]) -> Iterator[Cut]:
    """Round by round without results, but for the last one, which the model has not read yet."""
    for index in range(len(turns)):
        is_running = index == len(turns) - 1
        for position in range(len(turns[index].rounds) - is_running):
            # `turns` holds the cuts that were made already.
            shorter = _without_results(turns[index].rounds[position], SHORTENED)
            yield index, _with_round(turns[index], position, shorter)


def _passages(turns: Sequence[TurnMade]) -> Iterator[Cut]:
    for index, turn in enumerate(turns[:-1]):
        yield index, replace(turn, prompt=without_passages(turn.prompt))


def _answers(turns: Sequence[TurnMade]) -> Iterator[Cut]:
    for index, turn in enumerate(turns[:-1]):
        yield index, replace(turn, rounds=tuple(map(_with_short_answer, turn.rounds)))


def _last_results(turns: Sequence[TurnMade]) -> Iterator[Cut]:
    index, turn = len(turns) - 1, turns[-1]
    for position in range(len(turn.rounds))[-1:]:
        yield index, _with_round(turn, position, _without_results(turn.rounds[position], TOO_LONG))


def _last_passages(turns: Sequence[TurnMade]) -> Iterator[Cut]:
    yield len(turns) - 1, replace(turns[-1], prompt=without_passages(turns[-1].prompt))


def _with_round(turn: TurnMade, position: int, made: RoundMade) -> TurnMade:
    rounds = (*turn.rounds[:position], made, *turn.rounds[position + 1 :])
    return replace(turn, rounds=rounds)


def _without_results(made: RoundMade, said: str) -> RoundMade:
    calls = tuple(
        replace(call, result=said) if len(call.result) > len(said) else call for call in made.calls
    )
    return replace(made, calls=calls)


def _with_short_answer(made: RoundMade) -> RoundMade:
    if len(made.text) <= ANSWER_CHARACTERS + len(CUT):
        return made
    return replace(made, text=made.text[:ANSWER_CHARACTERS] + CUT)


# In their order; those that may cut more than must be.
_PHASES = (
    (_results, True),
    (_passages, True),
    (_answers, True),
    (_last_results, False),
    (_last_passages, False),
)
