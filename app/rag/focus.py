"""Which part of a line that is too long to show whole speaks of the question."""

from collections.abc import Iterator, Mapping

from app.search.fold import fold

_OCCURRENCES = 50


def focus(line: str, weights: Mapping[str, float], width: int) -> int:
    """Where to begin, so that the next `width` characters have the weightiest words.

    The words are stems or phrases; where none of them stands it is the beginning.
    """
    margin = width // 10
    best = _best_start(fold(line), weights, width - 2 * margin)
    return max(min(best - margin, len(line) - width), 0)


def _best_start(folded: str, weights: Mapping[str, float], width: int) -> int:
    places = sorted((at, word) for word in weights for at in _occurrences(folded, fold(word)))
    best, best_weight = 0, 0.0
    for number, (start, _) in enumerate(places):
        words: set[str] = set()
        for at, word in places[number:]:
            if at > start + width:
                break
            words.add(word)
        weight = sum(weights[word] for word in words)
        if weight > best_weight:
            best, best_weight = start, weight
    return best


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word) if word else -1
    for _ in range(_OCCURRENCES):
        if at < 0:
            return
        yield at
        at = text.find(word, at + len(word))
