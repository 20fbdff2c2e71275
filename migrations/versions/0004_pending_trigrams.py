"""Who stores a folder may let more trigrams wait than who stores a document."""

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    # A limit of the index would have the last word over that of a session.
    op.execute("ALTER INDEX ix_passages_folded RESET (gin_pending_list_limit)")
