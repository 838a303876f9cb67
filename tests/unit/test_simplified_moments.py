"""Chamber moments with slopes taken for unit vectors: equation 18 of Rong and Gu (2024)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.rods.actuation import OnStrains
from pliant.rods.ancf import ANCF, ANCFMap
from pliant.rods.contract import Array

LENGTH, EI, AREA, ARM = 0.175, 0.0186, np.pi * 0.006**2, 0.009
SIMPLIFIED = {"moments": "simplified"}


def finger(axial: float | None = None, pose: object = None, **chamber: object) -> pl.Robot:
    """The actuator of the paper with 30 g at its tip; `axial` (N) lets its layer stretch."""
    robot = pl.Robot()
    more = {} if axial is None else {"axial": axial}
    part = pl.BendingActuator(LENGTH, EI, 0.006, ARM, mass=0.12038, mass_damping=2.4, **more)  # type: ignore[arg-type]
    rod = robot.add_actuator("finger", part, pl.along("x") if pose is None else pose)
    robot.add_body("weight", 0.03, on=rod.tip)
    return robot


def rod_map(elements: int = 1, plane: str = "xz") -> ANCFMap:
    rod = pl.Rod("arm", 0.1, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5, rho=1000.0))
    return ANCF(elements, plane=plane, moments="simplified").discretise(rod)


def bent(found: ANCFMap, seed: int = 0, size: float = 0.2) -> Array:
    """Coordinates near rest whose slopes are not of unit length."""
    rest = found.rest()
    step = np.random.default_rng(seed).normal(size=rest.size)
    return np.asarray(rest + size * step * np.where(np.abs(rest) > 0.5, 1.0, 0.1))


def forces(found: ANCFMap, q: Array, stress: Array, stations: Array) -> Array:
    """Generalised forces (nq,) of stresses (S, 6) at stations (S,)."""
    plan, c = found.strains(stations), found.configuration()
    found.update(c, np.eye(4), q)
    found.strain(plan, c)
    own = np.einsum("sia,si->sa", found.actuation.jacobian(plan, c), stress)
    out = np.zeros(6 + found.nv)
    for s, e in enumerate(plan.element):
        index = found.elements[e]
        np.add.at(out, index[index >= 0], own[s][index >= 0])
    return out[6:]


# -- the forces themselves ------------------------------------------------------------------------


@pytest.mark.parametrize(("plane", "row", "sign"), [("xz", 1, 1.0), ("yz", 0, -1.0)])
def test_forces_of_an_element_are_those_of_the_paper(plane: str, row: int, sign: float) -> None:
    """Q = M (.., q4, -q3, 0, 0, -q8, q7), here about y in the order (x, z) of slopes."""
    found = rod_map(1, plane)
    s, w = found.mass_rule()
    stress = np.zeros((len(s), 6))
    stress[:, row] = 0.7 * w
    q = np.array([1.2, 0.03, 0.09, 0.9, 0.7])
    end = sign * 0.7 * np.array([q[4], -q[3]])
    # the base holds the first node but for the stretch of its slope, which a moment does not feel
    assert forces(found, q, stress, s) == pytest.approx([0.0, 0.0, 0.0, *end], abs=1e-14)


def test_forces_of_inner_nodes_cancel_for_the_same_moment_everywhere() -> None:
    found = rod_map(5)
    s, w = found.mass_rule()
    stress = np.zeros((len(s), 6))
    stress[:, 1] = 0.7 * w
    q = bent(found)
    got = forces(found, q, stress, s)
    assert got[-2:] == pytest.approx(0.7 * np.array([q[-1], -q[-2]]), abs=1e-14)
    assert np.abs(got[:-2]).max() < 1e-12


@pytest.mark.parametrize("plane", ["xz", "yz"])
def test_tangent_by_differences(plane: str) -> None:
    found = rod_map(3, plane)
    s, _ = found.mass_rule()
    stress = np.random.default_rng(4).normal(size=(len(s), 6))
    q, c = bent(found), found.configuration()
    plan = found.strains(s)
    found.update(c, np.eye(4), q)
    found.strain(plan, c)
    elements = np.zeros((3, found.m, found.m))
    found.actuation.add_slope(plan, c, stress, elements)
    assert np.all(elements[:, :6] == 0.0) and np.all(elements[:, :, :6] == 0.0)
    K = np.zeros((6 + found.nv, 6 + found.nv))
    for e, index in enumerate(found.elements):
        live = np.flatnonzero(index >= 0)
        K[np.ix_(index[live], index[live])] += elements[e][np.ix_(live, live)]
    step = 1e-6
    for j, column in enumerate(K[6:, 6:].T):
        move = step * np.eye(found.nq)[j]
        ahead, behind = (forces(found, q + x, stress, s) for x in (move, -move))
        assert column == pytest.approx((ahead - behind) / (2 * step), abs=2e-7 * np.abs(K).max())
    stress[:, 5] = 0.0
    elements[...] = 0.0
    found.actuation.add_slope(plan, c, stress, elements)
    assert np.array_equal(elements, -elements.transpose(0, 2, 1))


def test_work_is_that_of_the_way_and_depends_on_it() -> None:
    found = rod_map(2)
    s, w = found.mass_rule()
    stress = np.zeros((len(s), 6))
    stress[:, 1], stress[:, 5] = 0.7 * w, 3.0 * w

    def work(a: Array, b: Array) -> float:
        plans = found.strains(s), found.strains(s)
        ends = found.configuration(), found.configuration()
        for q, plan, c in zip((a, b), plans, ends, strict=True):
            found.update(c, np.eye(4), q)
            found.strain(plan, c)
        return float(np.sum(stress * found.actuation.path(plans, ends)))

    corners = [bent(found, seed) for seed in (0, 1, 2, 0)]
    x, weight = np.polynomial.legendre.leggauss(12)
    total = 0.0
    for a, b in pairwise(corners):
        at = (0.5 * (a + b) + 0.5 * t * (b - a) for t in x)
        pairs = zip(weight, at, strict=True)
        fine = sum(0.5 * k * forces(found, q, stress, s) @ (b - a) for k, q in pairs)
        assert work(a, b) == pytest.approx(fine, rel=1e-6)
        total += work(a, b)
    assert abs(total) > 1e-4  # a force with a potential does none on a closed way
    found.actuation = OnStrains(found)
    assert sum(work(a, b) for a, b in pairwise(corners)) == pytest.approx(0.0, abs=1e-14)


# -- robots ---------------------------------------------------------------------------------------


def test_a_rod_that_keeps_its_length_does_not_tell_them_apart() -> None:
    """Slopes at nodes come to unit length with the third power of the elements."""
    robot, gaps = finger(), []
    for n in (4, 8, 16):
        exact, other = (
            robot.statics({"chamber1": 5e4}, f) for f in (ANCF(n), ANCF(n, **SIMPLIFIED))
        )
        gaps.append(float(np.abs(exact.tip("finger") - other.tip("finger"))[:3, 3].max()) / LENGTH)
    assert gaps[0] < 1e-4 and gaps[2] < 1e-6
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(3.0, abs=0.3)
    assert np.log2(gaps[1] / gaps[2]) == pytest.approx(3.0, abs=0.3)


@pytest.mark.parametrize("over", [None, (0.0, 0.07)])
def test_a_rod_that_stretches_feels_torques_times_the_stretch_squared(
    over: tuple[float, float] | None,
) -> None:
    """The same equilibrium from follower moments M |r'|^2 where the chamber ends."""
    pressure = 5e4
    moment, end = pressure * AREA * ARM, LENGTH if over is None else over[1]
    robot = pl.Robot()
    section = pl.Stiffness(bending=(EI, EI), twist=EI, shear=1e3, axial=5.0, mass=0.12)
    rod = robot.add_rod("finger", LENGTH, section, pose=pl.along("-z"))
    robot.add_body("weight", 0.05, on=rod.tip)
    robot.add_chamber("air", rod, area=AREA, offset=(-ARM, 0.0), over=over, thrust=False)
    robot.add_load("torque", on=rod.at(end), frame="body", moment=(0.0, 0.0, 0.0))
    settings = ANCF(20, moments="simplified")
    still = robot.statics({"air": pressure}, settings)
    stretch = float(still.strain("finger", [end])[0, 5])
    assert stretch > 1.05
    same = robot.statics({"air": 0.0, "torque": (0, moment * stretch**2, 0, 0, 0, 0)}, settings)
    assert same.tip("finger") == pytest.approx(still.tip("finger"), abs=2e-6)
    exact = robot.statics({"air": pressure}, ANCF(20))
    assert np.abs(exact.tip("finger") - still.tip("finger")).max() > 1e-3
    assert still.stable and exact.energy["loads"] < 0.0 and still.energy["loads"] == 0.0


@pytest.mark.parametrize(
    "integrator", [pl.Newmark(), pl.Midpoint(), pl.GeneralizedAlpha(0.8)], ids=str
)
@pytest.mark.parametrize("axial", [None, 100.0])
def test_motion_and_its_energy(integrator: pl.Integrator, axial: float | None) -> None:
    robot = finger(axial)
    asked = {"chamber1": pl.Sine(2e4, 2.0, offset=2e4)}
    exact, other = (
        robot.simulate(
            0.3, 2e-3, asked, "statics", formulation=ANCF(4, moments=m), integrator=integrator
        )
        for m in ("exact", "simplified")
    )
    energy = other.energy
    assert np.abs(energy["work"]).max() > 1e-3
    assert np.abs(energy["balance"]).max() < 5e-5 * np.abs(energy["work"]).max()
    gap = np.abs(exact.tip("finger") - other.tip("finger"))[:, :3, 3].max() / LENGTH
    assert gap < (1e-4 if axial is None else 2e-3)
    assert axial is None or gap > 5e-4


def test_a_stepper_takes_the_same_steps() -> None:
    settings = {"formulation": ANCF(4, **SIMPLIFIED), "integrator": pl.Newmark()}
    robot = finger(100.0)
    motion = robot.simulate(0.02, 1e-3, {"chamber1": 3e4}, **settings)
    with robot.stepper(1e-3, {"chamber1": 3e4}, **settings) as stepper:
        for _ in range(20):
            state = stepper.step({"chamber1": 3e4})
    assert state.tip("finger") == pytest.approx(motion.tip("finger")[-1], abs=1e-9)


def test_tangents_are_renewed_although_one_did_little() -> None:
    """A tangent that was made close to the rounding of a step did not better it by much."""
    asked, settings = {"chamber1": pl.Sine(2e4, 1.0, offset=2e4)}, ANCF(4, **SIMPLIFIED)
    motion = finger(100.0).simulate(
        0.3, 1e-3, asked, "statics", formulation=settings, integrator=pl.Newmark()
    )
    assert motion.iterations < 4 * motion.steps  # 6 where old tangents are kept for good


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields", [{"moments": "approximate"}, {"moments": "simplified", "planar": False}]
)
def test_bad_settings_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(pl.DescriptionError, match="moments"):
        ANCF(4, **fields)  # type: ignore[arg-type]
