"""`bor eval`: the questions of a file against the stored documents, as tables."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.progress import track
from rich.table import Table

from app.db.engine import create_engine, create_sessions
from app.db.visible import Visible
from app.rag.embedders import open_meaning
from app.rag.evaluation import HIT_RANKS, Evaluation, KnownQuestion, Outcome, evaluate
from app.rag.progress import meaning_state
from app.rag.retrieval import Retriever, gate_of
from app.settings import Settings

MISSES = 10


async def ask_all(
    settings: Settings, questions: Sequence[KnownQuestion], visible: Visible, console: Console
) -> Evaluation:
    """Ask the database of the settings, as its server would; say so when meaning is missing."""
    engine = create_engine(settings.database_url, pool_size=2)
    sessions = create_sessions(engine)
    try:
        async with open_meaning(settings, sessions) as meaning:
            retriever = Retriever(sessions, meaning, gate_of(settings))
            if (state := await meaning_state(retriever)) != "ready":
                console.print(f"Meaning: {state}.", style="yellow", markup=False)
            asking = track(questions, "Asking", console=console, transient=True)
            return Evaluation([await evaluate(retriever, known, visible) for known in asking])
    finally:
        await engine.dispose()


def show(evaluation: Evaluation, console: Console) -> None:
    """Print the confusion matrix, the figures and the worst misses."""
    console.print(_confusion(evaluation))
    console.print(_figures(evaluation))
    if misses := evaluation.worst_misses(MISSES):
        console.print(_misses(misses))


def _confusion(evaluation: Evaluation) -> Table:
    table = Table("", "grounded", "deflected", title="What became of the questions")
    for expected, name in ((True, "covered"), (False, "not covered")):
        counts = [evaluation.count(expected=expected, grounded=g) for g in (True, False)]
        table.add_row(name, *map(str, counts))
    return table


def _figures(evaluation: Evaluation) -> Table:
    table = Table("figure", "value", title="How well retrieval and the gate do")
    table.add_row("balanced accuracy", _shown(evaluation.balanced_accuracy))
    table.add_row("AUC", _shown(evaluation.auc))
    for rank in HIT_RANKS:
        table.add_row(f"hit@{rank}", _shown(evaluation.hit_rate(rank)))
    table.add_row("MRR", _shown(evaluation.mean_reciprocal_rank))
    return table


def _misses(misses: Iterable[Outcome]) -> Table:
    table = Table("question", "expected", "score", "why", title="The worst misses")
    for miss in misses:
        where = f" in {miss.known.path}" if miss.known.path else ""
        score = f"{miss.finding.score:.3f}"
        reason = miss.finding.reason if not miss.is_right else "The passage was not found."
        table.add_row(miss.known.question, f"{miss.known.expect}{where}", score, reason)
    return table


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
