"""Words that say nothing about what a question is about."""

import re
from collections.abc import Iterable
from functools import cache

from app.stop_words import ENGLISH_STOP_WORDS, listed_stop_words

# Question words, particles and endings of scripts without blanks, and of Korean.
_UNSPACED = """
为什么 為什麼 是什么 是什麼 什么时候 什麼時候 什么 什麼 多少 怎么样 怎么 怎麼 怎样 怎樣
如何 哪里 哪裡 哪儿 哪些 哪个 哪個 多久 多长 多長 多大 几个 幾個 是否 能否 可以 请问 請問
告诉我 告訴我 有没有 有沒有 是不是 会不会 谁 誰 吗 嗎 呢 吧 的 了 是
あなた どのように どうして どうやって どんな どこ いつ だれ なに なぜ いくら いくつ
何時 何故 何人 何を 何が 何で 何の 何 誰
무엇 무슨 어디 언제 누구 누가 얼마나 얼마 어떻게 어떤 어느 왜 몇 입니까 습니까 인가요 있나요
하나요 되나요 됩니까 합니까
อะไร ที่ไหน เมื่อไหร่ เมื่อไร ใคร ทำไม อย่างไร ยังไง เท่าไหร่ เท่าไร กี่ ไหม หรือไม่ คือ ของ
"""
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_OTHERS = ("de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "pl", "cs", "ru", "uk", "tr")


def without_stop_words(words: Iterable[str]) -> list[str]:
    """`words` (folded) without the stop words of their language.

    Of all languages the one counts that calls most of the words stop words, English when in doubt:
    a union of the lists would eat the English “war”, “die” and “hat” as German.
    """
    given = list(words)
    distinct = set(given)
    stop = max(_lists(), key=lambda stop: len(distinct & stop))
    return [word for word in given if word not in stop]


def informative_runs(run: str) -> list[str]:
    """The parts of a run of an unspaced script between its question words and particles.

    A single character that is left over is none: the index holds pairs.
    """
    parts = _unspaced().split(run)
    return [part for part in parts if len(part) > 1] if len(parts) > 1 else parts


def is_informative(pair: str) -> bool:
    """Whether a pair of characters may name something: Hiragana alone is grammar."""
    return not _HIRAGANA.fullmatch(pair)


@cache
def _unspaced() -> re.Pattern[str]:
    longest_first = sorted(_UNSPACED.split(), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))


@cache
def _lists() -> tuple[frozenset[str], ...]:
    others = map(listed_stop_words, _OTHERS)
    return ENGLISH_STOP_WORDS, *others
