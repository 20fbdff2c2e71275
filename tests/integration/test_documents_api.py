"""Documents over HTTP: what is stored, listed, read, renamed and removed."""

import pytest
from httpx import AsyncClient

from tests.factories import address, put

LINES = "one\ntwo\x0cstill two\nthr\u2028ee\nfo\x85ur\nfi\rve\nNEEDLE\n"


async def paths(client: AsyncClient, **filters: str | int) -> list[str]:
    answer = await client.get("/api/documents", params=filters)
    assert answer.status_code == 200, answer.text
    return [document["path"] for document in answer.json()["documents"]]


async def test_a_document_is_created_then_unchanged_then_replaced(client: AsyncClient) -> None:
    first = await client.put(address("acme", "guide/setup.md"), content=b"# Setup\nport = 8081\n")
    again = await client.put(address("acme", "guide/setup.md"), content=b"# Setup\nport = 8081\n")
    other = await client.put(address("acme", "guide/setup.md"), content=b"# Set-up\n")
    assert [answer.status_code for answer in (first, again, other)] == [201, 200, 200]
    created, unchanged, replaced = (answer.json() for answer in (first, again, other))
    assert (created["title"], created["media_type"], created["lines"]) == (
        "Setup", "text/markdown", 2,
    )  # fmt: skip
    assert unchanged == {**created, "outcome": "unchanged"}
    assert (replaced["outcome"], replaced["version"], replaced["id"]) == (
        "replaced", 2, created["id"],
    )  # fmt: skip
    assert replaced["updated_at"] > created["updated_at"]
    assert (await client.get(address("acme", "guide/setup.md"))).json()["content"] == "# Set-up\n"


async def test_names_are_identity_and_content_is_not(client: AsyncClient) -> None:
    for source, path in [("a", "a.txt"), ("a", "copy.txt"), ("a", "A.txt"), ("b", "a.txt")]:
        await put(client, source, path, "the same")
    assert await paths(client) == ["A.txt", "a.txt", "copy.txt", "a.txt"]


async def test_lines_are_split_at_line_ends_only(client: AsyncClient) -> None:
    stored = await put(client, "acme", "lines.txt", LINES)
    assert stored["lines"] == 7
    answer = (await client.get(address("acme", "lines.txt"), params={"lines": "3-4"})).json()
    assert (answer["content"], answer["first_line"], answer["last_line"]) == (
        "thr\u2028ee\nfo\x85ur", 3, 4,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "content", "first", "last"),
    [("1", "a", 1, 1), ("2-", "b\nc", 2, 3), ("2-99999", "b\nc", 2, 3), ("1-3", "a\nb\nc", 1, 3)],
)
async def test_a_range_of_lines(
    client: AsyncClient, lines: str, content: str, first: int, last: int
) -> None:
    await put(client, "acme", "a.txt", "a\nb\nc\n")
    answer = (await client.get(address("acme", "a.txt"), params={"lines": lines})).json()
    assert (answer["content"], answer["first_line"], answer["last_line"], answer["lines"]) == (
        content, first, last, 3,
    )  # fmt: skip


@pytest.mark.parametrize(
    "query",
    ["lines=0-3", "lines=3-1", "lines=x", "lines=4-9", "lines=-1", "lines=" + "9" * 40, "raw=x"],
)
async def test_lines_that_are_none_are_422(client: AsyncClient, query: str) -> None:
    await put(client, "acme", "a.txt", "a\nb\nc\n")
    answer = await client.get(f"{address('acme', 'a.txt')}?{query}")
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_request")


async def test_an_empty_document_has_no_lines(client: AsyncClient) -> None:
    assert (await put(client, "acme", "empty.txt", ""))["lines"] == 0
    answer = (await client.get(address("acme", "empty.txt"))).json()
    assert (answer["content"], answer["first_line"], answer["last_line"]) == ("", 1, 0)
    beyond = await client.get(address("acme", "empty.txt"), params={"lines": "1"})
    assert beyond.status_code == 422
    assert beyond.json()["detail"] == "There is no line 1: “acme/empty.txt” has 0 lines."


async def test_the_raw_text_is_plain_text_whatever_it_is(client: AsyncClient) -> None:
    await put(client, "acme", "a.html", "<script>é</script>")
    answer = await client.get(address("acme", "a.html"), params={"raw": "1"})
    assert answer.text == "<script>é</script>"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ['a"b.txt', "テスト.txt", "é.txt", "🌍/\u202egpj.txt", "a;b=c.txt", "100%.txt", "a b'c.txt",
     "x/move", "{rule} one.md", "[draft] plan.md", "what?.txt", "a#b.txt", "n" * 300],
)  # fmt: skip
async def test_any_name_can_be_listed_read_downloaded_and_removed(
    client: AsyncClient, path: str
) -> None:
    assert (await put(client, "acme", path, "text"))["path"] == path
    assert await paths(client) == [path]
    assert (await client.get(address("acme", path))).json()["path"] == path
    download = await client.get(address("acme", path), params={"raw": "1"})
    assert download.text == "text"
    assert download.headers["content-disposition"].isascii()
    assert (await client.delete(address("acme", path))).status_code == 204
    assert await paths(client) == []


@pytest.mark.parametrize(
    "path",
    ["..%2f..%2fetc%2fpasswd", "%2e%2e%2fx", "%2Fetc%2Fpasswd", "..%5C..%5Cx", "C:%5Cx", "a//b",
     "a%00.txt", "foo/", "a%0Db", "a%C2%85b", "x" * 1_025, "%E6%BC%A2" * 342, ""],
)  # fmt: skip
@pytest.mark.parametrize("method", ["PUT", "GET", "DELETE"])
async def test_a_path_that_is_none_is_refused(client: AsyncClient, method: str, path: str) -> None:
    answer = await client.request(method, f"/api/documents/acme/{path}")
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_path")


async def test_the_longest_path_is_stored_even_if_it_cannot_be_compressed(
    client: AsyncClient,
) -> None:
    path = "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(341))
    await put(client, "s" * 100, path, "text")
    assert await paths(client) == [path]


@pytest.mark.parametrize("source", ["..%2f", "a%20b", "%C3%A9", "a" * 101, "%00"])
async def test_a_source_that_is_none_is_refused(client: AsyncClient, source: str) -> None:
    answer = await client.put(f"/api/documents/{source}/a.txt", content=b"x")
    assert answer.status_code in (400, 404, 405)


async def test_a_decomposed_name_is_stored_composed_and_found_both_ways(
    client: AsyncClient,
) -> None:
    stored = await put(client, "acme", "re\u0301sume\u0301.txt", "text")
    assert (stored["path"], len(stored["notices"])) == ("résumé.txt", 1)
    for path in ("résumé.txt", "re\u0301sume\u0301.txt"):
        assert (await client.get(address("acme", path))).status_code == 200


async def test_a_move_keeps_the_document_and_its_text(client: AsyncClient) -> None:
    before = await put(client, "acme", "a.txt", "alpha\nbeta\n")
    destination = {"source": "other", "path": "b/c.txt"}
    moved = await client.post(f"{address('acme', 'a.txt')}/move", json=destination)
    assert (moved.status_code, moved.json()["id"]) == (200, before["id"])
    assert (await client.get(address("acme", "a.txt"))).status_code == 404
    there = await client.get(address("other", "b/c.txt"), params={"lines": "2"})
    assert there.json()["content"] == "beta"


@pytest.mark.parametrize(
    ("path", "destination", "status"),
    [
        ("none.txt", {"source": "acme", "path": "c.txt"}, 404),
        ("a.txt", {"source": "acme", "path": "b.txt"}, 409),
        ("a.txt", {"source": "acme", "path": "../b.txt"}, 400),
        ("a.txt", {"source": "a b", "path": "c.txt"}, 400),
        ("a.txt", {"source": "acme"}, 422),
        ("a.txt", {"source": "acme", "path": "x\0"}, 200),
        ("a.txt", {"source": "acme", "path": "a.txt"}, 200),
    ],
)
async def test_a_move_that_cannot_be(
    client: AsyncClient, path: str, destination: dict[str, str], status: int
) -> None:
    await put(client, "acme", "a.txt", "a")
    await put(client, "acme", "b.txt", "b")
    answer = await client.post(f"{address('acme', path)}/move", json=destination)
    assert answer.status_code == status


async def test_what_is_removed_is_gone(client: AsyncClient) -> None:
    for path in ("a.txt", "b.txt"):
        await put(client, "acme", path, "text")
    assert (await client.delete(address("acme", "a.txt"))).status_code == 204
    assert (await client.delete(address("acme", "a.txt"))).status_code == 404
    assert (await client.delete("/api/sources/acme")).status_code == 204
    assert (await client.delete("/api/sources/acme")).status_code == 404
    assert await paths(client) == []


async def test_sources_are_summed_up(client: AsyncClient) -> None:
    await put(client, "b", "a.txt", "é\nx\n")
    await put(client, "acme", "a.txt", "one\n")
    await put(client, "acme", "b.txt", "two\n")
    totals = (await client.get("/api/sources")).json()["sources"]
    assert [
        (total["source"], total["documents"], total["bytes"], total["characters"], total["lines"])
        for total in totals
    ] == [("acme", 2, 8, 8, 2), ("b", 1, 5, 4, 2)]


async def test_the_catalog_is_ordered_by_code_point_and_paged_without_gaps(
    client: AsyncClient,
) -> None:
    names = ["B", "a10", "a2", "a/b", "é", "Z/é", "漢", "🌍", "a-b", "a_b"]
    for number, name in enumerate(names):
        await put(client, "acme" if number % 3 else "b", name, name)
    whole = (await client.get("/api/documents", params={"limit": 1000})).json()
    keys = [(row["source"], row["path"]) for row in whole["documents"]]
    assert keys == sorted(keys)
    assert (whole["total"], whole["next"]) == (len(names), None)
    walked: list[tuple[str, str]] = []
    after = ""
    while after is not None:
        page = (await client.get("/api/documents", params={"limit": 3, "after": after})).json()
        assert page["total"] == len(names)
        walked += [(row["source"], row["path"]) for row in page["documents"]]
        after = page["next"]
    assert walked == keys


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"prefix": "100%"}, ["100%/x", "100%y"]),
        ({"prefix": "a_"}, ["a_b"]),
        ({"prefix": "a\\"}, []),
        ({"prefix": "%"}, []),
        ({"source": "s_e"}, ["in s_e"]),
        ({"source": "%"}, []),
        ({"prefix": "\0"}, []),
        ({"glob": "*_b"}, ["a_b"]),
        ({"glob": "100%*"}, ["100%y"]),
        ({"glob": "{A_B,AXB}"}, ["a_b", "axb"]),
        ({"source": "s-e", "prefix": "a", "glob": "*b"}, ["a_b", "axb"]),
        ({"name": "E/A"}, ["a_b", "axb"]),
        ({"name": "0%/"}, ["100%/x"]),
        ({"name": "s-e/*x*"}, ["axb"]),
        ({"name": "?_b"}, ["a_b"]),
        ({"source": "", "prefix": "", "glob": "", "name": "", "after": ""},
         ["100%/x", "100%y", "1000", "a_b", "axb", "in s_e"]),
    ],
)  # fmt: skip
async def test_filters_take_every_character_for_itself(
    client: AsyncClient, filters: dict[str, str], found: list[str]
) -> None:
    for path in ("100%/x", "100%y", "1000", "a_b", "axb"):
        await put(client, "s-e", path, path)
    await put(client, "s_e", "in s_e", "x")
    assert await paths(client, **filters) == found


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("limit=0", 422),
        ("limit=-1", 422),
        ("limit=1001", 422),
        ("limit=9223372036854775808", 422),
        ("limit=abc", 422),
        ("limit=1e9", 422),
        ("glob=%5B", 400),
        ("glob=%5Bz-a%5D*", 400),
        ("after=acme", 200),
        ("after=%00%ff/%5C", 200),
        ("limit=1000", 200),
    ],
)
async def test_odd_parameters_of_the_catalog(client: AsyncClient, query: str, status: int) -> None:
    assert (await client.get(f"/api/documents?{query}")).status_code == status
