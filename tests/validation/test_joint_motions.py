"""Motions of bodies on joints: a heavy top that spins fast, and free trees over many swings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.lie import so3
from tests.validation.test_trees import momenta

MASS, LEVER, MOMENTS, GRAVITY = 0.5, 0.06, (4e-4, 4e-4, 6e-4), 9.81


def heavy_top(spin: float, tilt: float, times: Any) -> Any:
    """World directions (T, 3) of the axis of a top about a fixed point: Euler's equations."""
    about_pivot = np.array(MOMENTS) + MASS * LEVER**2 * np.array([1.0, 1.0, 0.0])

    def rate(t: float, y: Any) -> Any:
        R, w = y[:9].reshape(3, 3), y[9:]
        down = R.T @ (0.0, 0.0, -MASS * GRAVITY)
        moment = np.cross((0.0, 0.0, LEVER), down)
        turn = R @ np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([turn.ravel(), (moment - np.cross(w, about_pivot * w)) / about_pivot])

    start = np.concatenate([so3.exp((0.0, tilt, 0.0)).ravel(), [0.0, 0.0, spin]])
    found = solve_ivp(rate, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-12)
    return found.y[:9].reshape(3, 3, -1)[:, 2].T


def test_heavy_top_with_a_fast_spin_precesses_and_nutates_as_euler_has_it() -> None:
    """200 rad/s: 32 turns a second, in steps of a tenth and a twentieth of a radian and less."""
    robot = pl.Robot(gravity=(0.0, 0.0, -GRAVITY))
    robot.add_body("top", MASS, MOMENTS, centre=(0.0, 0.0, LEVER), joint=pl.Spherical())
    errors = []
    for dt in (5e-4, 2.5e-4):
        motion = robot.simulate(
            1.0, dt, joints={"top": (0.0, 0.5, 0.0)}, velocity={"top": (0.0, 0.0, 200.0)},
            output_every=0.05,
        )  # fmt: skip
        exact = heavy_top(200.0, 0.5, motion.t)
        errors.append(float(np.abs(motion.pose("top")[:, :3, 2] - exact).max()))
        # the quaternion stays one, energy and both conserved spins stay
        assert np.linalg.norm(motion.joint("top"), axis=1) == pytest.approx(1.0, abs=1e-13)
        assert motion.energy_gap.share_added < 1e-4 and motion.energy_gap.share_taken < 1e-4
        assert motion.joint_rate("top")[:, 2] == pytest.approx(200.0, rel=1e-9)
    assert errors[1] < 2e-3 and errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)
    turned = np.unwrap(np.arctan2(exact[:, 1], exact[:, 0]))[-1]
    assert turned == pytest.approx(MASS * GRAVITY * LEVER / (MOMENTS[2] * 200.0), rel=0.05)


def free_tree() -> pl.Robot:
    """A free hub with bodies on a ball joint, a slider and a cardan joint, and a rod with a body."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    hub = robot.add_body("hub", 0.4, (2e-3, 3e-3, 2.5e-3), centre=(0.01, 0, 0), joint=pl.Free())
    robot.add_body(
        "ball", 0.1, (2e-4, 3e-4, 4e-4), on=hub.at((0.1, 0, 0)), centre=(0.05, 0, 0.02),
        joint=pl.Spherical(stiffness=(0.4, 0.5, 0.6)),
    )  # fmt: skip
    slide = robot.add_body(
        "slide", 0.15, (1e-4, 1e-4, 2e-4), on=hub.at((0, 0.1, 0)),
        joint=pl.Prismatic("y", stiffness=20.0, limits=(-0.05, 0.03), limit_stiffness=100.0),
    )  # fmt: skip
    robot.add_body(
        "cross", 0.08, (1e-4, 2e-4, 1e-4), on=slide.at((0, 0.02, 0)), centre=(0, 0.04, 0.01),
        joint=pl.Universal("x", "z", stiffness=0.3),
    )  # fmt: skip
    soft = pl.Material(E=2e6, nu=0.45, rho=1000.0)
    rod = robot.add_rod("rod", 0.15, pl.Circle(0.006), soft, base=hub.at((-0.05, 0, 0)))
    robot.add_body("tip", 0.02, (2e-6,) * 3, on=rod.tip)
    return robot


def test_free_tree_of_bodies_rods_and_springs_keeps_momentum_and_energy_for_ten_seconds() -> None:
    motion = free_tree().simulate(
        10.0, 1e-3, formulation=pl.BSpline(3, 6), integrator=pl.Midpoint(tolerance=1e-12),
        velocity={"hub": (1.0, -0.6, 0.8, 0.1, 0.0, -0.1), "slide": 0.5, "cross": (2.0, -1.0)},
        output_every=0.1,
    )  # fmt: skip
    parts = momenta(motion)
    total = parts.sum(axis=1)
    for rows in (slice(0, 3), slice(3, 6)):
        largest = np.linalg.norm(parts[..., rows], axis=-1).max()
        assert np.abs(total[:, rows] - total[0, rows]).max() < 1e-10 * largest
    energy = motion.energy["total"]
    assert np.abs(energy - energy[0]).max() < 1e-3 * energy[0]
    assert np.ptp(motion.joint("slide")) > 0.02 and np.ptp(motion.joint("cross")) > 0.1


def test_rigid_insert_between_rods_bends_as_one_rod_with_a_stiff_middle() -> None:
    """Against the beam formulas, both rods bent by the same force across the insert."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    stiff = pl.Material(E=70e9, nu=0.3, rho=2700.0)
    first = robot.add_rod("first", 0.2, pl.Circle(0.002), stiff, pl.along("x"))
    insert = robot.add_body("insert", 0.1, (1e-5,) * 3, on=first.tip)
    last = robot.add_rod("last", 0.2, pl.Circle(0.002), stiff, base=insert.at((0.0, 0.0, 0.1)))
    robot.add_load("push", on=last.tip, force=(0.0, 0.0, -1e-3))
    still = robot.statics(formulation=pl.BSpline(3, 8))
    EI, GA = 70e9 * np.pi * 0.002**4 / 4, 70e9 / 2.6 * np.pi * 0.002**2
    lever = np.array([0.5, 0.3])  # of the force about both ends of the first rod
    first_part = (lever[0] ** 3 - lever[1] ** 3) / (3 * EI)
    down = 1e-3 * (first_part + 0.2**3 / (3 * EI) + 0.4 / GA)
    assert still.tip("last")[2, 3] == pytest.approx(-down, rel=1e-4)
    between = np.linalg.inv(still.tip("first")) @ still.pose("last", 0.0)
    assert between[:3, 3] == pytest.approx([0.0, 0.0, 0.1], abs=1e-12)
