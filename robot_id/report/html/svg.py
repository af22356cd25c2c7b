"""Small static charts as inline SVG; their colours come from the style of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 175, 46, 10, 10, 31
# Points of one cloud; more of them only cover each other.
MOST_POINTS = 700


class Chart:
    """
    Axes with a frame; the parts are added in data coordinates.

    :param x: range of the horizontal axis, y: of the vertical one.
    :param label: what it shows, read by screen readers.
    """

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        label: str,
        log: bool = False,
        x_title: str = '',
        y_title: str = '',
    ) -> None:
        self.log = log
        low, high = (math.log10(v) for v in y) if log else y
        if not high > low:
            low, high = low - 0.5, high + 0.5
        self.x, self.y = (x if x[1] > x[0] else (x[0] - 0.5, x[1] + 0.5)), (low, high)
        self.parts = [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">',
            f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" '
            f'height="{HEIGHT - TOP - BOTTOM}"/>',
        ]
        self._ticks(x_title)
        if y_title:
            self.parts.append(f'<text x="{LEFT + 5}" y="{TOP + 12}">{escape(y_title)}</text>')

    def across(self, value: float) -> float:
        """Horizontal place of a value."""
        share = (value - self.x[0]) / (self.x[1] - self.x[0])
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(self, value: float) -> float:
        """Vertical place of a value."""
        if self.log:
            value = math.log10(max(value, 10.0 ** self.y[0]))
        share = (value - self.y[0]) / (self.y[1] - self.y[0])
        return HEIGHT - BOTTOM - min(max(share, 0.0), 1.0) * (HEIGHT - TOP - BOTTOM)

    def line(self, x: Sequence[float] | Array, y: Sequence[float] | Array, kind: str) -> None:
        """Add a line through points that are finite."""
        points = ' '.join(
            f'{self.across(a):.1f},{self.up(b):.1f}' for a, b in zip(x, y) if np.isfinite(b)
        )
        self.parts.append(f'<polyline class="{kind}" points="{points}"/>')

    def dots(self, x: Sequence[float] | Array, y: Sequence[float] | Array, kind: str) -> None:
        """Add one dot for each point."""
        for a, b in zip(x, y):
            if np.isfinite(b):
                place = f'cx="{self.across(a):.1f}" cy="{self.up(b):.1f}"'
                self.parts.append(f'<circle class="{kind}" {place} r="3"/>')

    def cloud(self, x: Array, y: Array, kind: str) -> None:
        """Add many points as one path of short strokes."""
        places = ''.join(
            f'M{self.across(a):.1f} {self.up(b):.1f}h0' for a, b in zip(x, y) if np.isfinite(b)
        )
        self.parts.append(f'<path class="{kind}" d="{places}"/>')

    def bars(self, x: Array, y: Array, width: float, kind: str) -> None:
        """Add bars that stand on zero."""
        zero = self.up(0.0)
        for a, b in zip(x, y):
            left, right = self.across(a - width / 2), self.across(a + width / 2)
            top, bottom = sorted((self.up(b), zero))
            self.parts.append(
                f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" '
                f'width="{max(right - left - 0.6, 0.4):.1f}" height="{bottom - top:.1f}"/>'
            )

    def level(self, value: float, kind: str) -> None:
        """Add a horizontal line."""
        self.line(self.x, (value, value), kind)

    def __str__(self) -> str:
        return ''.join(self.parts) + '</svg>'

    def _ticks(self, x_title: str) -> None:
        for value in nice_ticks(*self.y, 4) if not self.log else decades(*self.y):
            place = self.up(10.0**value if self.log else value)
            text = f'{10.0**value:g}' if self.log else f'{value:g}'
            self.parts.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}" '
                f'y2="{place:.1f}"/><text class="end" x="{LEFT - 5}" y="{place + 3.5:.1f}">'
                f'{text}</text>'
            )
        for value in nice_ticks(*self.x, 6):
            place = self.across(value)
            self.parts.append(
                f'<text class="middle" x="{place:.1f}" y="{HEIGHT - BOTTOM + 13}">{value:g}</text>'
            )
        if x_title:
            self.parts.append(
                f'<text class="end title" x="{WIDTH - RIGHT}" y="{HEIGHT - 5}">'
                f'{escape(x_title)}</text>'
            )


def stride(count: int) -> NDArray[np.int64]:
    """Return the places of at most MOST_POINTS of so many points, evenly."""
    return np.linspace(0, max(count - 1, 0), min(count, MOST_POINTS)).astype(np.int64)


def nice_ticks(low: float, high: float, count: int) -> list[float]:
    """Return round values between low and high, about `count` of them."""
    raw = (high - low) / count
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * f for f in (1, 2, 2.5, 5, 10) if size * f >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def decades(low: float, high: float) -> list[float]:
    """Return whole exponents between low and high, thinned to at most seven."""
    whole = list(range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1))
    return [float(e) for e in whole[:: max(1, len(whole) // 7 + (len(whole) % 7 > 0))]] or [low]
