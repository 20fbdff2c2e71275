"""What servers say when a request is too long, and what they say of their models."""

from typing import Any

import pytest

from app.llm.overflow import context_length, context_length_of, overflow_limit


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in"
            " 9000 tokens. Please reduce the length of the messages.",
            8192,
        ),
        (
            '{"error":{"code":400,"message":"the request exceeds the available context size, try'
            ' it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}',
            4096,
        ),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200000),
        ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096),
        (
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            32768,
        ),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed"
            " (1048576).",
            1048576,
        ),
        ("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000", 8193),
        ("Input is too long for requested model.", 0),
        ('{"error":{"message":"Please shorten it","code":"context_length_exceeded"}}', 0),
        (
            "Trying to keep the first 5000 tokens when context overflows. However, the model is"
            " loaded with context length of only 4096 tokens.",
            4096,
        ),
    ],
)
def test_an_overflow_is_recognised_with_its_limit(said: str, limit: int) -> None:
    assert overflow_limit(said) == limit


@pytest.mark.parametrize(
    "said",
    [
        "Incorrect API key provided: sk-1234",
        "Invalid value for 'content': expected a string, got null.",
        "The model `gpt-x` does not exist",
        "messages.3: `tool_call_id` of a tool message has no parent",
        "Rate limit reached for requests per minute",
        "max_tokens must be at least 1",
        "",
    ],
)
def test_other_errors_are_no_overflow(said: str) -> None:
    assert overflow_limit(said) is None


@pytest.mark.parametrize(
    ("model", "length"),
    [
        ({"id": "m", "context_length": 131072, "top_provider": {"context_length": 65536}}, 65536),
        ({"id": "m", "max_model_len": 4096}, 4096),
        ({"id": "m", "context_window": 32768}, 32768),
        ({"id": "m", "meta": {"n_ctx_train": 2048, "n_vocab": 32000}}, 2048),
        ({"id": "m", "meta": {"n_ctx": 1024, "n_ctx_train": 2048}}, 1024),
        ({"id": "m", "context_length": "large"}, 0),
        ({"id": "m"}, 0),
    ],
)
def test_the_context_is_learnt_where_the_server_tells_it(
    model: dict[str, Any], length: int
) -> None:
    other = {"id": "other", "context_length": 7}
    assert context_length({"data": [other, model]}, "m") == length


def test_an_only_model_is_the_one_that_is_asked_whatever_it_is_called() -> None:
    assert context_length({"data": [{"id": "file.gguf", "context_length": 7}]}, "m") == 7
    assert context_length({"data": [{"id": "a", "context_length": 7}, {"id": "b"}]}, "m") == 0


@pytest.mark.parametrize("body", [b"", b"<html>", b"[" * 5_000, b"null", b'{"data": 7}', b"\xff"])
def test_an_answer_of_any_kind_is_taken(body: bytes) -> None:
    assert context_length_of(body, "m") == 0
