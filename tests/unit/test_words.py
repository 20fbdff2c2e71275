"""Terms are made alike from passages and questions."""

import pytest

from app.documents.words import index_terms, question_terms


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("retry.budget", "The retry.budget is 3."),
        ("budget", "retryBudget = 3"),
        ("retryBudget", "retryBudget = 3"),
        ("postgresql", "PostgreSQL starts"),
        ("sql", "PostgreSQL starts"),
        ("ERR_4821", "it failed with err_4821!"),
        ("4821", "ERR_4821"),
        ("LOT#A4-77", "lot A4-77"),
        ("resumes", "The RÉSUMÉ of a candidate"),
        ("efficient config", "e\ufb03cient con\ufb01g"),
        ("Wärmepumpe", "Wärme\u00adpumpe"),
        ("running pumps", "the pump runs"),
        ("библиотеки", "библиотека"),
        ("東京", "東京タワーへ行く"),
        ("大学", "北京大学的学生"),
        ("ภาษา", "เรียนภาษาไทย"),
        ("서울에서", "서울에서 부산까지"),
        ("नमस्ते", "नमस्ते दुनिया"),
        ("猫", "猫"),
        ("ＡＢＣ", "abc"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
    ],
)
def test_a_passage_holds_the_terms_of_a_question(question: str, passage: str) -> None:
    terms = question_terms(question)
    assert terms
    assert set(terms) <= set(index_terms(passage))


def test_a_question_keeps_the_order_of_its_words_and_each_once() -> None:
    assert question_terms("Pumps, heat pumps and heat?") == ["pump", "heat"]


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What was the cause of the war?", ["caus", "war"]),
        ("How do I compute the information value of a system?", 4),
        ("Was kostet die Wärmepumpe im Winter?", ["kostet", "warmepump", "winter"]),
        ("Où se trouve la gare?", 2),
        ("what is this", []),
        ("备份保存多少天？", ["备份", "份保", "保存"]),
        ("默认端口是什么？", ["默认", "认端", "端口"]),
        ("バックアップはどこ", ["バッ", "ック", "クア", "アッ", "ップ", "プは"]),
        ("東京はどこですか", ["東京", "京は"]),
        ("백업은 어디", ["백업", "업은"]),
        ("什么", []),
        ("?!", []),
    ],
)
def test_stop_words_are_those_of_the_questions_language(
    question: str, terms: list[str] | int
) -> None:
    found = question_terms(question)
    assert found == terms if isinstance(terms, list) else len(found) == terms


def test_terms_fit_into_the_index() -> None:
    long_word, many = "x" * 10_000, "".join(map(chr, range(0x4E00, 0x9C20))) * 20
    assert all(len(term.encode()) <= 255 for term in index_terms(f"{long_word} {'é' * 500}"))
    supplementary = "".join(chr(0x20000 + n * 7 % 40_000) for n in range(40_000)) * 5
    for text in (many, supplementary):
        assert sum(len(term.encode()) for term in index_terms(text)) < 2**20


def test_only_the_first_200_000_characters_count() -> None:
    text = "a " * 99_999 + "b needle"
    assert "needl" not in index_terms(text)


def test_terms_hold_no_blank_or_quote() -> None:
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x20000)]))
    assert not any(set(" '\\\t\n\0") & set(term) or not term for term in index_terms(text))
