"""A signature of each document, by which a scan in catalog order steps over most of them."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    _column()
    _stale()


def _column() -> None:
    op.add_column("documents", sa.Column("signature", sa.LargeBinary()))
    # In the row: a scan reads it without a second look-up. It cannot be compressed.
    op.execute("ALTER TABLE documents ALTER COLUMN signature SET STORAGE MAIN")
    # What the server has to work out for the documents that are there already.
    op.create_index(
        "ix_documents_unsigned",
        "documents",
        ["id"],
        postgresql_where=sa.text("signature IS NULL"),
    )


def _stale() -> None:
    # A program of before may still be running, and replace texts without a thought of signatures.
    op.execute("""
        CREATE FUNCTION forget_signature() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN NEW.signature := NULL; RETURN NEW; END $$
    """)
    op.execute("""
        CREATE TRIGGER forget_signature BEFORE UPDATE OF content ON documents FOR EACH ROW
        WHEN (OLD.text_sha256 <> NEW.text_sha256
          AND NEW.signature IS NOT DISTINCT FROM OLD.signature)
        EXECUTE FUNCTION forget_signature()
    """)
