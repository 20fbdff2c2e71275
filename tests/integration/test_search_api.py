"""Search over HTTP."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.factories import put

SEED = {
    "top.md": "alpha Beta\n",
    "guide/setup.md": "# Setup\nport = 8081\nbeta two\nlast\n",
    "guide/deep/x.py": "port = 9\n# BETA three\n",
    ".hidden/h.md": "nothing",
}


@pytest.fixture
async def seeded(client: AsyncClient) -> AsyncClient:
    for path, text in SEED.items():
        await put(client, "acme", path, text)
    await put(client, "other", "top.md", "beta elsewhere")
    return client


async def search(client: AsyncClient, **parameters: Any) -> dict[str, Any]:
    answer = await client.get("/api/search", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refusal(client: AsyncClient, **parameters: Any) -> tuple[int, str]:
    answer = await client.get("/api/search", params=parameters)
    assert answer.json()["detail"]
    return answer.status_code, answer.json()["error"]


def places(answer: dict[str, Any]) -> list[str]:
    return [f"{hit['source']}/{hit['path']}:{hit['line']}" for hit in answer["matches"]]


async def test_a_match_says_where_it_is_and_what_is_around(seeded: AsyncClient) -> None:
    answer = await search(seeded, q="beta", path="guide/setup.md", source="acme", context=1)
    assert answer["matches"] == [
        {
            "source": "acme", "path": "guide/setup.md", "line": 3, "column": 1,
            "text": "beta two", "text_start": 0, "ranges": [[0, 4]],
            "context_before": [{"line": 2, "text": "port = 8081"}],
            "context_after": [{"line": 4, "text": "last"}],
        }
    ]  # fmt: skip
    assert answer["text_view"] == (
        "acme/guide/setup.md-2- port = 8081\n"
        "acme/guide/setup.md:3: beta two\n"
        "acme/guide/setup.md-4- last"
    )


async def test_matches_come_in_catalog_order_with_totals(seeded: AsyncClient) -> None:
    answer = await search(seeded, q="beta")
    assert places(answer) == [
        "acme/guide/deep/x.py:2", "acme/guide/setup.md:3", "acme/top.md:1", "other/top.md:1",
    ]  # fmt: skip
    totals = {name: answer[name] for name in ("shown", "total", "total_is_exact", "truncated")}
    assert totals == {"shown": 4, "total": 4, "total_is_exact": True, "truncated": False}
    assert (answer["documents_searched"], answer["documents_matched"]) == (5, 4)
    assert answer["next"] is None
    assert answer["elapsed_ms"] >= 0


@pytest.mark.parametrize("mode", ["text", "literal", "regex"])
async def test_case_matters_on_demand(seeded: AsyncClient, mode: str) -> None:
    answer = await search(seeded, q="Beta", mode=mode, case_sensitive="true")
    assert places(answer) == ["acme/top.md:1"]


async def test_a_fixed_string_is_no_expression_when_case_matters(client: AsyncClient) -> None:
    await put(client, "acme", "a.txt", "a.b (x) [y] \\d_-\naxb\n")
    for text in ("a.b", "(x)", "[y]", "\\d_", "_-"):
        assert places(await search(client, q=text, case_sensitive="true")) == ["acme/a.txt:1"]


async def test_paths_are_found_by_glob(seeded: AsyncClient) -> None:
    answer = await search(seeded, q="*.MD", mode="path", source="acme")
    assert answer["text_view"] == "acme/.hidden/h.md\nacme/guide/setup.md\nacme/top.md"
    assert {(hit["line"], hit["column"]) for hit in answer["matches"]} == {(None, None)}
    sensitive = await search(seeded, q="*.MD", mode="path", case_sensitive="true")
    assert sensitive["matches"] == []


@pytest.mark.parametrize(
    "names",
    [
        {"q": "port", "path": "acme/guide", "include": "*.py", "max_bytes": 99, "limit": 5},
        {"pattern": "port", "corpus_path": "acme/guide/", "file_glob": "*.py", "max_results": 5},
        {"query": "port", "corpus_path": "./acme/guide", "file_glob": ["*.py", "*.pyi"]},
        {"search": "port", "exclude": "*.md", "context_lines": 0, "max_file_size": 99},
    ],
)
async def test_parameters_have_a_second_name(seeded: AsyncClient, names: dict[str, Any]) -> None:
    assert places(await search(seeded, **names)) == ["acme/guide/deep/x.py:1"]


async def test_globs_narrow_and_can_be_repeated(seeded: AsyncClient) -> None:
    answer = await search(seeded, q="beta", include=["*.md", "*.py"], exclude=["top.*", "x*"])
    assert places(answer) == ["acme/guide/setup.md:3"]
    assert answer["documents_searched"] == 2


@pytest.mark.parametrize("mode", ["text", "regex"])
async def test_large_documents_are_skipped_and_counted(seeded: AsyncClient, mode: str) -> None:
    answer = await search(seeded, q="beta", mode=mode, max_bytes=20)
    assert places(answer) == ["acme/top.md:1", "other/top.md:1"]
    assert (answer["documents_searched"], answer["documents_skipped"]) == (3, 2)


@pytest.mark.parametrize("mode", ["text", "regex", "path"])
async def test_pages_follow_each_other(client: AsyncClient, mode: str) -> None:
    for name in ("a:1.txt", "b.txt", "c.txt"):
        await put(client, "acme", name, "needle\n" * 7)
    q = "**" if mode == "path" else "needle"
    whole = await search(client, q=q, mode=mode)
    seen: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = await search(client, q=q, mode=mode, limit=2, **after)
        seen += places(page)
        assert page["truncated"] == (page["next"] is not None)
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert seen == places(whole)
    assert len(seen) == (3 if mode == "path" else 21)


@pytest.mark.parametrize("mode", ["text", "regex"])
async def test_everything_is_counted_on_demand(client: AsyncClient, mode: str) -> None:
    long_line = "needle" + "x" * 1495 + "\n"
    for n in range(3):
        await put(client, "acme", f"{n}.txt", long_line * 700)
    quick = await search(client, q="needle", mode=mode, limit=1)
    assert (quick["shown"], quick["truncated"]) == (1, True)
    assert quick["total"] <= 2_100
    exact = await search(client, q="needle", mode=mode, limit=1, count="exact")
    assert (exact["total"], exact["total_is_exact"], exact["documents_matched"]) == (2_100, True, 3)
    later = await search(client, q="needle", mode=mode, count="exact", after=exact["next"])
    assert (later["total"], later["matches"][0]["line"]) == (2_100, 2)


@pytest.mark.parametrize(("hits", "truncated"), [(19, False), (20, False), (21, True)])
async def test_a_full_page_is_not_a_truncated_one(
    client: AsyncClient, hits: int, truncated: bool
) -> None:
    await put(client, "acme", "a.txt", "needle\n" * hits)
    for mode in ("text", "regex"):
        answer = await search(client, q="needle", mode=mode, limit=20)
        assert (answer["truncated"], answer["shown"]) == (truncated, min(hits, 20))


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"q": "x", "source": "nope"}, (404, "not_found")),
        ({"q": "x", "source": "acme", "path": "nope"}, (404, "not_found")),
        ({"q": "x", "path": "nope/at/all"}, (404, "not_found")),
        ({"q": "x", "source": "acme", "path": "../etc"}, (400, "bad_path")),
        ({"q": "x", "path": "/etc/passwd"}, (400, "bad_path")),
        ({"q": ""}, (400, "invalid_pattern")),
        ({"q": "a\nb"}, (400, "invalid_pattern")),
        ({"q": "(", "mode": "regex"}, (400, "invalid_pattern")),
        ({"q": r"(a)\1", "mode": "regex"}, (400, "invalid_pattern")),
        ({"q": "((a{1,100}){1,100}){1,100}", "mode": "regex"}, (400, "invalid_pattern")),
        ({"q": "x" * 50_000, "mode": "regex"}, (400, "invalid_pattern")),
        ({"q": "[z-a]*", "mode": "path"}, (400, "invalid_pattern")),
        ({"q": "x", "include": "["}, (400, "invalid_pattern")),
        ({"q": "x", "mode": "fuzzy"}, (422, "invalid_request")),
        ({"q": "x", "limit": 0}, (422, "invalid_request")),
        ({"q": "x", "limit": -1}, (422, "invalid_request")),
        ({"q": "x", "limit": 10**30}, (422, "invalid_request")),
        ({"q": "x", "context": 21}, (422, "invalid_request")),
        ({"q": "x", "after": "nonsense"}, (422, "invalid_request")),
        ({"q": "x", "count": "all"}, (422, "invalid_request")),
        ({}, (422, "invalid_request")),
    ],
)
async def test_what_cannot_be_searched_is_refused_by_name(
    seeded: AsyncClient, parameters: dict[str, Any], error: tuple[int, str]
) -> None:
    assert await refusal(seeded, **parameters) == error


@pytest.mark.parametrize("q", ["\0", "x" * 50_000, "   ", "%", "_", "(a+)+$", "\u202e", "é" * 500])
async def test_any_fixed_string_is_answered(seeded: AsyncClient, q: str) -> None:
    assert (await search(seeded, q=q))["documents_searched"] == 5


async def test_the_cut_of_a_long_line_says_where_it_begins(client: AsyncClient) -> None:
    await put(client, "acme", "a.txt", "a" * 5_000 + "NEEDLE" + "b" * 5_000)
    for mode in ("text", "regex"):
        (hit,) = (await search(client, q="needle", mode=mode))["matches"]
        assert (hit["column"], hit["ranges"]) == (5_001, [[5_000, 5_006]])
        assert len(hit["text"]) == 400
        assert hit["text"][5_000 - hit["text_start"] :].startswith("NEEDLE")


async def test_neighbouring_matches_are_printed_in_order_with_their_context(
    client: AsyncClient,
) -> None:
    await put(client, "acme", "near.txt", "hit\n2\nhit\nhit\n5\n6\n7\n8\nhit\n")
    asked = {"q": "hit", "context": 1, "path": "acme/near.txt"}
    answer = (await client.get("/api/search", params=asked)).json()
    name = "acme/near.txt"
    assert answer["text_view"].splitlines() == [
        f"{name}:1: hit",
        f"{name}-2- 2",
        f"{name}:3: hit",
        f"{name}:4: hit",
        f"{name}-5- 5",
        "--",
        f"{name}-8- 8",
        f"{name}:9: hit",
    ]
