"""Forms are read while they arrive, file by file."""

from collections.abc import AsyncIterator

import pytest

from app.documents.multipart import MOST_PARTS, Field, File, read_parts
from app.errors import InvalidRequest, TooLarge

TYPE = "multipart/form-data; boundary=XX"


def part(disposition: bytes, body: bytes = b"text", headers: bytes = b"") -> bytes:
    opening = b"--XX\r\nContent-Disposition: form-data; " + disposition + b"\r\n"
    return opening + headers + b"\r\n" + body + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--XX--\r\n"


async def read(body: bytes, file_bytes: int = 1_000, chunk: int = 65_536) -> list[Field | File]:
    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), chunk):
            yield body[start : start + chunk]

    return [part async for part in read_parts(chunks(), TYPE, file_bytes)]


async def name_of(disposition: bytes) -> str:
    [file] = await read(form(part(b'name="files"; ' + disposition)))
    assert isinstance(file, File)
    return file.name


@pytest.mark.parametrize("chunk", [1, 2, 7, 65_536])
async def test_parts_come_whole_however_the_body_is_cut(chunk: int) -> None:
    body = form(
        part(b'name="source"', "acme ü".encode()),
        part(b'name="files"; filename="d/a.txt"', b"\r\n--X\r\n", b"Content-Type: text/x\r\n"),
        part(b'name="files"; filename="b"', b""),
    )
    assert await read(body, chunk=chunk) == [
        Field("source", "acme ü"),
        File("d/a.txt", "text/x", b"\r\n--X\r\n"),
        File("b", "", b""),
    ]


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('filename="テスト.txt"'.encode(), "テスト.txt"),
        (b"filename*=UTF-8''%E3%83%86.txt", "テ.txt"),
        (b"filename=\"x.txt\"; filename*=UTF-8''%E3%83%86.txt", "テ.txt"),
        (b"filename*=utf-8'de'%E3%83%86.txt; filename=x.txt", "テ.txt"),
        (b'filename="\xe9.txt"', "é.txt"),
        (b'filename="a%22b%0D%0A.txt"', 'a"b\r\n.txt'),
        (b'filename="a%41.txt"', "a%41.txt"),
        (b'filename="a\\"b.txt"', 'a"b.txt'),
        (b'filename="C:\\dir\\x.txt"', "C:\\dir\\x.txt"),
        (b'filename="../../etc/passwd"', "../../etc/passwd"),
        (b'filename="a;b=c.txt"', "a;b=c.txt"),
        (b'filename="a\0.txt"', "a\0.txt"),
        (b'filename=""', ""),
        (b"filename=plain.txt", "plain.txt"),
    ],
)
async def test_a_file_keeps_the_name_that_was_sent(disposition: bytes, name: str) -> None:
    assert await name_of(disposition) == name


async def test_a_large_file_is_refused_and_the_next_one_read() -> None:
    body = form(
        part(b'name="files"; filename="big"', b"x" * 5_000),
        part(b'name="files"; filename="fits"', b"x" * 1_000),
    )
    big, fits = await read(body, chunk=100)
    assert isinstance(big, File)
    assert isinstance(fits, File)
    assert isinstance(big.error, TooLarge)
    assert big.body == b""
    assert (fits.error, len(fits.body)) == (None, 1_000)


async def test_a_file_that_breaks_off_is_named_and_those_before_are_kept() -> None:
    whole = part(b'name="files"; filename="a"')
    kept, broken = await read(whole + whole.replace(b'"a"', b'"b"')[:-2])
    assert isinstance(kept, File)
    assert isinstance(broken, File)
    assert (kept.name, kept.error) == ("a", None)
    assert broken.name == "b"
    assert isinstance(broken.error, InvalidRequest)


async def test_an_encoded_file_is_refused_rather_than_stored_encoded() -> None:
    encoded = b"Content-Transfer-Encoding: base64\r\n"
    [file] = await read(form(part(b'name="files"; filename="a"', headers=encoded)))
    assert isinstance(file, File)
    assert file.error


@pytest.mark.parametrize("body", [b"", b"no form", b"--XX\r\nbad header\r\n\r\n", b"--XX\r\n\r\nx"])
async def test_a_body_that_is_no_form_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest):
        await read(body)


@pytest.mark.parametrize("kind", ["", "application/json", "multipart/form-data"])
async def test_another_kind_of_body_is_refused(kind: str) -> None:
    async def nothing() -> AsyncIterator[bytes]:
        yield b""

    with pytest.raises(InvalidRequest):
        [part async for part in read_parts(nothing(), kind, 1)]


async def test_a_flood_of_parts_is_cut_off() -> None:
    with pytest.raises(TooLarge):
        await read(form(*[part(b'name="x"', b"")] * (MOST_PARTS + 1)))


async def test_an_overlong_field_is_refused() -> None:
    with pytest.raises(TooLarge):
        await read(form(part(b'name="source"', b"x" * 100_000)))


async def test_overlong_headers_are_refused() -> None:
    with pytest.raises(InvalidRequest):
        await read(form(part(b'name="files"; filename="' + b"x" * 20_000 + b'"')))
