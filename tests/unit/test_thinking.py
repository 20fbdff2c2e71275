"""Thinking that models leave in their text."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.llm.deltas import StreamReader
from app.llm.failures import EmptyReply
from app.llm.messages import Reply, TextDelta
from tests.e2e.mock_wire import DONE, called, chunk, finished
from tests.streams import read, text_of


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["a", " ", "\n", "`", "```", "<", "think>", "</think>", "é"])))
def test_text_reads_the_same_however_it_is_split_into_deltas(tokens: list[str]) -> None:
    def outcome(pieces: list[str]) -> str | None:
        try:
            sent = [chunk({"content": piece}) for piece in pieces]
            return read(b"".join([*sent, finished(), DONE]))[1].text
        except EmptyReply:
            return None

    assert outcome(tokens) == outcome(["".join(tokens)]) == outcome(list("".join(tokens)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["a", " ", "\n", "`", "<think>", "</think>"])), st.booleans())
def test_the_text_that_is_kept_is_the_text_that_was_shown(tokens: list[str], held: bool) -> None:
    with suppress(EmptyReply):
        text_of(*tokens, thinking=held)


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        (["<think>plan</think>\n\nAnswer"], "Answer"),
        (["<thi", "nk>plan</th", "ink>Answer"], "Answer"),
        (["<thinking>plan</thinking>Answer"], "Answer"),
        (["Hello <think>plan</think>world"], "Hello world"),
        (["Use `<think>` or\n```\n<think>\n</think>\n```\nin code"],) * 2,
        (["Use <think> to think."],) * 2,
        (["a < b, a <t"],) * 2,
    ],
)
def test_thinking_is_taken_out_but_not_talk_about_it(
    contents: list[str], text: str | list[str]
) -> None:
    assert text_of(*contents) == "".join(text)


def test_thinking_may_be_closed_in_a_later_reply() -> None:
    call = {"tool_calls": [called(0, id="a", name="x", arguments="{}")]}
    shown, first = read(chunk({"content": "<think>plan"}), chunk(call), finished(), DONE)
    assert (shown, first.text, first.thinking) == ("", "", True)
    assert text_of("more</think>", "The port", thinking=True) == "The port"
    assert text_of("The port is ", "8081", thinking=True) == "The port is 8081"


def test_a_closing_tag_that_nothing_opened_voids_what_was_not_shown_yet() -> None:
    shown, reply = read(chunk({"content": "plan"}) + chunk({"content": "</think>Answer"}), DONE)
    assert (shown, reply.text) == ("Answer", "Answer")


@pytest.mark.parametrize(
    "contents", [["plan", "</think>Answer"], ["plan", "</think>\n\n", "Answer"]]
)
def test_what_was_shown_before_a_closing_tag_that_nothing_opened_is_taken_back(
    contents: list[str],
) -> None:
    reader = StreamReader()
    pieces = [delta for text in contents for delta in reader.feed(chunk({"content": text}))]
    assert pieces[0] == TextDelta("plan")
    assert pieces[1].restarts
    assert reader.feed(DONE) == []
    assert reader.close() == [Reply("Answer")]
    assert "".join(piece.text for piece in pieces[1:]) == "Answer"


def test_thinking_that_was_shown_and_taken_back_is_no_answer() -> None:
    with pytest.raises(EmptyReply, match="no answer"):
        read(chunk({"content": "plan"}), chunk({"content": "</think>"}), finished(), DONE)


def test_a_call_after_thinking_that_was_shown_has_no_text_before_it() -> None:
    call = {"tool_calls": [called(0, id="a", name="x", arguments="{}")]}
    parts = [chunk({"content": "plan"}), chunk({"content": "</think>\n"}), chunk(call), DONE]
    shown, reply = read(*parts)
    assert (shown, reply.text, len(reply.calls)) == ("", "", 1)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_text_is_no_text(name: str) -> None:
    reply = read(chunk({name: "no "}), chunk({name: "plan", "content": "yes"}), DONE)[1]
    assert (reply.text, reply.reasoning) == ("yes", "no plan")


@pytest.mark.parametrize("content", ["<think>plan", "<think>plan</think>\n"])
def test_a_reply_of_thinking_alone_is_no_answer(content: str) -> None:
    with pytest.raises(EmptyReply, match="no answer"):
        text_of(content)
