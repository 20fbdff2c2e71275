"""How a turn begins: do the documents cover the question, and what is the model told?"""

from dataclasses import dataclass

from app.db.engine import Sessions
from app.db.visible import Visible
from app.documents.queries import source_names
from app.llm.messages import Model
from app.rag.budget import characters_within
from app.rag.history import TurnMade
from app.rag.passages import Found, best_within
from app.rag.prompt import MOST_SOURCES, deflected_message, grounded_message
from app.rag.retrieval import SMALL_TALK, Finding, Question, retrieve
from app.settings import Settings


@dataclass(frozen=True)
class Agent:
    """What every turn needs."""

    settings: Settings
    sessions: Sessions
    model: Model


@dataclass(frozen=True)
class Task:
    """What one turn is asked, and what came before it."""

    message: str
    history: tuple[TurnMade, ...] = ()
    previous: str | None = None
    visible: Visible = None
    search_anyway: bool = False


@dataclass(frozen=True)
class Decision:
    """Whether the turn is grounded, why, and the user's message as the model gets it."""

    grounded: bool
    finding: Finding
    given: tuple[Found, ...]
    prompt: str

    @property
    def deflected(self) -> bool:
        return not self.grounded and self.finding.reason != SMALL_TALK


async def decide(agent: Agent, task: Task) -> Decision:
    """Retrieve and judge; a session is open only while the database works."""
    settings = agent.settings
    question = Question(task.message, task.previous, settings.gate_words)
    async with agent.sessions() as session:
        finding = await retrieve(session, question, task.visible)
        is_covered = finding.grounded or finding.reason == SMALL_TALK or task.search_anyway
        sources = [] if is_covered else await source_names(session, task.visible, MOST_SOURCES)
    if finding.grounded or task.search_anyway:
        room = await agent.model.context_tokens()
        wanted = characters_within(room, settings.passages_characters)
        given = tuple(best_within(finding.passages, wanted))
        return Decision(True, finding, given, grounded_message(task.message, given))
    if finding.reason == SMALL_TALK:
        return Decision(False, finding, (), task.message)
    return Decision(False, finding, (), deflected_message(task.message, sources))
