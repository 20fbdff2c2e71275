"""Chat over HTTP: events, conversations, and turns that outlive their readers."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import delete

from app.db.engine import create_engine, create_sessions
from app.errors import ModelError
from app.llm.messages import LlmRequest, Reply, TextDelta, UserMessage, Waiting
from app.models import Event
from app.settings import Settings
from tests.chatting import Chat, Events, answer_of, chatting, kinds
from tests.factories import put
from tests.fakes import Script, ScriptedModel, call, calling, saying

SETUP = "# Setup\nport = 8081\nlast line"
QUESTION = "Which `port` is in the setup?"
CITED = "It says “port = 8081” [acme/guide/setup.md:2]."
SEARCHING = calling(call("search_documents", pattern="pOrT"), text="Let me look.")


async def test_a_search_streams_its_pattern_as_the_argument(settings: Settings) -> None:
    async with chatting(settings, ScriptedModel(SEARCHING, saying(CITED))) as chat:
        await put(chat.client, "acme", "guide/setup.md", SETUP)
        events = await chat.ask(QUESTION)
    assert kinds(events) == [
        *("turn", "delta", "tool", "tool_result", "delta", "delta", "citations", "done"),
    ]
    assert events[0]["grounded"] is True
    assert events[0]["sources"][0]["path"] == "guide/setup.md"
    tool = {key: events[2][key] for key in ("type", "id", "name", "argument")}
    assert tool == {"type": "tool", "id": "c1", "name": "search_documents", "argument": "pOrT"}
    assert events[3]["summary"] == "1 match"
    assert events[-1]["finish"] == "answered"
    assert [event["event_id"] for event in events] == [str(n) for n in range(1, 9)]


async def test_a_deflected_turn_sends_no_tools(settings: Settings) -> None:
    async with chatting(settings, ScriptedModel(saying("Not covered."))) as chat:
        await put(chat.client, "acme", "guide/setup.md", SETUP)
        events = await chat.ask("Who won the cup in Bern?")
    assert events[0]["grounded"] is False
    assert "words" in events[0]["reason"]
    assert events[-1] == {**events[-1], "type": "done", "finish": "deflected"}
    assert chat.model.requests[0].tools == ()


async def test_a_conversation_is_restored_as_it_streamed(settings: Settings) -> None:
    model = ScriptedModel(SEARCHING, saying(CITED))
    async with chatting(settings, model) as chat:
        await put(chat.client, "acme", "guide/setup.md", SETUP)
        events = await chat.ask(QUESTION)
        shown = await chat.conversation(events)
    (turn,) = shown["turns"]
    assert shown["title"] == QUESTION
    assert turn["message"] == QUESTION
    assert turn["state"] == "answered"
    assert [made["text"] for made in turn["rounds"]] == ["Let me look.", CITED]
    assert turn["rounds"][0]["calls"] == [
        {
            "id": "c1",
            "name": "search_documents",
            "argument": "pOrT",
            "summary": "1 match",
            "failed": False,
        }
    ]
    assert turn["citations"] == events[-2]["citations"]
    assert turn["citations"][0]["state"] == "quoted"


async def test_the_next_question_knows_the_turns_before(settings: Settings) -> None:
    model = ScriptedModel(SEARCHING, saying(CITED))
    async with chatting(settings, model) as chat:
        await put(chat.client, "acme", "guide/setup.md", SETUP)
        events = await chat.ask(QUESTION)
        await chat.ask("And what is its last line?", conversation_id=events[0]["conversation_id"])
    first, last = model.requests[1].messages, model.requests[2].messages
    assert last[: len(first)] == first
    assert isinstance(last[-1], UserMessage)
    assert last[-1].text.endswith("Question: And what is its last line?")


async def test_html_is_what_is_restored(settings: Settings) -> None:
    text = "# Ports\n\n- one **bold**\n- two\n\n```sh\nls <b>\n```\n"
    async with chatting(settings, ScriptedModel(saying(text))) as chat:
        await put(chat.client, "acme", "guide/setup.md", SETUP)
        events = await chat.ask(QUESTION, render="html")
        restored = (await chat.conversation(events))["turns"][0]["rounds"][0]["blocks"]
        replayed = await chat.replay(events[0]["turn_id"], render="html")
    assert "delta" not in kinds(events)
    for stream in (events, replayed):
        blocks = {e["index"]: e["html"] for e in stream if e["type"] == "block"}
        assert list(blocks.values()) == restored
    assert "&lt;b&gt;" in restored[-1]


class TestRunningTurns:
    async def test_a_second_question_is_refused_while_one_runs(self, settings: Settings) -> None:
        go_on = asyncio.Event()
        model = ScriptedModel([TextDelta("Wait"), go_on, Reply("Wait")])
        async with chatting(settings, model) as chat:
            first = chat.start("Hello there!")
            conversation = await chat.running_turn()
            body = {"message": "And now?", "conversation_id": conversation["id"]}
            refused = await chat.client.post("/api/chat", json=body)
            go_on.set()
            events = await first
            assert conversation["running"] is True
        assert refused.status_code == 409
        assert refused.json()["error"] == "turn_running"
        assert kinds(events)[-1] == "done"

    async def test_a_question_sent_twice_is_one_turn(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel(saying("Hello!"))) as chat:
            both = await asyncio.gather(*(chat.ask("Hello there!", key="k1") for _ in range(2)))
            again = await chat.ask("Hello there!", key="k1")
            listed = (await chat.client.get("/api/conversations")).json()["conversations"]
        assert len(chat.model.requests) == 1
        assert len(listed) == 1
        assert both[0] == both[1] == again

    async def test_of_questions_asked_at_once_in_one_conversation_one_runs(
        self, settings: Settings
    ) -> None:
        go_on = asyncio.Event()
        model = ScriptedModel(saying("Hello!"), [go_on, *saying("Well.")])
        async with chatting(settings, model) as chat:
            begun = await chat.ask("Hello there!")
            body = {"message": "Hello again!", "conversation_id": begun[0]["conversation_id"]}
            bodies = [body | {"key": f"k{number % 4}"} for number in range(8)]
            asked = [asyncio.create_task(chat.client.post("/api/chat", json=b)) for b in bodies]
            while sum(task.done() for task in asked) < 6:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            go_on.set()
            answers = await asyncio.gather(*asked)
            shown = await chat.conversation(begun)
        answered = [answer.text for answer in answers if answer.status_code == 200]
        assert [answer.status_code for answer in answers].count(409) == 6
        assert answered[0] == answered[1]
        assert len(shown["turns"]) == len(model.requests) == 2

    async def test_stop_keeps_what_was_said_and_closes_the_model(self, settings: Settings) -> None:
        model = ScriptedModel([TextDelta("Half an "), asyncio.Event()], saying("Whole."))
        async with chatting(settings, model) as chat:
            asked = chat.start("Hello there!")
            turn = (await chat.running_turn())["turns"][0]
            stopped = await chat.client.post(f"/api/turns/{turn['id']}/stop")
            events = await asyncio.wait_for(asked, 5)
            shown = await chat.conversation(events)
            assert model.closed == 1
            await chat.ask("Hello again!", conversation_id=shown["id"])
        assert stopped.status_code == 204
        assert events[-1]["finish"] == "stopped"
        assert shown["turns"][0]["state"] == "stopped"
        assert shown["turns"][0]["rounds"][0]["text"] == "Half an "

    async def test_a_reader_may_leave_and_come_back(self, settings: Settings) -> None:
        go_on = asyncio.Event()
        model = ScriptedModel([TextDelta("One "), go_on, TextDelta("two."), Reply("One two.")])
        async with chatting(settings, model) as chat:
            asked = chat.start("Hello there!")
            turn = (await chat.running_turn())["turns"][0]
            asked.cancel()
            follower = asyncio.create_task(chat.replay(turn["id"], after="2"))
            await asyncio.sleep(0.05)
            go_on.set()
            rest = await asyncio.wait_for(follower, 5)
        assert kinds(rest) == ["delta", "done"]
        assert answer_of(rest) == "two."

    async def test_an_ended_turn_is_replayed_from_its_rounds(self, settings: Settings) -> None:
        model = ScriptedModel(SEARCHING, saying(CITED))
        async with chatting(settings, model) as chat:
            await put(chat.client, "acme", "guide/setup.md", SETUP)
            events = await chat.ask(QUESTION)
        async with chatting(settings, ScriptedModel()) as chat:
            await _forget_events(settings)
            replayed = await chat.replay(events[0]["turn_id"])
            last = await chat.replay(events[0]["turn_id"], after="99")
        assert answer_of(replayed) == answer_of(events)
        assert [e for e in kinds(replayed) if e != "delta"] == [
            e for e in kinds(events) if e != "delta"
        ]
        assert kinds(last) == ["done"]

    async def test_a_deleted_conversation_ends_its_stream(self, settings: Settings) -> None:
        model = ScriptedModel([TextDelta("One "), asyncio.Event()])
        async with chatting(settings, model) as chat:
            asked = chat.start("Hello there!")
            conversation = await chat.running_turn()
            await chat.client.delete(f"/api/conversations/{conversation['id']}")
            events = await asyncio.wait_for(asked, 10)
            listed = (await chat.client.get("/api/conversations")).json()["conversations"]
        assert kinds(events)[-1] == "error"
        assert listed == []

    async def test_closing_the_server_keeps_the_partial_answer(self, settings: Settings) -> None:
        model = ScriptedModel([TextDelta("Half an "), asyncio.Event()])
        async with chatting(settings, model) as chat:
            asked = chat.start("Hello there!")
            conversation = await chat.running_turn()
        events = await asyncio.wait_for(asked, 5)
        assert events[-1]["code"] == "interrupted"
        async with chatting(settings, ScriptedModel(saying("Whole."))) as chat:
            shown = await chat.client.get(f"/api/conversations/{conversation['id']}")
            await chat.ask("Hello again!", conversation_id=conversation["id"])
        assert shown.json()["turns"][0]["state"] == "interrupted"
        assert shown.json()["turns"][0]["rounds"][0]["text"] == "Half an "


class TestFailures:
    async def test_an_error_keeps_what_was_said(self, settings: Settings) -> None:
        model = ScriptedModel([TextDelta("Half an "), ModelError("Overloaded.")])
        async with chatting(settings, model) as chat:
            events = await chat.ask("Hello there!")
            turn = (await chat.conversation(events))["turns"][0]
        assert kinds(events) == ["turn", "delta", "error"]
        assert events[-1]["message"] == "Overloaded."
        assert turn["state"] == "error"
        assert turn["error"] == {"error": "model_error", "detail": "Overloaded."}
        assert turn["rounds"][0]["text"] == "Half an "

    async def test_a_defect_is_an_error_event_without_details(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel([RuntimeError("secret")])) as chat:
            events = await chat.ask("Hello there!")
        assert kinds(events) == ["turn", "error"]
        assert "secret" not in events[-1]["message"]

    async def test_waiting_for_the_model_is_a_status(self, settings: Settings) -> None:
        script: Script = [Waiting("Busy; trying again in 2 s."), *saying("Hello!")]
        async with chatting(settings, ScriptedModel(script)) as chat:
            events = await chat.ask("Hello there!")
        assert kinds(events) == ["turn", "status", "delta", "delta", "done"]

    @pytest.mark.parametrize(
        "body",
        [
            *(b"", b"null", b"[]", b'"x"', b"{", b'{"message":NaN}', b'{"message":Infinity}'),
            *(b'{"message":1e999}', b'{"message":["\\ud800"]}', b'{"message":""}'),
            *(b'{"message":"  \\n "}', b'\xef\xbb\xbf{"message":1}', b'{"message":"\xe9"}'),
            *(b"[" * 5_000, b'{"message":{"a":"' + b"x" * 100_000 + b'"}}'),
            b'{"message":"x","conversation_id":"abc"}',
            b'{"message":"x","render":"pdf"}',
        ],
        ids=lambda body: body[:24].decode("latin-1"),
    )
    async def test_a_malformed_question_is_refused_shortly(
        self, settings: Settings, body: bytes
    ) -> None:
        async with chatting(settings, ScriptedModel()) as chat:
            headers = {"content-type": "application/json"}
            refused = await chat.client.post("/api/chat", content=body, headers=headers)
        assert 400 <= refused.status_code < 500
        assert set(refused.json()) == {"error", "detail"}
        assert len(refused.content) < 500
        assert chat.model.requests == []

    async def test_a_form_or_a_huge_body_is_no_question(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel()) as chat:
            form = await chat.client.post("/api/chat", files={"message": b"x"})
            huge = await chat.client.post("/api/chat", json={"message": "x" * 2_000_000})
        assert form.status_code == 422
        assert huge.status_code == 413
        assert huge.json()["error"] == "too_large"

    async def test_what_cannot_be_stored_is_replaced(self, settings: Settings) -> None:
        answer: Script = [TextDelta("a\ufffdb"), Reply("a\ufffdb")]
        async with chatting(settings, ScriptedModel(answer)) as chat:
            body = b'{"message":"hello \\u0000 \\ud83d\\ude00 \\ud83d"}'
            headers = {"content-type": "application/json"}
            asked = await chat.client.post("/api/chat", content=body, headers=headers)
            listed = (await chat.client.get("/api/conversations")).json()["conversations"]
        assert asked.status_code == 200
        assert listed[0]["title"] == "hello \ufffd 😀 \ufffd"


class TestConversations:
    async def test_they_are_listed_renamed_and_removed(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel()) as chat:
            address = f"/api/conversations/{(await chat.ask('Hello!'))[0]['conversation_id']}"
            renamed = await chat.client.patch(address, json={"title": "Greetings"})
            listed = (await chat.client.get("/api/conversations")).json()["conversations"]
            removed = await chat.client.delete(address)
            gone = await chat.client.get(address)
        assert renamed.json()["title"] == "Greetings"
        assert [c["title"] for c in listed] == ["Greetings"]
        assert removed.status_code == 204
        assert gone.status_code == 404

    async def test_they_belong_to_whoever_began_them(self, settings: Settings) -> None:
        settings = Settings.model_validate(
            {"database_url": settings.database_url, "editor_tokens": "one", "guest_tokens": "two"}
        )
        async with chatting(settings, ScriptedModel(), token="one") as chat:
            begun = (await chat.ask("Hello!"))[0]
            other = {"authorization": "Bearer two"}
            listed = await chat.client.get("/api/conversations", headers=other)
            for address in (
                f"/api/conversations/{begun['conversation_id']}",
                f"/api/turns/{begun['turn_id']}/events",
            ):
                assert (await chat.client.get(address, headers=other)).status_code == 404
            asked = await chat.client.post(
                "/api/chat",
                json={"message": "Hi", "conversation_id": begun["conversation_id"]},
                headers=other,
            )
            unknown = await chat.client.get(
                "/api/conversations", headers={"authorization": "Bearer three"}
            )
        assert listed.json() == {"conversations": []}
        assert asked.status_code == 404
        assert unknown.status_code == 401

    async def test_an_edited_question_replaces_the_turn(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel(saying("Hello!"))) as chat:
            first = (await chat.ask("Hello!"))[0]
            fields = {
                "conversation_id": first["conversation_id"],
                "replaces_turn": first["turn_id"],
            }
            events = await chat.ask("Good morning!", **fields)
            shown = await chat.conversation(events)
        assert [turn["message"] for turn in shown["turns"]] == ["Good morning!"]
        assert "Hello!" not in str(chat.model.requests[1].messages)

    async def test_search_anyway_grounds_a_turn(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel(saying("Nothing."))) as chat:
            await put(chat.client, "acme", "guide/setup.md", SETUP)
            events = await chat.ask("Who won the cup in Bern?", search_anyway=True)
        assert events[0]["grounded"] is True
        assert chat.model.requests[0].tools

    async def test_sources_narrow_a_turn(self, settings: Settings) -> None:
        def list_then_say(request: LlmRequest) -> Script:
            return calling(call("list_documents")) if request.tools else saying("Done.")

        async with chatting(settings, ScriptedModel(list_then_say, saying("Done."))) as chat:
            await put(chat.client, "acme", "guide/setup.md", SETUP)
            await put(chat.client, "other", "guide/setup.md", SETUP)
            events = await chat.ask(QUESTION, sources=["other"])
        assert {passage["source"] for passage in events[0]["sources"]} == {"other"}
        assert "source: acme" not in str(chat.model.requests[1].messages)

    async def test_a_turn_says_what_it_was_narrowed_to(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel(saying("No."), saying("No."))) as chat:
            await put(chat.client, "acme", "guide/setup.md", SETUP)
            events = await chat.ask("Who won the cup in Bern?", sources=["acme"])
            shown = await chat.conversation(events)
            everywhere = await chat.ask("Who won the cup in Bern?")
        assert (events[0]["grounded"], events[0]["scope"]) == (False, ["acme"])
        assert shown["turns"][0]["scope"] == ["acme"]
        assert everywhere[0]["scope"] is None


async def _forget_events(settings: Settings) -> None:
    engine = create_engine(settings.database_url, 2)
    async with create_sessions(engine).begin() as session:
        await session.execute(delete(Event))
    await engine.dispose()


async def citation_in(chat: Chat, events: Events) -> dict[str, Any]:
    return (await chat.conversation(events))["turns"][0]["citations"][0]


class TestCitations:
    async def ask(self, chat: Chat) -> Events:
        await put(chat.client, "acme", "guide/setup.md", SETUP)
        return await chat.ask(QUESTION)

    async def test_they_follow_a_document_that_was_renamed(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel(saying(CITED))) as chat:
            events = await self.ask(chat)
            assert (await citation_in(chat, events))["now_path"] is None
            await chat.client.post(
                "/api/documents/acme/guide/setup.md/move", json={"source": "acme", "path": "new.md"}
            )
            citation = await citation_in(chat, events)
        assert (citation["now_source"], citation["now_path"]) == ("acme", "new.md")
        assert citation["since"] is None

    async def test_they_say_when_the_document_has_changed(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel(saying(CITED))) as chat:
            events = await self.ask(chat)
            await put(chat.client, "acme", "guide/setup.md", "port = 9999")
            citation = await citation_in(chat, events)
        assert (citation["since"], citation["text"]) == ("changed", "port = 8081")

    async def test_they_keep_their_text_when_the_document_is_gone(self, settings: Settings) -> None:
        async with chatting(settings, ScriptedModel(saying(CITED))) as chat:
            events = await self.ask(chat)
            await chat.client.delete("/api/documents/acme/guide/setup.md")
            citation = await citation_in(chat, events)
        assert (citation["since"], citation["text"]) == ("deleted", "port = 8081")
