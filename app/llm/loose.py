"""Reading JSON whose shape nobody promised: what is not of the wanted type reads as empty."""

from typing import Any, cast


def fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def entries(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""
