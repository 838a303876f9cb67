"""Forces that turn with what they act on: `Midpoint` is implicit in geometric stiffness too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from tests.validation.test_trees import momenta

LENGTH = 0.3


def tendon_arm(viscosity: float) -> pl.Robot:
    """0.3 m of silicone with four tendons through ten disks."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=viscosity)
    arm = robot.add_rod("arm", LENGTH, pl.Circle(0.01), soft, pose=pl.along("-z"))
    for k, angle in enumerate(0.5 * np.pi * np.arange(4)):
        hole = (0.007 * np.cos(angle), 0.007 * np.sin(angle))
        robot.add_tendon(f"t{k}", [arm.at(s, hole) for s in np.linspace(0.0, LENGTH, 11)])
    return robot


PULL = {"t0": lambda t: 2.5 * (1 - np.cos(3 * t)), "t1": lambda t: 1 - np.cos(5 * t)}


@pytest.mark.parametrize(
    "formulation", [pl.BSpline(3, 5), pl.BSpline(3, 12), pl.Hermite(4)], ids=repr
)
@pytest.mark.parametrize("dt", [2e-3, 5e-3, 1e-2])
@pytest.mark.parametrize("viscosity", [0.0, 1e3])
def test_rod_squeezed_by_tendons_keeps_its_energy(
    viscosity: float, dt: float, formulation: Any
) -> None:
    """Compression P resists the turning of a section, P / (rho I) = (1100 rad/s)^2 at 10 N: steps of
    2 / 1100 s and more would gain energy if that were explicit.
    """
    given = {"formulation": formulation, "output_every": 0.1, "integrator": pl.Midpoint()}
    motion = tendon_arm(viscosity).simulate(2.0, dt, inputs=PULL, **given)
    assert not motion.rescues
    gap = motion.energy_gap
    assert max(gap.share_added, gap.share_taken) < 1e-4


def squeezed_arm(kind: str) -> pl.Robot:
    """0.3 m of silicone under its weight, with one actuator beside its axis."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    arm = robot.add_rod(
        "arm", LENGTH, pl.Circle(0.01), soft, pose=pl.along("x"), formulation=pl.BSpline(3, 15)
    )
    disks = [arm.at(s, (0.0, 0.007)) for s in np.linspace(0.0, LENGTH, 11)]
    if kind == "chamber":
        robot.add_chamber("pull", "arm", area=2e-5, offset=(0.0, 0.005))
    elif kind == "embedded tension":
        robot.add_tendon("pull", along=arm, offset=(0.0, 0.007))
    elif kind == "embedded length":
        robot.add_tendon("pull", along=arm, offset=(0.0, 0.007), drive="length")
    else:
        robot.add_tendon("pull", disks, drive="length")
    return robot


SQUEEZED = {
    "chamber": -1.5e5,
    "embedded tension": 3.0,
    "embedded length": 3e-3,
    "length through disks": 3e-3,
}


@pytest.mark.parametrize("kind", SQUEEZED)
def test_midpoint_keeps_energy_of_all_that_squeezes_rods_and_has_order_two(kind: str) -> None:
    """About 3 N in the axis, so that steps above 2 sqrt(rho I / P) = 3.2 ms gain energy if the
    geometric stiffness is explicit; tendons that cannot stretch pull by a multiplier of each step.
    """
    robot, largest = squeezed_arm(kind), SQUEEZED[kind]

    def pull(t: float) -> float:
        return float(largest * np.sin(2 * np.pi * min(t, 0.25)) ** 2)

    start, given = robot.statics(), {"inputs": {"pull": pull}, "output_every": 0.05}
    fine = robot.simulate(0.3, 2.5e-4, start=start, integrator=pl.Newmark(), **given).tip("arm")
    gaps = []
    for dt, share in ((1e-2, 0.02), (5e-3, 2e-3), (2.5e-3, 2e-4)):
        motion = robot.simulate(0.3, dt, start=start, integrator=pl.Midpoint(), **given)
        gap = motion.energy_gap
        assert max(gap.share_added, gap.share_taken) < share
        assert not motion.rescues
        gaps.append(np.abs(motion.tip("arm") - fine)[:, :3, 3].max())
    assert gaps[2] < 3e-5
    assert gaps[0] / gaps[2] > 8.0  # 16 for order two


def test_mean_forces_have_order_two() -> None:
    """Against Newmark's method in steps of 0.05 ms, which balances forces at the ends of steps."""
    robot, formulation = tendon_arm(1e3), pl.BSpline(3, 5)
    given = {"inputs": PULL, "formulation": formulation, "output_times": [0.4, 0.6]}
    fine = robot.simulate(0.6, 5e-5, integrator=pl.Newmark(), **given).tip("arm")
    moved = [robot.simulate(0.6, dt, integrator=pl.Midpoint(), **given) for dt in (2e-3, 1e-3)]
    gaps = [np.abs(motion.tip("arm") - fine).max() for motion in moved]
    assert gaps[1] < 5e-6
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize(
    "formulation", [pl.BSpline(3, 6), pl.Hermite(3), pl.Strain(4), pl.Spectral(3, 3)], ids=repr
)
def test_mean_forces_keep_momentum(formulation: Any) -> None:
    """A free arm, which a tendon through its disks bends while it turns, in steps of 5 ms."""
    robot = pl.Robot(gravity=(0, 0, 0))
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    arm = robot.add_rod("arm", LENGTH, pl.Circle(0.01), soft, base=None)
    robot.add_tendon("pull", [arm.at(s, (0.007, 0.0)) for s in np.linspace(0.0, LENGTH, 7)])
    motion = robot.simulate(
        0.5, 5e-3, inputs={"pull": lambda t: 2.0 * np.sin(4 * t) ** 2},
        velocity={"arm": lambda s: (0.5, 1.0, 2.0, 0.1, 0.5, 0.2)}, formulation=formulation,
        integrator=pl.Midpoint(tolerance=1e-12),
    )  # fmt: skip
    total = momenta(motion).sum(axis=1)
    for rows in (slice(0, 3), slice(3, 6)):
        largest = np.linalg.norm(total[:, rows], axis=-1).max()
        assert np.abs(total[:, rows] - total[0, rows]).max() < 1e-10 * largest


def test_default_damps_what_is_too_fast() -> None:
    """An arm without viscosity, pulled at once: no energy is added in steps of 10 ms."""
    motion = tendon_arm(0.0).simulate(0.3, 1e-2, inputs={"t0": 1.5}, formulation=pl.BSpline(3, 6))
    assert motion.integrator.startswith("GeneralizedAlpha(rho=0.8")
    assert motion.energy_gap.share_added < 1e-3
