"""Who may do what, from where; and what the server says of itself."""

from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from tests.chatting import chatting
from tests.fakes import ScriptedModel


def as_token(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.fixture
def guarded(settings: Settings) -> Settings:
    given = {"editor_tokens": "ed-1, ed-2", "guest_tokens": "guest", "allowed_hosts": "docs.test"}
    return Settings.model_validate({"database_url": settings.database_url, **given})


async def test_a_guest_reads_and_chats_but_does_not_write(guarded: Settings) -> None:
    async with chatting(guarded, ScriptedModel(), token="guest") as chat:
        put = await chat.client.put("/api/documents/acme/a.txt", content=b"alpha")
        listed = await chat.client.get("/api/documents")
        events = await chat.ask("Hello!")
    assert (put.status_code, put.json()["error"]) == (403, "forbidden")
    assert listed.status_code == 200
    assert events[-1]["type"] == "done"


async def test_every_editor_token_may_write(guarded: Settings) -> None:
    async with chatting(guarded, ScriptedModel()) as chat:
        for number, token in enumerate(("ed-1", "ed-2")):
            stored = await chat.client.put(
                f"/api/documents/acme/{number}.txt", content=b"alpha", headers=as_token(token)
            )
            assert stored.status_code == 201


@pytest.mark.parametrize(
    "headers",
    [{}, as_token("wrong"), as_token(""), {"authorization": "Basic ed-1"}, as_token("ed-1, ed-2")],
)
async def test_without_a_known_token_nothing_is_told(
    guarded: Settings, headers: dict[str, str]
) -> None:
    async with chatting(guarded, ScriptedModel()) as chat:
        for address in ("documents", "conversations", "sources", "retrieve?q=a"):
            refused = await chat.client.get(f"/api/{address}", headers=headers)
            assert (refused.status_code, refused.json()["error"]) == (401, "unauthorized")


async def test_the_first_editor_takes_over_what_was_asked_before_there_were_tokens(
    guarded: Settings, settings: Settings
) -> None:
    async with chatting(settings, ScriptedModel()) as chat:
        asked = await chat.ask("Hello!", key="k")
    async with chatting(guarded, ScriptedModel()) as chat:
        seen = {
            token: (await chat.client.get("/api/conversations", headers=as_token(token))).json()
            for token in ("ed-1", "ed-2", "guest")
        }
        address = f"/api/turns/{asked[0]['turn_id']}/events"
        replayed = await chat.client.get(address, headers=as_token("ed-1"))
    assert [len(each["conversations"]) for each in seen.values()] == [1, 0, 0]
    assert replayed.status_code == 200


async def test_the_page_learns_what_it_may_do(guarded: Settings, settings: Settings) -> None:
    async with chatting(guarded, ScriptedModel()) as chat:
        stranger = (await chat.client.get("/api/interface")).json()
        guest = (await chat.client.get("/api/interface", headers=as_token("guest"))).json()
    async with chatting(settings, ScriptedModel()) as chat:
        everyone = (await chat.client.get("/api/interface")).json()
    assert (stranger["needs_token"], stranger["may_write"]) == (True, False)
    assert (guest["needs_token"], guest["may_write"]) == (False, False)
    assert (everyone["needs_token"], everyone["may_write"]) == (False, True)
    assert everyone["brand"] == "Brain"
    assert everyone["offline"] is True


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1.evil.test", "", "[::1", "localhost.evil"])
async def test_a_foreign_host_name_is_refused(client: httpx.AsyncClient, host: str) -> None:
    refused = await client.get("/api/documents", headers={"host": host})
    assert refused.status_code == 403
    assert refused.json()["error"] == "forbidden"


async def test_allowed_host_names_are_served(guarded: Settings) -> None:
    async with chatting(guarded, ScriptedModel(), token="guest") as chat:
        for host in ("docs.test", "docs.test:8443", "localhost:8000", "[::1]:8000", "DOCS.test"):
            answer = await chat.client.get("/api/documents", headers={"host": host})
            assert answer.status_code == 200, host


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "http://127.0.0.1:1", "http://["])
async def test_a_page_of_another_site_changes_nothing(
    client: httpx.AsyncClient, origin: str
) -> None:
    refused = await client.put(
        "/api/documents/acme/a.txt", content=b"alpha", headers={"origin": origin}
    )
    assert refused.status_code == 403
    assert (await client.get("/api/documents")).json()["total"] == 0


async def test_our_own_page_may_write(client: httpx.AsyncClient) -> None:
    headers = {"origin": "http://127.0.0.1"}
    stored = await client.put("/api/documents/acme/a.txt", content=b"alpha", headers=headers)
    assert stored.status_code == 201


async def test_every_answer_carries_the_policy(client: httpx.AsyncClient) -> None:
    for address in ("/", "/api/documents", "/api/nothing", "/assets/app.js", "/api/documents/a/b"):
        headers = (await client.get(address)).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


async def test_unknown_addresses_and_methods_are_json(client: httpx.AsyncClient) -> None:
    missing = await client.get("/api/nothing")
    wrong = await client.put("/api/sources")
    assert (missing.status_code, missing.json()["error"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]) == (405, "method_not_allowed")


async def test_nothing_outside_of_the_page_is_served(client: httpx.AsyncClient) -> None:
    for address in (
        "/../pyproject.toml",
        "/%2e%2e/pyproject.toml",
        "/..%2fapp/main.py",
        "//etc/passwd",
    ):
        answer = await client.get(address)
        assert "[project]" not in answer.text
        assert "create_app" not in answer.text
        assert "root:" not in answer.text


async def test_it_is_alive_ready_and_counted(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    assert (await client.get("/readyz")).json()["status"] == "ready"
    assert "python_info" in (await client.get("/metrics")).text


async def test_the_description_of_the_api_names_the_events(client: httpx.AsyncClient) -> None:
    described = (await client.get("/openapi.json")).json()["components"]["schemas"]
    assert {"ChatToolEvent", "ChatDoneEvent", "ChatErrorEvent", "ChatTurnEvent"} <= set(described)


async def test_a_database_that_is_away_is_not_ready(settings: Settings, tmp_path: Path) -> None:
    from app.main import create_app  # noqa: PLC0415

    app = create_app(settings)
    async with app.router.lifespan_context(app):
        await app.state.sessions.kw["bind"].dispose()
        app.state.sessions.configure(bind=None)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answer = await client.get("/readyz")
    assert (answer.status_code, answer.json()["error"]) == (503, "not_ready")
