"""Concentric tubes against the S-curve of two tubes, single rods, circles and their energy balance.

Two tubes with curvatures k1, k2 and the same Poisson's ratio nu, turned against each other by theta:
theta'' = lambda sin(theta) with lambda = (1 + nu) k1 k2 (Xun et al. equation 56; Gilbert et al. 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import pliant as pl
from pliant.model import Array

STIFF = pl.Material(E=2e9, nu=0.45, rho=1200.0)
BEHIND, OVERLAP = 0.21, 0.23
"""Straight parts behind the entry plane and overlap beyond it, m."""
FOLDS = {34.8: 4.0586, 37.8: 4.2215}
"""By lambda, the angle of the base at which the tubes snap, rad."""
FORMULATIONS = [pl.Strain(3, 3), pl.BSpline(points=12), pl.Hermite(4)]


def tubes(
    product: float = 34.8,
    formulation: Any = None,
    theory: str = "kirchhoff",
    material: pl.Material = STIFF,
    gravity: float = 0.0,
    angle: float = 0.0,
    drive: str = "angle",
) -> pl.Robot:
    """Two tubes with a given lambda (1/m^2); the inner one is longer and turned by "turn"."""
    robot = pl.Robot(gravity=(0, 0, -gravity))
    k2 = product / (1.45 * 6.0)
    outer = robot.add_tube(
        *("outer", BEHIND + OVERLAP, pl.Annulus(5e-3, 3e-3), material),
        natural=(0, k2, 0),
        start=-BEHIND,
        formulation=formulation,
        theory=theory,
    )
    inner = robot.add_tube(
        *("inner", 0.6, pl.Annulus(2.5e-3, 2e-3), material, outer),
        natural=(0, 6, 0),
        start=-BEHIND,
        rotation="turn",
        angle=angle,
        drive=drive,
    )
    robot.add_load("force", inner.tip, force=(0, 0.5, 0))
    return robot


def base_angle(product: float, tip: float) -> float:
    """Angle between the bases for that at the end of the overlap, by equation (56)."""

    def slope(s: float, y: Array) -> list[float]:
        return [y[1], product * np.sin(y[0])]

    y = solve_ivp(slope, (OVERLAP, 0.0), [tip, 0.0], rtol=1e-11, atol=1e-13).y[:, -1]
    return float(y[0] - BEHIND * y[1])


def tip_angle(found: Any) -> Array:
    """Angle of the inner tube against the outer one at the end of the overlap, rad."""
    ends = [np.asarray(found.pose(name, BEHIND + OVERLAP)) for name in ("outer", "inner")]
    R = np.swapaxes(ends[0][..., :3, :3], -1, -2) @ ends[1][..., :3, :3]
    return np.asarray(np.arctan2(R[..., 1, 0], R[..., 0, 0]))


@pytest.mark.parametrize("theory", ["kirchhoff", "cosserat"])
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda x: type(x).__name__)
def test_output_angle_follows_the_equation_of_two_tubes(formulation: Any, theory: str) -> None:
    robot = tubes(formulation=formulation, theory=theory)
    for turn in (1.0, 3.5, 4.05):
        found = robot.statics({"turn": turn, "force": 0.0})
        assert found.stable
        assert base_angle(34.8, float(tip_angle(found))) == pytest.approx(turn, rel=1e-6)


@pytest.mark.parametrize("product", FOLDS)
def test_both_folds_of_the_s_curve(product: float) -> None:
    robot = tubes(product)
    path = robot.follow("turn", 0.0, 2 * np.pi, {"force": 0.0})
    up, down = path.folds
    assert up.value == pytest.approx(FOLDS[product], rel=1e-4)
    assert down.value == pytest.approx(2 * np.pi - up.value, rel=1e-6)
    assert path.stable[0] and not path.stable[len(path.values) // 2] and path.stable[-1]
    tip = np.mod(float(tip_angle(up.equilibrium)), 2 * np.pi)
    assert base_angle(product, tip) == pytest.approx(up.value, rel=1e-6)


def test_described_angle_is_an_input_angle() -> None:
    turned = tubes(angle=2.5).statics({"turn": 0.5, "force": 1.0})
    whole = tubes().statics({"turn": 3.0, "force": 1.0})
    assert turned.tip("inner") == pytest.approx(whole.tip("inner"), abs=1e-9)


def test_torque_turns_a_tube_as_far_as_the_angle_that_needs_it() -> None:
    form = pl.BSpline(points=9)
    turned = tubes(gravity=9.81, formulation=form).statics({"turn": 1.5})
    robot = tubes(gravity=9.81, formulation=form, drive="torque")
    torque = turned.drive_forces["turn"]
    found = robot.statics({"turn": torque})
    assert found.stable
    assert found.tip("inner") == pytest.approx(turned.tip("inner"), abs=1e-10)
    step = 1e-4 * torque
    ahead, behind = (robot.statics({"turn": torque + x}).tip("inner")[:3, 3] for x in (step, -step))
    along = found.tip("inner")[:3, :3] @ found.jacobian("inner.tip", ["turn"])[3:, 0]
    assert along == pytest.approx((ahead - behind) / (2 * step), rel=1e-5)


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.Newmark()])
def test_energy_balance_of_a_tube_turned_by_torque_closes(integrator: Any) -> None:
    viscous = pl.Material(E=2e9, nu=0.45, rho=1200.0, viscosity=1e5)
    robot = tubes(material=viscous, formulation=pl.BSpline(points=9), drive="torque")
    inputs = {"turn": lambda t: 0.07 * np.sin(20 * t) ** 2, "force": 0.0}
    gaps = []
    for dt in (1e-3, 5e-4):
        energy = robot.simulate(0.05, dt, inputs, integrator=integrator).energy
        gaps.append(np.ptp(energy["balance"]) / np.max(np.abs(energy["work"])))
    assert gaps[1] < 1e-4
    assert np.log2(gaps[0] / gaps[1]) > 1.5


def test_turned_slowly_it_snaps_near_the_fold_and_rests_on_the_other_branch() -> None:
    viscous = pl.Material(E=2e9, nu=0.45, rho=1200.0, viscosity=2e6)
    robot = tubes(material=viscous, formulation=pl.BSpline(points=10))
    late = []
    start = robot.statics({"turn": 3.9, "force": 0.0})
    for rate in (4.0, 1.0, 0.25):
        end = 4.3
        duration = (end - 3.9) / rate
        motion = robot.simulate(
            duration,
            duration / 400,
            {"turn": pl.Ramp(3.9, end, 0.0, duration), "force": 0.0},
            start,
        )
        turns = 3.9 + rate * motion.t
        late.append(turns[np.argmax(np.mod(tip_angle(motion), 2 * np.pi) > 3.0)] / FOLDS[34.8] - 1)
    assert late[0] > late[1] > late[2] > 0.0
    assert late[2] < 0.02
    still = {"turn": 4.3, "force": 0.0}
    rest = robot.simulate(1.0, 5e-3, still, motion, integrator=pl.ImplicitEuler())
    other = brentq(lambda x: base_angle(34.8, 2 * np.pi - x) - (2 * np.pi - 4.3), 4.0, 6.28)
    assert np.mod(tip_angle(rest)[-1], 2 * np.pi) == pytest.approx(other, abs=1e-3)


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.9), pl.ImplicitEuler()]
)
def test_energy_balance_of_turned_and_loaded_tubes_closes(integrator: Any) -> None:
    viscous = pl.Material(E=2e9, nu=0.45, rho=1200.0, viscosity=1e5)
    robot = tubes(material=viscous, gravity=9.81, formulation=pl.BSpline(points=9))
    inputs = {"turn": lambda t: np.sin(20 * t) ** 2, "force": lambda t: np.sin(30 * t)}
    gaps = []
    for dt in (1e-3, 5e-4):
        motion = robot.simulate(0.05, dt, inputs, "statics", integrator=integrator)
        e = motion.energy
        total = e["kinetic"] + e["elastic"] + e["gravity"] + e["dissipated"] - e["work"]
        gaps.append(np.ptp(total) / np.max(np.abs(e["work"])))
    order = 1 if isinstance(integrator, pl.ImplicitEuler) else 2
    assert gaps[1] < {1: 0.03, 2: 5e-4}[order]
    assert np.log2(gaps[0] / gaps[1]) > order - 0.5


def test_straight_tubes_bend_like_one_rod_with_the_stiffness_of_all() -> None:
    robot, single = pl.Robot(), pl.Robot()
    sections = [pl.Annulus(5e-3, 3e-3), pl.Annulus(3e-3, 2e-3), pl.Circle(1.9e-3)]
    inside: Any = robot.add_rod("t0", 0.3, sections[0], STIFF, pl.along("x"))
    for k, section in enumerate(sections[1:], 1):
        inside = robot.add_tube(f"t{k}", 0.3, section, STIFF, inside)
    C = sum(pl.Robot().add_rod("x", 0.3, x, STIFF).stiffness([0.0])[0] for x in sections)
    mass = sum(1200.0 * x.geometry([0.0], 1.0).area[0] for x in sections)
    section = pl.Stiffness(bending=C[0], twist=C[2], shear=C[3], axial=C[5], mass=mass)
    single.add_rod("t2", 0.3, section, pose=pl.along("x"))
    ends = []
    for model in (robot, single):
        model.add_load("pull", "t2.tip", force=(0, 3.0, 1.0))
        ends.append(model.statics(formulation=pl.BSpline(points=12)).tip("t2")[:3, 3])
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_a_tube_withdrawn_to_nothing_leaves_the_other_alone() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    outer = robot.add_tube(
        *("outer", 0.2, pl.Annulus(5e-3, 3e-3), STIFF), natural=(0, 4, 0), start=0.0, insertion="pull"
    )  # fmt: skip
    robot.add_tube("inner", 0.3, pl.Annulus(2.5e-3, 2e-3), STIFF, outer, natural=(6, 0, 0))
    for pull in (-0.2, -0.25):
        tip = robot.statics({"pull": pull}).tip("inner")[:3, 3]
        radius, turn = 1 / 6, 1.8
        exact = (0.0, -radius * (1 - np.cos(turn)), radius * np.sin(turn))
        assert tip == pytest.approx(exact, abs=1e-8)
    near, almost = (robot.statics({"pull": x}).tip("inner")[:3, 3] for x in (-0.2, -0.2 + 1e-4))
    assert np.linalg.norm(near - almost) < 2e-4


def test_insertion_moves_the_tip_along() -> None:
    """A tube alone comes out of its guide as it is: inserted by x it is an arc longer by x."""
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_tube(
        *("tube", 0.3, pl.Annulus(2.5e-3, 2e-3), STIFF), natural=(6, 0, 0), start=-0.2, insertion="push"
    )  # fmt: skip
    for push in (0.0, 0.05, 0.2):
        length = 0.1 + push
        exact = (0.0, -(1 - np.cos(6 * length)) / 6, np.sin(6 * length) / 6)
        assert robot.statics({"push": push}).tip("tube")[:3, 3] == pytest.approx(exact, abs=1e-8)
