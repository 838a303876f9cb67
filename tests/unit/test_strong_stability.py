"""Stability of what strong forms find, by counting conjugate points, and the branch they stay on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.special import ellipj, ellipk

import pliant as pl
from pliant.bvp.contract import State, blank_state
from pliant.bvp.stability import Stability
from tests.unit.test_shooting_statics import HELD, SOFT, held_rod

KINDS = (pl.Shooting(), pl.MultipleShooting(), pl.Collocation())
SPLINE = pl.BSpline(degree=3, points=40)
FORM = np.block([[np.zeros((6, 6)), np.eye(6)], [-np.eye(6), np.zeros((6, 6))]])


def name(form: pl.StrongForm) -> str:
    return type(form).__name__


def falling(found: pl.Equilibrium) -> int | None:
    return Stability(found._compiled.chain).falling(found._solution.q, found.inputs)


def branched() -> pl.Robot:
    """Two rods at an angle, the second one curved, with a body and a force off its axis."""
    robot = pl.Robot()
    a = robot.add_rod("a", 0.3, pl.Circle(0.01), SOFT, pl.along("x"))
    b = robot.add_rod(
        "b",
        0.2,
        pl.Circle(0.008),
        SOFT,
        pl.along("y"),
        a.at(0.3, offset=(0.01, 0.02)),
        (2.0, 1.0, 3.0),
    )
    robot.add_body("m", mass=0.002, inertia=(1e-7,) * 3, on=b.at(0.1, offset=(0.01, -0.01)))
    robot.add_load("f", b.at(0.15, offset=(0.02, 0.01)), force=(0.001, -0.002, 0.005))
    return robot


CASES = {**{case: (lambda c=case: held_rod(c)) for case in HELD}, "branched": branched}


@pytest.mark.parametrize("case", CASES)
def test_linearised_rod_equations_are_symplectic(case: str) -> None:
    """In the chart of the docstring, also over bodies, joints and forces off the axis."""
    found = CASES[case]().statics(formulation=pl.Collocation())
    test = Stability(found._compiled.chain)
    errors = []
    for intervals in (192, 384):
        test._mesh(intervals)
        maps = test.transitions(found._solution.q, found.inputs, 1.0)
        size = np.abs(maps).max(axis=(1, 2)) ** 2
        gaps = np.abs(np.swapaxes(maps, 1, 2) @ FORM @ maps - FORM).max(axis=(1, 2))
        errors.append((gaps / size).max())
    assert errors[1] < 1e-7
    assert errors[1] < errors[0] / 4  # what is left is the integration's, which falls


def test_dead_moment_is_not_symplectic() -> None:
    """The test above would notice a force without potential."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("rod", 0.3, pl.Circle(0.01), SOFT)
    robot.add_load("turn", rod.tip, moment=(0.005, 0.002, 0.001))
    found = robot.statics(formulation=pl.Collocation())
    test = Stability(found._compiled.chain)
    assert test.falling(found._solution.q, found.inputs) is None
    maps = test.transitions(found._solution.q, found.inputs, 1.0)
    assert np.abs(maps[-1].T @ FORM @ maps[-1] - FORM).max() > 1e-3


@pytest.mark.parametrize(
    ("theory", "E"),
    [("cosserat", E) for E in (1e4, 4e4, 1e5, 2e5, 4e5)]
    + [("kirchhoff", E) for E in (4e4, 1e5, 4e5)],
)
def test_upright_rod_has_as_many_unstable_directions_as_its_discretisation(
    theory: str, E: float
) -> None:
    """Two for each mode of buckling that its weight has passed: 16 to none."""
    robot = pl.Robot()
    robot.add_rod("rod", 0.3, pl.Circle(0.01), pl.Material(E=E, nu=0.5, rho=1000.0), theory=theory)
    other = SPLINE if theory == "cosserat" else pl.Strain(order=4, segments=10)
    truth = robot.statics(formulation=other)._solution.negative
    found = robot.statics(formulation=pl.Shooting())
    assert falling(found) == truth
    assert found.stable is (truth == 0)
    assert np.abs(found.tip("rod")[:2, 3]).max() < 1e-12  # it is followed on the straight branch


@pytest.mark.parametrize("form", KINDS, ids=name)
@pytest.mark.parametrize("case", CASES)
def test_loaded_rods_are_stable_as_splines_say(case: str, form: pl.StrongForm) -> None:
    robot = CASES[case]()
    found = robot.statics(formulation=form)
    assert found.stable is robot.statics(formulation=SPLINE).stable is True
    assert "conjugate" in found.stability_note


def elastica(mode: int, k: float) -> tuple[float, State]:
    """Load and shape of a buckled unit column in the plane of y and z: sin(theta / 2) = k sn(l s)."""
    m = k * k
    root = (2 * mode - 1) * ellipk(m)
    s = np.linspace(0.0, 1.0, 401)
    sn, cn, _, _ = ellipj(root * s, m)
    theta = 2.0 * np.arcsin(k * sn)
    state = blank_state(np.zeros(len(s), dtype=np.int64), s)
    state.pose[:, 1:3, 1:3] = np.moveaxis(
        [[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]], -1, 0
    )
    state.pose[:, 1, 3] = CubicSpline(s, -np.sin(theta)).antiderivative()(s)
    state.pose[:, 2, 3] = CubicSpline(s, np.cos(theta)).antiderivative()(s)
    state.strain[:, 0], state.strain[:, 5] = 2.0 * k * root * cn, 1.0
    state.wrench[:, 0] = state.strain[:, 0]
    state.wrench[:, 4], state.wrench[:, 5] = -(root**2) * np.sin(theta), -(root**2) * np.cos(theta)
    return root**2, state


@pytest.mark.parametrize("mode", [1, 2, 3])
@pytest.mark.parametrize("k", [0.1, 0.5, 0.8])
def test_buckled_column_is_stable_in_its_first_mode_only(mode: int, k: float) -> None:
    """The exact elastica under a dead load: mode n has n - 1 directions of falling energy."""
    robot = pl.Robot(gravity=(0, 0, 0))
    plane = pl.Stiffness(bending=(1.0, 1e3), twist=1e3, shear=1e7, axial=1e7)
    rod = robot.add_rod("rod", 1.0, plane, theory="kirchhoff")
    robot.add_load("push", rod.tip, force=(0, 0, -1))
    load, state = elastica(mode, k)
    chain = robot.statics({"push": 0.0}, pl.Shooting())._compiled.chain
    assert Stability(chain).falling(state, {"push": load}) == mode - 1


@pytest.mark.parametrize("form", KINDS, ids=name)
@pytest.mark.parametrize("held", [(), ("rx", "ry", "rz", "x", "y")])
def test_nudged_column_bends_aside_and_is_stable(
    form: pl.StrongForm, held: tuple[str, ...]
) -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    weak = pl.Stiffness(bending=(1.0, 3.0), twist=1.0, shear=1e7, axial=1e7)
    rod = robot.add_rod("rod", 1.0, weak)
    if held:
        robot.add_constraint("head", rod.tip, hold=held)
    robot.add_load("push", rod.tip, force=(0, 0, -1))
    robot.add_load("nudge", rod.at(0.5), force=(0, 1, 0))
    load = 1.1 * (4 * np.pi**2 if held else np.pi**2 / 4)
    beside = robot.statics({"push": load, "nudge": 0.1}, form)
    alone = robot.statics({"push": load, "nudge": 0.0}, form, start=beside)
    assert alone.position("rod", 0.5)[1] > 0.05
    assert beside.stable is alone.stable is True
    straight = robot.statics({"push": load, "nudge": 0.0}, form)
    assert straight.stable is False and "one direction" in straight.stability_note


@pytest.mark.parametrize("E", [1e5, 2e5, 3e5])
@pytest.mark.parametrize("form", KINDS, ids=name)
def test_soft_rod_on_a_sliding_tip_stays_on_the_branch_from_no_load(
    form: pl.StrongForm, E: float
) -> None:
    """Newton's method from the unloaded rod alone goes to an equilibrium of 14 J for 0.8 J."""
    robot = pl.Robot()
    soft = pl.Material(E=E, nu=0.45, rho=1000.0)
    rod = robot.add_rod(
        "rod", 0.7, pl.Circle((0.03, 0.02)), soft, pl.along("x"), natural=(0.3, -0.2, 0.5)
    )
    place = np.array(pl.along("x"))
    place[:3, 3] = 0.55, 0.1, 0.1
    robot.add_constraint("tip", rod.at(0.7, offset=(0.01, 0.005)), to=place, kind="sliding")
    robot.add_load("along", "rod", force=(0.0, 0.4, 0.2))
    found = robot.statics(formulation=form)
    truth = robot.statics(formulation=pl.Strain(order=3, segments=10))
    assert found.energy["total"] == pytest.approx(truth.energy["total"], abs=1e-6)
    assert found.stable is truth.stable is True
    assert found.rescues["load steps"] > 0


def test_follower_force_is_judged_by_small_motions() -> None:
    """Beck's column: flutter at 20.05 EI / L^2, where no equilibrium is beside the straight one."""
    robot = pl.Robot(gravity=(0, 0, 0))
    stiff = pl.Stiffness(bending=1.0, twist=1.0, shear=1e6, axial=1e6, mass=1.0)
    rod = robot.add_rod("rod", 1.0, stiff)
    robot.add_load("jet", rod.tip, force=(0, 0, -20.05), frame="body")
    below, above = (robot.statics({"jet": x}, pl.Shooting()) for x in (0.97, 1.03))
    assert below.stable is True and "Strain" in below.stability_note
    assert above.stable is False and "grows" in above.stability_note
