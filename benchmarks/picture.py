"""Draws how the scores of covered and of other questions are distributed, as SVG."""

from collections.abc import Sequence
from itertools import pairwise

WIDTH, HEIGHT, MARGIN, BINS = 640, 260, 36, 50
COVERED, OTHERS, INK = "#2f6f4f", "#b4552d", "#555"


def draw(covered: Sequence[float], others: Sequence[float], threshold: float) -> str:
    """An SVG with both distributions from 0 to 1, each scaled to its own size, and the gate."""
    top = max(*shares(covered), *shares(others), 1e-9)
    inner = WIDTH - 2 * MARGIN
    ticks = "".join(
        f'<text x="{MARGIN + inner * n / 10:.0f}" y="{HEIGHT - 12}" text-anchor="middle">{n / 10}'
        "</text>"
        for n in range(0, 11, 2)
    )
    gate = MARGIN + inner * threshold
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' font-family="sans-serif" font-size="12" fill="{INK}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f"{steps(shares(others), top, OTHERS)}{steps(shares(covered), top, COVERED)}"
        f'<line x1="{gate:.0f}" x2="{gate:.0f}" y1="16" y2="{HEIGHT - MARGIN}" stroke="{INK}"'
        f' stroke-dasharray="4 3"/><text x="{gate + 5:.0f}" y="26">threshold {threshold}</text>'
        f'<text x="{MARGIN + 60}" y="26" fill="{OTHERS}">not covered</text>'
        f'<text x="{WIDTH - MARGIN - 120}" y="26" fill="{COVERED}">covered</text>{ticks}</svg>\n'
    )


def shares(scores: Sequence[float]) -> list[float]:
    """The share of the scores in each bin."""
    counts = [0] * BINS
    for score in scores:
        counts[min(int(score * BINS), BINS - 1)] += 1
    return [count / max(len(scores), 1) for count in counts]


def steps(heights: Sequence[float], top: float, colour: str) -> str:
    inner, floor = WIDTH - 2 * MARGIN, HEIGHT - MARGIN
    edges = [MARGIN + inner * n / BINS for n in range(BINS + 1)]
    path = f"M{MARGIN} {floor}" + "".join(
        f"L{left:.1f} {floor - height / top * (floor - 40):.1f}"
        f"L{right:.1f} {floor - height / top * (floor - 40):.1f}"
        for (left, right), height in zip(pairwise(edges), heights, strict=True)
    )
    return f'<path d="{path}L{edges[-1]} {floor}Z" fill="{colour}" fill-opacity="0.45"/>'
