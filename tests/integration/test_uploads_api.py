"""Uploads over HTTP: forms, limits, refusals, and many at once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx import AsyncClient

from app.settings import Settings
from tests.factories import address, put

MIB = 1024 * 1024
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"max_document_bytes": 2 * MIB, "max_request_bytes": 5 * MIB, "max_json_bytes": MIB}
    )


async def post(client: AsyncClient, *files: tuple[str, bytes]) -> list[dict[str, Any]]:
    answer = await client.post(
        "/api/documents",
        data={"source": "acme"},
        files=[("files", (name, body)) for name, body in files],
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


async def endless() -> AsyncIterator[bytes]:
    """More than any limit, without a length."""
    for _ in range(1_000):
        yield b"x" * (64 * 1024)
        await asyncio.sleep(0)
    pytest.fail("the whole body was taken in")


async def test_a_form_stores_each_file_and_refuses_the_bad_ones_by_name(
    client: AsyncClient,
) -> None:
    results = await post(
        client,
        ("d/a.txt", b"alpha"),
        ("picture.txt", PNG),
        ("nul.txt", b"alpha\0beta\n"),
        ("../up.txt", b"x"),
        ("big.txt", b"x" * (2 * MIB + 1)),
        ("plan.pdf", b"%PDF-1.7"),
        ("z.txt", b"zeta"),
    )
    assert [(row["path"], row["outcome"], row.get("error")) for row in results] == [
        ("d/a.txt", "created", None),
        ("picture.txt", "refused", "binary_content"),
        ("nul.txt", "created", None),
        ("../up.txt", "refused", "bad_path"),
        ("big.txt", "refused", "too_large"),
        ("plan.pdf", "refused", "unsupported_format"),
        ("z.txt", "created", None),
    ]
    assert "picture.txt" in results[1]["detail"]
    assert results[2]["notices"]


async def test_the_source_may_stand_in_the_address(client: AsyncClient) -> None:
    answer = await client.post("/api/documents?source=acme", files={"files": ("a.txt", b"a")})
    assert answer.json()["results"][0]["source"] == "acme"


@pytest.mark.parametrize(
    ("fields", "status"), [({}, 422), ({"source": "a b"}, 400), ({"source": ""}, 400)]
)
async def test_a_form_without_a_proper_source_is_refused(
    client: AsyncClient, fields: dict[str, str], status: int
) -> None:
    answer = await client.post("/api/documents", data=fields, files={"files": ("a.txt", b"a")})
    assert answer.status_code == status


async def test_a_form_may_be_larger_than_other_requests_and_a_document(
    client: AsyncClient,
) -> None:
    results = await post(client, *((f"{n}.txt", b"line\n" * 300_000) for n in range(3)))
    assert [row["outcome"] for row in results] == ["created"] * 3


@pytest.mark.parametrize("method", ["PUT", "POST"])
async def test_a_body_without_a_length_is_cut_off_at_the_limit(
    client: AsyncClient, method: str
) -> None:
    url = address("acme", "a.txt") if method == "PUT" else "/api/documents?source=acme"
    kind = {"Content-Type": "multipart/form-data; boundary=XX"}

    async def body() -> AsyncIterator[bytes]:
        if method == "POST":
            yield b'--XX\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n'
        async for chunk in endless():
            yield chunk

    answer = await client.request(method, url, content=body(), headers=kind)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
    assert (await client.get("/api/documents")).json()["total"] == 0


async def test_an_announced_length_over_the_limit_is_refused_before_the_body(
    client: AsyncClient,
) -> None:
    async def untouched() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    answer = await client.put(
        address("acme", "a.txt"), content=untouched(), headers={"Content-Length": "99999999"}
    )
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")


async def test_the_largest_document_is_taken(client: AsyncClient) -> None:
    stored = await put(client, "acme", "a.txt", b"x" * (2 * MIB))
    assert stored["bytes"] == 2 * MIB


async def test_a_move_is_held_to_the_limit_of_other_requests(client: AsyncClient) -> None:
    await put(client, "acme", "a.txt", "a")
    destination = {"source": "acme", "path": "x" * 2 * MIB}
    answer = await client.post(f"{address('acme', 'a.txt')}/move", json=destination)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("body", "kind", "status", "error"),
    [
        (PNG, "text/plain", 415, "binary_content"),
        (b"\xff\xfe\x00", "text/plain", 415, "undecodable_text"),
        (b"hello", "application/pdf", 415, "unsupported_format"),
        (b"\xed\xa0\xbd", "text/plain", 201, None),
        (b"a\0b", "text/plain", 201, None),
        (b"", "text/plain", 201, None),
    ],
)
async def test_what_is_no_text_is_refused_by_name(
    client: AsyncClient, body: bytes, kind: str, status: int, error: str | None
) -> None:
    answer = await client.put(
        address("acme", "d/a.txt"), content=body, headers={"Content-Type": kind}
    )
    assert (answer.status_code, answer.json().get("error")) == (status, error)
    assert error is None or "d/a.txt" in answer.json()["detail"]


async def test_many_uploads_of_one_name_leave_one_document(client: AsyncClient) -> None:
    url = address("acme", "a.txt")
    answers = await asyncio.gather(
        *(client.put(url, content=f"version {n}\n" * 500) for n in range(10))
    )
    assert sorted(answer.status_code for answer in answers) == [200] * 9 + [201]
    assert sorted(answer.json()["version"] for answer in answers) == list(range(1, 11))
    last = max(answers, key=lambda answer: answer.json()["version"]).json()
    assert (await client.get("/api/documents")).json()["total"] == 1
    assert (await client.get(url)).json()["text_sha256"] == last["text_sha256"]


async def test_readers_never_see_a_mixture(client: AsyncClient) -> None:
    url = address("acme", "a.txt")
    texts = [f"{letter * 40}\n" * 2_000 for letter in "ab"]
    await put(client, "acme", "a.txt", texts[0])

    async def write() -> None:
        for number in range(6):
            await put(client, "acme", "a.txt", texts[(number + 1) % 2] + "\n" * number)

    writing = asyncio.create_task(write())
    while not writing.done():
        answer = await client.get(url, params={"lines": "1-2000"})
        assert len(set(answer.json()["content"].split("\n"))) == 1
    await writing


@pytest.mark.parametrize("chunk", [b"x", b"\xe6"])
async def test_an_upload_byte_by_byte(client: AsyncClient, chunk: bytes) -> None:
    async def drops() -> AsyncIterator[bytes]:
        for byte in chunk + b"\xbc\xa2" if chunk == b"\xe6" else chunk * 3:
            yield bytes([byte])

    answer = await client.put(address("acme", "a.txt"), content=drops())
    assert answer.json()["characters"] == (1 if chunk == b"\xe6" else 3)
