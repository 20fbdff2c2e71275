"""What a tool is given besides its arguments, and what it gives back."""

from dataclasses import dataclass

from app.db.visible import Visible
from app.rag.context import Context, Range


@dataclass(frozen=True)
class ToolResult:
    """`text` is for the model, `summary` for the page; `added` goes into the answer context."""

    text: str
    summary: str
    failed: bool = False
    added: Range | None = None


@dataclass(frozen=True)
class ToolScope:
    """What a call may see, what the model has already, and how many characters it may get."""

    visible: Visible
    context: Context
    budget: int
