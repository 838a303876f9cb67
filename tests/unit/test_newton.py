"""Newton's method with shortened corrections, on equations whose iterates are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.engine import loops
from pliant.engine.newton import Newton, NewtonError, Policy

TOLERANCE = 1e-12


class Scalar(Newton):
    """r(x) = 0 for one unknown; notes where tangents were made and what was tried."""

    def __init__(
        self, policy: Policy, r: Callable[[float], float], slope: Callable[[float], float]
    ):
        super().__init__(policy, np.zeros(loops.FLAGS, dtype=np.int64))
        self.numbers[loops.TOLERANCE] = TOLERANCE
        self.r, self.slope = r, slope
        self.tangents: list[float] = []
        self.tried: list[float] = []

    def solve(self, x: float) -> float:
        self.x = x
        row: list[Any] = [None] * loops.PROGRAMS
        row[loops.RESIDUAL] = row[loops.TANGENT] = self._residual
        row[loops.FACTORISE], row[loops.SOLVE], row[loops.MOVE] = (
            self._tangent,
            self._step,
            self._move,
        )
        self.run_newton(row)
        return self.x

    def _residual(self) -> None:
        self.tried.append(self.x)
        self.numbers[loops.SIZE] = abs(self.r(self.x))

    def _tangent(self) -> None:
        self.tangents.append(self.x)
        self.factor = self.slope(self.x)
        self.flags[loops.NEGATIVE] = 0

    def _step(self) -> None:
        self.start, self.step = self.x, -self.r(self.x) / self.factor

    def _move(self) -> None:
        self.x = self.start + self.numbers[loops.PART] * self.step


def arctan(policy: Policy) -> Scalar:
    """Whole corrections diverge from |x| > 1.39."""
    return Scalar(policy, math.atan, lambda x: 1.0 / (1.0 + x * x))


def test_whole_corrections_diverge_and_shortened_ones_converge() -> None:
    with pytest.raises(NewtonError):
        arctan(Policy(iterations=4, near=np.inf)).solve(3.0)
    damped = arctan(Policy(near=np.inf, shortest=1e-3))
    assert abs(damped.solve(3.0)) < TOLERANCE
    sizes = np.array(damped.sizes)
    assert (np.diff(sizes) < 0.0).all(), "no accepted residual is larger than the one before"
    assert damped.iterations == len(damped.tried) - 1, "shortened corrections are counted"
    parts = [(x - 3.0) / (-10.0 * math.atan(3.0)) for x in damped.tried[1:3]]
    assert np.allclose(parts, [1.0, 0.5])


def test_a_correction_that_may_not_be_shortened_ends_the_attempt() -> None:
    strict = arctan(Policy(near=np.inf, shortest=1.0))
    with pytest.raises(NewtonError, match="no part of a correction makes the residual smaller"):
        strict.solve(3.0)
    assert abs(arctan(Policy(near=np.inf, shortest=1.0)).solve(1.0)) < TOLERANCE


def test_a_kept_tangent_that_leads_astray_is_replaced_where_it_was_used() -> None:
    """The old tangent, of the flat part, overshoots; the way goes on from the iterate before."""
    policy = Policy(near=np.inf, shortest=1e-3, contraction=0.5)
    kept = Scalar(policy, lambda x: x + x**3, lambda x: 1.0 + 3.0 * x * x)
    kept.solve(0.01)
    assert kept.tangents == [0.01] and kept.counts[loops.THERE]
    kept.tangents, kept.tried = [], []
    assert abs(kept.solve(2.0)) < TOLERANCE
    assert kept.tangents[0] == 2.0, "the new tangent belongs to the iterate of before"
    assert kept.tried[0] == kept.tried[2] == 2.0 and kept.tried[1] < -7.0
    assert kept.tried[3] == pytest.approx(2.0 - 10.0 / 13.0)


def test_the_fewest_corrections_are_made_even_at_the_solution() -> None:
    once = arctan(Policy(near=np.inf, least=1))
    assert once.solve(1e-13) == pytest.approx(0.0, abs=1e-20) and once.iterations == 1
    assert arctan(Policy()).solve(1e-13) == 1e-13
