"""Picture of a wireframe with the numbers of its nodes and edges."""

from __future__ import annotations

import os

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from pliant.model import Array, Wireframe
from pliant.view.theme import FAINT, INK, length_unit, rod_color, saved, style

_GAP = (0.36, 0.64)
"""Part of an edge that is left open for its number."""


def draw_wireframe(wireframe: Wireframe, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw a wireframe with the numbers of its nodes (black) and edges (grey).

    path : of a picture to write, .png, .pdf, .svg or .jpg. It is seen along the direction in which it
    is thinnest; z points upwards where it can.
    """
    nodes, edges = wireframe.nodes, wireframe.edges
    word, factor = length_unit(float(np.ptp(nodes, axis=0).max()))
    flat = factor * (nodes - nodes.mean(axis=0)) @ _directions(nodes).T
    with style():
        figure, ax = plt.subplots(figsize=(7.0, 5.2), layout="constrained")
        for k, (a, b) in enumerate(edges):
            start, end = flat[a], flat[b]
            for piece in ((0.0, _GAP[0]), (_GAP[1], 1.0)):
                line = start + np.array(piece)[:, None] * (end - start)
                ax.plot(*line.T, color=rod_color(0), linewidth=1.2)
            where = (start + end) / 2
            ax.annotate(str(k), where, color=FAINT, fontsize=7, ha="center", va="center")
        ax.plot(*flat.T, "o", color=rod_color(0), markersize=5)
        for k, point in enumerate(flat):
            shift = (4, 4)
            ax.annotate(str(k), point, shift, textcoords="offset points", color=INK, fontsize=9)
        ax.set_aspect("equal")
        ax.margins(0.12)
        ax.set_xlabel(f"across / {word}")
        ax.set_ylabel(f"up / {word}")
    return saved(figure, path)


def _directions(nodes: Array) -> Array:
    """(2, 3): to the right and up in the picture."""
    spread = np.linalg.svd(nodes - nodes.mean(axis=0), full_matrices=True)[2]
    normal = spread[2]
    up = np.array([0.0, 0.0, 1.0]) - normal[2] * normal
    if np.linalg.norm(up) < 0.1:
        up = np.array([0.0, 1.0, 0.0]) - normal[1] * normal
    up = up / np.linalg.norm(up)
    right = np.cross(up, normal)
    return np.stack([right if right[np.argmax(np.abs(right))] > 0 else -right, up])
