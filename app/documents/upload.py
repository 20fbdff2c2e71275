"""Everything about a document that can be worked out before the database is asked."""

import hashlib
from dataclasses import dataclass

from app.documents.extract import to_text
from app.documents.grams import document_grams
from app.documents.names import check_path, check_source
from app.documents.passages import Piece, count_lines, cut
from app.documents.signature import document_signature
from app.documents.titles import title_of
from app.documents.words import index_terms
from app.models import Signature
from app.search.fold import searchable


@dataclass(frozen=True)
class SearchablePiece:
    """A passage with the two forms in which it is searched; `words` holds terms between blanks."""

    piece: Piece
    folded: str
    words: str


@dataclass(frozen=True)
class Upload:
    """A document ready to be stored; `bytes` and `sha256` are of the upload."""

    source: str
    path: str
    title: str
    media_type: str
    bytes: int
    sha256: str
    text: str
    text_sha256: str
    lines: int
    notices: tuple[str, ...]
    passages: tuple[SearchablePiece, ...]
    grams: tuple[int, ...]
    signature: Signature


def prepare(source: str, name: str, body: bytes, content_type: str | None) -> Upload:
    """Read `body` as the text of `source`/`name`; slow for large bodies, so call it in a thread.

    Raises `BadSource`, `BadPath`, `BinaryContent`, `UndecodableText` or `UnsupportedFormat`.
    """
    source = check_source(source)
    path, renamed = check_path(name)
    text = to_text(body, content_type, path)
    passages = tuple(map(_searchable, cut(text.text)))
    folded = "".join(passage.folded for passage in passages)
    return Upload(
        source=source,
        path=path,
        title=title_of(text.text, text.media_type, path),
        media_type=text.media_type,
        bytes=len(body),
        sha256=hashlib.sha256(body).hexdigest(),
        text=text.text,
        text_sha256=hashlib.sha256(text.text.encode()).hexdigest(),
        lines=count_lines(text.text),
        notices=renamed + text.notices,
        passages=passages,
        grams=tuple(document_grams(folded)),
        signature=document_signature(folded),
    )


def _searchable(piece: Piece) -> SearchablePiece:
    return SearchablePiece(piece, searchable(piece.text), " ".join(index_terms(piece.text)))
