"""Which characters stand side by side in a document, in a few hundred bytes: its signature.

A signature is a Bloom filter of all runs of one, two and three UTF-16 units of searchable text that
no line end interrupts. Where it lacks one that a pattern has, the pattern is not in the document,
whose passages need not be read. It takes no more bits than it needs: a power of two, of which the
number of a run, its mark, takes as many low bits as there are.
"""

from collections.abc import Iterable

from app.search.fold import searchable
from app.search.grams import FREQUENT

MOST_BITS = 1 << 18
RUNS = (1, 2, 3)
# Of the multiplicative hash FNV-1, and of the finisher of MurmurHash3.
STEP, MIX = 0x01000193, 0x85EBCA6B
_WORD = 0xFFFFFFFF
_RANKS = {ord(letter): rank for rank, letter in enumerate(searchable(FREQUENT))}


def marks(pattern: str, most: int) -> list[int]:
    """The marks of a searchable pattern without line ends, those of the rarest letters first."""
    units = memoryview(pattern.encode("utf-16-le")).cast("H").tolist()
    length = min(len(units), max(RUNS))
    runs = {tuple(units[at : at + length]) for at in range(len(units) - length + 1)}
    rarest = sorted(runs, key=lambda run: (-_rarity(run), run))
    return [_mark(run) for run in rarest[:most] if run]


def _rarity(units: Iterable[int]) -> int:
    return sum(_RANKS.get(unit, len(_RANKS)) for unit in units)


def _mark(units: Iterable[int]) -> int:
    mark = 0
    for unit in units:
        mark = (mark * STEP + unit + 1) & _WORD
    mark = ((mark ^ mark >> 15) * MIX) & _WORD
    return (mark ^ mark >> 13) & (MOST_BITS - 1)
