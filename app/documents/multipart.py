"""Reads multipart/form-data while it arrives: one file after the other, none on disk.

Starlette's forms take in everything before the first file could be refused, and the form parser of
python_multipart loses `filename*` and what stands before a backslash; its tokenizer is used here.
"""

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.documents.bodies import too_large
from app.documents.disposition import Disposition, parse_disposition
from app.errors import AppError, InvalidRequest, TooLarge, UnsupportedFormat
from app.text import quoted

MOST_PARTS = 10_000
_HEADER_BYTES = 16 * 1024
_FIELD_BYTES = 64 * 1024


@dataclass(frozen=True)
class Field:
    name: str
    value: str


@dataclass(frozen=True)
class File:
    """A file as it came; `error` says why its `body` is empty: too large, or broken off."""

    name: str
    content_type: str
    body: bytes
    error: AppError | None = None


async def read_parts(
    chunks: AsyncIterable[bytes], content_type: str, file_bytes: int
) -> AsyncIterator[Field | File]:
    """The parts of a form in their order, each as soon as it is complete.

    Of a file with more than `file_bytes` the rest is passed over. Raises `InvalidRequest` when this
    is no multipart body, `TooLarge` when it has more than 10,000 parts or an overlong field.
    """
    parts = _Parts(file_bytes)
    parser = _parser(content_type, parts)
    async for chunk in chunks:
        try:
            parser.write(chunk)
        except FormParserError as error:
            raise InvalidRequest(f"The multipart body is malformed: {error}.") from error
        for part in parts.take():
            yield part
    if not parts.finished:
        yield parts.broken_off()


def _parser(content_type: str, parts: "_Parts") -> MultipartParser:
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InvalidRequest("Send the files as multipart/form-data.")
    try:
        return MultipartParser(
            boundary,
            {
                "on_part_begin": parts.begin,
                "on_header_field": parts.add_header_name,
                "on_header_value": parts.add_header_value,
                "on_header_end": parts.end_header,
                "on_headers_finished": parts.end_headers,
                "on_part_data": parts.add_body,
                "on_part_end": parts.end,
                "on_end": parts.finish,
            },
            max_header_size=_HEADER_BYTES,
        )
    except FormParserError as error:
        raise InvalidRequest(f"The multipart boundary is malformed: {error}.") from error


class _Parts:
    """The part that is arriving, and those that are complete and were not taken yet."""

    def __init__(self, file_bytes: int) -> None:
        self.finished = False
        self._file_bytes = file_bytes
        self._count = 0
        self._complete: list[Field | File] = []
        self._clear()

    def take(self) -> list[Field | File]:
        complete, self._complete = self._complete, []
        return complete

    def broken_off(self) -> File:
        """The file that the end of the body cut short; raises `InvalidRequest` if it cut none."""
        error = InvalidRequest("The upload ended before its last boundary.")
        if self._disposition is None or self._disposition.filename is None:
            raise error
        return File(self._disposition.filename, "", b"", error)

    def begin(self) -> None:
        self._count += 1
        if self._count > MOST_PARTS:
            raise TooLarge(f"A request may have at most {MOST_PARTS:,} parts.")

    def add_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def add_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def end_header(self) -> None:
        self._headers[bytes(self._header_name).lower()] = bytes(self._header_value).strip()
        self._header_name.clear()
        self._header_value.clear()

    def end_headers(self) -> None:
        self._disposition = parse_disposition(self._headers.get(b"content-disposition", b""))

    def add_body(self, data: bytes, start: int, end: int) -> None:
        self._size += end - start
        if self._size <= self._limit():
            self._body += data[start:end]
        else:
            self._body.clear()

    def end(self) -> None:
        part = self._disposition or Disposition("", None)
        self._complete.append(
            self._field(part.name) if part.filename is None else self._file(part.filename)
        )
        self._clear()

    def finish(self) -> None:
        self.finished = True

    def _clear(self) -> None:
        self._header_name = bytearray()
        self._header_value = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._disposition: Disposition | None = None
        self._body = bytearray()
        self._size = 0

    def _limit(self) -> int:
        is_file = self._disposition is not None and self._disposition.filename is not None
        return self._file_bytes if is_file else _FIELD_BYTES

    def _field(self, name: str) -> Field:
        if self._size > _FIELD_BYTES:
            raise TooLarge(too_large(f"The field “{quoted(name)}”", _FIELD_BYTES))
        return Field(name, self._body.decode(errors="replace"))

    def _file(self, name: str) -> File:
        kind = self._headers.get(b"content-type", b"").decode("latin-1")
        return File(name, kind, bytes(self._body), self._flaw(name))

    def _flaw(self, name: str) -> AppError | None:
        if self._size > self._file_bytes:
            return TooLarge(too_large(f"“{quoted(name)}”", self._file_bytes))
        encoding = self._headers.get(b"content-transfer-encoding", b"binary").lower()
        if encoding not in (b"binary", b"8bit", b"7bit"):
            return UnsupportedFormat(f"“{quoted(name)}” is sent in another encoding than binary.")
        return None
