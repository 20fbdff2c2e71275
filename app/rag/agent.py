"""The agent: the tools that the model may call, and the loop that lets it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal

import structlog

from app.db.visible import Visible
from app.llm.arguments import BadArguments, parse_arguments, replayable
from app.llm.messages import DEFAULT_CONTEXT, Reply, TextDelta, ToolCall, Waiting
from app.llm.overflow import ContextOverflow
from app.rag.budget import characters_within, conversation_tokens
from app.rag.context import Context, Range
from app.rag.decision import Agent, Decision, Task, decide
from app.rag.history import CallMade, CallStarted, RoundMade, TurnMade
from app.rag.passages import Found
from app.rag.refusals import (
    ALREADY_IN_CONTEXT,
    FAILED_TOOL,
    MISSING_READ_ARGS,
    REPEATED,
    UNKNOWN_TOOL,
)
from app.rag.requests import Tools, fitted, request_of
from app.rag.tools import ToolResult, ToolScope, run_tool

__all__ = [
    "AGENT_TOOLS",
    "ALREADY_IN_CONTEXT",
    "MISSING_READ_ARGS",
    "UNKNOWN_TOOL",
    "Agent",
    "AgentHolder",
    "Task",
    "run",
]

log = structlog.get_logger()

AT_ONCE = 8
# Of a request that was too long for a server, which may not have said what it takes.
BEARABLE_PART = 0.7
NO_WORDS = "(The model stopped without an answer.)"


def _tool(
    name: str, description: str, required: list[str], **properties: dict[str, Any]
) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def _count(description: str) -> dict[str, str]:
    return {"type": "integer", "description": description}


def _globs(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


AGENT_TOOLS: list[dict[str, Any]] = [
    _tool(
        "list_documents",
        "List the documents, sorted by source and path, with their numbers of lines;"
        " at most 200 a call.",
        [],
        source=_text("Only this source."),
        prefix=_text("Only paths that begin with this."),
        after=_text("Go on behind this document, written source/path."),
    ),
    _tool(
        "read_document",
        "Read a document, or some lines of it, as numbered lines. Lines count from 1.",
        ["source", "path"],
        source=_text("The source of the document."),
        path=_text("Its path within the source."),
        start_line=_count("First line to read; 1 if left out."),
        line_count=_count("How many lines; as many as fit if left out."),
        start_column=_count("For a line of over 2,000 characters: where in it to begin, from 1."),
    ),
    _tool(
        "search_documents",
        "Find a fixed string in all documents, ignoring case; no regular expressions. Answers"
        " source/path:LINE: text, at most 20 matches in all, sorted by source, path and line.",
        ["pattern"],
        pattern=_text("The string, to the letter; within one line."),
        source=_text("Only in this source."),
        path=_text("Only in this document of the source."),
    ),
    _tool(
        "find_documents",
        "Find documents by name: a glob, ignoring case. ** is any folders, * and ? stay inside a"
        " name, {a,b} and [a-z] work; without a / it matches names in every folder.",
        ["glob"],
        glob=_text("The glob, such as guide/**/*.md."),
        source=_text("Only in this source."),
        limit=_count("How many paths to return; 100 if left out, at most 1,000."),
    ),
    _tool(
        "grep_documents",
        "Find lines by a regular expression (RE2 syntax, one line at a time, ignoring case)."
        " Answers source/path:LINE: text, and source/path-LINE- text for lines around.",
        ["pattern"],
        pattern=_text("The expression."),
        source=_text("Only in this source."),
        path=_text("Only in this document or folder of the source."),
        include=_globs("Only paths that match one of these globs."),
        exclude=_globs("No paths that match one of these globs."),
        context=_count("Lines to show before and after each match, 0-20."),
        case_sensitive={"type": "boolean", "description": "Let case matter."},
        limit=_count("How many matches to return; 100 if left out, at most 1,000."),
    ),
]
KNOWN_TOOLS: frozenset[str] = frozenset(tool["function"]["name"] for tool in AGENT_TOOLS)


@dataclass(frozen=True)
class Finished:
    """The turn has its answer."""

    finish: Literal["answered", "deflected", "length"]


@dataclass
class AgentHolder:
    """The state of a turn: calls of known tools so far, and the ranges that they read.

    `window` is the context in tokens. `reads` and `asked` know by which call a range was read and a
    question was put: when a result leaves the request, they may be again.
    """

    visible: Visible
    context: Context
    tool_calls: int = 0
    window: int = DEFAULT_CONTEXT
    given: tuple[Found, ...] = ()
    reads: list[tuple[str, Range]] = field(default_factory=list[tuple[str, Range]])
    asked: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    @property
    def read_docs(self) -> list[Range]:
        return [lines for _, lines in self.reads]

    def read(self, call_id: str, lines: Range) -> None:
        self.context.add(lines)
        self.reads.append((call_id, lines))

    def keep(self, running: TurnMade, sent: TurnMade) -> None:
        """Forget what the turn `running` holds, but not as it was `sent`."""
        results = {call.id: call.result for made in sent.rounds for call in made.calls}
        made = {call.id: call.result for made in running.rounds for call in made.calls}
        gone = {call_id for call_id in made if made[call_id] != results[call_id]}
        self.reads = [(i, lines) for i, lines in self.reads if i not in gone]
        self.asked = {asked: i for asked, i in self.asked.items() if i not in gone}
        self.context = Context.of(self.given if running.prompt == sent.prompt else ())
        for lines in self.read_docs:
            self.context.add(lines)


Step = Decision | TextDelta | Waiting | CallStarted | CallMade | RoundMade | Finished


async def run(agent: Agent, task: Task) -> AsyncGenerator[Step]:
    """One turn: retrieve, decide, then rounds of a reply and its tools, until words end it.

    Whoever iterates stores each `RoundMade` before asking for the next step.
    """
    decision = await decide(agent, task)
    yield decision
    holder = AgentHolder(task.visible, Context.of(decision.given), given=decision.given)
    holder.window = await agent.model.context_tokens()
    with_tools = agent.settings.agent_max_rounds if decision.grounded else 0
    rounds: list[RoundMade] = []
    reply = Reply("")
    for number in range(with_tools + 1):
        tools = AGENT_TOOLS if number < with_tools else []
        turns = (*task.history, TurnMade(decision.prompt, tuple(rounds)))
        async with aclosing(_reply(agent, holder, turns, tools)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    reply = piece
                else:
                    yield piece
        if not (tools and reply.calls):
            break
        async with aclosing(_call_tools(agent, holder, reply, rounds)) as steps:
            async for step in steps:
                yield step
    if not reply.text:
        yield TextDelta(NO_WORDS)
    yield RoundMade(reply.text or NO_WORDS)
    yield Finished(_finish(decision, reply))


async def _reply(
    agent: Agent, holder: AgentHolder, turns: Sequence[TurnMade], tools: Tools
) -> AsyncGenerator[TextDelta | Waiting | Reply]:
    """Stream the reply to the turns as they fit, and to less of them once if they do not."""
    shown = again = False
    while True:
        sent = fitted(turns, tools, holder.window)
        holder.keep(turns[-1], sent[-1])
        try:
            async with aclosing(agent.model.stream(request_of(sent, tools))) as pieces:
                async for piece in pieces:
                    shown = shown or isinstance(piece, TextDelta)
                    yield piece
        except ContextOverflow:
            if shown or again:
                raise
            again = True
            bearable = int(conversation_tokens(sent) * BEARABLE_PART)
            holder.window = min(await agent.model.context_tokens(), bearable)
        else:
            return


async def _call_tools(
    agent: Agent, holder: AgentHolder, reply: Reply, rounds: list[RoundMade]
) -> AsyncGenerator[CallStarted | CallMade | RoundMade]:
    """Run the calls of a reply; the round that they complete comes last, and into `rounds`."""
    calls = _named_apart(reply.calls, rounds)
    made: dict[str, CallMade] = {}
    async with aclosing(_execute(agent, holder, calls)) as steps:
        async for step in steps:
            if isinstance(step, CallMade):
                made[step.id] = step
            yield step
    done = tuple(made[call.id] for call in calls)
    rounds.append(RoundMade(reply.text, done, reply.thinking, reply.reasoning))
    yield rounds[-1]


def _finish(decision: Decision, reply: Reply) -> Literal["answered", "deflected", "length"]:
    if decision.deflected:
        return "deflected"
    return "length" if reply.finish == "length" else "answered"


def _named_apart(calls: Sequence[ToolCall], rounds: Sequence[RoundMade]) -> list[ToolCall]:
    """Calls with ids that no other call of the turn has, whatever the model made up."""
    taken = {call.id for made in rounds for call in made.calls}
    apart: list[ToolCall] = []
    for call in calls:
        name = call.id or "call"
        if name in taken:
            name = next(f"{name}-{n}" for n in count(2) if f"{name}-{n}" not in taken)
        taken.add(name)
        apart.append(replace(call, id=name))
    return apart


async def _execute(
    agent: Agent, holder: AgentHolder, calls: Sequence[ToolCall]
) -> AsyncGenerator[CallStarted | CallMade]:
    """Run the calls of one reply, eight at a time; they share one budget of characters."""
    wanted = agent.settings.tool_result_characters
    budget = characters_within(holder.window, wanted) // len(calls)
    for start in range(0, len(calls), AT_ONCE):
        running: list[asyncio.Task[CallMade]] = []
        try:
            for call in calls[start : start + AT_ONCE]:
                yield CallStarted(call.id, call.name, replayable(call.arguments), _argument(call))
                running.append(asyncio.create_task(_execute_tool(agent, holder, call, budget)))
            for finished in asyncio.as_completed(running):
                yield await finished
        finally:
            for unfinished in running:
                unfinished.cancel()


async def _execute_tool(agent: Agent, holder: AgentHolder, call: ToolCall, budget: int) -> CallMade:
    """Run one call; whatever goes wrong becomes a sentence for the model."""
    result = await _result(agent, holder, call, budget)
    if result.added is not None:
        holder.read(call.id, result.added)
    return CallMade(
        id=call.id,
        name=call.name,
        arguments=replayable(call.arguments),
        argument=_argument(call),
        result=result.text,
        summary=result.summary,
        failed=result.failed,
    )


async def _result(agent: Agent, holder: AgentHolder, call: ToolCall, budget: int) -> ToolResult:
    if call.name not in KNOWN_TOOLS:
        return ToolResult(UNKNOWN_TOOL, "unknown tool", failed=True)
    holder.tool_calls += 1
    try:
        arguments = parse_arguments(call.arguments)
    except BadArguments as error:
        return ToolResult(str(error), "malformed call", failed=True)
    asked = (call.name, json.dumps(arguments, sort_keys=True))
    if asked in holder.asked and call.name != "read_document":
        return ToolResult(REPEATED, "same as before", failed=False)
    scope = ToolScope(holder.visible, holder.context, budget)
    try:
        result = await run_tool(agent.sessions, call.name, arguments, scope)
    except Exception:  # a tool that fails must not end the turn
        log.exception("tool failed", tool=call.name)
        return ToolResult(FAILED_TOOL, "failed", failed=True)
    holder.asked[asked] = call.id
    return result


def _argument(call: ToolCall) -> str | None:
    """What the page says the call is about."""
    try:
        arguments = parse_arguments(call.arguments)
    except BadArguments:
        return None
    match call.name:
        case "read_document":
            return "/".join(str(arguments.get(key) or "?") for key in ("source", "path"))
        case "search_documents" | "grep_documents" | "find_documents":
            about = arguments.get("glob" if call.name == "find_documents" else "pattern")
            return about if isinstance(about, str) else None
        case _:
            return None
