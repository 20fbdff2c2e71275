"""The whole database schema on one page."""

import uuid
from datetime import datetime
from typing import Any, ClassVar

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

# Names sort by code point everywhere, whatever the locale of the database is.
CodePoints = Text(collation="C")
# Within a class with a column “bytes”, the type has no other name.
Signature = bytes
# New entries wait in a list before they are merged into a GIN index: a longer one makes writes
# faster, and leaves more free pages behind. That of the trigrams, by far the longest, is limited by
# who writes (db/pending.py).
PENDING_KIB = 8 * 1024


class Base(DeclarativeBase):
    """Constraints have predictable names, so that migrations can speak of them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_N_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        str: Text,
        dict[str, Any]: JSONB,
        list[dict[str, Any]]: JSONB,
        list[str]: ARRAY(Text),
    }


class Document(Base):
    """A text someone gave us, known by (source, path)."""

    __tablename__ = "documents"
    __table_args__ = (
        UniqueConstraint("source", "path"),
        Index("ix_documents_unsigned", "id", postgresql_where=text("signature IS NULL")),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    source: Mapped[str] = mapped_column(CodePoints)
    path: Mapped[str] = mapped_column(CodePoints)
    title: Mapped[str]
    media_type: Mapped[str]
    bytes: Mapped[int] = mapped_column(BigInteger)
    characters: Mapped[int]
    lines: Mapped[int]
    sha256: Mapped[str]
    text_sha256: Mapped[str]
    version: Mapped[int] = mapped_column(server_default="1")
    notices: Mapped[list[str]]
    content: Mapped[str]
    # What stands in it at all (search/signature.py); null until that is worked out.
    signature: Mapped[Signature | None] = mapped_column(LargeBinary, deferred=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Passage(Base):
    """A piece of a document, cut at line ends; joined in order of `position` they are its content.

    `lines` and `characters` are counts, never offsets, and positions have gaps: an insertion at the
    top of a document leaves the rows behind it alone.
    """

    __tablename__ = "passages"
    __table_args__ = (
        Index(
            "ix_passages_document_id_position",
            "document_id",
            "position",
            unique=True,
            postgresql_include=["lines", "characters"],
        ),
        Index(
            "ix_passages_folded",
            "folded",
            postgresql_using="gin",
            postgresql_ops={"folded": "gin_trgm_ops"},
        ),
        Index(
            "ix_passages_words",
            "words",
            postgresql_using="gin",
            postgresql_with={"gin_pending_list_limit": PENDING_KIB},
        ),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(BigInteger)
    lines: Mapped[int]
    characters: Mapped[int]
    text: Mapped[str]
    # Simple case folding, then punctuation and blanks as letters (search/fold.py): every character
    # is in the trigram index, and LIKE has no wildcard to escape.
    folded: Mapped[str] = mapped_column(CodePoints)
    # Terms of documents/words.py, stored without positions.
    words: Mapped[str] = mapped_column(TSVECTOR)


class DocumentGrams(Base):
    """The characters and pairs of a document (search/grams.py), for patterns without a trigram."""

    __tablename__ = "document_grams"
    __table_args__ = (
        Index(
            "ix_document_grams_grams",
            "grams",
            postgresql_using="gin",
            postgresql_with={"gin_pending_list_limit": PENDING_KIB},
        ),
    )

    document_id: Mapped[int] = mapped_column(
        ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True
    )
    grams: Mapped[list[int]] = mapped_column(ARRAY(Integer))


class DocumentCount(Base):
    """How many documents a source has: the sum of its rows, which a trigger keeps.

    Writers take turns at a row only when they share a shard.
    """

    __tablename__ = "document_counts"

    source: Mapped[str] = mapped_column(CodePoints, primary_key=True)
    shard: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    documents: Mapped[int] = mapped_column(BigInteger)


class EmbeddingModel(Base):
    """A model that makes vectors, and how the background work with it goes."""

    __tablename__ = "embedding_models"
    __table_args__ = (UniqueConstraint("name"),)

    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    # Unknown until an endpoint has answered for the first time.
    dimension: Mapped[int | None]
    passages_per_second: Mapped[float | None]
    # Why there are no new vectors at the moment, for a person.
    problem: Mapped[str | None]
    # Whether every passage had its vectors once; from then on this model serves questions.
    complete: Mapped[bool] = mapped_column(server_default=text("false"))


class Window(Base):
    """The vector of a part of a passage; null for a text that the model refuses.

    Each model with vectors in here has an HNSW index of its own over its rows, made with its first
    vector: an index needs to know the dimension.
    """

    __tablename__ = "windows"

    passage_id: Mapped[int] = mapped_column(
        ForeignKey("passages.id", ondelete="CASCADE"), primary_key=True
    )
    model_id: Mapped[int] = mapped_column(
        ForeignKey("embedding_models.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    vector: Mapped[list[float] | None] = mapped_column(HALFVEC())


class Conversation(Base):
    """What one owner asked in a row."""

    __tablename__ = "conversations"
    __table_args__ = (Index("ix_conversations_owner_updated_at", "owner", "updated_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    title: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Turn(Base):
    """One user message and all that answers it."""

    __tablename__ = "turns"
    __table_args__ = (
        UniqueConstraint("conversation_id", "position"),
        UniqueConstraint("owner", "key"),
        # One running turn per conversation, whatever process it runs in.
        Index(
            "ix_turns_running",
            "conversation_id",
            unique=True,
            postgresql_where=text("state = 'running'"),
        ),
        CheckConstraint(
            "state in ('running', 'answered', 'deflected', 'stopped', 'length',"
            " 'error', 'interrupted')",
            name="state",
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    conversation_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    position: Mapped[int]
    owner: Mapped[str]
    key: Mapped[str | None]
    message: Mapped[str]
    # The user message as the model got it, passages included: later requests repeat it unchanged.
    prompt: Mapped[str | None]
    # The sources that the question was narrowed to; none means all.
    sources: Mapped[list[str] | None]
    search_anyway: Mapped[bool] = mapped_column(server_default=text("false"))
    grounded: Mapped[bool | None]
    score: Mapped[float | None]
    reason: Mapped[str | None]
    # Passages given at the start: source, path, first_line, last_line, score.
    passages: Mapped[list[dict[str, Any]]] = mapped_column(server_default=text("'[]'"))
    state: Mapped[str] = mapped_column(server_default="running")
    # A later turn that asks the edited question again replaces this one.
    replaced: Mapped[bool] = mapped_column(server_default=text("false"))
    error: Mapped[dict[str, Any] | None]
    stop_requested: Mapped[bool] = mapped_column(server_default=text("false"))
    # Renewed by the process that runs the turn; a running turn past its lease has lost its process.
    lease_until: Mapped[datetime]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    ended_at: Mapped[datetime | None]


class Round(Base):
    """One reply of the model in a turn, with the results of the tools it called."""

    __tablename__ = "rounds"

    turn_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    text: Mapped[str]
    # Calls in order: id, name, arguments (JSON text), argument, result, summary, failed.
    calls: Mapped[list[dict[str, Any]]]


class Event(Base):
    """An event of a turn, numbered from 1; deleted some time after the turn has ended."""

    __tablename__ = "events"

    turn_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    event: Mapped[dict[str, Any]]


class Citation(Base):
    """A citation in an answer, as it was checked when the answer was complete."""

    __tablename__ = "citations"

    turn_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    # No foreign key: the citation and its text outlive the document.
    document_id: Mapped[int | None] = mapped_column(BigInteger)
    source: Mapped[str]
    path: Mapped[str]
    first_line: Mapped[int]
    last_line: Mapped[int]
    state: Mapped[str]
    reason: Mapped[str | None]
    text_sha256: Mapped[str | None]
    text: Mapped[str]
