"""Turns of the offline model, with tools over a few documents held in a dict."""

from collections.abc import Mapping
from typing import Any

from app.llm.arguments import parse_arguments
from app.llm.messages import (
    AssistantMessage,
    LlmRequest,
    Message,
    Reply,
    SystemMessage,
    TextDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from app.llm.offline import OfflineModel

DOCUMENTS = {
    "acme/guide/setup.md": "# Setup\nport = 8081\nlast line",
    "acme/handbook/leave.md": """# Leave policy

Every employee has 28 days of paid leave a year. Unused days move to the next
year until 31 March and are lost after that.

## Notice period

During the probation of six months either side may end the contract with two
weeks' notice. After probation the notice period is three months to the end of
a quarter.
""",
    "acme/ops/run[1].md": """# Runbook

| service | port | owner |
|---------|------|-------|
| billing | 8443 | Dana Fields |
| search  | 9200 | Ops team |

## Restart the billing service

Do this only when the health check fails:

1. Drain the queue with `billctl drain`.
2. Run `systemctl restart billing`.
3. Check that `/healthz` answers 200.

A client gives up with ERR_4821 once its “budget” is used up.
""",
    "acme/faq.txt": """Q: How often are backups made?
A: Every night at 02:30, kept for 35 days.

Q: Who do I ask about invoices?
A: Write to accounts@acme.example.
""",
    "haus/mietvertrag.md": """# Mietvertrag
§ 3 Die monatliche Kaltmiete beträgt 840 Euro.
§ 7 Die Kündigungsfrist beträgt drei Monate zum Monatsende.
""",
    "zh/指南.md": "# 指南\n默认端口是八千零八十一。\n密码存储在保险库中。\n",
    "acme/long.txt": f"{'filler words ' * 90}but the vault code is 7714 today {'x y ' * 300}",
}  # fmt: skip
TOOLS = tuple({"function": {"name": name}} for name in ("search_documents", "read_document"))


def run_tool(name: str, arguments: Mapping[str, Any], documents: Mapping[str, str]) -> str:
    if name == "search_documents":
        wanted = arguments["pattern"].casefold()
        hits = [
            f"{place}:{number}: {line[:200]}{'…' if len(line) > 200 else ''}"
            for place, text in sorted(documents.items())
            for number, line in enumerate(text.split("\n"), 1)
            if wanted in line.casefold()
        ]
        return "\n".join(hits[:20]) or f"No line holds “{arguments['pattern']}”."
    lines = documents[f"{arguments['source']}/{arguments['path']}"].split("\n")
    first = arguments["start_line"]
    last = min(len(lines), first + arguments["line_count"] - 1)
    head = f"source: {arguments['source']} path: {arguments['path']} lines {first}-{last} of 99"
    return "\n".join([head, *(f"{n}: {lines[n - 1]}" for n in range(first, last + 1))])


async def reply_to(*messages: Message, tools: tuple[Any, ...] = ()) -> Reply:
    pieces = [piece async for piece in OfflineModel().stream(LlmRequest(messages, tools))]
    reply = pieces[-1]
    assert isinstance(reply, Reply)
    assert reply.text == "".join(
        piece.text for piece in pieces[:-1] if isinstance(piece, TextDelta)
    )
    return reply


def grounded(question: str, passages: str = "") -> UserMessage:
    return UserMessage(f"<documents>\n{passages}\n</documents>\n\nQuestion: {question}")


def shown(source: str, path: str) -> str:
    """A passage that holds all of a document."""
    lines = DOCUMENTS[f"{source}/{path}"].split("\n")
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))
    opening = f'<passage source="{source}" path="{path}" lines="1-{len(lines)}">'
    return f"{opening}\n{numbered}\n</passage>"


async def converse(*asked: Message) -> tuple[str, list[ToolCall]]:
    """The answer, and the calls made for it."""
    messages: list[Message] = [SystemMessage("Be brief."), *asked]
    calls: list[ToolCall] = []
    for _ in range(6):
        reply = await reply_to(*messages, tools=TOOLS)
        if not reply.calls:
            return reply.text, calls
        calls += reply.calls
        messages.append(AssistantMessage(reply.text, reply.calls))
        for call in reply.calls:
            result = run_tool(call.name, parse_arguments(call.arguments), DOCUMENTS)
            messages.append(ToolMessage(call.id, result))
    raise AssertionError("it never answers")
