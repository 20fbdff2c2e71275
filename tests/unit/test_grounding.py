"""What of a question is looked up to the letter, what follows up, and how the gate counts."""

import math

import pytest

from app.rag.follow_ups import is_follow_up
from app.rag.grounding import Evidence, Gate, Weights, rarity
from app.rag.lookups import lookups
from app.rag.small_talk import is_small_talk


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What is ERR_4821?", ["ERR_4821"]),
        (
            "Is retry-budget_ms, of 2026-0091, in LOT#A4-77.",
            ["retry-budget_ms", "2026-0091", "LOT#A4-77"],
        ),
        ("Where does std::vector or getUserName stand?", ["std::vector", "getUserName"]),
        ("Mail a.b@example.org about v1.2.3!", ["a.b@example.org", "v1.2.3"]),
        ("Who says “hello world” or „guten Tag“ or `x y`?", ["hello world", "guten Tag", "x y"]),
        ("What happened in the 1950s and the 19th century?", []),
        ("How much is it? Why (or not)?", []),
        ("", []),
    ],
)
def test_identifiers_and_quoted_phrases_are_looked_up(question: str, found: list[str]) -> None:
    assert lookups(question) == found


@pytest.mark.parametrize(
    "message",
    [
        "Hello!",
        "hi there",
        "Thank you so much",
        "thanks, that's great",
        "thanks, that helped",
        "Guten Morgen!",
        "Merci beaucoup",
        "¡Hola! ¿Qué tal?",
        "How are you?",
        "Good morning, how are you today?",
        "👋 hello",
        "你好",
        "ok",
    ],
)
def test_greetings_and_thanks_are_small_talk(message: str) -> None:
    assert is_small_talk(message)


@pytest.mark.parametrize(
    "message",
    [
        "Hello, which port does the setup use?",
        "What is the help line?",
        "Thanks. And the port?",
        "",
        "How are you supposed to restart the service?",
        "?",
        "hello " * 40,
        "brain",
        "Who made the cup?",
        "Do you have the invoice from May?",
        "Hello, do you have the port list?",
        "You are hired",
    ],
)
def test_a_question_of_substance_is_not(message: str) -> None:
    assert not is_small_talk(message)


@pytest.mark.parametrize(
    ("message", "informative", "follows"),
    [
        ("And what does it cost?", 2, True),
        ("What about Berlin?", 1, True),
        ("Why?", 0, True),
        ("What is the port?", 1, True),
        ("Which port?", 1, True),
        ("How long is it?", 1, True),
        ("Who is on call?", 1, False),
        ("What is heapq?", 1, False),
        ("Und wo steht das?", 1, True),
        ("Who designed the garden of the palace in Vienna?", 4, False),
    ],
)
def test_follow_ups_are_recognised(message: str, informative: int, follows: bool) -> None:
    assert is_follow_up(message, informative) is follows


def test_a_word_that_no_passage_has_counts_most() -> None:
    assert rarity(1_000, 0) == pytest.approx(math.log(2_002))
    assert rarity(1_000, 0) > rarity(1_000, 1) > rarity(1_000, 500)


def test_in_a_single_passage_a_found_word_still_counts() -> None:
    assert rarity(1, 1) > rarity(1, 0) / 2


def test_the_score_is_damped_coverage() -> None:
    weights = Weights(1_000, {"port": 4.0, "setup": 6.0})
    assert weights.coverage(4.0) == pytest.approx(0.4)
    assert weights.score(Evidence(10.0)) == pytest.approx(10 / (10 + 0.5 * math.log(2_002)))
    assert Weights(1_000, {}).score(Evidence()) == 0.0


def test_the_score_of_a_passage_with_a_vector_is_half_meaning() -> None:
    weights = Weights(1_000, {"port": 4.0, "setup": 6.0})
    words = weights.score(Evidence(10.0))
    assert weights.score(Evidence(10.0, 0.6)) == pytest.approx(0.3 + words / 2)


def test_passages_rank_by_meaning_before_words() -> None:
    weights = Weights(1_000, {"port": 4.0, "setup": 6.0})
    assert weights.rank(Evidence(4.0, 0.7)) > weights.rank(Evidence(10.0, 0.3))
    assert weights.rank(Evidence(10.0, 0.7)) > weights.rank(Evidence(4.0, 0.7))


def test_without_a_vector_words_stand_in_for_meaning() -> None:
    weights = Weights(1_000, {"port": 4.0, "setup": 6.0})
    assert weights.rank(Evidence(10.0)) == pytest.approx(1.0)


def test_a_passage_is_judged_by_the_threshold_of_what_it_has() -> None:
    weights, gate = Weights(1_000, {"port": 4.0, "setup": 6.0}), Gate(0.4, 0.8)
    assert gate.judge(weights, [Evidence(10.0)]).threshold == 0.8
    verdict = gate.judge(weights, [Evidence(10.0), Evidence(6.0, 0.5)])
    assert (verdict.threshold, verdict.passed) == (0.4, True)
    assert not gate.judge(weights, []).passed
