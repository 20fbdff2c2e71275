"""The rules that CONTRIBUTING.md states, checked on the code itself."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any, get_args

from app.schemas import ChatEvent
from app.settings import Settings

ROOT = Path(__file__).parents[2]
APP = sorted((ROOT / "app").rglob("*.py"))
FRONTEND = sorted((ROOT / "frontend").rglob("*.js"))
# The schema on one page, what crosses HTTP, the settings, and the tools with their loop.
LONG_FILES = {"models.py": 500, "schemas.py": 500, "settings.py": 500, "agent.py": 500}
LAYERS = {
    **dict.fromkeys(("models", "settings", "errors", "text", "stop_words", "schemas", "logs"), 0),
    **dict.fromkeys(("db", "access"), 1),
    **dict.fromkeys(("documents", "search", "llm"), 2),
    "rag": 3,
    "chat": 4,
    **dict.fromkeys(
        (
            "dependencies",
            "doors",
            "guard",
            "handlers",
            "main",
            "serving",
            "shutdown",
            "cli",
            "commands",
        ),
        5,
    ),
}
SQL_BUILDERS = {"select", "insert", "update", "delete", "text"}
OUTWARD = {"httpx", "httpx_sse", "urllib.request", "http.client", "requests"}


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(parse(path)))


@cache
def imports_of(path: Path) -> list[tuple[str, list[str]]]:
    """Module and names of every import, those inside of functions too."""
    imports: list[tuple[str, list[str]]] = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            imports += [(alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports.append((node.module, [alias.name for alias in node.names]))
    return imports


def functions_of(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [n for n in nodes_of(path) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def layer_of(parts: tuple[str, ...]) -> int:
    top, *inside = parts
    is_routes = bool(inside) and inside[-1].startswith(("routes", "uploads"))
    return 5 if is_routes else LAYERS[top]


def test_no_module_imports_from_a_layer_above_it() -> None:
    for path in APP:
        check_direction(path)


def check_direction(path: Path) -> None:
    own = path.relative_to(ROOT / "app").with_suffix("").parts
    if own[-1] == "__init__":
        return
    for module, _ in imports_of(path):
        if module.startswith("app."):
            assert layer_of(tuple(module.split(".")[1:])) <= layer_of(own), (
                f"{name_of(path)}: {module}"
            )


def test_search_knows_nothing_of_documents_nor_the_model_of_either() -> None:
    forbidden = {"search": ("documents", "llm"), "llm": ("documents", "search")}
    for folder, others in forbidden.items():
        for path in (ROOT / "app" / folder).rglob("*.py"):
            for module, _ in imports_of(path):
                assert not module.startswith(tuple(f"app.{other}" for other in others)), name_of(
                    path
                )


def test_files_are_short() -> None:
    for path in (*APP, *FRONTEND):
        check_length(path)


def check_length(path: Path) -> None:
    lines = path.read_text("utf-8").count("\n")
    most = LONG_FILES.get(path.name, 150 if path.suffix == ".js" else 200)
    assert lines <= most, name_of(path)


def test_functions_are_short_and_take_few_parameters() -> None:
    for path in APP:
        check_functions(path)


def check_functions(path: Path) -> None:
    for function in functions_of(path):
        assert function.end_lineno is not None
        assert function.end_lineno - function.lineno < 30, f"{name_of(path)}: {function.name}"
        arguments = function.args
        taken = [
            a
            for a in (*arguments.posonlyargs, *arguments.args)
            if a.arg not in {"self", "cls"} and not _is_option(a)
        ]
        assert len(taken) + len(arguments.kwonlyargs) <= 5, f"{name_of(path)}: {function.name}"


def _is_option(argument: ast.arg) -> bool:
    """An option of a command: typer knows no other place for it."""
    annotation = ast.unparse(argument.annotation) if argument.annotation else ""
    return "typer." in annotation


def test_every_module_says_what_it_is_for() -> None:
    for path in APP:
        check_docstring(path)


def check_docstring(path: Path) -> None:
    if path.name != "__init__.py":
        docstring = ast.get_docstring(parse(path))
        assert docstring, name_of(path)
        assert path.read_text("utf-8").startswith('"""')


def test_only_the_edges_know_fastapi() -> None:
    for path in APP:
        if any(module.split(".")[0] == "fastapi" for module, _ in imports_of(path)):
            edges = {"dependencies.py", "handlers.py", "main.py", "serving.py"}
            at_edge = path.name in edges or path.name.startswith(("routes", "uploads"))
            assert at_edge or path.parent.name == "doors", name_of(path)


def test_only_queries_build_sql() -> None:
    for path in APP:
        built = {
            name
            for module, names in imports_of(path)
            if module.startswith("sqlalchemy")
            for name in names
        }
        if built & SQL_BUILDERS:
            parts = path.relative_to(ROOT / "app").parts
            allowed = path.name.startswith("queries") or parts[0] in {"search", "db"}
            assert allowed or parts == ("models.py",)


def test_only_clients_speak_http_outward() -> None:
    for path in APP:
        if any(module in OUTWARD for module, _ in imports_of(path)):
            parts = path.relative_to(ROOT / "app").parts
            # Two open a client, and close it in the end; the commands speak to another Brain.
            known = {("main.py",), ("rag", "embedders.py"), ("rag", "embeddings.py")}
            assert parts[0] in {"llm", "commands"} or parts in known


def test_nobody_commits_by_hand() -> None:
    for path in APP:
        if path.relative_to(ROOT / "app").parts[0] != "db":
            assert ".commit(" not in path.read_text("utf-8"), name_of(path)


def test_every_query_over_documents_says_what_is_visible() -> None:
    """`visible` is required in each public query that reads documents or passages."""
    asked = 0
    for path in APP:
        parts = path.relative_to(ROOT / "app").parts
        if parts[0] not in {"documents", "search", "rag"} or path.name.startswith("routes"):
            continue
        for function in functions_of(path):
            arguments = function.args
            names = [a.arg for a in (*arguments.args, *arguments.kwonlyargs)]
            queried = names[:1] == ["session"] and not function.name.startswith("_")
            if not queried or not _reads_documents(function, path):
                continue
            asked += 1
            required = names[: len(arguments.args) - len(arguments.defaults)] + [
                a.arg
                for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
                if default is None
            ]
            # A document that is known by its id was found by a query that asked.
            assert {"visible", "turn", "query", "document_id"} & set(required), (
                f"{name_of(path)}: {function.name}"
            )
    assert asked > 5


def _reads_documents(function: ast.AsyncFunctionDef | ast.FunctionDef, path: Path) -> bool:
    source = ast.get_source_segment(path.read_text("utf-8"), function) or ""
    return bool(re.search(r"\b(Document|Passage|all_of|is_visible)\b", source))


def test_the_readme_lists_every_setting() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    missing = [n for n in Settings.model_fields if f"`BOR_{n.upper()}`" not in readme]
    assert missing == []


def test_the_page_handles_every_event() -> None:
    page = "\n".join(path.read_text("utf-8") for path in FRONTEND)
    union: Any = ChatEvent
    for event in get_args(get_args(union)[0]):
        kind: str = event.model_fields["type"].default
        assert re.search(rf"\b{kind}\b\s*[:(]|[\"']{kind}[\"']", page), kind
