"""Compiled marches: linear prediction, quick variations, elimination, multiple shooting."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bvp.prediction import (
    ORDER,
    RECURRENCE,
    append,
    new_past,
    predict,
    predict_state,
    restart,
)
from pliant.bvp.rod_equations import ROTATIONS
from pliant.bvp.shooting.elimination import condense, invert, resolve
from pliant.bvp.shooting.integration import (
    SCHEMES,
    equal_runs,
    group,
    integrate,
    integrate_variations,
)
from pliant.bvp.shooting.mesh import STAGES
from pliant.lie import so3
from tests.unit.test_shooting_integration import C0, JUMPS, intervals, start

# -- elimination ------------------------------------------------------------------------


def dense(A: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """The Newton step (M, n) from one large matrix; six unknowns at the base."""
    M, n = len(A), A.shape[1]
    size = 6 + n * (M - 1)
    J, r = np.zeros((size, size)), np.zeros(size)
    for k in range(M):
        rows = slice(n * k, n * k + (n if k < M - 1 else 6))
        columns = slice(0, 6) if k == 0 else slice(6 + n * (k - 1), 6 + n * k)
        height = rows.stop - rows.start
        J[rows, columns] = A[k][:height, : columns.stop - columns.start]
        r[rows] = gaps[k][:height]
        if k < M - 1:
            J[rows, 6 + n * k : 6 + n * (k + 1)] = -np.eye(n)
    found = np.linalg.solve(J, -r)
    return np.concatenate([found[:6], np.zeros(n - 6), found[6:]]).reshape(M, n)


def eliminated(A: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    M, n = len(A), A.shape[1]
    inverse, S, step = np.zeros((M, 6, 6)), np.zeros((M, 6, n)), np.zeros((M, n))
    chosen = np.zeros((M, 6), dtype=np.int64)
    assert condense(A, inverse, S, chosen)
    resolve(A, inverse, S, chosen, gaps, step)
    return step


@pytest.mark.parametrize("size", [15, 18])
@pytest.mark.parametrize("count", [1, 2, 5, 16])
def test_eliminated_step_is_that_of_the_whole_matrix(count, size):
    rng = np.random.default_rng(count)
    A = np.linalg.qr(rng.standard_normal((count, size, size)))[0]  # neither grows nor decays
    gaps = rng.standard_normal((count, size))
    gaps[-1, 6:] = 0.0
    wanted = dense(A, gaps)
    assert eliminated(A, gaps) == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("held", [False, True])
def test_eliminated_step_stays_exact_where_segments_grow_and_decay(held):
    """Six growing and nine decaying directions in each of 40 segments: 1e40 over the chain.

    Of a held tip the conditions do not depend on the wrench there.
    """
    rng = np.random.default_rng(1)
    count = 40
    turn = np.linalg.qr(rng.standard_normal((15, 15)))[0]
    one = turn @ np.diag([10.0] * 6 + [0.1] * 9) @ turn.T
    A = np.array([one] * count)
    if held:
        A[-1, :6] = A[-1, 6:12]
    gaps = rng.standard_normal((count, 15))
    gaps[-1, 6:] = 0.0
    step = eliminated(A, gaps)
    left = np.einsum("kij,kj->ki", A, step) + gaps
    left[:-1] -= step[1:]
    assert np.abs(left[:-1]).max() < 1e-10 * np.abs(step).max()
    assert np.abs(left[-1, :6]).max() < 1e-10 * np.abs(step).max()


def test_inverse_of_a_singular_matrix_is_refused():
    W = np.ones((6, 6))
    assert not invert(W, np.zeros((6, 6)))
    assert not invert(np.full((6, 6), np.nan), np.zeros((6, 6)))


# -- variations along known states --------------------------------------------------------------


def grouping(scheme: str, given: object, c0: float) -> int:
    """How many intervals are taken at once."""
    most = np.ones(1, dtype=np.int64)
    group(SCHEMES[scheme], given, np.array([c0]), most)
    return int(most[0])


@pytest.mark.parametrize("case", JUMPS)
def test_quick_variations_approach_those_of_the_sweep(case):
    """Over several intervals at once they are of nearly fourth order in the length of these."""
    errors = []
    for count in (64, 128):
        given = intervals(count, JUMPS[case])
        nodes, stages = np.empty((count, 2, 24)), np.empty((count, STAGES, 12))
        Z = np.eye(18)
        kinds = ROTATIONS["quaternion"], SCHEMES["rk4"]
        integrate(*kinds, given, C0, 0, count, start(), Z, nodes, stages)
        found, runs = np.eye(18), equal_runs(given.h, given.jumps.first)
        integrate_variations(
            given, runs, np.array([4]), np.array([C0]), np.array([0, count]), nodes, found
        )
        rows = np.abs(Z).max(axis=1, keepdims=True)
        errors.append(float((np.abs(found - Z) / rows).max()))
    assert errors[1] < 2e-6
    assert errors[1] < errors[0] / 7


def test_quick_variations_of_eulers_rule_are_its_derivative():
    given = intervals(50, JUMPS["all"])
    nodes, stages = np.empty((50, 2, 24)), np.empty((50, STAGES, 12))
    Z = np.eye(18)[:, :6].copy()
    integrate(ROTATIONS["matrix"], SCHEMES["euler"], given, C0, 0, 50, start(), Z, nodes, stages)
    found = np.eye(18)[:, :6].copy()
    runs, span = equal_runs(given.h, given.jumps.first), np.array([0, 50])
    integrate_variations(given, runs, np.array([0]), np.array([C0]), span, nodes, found)
    assert found == pytest.approx(Z, rel=1e-9, abs=1e-9 * np.abs(Z).max())
    assert grouping("euler", given, C0) == 0


def test_fewer_intervals_are_taken_at_once_in_short_time_steps():
    given = intervals(50, ())
    taken = [grouping("rk4", given, c0) for c0 in (1.0, 1e2, 1e3, 1e5)]
    assert taken[0] == 8 and taken[-1] == 1
    assert taken == sorted(taken, reverse=True)


# -- linear prediction --------------------------------------------------------------------------


def modes(t: float) -> np.ndarray:
    """A sum of quick, damped modes about a constant, sampled as coarsely as a march may."""
    shapes = np.array([[1, 2, 0, 0.5, 0, 1], [0.2, 0, 1, 0, 1, 0], [0, 1, 0.3, 1, 0, 0.1]])
    waves = [np.exp(-0.01 * t) * np.cos(w * t + w) for w in (0.7, 1.9, 2.8)]
    return np.array([3.0, 0, 1, 0, 0, 2]) + waves @ shapes


def past_of(count: int) -> tuple[object, np.ndarray]:
    past, state = new_past(24), np.zeros(24)

    def seen(k: int) -> np.ndarray:
        state[:6] = modes(k)
        state[15:] = so3.exp(0.05 * modes(k)[:3] * [1, 0, 0]).ravel()
        return modes(k)

    restart(past, seen(0), state)
    for k in range(1, count):
        append(past, np.ones(6), np.zeros(1, dtype=bool), seen(k), state)
    return past, modes(count)


def test_recurrence_predicts_modes_that_no_polynomial_does():
    past, wanted = past_of(60)
    x, y = np.zeros(6), np.zeros(24)
    row = int(past.counts[2])
    assert row == RECURRENCE
    predict(past, row, x)
    assert x == pytest.approx(wanted, abs=1e-3)
    predict(past, 1, x)
    assert np.abs(x - wanted).max() > 0.3
    predict_state(past, row, 0, y)
    assert y[:6] == pytest.approx(wanted, abs=1e-3)
    turned = so3.exp(0.05 * wanted[:3] * [1, 0, 0])
    assert y[15:].reshape(3, 3) == pytest.approx(turned, abs=1e-4)


def test_first_steps_are_predicted_by_polynomials():
    past, x, state = new_past(24), np.zeros(6), np.zeros(24)
    restart(past, np.zeros(6), state)
    for k in range(1, ORDER):
        append(past, np.ones(6), np.zeros(1, dtype=bool), np.full(6, float(k * k)), state)
        if k > 3:
            predict(past, int(past.counts[2]), x)
            assert x == pytest.approx(np.full(6, (k + 1.0) ** 2), rel=1e-9)


# -- marches ------------------------------------------------------------------------------------


def whip() -> pl.Robot:
    robot = pl.Robot()
    material = pl.Material(E=2e6, nu=0.45, rho=1000.0, viscosity=50.0)
    rod = robot.add_rod("rod", 0.5, pl.Circle(0.01), material, pl.along("x"), drag=2.0)
    robot.add_load("side", rod.at(0.2), force=(0, 0.1, 0.05), frame="body")
    robot.add_body("hand", 0.005, (1e-6, 1e-6, 1e-6), on=rod.tip)
    return robot


def test_multiple_shooting_moves_as_simple_shooting_does():
    robot = whip()
    multiple = robot.simulate(0.06, 2e-3, formulation=pl.MultipleShooting(intervals=8, steps=60))
    simple = robot.simulate(0.06, 2e-3, formulation=pl.Shooting(steps=60))
    assert multiple.rescues == {}
    assert multiple.unknowns == 132
    assert multiple.tip("rod") == pytest.approx(simple.tip("rod"), abs=1e-9)
    for kind in ("kinetic", "work"):
        assert multiple.energy[kind] == pytest.approx(simple.energy[kind], abs=1e-9)


def test_rescue_by_multiple_shooting_is_counted_with_its_unknowns():
    """In short time steps simple shooting cannot arrive: what is wrong at the base grows too much."""
    robot = pl.Robot(gravity=(0, 0, 0))
    steel = pl.Material(E=210e9, nu=0.2, rho=7800.0)
    rod = robot.add_rod("rod", 1.0, pl.Rectangle(0.01, 0.01), steel, pose=pl.along("x"))
    robot.add_load("push", rod.tip, force=(0, 0, -10.0))
    rescued = robot.simulate(0.004, 1e-4, formulation=pl.Shooting(steps=200))
    assert rescued.rescues["multiple shooting"] > 20
    assert rescued.unknowns >= 60
    asked = robot.simulate(0.004, 1e-4, formulation=pl.MultipleShooting(intervals=16, steps=200))
    assert asked.rescues == {}
    assert rescued.tip("rod") == pytest.approx(asked.tip("rod"), abs=1e-9)
    with pytest.raises(pl.ConvergenceError):
        robot.simulate(0.004, 1e-4, formulation=pl.Shooting(steps=200, rescue=False))
