"""What a caller is told when the database is away, or a defect comes up."""

import httpx
from fastapi import FastAPI
from sqlalchemy.exc import OperationalError

from tests.factories import put


async def test_a_database_that_is_away_is_said_to_be(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    @app.get("/api/away")
    async def away() -> None:  # pyright: ignore[reportUnusedFunction]
        raise OperationalError("SELECT secret", {}, Exception("connection refused"))

    _put_first(app)
    answer = await client.get("/api/away")
    assert (answer.status_code, answer.json()["error"]) == (503, "not_ready")
    assert "secret" not in answer.text


async def test_a_defect_is_answered_in_json_and_the_next_request_works(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    @app.get("/api/broken")
    async def broken() -> None:  # pyright: ignore[reportUnusedFunction]
        raise RuntimeError("secret")

    _put_first(app)
    answer = await client.get("/api/broken")
    assert (answer.status_code, answer.json()["error"]) == (500, "internal")
    assert "secret" not in answer.text
    assert "default-src" in answer.headers["content-security-policy"]
    assert (await client.get("/healthz")).status_code == 200


async def test_a_refused_body_closes_its_connection(client: httpx.AsyncClient) -> None:
    refused = await client.post("/api/chat", json={"message": "x" * 2_000_000})
    assert refused.status_code == 413
    assert refused.headers["connection"] == "close"


async def test_a_large_json_document_of_one_line_is_stored(client: httpx.AsyncClient) -> None:
    content = "{" + ",".join(f'"key{n}":"value {n}"' for n in range(50_000)) + "}"
    stored = await put(client, "acme", "large.json", content)
    assert (stored["lines"], stored["characters"]) == (1, len(content))


def _put_first(app: FastAPI) -> None:
    """The page answers every address that nothing else does; a later route comes behind it."""
    app.router.routes.insert(0, app.router.routes.pop())
