"""How results show in notebooks: their summary with a small drawing, as HTML without any library."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np

from pliant.model import Array

_WIDTH, _HEIGHT, _EDGE = 260.0, 150.0, 8.0
_POINTS, _ALL = 200, 2000
"""Most points of a line, and of all lines unless there are very many."""


def card(title: str, summary: str, picture: str = "") -> str:
    """Return a summary with a picture next to it as HTML."""
    text = f'<pre style="margin:0;white-space:pre-wrap;font-size:90%">{html.escape(summary)}</pre>'
    return (
        f'<div style="display:flex;gap:1em;align-items:center" title="{html.escape(title)}">'
        f"{picture}{text}</div>"
    )


def line_drawing(
    lines: Mapping[str, Array], faint: Sequence[Array] = (), equal: bool = True, labels: str = ""
) -> str:
    """Return lines (N, 2) by name as an inline SVG; faint ones behind them, without a name.

    equal : one scale for both axes.  labels : what the axes are, written below.
    """
    from pliant.view.theme import FAINT, rod_color

    every = [np.asarray(line, dtype=float) for line in (*lines.values(), *faint)]
    points = np.concatenate([line[np.isfinite(line).all(axis=1)] for line in every] or [[]])
    if not len(points):
        return ""
    low, size = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-12)
    room = np.array([_WIDTH - 2 * _EDGE, _HEIGHT - 3 * _EDGE])
    scale = np.full(2, (room / size).min()) if equal else room / size
    shift = _EDGE + 0.5 * (room - scale * size)

    def path(line: Array, colour: str, name: str) -> str:
        most = min(_POINTS, max(2, _ALL // len(every)))
        few = line[np.unique(np.linspace(0, len(line) - 1, most).astype(int))]
        u, v = (shift + scale * (few - low)).T
        places = " ".join(f"{x:.1f},{_HEIGHT - y:.1f}" for x, y in zip(u, v, strict=True))
        title = f"<title>{html.escape(name)}</title>" if name else ""
        return (
            f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2">'
            f"{title}</polyline>"
        )

    drawn = [path(np.asarray(line), FAINT, "") for line in faint]
    for k, (name, line) in enumerate(lines.items()):
        drawn.append(path(np.asarray(line), rod_color(k), name))
    note = f'<text x="{_EDGE}" y="{_EDGE + 4}" font-size="10">{html.escape(labels)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH:g}" height="{_HEIGHT:g}" '
        f'style="background:#fff;flex:none">{note}{"".join(drawn)}</svg>'
    )


def flattened(shapes: Mapping[str, Array], rest: Sequence[Array]) -> str:
    """Return centre lines (N, 3) seen along the axis in which they extend least, as an SVG."""
    points = np.concatenate([*shapes.values(), *rest] or [np.zeros((1, 3))])
    across = int(np.argmin(np.ptp(points, axis=0)[[1, 0, 2]]))  # of equal ones, look along y
    axes = [axis for axis in range(3) if axis != (1, 0, 2)[across]]
    names = [f"{'xyz'[axis]}" for axis in axes]
    flat = {name: line[:, axes] for name, line in shapes.items()}
    width = float(np.ptp(points[:, axes[0]]))
    labels = f"{names[0]} to the right, {names[1]} up; {width:.3g} m wide"
    return line_drawing(flat, [line[:, axes] for line in rest], labels=labels)
