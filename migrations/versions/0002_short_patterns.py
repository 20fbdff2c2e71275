"""Grams of each document for short patterns; counts of documents that nobody has to count."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.search.fold import searchable
from app.search.grams import grams

revision = "0002"
down_revision = "0001"

CODE_POINTS = sa.Text(collation="C")
PENDING = {"gin_pending_list_limit": 8 * 1024}
BATCH = 100

# One row for each backend, more or less: uploads of one source do not wait for each other.
COUNTING = """
CREATE FUNCTION count_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO document_counts AS counted (source, shard, documents)
  SELECT source, pg_backend_pid() % 64, sum(change) FROM ({changes}) AS changes
  GROUP BY source HAVING sum(change) <> 0 ORDER BY source
  ON CONFLICT (source, shard) DO UPDATE SET documents = counted.documents + excluded.documents;
  RETURN NULL;
END $$
"""
ADDED = "SELECT source, 1 AS change FROM added"
REMOVED = "SELECT source, -1 AS change FROM removed"
TRIGGERS = {
    "insert": ("NEW TABLE AS added", ADDED),
    "delete": ("OLD TABLE AS removed", REMOVED),
    "update": ("NEW TABLE AS added OLD TABLE AS removed", f"{ADDED} UNION ALL {REMOVED}"),
}


def upgrade() -> None:
    _counts()
    _grams()


def _counts() -> None:
    op.create_table(
        "document_counts",
        sa.Column("source", CODE_POINTS, nullable=False),
        sa.Column("shard", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source", "shard", name="pk_document_counts"),
    )
    for event, (tables, changes) in TRIGGERS.items():
        function = f"count_documents_on_{event}"
        op.execute(COUNTING.format(changes=changes).replace("count_documents()", f"{function}()"))
        op.execute(
            f"CREATE TRIGGER {function} AFTER {event} ON documents REFERENCING {tables}"
            f" FOR EACH STATEMENT EXECUTE FUNCTION {function}()"
        )
    op.execute(
        "INSERT INTO document_counts SELECT source, 0, count(*) FROM documents GROUP BY source"
    )


def _grams() -> None:
    table = op.create_table(
        "document_grams",
        sa.Column("document_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("grams", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name="fk_document_grams_document_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", name="pk_document_grams"),
    )
    _fill(table)
    op.create_index(
        "ix_document_grams_grams",
        "document_grams",
        ["grams"],
        postgresql_using="gin",
        postgresql_with=PENDING,
    )


def _fill(table: sa.Table) -> None:
    """The grams of the documents that there are already, a few at a time."""
    documents = sa.table("documents", sa.column("id"), sa.column("content"))
    last = 0
    while rows := _texts(documents, last):
        op.bulk_insert(
            table, [{"document_id": key, "grams": grams(searchable(text))} for key, text in rows]
        )
        last = rows[-1][0]


def _texts(documents: sa.TableClause, last: int) -> list[Any]:
    columns = documents.c
    behind = sa.select(columns.id, columns.content).where(columns.id > last)
    return list(op.get_bind().execute(behind.order_by(columns.id).limit(BATCH)))
