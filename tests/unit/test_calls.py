"""Tool calls as servers really stream them."""

import pytest

from app.errors import ModelError
from app.llm.messages import ToolCall
from tests.e2e.mock_wire import DONE, called, chunk, finished
from tests.streams import calls_of, read

SETUP = '{"source":"acme","path":"guide/setup.md"}'
NOTES = '{"source":"acme","path":"notes/a.txt"}'


@pytest.mark.parametrize("index", [None, 0], ids=["no index", "always index 0"])
def test_another_id_is_another_call(index: int | None) -> None:
    first = called(index, id="a1", name="read_document", arguments=SETUP)
    second = called(index, id="b2", name="read_document", arguments=NOTES[:5])
    rest = called(index, arguments=NOTES[5:])
    expected = (ToolCall("a1", "read_document", SETUP), ToolCall("b2", "read_document", NOTES))
    assert calls_of([first, second], [rest]) == expected
    assert calls_of([first], [second], [rest]) == expected


def test_pieces_without_id_and_index_continue_the_open_call() -> None:
    pieces = [
        called(name="list_documents", arguments="{"),
        called(arguments='"a"'),
        called(arguments=":1}"),
    ]
    assert calls_of(*[[piece] for piece in pieces]) == (
        ToolCall("call_1", "list_documents", '{"a":1}'),
    )


def test_interleaved_calls_are_told_apart_by_index() -> None:
    calls = calls_of(
        [called(0, id="a", name="x", arguments="{"), called(1, id="b", name="y", arguments="[")],
        [called(1, arguments="]")],
        [called(0, arguments="}")],
    )
    assert calls == (ToolCall("a", "x", "{}"), ToolCall("b", "y", "[]"))


def test_complete_calls_without_ids_are_two_calls_even_at_one_index() -> None:
    first, second = called(0, name="x", arguments="{}"), called(0, name="x", arguments='{"a":1}')
    assert [call.id for call in calls_of([first, second])] == ["call_1", "call_2"]


def test_an_id_given_twice_is_made_unique() -> None:
    first, second = (
        called(0, id="a", name="x", arguments="{}"),
        called(1, id="a", name="y", arguments="{}"),
    )
    assert [(call.id, call.name) for call in calls_of([first, second])] == [
        ("a", "x"),
        ("a_2", "y"),
    ]


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (["", "list_documents"], "list_documents"),
        ([None, "list_documents"], "list_documents"),
        (["read_document"] * 3, "read_document"),
        (["read_", "document"], "read_document"),
        (["read_", "read_document"], "read_document"),
        ([None], ""),
    ],
)
def test_a_name_comes_late_again_in_pieces_or_never(names: list[str | None], name: str) -> None:
    entries = [called(0, id="a1", name=names[0], arguments="{}")]
    entries += [called(0, name=piece, arguments="") for piece in names[1:]]
    assert calls_of(*[[entry] for entry in entries]) == (ToolCall("a1", name, "{}"),)


def test_an_id_may_come_after_the_first_piece() -> None:
    assert calls_of([called(0, name="x", arguments="{")], [called(0, id="a", arguments="}")]) == (
        ToolCall("a", "x", "{}"),
    )


@pytest.mark.parametrize("arguments", [{"a": 1}, None], ids=["object", "null"])
def test_arguments_need_not_be_text(arguments: object) -> None:
    (call,) = calls_of([called(0, id="a", name="x", arguments=arguments)])
    assert call.arguments == ("" if arguments is None else '{"a": 1}')


@pytest.mark.parametrize("finish", ["stop", "end_turn", None])
def test_calls_count_whatever_the_finish_reason_says(finish: str | None) -> None:
    assert calls_of([called(0, id="a", name="x", arguments="{}")], finish=finish)


def test_text_before_and_after_a_call_is_kept() -> None:
    call = called(0, id="a", name="x", arguments="{}")
    chunks = [{"content": "Let me "}, {"tool_calls": [call]}, {"content": "look."}]
    _, reply = read(*map(chunk, chunks), finished("tool_calls"), DONE)
    assert (reply.text, len(reply.calls)) == ("Let me look.", 1)


def test_more_calls_than_a_reply_can_mean_are_refused() -> None:
    entries = [called(0, id=f"a{n}", name="x", arguments="{}") for n in range(1_001)]
    with pytest.raises(ModelError, match="too many"):
        calls_of(entries)


def test_an_empty_entry_is_no_call() -> None:
    assert (
        read(chunk({"content": "hi", "tool_calls": [{}, None, {"index": 0}]}), DONE)[1].calls == ()
    )
