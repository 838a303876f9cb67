"""Nets of links against a frame of Timoshenko beams assembled here, node by node."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "plot_nets.py"
E, NU, RADIUS = 2e4, 0.45, 0.0015
AREA, INERTIA = np.pi * RADIUS**2, 0.25 * np.pi * RADIUS**4


def beam(length: float) -> np.ndarray:
    """Stiffness (12, 12) of a Timoshenko beam along x: displacements and rotations of both ends."""
    G, found = E / (2 * (1 + NU)), np.zeros((12, 12))
    for k, at in ((E * AREA, 0), (2 * G * INERTIA, 3)):
        found[np.ix_([at, at + 6], [at, at + 6])] = k / length * np.array([[1, -1], [-1, 1]])
    phi = 12 * E * INERTIA / (G * AREA * length**2)
    k, one, two = E * INERTIA / (length**3 * (1 + phi)), (4 + phi), (2 - phi)
    for across, about, s in ((1, 5, 1.0), (2, 4, -1.0)):
        rows = [across, about, across + 6, about + 6]
        half = 6 * length * s
        found[np.ix_(rows, rows)] = k * np.array(
            [
                [12, half, -12, half],
                [half, one * length**2, -half, two * length**2],
                [-12, -half, 12, -half],
                [half, two * length**2, -half, one * length**2],
            ]
        )
    return found


def frame(points: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Stiffness (6N, 6N) of a frame of beams between nodes."""
    total = np.zeros((6 * len(points), 6 * len(points)))
    for a, b in edges:
        length = float(np.linalg.norm(points[b] - points[a]))
        x = (points[b] - points[a]) / length
        y = np.cross(np.eye(3)[np.argmin(np.abs(x))], x)
        y /= np.linalg.norm(y)
        turn = np.kron(np.eye(4), np.stack([x, y, np.cross(x, y)]))
        rows = np.r_[6 * a : 6 * a + 6, 6 * b : 6 * b + 6]
        total[np.ix_(rows, rows)] += turn.T @ beam(length) @ turn
    return total


def test_tissue_resists_a_probe_as_a_frame_of_beams() -> None:
    """Force of a shallow dent of one node, by contact; deeper ones touch more nodes and are stiffer."""
    spec = importlib.util.spec_from_file_location("plot_nets", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    robot, wireframe = example.tissue_under_probe()
    depth, points = 1e-5, wireframe.nodes
    free = np.repeat(points[:, 2] > 1e-6, 6)
    below = 6 * wireframe.nearest((0, 0, 0.03)) + 2
    flexible = np.linalg.inv(frame(points, wireframe.edges)[np.ix_(free, free)])
    at = int(np.count_nonzero(free[:below]))
    still = robot.statics({"height": -depth})
    force = -still.reactions["probe"][5]
    assert force == pytest.approx(depth / flexible[at, at], rel=2e-3)
    deep = -robot.statics({"height": -6e-3}).reactions["probe"][5]
    assert deep > 1.05 * force * 6e-3 / depth
