"""Draws times against sizes as SVG, both on logarithmic scales."""

from collections.abc import Mapping, Sequence
from math import log10

WIDTH, HEIGHT, LEFT, RIGHT, FLOOR, TOP = 640, 320, 56, 150, 36, 20
COLOURS = ("#2f6f4f", "#b4552d", "#3a5a9b", "#8a6d1d", "#7a3f7a", "#444")
INK = "#555"


def draw(sizes: Sequence[int], curves: Mapping[str, Sequence[float]]) -> str:
    """An SVG with a curve of milliseconds for each name."""
    decades = range(4)
    lines = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(10**n):.0f}" y2="{_y(10**n):.0f}"'
        f' stroke="#ddd"/><text x="{LEFT - 8}" y="{_y(10**n) + 4:.0f}" text-anchor="end">'
        f"{10**n} ms</text>"
        for n in decades
    )
    marks = "".join(
        f'<text x="{_x(size, sizes):.0f}" y="{HEIGHT - 12}" text-anchor="middle">{size:,}</text>'
        for size in sizes
    )
    drawn = "".join(
        _curve(name, times, sizes, colour)
        for (name, times), colour in zip(curves.items(), COLOURS, strict=False)
    )
    legend = "".join(
        f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 20 + 20 * n}" fill="{colour}">{name}</text>'
        for n, (name, colour) in enumerate(zip(curves, COLOURS, strict=False))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' font-family="sans-serif" font-size="12" fill="{INK}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f"{lines}{marks}{drawn}{legend}</svg>\n"
    )


def _curve(name: str, times: Sequence[float], sizes: Sequence[int], colour: str) -> str:
    points = [(_x(size, sizes), _y(time)) for size, time in zip(sizes, times, strict=True)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2">'
        f"<title>{name}</title></polyline>{dots}"
    )


def _x(size: int, sizes: Sequence[int]) -> float:
    first, last = log10(min(sizes)), log10(max(sizes))
    return LEFT + 20 + (WIDTH - LEFT - RIGHT - 40) * (log10(size) - first) / max(last - first, 1)


def _y(milliseconds: float) -> float:
    share = log10(max(milliseconds, 1)) / 3
    return HEIGHT - FLOOR - (HEIGHT - FLOOR - TOP) * min(share, 1)
