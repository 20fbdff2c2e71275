"""How well retrieval and the gate do on questions whose answers are known."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from app.db.visible import Visible
from app.errors import InvalidRequest
from app.rag.retrieval import Finding, Question, Retriever, retrieve

HIT_RANKS = (1, 5, 10)


class KnownQuestion(BaseModel):
    """A row of a question file; `path` and `line` say where the answer stands."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str
    expect: Literal["grounded", "deflected"]
    source: str | None = None
    path: str | None = None
    line: int | None = None
    previous: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a question; `rank` counts from 1, None when the passage was not found."""

    known: KnownQuestion
    finding: Finding
    rank: int | None

    @property
    def expected(self) -> bool:
        return self.known.expect == "grounded"

    @property
    def is_right(self) -> bool:
        return self.finding.grounded == self.expected


@dataclass(frozen=True)
class Evaluation:
    """The outcomes of all questions, and what they amount to."""

    outcomes: Sequence[Outcome]

    def count(self, *, expected: bool, grounded: bool) -> int:
        return sum(o.expected == expected and o.finding.grounded == grounded for o in self.outcomes)

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean share of right decisions on both sides; None when one side has no question."""
        shares = [self._share_right(expected) for expected in (True, False)]
        known = [share for share in shares if share is not None]
        return sum(known) / 2 if len(known) == 2 else None

    @property
    def auc(self) -> float | None:
        """How often a covered question scores higher than one that is not, ties as half."""
        covered = self.scores(expected=True)
        others = sorted(self.scores(expected=False))
        if not covered or not others:
            return None
        below = sum((bisect_left(others, s) + bisect_right(others, s)) / 2 for s in covered)
        return below / len(covered) / len(others)

    def scores(self, *, expected: bool) -> list[float]:
        """The scores of the covered questions, or of the others."""
        return [o.finding.score for o in self.outcomes if o.expected == expected]

    def hit_rate(self, rank: int) -> float | None:
        """The share of located questions whose passage is among the first `rank`."""
        located = self._located()
        hits = sum(o.rank is not None and o.rank <= rank for o in located)
        return hits / len(located) if located else None

    @property
    def mean_reciprocal_rank(self) -> float | None:
        located = self._located()
        return sum(1 / o.rank for o in located if o.rank) / len(located) if located else None

    def worst_misses(self, limit: int) -> list[Outcome]:
        """Wrong decisions, the furthest from the threshold first; then passages not found."""
        wrong = [o for o in self.outcomes if not o.is_right]
        wrong.sort(key=lambda o: -abs(o.finding.score - o.finding.threshold))
        unfound = [o for o in self._located() if o.is_right and o.rank is None]
        return [*wrong, *unfound][:limit]

    def _located(self) -> list[Outcome]:
        return [o for o in self.outcomes if o.expected and o.known.path is not None]

    def _share_right(self, expected: bool) -> float | None:
        side = [o for o in self.outcomes if o.expected == expected]
        return sum(o.is_right for o in side) / len(side) if side else None


def read_questions(lines: Iterable[str]) -> list[KnownQuestion]:
    """The rows of a question file (JSON Lines); raises `InvalidRequest` with the line's number."""
    questions: list[KnownQuestion] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            questions.append(KnownQuestion.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise InvalidRequest(f"Line {number}: {where}: {first['msg']}.") from None
    return questions


async def evaluate(retriever: Retriever, known: KnownQuestion, visible: Visible) -> Outcome:
    """Ask one question, exactly as a turn does."""
    finding = await retrieve(retriever, Question(known.question, known.previous), visible)
    return Outcome(known, finding, _rank(known, finding))


def _rank(known: KnownQuestion, finding: Finding) -> int | None:
    for rank, passage in enumerate(finding.passages, 1):
        same = passage.path == known.path and known.source in (None, passage.source)
        if same and (known.line is None or passage.first_line <= known.line <= passage.last_line):
            return rank
    return None
