"""What the mock LLM says: markers in the user's last question decide, and nothing else."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.e2e.mock_wire import Json

_QUESTION = re.compile(
    r"(?:\A|^</documents>\n\s*|^Sources:\n.*?\n\s*^)Question: (.*)\Z", re.MULTILINE | re.DOTALL
)
_LISTED = re.compile(r"^source: (\S+) path: (.+) \([\d,]+ lines?\)", re.MULTILINE)
_READ = re.compile(
    r"^source: (\S+) path: (.+) lines (\d+)-\d+ of \d+\n\s*\d+[:\t] ?(.*)", re.MULTILINE
)
_MATCH = re.compile(r"^([^\s:]+/[^:\n]+):(\d+): (.*)$", re.MULTILINE)
_PASSAGE = re.compile(
    r'^<passage source="(.+?)" path="(.+?)" .*>\n\s*(\d+)[:\t] ?(.*)', re.MULTILINE
)
_RESULT = re.compile(r"\[Result\]\n(.*?)\n\[End of result\]", re.DOTALL)
_SEARCH = re.compile(r"search (?:everywhere twice )?for (?:\"([^\"]+)\"|'([^']+)')")

MARKDOWN = """# A heading

| port | use |
|------|-----|
| 8081 | the service |

```python
print("<think> stays here")
```

1. first
2. second
"""
EVIL = """<script>window.pwned = 1</script><img src="x" onerror="window.pwned = 2">

<iframe src="https://evil.example/"></iframe> [click](javascript:window.pwned=3)
[leak](https://evil.example/?q=secret) ![pixel](https://evil.example/pixel.png)
<a href="data:text/html,<script>window.pwned=4</script>">data</a>
"""
_FIXED = {"markdown": MARKDOWN, "evil": EVIL}
_FIRST_CALLS: dict[str, list[tuple[str, Json]]] = {
    "use your tools": [("list_documents", {})],
    "parallel tools": [("search_documents", {"pattern": p}) for p in ("port", "alpha", "beta")],
    "unknown tool": [("search_files", {"pattern": "port"})],
}


@dataclass(frozen=True)
class Planned:
    """A reply: text in pieces, calls, and how it goes wrong."""

    text: str = ""
    calls: tuple[tuple[str, Json], ...] = ()
    status: int = 200
    pause: float = 0.0
    silence: float = 0.0
    breaks_off: bool = False


@dataclass(frozen=True)
class Asked:
    """A request as the markers see it; `results` are those of this turn, `rounds` its replies."""

    question: str
    prompt: str
    results: tuple[str, ...]
    rounds: int
    has_tools: bool


def read_request(body: Json) -> Asked:
    messages: list[Json] = body["messages"]
    at = _asked_at(messages)
    prompt = str(messages[at]["content"])
    found = _QUESTION.search(prompt)
    since = messages[at + 1 :]
    results = [message["content"] for message in since if message["role"] == "tool"]
    as_text = [text for m in since for text in _RESULT.findall(m.get("content") or "")]
    return Asked(
        question=found[1] if found else prompt,
        prompt=prompt,
        results=tuple(results or as_text),
        rounds=sum(bool(message.get("tool_calls")) for message in since) or len(as_text),
        has_tools=bool(body.get("tools")),
    )


def _asked_at(messages: Sequence[Json]) -> int:
    """The last user message, but not one that only closes the rounds, behind results as text."""
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    before = str(messages[users[-1] - 1]["content"]) if users[-1] else ""
    return users[-2] if before.endswith("[End of result]") and len(users) > 1 else users[-1]


def plan(asked: Asked, attempt: int) -> Planned:
    """The reply to a request that comes for the `attempt`-th time (from 1)."""
    if planned := _failing(asked, attempt):
        return planned
    if asked.has_tools and (calls := _calls(asked)):
        return Planned(calls=tuple(calls))
    return Planned(_answer(asked))


def _failing(asked: Asked, attempt: int) -> Planned | None:
    question = asked.question
    if number := _number("fail with", question):
        return Planned(status=number)
    if "fail once" in question and attempt == 1:
        return Planned(status=503)
    if seconds := _number("silent", question):
        return Planned("I was silent.", silence=seconds)
    if "slow answer" in question:
        return Planned(" ".join(f"word{n}" for n in range(1, 31)), pause=0.2)
    if "break off" in question:
        return Planned("This answer breaks off in the middle of", breaks_off=True)
    return None


def _calls(asked: Asked) -> Sequence[tuple[str, Json]]:
    if asked.rounds < (_number("many tools", asked.question) or 0):
        return [("search_documents", {"pattern": f"round {asked.rounds + 1}"})]
    if asked.rounds == 0 or ("everywhere twice" in asked.question and asked.rounds == 1):
        return _first_calls(asked.question)
    if asked.rounds == 1 and "use your tools" in asked.question:
        listed = _LISTED.search(asked.results[0])
        return [("read_document", {"source": listed[1], "path": listed[2]})] if listed else []
    return []


def _first_calls(question: str) -> Sequence[tuple[str, Json]]:
    if found := _SEARCH.search(question):
        return [("search_documents", {"pattern": found[1] or found[2]})]
    return next((calls for marker, calls in _FIRST_CALLS.items() if marker in question), ())


def _answer(asked: Asked) -> str:
    if fixed := [text for marker, text in _FIXED.items() if marker in asked.question]:
        return fixed[0]
    if _number("many tools", asked.question):
        return f"I searched {asked.rounds} times."
    if "unknown tool" in asked.question:
        return "The tool said: " + "\n".join(asked.results)
    return _from_documents(asked)


def _from_documents(asked: Asked) -> str:
    results = "\n".join(asked.results)
    if read := _READ.search(results):
        return f"It begins “{read[4].strip()}” {_cited(f'{read[1]}/{read[2]}', read[3])}."
    if match := _MATCH.search(results):
        return f"The documents say: {match[3]} {_cited(match[1], match[2])}"
    if found := _SEARCH.search(asked.question):
        return f"No match for {found[1] or found[2]}."
    if passage := _PASSAGE.search(asked.prompt):
        cited = _cited(f"{passage[1]}/{passage[2]}", passage[3])
        return f"The documents say “{passage[4].strip()}” {cited}."
    return "The documents do not cover this."


def _cited(name: str, line: str) -> str:
    return f"[{name.replace(']', '%5D')}:{line}]"


def _number(marker: str, question: str) -> int | None:
    found = re.search(rf"{marker} (\d+)", question)
    return int(found[1]) if found else None
