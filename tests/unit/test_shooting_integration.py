"""Integration from base to tip: its variations against differences, alone and over every jump."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bvp.chain import BODY, JOINT, WRENCH
from pliant.bvp.jump_conditions import Jumps
from pliant.bvp.rod_equations import COLUMNS, ROTATIONS
from pliant.bvp.shooting.integration import SCHEMES, integrate
from pliant.bvp.shooting.mesh import STAGES, Intervals
from pliant.lie import se3, so3

C0 = 40.0
STEP = 1e-5
JUMPS = {"none": (), "load": (WRENCH,), "body": (BODY,), "joint": (JOINT,)}
JUMPS["all"] = (WRENCH, BODY, JOINT)


def intervals(count: int, kinds: tuple[int, ...]) -> Intervals:
    """A rod of 1 m with all terms of the equations alive; jumps before its middle and at its tip."""
    rng = np.random.default_rng(3)
    P = np.zeros((count, STAGES, COLUMNS))
    P[..., 0:6] = 1.0 / np.array([175.0, 150.0, 146.0, 8.7e4, 8.7e4, 2.1e5])
    P[..., 6:12] = 0.3, -0.2, 0.4, 0.01, -0.02, 1.0
    P[..., 12:24] = 0.1 * rng.standard_normal(12)
    P[..., 24:28] = 6.5e-3, 5.5e-3, 1.3e-2, 0.78
    P[..., 28:34] = 0.3, 0.2, -7.6, 0.1, 0.2, 0.3
    P[..., 34:40] = 0.05
    P[..., 40:44] = 0.1, 0.2, 0.3, 0.2
    loads = np.array([np.r_[0.01, 0.02, 0.0, 0.1, 0.2, 0.3, 1, 2, 3, 0.1, 0.1, 0.1, 1, 0.5, 0.2]])
    A = rng.standard_normal((6, 6))
    turn = so3.exp(np.array([0.2, -0.3, 0.4]))
    first = np.zeros(count + 2, dtype=np.int64)
    first[count // 2 + 1 :] = len(kinds)
    first[count + 1] = 2 * len(kinds)
    jumps = Jumps(
        first,
        np.array([*kinds, *kinds], dtype=np.int64),
        np.zeros(2 * len(kinds), dtype=np.int64),
        loads,
        (A @ A.T + np.eye(6))[None] * 1e-2,
        rng.standard_normal((1, 6)),
        np.array([[0.1, 0.01, 0.02, 0.03]]),
        se3.pose(turn, np.array([0.01, 0.02, 0.03]))[None],
        np.array([0.0, 0.0, -9.81]),
    )
    return Intervals(np.full(count, 1.0 / count), P, jumps, np.zeros(1, dtype=np.int64))


def start() -> np.ndarray:
    y = np.zeros(24)
    y[:6] = 1.0, 2.0, 0.5, 3.0, -2.0, 1.0
    y[6:12] = 0.1, 0.2, 0.3, 0.1, 0.2, 0.5
    y[15:] = so3.exp(np.array([0.1, 0.5, -0.3])).ravel()
    return y


def swept(rotation: str, scheme: str, given: Intervals, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    count = len(given.h)
    room = np.empty((count, 2, 24)), np.empty((count, STAGES, 12))
    kinds = ROTATIONS[rotation], SCHEMES[scheme]
    integrate(*kinds, given, C0, 0, count, y, Z, *room)
    return y


def moved(direction: int, by: float) -> np.ndarray:
    """The start varied in one of its 18 directions."""
    y = start()
    if direction < 12:
        y[direction] += by
        return y
    R, step = y[15:].reshape(3, 3), by * np.eye(3)[direction % 3]
    if direction < 15:
        y[15:] = (R @ so3.exp(step)).ravel()
    else:
        y[12:15] += R @ step
    return y


def error(rotation: str, scheme: str, count: int, kinds: tuple[int, ...]) -> float:
    """Largest difference of the variations at the tip from central differences, relative by row."""
    given, none = intervals(count, kinds), np.zeros((18, 0))
    Z = np.eye(18)
    end = swept(rotation, scheme, given, start(), Z)
    R = end[15:].reshape(3, 3)
    found = np.zeros((18, 18))
    for k in range(18):
        ahead, back = (swept(rotation, scheme, given, moved(k, h), none) for h in (STEP, -STEP))
        slope = (ahead - back) / (2 * STEP)
        turned = R.T @ slope[15:].reshape(3, 3)
        found[:12, k], found[15:, k] = slope[:12], R.T @ slope[12:15]
        found[12:15, k] = turned[2, 1], turned[0, 2], turned[1, 0]
    rows = np.abs(found).max(axis=1, keepdims=True)
    return float((np.abs(Z - found) / rows).max())


@pytest.mark.parametrize("case", JUMPS)
@pytest.mark.parametrize("rotation", ROTATIONS)
def test_variations_are_the_derivative_of_the_integration(rotation, case):
    assert error(rotation, "rk4", 200, JUMPS[case]) < 1e-8


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize(("scheme", "order"), [("euler", 1), ("rk4", 4)])
def test_variations_converge_to_the_derivative_at_the_order_of_the_scheme(rotation, scheme, order):
    """Turns are varied in the body frame, others than the numbers that carry them: hence an error."""
    counts = (200, 400) if scheme == "euler" else (8, 16)
    coarse, fine = (error(rotation, scheme, n, JUMPS["all"]) for n in counts)
    assert fine < 5e-3
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_orientations_stay_rotations(rotation):
    end = swept(rotation, "rk4", intervals(100, JUMPS["all"]), start(), np.zeros((18, 0)))
    R = end[15:].reshape(3, 3)
    drift = 1e-13 if rotation != "matrix" else 1e-8
    assert pytest.approx(np.eye(3), abs=drift) == R @ R.T


def test_all_rotations_arrive_at_the_same_state():
    ends = [
        swept(rotation, "rk4", intervals(400, JUMPS["all"]), start(), np.zeros((18, 0)))
        for rotation in ROTATIONS
    ]
    scale = np.abs(ends[0]) + 1.0
    assert ends[1] / scale == pytest.approx(ends[0] / scale, abs=1e-9)
    assert ends[2] / scale == pytest.approx(ends[0] / scale, abs=1e-9)
