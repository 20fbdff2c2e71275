"""The agent's loop and its tools, with a model that follows a script."""

import pytest

from app.db.engine import Sessions
from app.llm.messages import (
    AssistantMessage,
    LlmRequest,
    Reply,
    TextDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from app.rag.agent import (
    AGENT_TOOLS,
    ALREADY_IN_CONTEXT,
    MISSING_READ_ARGS,
    UNKNOWN_TOOL,
    Agent,
    AgentHolder,
    Finished,
    Step,
    Task,
    _execute_tool,  # pyright: ignore[reportPrivateUsage]
    run,
)
from app.rag.context import Context, Range
from app.rag.decision import Decision
from app.rag.history import CallMade, RoundMade
from app.rag.prompt import closing_message
from app.rag.refusals import FAILED_TOOL, MISSING_PATTERN, PATH_WITHOUT_SOURCE, REPEATED
from app.settings import Settings
from tests.fakes import ScriptedModel, call, calling, saying
from tests.stored import store_texts

SETUP = "# Setup\nPort = 8081\nlast line"
QUESTION = "Which `Port` is in the setup?"
BUDGET = 24_000


@pytest.fixture
async def stored(sessions: Sessions) -> Sessions:
    await store_texts(sessions, {"guide/setup.md": SETUP, "notes/a.txt": "alpha\nbeta\n"})
    return sessions


def make_agent(sessions: Sessions, model: ScriptedModel | None = None, **given: object) -> Agent:
    return Agent(Settings.model_validate(given), sessions, model or ScriptedModel())


def make_holder() -> AgentHolder:
    return AgentHolder(None, Context())


async def result_of(sessions: Sessions, holder: AgentHolder, tool_call: ToolCall) -> str:
    return (await _execute_tool(make_agent(sessions), holder, tool_call, BUDGET)).result


async def search(sessions: Sessions, **arguments: object) -> str:
    return await result_of(sessions, make_holder(), call("search_documents", **arguments))


async def steps_of(agent: Agent, message: str = QUESTION) -> list[Step]:
    return [step async for step in run(agent, Task(message))]


async def steps_anyway(agent: Agent) -> list[Step]:
    return [step async for step in run(agent, Task(QUESTION, search_anyway=True))]


class TestSearchDocuments:
    async def test_case_does_not_matter(self, stored: Sessions) -> None:
        assert await search(stored, pattern="pORT = 80") == "acme/guide/setup.md:2: Port = 8081"

    async def test_lines_count_from_one(self, stored: Sessions) -> None:
        assert "acme/notes/a.txt:1: alpha" in await search(stored, pattern="alpha")

    async def test_twenty_matches_are_shown_and_the_rest_is_counted(
        self, sessions: Sessions
    ) -> None:
        await store_texts(sessions, {"b.txt": "hit\n" * 19, "a.txt": "hit\n" * 4})
        *shown, more = (await search(sessions, pattern="hit")).split("\n")
        assert len(shown) == 20
        assert shown[0] == "acme/a.txt:1: hit"
        assert shown[-1] == "acme/b.txt:16: hit"
        assert "3 more" in more

    async def test_exactly_twenty_matches_leave_nothing_out(self, sessions: Sessions) -> None:
        await store_texts(sessions, {"a.txt": "hit\n" * 20})
        found = await search(sessions, pattern="hit")
        assert found.split("\n") == [f"acme/a.txt:{n}: hit" for n in range(1, 21)]

    @pytest.mark.parametrize("length", [199, 200])
    async def test_a_line_of_up_to_200_characters_is_whole(
        self, sessions: Sessions, length: int
    ) -> None:
        line = "hit".ljust(length, "x")
        await store_texts(sessions, {"a.txt": line})
        assert await search(sessions, pattern="hit") == f"acme/a.txt:1: {line}"

    async def test_a_longer_line_is_cut_at_200_characters(self, sessions: Sessions) -> None:
        await store_texts(sessions, {"a.txt": "hit".ljust(201, "x")})
        shown = await search(sessions, pattern="hit")
        assert shown == f"acme/a.txt:1: {'hit'.ljust(200, 'x')}…"

    async def test_a_late_match_is_shown_in_a_window_around_it(self, sessions: Sessions) -> None:
        await store_texts(sessions, {"a.txt": "a" * 5_000 + "NEEDLE" + "b" * 5_000})
        shown = (await search(sessions, pattern="needle")).removeprefix("acme/a.txt:1: ")
        assert shown.startswith("…")
        assert shown.endswith("…")
        assert len(shown.strip("…")) == 200
        assert "aNEEDLEb" in shown

    async def test_a_source_and_a_document_narrow_the_search(self, stored: Sessions) -> None:
        await store_texts(stored, {"c.txt": "alpha too"}, source="other")
        assert await search(stored, pattern="alpha", source="other") == "other/c.txt:1: alpha too"
        one = await search(stored, pattern="a", source="acme", path="notes/a.txt")
        assert one == "acme/notes/a.txt:1: alpha\nacme/notes/a.txt:2: beta"

    async def test_no_match_says_how_much_was_searched(self, stored: Sessions) -> None:
        said = await search(stored, pattern="gamma")
        assert "\n" not in said
        assert "2 documents" in said

    async def test_missing_arguments_are_refused(self, stored: Sessions) -> None:
        assert await search(stored) == MISSING_PATTERN
        assert await search(stored, pattern="") == MISSING_PATTERN
        assert await search(stored, pattern="x", path="notes/a.txt") == PATH_WITHOUT_SOURCE

    async def test_an_unknown_document_is_named(self, stored: Sessions) -> None:
        said = await search(stored, pattern="x", source="acme", path="notes/b.txt")
        assert "acme/notes/b.txt" in said
        assert "acme/notes/a.txt" in said

    async def test_wildcards_are_ordinary_characters(self, sessions: Sessions) -> None:
        await store_texts(sessions, {"a.txt": "rate 100%\nrate 1000\nsnake_case\nsnakeXcase\n"})
        assert await search(sessions, pattern="100%") == "acme/a.txt:1: rate 100%"
        assert await search(sessions, pattern="e_c") == "acme/a.txt:3: snake_case"


class TestHolder:
    async def test_only_calls_of_known_tools_count(self, stored: Sessions) -> None:
        holder = make_holder()
        await result_of(stored, holder, call("search_documents", pattern="alpha"))
        await result_of(stored, holder, call("list_documents"))
        assert await result_of(stored, holder, call("delete_everything")) == UNKNOWN_TOOL
        assert holder.tool_calls == 2

    async def test_a_search_leaves_the_answer_context_alone(self, stored: Sessions) -> None:
        holder = make_holder()
        await result_of(stored, holder, call("search_documents", pattern="alpha"))
        assert holder.read_docs == []

    async def test_reading_adds_to_the_answer_context_in_order(self, stored: Sessions) -> None:
        holder = make_holder()
        for path in ("notes/a.txt", "guide/setup.md"):
            await result_of(stored, holder, call("read_document", source="acme", path=path))
        assert holder.read_docs == [
            Range("acme", "notes/a.txt", 1, 2),
            Range("acme", "guide/setup.md", 1, 3),
        ]

    async def test_what_was_read_is_not_given_twice(self, stored: Sessions) -> None:
        holder = make_holder()
        read = call("read_document", source="acme", path="notes/a.txt")
        first = await result_of(stored, holder, read)
        assert "1: alpha" in first
        assert await result_of(stored, holder, read) == ALREADY_IN_CONTEXT
        assert len(holder.read_docs) == 1

    async def test_reading_wants_source_and_path(self, stored: Sessions) -> None:
        for arguments in ({}, {"source": "acme"}, {"path": "notes/a.txt"}):
            said = await result_of(stored, make_holder(), call("read_document", **arguments))
            assert said == MISSING_READ_ARGS

    async def test_the_same_search_again_is_told_so(self, stored: Sessions) -> None:
        holder = make_holder()
        again = call("search_documents", pattern="zzz")
        await result_of(stored, holder, again)
        assert await result_of(stored, holder, again) == REPEATED

    async def test_malformed_arguments_never_run_emptied(self, stored: Sessions) -> None:
        broken = ToolCall("c1", "list_documents", '{"source": "x",}')
        made = await _execute_tool(make_agent(stored), make_holder(), broken, BUDGET)
        assert made.failed
        assert "acme" not in made.result

    async def test_a_tool_that_breaks_is_a_sentence(self) -> None:
        def broken() -> None:
            raise RuntimeError("no database")

        agent = Agent(Settings.model_validate({}), broken, ScriptedModel())  # pyright: ignore[reportArgumentType]
        made = await _execute_tool(agent, make_holder(), call("list_documents"), BUDGET)
        assert made.result == FAILED_TOOL
        assert made.failed


class TestLoop:
    async def test_a_grounded_question_gets_passages_and_tools(self, stored: Sessions) -> None:
        model = ScriptedModel(saying("Port 8081."))
        steps = await steps_of(make_agent(stored, model))
        assert list(model.requests[0].tools) == AGENT_TOOLS
        prompt = model.requests[0].messages[-1]
        assert isinstance(prompt, UserMessage)
        assert '<passage source="acme" path="guide/setup.md" lines="1-3">' in prompt.text
        assert prompt.text.endswith(f"Question: {QUESTION}")
        assert steps[-2:] == [RoundMade("Port 8081."), Finished("answered")]

    async def test_results_go_back_behind_the_calls_in_their_order(self, stored: Sessions) -> None:
        calls = (call("search_documents", "b2", pattern="beta"), call("list_documents", "a1"))
        model = ScriptedModel(calling(*calls, text="Let me look."), saying("Done."))
        await steps_of(make_agent(stored, model))
        assistant, *results = model.requests[1].messages[-3:]
        assert assistant == AssistantMessage("Let me look.", calls)
        assert [r.call_id for r in results if isinstance(r, ToolMessage)] == ["b2", "a1"]

    async def test_a_question_that_nothing_covers_gets_no_tools(self, stored: Sessions) -> None:
        model = ScriptedModel(saying("Not covered."))
        steps = await steps_of(make_agent(stored, model), "Who won the cup in Bern?")
        assert model.requests[0].tools == ()
        assert steps[-1] == Finished("deflected")
        prompt = model.requests[0].messages[-1]
        assert isinstance(prompt, UserMessage)
        assert "- acme" in prompt.text

    async def test_a_greeting_is_answered_without_a_refusal(self, stored: Sessions) -> None:
        model = ScriptedModel(saying("Hello!"))
        decision, *_, finished = await steps_of(make_agent(stored, model), "Hello there!")
        assert isinstance(decision, Decision)
        assert decision.finding.reason == "smalltalk"
        assert model.requests[0].messages[-1] == UserMessage("Hello there!")
        assert finished == Finished("answered")

    async def test_rounds_are_bounded_and_end_in_words(self, stored: Sessions) -> None:
        model = ScriptedModel(
            calling(call("search_documents", pattern="a")),
            calling(call("search_documents", pattern="b")),
            saying("That is all."),
        )
        steps = await steps_of(make_agent(stored, model, agent_max_rounds=2))
        assert [bool(request.tools) for request in model.requests] == [True, True, False]
        *_, looked_up, closing = model.requests[2].messages
        assert isinstance(looked_up, AssistantMessage)
        assert looked_up.calls == ()
        assert '[Called search_documents {"pattern": "a"}]' in looked_up.text
        assert closing == UserMessage(closing_message())
        assert steps[-1] == Finished("answered")

    async def test_a_model_that_never_speaks_still_gets_closing_words(
        self, stored: Sessions
    ) -> None:
        model = ScriptedModel(calling(call("search_documents", pattern="zzz")))
        steps = await steps_of(make_agent(stored, model, agent_max_rounds=3))
        assert len(model.requests) == 4
        last = steps[-2]
        assert isinstance(last, RoundMade)
        assert last.text
        assert last.calls == ()

    async def test_zero_rounds_switch_all_tools_off(self, stored: Sessions) -> None:
        model = ScriptedModel(saying("Port 8081."))
        await steps_of(make_agent(stored, model, agent_max_rounds=0))
        assert [request.tools for request in model.requests] == [()]

    async def test_a_deflected_request_is_the_one_of_the_kill_switch(
        self, stored: Sessions
    ) -> None:
        asked: list[LlmRequest] = []
        for rounds in (0, 12):
            model = ScriptedModel(saying("Not covered."))
            agent = make_agent(stored, model, agent_max_rounds=rounds)
            await steps_of(agent, "Who won the cup in Bern?")
            asked.append(model.requests[0])
        assert asked[0] == asked[1]

    async def test_ids_that_a_model_repeats_are_told_apart(self, stored: Sessions) -> None:
        model = ScriptedModel(
            calling(call("list_documents", "x"), call("search_documents", "x", pattern="a")),
            calling(call("search_documents", "x", pattern="b")),
            saying("Done."),
        )
        steps = await steps_of(make_agent(stored, model))
        ids = [step.id for step in steps if isinstance(step, CallMade)]
        assert len(set(ids)) == 3

    async def test_an_unknown_tool_does_not_stop_its_sibling(self, stored: Sessions) -> None:
        calls = (call("search_files", "a", pattern="x"), call("list_documents", "b"))
        model = ScriptedModel(calling(*calls), saying("Done."))
        steps = await steps_of(make_agent(stored, model))
        results = {step.id: step.result for step in steps if isinstance(step, CallMade)}
        assert results["a"] == UNKNOWN_TOOL
        assert "guide/setup.md" in results["b"]

    async def test_the_results_of_one_reply_share_a_budget(self, sessions: Sessions) -> None:
        await store_texts(sessions, {f"{n}.txt": f"port {n}\n" * 2_000 for n in range(4)})
        calls = [call("read_document", str(n), source="acme", path=f"{n}.txt") for n in range(4)]
        model = ScriptedModel(calling(*calls), saying("Done."))
        steps = await steps_anyway(make_agent(sessions, model, tool_result_characters=4_000))
        made = [step.result for step in steps if isinstance(step, CallMade)]
        assert len(made) == 4
        assert all("start_line=" in result for result in made)
        assert sum(map(len, made)) <= 4_000

    async def test_requests_of_one_conversation_share_their_beginning(
        self, stored: Sessions
    ) -> None:
        model = ScriptedModel(calling(call("list_documents")), saying("Done."))
        await steps_of(make_agent(stored, model))
        first, second = (request.messages for request in model.requests)
        assert second[: len(first)] == first

    async def test_text_of_the_model_passes_through(self, stored: Sessions) -> None:
        model = ScriptedModel([TextDelta("Po"), TextDelta("rt."), Reply("Port.", (), "length")])
        steps = await steps_of(make_agent(stored, model))
        assert [s.text for s in steps if isinstance(s, TextDelta)] == ["Po", "rt."]
        assert steps[-1] == Finished("length")
