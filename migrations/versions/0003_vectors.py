"""Vectors of the windows of passages, and the models that made them."""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.create_table(
        "embedding_models",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=True),
        sa.Column("passages_per_second", sa.Double[float](), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("complete", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_embedding_models"),
        sa.UniqueConstraint("name", name="uq_embedding_models_name"),
    )
    op.create_table(
        "windows",
        sa.Column("passage_id", sa.BigInteger(), nullable=False),
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("vector", HALFVEC(), nullable=True),
        sa.ForeignKeyConstraint(
            ["passage_id"], ["passages.id"], name="fk_windows_passage_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["model_id"],
            ["embedding_models.id"],
            name="fk_windows_model_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("passage_id", "model_id", "position", name="pk_windows"),
    )
