"""Bytes become text, or are refused by name."""

import pytest

from app.documents.extract import to_text
from app.errors import AppError, BinaryContent, UndecodableText, UnsupportedFormat

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def text_of(body: bytes, name: str = "a.txt", media_type: str | None = None) -> str:
    return to_text(body, media_type, name).text


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_encodings_are_recognised(encoding: str) -> None:
    told = to_text("Acme ™ – naïve plan\n".encode(encoding), None, "a.txt")
    assert (told.text, told.notices) == ("Acme ™ – naïve plan\n", ())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("café", "cp1252"),
        ("Acme ™ – naïve", "cp1252"),
        ("Привет, мир! Это обычный русский текст.", "cp1251"),
        ("こんにちは世界、これはテストです。", "shift_jis"),
        ("北京大学的学生都在这里学习。", "gb18030"),
    ],
)
def test_older_encodings_are_guessed_and_named(text: str, encoding: str) -> None:
    told = to_text(text.encode(encoding), None, "a.txt")
    assert told.text == text
    assert "was read as" in told.notices[0]


def test_a_declared_charset_counts() -> None:
    body = "Ελληνικά".encode("iso8859-7")
    assert text_of(body, media_type="text/plain; charset=ISO-8859-7") == "Ελληνικά"


@pytest.mark.parametrize("charset", ["zlib", "idna", "no-such", "unicode_escape"])
def test_a_strange_charset_is_passed_over(charset: str) -> None:
    assert text_of(b"caf\xe9", media_type=f"text/plain; charset={charset}") == "café"


def test_a_stray_nul_is_removed_and_reported() -> None:
    told = to_text(b"alpha\0beta\n", None, "a.txt")
    assert told.text == "alphabeta\n"
    assert "U+0000" in told.notices[0]


def test_surrogates_in_utf8_are_joined_or_replaced() -> None:
    told = to_text(b"x \xed\xa0\xbd\xed\xb8\x80 \xed\xa0\xbd", None, "a.txt")
    assert told.text.startswith("x 😀 \ufffd")
    assert len(told.notices) == 1
    told.text.encode()


def test_a_broken_byte_does_not_cost_the_rest() -> None:
    told = to_text("漢字".encode() * 20 + b"\xff", None, "a.txt")
    assert told.text == "漢字" * 20 + "\ufffd"
    assert "1×" in told.notices[0]


@pytest.mark.parametrize("before", [0, 1000, 1024, 8191, 8192, 32768, 65535, 65536])
@pytest.mark.parametrize("shift", [0, 1, 2])
def test_no_character_is_cut_when_the_content_is_judged(before: int, shift: int) -> None:
    text = "x" * (before + shift) + "漢" * 500
    assert text_of(text.encode()) == text


@pytest.mark.parametrize(
    "text", ["\x1b[31mred\x1b[0m", "page\fpage", "a \ufffd b", "a\x0bb\u2028c\x85d", "a\bb", ""]
)
def test_unusual_characters_are_text(text: str) -> None:
    assert to_text(text.encode(), None, "a.txt").text == text


@pytest.mark.parametrize(
    "body",
    [
        PNG,
        b"PK\x03\x04\x14\0",
        b"%PDF-1.7\nabc",
        b"\x7fELF\x02\x01",
        b"\0" * 40,
        bytes(range(256)) * 4,
        "\1\2\3\4\5\6\7".encode("utf-16"),
    ],
)
def test_binary_content_is_refused_by_name_whatever_it_is_called(body: bytes) -> None:
    with pytest.raises(BinaryContent) as refusal:
        to_text(body, "text/plain", "notes.txt")
    assert "notes.txt" in refusal.value.detail


def test_half_a_utf16_unit_is_undecodable() -> None:
    with pytest.raises(UndecodableText, match=r"notes\.txt"):
        to_text("naïve".encode("utf-16") + b"x", None, "notes.txt")


@pytest.mark.parametrize(
    ("media_type", "name", "format_name"),
    [
        ("application/pdf", "a", "PDF"),
        (None, "plan.DOCX", "Word"),
        ("application/octet-stream", "table.xlsx", "Excel"),
    ],
)
def test_documents_that_are_no_text_are_refused_by_format(
    media_type: str | None, name: str, format_name: str
) -> None:
    with pytest.raises(UnsupportedFormat, match=format_name):
        to_text(b"anything", media_type, name)


@pytest.mark.parametrize(
    ("media_type", "name", "stored"),
    [
        (None, "a.md", "text/markdown"),
        (None, "a.html", "text/html"),
        (None, "README", "text/plain"),
        ("text/HTML; charset=utf-8", "a.txt", "text/html"),
        ("application/x-www-form-urlencoded", "a.json", "application/json"),
        ("video/mp2t", "main.ts", "text/plain"),
        ("application/vnd.ms-excel", "table.csv", "text/csv"),
        ("image/svg+xml", "a.svg", "image/svg+xml"),
        ("nonsense", "a.md", "text/markdown"),
        ("text/x\r\ny", "a.md", "text/markdown"),
    ],
)
def test_the_media_type_comes_from_the_header_or_else_the_name(
    media_type: str | None, name: str, stored: str
) -> None:
    assert to_text(b"text", media_type, name).media_type == stored


@pytest.mark.parametrize("raw", ["a\r\nb\rc\nd", "\ufeffa\nb\nc\nd"])
def test_line_ends_become_one_and_the_mark_goes(raw: str) -> None:
    assert text_of(raw.encode()) == "a\nb\nc\nd"


def test_text_is_composed() -> None:
    assert text_of("e\u0301".encode()) == "é"


def test_an_odd_name_can_stand_in_the_refusal() -> None:
    with pytest.raises(AppError) as refusal:
        to_text(PNG, None, "a\ud800\0.txt")
    refusal.value.detail.encode()


@pytest.mark.parametrize(
    "charset", ["utf-16-le", "utf-16-be", "utf-32-le", "iso-2022-jp", "shift_jis"]
)
def test_a_declared_charset_is_believed(charset: str) -> None:
    body = "漢字 仮名\n".encode(charset)
    assert to_text(body, f"text/plain; charset={charset}", "a.txt").text == "漢字 仮名\n"


def test_a_character_cut_off_at_the_end_costs_nothing_else() -> None:
    assert to_text("漢字".encode()[:-1], None, "a.txt").text == "漢\ufffd"


@pytest.mark.parametrize("text", ["Grüße\n", "café über", "naïve"])
def test_a_few_letters_beyond_ascii_are_western(text: str) -> None:
    assert to_text(text.encode("latin-1"), None, "a.txt").text == text
