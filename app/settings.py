"""Every setting: an environment variable `BOR_…`, its type, its default and why it exists."""

from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MIB = 1024 * 1024


def _data_dir() -> Path:
    # For root a folder of the site: the database runs as another user, who may not enter /root.
    return Path(platformdirs.user_data_dir("brain", appauthor=False, use_site_for_root=True))


class Settings(BaseSettings):
    """Read once at start; a value that does not parse stops the start with its name."""

    model_config = SettingsConfigDict(env_prefix="BOR_", extra="ignore")

    # Where it runs
    brand: str = Field(default="Brain", max_length=60, description="The name that the page shows.")
    host: str = Field(
        default="127.0.0.1", description="Address to bind; any but loopback needs tokens."
    )
    port: int = Field(default=8000, ge=0, le=65535, description="Port to bind; 0 picks a free one.")
    workers: int = Field(default=1, ge=1, le=64, description="Server processes.")
    allowed_hosts: str = Field(
        default="", description="Further names, comma-separated, under which browsers may reach it."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="How much the log says."
    )

    # Where the data lives
    data_dir: Path = Field(
        default_factory=_data_dir,
        description="Folder of the embedded database; the platform's user data folder by default.",
    )
    database_url: str = Field(
        default="",
        description="Another PostgreSQL (16 or newer, with pg_trgm) instead of our own.",
    )
    database_pool: int = Field(
        default=16, ge=2, le=200, description="Database connections per process."
    )

    # Who may do what
    editor_tokens: SecretStr = Field(
        default=SecretStr(""), description="Comma-separated tokens that may read, chat and write."
    )
    guest_tokens: SecretStr = Field(
        default=SecretStr(""), description="Comma-separated tokens that may read and chat."
    )

    # How much is taken in
    max_document_bytes: int = Field(default=32 * MIB, ge=1, description="Largest document.")
    max_request_bytes: int = Field(default=1024 * MIB, ge=1, description="Largest upload request.")
    max_json_bytes: int = Field(
        default=MIB, ge=1024, description="Largest JSON request, a chat message."
    )

    # The model
    llm_base_url: str = Field(
        default="",
        description="OpenAI-compatible API, up to and with /v1; empty: the offline model.",
    )
    llm_model: str = Field(default="", description="Model name sent to that API.")
    llm_api_key: SecretStr = Field(
        default=SecretStr(""), description="Its key, sent as a bearer token."
    )
    llm_silence_seconds: float = Field(
        default=120.0, gt=0, description="A reply that stays silent for longer is an error."
    )
    ping_seconds: float = Field(
        default=5.0,
        gt=0,
        le=7.5,
        description="A silent stream gets a sign of life after one to two of these.",
    )
    llm_retries: int = Field(
        default=4,
        ge=0,
        le=20,
        description="Tries after the first one, while nothing was shown yet.",
    )
    llm_null_content: bool = Field(
        default=False, description="Send null instead of an empty text beside tool calls."
    )

    llm_echo_reasoning: bool = Field(
        default=False,
        description="Send the reasoning of a round back with its tool calls, as some servers want.",
    )
    context_tokens: int = Field(
        default=0,
        ge=0,
        description="Tokens that request and reply have together; 0: what the server says of it.",
    )

    # The agent
    agent_max_rounds: int = Field(
        default=12,
        ge=0,
        le=200,
        description="Rounds with tools in a turn; 0 switches all tools off.",
    )
    tool_result_characters: int = Field(
        default=24_000,
        ge=1_000,
        description="What the tool results of one round may add to the request.",
    )
    passages_characters: int = Field(
        default=9_000, ge=500, description="What the passages given at the start of a turn may add."
    )

    # Meaning
    embeddings: Literal["on", "off"] = Field(
        default="on", description="Off: documents are found by their words alone."
    )
    embeddings_base_url: str = Field(
        default="",
        description="OpenAI-compatible API, up to and with /v1; empty: the offline English model.",
    )
    embeddings_model: str = Field(default="", description="Model name sent to that API.")
    embeddings_api_key: SecretStr = Field(
        default=SecretStr(""), description="Its key, sent as a bearer token."
    )
    embeddings_floor: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Cosine that texts without anything in common reach with this model.",
    )

    # The gate
    gate: float = Field(
        default=0.41, ge=0, le=1, description="A turn is grounded at or above this score."
    )
    gate_words: float = Field(
        default=0.455, ge=0, le=1, description="The same where only words can be compared."
    )

    @field_validator("database_url")
    @classmethod
    def _psycopg_driver(cls, url: str) -> str:
        """Accept the usual spellings of a PostgreSQL URL."""
        for prefix in ("postgres://", "postgresql://"):
            if url.startswith(prefix):
                return "postgresql+psycopg://" + url.removeprefix(prefix)
        return url

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, folder: Path) -> Path:
        return folder.expanduser().absolute()
