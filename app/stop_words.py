"""Words of one language that say nothing about what a question is about."""

from functools import cache

import stopwordsiso

# The list of stopwordsiso for English holds 1,298 words, “call”, “computer”, “even” and “value”
# among them.
ENGLISH_STOP_WORDS = frozenset(
    """
a about above after again against ain all also am among an and any are aren as at be because been
before being below between both but by can cannot could couldn d describe did didn do does doesn
doing don done down during each either else ever every explain few for from further get gets give
given gives go goes had hadn has hasn have haven having he her here hers herself him himself his how
however i if in into is isn it its itself just know let like ll m many may me mention mentioned
might mightn more most much must mustn my myself need needn neither no nor not now of off often on
once only or other others our ours ourselves out over own per please re s said same say says shall
shan she should shouldn so some such t tell than that the their theirs them themselves then there
these they this those through thus to too under until up upon us ve very via was wasn we were weren
what whatever when where whether which while who whoever whom whose why will with within without won
would wouldn yet you your yours yourself yourselves
""".split()
)


def stop_words(language: str) -> frozenset[str]:
    return ENGLISH_STOP_WORDS if language == "en" else listed_stop_words(language)


@cache
def listed_stop_words(language: str) -> frozenset[str]:
    """The long list of stopwordsiso: good to know the language of a text by."""
    return frozenset(stopwordsiso.stopwords(language))
