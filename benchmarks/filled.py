"""Fills a database with so many passages of text like a given one, and with vectors like real ones.

Each document strings pieces of the given texts together, in an order of its own. The vectors are
those that the model makes of the pieces, moved at random: making them all would take hours.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import psycopg

from app.db.engine import Sessions
from app.documents.queries_batch import store_batch
from app.documents.upload import prepare
from app.rag import queries_embedding as rows
from app.rag.embeddings import Embedder
from benchmarks.grounding import read_texts

# The share of the passages that each source has.
SOURCES = {"large": 0.8, "small": 0.2}
_PIECE = 650
_PIECES_EACH = 16
_DISTINCT = 1_500
# How far a vector is moved, in lengths of its own: the cosine to where it was is about 0.85.
_MOVED = 0.6
_BATCH = 200


@dataclass(frozen=True)
class Pieces:
    """Pieces of the given texts, and a vector of each (float32, one row each, length 1)."""

    texts: Sequence[str]
    vectors: "numpy.typing.NDArray[numpy.float32]"


async def read_pieces(folder: Path, embedder: Embedder, seed: int = 7) -> Pieces:
    """Some pieces of the texts in a folder."""
    texts = [content for _, _, content in read_texts(folder)]
    cut = [text[at : at + _PIECE] for text in texts for at in range(0, len(text), _PIECE)]
    chosen = [f"{piece.strip()}\n" for piece in cut if len(piece.split()) > 40]
    random.Random(seed).shuffle(chosen)
    made = await embedder.embed(chosen[:_DISTINCT])
    return Pieces(chosen[:_DISTINCT], numpy.array(made, dtype=numpy.float32))


async def store_documents(sessions: Sessions, pieces: Pieces, passages: int) -> None:
    """Documents with about so many passages, spread over the sources."""
    shuffle = random.Random(passages)
    # A passage holds two pieces.
    documents = round(passages * 2 / _PIECES_EACH)
    for source, share in SOURCES.items():
        for start in range(0, round(documents * share), _BATCH):
            paths = range(start, min(start + _BATCH, round(documents * share)))
            uploads = [
                prepare(source, f"{n:06}.txt", _document(pieces, shuffle).encode(), "text/plain")
                for n in paths
            ]
            async with sessions.begin() as session:
                await store_batch(session, None, uploads)


def _document(pieces: Pieces, shuffle: random.Random) -> str:
    return "\n".join(shuffle.choice(pieces.texts) for _ in range(_PIECES_EACH))


async def store_vectors(sessions: Sessions, url: str, pieces: Pieces, embedder: Embedder) -> int:
    """Two windows for each passage, then the index; how many windows there are."""
    async with sessions.begin() as session:
        model = await rows.register(session, embedder.name, embedder.dimension)
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        ids = [id_ for (id_,) in connection.execute("SELECT id FROM passages ORDER BY id")]
        with connection.cursor().copy(
            "COPY windows (passage_id, model_id, position, vector) FROM STDIN"
        ) as copy:
            for id_, position, vector in _windows(ids, pieces):
                numbers = ",".join(f"{value:.4f}" for value in vector)
                copy.write_row((id_, model.id, position, f"[{numbers}]"))
    async with sessions.begin() as session:
        await rows.make_index(session, model)
        await rows.report(session, model.id, complete=True)
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    return 2 * len(ids)


def _windows(
    ids: Sequence[int], pieces: Pieces
) -> Iterator[tuple[int, int, "numpy.typing.NDArray[numpy.float32]"]]:
    chance = numpy.random.default_rng(len(ids))
    size = pieces.vectors.shape[1]
    for start in range(0, len(ids), 1_000):
        some = [(id_, position) for id_ in ids[start : start + 1_000] for position in (0, 1)]
        base = pieces.vectors[chance.integers(len(pieces.vectors), size=len(some))]
        moved = base + _MOVED / size**0.5 * chance.standard_normal((len(some), size))
        moved /= numpy.linalg.norm(moved, axis=1, keepdims=True)
        yield from (
            (id_, position, vector) for (id_, position), vector in zip(some, moved, strict=True)
        )


def questions(pieces: Pieces, count: int) -> list[str]:
    """Questions of eight words that stand one after the other in a piece."""
    shuffle = random.Random(count)
    asked: list[str] = []
    while len(asked) < count:
        words = shuffle.choice(pieces.texts).split()
        at = shuffle.randrange(len(words) - 8)
        asked.append(f"What about {' '.join(words[at : at + 8])}?")
    return asked
