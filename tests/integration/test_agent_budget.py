"""Turns that are too long for the model: shortened, tried again, and free to read again."""

import pytest

from app.db.engine import Sessions
from app.llm.messages import LlmRequest, Reply, TextDelta
from app.llm.overflow import ContextOverflow
from app.rag.agent import Agent, Step, Task, run
from app.rag.budget import SHORTENED, tokens_of
from app.rag.history import CallMade, RoundMade, TurnMade
from app.rag.prompt import grounded_message
from app.rag.refusals import ALREADY_IN_CONTEXT, REPEATED
from app.settings import Settings
from tests.fakes import Script, ScriptedModel, call, calling, saying
from tests.stored import store_texts

OVERFLOW = ContextOverflow("Too long.")
READ = call("read_document", "r1", source="acme", path="long.txt")
SEARCH = call("search_documents", "s1", pattern="port")
LONG = TurnMade(
    grounded_message("Which port?", []),
    (RoundMade("", (CallMade("old", "search_documents", "{}", None, "x" * 20_000, "", False),)),),
)


@pytest.fixture
async def stored(sessions: Sessions) -> Sessions:
    await store_texts(sessions, {"long.txt": "port = 8081\n" * 300})
    return sessions


async def steps_of(sessions: Sessions, model: ScriptedModel, *history: TurnMade) -> list[Step]:
    agent = Agent(Settings.model_validate({}), sessions, model)
    task = Task("Which `port` is it?", history, search_anyway=True)
    return [step async for step in run(agent, task)]


def texts_of(request: LlmRequest) -> str:
    return "\n".join(getattr(message, "text", "") for message in request.messages)


async def test_what_was_shortened_may_be_read_and_searched_again(stored: Sessions) -> None:
    other = call("read_document", "r2", source="acme", path="long.txt", start_line=100)
    rounds = [calling(READ), calling(SEARCH), calling(other), calling(READ), calling(SEARCH)]
    model = ScriptedModel(*rounds, saying("8081."))
    model.context = 3_000
    made = [step.result for step in await steps_of(stored, model) if isinstance(step, CallMade)]
    assert SHORTENED in texts_of(model.requests[-1])
    assert ALREADY_IN_CONTEXT not in made
    assert REPEATED not in made
    assert all(tokens_of(texts_of(request)) < 3_000 for request in model.requests)


async def test_an_overflow_is_answered_by_shortening_once(stored: Sessions) -> None:
    model = ScriptedModel([OVERFLOW], saying("8081."))
    steps = await steps_of(stored, model, LONG)
    assert "x" * 20_000 in texts_of(model.requests[0])
    assert SHORTENED in texts_of(model.requests[1])
    assert model.requests[1].messages[-1] == model.requests[0].messages[-1]
    assert RoundMade("8081.") in steps


async def test_a_second_overflow_or_one_behind_text_is_told(stored: Sessions) -> None:
    scripts: list[Script] = [[OVERFLOW], [TextDelta("Half"), OVERFLOW]]
    for script in scripts:
        model = ScriptedModel(script)
        with pytest.raises(ContextOverflow):
            await steps_of(stored, model, LONG)
        assert len(model.requests) == 3 - len(script)


async def test_reasoning_stays_with_its_round_in_the_same_turn(stored: Sessions) -> None:
    model = ScriptedModel([Reply("", (SEARCH,), reasoning="plan")], saying("8081."))
    await steps_of(stored, model)
    said = [getattr(message, "reasoning", "") for message in model.requests[1].messages]
    assert "plan" in said
