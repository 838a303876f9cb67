"""Tubes that slide along a rod, and turn about their axes too, fixed at their tips to that rod."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import pliant as pl

WIRE = pl.Material(E=6e10, nu=0.33, rho=6450.0, viscosity=1e6)
G = 6e10 / 2.66


def backbones(*names: str, rotation: str | None = None, **more: Any) -> pl.Robot:
    """A spine with backbones beside it that slide through it and are fixed at its tip.

    rotation : input that turns the first of them.
    """
    robot = pl.Robot(gravity=(0, 0, 0))
    spine = robot.add_rod("spine", 0.2, pl.Circle(0.5e-3), WIRE, theory="kirchhoff", **more)
    for k, name in enumerate(names):
        angle = 2 * np.pi * k / 3
        offset = (0.004 * np.cos(angle), 0.004 * np.sin(angle))
        robot.add_tube(
            name,
            0.25,
            pl.Circle(0.4e-3),
            WIRE,
            spine,
            start=-0.05,
            shift=f"push {name}",
            rotation=None if k else rotation,
            offset=offset,
        )
    return robot


def test_a_pushed_backbone_bends_the_spine_into_a_circle() -> None:
    """N (L + l) / EA = -push - a k L and sum EI k = a N for an offset a and straight parts l."""
    found = backbones("one", formulation=pl.BSpline(points=10)).statics({"push one": 1e-3})
    moments = [np.pi * r**4 / 4 * 6e10 for r in (0.5e-3, 0.4e-3)]
    axial, a = np.pi * 0.4e-3**2 * 6e10 / 0.25, 0.004
    k = -axial * a * 1e-3 / (sum(moments) + axial * a**2 * 0.2)
    assert found.strain("spine", [0.0, 0.1, 0.2])[:, 1] == pytest.approx(k, rel=1e-5)
    force = axial * (-1e-3 - a * k * 0.2)
    assert found.wrench("one", [0.1, 0.2])[:, 5] == pytest.approx(force, rel=1e-4)
    assert found.drive_forces["push one"] == pytest.approx(-force, rel=1e-4)


def test_three_equal_pushes_do_not_bend_and_motion_keeps_its_balance() -> None:
    robot = backbones("one", "two", "three", formulation=pl.BSpline(points=8))
    even = robot.statics(dict.fromkeys(("push one", "push two", "push three"), 5e-4))
    assert even.tip("spine")[:3, 3] == pytest.approx((0, 0, 0.2), abs=1e-9)
    pushed = {"push two": lambda t: 5e-4 * np.sin(20 * t) ** 2}
    for integrator in (pl.Midpoint(), pl.Newmark()):
        energy = robot.simulate(0.05, 5e-4, pushed, "statics", integrator=integrator).energy
        total = sum(energy[x] for x in ("kinetic", "elastic", "dissipated")) - energy["work"]
        assert np.ptp(total) < 1e-3 * np.max(energy["work"])


def polar(radius: float) -> float:
    return G * np.pi * radius**4 / 2


def test_a_backbone_pushed_and_turned_bends_the_spine_into_a_helix() -> None:
    """Bent as by the push alone, and twisted by T with T (l / GJ1 + L (1 / GJ0 + 1 / GJ1)) = -angle."""
    robot = backbones("one", rotation="turn", formulation=pl.BSpline(points=10))
    found = robot.statics({"push one": 1e-3, "turn": 2.0})
    alone = backbones("one", formulation=pl.BSpline(points=10)).statics({"push one": 1e-3})
    k = alone.strain("spine", 0.1)[1]
    spine, tube = polar(0.5e-3), polar(0.4e-3)
    torque = -2.0 / (0.05 / tube + 0.2 * (1 / spine + 1 / tube))
    twist = -torque / spine
    strains = found.strain("spine", [0.02, 0.1, 0.18])
    assert strains[:, 1] == pytest.approx(k, rel=1e-5)
    assert strains[:, 2] == pytest.approx(twist, rel=1e-6)
    helix = pl.lie.se3.exp(0.2 * np.array([0.0, k, twist, 0.0, 0.0, 1.0]))
    assert found.tip("spine") == pytest.approx(helix, abs=1e-7)
    assert found.wrench("one", [0.1])[0, 2] == pytest.approx(torque, rel=1e-6)
    assert found.drive_forces["turn"] == pytest.approx(-torque, rel=1e-6)
    assert found.drive_forces["push one"] == pytest.approx(alone.drive_forces["push one"], rel=1e-6)
    tip = found.tip("spine") @ pl.pose((0.004, 0, 0))
    assert found.tip("one") == pytest.approx(tip, abs=1e-12)


@pytest.mark.parametrize("shift", ["push", None])
def test_a_curved_tube_turned_against_a_fixed_tip_twists_as_the_equation_of_two_tubes(
    shift: str | None,
) -> None:
    """theta'' = lambda sin theta with theta = 0 at the tip; a push only strains the straight tube."""
    outer, inner, k = pl.Annulus(1.5e-3, 1.2e-3), pl.Annulus(1.0e-3, 0.8e-3), (8.0, 12.0)
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_rod(
        *("outer", 0.2, outer, WIRE),
        natural=(0, k[0], 0),
        theory="kirchhoff",
        formulation=pl.BSpline(5, 32),
    )
    robot.add_tube(
        *("inner", 0.2, inner, WIRE, "outer"),
        natural=(0, k[1], 0),
        rotation="turn",
        shift=shift,
        tip_turns=False,
    )
    found = robot.statics({"turn": 2.5, **({"push": 1e-4} if shift else {})})
    EI = [6e10 * np.pi / 4 * (x.outer**4 - x.inner**4) for x in (outer, inner)]
    GJ = [2 * x / 2.66 for x in EI]
    size = k[0] * k[1] * EI[0] * EI[1] / sum(EI) * (1 / GJ[0] + 1 / GJ[1])
    s = np.linspace(0, 0.2, 41)
    exact = solve_bvp(
        lambda s, y: np.stack([y[1], size * np.sin(y[0])]),
        lambda a, b: np.array([a[0] - 2.5, b[0]]),
        s,
        np.stack([2.5 * (1 - s / 0.2), np.full(41, -12.5)]),
        tol=1e-10,
    ).sol
    share = GJ[0] / sum(GJ)  # theta' = T (1 / GJ0 + 1 / GJ1) with the torque T of the inner tube
    torque = GJ[1] * share * exact(s)[1]
    assert found.wrench("inner", s[4:-4])[:, 2] == pytest.approx(
        torque[4:-4], abs=2e-5 * np.ptp(torque)
    )
    if shift:
        area = np.pi * (inner.outer**2 - inner.inner**2)
        assert found.drive_forces["push"] == pytest.approx(6e10 * area * 1e-4 / 0.2, rel=1e-5)


@pytest.mark.filterwarnings("ignore::pliant.model.PlausibilityWarning")
def stiff_spine(**more: Any) -> pl.Robot:
    """A tube in a rod that hardly gives way."""
    robot = pl.Robot(gravity=(0, 0, -9.81))
    rock = pl.Material(E=1e20, nu=0.33, rho=1e9)
    robot.add_rod("spine", 0.2, pl.Annulus(0.05, 0.04), rock, formulation=pl.BSpline(points=8))
    light = pl.Material(E=6e10, nu=0.33, rho=6450.0)
    robot.add_tube("tube", 0.2, pl.Circle(4e-4), light, "spine", **more)
    return robot


def test_tube_that_turns_and_slides_vibrates_like_a_bar_and_a_shaft() -> None:
    """f = c / 2 L of a bar with both ends fixed, c^2 = E / rho in stretch and G / rho in twist."""
    robot = stiff_spine(shift="push", rotation="turn")
    modes = robot.modes(count=6, at=robot.statics())
    wanted = [np.sqrt(x / 6450.0) / 0.4 for x in (6e10, G)]
    for frequency in wanted:
        assert np.min(np.abs(modes.frequencies / frequency - 1)) < 2e-4


def test_weight_of_a_tube_beside_the_spine_acts_at_its_axis() -> None:
    weights = []
    for offset in ((0.0, 0.0), (0.02, 0.0)):
        robot = stiff_spine(shift="push", offset=offset)
        weights.append(next(iter(robot.statics().reactions.values())))
    mass = 6450.0 * np.pi * 4e-4**2 * 0.2
    assert weights[1] - weights[0] == pytest.approx(
        [0, -mass * 9.81 * 0.02, 0, 0, 0, 0], rel=1e-6, abs=1e-8
    )


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.8), pl.Radau()]
)  # fmt: skip
def test_energy_balance_of_a_backbone_pushed_and_turned_closes(integrator: Any) -> None:
    robot = backbones("one", "two", rotation="turn", formulation=pl.BSpline(points=8))
    moved = {
        "push two": lambda t: 5e-4 * np.sin(20 * t) ** 2,
        "turn": lambda t: 1.5 * np.sin(30 * t) ** 2,
    }
    energy = robot.simulate(0.05, 5e-4, moved, "statics", integrator=integrator).energy
    total = sum(energy[x] for x in ("kinetic", "elastic", "dissipated")) - energy["work"]
    assert np.ptp(total) < 2e-3 * np.max(energy["work"])


FORMULATIONS = [
    *(pl.Hermite(6), pl.Strain(2, 6), pl.Spectral(3, 6)),
    *(pl.SRL(24), pl.EBR(24), pl.EBA(24)),
]


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda x: type(x).__name__)
def test_formulations_agree_on_backbones_pushed_and_turned(formulation: Any) -> None:
    pushed = {"push one": 1e-3, "push two": -5e-4, "turn": 2.0}
    shapes = [
        backbones("one", "two", rotation="turn", formulation=x).statics(pushed)
        for x in (pl.BSpline(points=12), formulation)
    ]
    near = 5e-4 if isinstance(formulation, pl.EBA) else 1e-5
    assert shapes[1].tip("one") == pytest.approx(shapes[0].tip("one"), abs=near)
    assert shapes[1].energy["elastic"] == pytest.approx(shapes[0].energy["elastic"], rel=near)


def test_jacobian_and_branch_of_a_stiff_backbone_are_those_of_equilibria() -> None:
    """A spine that cannot stretch, with backbones that are very stiff against it."""
    robot = backbones("one", "two", rotation="turn", formulation=pl.BSpline(points=10))
    at = {"push one": 1e-3, "turn": 2.0}
    found = robot.statics(at)
    path = robot.follow("push one", 0.0, 1e-3, inputs={"turn": 2.0})
    assert path[-1].tip("spine") == pytest.approx(found.tip("spine"), abs=1e-9)
    J = np.asarray(found.jacobian("spine.tip", ["push one", "turn"]))[3:]
    R = found.tip("spine")[:3, :3]
    for k, (name, h) in enumerate((("push one", 1e-6), ("turn", 1e-3))):
        ends = [robot.statics({**at, name: at[name] + x}).tip("spine")[:3, 3] for x in (h, -h)]
        exact = R.T @ (ends[0] - ends[1]) / (2 * h)
        assert J[:, k] == pytest.approx(exact, abs=2e-5 * np.abs(exact).max())


def test_backbones_that_turn_survive_a_robot_file(tmp_path: Path) -> None:
    robot = pl.Robot()
    robot.add_rod("spine", 0.2, pl.Annulus(1e-3, 8e-4), WIRE, formulation=pl.BSpline(points=8))
    robot.add_tube(
        *("one", 0.25, pl.Circle(4e-4), WIRE, "spine"),
        start=-0.05,
        shift="push one",
        rotation="turn",
        offset=(4e-3, 0),
        angle=0.3,
        tip_turns=True,
    )
    robot.add_tube(
        *("loose", 0.1, pl.Circle(7e-4), WIRE, "spine"), rotation="twist", tip_turns=False
    )
    again = pl.Robot.from_file(robot.save(tmp_path / "backbones.yaml"))
    pushed = {"push one": 1e-3, "turn": 2.0, "twist": 1.0}
    tips = [x.statics(pushed).tip("loose") for x in (robot, again)]
    assert tips[0] == pytest.approx(tips[1], abs=1e-14)
