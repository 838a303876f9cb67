"""Equilibria by shooting and multiple shooting against references, splines and strain modes."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.reference import values
from tests.validation.cases import only, tapered_robot

SOFT = pl.Material(E=2e5, nu=0.45, rho=1000.0)
ROTATIONS = ("quaternion", "matrix", "magnus")
SPLINE = pl.BSpline(degree=5, points=64)
KINDS = (pl.Shooting(steps=200), pl.MultipleShooting(intervals=4, steps=200))
FAR = 1e-7
"""Difference from a spline of 64 points, of a metre."""


def name(form: pl.Shooting | pl.MultipleShooting) -> str:
    return type(form).__name__


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("several", [False, True], ids=["simple", "multiple"])
def test_tapered_rod_meets_the_references(rotation, several):
    if several:
        form = pl.MultipleShooting(intervals=5, steps=400, rotation=rotation)
    else:
        form = pl.Shooting(steps=400, rotation=rotation)
    robot = tapered_robot()
    for load, known in (("force", values.TAPERED_FORCE), ("moment", values.TAPERED_MOMENT)):
        for size, (tip, angle) in known.items():
            still = robot.statics(only(load, size), formulation=form)
            assert still.tip("arm")[:3, 3] == pytest.approx(tip, abs=1e-8)
            turned = np.trapezoid(-still.strain("arm", np.linspace(0, 1, 4001))[:, 1], dx=1 / 4000)
            assert turned == pytest.approx(angle, abs=1e-5)
            assert still.residual < 1e-9


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize(("scheme", "steps", "order"), [("euler", 400, 1), ("rk4", 20, 4)])
def test_order_along_the_rod_is_that_of_the_scheme(rotation, scheme, steps, order):
    robot, size = tapered_robot(), 0.25
    errors = []
    for count in (steps, 2 * steps, 4 * steps):
        form = pl.Shooting(count, scheme, rotation)
        tip = robot.statics(only("force", size), formulation=form).tip("arm")[:3, 3]
        errors.append(np.abs(tip - values.TAPERED_FORCE[size][0]).max())
    assert errors[-1] < (1e-3 if order == 1 else 1e-8)
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_a_warm_start_needs_no_load_steps(form):
    robot = tapered_robot()
    near = robot.statics(only("force", 0.95), formulation=form)
    assert near.rescues["load steps"] > 0
    warm = robot.statics(only("force", 1.0), formulation=form, start=near)
    cold = robot.statics(only("force", 1.0), formulation=form)
    assert warm.rescues == {}
    assert warm.iterations < 0.5 * cold.iterations
    assert warm.tip("arm") == pytest.approx(cold.tip("arm"), abs=1e-9)


def everything() -> pl.Robot:
    """Two rods at an angle, with bodies, loads of every kind and natural curvature."""
    robot = pl.Robot()
    first = robot.add_rod(
        "first", 0.3, pl.Circle((0.03, 0.02)), SOFT, pl.along("x"), natural=(0.5, -0.4, 1.0)
    )
    bend = np.eye(4)
    bend[:3, :3] = [[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]]
    bend[:3, 3] = 0.01, 0.0, 0.005
    last = robot.add_rod("last", 0.25, pl.Circle(0.02), SOFT, pose=bend, base=first.tip)
    robot.add_load("dead", last.at(0.1, offset=(0.0, 0.01)), force=(0.1, -0.2, 0.1))
    robot.add_load(
        "follower", first.at(0.2), force=(0.2, 0.1, 0), moment=(0, 0.01, 0), frame="body"
    )
    robot.add_load("twist", last.tip, moment=(0.0, 0.01, 0.02))
    robot.add_load("along", "last", force=(0.0, 0.5, 0.2), over=(0.05, 0.2))
    robot.add_load("carried", "first", force=(0.3, 0.0, 0.0), frame="body")
    robot.add_body("hand", 0.03, (1e-5, 2e-5, 1e-5), on=last.tip, centre=(0.005, 0.0, 0.01))
    robot.add_body("cuff", 0.05, on=first.tip)
    return robot


S = np.linspace(0.0, 0.25, 9)


@pytest.fixture(scope="module")
def by_splines() -> pl.Equilibrium:
    return everything().statics(formulation=pl.BSpline(degree=3, points=240))


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_joined_rods_with_all_loads_agree_with_splines(form, by_splines):
    """The spline follows jumps of the shear inside a rod slowly, hence 240 points and 2e-7 m."""
    found = everything().statics(formulation=form)
    for rod in ("first", "last"):
        assert found.pose(rod, S) == pytest.approx(by_splines.pose(rod, S), abs=5e-7)
    for kind, energy in by_splines.energy.items():
        assert found.energy[kind] == pytest.approx(energy, abs=2e-7)
    assert found.reactions["first"] == pytest.approx(by_splines.reactions["first"], abs=1e-5)


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_internal_wrench_balances_what_hangs_on_the_rod(form):
    robot = pl.Robot()
    rod = robot.add_rod("rod", 0.5, pl.Circle((0.03, 0.02)), SOFT, pl.along("x"))
    robot.add_body("hand", 0.05, on=rod.tip)
    still = robot.statics(formulation=form)
    s = np.array([0.0, 0.2, 0.5])
    force = still.pose("rod", s)[:, :3, :3] @ still.wrench("rod", s)[:, 3:, None]
    radius = 0.03 - 0.02 * s
    volume = np.pi / 3 * (0.5 - s) * (radius**2 + radius * 0.02 + 0.02**2)
    expected = np.zeros((3, 3))
    expected[:, 2] = -9.81 * (1000.0 * volume + 0.05)
    assert force[:, :, 0] == pytest.approx(expected, abs=1e-7)
    assert still.reactions["rod"][[3, 4, 5]] == pytest.approx(-still.wrench("rod", 0.0)[3:])


def test_two_rods_in_line_are_one_rod():
    tips = []
    for cut in (0.5, 0.2):
        robot = pl.Robot()
        rod = robot.add_rod("first", cut, pl.Circle(0.02), SOFT, pl.along("x"))
        if cut < 0.5:
            rod = robot.add_rod("second", 0.5 - cut, pl.Circle(0.02), SOFT, base=rod.tip)
        robot.add_load("tip", rod.tip, force=(0.0, 0.1, 0.05), frame="body")
        tips.append(robot.statics(formulation=pl.Shooting(steps=500)).tip(rod.name))
    assert tips[1] == pytest.approx(tips[0], abs=1e-10)


HELD = {
    "fixed": ({"kind": "fixed"}, "world"),
    "articulated": ({"kind": "articulated"}, "world"),
    "sliding": ({"kind": "sliding"}, "world"),
    "hinge": ({"hold": ("rx", "ry", "x", "y", "z")}, "world"),
    "on two joints": ({"hold": ("rx", "x", "y", "z")}, None),
}


def held_rod(case: str) -> pl.Robot:
    """A heavy rod; on a sliding end, where its weight would make it coil, a stiffer one."""
    kind, base = HELD[case]
    robot = pl.Robot()
    material = pl.Material(E=2e6, nu=0.45, rho=1000.0) if case == "sliding" else SOFT
    rod = robot.add_rod(
        "rod", 0.7, pl.Circle((0.03, 0.02)), material, pl.along("x"), base, (0.3, -0.2, 0.5)
    )
    place = np.array(pl.along("x"))
    place[:3, 3] = 0.55, 0.1, 0.1
    offset = (0.0, 0.0) if base is None else (0.01, 0.005)
    robot.add_constraint("tip", rod.at(0.7, offset=offset), to=place, **kind)
    if base is None:
        robot.add_constraint("base", rod.base_frame, to=pl.along("x"), kind="articulated")
    robot.add_load("along", "rod", force=(0.0, 0.4, 0.2))
    return robot


@pytest.mark.parametrize("form", KINDS, ids=name)
@pytest.mark.parametrize("case", HELD)
def test_held_ends_agree_with_splines(case, form):
    robot, s = held_rod(case), np.linspace(0.0, 0.7, 9)
    found, truth = robot.statics(formulation=form), robot.statics(formulation=SPLINE)
    assert found.pose("rod", s) == pytest.approx(truth.pose("rod", s), abs=FAR)
    assert found.wrench("rod", s[1:-1]) == pytest.approx(truth.wrench("rod", s[1:-1]), abs=2e-5)
    assert set(found.reactions) == set(truth.reactions)
    for held, reaction in truth.reactions.items():
        assert found.reactions[held] == pytest.approx(reaction, abs=2e-5)


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_rod_without_shear_agrees_with_strain_modes(form):
    robot = pl.Robot()
    shape = {"natural": (1.0, -0.5, 2.0), "theory": "kirchhoff"}
    rod = robot.add_rod("rod", 0.5, pl.Circle((0.02, 0.01)), SOFT, pl.along("x"), **shape)
    robot.add_load("tip", rod.tip, force=(0.02, 0.05, 0.04), moment=(0.001, 0.0, 0.002))
    s = np.linspace(0.0, 0.5, 9)
    found = robot.statics(formulation=form)
    truth = robot.statics(formulation=pl.Strain(order=6, segments=40))
    assert found.pose("rod", s) == pytest.approx(truth.pose("rod", s), abs=1e-8)
    assert found.strain("rod", s)[:, 3:] == pytest.approx(np.tile([0, 0, 1.0], (9, 1)), abs=1e-12)


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_chambers_bend_a_rod_as_they_bend_a_spline(form):
    robot = pl.Robot()
    rod = robot.add_rod("rod", 0.3, pl.Circle(0.02), SOFT, pl.along("x"))
    robot.add_chamber("left", "rod", area=2e-4, offset=(0.01, 0.0))
    robot.add_chamber("part", "rod", area=1e-4, offset=(0.0, 0.01), over=(0.1, 0.25))
    s, inputs = np.linspace(0.0, 0.3, 9), {"left": 1e4, "part": 2e4}
    found = robot.statics(inputs, formulation=form)
    truth = robot.statics(inputs, formulation=pl.BSpline(degree=3, points=240))
    assert np.abs(truth.tip("rod")[1:3, 3]).max() > 0.02
    assert found.pose(rod.name, s) == pytest.approx(truth.pose("rod", s), abs=2e-6)


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_support_out_of_reach_is_said_and_the_last_state_kept(form):
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("rod", 0.5, pl.Circle(0.02), SOFT, pl.along("x"), theory="kirchhoff")
    place = np.array(pl.along("x"))
    place[:3, 3] = 0.8, 0.0, 0.0
    robot.add_constraint("far", rod.tip, to=place, kind="articulated")
    with pytest.raises(pl.ConvergenceError, match="a support may be out of reach") as caught:
        robot.statics(formulation=form)
    assert "'rod'" in str(caught.value)
    last = caught.value.last
    assert np.isfinite(last.pose("rod", np.linspace(0, 0.5, 5))).all()


def test_load_that_no_equilibrium_carries_keeps_the_highest_one_found():
    """Twenty steps cannot carry a load that bends the rod on a millimetre."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("rod", 0.5, pl.Circle(0.02), SOFT, pl.along("x"))
    robot.add_load("tip", rod.tip, force=(0, 0, 1.0))
    with pytest.raises(pl.ConvergenceError, match=r"beyond .* % of the load") as caught:
        robot.statics({"tip": 1e9}, formulation=pl.Shooting(steps=20, rescue=False))
    assert np.isfinite(caught.value.last.tip("rod")).all()


def test_rod_that_nothing_holds_is_refused_in_words():
    robot = pl.Robot()
    robot.add_rod("loose", 0.5, pl.Circle(0.02), SOFT, base=None)
    with pytest.raises(pl.ConvergenceError, match=r"'loose': nothing holds them. Clamp a rod"):
        robot.statics(formulation=pl.Shooting())
