"""Each of the search tools that Brain stands for, by the behaviours that they promise."""

import asyncio
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient
from pydantic import SecretStr
from typer.testing import CliRunner

from app.cli import cli
from app.db.engine import Sessions
from app.main import create_app
from app.rag.context import Context
from app.rag.tools import ToolResult, ToolScope, run_tool
from app.settings import Settings
from tests.factories import put

RG = Path(sys.executable).with_name("rg")


async def tool(sessions: Sessions, name: str, **arguments: Any) -> ToolResult:
    return await run_tool(sessions, name, arguments, ToolScope(None, Context(), 24_000))


async def search(client: AsyncClient, **parameters: Any) -> dict[str, Any]:
    answer = await client.get("/api/search", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def ingest(database: str, folder: Path, *arguments: str) -> None:
    runner = CliRunner(env={"BOR_DATABASE_URL": database, "BOR_URL": ""})
    command = ["ingest", str(folder), "--source", "docs", *arguments]
    result = await asyncio.to_thread(runner.invoke, cli, command)
    assert result.exit_code == 0, result.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Random text in which many lines match many patterns."""
    chance = random.Random(7)
    words = ["alpha", "Beta", "gamma_1", "delta-2", "é", "foo(bar)", "100%", "x.y", "TODO", "42"]
    for name in ("a.md", "b.txt", "sub/c.md", "sub/deep/d.py", "sub/e e.txt"):
        lines = [" ".join(chance.choices(words, k=chance.randint(0, 8))) for _ in range(300)]
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")
    return tmp_path / "docs"


def ripgrep(folder: Path, *arguments: str) -> Counter[str]:
    """How many lines of each file match, by ripgrep."""
    command = [RG, "--no-config", "-uu", "-i", "--count", "--null", *arguments, "."]
    out = subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout.decode()
    pairs = (line.split("\0") for line in out.splitlines())
    return Counter({path.removeprefix("./"): int(number) for path, number in pairs})


@pytest.mark.parametrize(
    "pattern",
    ["alpha", "BETA", "foo(", "100%", "x.y", "a b", "é", "É", "4", "_1", "gamma_1 delta-2", "nope"],
)
async def test_fixed_strings_are_counted_as_ripgrep_counts_them(
    client: AsyncClient, empty_database: str, folder: Path, pattern: str
) -> None:
    await ingest(empty_database, folder)
    await _compare(client, folder, pattern, "text", "-F")


@pytest.mark.parametrize(
    "pattern",
    [
        "alpha|beta",
        "^todo",
        "42$",
        r"\d\d",
        "[a-c]lpha",
        "foo.*bar",
        r"x\.y",
        "^$",
        "é",
        "(al){1}p",
    ],
)
async def test_expressions_are_counted_as_ripgrep_counts_them(
    client: AsyncClient, empty_database: str, folder: Path, pattern: str
) -> None:
    await ingest(empty_database, folder)
    await _compare(client, folder, pattern, "regex")


async def _compare(client: AsyncClient, folder: Path, pattern: str, mode: str, *flags: str) -> None:
    expected = ripgrep(folder, *flags, "-e", pattern)
    answer = await search(client, q=pattern, mode=mode, limit=1_000, count="exact")
    assert answer["total"] == expected.total()
    assert answer["documents_matched"] == len(expected)
    if answer["total"] <= 1_000:
        assert Counter(hit["path"] for hit in answer["matches"]) == expected


async def test_search_documents_takes_a_pattern_and_narrows(
    client: AsyncClient, sessions: Sessions
) -> None:
    for source in ("acme", "other"):
        await put(client, source, "a.md", "Needle one\n" * 15)
        await put(client, source, "b.md", "needle " + "x" * 300 + "\n")
    everywhere = await tool(sessions, "search_documents", pattern="NEEDLE")
    assert everywhere.text.count("acme/a.md:") == 15
    assert everywhere.text.count("\n") == 20
    assert "… 12 more; in all 32 matching lines in 4 documents" in everywhere.text
    assert everywhere.added is None
    one = await tool(sessions, "search_documents", pattern="needle", source="acme", path="b.md")
    assert one.text == f"acme/b.md:1: needle {'x' * 193}…"


async def test_search_corpus_limits_files_lines_and_sizes(client: AsyncClient) -> None:
    await put(client, "acme", "a.py", "import x\nvalue = 1\nend\n" * 4)
    await put(client, "acme", "b.md", "value = 2\n")
    await put(client, "acme", "big.py", "value = 3\n" * 100)
    answer = await search(
        client, pattern="VALUE", corpus_path="acme", file_glob="*.py", context_lines=1,
        max_results=2, max_file_size=500,
    )  # fmt: skip
    assert (answer["shown"], answer["truncated"]) == (2, True)
    assert (answer["documents_searched"], answer["documents_skipped"]) == (1, 1)
    assert answer["text_view"].splitlines()[:3] == [
        "acme/a.py-1- import x", "acme/a.py:2: value = 1", "acme/a.py-3- end",
    ]  # fmt: skip
    strict = await search(client, pattern="VALUE", case_sensitive="true")
    assert strict["total"] == 0


async def test_search_files_has_three_modes_and_named_errors(client: AsyncClient) -> None:
    await put(client, "acme", "src/a.py", "first\nA = 1\n")
    await put(client, "acme", "src/b.js", "a = 2\n")
    assert (await search(client, q="src/*.py", mode="path"))["matches"][0]["path"] == "src/a.py"
    (hit,) = (await search(client, q="A =", mode="text", case_sensitive="true"))["matches"]
    assert (hit["line"], hit["column"]) == (2, 1)
    found = await search(client, q="^a = [0-9]", mode="regex", exclude="*.js", context=1)
    assert [hit["context_before"] for hit in found["matches"]] == [[{"line": 1, "text": "first"}]]
    for path, error in (("acme/none", "not_found"), ("acme/../..", "bad_path")):
        answer = await client.get("/api/search", params={"q": "x", "path": path})
        assert answer.json()["error"] == error


async def test_code_search_sorts_rows_and_is_open_to_guests(empty_database: str) -> None:
    settings = Settings(
        database_url=empty_database,
        editor_tokens=SecretStr("editor-token"),
        guest_tokens=SecretStr("guest-token"),
    )  # pyright: ignore[reportCallIssue]
    app: FastAPI = create_app(settings)
    transport = ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        client.headers["Authorization"] = "Bearer editor-token"
        for path in ("b.py", "a.py"):
            await put(client, "acme", path, f"{'é' * 600} Def f\n" + "def g\n" * 120)
        client.headers["Authorization"] = "Bearer guest-token"
        answer = await search(client, q="def [fg]", mode="regex")
        refused = await client.put("/api/documents/acme/c.py", content=b"x")
        client.headers["Authorization"] = "Bearer unknown"
        unknown = await client.get("/api/search", params={"q": "x"})
    rows = answer["text_view"].splitlines()
    assert (len(rows), answer["shown"], answer["truncated"]) == (100, 100, True)
    assert rows[0].startswith("acme/a.py:1: …é")
    assert len(answer["matches"][0]["text"]) == 400
    assert rows[1] == "acme/a.py:2: def g"
    assert (refused.json()["error"], unknown.status_code) == ("forbidden", 401)


async def test_glob_and_grep_are_two_small_tools(client: AsyncClient, sessions: Sessions) -> None:
    await put(client, "acme", "src/a.py", "value = 1\n")
    await put(client, "acme", "src/b.md", "value = 2\n")
    found = await tool(sessions, "find_documents", glob="src/*")
    assert found.text == "acme/src/a.py\nacme/src/b.md"
    assert "No documents match" in (await tool(sessions, "find_documents", glob="*.rs")).text
    grep = await tool(sessions, "grep_documents", pattern=r"value = \d", include=["*.md"])
    assert grep.text == "acme/src/b.md:1: value = 2"
    assert "No line matches" in (await tool(sessions, "grep_documents", pattern="nope")).text
    for bad in ({"pattern": "("}, {"pattern": "x", "source": "nope"}):
        assert (await tool(sessions, "grep_documents", **bad)).failed
