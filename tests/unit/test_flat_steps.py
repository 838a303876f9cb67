"""Explicit steps of robots in a plane: found by themselves, and the same motions as in space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3
from pliant.solve.integrators.lumped import flat, leapfrog

SOFT = pl.Material(E=1e6, nu=0.4, rho=1000.0)
ACROSS = np.array([0.0, 0.7, 0.0, 0.2, 0.0, 0.1])
"""A twist in the plane of the axes x and z of a section."""


def cantilever(natural: Any = (0.0, 3.0, 0.0), pose: Any = None) -> pl.Robot:
    """A rod of unequal stiffness that hangs in a plane; `pose` (4, 4) turns it along with gravity."""
    turn = np.eye(4) if pose is None else pose
    robot = pl.Robot(gravity=tuple(turn[:3, :3] @ (0.0, 0.0, -9.81)))
    place = turn @ pl.along("x")
    robot.add_rod("arm", 0.4, pl.Rectangle(0.01, 0.016), SOFT, place, natural=natural)
    return robot


def flying() -> pl.Robot:
    """Two free rods without weight in planes of their own."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    for name, natural in (("arm", (0.0, 2.0, 0.0)), ("other", (1.0, 0.0, 0.0))):
        robot.add_rod(name, 0.3, pl.Circle(0.01), SOFT, base=None, natural=natural)
    return robot


TURNED = se3.exp(np.array([0.4, -0.7, 1.1, 0.3, 0.1, 0.2]))
CASES: dict[str, tuple[pl.Robot, dict[str, Any]]] = {
    "hanging": (cantilever(), {}),
    "moving": (cantilever(), {"arm": lambda s: ACROSS * s}),
    "tilted": (cantilever(pose=TURNED), {"arm": lambda s: ACROSS * s}),
    "flying": (flying(), {"arm": ACROSS, "other": np.array([3.0, 0.0, 0.0, 0.0, 0.2, 0.1])}),
}


def moved(robot: pl.Robot, velocity: Any, duration: float = 0.1) -> pl.Motion:
    copied = pl.Robot._from(robot.description, robot.inputs)
    return copied.simulate(
        duration, 0.02, velocity=velocity or None, formulation=pl.Spectral(3, 5),
        integrator=pl.Explicit(), output_times=np.linspace(0.0, duration, 7),
    )  # fmt: skip


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether motions were in planes where they began."""
    told: list[bool] = []
    lay = flat.FlatMotion.lay

    def watched(self: flat.FlatMotion) -> bool:
        told.append(lay(self))
        return told[-1]

    monkeypatch.setattr(flat.FlatMotion, "lay", watched)
    return told


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", list(CASES))
def test_motions_in_a_plane_are_those_in_space(
    case: str, counted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    robot, velocity = CASES[case]
    found = moved(robot, velocity)
    assert counted and all(counted)
    monkeypatch.setattr(leapfrog, "flat_motions", lambda motions: [])
    space = moved(robot, velocity)
    names = list(robot.description.rods)
    assert max(np.ptp(space.tip(name)[:, :3, 3], axis=0).max() for name in names) > 0.01
    for name in names:
        np.testing.assert_allclose(found.pose(name), space.pose(name), atol=1e-10)
        # spins of up to 10 rad/s, in space and in space turned, differ by 1e-6 from rounding
        np.testing.assert_allclose(found.velocity(name), space.velocity(name), atol=5e-6)
    for name, values in space.energy.items():
        np.testing.assert_allclose(found.energy[name], values, atol=1e-9)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("change", ["velocity", "twist", "natural", "gravity"])
def test_robots_that_leave_their_plane_are_moved_in_space(
    change: str, counted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    robot, velocity = cantilever(), {}
    if change == "velocity":
        velocity = {"arm": lambda s: np.array([0.0, 0.0, 0.0, 0.0, 1e-6 * s, 0.0])}
    elif change == "twist":
        velocity = {"arm": lambda s: np.array([0.0, 0.0, 1e-3 * s, 0.0, 0.0, 0.0])}
    elif change == "natural":
        robot = cantilever(natural=(0.01, 3.0, 0.0))
    else:
        robot = pl.Robot(gravity=(0.0, 1e-3, -9.81))
        robot.add_rod("arm", 0.4, pl.Rectangle(0.01, 0.016), SOFT, pl.along("x"))
    found = moved(robot, velocity)
    assert counted == [False]
    monkeypatch.setattr(leapfrog, "flat_motions", lambda motions: [])
    np.testing.assert_array_equal(found.tip("arm"), moved(robot, velocity).tip("arm"))
    assert np.abs(found.pose("arm")[..., 1, 3]).max() > 0.0 or change == "twist"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_load_leaves_the_choice_to_space(counted: list[bool]) -> None:
    robot = cantilever()
    robot.add_load("push", "arm.tip", force=(0.0, 0.2, 0.0))
    assert np.abs(moved(robot, {}).tip("arm")[:, 1, 3]).max() > 1e-3
    assert not counted


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_robots_side_by_side_have_planes_of_their_own() -> None:
    robots = [cantilever(), cantilever(pose=TURNED), cantilever(pose=se3.inverse(TURNED))]
    given: dict[str, Any] = {"formulation": pl.Spectral(3, 5), "integrator": pl.Explicit()}
    found = pl.simulate_many(robots, 0.1, 0.02, workers=1, **given)
    for robot, motion in zip(robots, found, strict=True):
        alone = robot.simulate(0.1, 0.02, **given)
        np.testing.assert_allclose(motion.tip("arm"), alone.tip("arm"), atol=1e-10)
