"""Documents with their passages; conversations with turns, rounds, events and citations."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

CODE_POINTS = sa.Text(collation="C")
PENDING = {"gin_pending_list_limit": 8 * 1024}


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    _documents()
    _passages()
    _conversations()
    _turns()
    _rounds()
    _events()
    _citations()


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("source", CODE_POINTS, nullable=False),
        sa.Column("path", CODE_POINTS, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("text_sha256", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("notices", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
        sa.UniqueConstraint("source", "path", name="uq_documents_source_path"),
    )


def _passages() -> None:
    op.create_table(
        "passages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("document_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("folded", CODE_POINTS, nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name="fk_passages_document_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_passages"),
    )
    op.create_index(
        "ix_passages_document_id_position",
        "passages",
        ["document_id", "position"],
        unique=True,
        postgresql_include=["lines", "characters"],
    )
    op.create_index(
        "ix_passages_folded",
        "passages",
        ["folded"],
        unique=False,
        postgresql_using="gin",
        postgresql_ops={"folded": "gin_trgm_ops"},
        postgresql_with=PENDING,
    )
    op.create_index(
        "ix_passages_words",
        "passages",
        ["words"],
        postgresql_using="gin",
        postgresql_with=PENDING,
    )
    _pack_passages()


def _pack_passages() -> None:
    # Compressed in the row rather than moved out of it: a scan reads it without a second look-up.
    op.execute("ALTER TABLE passages ALTER COLUMN folded SET STORAGE MAIN")
    # Rows of this size are left uncompressed by default; packed, a collection takes a fifth less.
    op.execute("ALTER TABLE passages SET (toast_tuple_target = 256)")


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_index(
        "ix_conversations_owner_updated_at", "conversations", ["owner", "updated_at"], unique=False
    )


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=True),
        sa.Column("sources", postgresql.ARRAY(sa.Text()), nullable=True),
        sa.Column("search_anyway", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("grounded", sa.Boolean(), nullable=True),
        sa.Column("score", sa.Double[float](), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("passages", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("state", sa.Text(), server_default="running", nullable=False),
        sa.Column("replaced", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("error", postgresql.JSONB(), nullable=True),
        sa.Column("stop_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state in ('running', 'answered', 'deflected', 'stopped', 'length',"
            " 'error', 'interrupted')",
            name="ck_turns_state",
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name="fk_turns_conversation_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_turns"),
        sa.UniqueConstraint(
            "conversation_id", "position", name="uq_turns_conversation_id_position"
        ),
        sa.UniqueConstraint("owner", "key", name="uq_turns_owner_key"),
    )
    op.create_index(
        "ix_turns_running",
        "turns",
        ["conversation_id"],
        unique=True,
        postgresql_where=sa.text("state = 'running'"),
    )


def _rounds() -> None:
    op.create_table(
        "rounds",
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("calls", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name="fk_rounds_turn_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("turn_id", "position", name="pk_rounds"),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("event", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name="fk_events_turn_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("turn_id", "position", name="pk_events"),
    )


def _citations() -> None:
    op.create_table(
        "citations",
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("document_id", sa.BigInteger(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("first_line", sa.Integer(), nullable=False),
        sa.Column("last_line", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("text_sha256", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name="fk_citations_turn_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("turn_id", "position", name="pk_citations"),
    )
