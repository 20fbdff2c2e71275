"""Words that say nothing about what a question is about."""

from collections.abc import Iterable
from functools import cache

import stopwordsiso

# The list of stopwordsiso for English holds 1,298 words, “computer”, “information” and “value”
# among them, so English has this one.
_ENGLISH = """
a about above after again against ain all also am among an and any are aren as at be because been
before being below between both but by can cannot could couldn d did didn do does doesn doing don
done down during each either else ever every few for from further get gets give given gives go goes
had hadn has hasn have haven having he her here hers herself him himself his how however i if in
into is isn it its itself just know let like ll m many may me might mightn more most much must mustn
my myself need needn neither no nor not now of off often on once only or other others our ours
ourselves out over own per please re s said same say says shall shan she should shouldn so some such
t tell than that the their theirs them themselves then there these they this those through thus to
too under until up upon us ve very via was wasn we were weren what whatever when where whether which
while who whoever whom whose why will with within without won would wouldn yet you your yours
yourself yourselves
"""
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


@cache
def _lists() -> tuple[frozenset[str], ...]:
    others = (frozenset[str](stopwordsiso.stopwords(language)) for language in _OTHERS)
    return frozenset(_ENGLISH.split()), *others
