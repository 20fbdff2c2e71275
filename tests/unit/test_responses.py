"""What an exception of the HTTP client means is told in words, even where it has none itself."""

import httpx
import pytest

from app.llm.responses import broken


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (httpx.ReadError(""), "The connection to the model's server broke."),
        (httpx.ReadError("reset"), "The connection to the model's server broke: reset"),
        (
            httpx.ConnectError("[Errno -2] Name or service not known"),
            "The model's server cannot be reached: Name or service not known",
        ),
        (
            httpx.ConnectError("All connection attempts failed"),
            "The model's server cannot be reached.",
        ),
        (httpx.ConnectTimeout(""), "The model's server cannot be reached."),
        (httpx.ReadTimeout(""), "The model was silent for 7 s."),
    ],
)
def test_a_failure_is_a_sentence(error: httpx.HTTPError, sentence: str) -> None:
    assert broken(error, 7).detail == sentence
