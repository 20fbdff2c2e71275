"""The client of an OpenAI-compatible embeddings endpoint, against every answer that is not one."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from app.errors import EmbeddingError, RefusedText
from app.rag.embeddings import Endpoint
from app.settings import Settings

Answer = httpx.Response | Exception
OK = [3.0, 4.0]


def rows(*vectors: object) -> httpx.Response:
    data = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    return httpx.Response(200, text=json.dumps({"data": data}))


class Server:
    """Answers with the given answers in turn, the last one for ever."""

    def __init__(self, *answers: Answer | Callable[[list[str]], httpx.Response]) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.headers = httpx.Headers()
        self.slept: list[float] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(json.loads(request.content))
        self.headers = request.headers
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(self.asked[-1]["input"]) if callable(answer) else answer

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def embed(self, *texts: str, dimension: int | None = None) -> list[list[float]]:
        settings = Settings.model_validate(
            {
                "embeddings_base_url": "http://embed.test/v1/",
                "embeddings_model": "m",
                "embeddings_api_key": "secret",
            }
        )
        async with httpx.AsyncClient(transport=httpx.MockTransport(self.handle)) as http:
            return await Endpoint(settings, http, dimension, sleep=self.sleep).embed(texts)


async def test_vectors_come_in_the_order_of_the_texts_and_of_length_one() -> None:
    shuffled = {"data": [{"index": 1, "embedding": [0, 5]}, {"index": 0, "embedding": OK}]}
    server = Server(httpx.Response(200, json=shuffled))
    assert await server.embed("a", "b") == [[0.6, 0.8], [0.0, 1.0]]
    assert server.asked == [{"model": "m", "input": ["a", "b"], "encoding_format": "float"}]
    assert server.headers["authorization"] == "Bearer secret"


async def test_many_texts_are_sent_in_batches() -> None:
    server = Server(lambda texts: rows(*([OK] * len(texts))))
    assert len(await server.embed(*map(str, range(70)))) == 70
    assert [len(asked["input"]) for asked in server.asked] == [32, 32, 6]


@pytest.mark.parametrize(
    "failure", [httpx.ConnectError("down"), httpx.ReadTimeout(""), httpx.Response(503)]
)
async def test_a_failure_that_may_pass_is_tried_again(failure: Answer) -> None:
    server = Server(failure, failure, rows(OK))
    assert await server.embed("a") == [[0.6, 0.8]]
    assert server.slept == [0.5, 1.0]


async def test_a_busy_endpoint_says_how_long_to_wait() -> None:
    server = Server(httpx.Response(429, headers={"retry-after": "7"}), rows(OK))
    await server.embed("a")
    assert server.slept == [7.0]


async def test_a_failure_that_stays_is_an_error_with_its_reason() -> None:
    server = Server(httpx.ConnectError("nobody is there"))
    with pytest.raises(EmbeddingError, match="does not answer: nobody is there"):
        await server.embed("a")
    assert len(server.asked) == 4


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_what_will_not_change_is_not_tried_again(status: int) -> None:
    server = Server(httpx.Response(status, json={"error": {"message": "no such model"}}))
    with pytest.raises(EmbeddingError, match=f"{status}.*: no such model"):
        await server.embed("a")
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refused_text_is_told_apart(status: int) -> None:
    with pytest.raises(RefusedText):
        await Server(httpx.Response(status)).embed("a")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, text="[" * 100_000),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"data": None}),
        rows(),
        rows(OK, OK, OK),
        rows(OK, [1.0]),
        rows(OK, []),
        rows(OK, None),
        rows(OK, [0.0, 0.0]),
        rows(OK, [1.0, float("nan")]),
        rows(OK, [1.0, float("inf")]),
        rows(OK, [1.0, "2"]),
        rows(OK, [1.0, None]),
        rows(OK, [10**400, 1]),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": OK}] * 2}),
        httpx.Response(200, json={"data": [{"index": "x", "embedding": OK}] * 2}),
    ],
)
async def test_anything_but_the_right_vectors_is_an_error(answer: httpx.Response) -> None:
    with pytest.raises(EmbeddingError):
        await Server(answer).embed("a", "b")


async def test_another_dimension_than_before_is_an_error() -> None:
    with pytest.raises(EmbeddingError, match="2 numbers a vector instead of 3"):
        await Server(rows(OK)).embed("a", dimension=3)
