"""The signature of a whole document, as search/signature.py defines it."""

import math
from typing import Any

from app.models import Signature
from app.search.signature import MIX, MOST_BITS, RUNS, STEP

_LEAST_BITS = 1 << 9
# With more bits set, too many runs seem to stand where they do not.
_FULLEST = 0.4
_AT_ONCE = 1 << 20
_LINE_END = 10


def document_signature(folded: str) -> Signature:
    """The bits of a searchable text, the lowest of each byte first."""
    import numpy  # noqa: PLC0415 - a server that only answers does without

    units = numpy.frombuffer(folded.encode("utf-16-le"), "<u2")
    bits = numpy.zeros(_bits_to_begin_with(len(units)), bool)
    for start in range(0, len(units), _AT_ONCE):
        _mark(units[start : start + _AT_ONCE + max(RUNS) - 1], bits)
    while len(bits) > _LEAST_BITS:
        folded_once = bits[: len(bits) // 2] | bits[len(bits) // 2 :]
        if numpy.count_nonzero(folded_once) > _FULLEST * len(folded_once):
            break
        bits = folded_once
    return numpy.packbits(bits, bitorder="little").tobytes()


def _bits_to_begin_with(units: int) -> int:
    """No fewer than it will have: all runs of so many units do not fill them more."""
    least = len(RUNS) * units / _FULLEST
    return min(max(1 << math.ceil(least).bit_length(), _LEAST_BITS), MOST_BITS)


def _mark(units: Any, bits: Any) -> None:
    import numpy  # noqa: PLC0415

    units = units.astype(numpy.uint32)
    is_inside = units != _LINE_END
    run = numpy.zeros(len(units), numpy.uint32)
    is_run = numpy.ones(len(units), bool)
    for length in RUNS:
        if len(units) < length:
            break
        count = len(units) - length + 1
        run = run[:count] * numpy.uint32(STEP) + units[length - 1 :] + numpy.uint32(1)
        is_run = is_run[:count] & is_inside[length - 1 :]
        mark = (run ^ run >> numpy.uint32(15)) * numpy.uint32(MIX)
        bits[(mark ^ mark >> numpy.uint32(13))[is_run] & numpy.uint32(len(bits) - 1)] = True
