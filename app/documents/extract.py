"""Makes text of the bytes of a document."""

import codecs
from dataclasses import dataclass

from charset_normalizer import from_bytes
from charset_normalizer.constant import IANA_SUPPORTED

from app.documents.media_types import binary_kind, declared, unsupported_format
from app.documents.names import quoted
from app.errors import BinaryContent, UndecodableText, UnsupportedFormat
from app.text import normalize

_MARKS = (  # UTF-32 first: its mark begins with the one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What people's files are in. The guess knows a hundred, and takes a few odd bytes for any of them.
_COMMON = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874"),
    *("iso8859_2", "iso8859_5", "iso8859_7", "iso8859_15", "koi8_r", "koi8_u", "cp850", "cp866"),
    *("shift_jis", "cp932", "euc_jp", "iso2022_jp", "gb18030", "gbk", "big5", "euc_kr", "cp949"),
]
_SAMPLE_BYTES = 64 * 1024
# Control characters that texts hold: tab, line ends, form feed, backspace and escape of terminals.
_TEXT_CONTROLS = b"\b\t\n\v\f\r\x1b"
_OTHER_CONTROLS = bytes(code for code in range(32) if code not in _TEXT_CONTROLS) + b"\x7f"


@dataclass(frozen=True)
class Text:
    """A text as it is stored, and what had to be changed for that, in sentences."""

    text: str
    media_type: str
    notices: tuple[str, ...]


def to_text(body: bytes, media_type: str | None, name: str) -> Text:
    """The text of `body`: NFC, line ends `\\n`, without byte order mark and U+0000.

    `media_type` is the upload's `Content-Type`. Raises `UnsupportedFormat`, `BinaryContent` or
    `UndecodableText`, each naming the file.
    """
    kind = declared(media_type, name)
    if format_name := unsupported_format(kind.media_type):
        raise UnsupportedFormat(f"“{quoted(name)}” is a {format_name} document: not supported.")
    text, notices = _decode(body, kind.charset, name)
    if nuls := text.count("\0"):
        text = text.replace("\0", "")
        notices += (f"U+0000 was removed ({nuls:,}×).",)
    return Text(_normalize(text), kind.media_type, notices)


def _normalize(text: str) -> str:
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return normalize("NFC", text)


def _decode(body: bytes, charset: str, name: str) -> tuple[str, tuple[str, ...]]:
    if kind := binary_kind(body):
        raise BinaryContent(f"“{quoted(name)}” is not text but a file of the kind: {kind}.")
    wide = _declared_wide(charset) or _wide_encoding(body)
    if wide:
        return _decode_wide(body, wide, name), ()
    if _is_binary(body):
        raise BinaryContent(f"“{quoted(name)}” is not text: it holds binary content.")
    try:
        return body.decode(), ()
    except UnicodeDecodeError:
        return _decode_other(body, charset, name)


def _declared_wide(charset: str) -> str | None:
    """UTF-16, UTF-32 or ISO-2022 where the upload says so: nothing in the bytes may tell of it."""
    wide = ("utf-16", "utf-32", "iso2022")
    return next((name for name in _known(charset) if name.startswith(wide)), None)


def _wide_encoding(body: bytes) -> str | None:
    """UTF-16 or UTF-32 by its mark, or UTF-16 by the zeros in every other byte."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return encoding
    sample = body[:_SAMPLE_BYTES]
    if len(body) % 2 or len(sample) < 4:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    units = len(sample) // 2
    if odd * 2 > units and even * 20 < units:
        return "utf-16-le"
    return "utf-16-be" if even * 2 > units and odd * 20 < units else None


def _decode_wide(body: bytes, encoding: str, name: str) -> str:
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        raise UndecodableText(
            f"“{quoted(name)}” is not the {encoding} that it is said to be."
        ) from error
    # Lone surrogates cannot come out of a decoder, so the text can be encoded.
    if _is_binary(text[:_SAMPLE_BYTES].encode()):
        raise BinaryContent(f"“{quoted(name)}” is not text: it holds binary content.")
    return text


def _is_binary(body: bytes) -> bool:
    """Many control characters; a stray one does not make a text binary."""
    controls = len(body) - len(body.translate(None, _OTHER_CONTROLS))
    return controls * 2 > len(body) or (controls > 3 and controls * 10 > len(body))


def _decode_other(body: bytes, charset: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Text that is not quite UTF-8, or in an older encoding, which a notice names."""
    if text := _paired(body):
        return text, ("Surrogates in the UTF-8 were joined, or replaced by U+FFFD.",)
    if b"\0" in body:
        raise BinaryContent(f"“{quoted(name)}” is not text: it holds binary content.")
    loose = body.decode(errors="replace")
    wrong = loose.count("\ufffd") - body.count("\ufffd".encode())
    right = len(loose) - len(loose.encode("ascii", "ignore")) - wrong
    # A character cut off at the end is the commonest damage, and says nothing against the rest.
    cut_off = wrong == 1 and loose.endswith("\ufffd") and right > 0
    if cut_off or right >= 4 * wrong:
        return loose, (f"Bytes that are not UTF-8 became U+FFFD ({wrong:,}×).",)
    for encoding in _candidates(body, charset):
        try:
            return body.decode(encoding), (f"The text was read as {encoding}.",)
        except UnicodeDecodeError:
            continue
    raise UndecodableText(f"“{quoted(name)}” is not text in an encoding that is known here.")


def _paired(body: bytes) -> str | None:
    """The text when all that is wrong is surrogates, encoded one by one."""
    try:
        text = body.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return None
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _candidates(body: bytes, charset: str) -> list[str]:
    """Encodings to try: as declared, Windows-1252 when there is little to go by, as guessed."""
    first = _known(charset)
    high = len(body) - len(body.decode("ascii", "ignore"))
    if high < 32 and high * 2 <= len(body):
        first.append("cp1252")
    return first + [match.encoding for match in from_bytes(_sample(body), cp_isolation=_COMMON)]


def _known(charset: str) -> list[str]:
    """Python's name of a declared charset, if it is one of text and not, say, of zip."""
    try:
        name = codecs.lookup(charset).name
    except LookupError:
        return []
    return [name] if name.replace("-", "_") in IANA_SUPPORTED else []


def _sample(body: bytes) -> bytes:
    """The beginning of `body`, cut behind a line end or an ASCII byte, never inside a character."""
    head = body[:_SAMPLE_BYTES]
    if len(head) == len(body):
        return head
    return head[: head.rfind(b"\n") + 1] or head[: head.rfind(b" ") + 1] or body
