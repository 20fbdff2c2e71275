"""What a document is: its media type, and the formats that are not text."""

import mimetypes
import re
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}")
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.:-]{1,40})", re.IGNORECASE | re.ASCII)
# What clients send when they do not know.
_MEANINGLESS = {
    "application/octet-stream",
    "binary/octet-stream",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
}
# Windows calls CSV files so; a real one is told by its first bytes.
_EXCEL = "application/vnd.ms-excel"
_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_FORMATS = {
    "application/pdf": ("PDF", ".pdf"),
    "application/msword": ("Word", ".doc"),
    f"{_OPEN_XML}wordprocessingml.document": ("Word", ".docx"),
    f"{_OPEN_XML}spreadsheetml.sheet": ("Excel", ".xlsx"),
    f"{_OPEN_XML}presentationml.presentation": ("PowerPoint", ".pptx"),
    "application/vnd.ms-powerpoint": ("PowerPoint", ".ppt"),
    f"{_OPEN_DOCUMENT}text": ("OpenDocument text", ".odt"),
    f"{_OPEN_DOCUMENT}spreadsheet": ("OpenDocument spreadsheet", ".ods"),
    f"{_OPEN_DOCUMENT}presentation": ("OpenDocument presentation", ".odp"),
    "application/epub+zip": ("EPUB", ".epub"),
}
_SUFFIXES = {suffix: media_type for media_type, (_, suffix) in _FORMATS.items()}
_TEXTS = {".md": "text/markdown", ".markdown": "text/markdown", ".rst": "text/x-rst"}
_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "PNG image",
    b"\xff\xd8\xff": "JPEG image",
    b"GIF87a": "GIF image",
    b"GIF89a": "GIF image",
    b"II*\0": "TIFF image",
    b"MM\0*": "TIFF image",
    b"%PDF-": "PDF",
    b"PK\x03\x04": "ZIP archive",
    b"PK\x05\x06": "ZIP archive",
    b"\x1f\x8b": "gzip archive",
    b"BZh91AY&SY": "bzip2 archive",
    b"\xfd7zXZ\0": "xz archive",
    b"\x28\xb5\x2f\xfd": "Zstandard archive",
    b"7z\xbc\xaf\x27\x1c": "7-Zip archive",
    b"Rar!\x1a\x07": "RAR archive",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "Microsoft Office file",
    b"\x7fELF": "program",
    b"\xca\xfe\xba\xbe": "program",
    b"\xcf\xfa\xed\xfe": "program",
    b"\0asm": "program",
    b"SQLite format 3\0": "SQLite database",
    b"OggS\0": "Ogg recording",
    b"fLaC\0": "FLAC recording",
    b"ID3\x02": "MP3 recording",
    b"ID3\x03": "MP3 recording",
    b"ID3\x04": "MP3 recording",
}


@dataclass(frozen=True)
class Declared:
    """What a `Content-Type` and a name say; `charset` is empty when nothing is said."""

    media_type: str
    charset: str


def declared(content_type: str | None, name: str) -> Declared:
    """The media type of a text, from its `Content-Type` or else from its name."""
    given = (content_type or "").partition(";")[0].strip().lower()
    charset = _CHARSET.search(content_type or "")
    known = _TYPE.fullmatch(given) and given not in _MEANINGLESS and not _is_picture_or_sound(given)
    media_type = given if known and given != _EXCEL else _guess(name)
    return Declared(media_type, charset.group(1) if charset else "")


def unsupported_format(media_type: str) -> str | None:
    """The name of the format when it is known and no text."""
    found = _FORMATS.get(media_type)
    return found[0] if found else None


def binary_kind(body: bytes) -> str | None:
    """What a file is whose first bytes are those of a binary format."""
    if body[:4] == b"RIFF" and body[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return "image, recording or film"
    if body[4:8] == b"ftyp" and body[:1] == b"\0":
        return "film or recording"
    return next((kind for magic, kind in _MAGIC.items() if body.startswith(magic)), None)


def _guess(name: str) -> str:
    suffix = PurePosixPath(name).suffix.lower()
    if known := _SUFFIXES.get(suffix) or _TEXTS.get(suffix):
        return known
    guessed = _builtin_types().types_map[True].get(suffix, "text/plain")
    return "text/plain" if _is_no_text(guessed) else guessed


def _is_no_text(media_type: str) -> bool:
    return _is_picture_or_sound(media_type) or media_type in _MEANINGLESS or media_type in _FORMATS


def _is_picture_or_sound(media_type: str) -> bool:
    """Whether a text cannot be this; TypeScript's `.ts` is often sent as a film."""
    family, _, kind = media_type.partition("/")
    return family in ("image", "audio", "video", "font") and not kind.endswith("+xml")


@cache
def _builtin_types() -> mimetypes.MimeTypes:
    """Python's own table: the system's would make the answer depend on the machine."""
    return mimetypes.MimeTypes(filenames=())
