"""Streams as servers really send them, cut at every byte."""

import pytest

from app.errors import ModelError
from app.llm.deltas import StreamReader
from app.llm.messages import Reply, TextDelta, ToolCall
from tests.e2e.mock_wire import DONE, called, chunk, event, finished
from tests.streams import read, text_of

SETUP = '{"source":"acme","path":"guide/setup.md"}'
NOTES = '{"source":"acme","path":"notes/a.txt"}'


RECORDED = b"".join(
    [
        b"\xef\xbb\xbf: comment\r\n\r\n",
        chunk({"role": "assistant", "content": ""}),
        'data: {"choices":[{"delta":{"content":"naïve 北京 🌍 \u2028b\x85c✅ "}}]}\r\r'.encode(),
        b'event: message\r\ndata: {\r\ndata: "choices":[{"delta":{"content":"<thi"}}]}\r\n\r\n',
        chunk({"content": "nk>secret</think>`<think>`"}),
        chunk({"tool_calls": [called(0, id="a1", name="read_document", arguments=SETUP[:9])]}),
        chunk({"tool_calls": [called(0, arguments=SETUP[9:])]}),
        finished("tool_calls"),
        event({"choices": [], "usage": {"total_tokens": 5}}),
        DONE,
    ]
)


def test_a_stream_reads_the_same_wherever_the_network_cuts_it() -> None:
    whole = read(RECORDED)
    assert whole[0] == whole[1].text == "naïve 北京 🌍 \u2028b\x85c✅ `<think>`"
    assert whole[1].calls == (ToolCall("a1", "read_document", SETUP),)
    assert all(read(RECORDED[:at], RECORDED[at:]) == whole for at in range(len(RECORDED)))
    assert read(*(bytes([byte]) for byte in RECORDED)) == whole


def test_chunks_that_say_nothing_are_passed_over() -> None:
    nothing = [
        event({"id": "c1", "choices": [], "usage": {"total_tokens": 5}}),
        event({"id": "c1"}),
        event({"choices": [{"index": 0, "delta": None, "finish_reason": None}]}),
        event({"choices": [{"index": 0, "finish_reason": None}]}),
        event(None),
        event({"choices": None}),
        b": ping\n\n",
        b"data:\n\n",
    ]
    stream = [*nothing, chunk({"content": "a"}), *nothing, chunk({"content": "b"}), *nothing]
    assert read(*stream, finished(), *nothing, DONE)[1].text == "ab"


def test_text_that_looks_like_a_tool_call_streams_as_text() -> None:
    for text in ('{"name":"Alice","age":30}', '<tool_call>\n{"name":"x"}\n</tool_call>'):
        reader = StreamReader()
        assert reader.feed(chunk({"content": text})) == [TextDelta(text)]


def test_a_whole_json_completion_is_a_reply() -> None:
    message = {
        "role": "assistant",
        "content": "hi",
        "tool_calls": [called(id="a", name="x", arguments="{}")],
    }
    body = event({"choices": [{"message": message, "finish_reason": "stop"}]})
    assert read(body.removeprefix(b"data: ")) == ("hi", Reply("hi", (ToolCall("a", "x", "{}"),)))


def test_content_may_be_a_list_of_parts() -> None:
    parts = [{"type": "thinking", "thinking": "no"}, {"type": "text", "text": "yes"}]
    assert read(chunk({"content": parts}), DONE)[1].text == "yes"


def test_blanks_alone_are_not_let_out_and_blank_lines_never_lead() -> None:
    reader = StreamReader()
    assert reader.feed(chunk({"content": "\n"})) == []
    assert reader.feed(chunk({"content": "\n  code"})) == [TextDelta("  code")]


def test_surrogates_are_joined_or_replaced() -> None:
    assert text_of("\ud83d", "\ude00") == "😀"
    assert text_of("a\ud83d", "b\0", "\ud83d") == "a\ufffdb\ufffd\ufffd"


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_a_reply_cut_by_the_token_limit_says_so(reason: str) -> None:
    assert read(chunk({"content": "a"}, reason), DONE)[1].finish == "length"


@pytest.mark.parametrize(
    ("broken", "sentence", "retryable"),
    [
        (event({"error": {"message": "quota", "code": 429}, "choices": []}), "quota", True),
        (event({"error": {"message": "no", "code": "server_error"}}), "no", True),
        (event({"error": {"message": "no", "type": "invalid_request_error"}}), "no", False),
        (event({"error": "plain string"}), "plain string", False),
        (b"event: error\n" + event({"error": {"type": "overloaded_error"}}), "overloaded", True),
        (b"event: error\ndata: it burns\n\n", "it burns", False),
        (chunk({}, "error"), "error", True),
        (b"data: <html>\n\n", "no JSON: <html>", True),
    ],
)  # fmt: skip
def test_an_error_in_the_stream_is_an_error(broken: bytes, sentence: str, retryable: bool) -> None:
    reader = StreamReader()
    assert reader.feed(chunk({"content": "Half an "})) == [TextDelta("Half an ")]
    with pytest.raises(ModelError, match=sentence) as caught:
        reader.feed(broken + DONE)
    assert caught.value.retryable is retryable


def test_text_that_comes_together_with_an_error_is_let_out_first() -> None:
    reader = StreamReader()
    broken = chunk({"content": "Half an "}) + event({"error": "no"})
    assert reader.feed(broken) == [TextDelta("Half an ")]
    assert reader.done
    with pytest.raises(ModelError, match="no"):
        reader.close()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"error":{"message":"model not loaded"}}', "model not loaded"),
        (b"<html><head><title>x</title></head>Sign in</html>", "page: Sign in$"),
        (b"", "empty reply"),
        (b"  \n", "empty reply"),
        (b"{}", "empty reply"),
        (DONE, "empty reply"),
        (finished("tool_calls") + DONE, "empty reply"),
        (finished("content_filter") + DONE, "content filter"),
        (chunk({"content": ""}), "broke off"),
        (chunk({"content": "北"})[:-12], "broke off"),
        (b"[" * 100_000, "page"),
    ],
)
def test_what_is_no_reply_is_an_error_with_a_sentence(body: bytes, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        read(body)


@pytest.mark.parametrize("endless", [b"data: aaaa", b"{aaa", chunk({"content": "aaaa"})])
def test_a_reply_without_end_is_cut_off(endless: bytes) -> None:
    reader = StreamReader(limit=100)
    with pytest.raises(ModelError, match="too long"):
        _ = [reader.feed(endless) for _ in range(100)]
