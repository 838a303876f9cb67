"""Parallel continuum robots of six rods (Stewart-Gough): forward, inverse and singular statics."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.solve.redundancy import find_redundancy
from tests.reference.parallel_rods import ParallelRods

HEIGHT, RADIUS = 0.4, 0.0012
UP = np.array([0.0, 0.0, HEIGHT])
NITINOL = pl.Material(E=60e9, nu=0.33, rho=6450.0)
LEGS = {"leg1": 0.03, "leg2": 0.02, "leg5": -0.02}
FORMS = [pl.BSpline(3, 10), pl.Hermite(5), pl.Strain(segments=5)]


def points(radius: float, first: float, spread: float = 12.0) -> np.ndarray:
    """Six points (6, 3) in three pairs on a circle; first : middle of the first pair, degrees."""
    pairs = np.repeat([0.0, 120.0, 240.0], 2) + first
    angles = np.radians(pairs + np.tile([-spread, spread], 3))
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])


def legs(turn: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the legs (6, 3) on the base, and in the plate; turn : of the plate, degrees."""
    return points(0.15, 0.0), np.roll(points(0.08, 60.0 + turn), 1, axis=0)


def along(way: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) whose z axis points along a direction."""
    z = way / np.linalg.norm(way)
    x = np.cross([0.0, 0.0, 1.0], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def platform() -> pl.Robot:
    """Six clamped rods whose bases slide along their axes, welded to a plate."""
    robot = pl.Robot()
    at = pl.pose((0, 0, HEIGHT))
    plate = robot.add_body("plate", 0.1, (1e-4, 1e-4, 2e-4), pose=at, joint=pl.Free())
    for k, (below, above) in enumerate(zip(*legs(), strict=True), 1):
        way = above + UP - below
        R = along(way)
        slider = pl.Prismatic("z", drive="position", input=f"leg{k}")
        length = float(np.linalg.norm(way))
        rod = robot.add_rod(
            f"rod{k}", length, pl.Circle(RADIUS), NITINOL, pl.pose(below, R), joint=slider
        )
        robot.connect(f"tip{k}", rod.tip, plate.at(above, R))
    robot.add_load("payload", "plate", force=(0.3, 0, -1.0))
    return robot


def reference(payload: float) -> np.ndarray:
    """Pose of the plate by shooting, with the legs at LEGS."""
    below, above = legs()
    ways = above + UP - below
    bases, ends = np.tile(np.eye(4), (2, 6, 1, 1))
    for k in range(6):
        bases[k, :3, :3] = ends[k, :3, :3] = along(ways[k])
    bases[:, :3, 3], ends[:, :3, 3] = below, above
    area, inertia = np.pi * RADIUS**2, 0.25 * np.pi * RADIUS**4
    E, shear = NITINOL.E, NITINOL.E / (2.0 * (1.0 + NITINOL.nu))
    bend = E * inertia
    law = np.array([bend, bend, 2.0 * shear * inertia, shear * area, shear * area, E * area])
    force = payload * np.array([0.3, 0, -1.0]) - [0, 0, 0.1 * 9.81]
    rods = ParallelRods(
        bases,
        np.linalg.norm(ways, axis=1),
        ends,
        law,
        NITINOL.rho * area * 9.81,
        pl.pose((0, 0, HEIGHT)),
        force,
        np.zeros(3),
    )
    return rods.solve(np.array([LEGS.get(f"leg{k}", 0.0) for k in range(1, 7)]))


@pytest.fixture(scope="module")
def robot() -> pl.Robot:
    return platform()


def test_forward_statics_agrees_with_shooting(robot: pl.Robot) -> None:
    """Plate pose to 1e-4 of the height with 10 control points a rod, and finer with more."""
    wanted = reference(2.0)
    found = robot.statics({"payload": 2.0, **LEGS}, formulation=pl.BSpline(3, 20)).pose("plate")
    assert found[:3, 3] == pytest.approx(wanted[:3, 3], abs=2e-6 * HEIGHT)
    assert found[:3, :3] == pytest.approx(wanted[:3, :3], abs=1e-5)
    assert np.linalg.norm(wanted[:3, 3] - [0, 0, HEIGHT]) > 0.05
    for form in FORMS:
        coarse = robot.statics({"payload": 2.0, **LEGS}, formulation=form).pose("plate")
        assert coarse[:3, 3] == pytest.approx(wanted[:3, 3], abs=1e-4 * HEIGHT)


def test_inverse_statics_by_newton_on_the_legs(robot: pl.Robot) -> None:
    """Six leg positions bring the plate to a wanted pose; the legs of a known pose are found again."""
    form, names = pl.BSpline(3, 8), [f"leg{k}" for k in range(1, 7)]
    known = np.array([0.02, 0.015, 0.0, 0.01, -0.01, 0.005])
    wanted = robot.statics(dict(zip(names, known, strict=True)), formulation=form).pose("plate")

    def gap(still: pl.Equilibrium) -> np.ndarray:
        g = still.pose("plate")
        turn = 0.5 * (wanted[:3, :3].T @ g[:3, :3] - g[:3, :3].T @ wanted[:3, :3])
        return np.array([turn[2, 1], turn[0, 2], turn[1, 0], *(g[:3, 3] - wanted[:3, 3])])

    x, still = np.zeros(6), robot.statics(formulation=form)
    for _ in range(8):
        left = gap(still)
        if np.abs(left).max() < 1e-9:
            break
        A = np.empty((6, 6))
        for j, step in enumerate(1e-6 * np.eye(6)):
            inputs = dict(zip(names, x + step, strict=True))
            A[:, j] = (gap(robot.statics(inputs, start=still)) - left) / 1e-6
        x = x - np.linalg.solve(A, left)
        still = robot.statics(dict(zip(names, x, strict=True)), start=still)
    assert x == pytest.approx(known, abs=1e-7)


def rigid_platform(turn: float) -> pl.Robot:
    """Six rigid legs, each with a universal joint, a driven slider and a ball joint."""
    robot = pl.Robot()
    at = pl.pose((0, 0, HEIGHT))
    plate = robot.add_body("plate", 0.1, (1e-4, 1e-4, 2e-4), pose=at, joint=pl.Free())
    for k, (below, above) in enumerate(zip(*legs(turn), strict=True), 1):
        way = above + UP - below
        place = pl.pose(below, along(way))
        low = robot.add_body(f"low{k}", 0.1, (1e-4,) * 3, pose=place, joint=pl.Universal("x", "y"))
        slider = pl.Prismatic("z", drive="position", input=f"leg{k}")
        half = pl.pose((0, 0, 0.5 * np.linalg.norm(way)))
        high = robot.add_body(
            f"high{k}", 0.1, (1e-4,) * 3, on=low.at((0, 0, 0)), pose=half, joint=slider
        )
        robot.connect(f"tip{k}", high.at(half[:3, 3]), plate.at(above), pl.Spherical())
    return robot


def test_rigid_platform_is_regular_but_for_the_pose_of_fichter() -> None:
    """Turned by a quarter about its axis, a Stewart platform is singular (Fichter 1986)."""
    for turn, count in ((0.0, 0), (60.0, 0), (90.0, 1), (-90.0, 1)):
        effects = rigid_platform(turn)._compiler.compiled(None).effects
        assert len(find_redundancy(effects, effects.tree.rest)) == count
    with pytest.warns(pl.RedundancyWarning, match="1 redundant .* in this configuration only"):
        rigid_platform(90.0)._compiler.compiled(None)


def test_buckling_of_the_platform_is_told(robot: pl.Robot) -> None:
    """The plate loses its stiffness under a payload that the rods no longer carry upright."""
    form = pl.BSpline(3, 8)
    assert robot.statics({"payload": (0, 0, -120.0)}, formulation=form).stable
    with pytest.warns(pl.StabilityWarning):
        robot.statics({"payload": (0, 0, -130.0)}, formulation=form)
