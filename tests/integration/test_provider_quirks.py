"""Odd streams of providers, each asked through the whole application.

Beside what a test says, `Quirks.ask` sees to it that the turn has one end, that the stored text is
the streamed one, that every request is a valid history, and that the next question is answered.
"""

import json
from collections.abc import AsyncIterator, Iterator

import pytest

from app.db.migrate import migrate
from tests.e2e.databases import fresh_database
from tests.e2e.mock_llm import RST, MockLLM, Step
from tests.e2e.mock_wire import DONE, Json, called, chunk, event, finished
from tests.quirks import (
    CALLED,
    OK,
    READ_NOTES,
    READ_SETUP,
    Quirks,
    calls,
    one_call,
    quirks,
    said,
)

BOTH_READ = [("read_document", "acme/guide/setup.md"), ("read_document", "acme/notes/a.txt")]


@pytest.fixture(scope="module")
def mock() -> Iterator[MockLLM]:
    with MockLLM() as mock:
        yield mock


@pytest.fixture(scope="module")
async def chat(database_url: str, mock: MockLLM) -> AsyncIterator[Quirks]:
    with fresh_database(database_url) as url:
        migrate(url)
        async with quirks(url, mock, llm_retries=2, agent_max_rounds=3) as chat:
            yield chat


def read(call_id: str | None, arguments: str, index: int | None = None) -> Json:
    given = {"id": call_id} if call_id else {}
    return called(index, name="read_document", arguments=arguments, **given)


@pytest.mark.parametrize(
    "stream",
    [
        (calls(read("a1", READ_SETUP), read("b2", READ_NOTES)),),
        (calls(read("a1", READ_SETUP)), calls(read("b2", READ_NOTES))),
        (calls(read("a1", READ_SETUP, 0)), calls(read("b2", READ_NOTES, 0))),
        (
            calls(read("a1", READ_SETUP, 0)),
            calls(read("b2", READ_NOTES[:20], 0)),
            calls(called(0, arguments=READ_NOTES[20:])),
        ),
        (calls(read("a1", READ_SETUP) | {"index": None}, read("b2", READ_NOTES)),),
    ],
)
async def test_two_calls_are_two_however_they_are_numbered(
    chat: Quirks, stream: tuple[bytes, ...]
) -> None:
    asked = await chat.ask((*stream, *CALLED), OK)
    assert sorted(asked.tools) == BOTH_READ
    told = asked.requests[1]["messages"][-2:]
    assert [message["tool_call_id"] for message in told] == ["a1", "b2"]


async def test_one_call_in_pieces_without_index_and_id_is_one(chat: Quirks) -> None:
    pieces = [calls(read(None, READ_SETUP[:9])), *(calls(called(arguments=READ_SETUP[9:])),)]
    assert (await chat.ask((*pieces, *CALLED), OK)).tools == BOTH_READ[:1]


@pytest.mark.parametrize(
    ("names", "tool"),
    [
        (["", "list_documents"], "list_documents"),
        (["list_documents"] * 3, "list_documents"),
        (["list_", "documents"], "list_documents"),
    ],
)
async def test_a_name_may_come_late_again_or_in_pieces(
    chat: Quirks, names: list[str], tool: str
) -> None:
    pieces = [calls(called(0, id="a1", name=name, arguments="")) for name in names]
    asked = await chat.ask((*pieces, *CALLED), OK)
    assert asked.tools == [(tool, None)]
    assert "guide/setup.md" in asked.results[0]


@pytest.mark.parametrize("name", [None, "search_files", "READ_DOCUMENT", "read document"])
async def test_a_tool_that_there_is_not_is_answered_with_those_that_there_are(
    chat: Quirks, name: str | None
) -> None:
    unknown = called(0, id="a1", name=name, arguments="{}")
    known = called(1, id="b2", name="list_documents", arguments="{}")
    asked = await chat.ask((calls(unknown), calls(known), *CALLED), OK)
    assert "list_documents" in asked.results[0]
    assert "guide/setup.md" in asked.results[1]
    assert asked.text == "ok"


@pytest.mark.parametrize("arguments", ["", "  \n", None, "null", "absent", '"null"', "[]"])
async def test_no_arguments_are_no_arguments(chat: Quirks, arguments: str | None) -> None:
    given = {} if arguments == "absent" else {"arguments": arguments}
    call = called(0, id="a1", name="list_documents", **given)
    asked = await chat.ask((calls(call), *CALLED), OK)
    assert ("guide/setup.md" in asked.results[0]) is (arguments != "[]")
    if arguments != "[]":
        sent = asked.requests[1]["messages"][-2]["tool_calls"][0]
        assert sent["function"]["arguments"] == "{}"


@pytest.mark.parametrize(
    ("arguments", "runs_with"),
    [
        (r'{"pattern":"\d+ports"}', r"\d+ports"),
        ('{"pattern":"tab\there"}', "tab\there"),
        ('{"pattern":"line1\nline2"}', "line1\nline2"),
        (r'{"pattern":"C:\guides\setup.md"}', r"C:\guides\setup.md"),
        ('{"pattern":"x",}', None),
        ("{\"pattern\":'x'}", None),
        ('{"pattern":"po', None),
        ('{"pattern":"port"}{"pattern":"beta"}', None),
    ],
)
async def test_arguments_are_mended_where_they_are_clear_and_never_emptied(
    chat: Quirks, arguments: str, runs_with: str | None
) -> None:
    asked = await chat.ask((one_call("search_documents", arguments), *CALLED), OK)
    assert asked.tools == [("search_documents", runs_with)]
    if runs_with is None:
        assert "JSON" in asked.results[0]
    assert asked.text == "ok"


@pytest.mark.parametrize("reason", ["stop", "end_turn", None])
async def test_calls_count_whatever_the_finish_reason_says(
    chat: Quirks, reason: str | None
) -> None:
    asked = await chat.ask((one_call("list_documents", "{}"), finished(reason), DONE), OK)
    assert asked.tools == [("list_documents", None)]


async def test_a_reply_without_anything_is_tried_once_more_and_then_an_error(chat: Quirks) -> None:
    assert (await chat.ask(CALLED, OK)).text == "ok"
    asked = await chat.ask(CALLED, CALLED)
    assert asked.last["type"] == "error"
    assert "empty reply" in asked.last["message"]


async def test_chunks_that_say_nothing_are_passed_over(chat: Quirks) -> None:
    choice = {"index": 0, "finish_reason": None}
    silent = b"".join(
        [
            event({"id": "c1", "choices": [], "usage": {"total_tokens": 5}}),
            event({"id": "c1"}),
            event({"choices": [{**choice, "delta": None}]}),
            event({"choices": [choice]}),
            event(None),
        ]
    )
    one, two = said("one ", "two")
    stream = (silent, one, silent, two, silent, finished(), silent, DONE)
    assert (await chat.ask(stream)).text == "one two"


async def test_characters_cut_by_the_network_and_odd_line_ends_arrive_whole(chat: Quirks) -> None:
    text = "naïve 北京 🌍 a\u2028b\u0085c✅d\x0be\x0cf"
    value = {"choices": [{"index": 0, "delta": {"content": text}}]}
    raw = b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"
    cuts = sorted(raw.index(part) + at for part, at in ((b"\xe5\x8c\x97", 1), (b"\xf0\x9f", 2)))
    parts = (raw[: cuts[0]], 0.02, raw[cuts[0] : cuts[1]], 0.02, raw[cuts[1] :], finished(), DONE)
    assert (await chat.ask(parts)).text == text


@pytest.mark.parametrize(
    "error",
    [
        event({"error": {"message": "quota exceeded", "code": 400}, "choices": []}),
        event({"error": {"message": "quota exceeded", "code": "bad_things"}}),
        event({"error": "quota exceeded"}),
        b'event: error\ndata: {"type":"error","error":{"message":"quota exceeded"}}\n\n',
    ],
)
async def test_an_error_inside_the_stream_is_one_error_and_keeps_the_text(
    chat: Quirks, error: bytes
) -> None:
    for before in ((), said("Half an ")):
        asked = await chat.ask((*before, error, DONE))
        assert asked.last["type"] == "error"
        assert "quota exceeded" in asked.last["message"]
        assert asked.text == ("Half an " if before else "")
        assert asked.turn["state"] == "error"


@pytest.mark.parametrize(
    "error",
    [
        event({"error": {"message": "busy", "code": 429}}),
        event({"error": {"message": "Overloaded", "type": "overloaded_error"}}),
        chunk({}, "error"),
    ],
)
async def test_a_passing_error_is_tried_again_only_before_text(chat: Quirks, error: bytes) -> None:
    asked = await chat.ask((error, DONE), OK)
    assert (asked.text, asked.last["type"]) == ("ok", "done")
    asked = await chat.ask((*said("Half an "), error), OK)
    assert (asked.text, asked.last["type"]) == ("Half an ", "error")


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ('{"error":{"message":"model not loaded"}}', "application/json", "model not loaded"),
        ("<html><title>x</title>Sign in</html>", "text/html", "Sign in"),
        ("", "text/event-stream", "empty reply"),
        ("data: [DONE]\n\n", "text/event-stream", "empty reply"),
    ],
)
async def test_a_200_that_is_no_reply_is_an_error(
    chat: Quirks, body: str, kind: str, text: str
) -> None:
    chat.mock.reset()
    for _ in range(3):
        chat.mock.script(body.encode(), Content_Type=kind)
    asked = await chat.ask_prepared()
    assert asked.last["type"] == "error"
    assert text in asked.last["message"]


async def test_a_whole_completion_is_a_reply(chat: Quirks) -> None:
    message = {"role": "assistant", "content": "hi"}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    assert (await chat.ask((json.dumps(body).encode(),))).text == "hi"


@pytest.mark.parametrize(
    ("first", "text", "end"),
    [
        (said("The port "), "The port ", "error"),
        ((calls(called(0, id="a1", name="read_document", arguments='{"pa')),), "ok", "done"),
        ((chunk({"role": "assistant", "content": ""}),), "ok", "done"),
        (said(" \n"), "ok", "done"),
    ],
)
async def test_only_what_showed_nothing_is_tried_again(
    chat: Quirks, first: tuple[Step, ...], text: str, end: str
) -> None:
    asked = await chat.ask((*first, 0.02, RST), OK)
    assert (asked.text, asked.last["type"], asked.tools) == (text, end, [])


@pytest.mark.parametrize(
    "pieces",
    [
        ["<tool", '_call>\n{"name":"list_documents","arguments":{}}\n</tool_call>'],
        ['{"name":"list_documents","arguments":{}}'],
        ['{"name":"Alice",', '"age":30}'],
    ],
)
async def test_written_calls_are_text(chat: Quirks, pieces: list[str]) -> None:
    asked = await chat.ask((*said(*pieces), finished(), DONE))
    assert (asked.text, asked.tools) == ("".join(pieces), [])
    assert next(e["text"] for e in asked.events if e["type"] == "delta").startswith(pieces[0])


async def test_thinking_over_rounds_is_not_shown_but_talk_about_it_is(chat: Quirks) -> None:
    first = (*said("<thi", "nk>plan"), one_call("list_documents", "{}"), *CALLED)
    asked = await chat.ask(first, (*said("more</think>The port is 8081"), finished(), DONE))
    assert asked.text == "The port is 8081"
    literal = "Write `<think>` in front."
    assert (await chat.ask((*said(*literal), finished(), DONE))).text == literal
    asked = await chat.ask(*[(*said("<think>only"), finished(), DONE)] * 2)
    assert asked.last["type"] == "error"
    assert "no answer" in asked.last["message"]


async def test_thinking_that_nothing_opened_is_told_apart_from_then_on(chat: Quirks) -> None:
    stream: tuple[Step, ...] = (*said("plan"), 0.05, *said("</think>ok"), finished(), DONE)
    for _ in range(2):
        asked = await chat.ask(stream)
        assert [made["text"] for made in asked.turn["rounds"]] == ["ok"]
        assert asked.text == "ok"


@pytest.mark.parametrize("behind", [False, True])
async def test_text_beside_a_call_stands_before_its_result(chat: Quirks, behind: bool) -> None:
    text, call = said("Let me look. ")[0], one_call("list_documents", "{}")
    first = (call, text) if behind else (text, call)
    asked = await chat.ask((*first, *CALLED), (*said("Found it."), finished(), DONE))
    assistant, result = asked.requests[1]["messages"][-2:]
    assert (assistant["role"], assistant["content"]) == ("assistant", "Let me look. ")
    assert result["tool_call_id"] == assistant["tool_calls"][0]["id"]
    rounds = [(made["text"], len(made["calls"])) for made in asked.turn["rounds"]]
    assert rounds == [("Let me look. ", 1), ("Found it.", 0)]


@pytest.mark.parametrize("same_id", [True, False])
async def test_the_same_call_for_ever_ends_in_words(chat: Quirks, same_id: bool) -> None:
    pattern = '{"pattern":"zzz"}'
    ids = ["a1", "a1", "a1"] if same_id else ["a1", "b2", "c3"]
    rounds = [(one_call("search_documents", pattern, call_id), *CALLED) for call_id in ids]
    asked = await chat.ask(*rounds, (*said("Nothing."), finished(), DONE))
    assert [bool(body.get("tools")) for body in asked.requests] == [True, True, True, False]
    assert str(asked.requests[-1]["messages"]).count("Same result as before") == 2
    assert asked.text == "Nothing."
    ids = [call["id"] for made in asked.turn["rounds"] for call in made["calls"]]
    assert len(set(ids)) == 3


async def test_two_hundred_calls_of_one_reply_share_the_room(chat: Quirks) -> None:
    entries = [
        called(n, id=f"c{n}", name="search_documents", arguments=json.dumps({"pattern": f"{n}"}))
        for n in range(200)
    ]
    asked = await chat.ask((calls(*entries), *CALLED), OK)
    assert len(asked.results) == 200
    assert sum(map(len, asked.results)) < 60_000


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (r'"a\u0000b"', "a\ufffdb"),
        (r'"x\ud800"', "x\ufffd"),
        (
            r'"\ud83d"},"finish_reason":null}]}' + "\n\ndata: "
            r'{"choices":[{"delta":{"content":"\ude00"',
            "😀",
        ),
    ],
)
async def test_what_no_database_holds_is_replaced(chat: Quirks, content: str, text: str) -> None:
    raw = f'data: {{"choices":[{{"delta":{{"content":{content}}}}}]}}\n\n'.encode()
    assert (await chat.ask((raw, finished(), DONE))).text == text


async def test_a_request_that_is_too_long_is_shortened_and_sent_again(chat: Quirks) -> None:
    too_long = b'{"error":{"message":"maximum context length is 32768 tokens"}}'
    chat.mock.reset()
    chat.mock.script(one_call("read_document", READ_SETUP), *CALLED)
    chat.mock.script(one_call("search_documents", '{"pattern":"a"}', "b2"), *CALLED)
    chat.mock.script(too_long, status=400)
    chat.mock.script(*OK)
    asked = await chat.ask_prepared()
    assert asked.text == "ok"
    assert len(asked.requests) == 4
    assert len(json.dumps(asked.requests[3])) < len(json.dumps(asked.requests[2]))
