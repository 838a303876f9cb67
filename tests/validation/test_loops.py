"""Closed loops against solutions that know no loops: one coordinate, two-force members, other cuts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import pliant as pl
from tests.unit.test_connections import (
    COUPLER,
    CRANK,
    GROUND,
    ROCKER,
    four_bar,
    four_bar_angles,
)

G = 9.81
DRIFT = 1e-9


@pytest.fixture(autouse=True)
def redundant() -> Iterator[None]:
    """Linkages of hinges in space have redundant rows; what is told of them is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.RedundancyWarning)
        yield


# -- a rigid linkage -------------------------------------------------------------------------------


def energies(theta: float) -> tuple[float, float, float]:
    """Inertia about the crank (kg m^2), potential (J) and its slope of three bars of 1 kg.

    By one coordinate: the turns of coupler and rocker for a turn of the crank from the closed loop.
    """
    coupler, rocker = four_bar_angles(theta)
    s, c = np.sin([theta, coupler, rocker]), np.cos([theta, coupler, rocker])
    A = np.array([[-COUPLER * s[1], ROCKER * s[2]], [COUPLER * c[1], -ROCKER * c[2]]])
    turns = np.linalg.solve(A, [CRANK * s[0], -CRANK * c[0]])
    rates = 0.5 * np.array(
        [
            [-CRANK * s[0], CRANK * c[0]],
            [
                -2 * CRANK * s[0] - COUPLER * s[1] * turns[0],
                2 * CRANK * c[0] + COUPLER * c[1] * turns[0],
            ],
            [-ROCKER * s[2] * turns[1], ROCKER * c[2] * turns[1]],
        ]
    )
    inertia = float(np.sum(rates**2)) + CRANK**2 / 12.0
    inertia += (COUPLER**2 * turns[0] ** 2 + ROCKER**2 * turns[1] ** 2) / 12.0
    height = 1.5 * CRANK * s[0] + 0.5 * COUPLER * s[1] + 0.5 * ROCKER * s[2]
    return inertia, G * float(height), G * float(rates[:, 1].sum())


@cache
def falling_crank(end: float, steps: int) -> np.ndarray:
    """Angle of the crank from rest at 1 rad: I theta'' + I'/2 theta'^2 + V' = 0."""

    def rate(_: float, y: np.ndarray) -> list[float]:
        step = 1e-5
        slope = (energies(y[0] + step)[0] - energies(y[0] - step)[0]) / (2.0 * step)
        inertia, _, force = energies(y[0])
        return [y[1], -(0.5 * slope * y[1] ** 2 + force) / inertia]

    t = np.linspace(0.0, end, steps + 1)
    found = solve_ivp(rate, (0.0, end), [1.0, 0.0], "DOP853", t, rtol=1e-9, atol=1e-11)
    return found.y[0]


def test_reference_of_the_linkage_keeps_its_energy_and_its_slope() -> None:
    theta, step = 0.8, 1e-5
    slope = (energies(theta + step)[1] - energies(theta - step)[1]) / (2.0 * step)
    assert energies(theta)[2] == pytest.approx(slope, rel=1e-8)


INTEGRATORS = [
    (pl.Midpoint(), 2, 1e-4),
    (pl.Variational(), 1, 1e-2),
    (pl.Newmark(), 2, 1e-4),
    (pl.GeneralizedAlpha(0.8), 2, 2e-4),
    (pl.ImplicitEuler(), 1, 5e-2),
]


@pytest.mark.parametrize(
    ("integrator", "order", "error"), INTEGRATORS, ids=lambda x: type(x).__name__
)
def test_rigid_four_bar_linkage_falls_as_its_one_coordinate_does(
    integrator: pl.Integrator, order: int, error: float
) -> None:
    """Three redundant rows, every integrator at its order, no drift of the loop."""
    robot, errors = four_bar(), []
    coupler, rocker = (robot.description.bodies[name] for name in ("coupler", "rocker"))
    for dt in (2e-3, 1e-3):
        motion = robot.simulate(0.4, dt, integrator=integrator)
        wanted = falling_crank(0.4, motion.steps) - 1.0
        errors.append(float(np.abs(-motion.joint("crank")[:, 0] - wanted).max()))
        ends = [
            motion.pose(p)[:, :3, 3]
            for p in (coupler.at((COUPLER, 0, 0)), rocker.at((ROCKER, 0, 0)))
        ]
        assert np.abs(ends[0] - ends[1]).max() < DRIFT
    assert np.abs(wanted).max() > 1.0
    assert errors[1] < error
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_linkage_swings_at_the_frequency_of_its_one_coordinate() -> None:
    """About the equilibrium that a spring in the crank makes."""
    stiffness = 20.0
    robot = four_bar(stiffness=stiffness)

    def force(theta: float) -> float:
        return energies(theta)[2]

    still = robot.statics()
    theta = brentq(lambda x: force(x) + stiffness * (x - 1.0), 0.7, 1.2)
    assert 1.0 - still.joint("crank")[0] == pytest.approx(theta, abs=1e-7)
    slope = (force(theta + 1e-3) - force(theta - 1e-3)) / 2e-3 + stiffness
    wanted = np.sqrt(slope / energies(theta)[0]) / (2.0 * np.pi)
    assert robot.modes(1, at=still).frequencies == pytest.approx([wanted], rel=1e-4)


# -- a soft link -----------------------------------------------------------------------------------

SOFT = pl.Material(E=2e6, nu=0.45, rho=1000.0, viscosity=2e3)
RADIUS = 0.01


def soft_linkage(cut: str, gravity: float = 0.0) -> pl.Robot:
    """The linkage with a rod as coupler between hinges; cut : at its end on the crank or rocker."""
    robot = pl.Robot(gravity=(0, 0, -gravity))
    coupler, rocker = four_bar_angles(1.0)

    def turned(angle: float, at: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
        return pl.pose((at[0], 0, at[1]), (0, -angle, 0))

    hinge = pl.Revolute("y")
    bars = {}
    for name, length, pose in (
        ("crank", CRANK, turned(1.0)),
        ("rocker", ROCKER, turned(rocker, (GROUND, 0.0))),
    ):
        moments = (1e-5, length**2 / 12.0, length**2 / 12.0)
        spring = pl.Revolute("y", stiffness=4.0 if name == "rocker" else 0.0)
        bars[name] = robot.add_body(
            name, 1.0, moments, centre=(0.5 * length, 0, 0), pose=pose, joint=spring
        )
    ends = {"crank": bars["crank"].at((CRANK, 0, 0)), "rocker": bars["rocker"].at((ROCKER, 0, 0))}
    base, tip = ("crank", "rocker") if cut == "rocker" else ("rocker", "crank")
    angle = coupler - 1.0 if base == "crank" else coupler + np.pi - rocker
    pose = turned(angle) @ pl.along("x")
    rod = robot.add_rod(
        "rod", COUPLER, pl.Circle(RADIUS), SOFT, base=ends[base], pose=pose, joint=hinge
    )
    robot.connect("loop", rod.tip, ends[tip], hinge)
    robot.add_load("turn", "crank", moment=(0, -0.3, 0))
    return robot


def test_soft_coupler_in_tension_is_a_two_force_member() -> None:
    """Without weight the rod stays straight and stretches by F L / EA; the rest is trigonometry."""
    robot = soft_linkage("rocker")
    robot.inputs["turn"] = 1.0
    still = robot.statics()
    EA = SOFT.E * np.pi * RADIUS**2
    theta = 1.0 - still.joint("crank")[0]
    rocker = four_bar_angles(1.0)[1] - still.joint("rocker")[0]
    A = CRANK * np.array([np.cos(theta), np.sin(theta)])
    B = np.array([GROUND, 0.0]) + ROCKER * np.array([np.cos(rocker), np.sin(rocker)])
    chord = float(np.linalg.norm(B - A))
    force = EA * (chord / COUPLER - 1.0)
    way = (B - A) / chord
    assert force > 0.5
    # moments about the pivots of crank and rocker, positive from x to z
    assert A[0] * way[1] - A[1] * way[0] == pytest.approx(-0.3 / force, rel=1e-7)
    arm = B - [GROUND, 0.0]
    assert force * (arm[1] * way[0] - arm[0] * way[1]) == pytest.approx(
        4.0 * (rocker - four_bar_angles(1.0)[1]), rel=1e-7
    )
    assert np.linalg.norm(still.reactions["loop"][3:]) == pytest.approx(force, rel=1e-8)


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.Newmark()], ids=lambda x: type(x).__name__
)
def test_soft_linkage_moves_the_same_wherever_the_loop_is_cut(integrator: pl.Integrator) -> None:
    form = pl.BSpline(3, 8)
    ends, drifts = [], []
    for cut in ("crank", "rocker"):
        robot = soft_linkage(cut, G)
        motion = robot.simulate(0.2, 1e-3, {"turn": 0.0}, formulation=form, integrator=integrator)
        hinge = robot.description.bodies[cut].at(((CRANK if cut == "crank" else ROCKER), 0, 0))
        drifts.append(np.abs(motion.tip("rod")[:, :3, 3] - motion.pose(hinge)[:, :3, 3]).max())
        ends.append([motion.joint(name)[-1, 0] for name in ("crank", "rocker")])
        assert motion.energy_gap.share_taken < 2e-3
        assert motion.energy_gap.share_added < 2e-3
    assert max(drifts) < DRIFT
    assert ends[0] == pytest.approx(ends[1], abs=2e-4)
    assert abs(ends[0][0]) > 0.2


# -- constraints that are given twice --------------------------------------------------------------


def two_arms(times: int, joint: Any, young: float = 1e6) -> pl.Robot:
    """Two parallel rods whose tips are connected once, or again and again."""
    robot = pl.Robot()
    soft = pl.Material(E=young, nu=0.45, rho=1000.0, viscosity=300.0)
    beside = pl.along("x").copy()
    beside[1, 3] = 0.05
    form = pl.BSpline(points=7)
    a = robot.add_rod("a", 0.2, pl.Circle(0.006), soft, pose=pl.along("x"), formulation=form)
    b = robot.add_rod("b", 0.2, pl.Circle(0.006), soft, pose=beside, formulation=form)
    for k in range(times):
        robot.connect(f"weld{k}", a.tip, b.tip, joint)
    robot.add_load("push", a.tip, force=(0, 0.02, -0.05))
    return robot


@pytest.mark.parametrize("joint", [None, pl.Spherical()], ids=["weld", "ball"])
def test_constraint_given_twice_changes_nothing(joint: Any) -> None:
    """Equilibrium, stability, modes, small motions and the sum of both reactions are those of one."""
    robots = [two_arms(times, joint) for times in (1, 2)]
    one, two = (robot.statics() for robot in robots)
    assert two.tip("a") == pytest.approx(one.tip("a"), abs=1e-11)
    assert one.stable and two.stable
    both = two.reactions["weld0"] + two.reactions["weld1"]
    assert both == pytest.approx(one.reactions["weld0"], abs=1e-11)
    assert two.reactions["a"] == pytest.approx(one.reactions["a"], abs=1e-11)
    pairs = list(zip(robots, (one, two), strict=True))
    f, g = (robot.modes(4, at=still).frequencies for robot, still in pairs)
    assert g == pytest.approx(f, rel=1e-9)
    A, B = (robot.linearise(still, ["push"], ["a.tip"], modes=4).A for robot, still in pairs)
    assert np.sort_complex(np.linalg.eigvals(B)) == pytest.approx(
        np.sort_complex(np.linalg.eigvals(A)), rel=1e-7
    )


@pytest.mark.parametrize(
    "integrator",
    [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.8), pl.ImplicitEuler()],
    ids=lambda x: type(x).__name__,
)
def test_motion_with_a_constraint_given_twice_is_that_with_one(integrator: pl.Integrator) -> None:
    inputs = {"push": lambda t: 1.0 - np.cos(20.0 * t)}
    one, two = (
        two_arms(times, None).simulate(0.04, 2e-3, inputs, "statics", integrator=integrator)
        for times in (1, 2)
    )
    assert two.tip("a") == pytest.approx(one.tip("a"), abs=1e-11)
    both = two.reactions["weld0"] + two.reactions["weld1"]
    assert both == pytest.approx(one.reactions["weld0"], abs=1e-9)
    assert two.energy["balance"] == pytest.approx(one.energy["balance"], abs=1e-12)


def test_fit_of_a_robot_with_a_constraint_given_twice() -> None:
    truth, forces = two_arms(1, None, 0.8e6), np.array([0.5, 1.0, 1.5])
    tips = np.array([truth.statics({"push": f}).tip("a")[:3, 3] for f in forces])
    data = pl.Measurement(
        {"push": forces, **{f"a.tip.{x}": tips[:, k] for k, x in enumerate("xyz")}}
    )
    found = pl.fit(two_arms(2, None), data, ["a.material.E", "b.material.E"])
    assert list(found.values.values()) == pytest.approx([0.8e6, 0.8e6], rel=1e-3)


# -- several loops on one place -------------------------------------------------------------------


def crowded(kind: str, needed: bool) -> pl.Robot:
    """Loops that hold the tip of one rod again and again; needed : only what is not redundant."""
    robot, soft = pl.Robot(), pl.Material(E=3e6, nu=0.4, rho=1000.0, viscosity=1e3)
    arm = robot.add_rod("arm", 0.2, pl.Circle(0.008), soft)
    plate = (0.01, (1e-6,) * 3)
    pushed: Any = arm.tip
    if kind == "fork":  # a plate on the tip that a loop to the same tip locks
        fork = None if needed else pl.Universal("x", "y", stiffness=0.2)
        held = robot.add_body("plate", *plate, on=arm.tip, joint=fork)
        if not needed:
            robot.connect("loop", held.at((0, 0, 0)), arm.tip, joint=pl.Revolute("z"))
    elif kind == "beside":
        other = robot.add_rod("other", 0.2, pl.Circle(0.008), soft, pl.pose((0.05, 0, 0)))
        robot.connect("one", arm.tip, other.tip)
        if not needed:
            robot.connect("two", arm.tip, other.tip, joint=pl.Revolute("y"))
    elif kind == "plate":
        at = pl.pose((0, 0, 0.2))
        held = robot.add_body("plate", *plate, pose=at, joint=pl.Free())
        robot.connect("one", arm.tip, held.at((0, 0, 0)))
        if not needed:
            robot.connect("two", arm.tip, held.at((0, 0, 0)), joint=pl.Spherical())
            robot.connect("three", arm.tip, held.at((0.02, 0, 0)), joint=pl.Revolute("z"))
    else:  # held against the world twice
        robot.connect("two", arm.tip, pl.pose((0, 0, 0.2)), joint=pl.Prismatic("z"))
        pushed = arm.at(0.1)
        if not needed:
            robot.add_constraint("pin", arm.tip, hold=("x", "y"))
    robot.add_load("push", pushed, force=(0.1, 0.05, 0.0))
    return robot


CROWDED = {"fork": 3, "beside": 5, "plate": 8, "world": 2}


@pytest.mark.filterwarnings("ignore::pliant.PlausibilityWarning")
@pytest.mark.parametrize(
    "form", [pl.BSpline(3, 8), pl.Strain(2, 2), pl.Hermite(4)], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize("kind", CROWDED)
def test_loops_that_hold_one_tip_again_are_counted_and_change_no_equilibrium(
    kind: str, form: Any
) -> None:
    with pytest.warns(pl.RedundancyWarning, match=rf"^{CROWDED[kind]} redundant constraint row"):
        found = crowded(kind, False).statics(formulation=form)
    truth = crowded(kind, True).statics(formulation=form)
    assert found.position("arm.0.1") == pytest.approx(truth.position("arm.0.1"), abs=1e-10)
    assert found.tip("arm") == pytest.approx(truth.tip("arm"), abs=1e-10)


@pytest.mark.filterwarnings("ignore::pliant.PlausibilityWarning")
@pytest.mark.parametrize(
    ("integrator", "near"),
    [(pl.Midpoint(), 1e-9), (pl.Newmark(), 1e-8), (pl.GeneralizedAlpha(0.8), 1e-8), (pl.Radau(), 2e-5)],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
@pytest.mark.parametrize("kind", CROWDED)
def test_loops_that_hold_one_tip_again_change_no_motion(
    kind: str, integrator: Any, near: float
) -> None:
    inputs, form = {"push": lambda t: np.sin(40.0 * t)}, pl.BSpline(3, 8)
    ends = [
        crowded(kind, needed)
        .simulate(0.04, 2e-3, inputs, integrator=integrator, formulation=form)
        .position("arm.0.1")[-1]
        for needed in (False, True)
    ]
    assert ends[0] == pytest.approx(ends[1], abs=near)
    assert np.abs(ends[1] - (0.0, 0.0, 0.1)).max() > 1e-4
