"""The container files agree with the program: its settings, its files, its commands."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.cli import cli
from app.settings import Settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = (ROOT / "docker-compose.yml").read_text()
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]


def instructions(name: str) -> list[str]:
    """The arguments of each `name` instruction, with continued lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{name} +(.+)$", joined, flags=re.MULTILINE)


def copied() -> list[str]:
    return [source for line in instructions("COPY") for source in line.split()[:-1]]


def test_the_app_waits_for_a_healthy_database() -> None:
    assert set(SERVICES) == {"app", "postgres"}
    assert SERVICES["app"]["depends_on"]["postgres"]["condition"] == "service_healthy"
    assert SERVICES["postgres"]["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]


def test_the_database_brings_pgvector() -> None:
    assert SERVICES["postgres"]["image"].startswith("pgvector/pgvector:")


def test_both_services_keep_their_files_in_volumes() -> None:
    declared = set(yaml.safe_load(COMPOSE)["volumes"])
    mounted = {volume.split(":")[0] for each in SERVICES.values() for volume in each["volumes"]}
    assert mounted == declared


def test_the_app_does_not_come_up_without_tokens() -> None:
    assert SERVICES["app"]["environment"]["BOR_EDITOR_TOKENS"].startswith("${BOR_EDITOR_TOKENS:?")


@pytest.mark.parametrize("text", [DOCKERFILE, COMPOSE], ids=["Dockerfile", "docker-compose.yml"])
def test_every_variable_is_a_setting(text: str) -> None:
    settings = {f"BOR_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"\bBOR_\w+", text)) <= settings


def test_the_image_copies_what_exists_and_is_sent_to_it() -> None:
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    assert [path for path in copied() if not (ROOT / path).exists()] == []
    assert [path for path in copied() if f"!{path}" not in sent] == []


def test_the_image_runs_as_an_ordinary_user_and_checks_its_health() -> None:
    assert instructions("USER") == ["brain"]
    assert "/healthz" in instructions("HEALTHCHECK")[0]


def test_the_image_starts_a_command_that_exists() -> None:
    program, command = json.loads(instructions("CMD")[0])[:2]
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert program in scripts
    known = [entry.callback for entry in cli.registered_commands if entry.callback]
    assert command in {callback.__name__ for callback in known}
