"""ANCF rods against exact shapes, other formulations and theory: in a plane, in space, in motion."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pliant as pl
from pliant.model import Array
from tests.reference import exact

CABLE = functools.partial(pl.ANCF, planar=False)


def cantilever(slenderness: float = 1000.0, theory: str = "cosserat") -> tuple[pl.Robot, pl.Rod]:
    """Rod along x with EI = L = 1 whose other stiffnesses are those of a solid circle."""
    axial = 4.0 * slenderness**2
    section = pl.Stiffness(1.0, 1 / 1.3, axial / 2.6, axial, 1.0, (1e-6, 1e-6, 2e-6))
    robot = pl.Robot(gravity=(0, 0, 0))
    return robot, robot.add_rod("arm", 1.0, section, pose=pl.along("x"), theory=theory)


def tip(found: pl.Equilibrium) -> tuple[float, float, float]:
    """Angle from the x axis towards z, x and z of the tip."""
    g = found.tip("arm")
    return float(np.arctan2(g[2, 2], g[0, 2])), g[0, 3], g[2, 3]


def stretch(found: pl.Equilibrium) -> float:
    """Relative change of the length of the rod, from the slope of the curve."""
    x, w = np.polynomial.legendre.leggauss(8)
    s = (np.arange(64)[:, None] + 0.5 + 0.5 * x).ravel() / 64
    h = 1e-5
    slope = (found.position("arm", s + h) - found.position("arm", s - h)) / (2 * h)
    return float(np.linalg.norm(slope, axis=1) @ np.tile(0.5 * w / 64, 64)) - 1.0


# -- exact shapes -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pl.ANCF, CABLE], ids=["planar", "cable"])
@pytest.mark.parametrize("force", [0.3, 1.0, 4.0, 10.0])
def test_elastica_without_any_stretch(force: float, kind: type[pl.ANCF]) -> None:
    robot, arm = cantilever(theory="kirchhoff")
    robot.add_load("push", arm.tip, force=(0, 0, force))
    found = robot.statics(formulation=kind(64))
    assert tip(found) == pytest.approx(exact.elastica_end_force(force), abs=2e-7)
    assert abs(stretch(found)) < 1e-9


@pytest.mark.parametrize("formulation", [pl.BSpline(3, 40), pl.BSpline(5, 40), pl.Hermite(30)])
@pytest.mark.parametrize("force", [0.3, 1.0, 4.0, 10.0])
def test_splines_can_be_kept_from_stretching_too(force: float, formulation: pl.Formulation) -> None:
    robot, arm = cantilever(slenderness=5.0, theory="kirchhoff")
    robot.add_load("push", arm.tip, force=(0, 0, force))
    found = robot.statics(formulation=formulation)
    assert tip(found) == pytest.approx(exact.elastica_end_force(force), abs=1e-7)
    assert found.strain("arm", 0.4)[3:] == pytest.approx([0, 0, 1])
    strained = robot.statics(formulation=pl.Strain(3, 8))
    assert found.energy["elastic"] == pytest.approx(strained.energy["elastic"], rel=1e-6)


@pytest.mark.parametrize("weight", [1.0, 5.0, 20.0])
def test_heavy_elastica(weight: float) -> None:
    theta, x, y = exact.heavy_elastica(weight)
    robot, arm = cantilever(theory="kirchhoff")
    robot.add_load("weight", arm, force=(0, 0, -weight))
    found = tip(robot.statics(formulation=pl.ANCF(64)))
    assert found == pytest.approx((-theta, x, -y), abs=5e-7)


@pytest.mark.parametrize("inextensible", [False, True])
def test_tip_angle_under_a_moment_converges_with_order_four(inextensible: bool) -> None:
    """The tip angle is the derivative of the energy in the moment, and cubic elements whose second
    derivative is strained give the energy with order 2 (4 - 2) = 4.
    """
    robot, arm = cantilever()
    robot.add_load("turn", arm.tip, moment=(0, -1.5, 0))
    counts = (4, 8, 16, 32)
    forms = [pl.ANCF(n, inextensible=inextensible) for n in counts]
    errors = np.array([tip(robot.statics(formulation=f, tolerance=1e-12))[0] for f in forms]) - 1.5
    assert np.abs(errors[1]) < 1e-5 * 1.5
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize("kind", [pl.ANCF, CABLE], ids=["planar", "cable"])
def test_an_end_moment_rolls_a_rod_into_a_circle(kind: type[pl.ANCF]) -> None:
    robot, arm = cantilever()
    robot.add_load("turn", arm.tip, moment=(0, -2 * np.pi, 0))
    found = robot.statics(formulation=kind(31))
    s = np.linspace(0.0, 1.0, 23)
    _, x, z = exact.circle_end_moment(2 * np.pi, 1.0, s)
    places = found.position("arm", s)
    assert places == pytest.approx(np.stack([x, 0 * s, z], axis=1), abs=1e-5)


def test_bending_in_the_other_plane_is_the_same() -> None:
    robot, arm = cantilever()
    robot.add_load("turn", arm.tip, moment=(0, -1.0, 0.0), force=(0, 0, -2.0))
    other, rod = cantilever()
    # local x of the rod points to -z: what was z is now y
    other.add_load("turn", rod.tip, moment=(0, 0, 1.0), force=(0, -2.0, 0))
    one = robot.statics(formulation=pl.ANCF(8)).tip("arm")[:3, 3]
    two = other.statics(formulation=pl.ANCF(8, plane="yz")).tip("arm")[:3, 3]
    assert two[[0, 2, 1]] == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize("slenderness", [20.0, 100.0, 400.0, 1000.0])
@pytest.mark.parametrize("kind", [pl.ANCF, CABLE], ids=["planar", "cable"])
def test_slender_rods_are_found_as_well_as_stout_ones(
    kind: type[pl.ANCF], slenderness: float
) -> None:
    """Against the same theory, strain modes with stretch but hardly any shear."""
    robot = pl.Robot(gravity=(0, 0, 0))
    axial = 4.0 * slenderness**2
    section = pl.Stiffness(1.0, 1.0, 1e9, axial)
    arm = robot.add_rod("arm", 1.0, section, pose=pl.along("x"))
    side = 0.0 if kind is pl.ANCF else 0.6
    robot.add_load("tip", arm.tip, force=(0, side, 2.0))
    robot.add_load("along", arm, force=(0, -5 * side, 4.0))
    found = robot.statics(formulation=kind(8))
    truth = robot.statics(formulation=pl.Strain(3, 12))
    s = np.linspace(0, 1, 41)
    error = np.linalg.norm(found.position("arm", s) - truth.position("arm", s), axis=1).max()
    assert error < 2e-5
    assert found.iterations <= 8


# -- joined to other rods -----------------------------------------------------------------------

RUBBER = pl.Material(E=1e7, nu=0.45, rho=1100.0)


def arm_in_two() -> pl.Robot:
    robot = pl.Robot()
    first = robot.add_rod("first", 0.25, pl.Circle(0.01), RUBBER, pose=pl.along("x"))
    second = robot.add_rod("second", 0.35, pl.Circle(0.01), RUBBER, base=first.tip)
    robot.add_load("tip", second.tip, force=(0.0, 0.0, -0.5))
    return robot


@pytest.mark.parametrize("second", [pl.ANCF(12), CABLE(12), pl.Hermite(8)], ids=str)
@pytest.mark.parametrize("first", [pl.ANCF(12), CABLE(12), pl.BSpline(3, 15)], ids=str)
def test_a_rod_cut_in_two_is_the_same_rod(first: pl.Formulation, second: pl.Formulation) -> None:
    robot = arm_in_two()
    found = robot.statics(formulation={"first": first, "second": second})
    whole = pl.Robot()
    arm = whole.add_rod("arm", 0.6, pl.Circle(0.01), RUBBER, pose=pl.along("x"))
    whole.add_load("tip", arm.tip, force=(0, 0, -0.5))
    truth = whole.statics(formulation=pl.ANCF(40))
    # ANCF has no shear, the splines do
    shear = 0.0 if isinstance(first, pl.ANCF) and isinstance(second, pl.ANCF) else 5e-4
    assert found.tip("second") == pytest.approx(truth.tip("arm"), abs=5e-7 + shear)
    assert truth.tip("arm")[2, 3] < -0.15
    assert found.iterations <= 12


@pytest.mark.parametrize("formulation", [pl.ANCF(6), CABLE(6)], ids=["planar", "cable"])
def test_objectivity_on_a_turned_base(formulation: pl.ANCF) -> None:
    turn = pl.pose((0.3, -0.2, 0.1), (0.4, 1.1, -0.7))
    tips = []
    for g in (np.eye(4), turn):
        robot = pl.Robot(gravity=g[:3, :3] @ (-4.0, 0.0, -9.0))
        arm = robot.add_rod("arm", 0.4, pl.Circle(0.01), RUBBER, pose=g)
        robot.add_load("push", arm.at(0.3), force=g[:3, :3] @ (0.2, 0.0, 0.1))
        tips.append(robot.statics(formulation=formulation).tip("arm"))
    assert turn @ tips[0] == pytest.approx(tips[1], abs=1e-11)


# -- in motion ----------------------------------------------------------------------------------


@functools.cache
def pushed(formulation: pl.Formulation, integrator: pl.Integrator) -> pl.Motion:
    robot, arm = cantilever(100.0, "kirchhoff")
    robot.add_load("push", arm.tip, force=(0, 0, 3.0))
    return robot.simulate(0.6, dt=2e-3, formulation=formulation, integrator=integrator)


def lengths(motion: pl.Motion) -> Array:
    """Length (T,) of the curve, by Gauss points of its slope."""
    x, w = np.polynomial.legendre.leggauss(8)
    s = (np.arange(16)[:, None] + 0.5 + 0.5 * x).ravel() / 16
    h = 1e-5
    slope = (motion.position("arm", s + h) - motion.position("arm", s - h)) / (2 * h)
    return np.asarray(np.linalg.norm(slope, axis=2) @ np.tile(0.5 * w / 16, 16))


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.8)], ids=str
)
@pytest.mark.parametrize("formulation", [pl.ANCF(8), CABLE(8), pl.BSpline(3, 15)], ids=str)
def test_a_rod_that_cannot_stretch_keeps_its_length_in_motion(
    formulation: pl.Formulation, integrator: pl.Integrator
) -> None:
    motion = pushed(formulation, integrator)
    assert np.abs(lengths(motion) - 1.0).max() < 1e-6
    work = np.abs(motion.energy["work"]).max()
    assert np.abs(motion.energy["balance"]).max() < 1e-4 * work
    truth = pushed(pl.ANCF(24), pl.Midpoint())
    assert motion.tip("arm")[-1, :3, 3] == pytest.approx(truth.tip("arm")[-1, :3, 3], abs=2e-3)


def test_the_first_acceleration_respects_the_length() -> None:
    """Pulled along its axis, a straight rod that cannot stretch does not move at all."""
    robot, arm = cantilever(100.0, "kirchhoff")
    robot.add_load("pull", arm.tip, force=(5.0, 0, 0))
    exact = (pl.Midpoint, pl.Newmark, pl.ImplicitEuler)
    for integrator in (kind(tolerance=1e-10) for kind in exact):
        motion = robot.simulate(0.05, dt=1e-2, formulation=pl.ANCF(4), integrator=integrator)
        assert motion.tip("arm")[:, 0, 3] == pytest.approx(1.0, abs=1e-9)


def test_frequencies_of_a_cantilever() -> None:
    robot, _ = cantilever()
    roots = np.array([1.8751040687, 4.6940911330, 7.8547574382])
    for kind, count in ((pl.ANCF(16), 3), (CABLE(16), 6)):
        found = robot.modes(count, formulation=kind).frequencies
        expected = np.repeat(roots, count // 3) ** 2 / (2 * np.pi)
        assert found == pytest.approx(expected, rel=5e-5)
    free = robot.modes(3, formulation=pl.ANCF(16, inextensible=True)).frequencies
    assert free == pytest.approx(roots**2 / (2 * np.pi), rel=5e-5)


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formulation", "load", "word"),
    [
        (pl.ANCF(4), {"force": (0, 1, 0)}, "force along y"),
        (pl.ANCF(4), {"moment": (1, 0, 0)}, "twist"),
        (pl.ANCF(4), {"moment": (0, 0, 1)}, "moment about x"),
        (CABLE(4), {"moment": (1, 0, 0)}, "twist moment"),
        (CABLE(4), {"moment": (0, 0, 1), "frame": "body"}, "twist moment"),
    ],
)
def test_loads_that_nobody_would_carry_are_refused(
    formulation: pl.ANCF, load: dict[str, object], word: str
) -> None:
    robot, arm = cantilever()
    robot.add_load("push", arm.tip, **load)  # type: ignore[arg-type]
    with pytest.raises(pl.DescriptionError, match=word) as caught:
        robot.statics(formulation=formulation)
    assert "load 'push'" in str(caught.value) and "rod 'arm'" in str(caught.value)
    robot.statics({"push": 0.0}, formulation=formulation)


def test_an_offset_force_that_would_twist_a_cable_is_refused() -> None:
    robot, arm = cantilever()
    robot.add_load("push", arm.at(1.0, offset=(0.0, 0.01)), force=(0, 0, 1))
    with pytest.raises(pl.DescriptionError, match="twist moment"):
        robot.statics(formulation=CABLE(4))


def test_motion_without_rotary_inertia_needs_ancf() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 1.0, pl.Stiffness(1.0, 1.0, 1e4, 1e4, mass=1.0), pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 0, 0.1))
    with pytest.raises(pl.DescriptionError, match="ANCF"):
        robot.simulate(0.1, dt=0.01)
    motion = robot.simulate(0.1, dt=0.01, formulation=pl.ANCF(4))
    assert motion.tip("arm")[-1, 2, 3] > 0
    assert motion.wrench("arm", 0.5).shape == (11, 6)
