"""`bor ingest` and `bor search`, as a person runs them, with the database and over REST."""

import json
from pathlib import Path

import pytest

from app.db.engine import Sessions
from app.search.substring import search as search_documents
from tests.integration.commands import Command


@pytest.fixture(params=["database", "rest"])
def bor(request: pytest.FixtureRequest, empty_database: str) -> Command:
    if request.param == "rest":
        return Command({"BOR_URL": request.getfixturevalue("address")})
    return Command({"BOR_DATABASE_URL": empty_database})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    for path, text in {
        "guide/setup.md": "# Setup\nport = 8081\n",
        "notes.txt": "alpha\nRetry_Budget = 3\n",
        ".hidden/h.md": "hidden",
        "node_modules/x.js": "skipped",
        "build.log": "ignored",
        ".gitignore": "*.log\n!keep.log\n",
        "keep.log": "kept",
    }.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "image.bin").write_bytes(b"\0\1\2\3" * 100)
    (folder / "link.md").symlink_to("notes.txt")
    return folder


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BOR_URL", "BOR_TOKEN"):
        monkeypatch.delenv(name, raising=False)


async def paths(sessions: Sessions, pattern: str) -> list[str]:
    async with sessions.begin() as session:
        return [hit.path for hit in (await search_documents(session, pattern, None)).hits]


async def test_a_folder_is_stored_once_and_what_is_skipped_is_told(
    bor: Command, folder: Path
) -> None:
    skipped = {
        "skipped: binary": 1, "skipped: symbolic link": 1, "skipped: .gitignore": 1,
        "skipped: default list": 1, "skipped: hidden folder": 1,
    }  # fmt: skip
    would_be = await bor.counts(folder, "--source", "docs", "--dry-run")
    assert would_be == {"created": 4, **skipped}
    assert await bor.counts(folder, "--source", "docs") == would_be
    assert await bor.counts(folder, "--source", "docs") == {"unchanged": 4, **skipped}


async def test_the_files_that_are_skipped_are_named(bor: Command, folder: Path) -> None:
    for number in range(20):
        (folder / f"{number:02}.gz").write_bytes(b"\x1f\x8b\x08")
    asked = ("ingest", folder, "--source", "docs", "--dry-run")
    _, _, told = await bor(*asked)
    assert "skipped: 00.gz (binary)\n" in told
    assert "… and 2 more: --verbose names them.\n" in told
    assert "build.log" not in told
    _, _, told = await bor(*asked, "-v")
    assert "skipped: build.log (.gitignore)\n" in told
    assert "skipped: link.md (symbolic link)\n" in told


async def test_only_what_changed_is_read_in_again(
    bor: Command, folder: Path, sessions: Sessions
) -> None:
    await bor.counts(folder, "--source", "docs")
    (folder / "notes.txt").write_text("omega")
    (folder / "new.txt").write_text("omega")
    (folder / "guide/setup.md").unlink()
    counts = await bor.counts(folder, "--source", "docs", "--prune")
    assert (counts["created"], counts["replaced"], counts["unchanged"], counts["removed"]) == (
        1, 1, 2, 1,
    )  # fmt: skip
    assert await paths(sessions, "omega") == ["new.txt", "notes.txt"]
    assert await paths(sessions, "port") == []


async def test_more_than_half_of_a_source_is_removed_only_when_agreed(
    bor: Command, folder: Path, tmp_path: Path
) -> None:
    await bor.counts(folder, "--source", "docs")
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, error = await bor("ingest", empty, "--source", "docs", "--prune")
    assert (code, "add --yes" in error) == (1, True)
    counts = await bor.counts(empty, "--source", "docs", "--prune", "--yes")
    assert counts == {"removed": 4}


async def test_globs_choose_and_an_empty_one_lifts_the_default_list(
    bor: Command, folder: Path, sessions: Sessions
) -> None:
    counts = await bor.counts(folder, "--source", "docs", "--include", "*.md", "--exclude", "")
    assert counts["created"] == 2
    assert await paths(sessions, "hidden") == [".hidden/h.md"]
    # What is only left out now is not gone.
    counts = await bor.counts(folder, "--source", "docs", "--include", "*.txt", "--prune")
    assert (counts["created"], counts.get("removed", 0)) == (1, 0)


async def test_search_prints_and_ends_like_grep(bor: Command, folder: Path) -> None:
    await bor.counts(folder, "--source", "docs")
    code, out, _ = await bor("search", "retry_budget", "-C", "1")
    assert (code, out) == (0, "docs/notes.txt-1- alpha\ndocs/notes.txt:2: Retry_Budget = 3\n")
    assert (await bor("search", "retry_budget", "--case-sensitive"))[:2] == (1, "")
    assert (await bor("search", "^al.ha$", "--mode", "regex"))[1] == "docs/notes.txt:1: alpha\n"
    assert (await bor("search", "*.md", "--mode", "path"))[1] == "docs/guide/setup.md\n"
    code, _, error = await bor("search", "setup", "--mode", "path")
    assert (code, "try *setup*" in error) == (1, True)
    code, _, error = await bor("search", "(", "--mode", "regex")
    assert (code, "missing )" in error) == (2, True)
    assert (await bor("search", "x", "--source", "nope"))[0] == 2
    code, _, error = await bor("search", "")
    assert (code, "may not be empty" in error) == (2, True)


async def test_search_prints_the_answer_of_the_api(bor: Command, folder: Path) -> None:
    await bor.counts(folder, "--source", "docs")
    code, out, _ = await bor("search", "port", "--json", "--include", "*.md", "--include", "*.rst")
    answer = json.loads(out)
    assert (code, answer["total"], answer["matches"][0]["line"]) == (0, 1, 2)


async def test_an_unknown_address_or_a_bad_source_is_said_in_words(folder: Path) -> None:
    unreachable = Command({"BOR_URL": "http://127.0.0.1:9"})
    code, _, error = await unreachable("search", "x")
    assert (code, "cannot be reached" in error) == (2, True)
    code, _, error = await unreachable("ingest", folder, "--source", "a/b")
    assert (code, "cannot name a source" in error) == (1, True)
