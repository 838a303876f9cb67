"""Data that jump or peak along a rod: stepped sections, stepped natural shapes, narrow line loads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import pliant as pl

LENGTH, STEP = 0.8, 0.3016
"""Of the rods, and where their data jump, m: inside a span of every formulation."""
E, NU, RHO = 1e9, 0.3, 1000.0
MATERIAL = pl.Material(E=E, nu=NU, rho=RHO)
COORDINATES = {
    "BSpline": pl.BSpline(),
    "quadratic": pl.BSpline(2, 15),
    "graded": pl.BSpline(3, 15, knots="graded"),
    "Hermite": pl.Hermite(),
    "Spectral": pl.Spectral(),
    "Strain": pl.Strain(2, 4),
    "ANCF": pl.ANCF(8),
}
STRONG = {
    "Shooting": pl.Shooting(),
    "MultipleShooting": pl.MultipleShooting(),
    "Collocation": pl.Collocation(),
}
ALL = COORDINATES | STRONG
SOME = ["BSpline", "Hermite", "Strain", "ANCF", "Shooting", "Collocation"]


def stepped(first: Any, second: Any) -> Callable[[float], Any]:
    return lambda s: first if s < STEP else second


def robot_of(section: Any, natural: Any = (0.0, 0.0, 0.0), **more: Any) -> tuple[pl.Robot, pl.Rod]:
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    return robot, robot.add_rod("arm", LENGTH, section, MATERIAL, natural=natural, **more)


def shears(form: object) -> bool:
    return not isinstance(form, pl.ANCF)


# -- statics --------------------------------------------------------------------------------------


def two_arcs(first: float, second: float) -> np.ndarray:
    """Tip of two circular arcs of curvatures about y, one after the other, m."""
    turn = first * STEP
    end = turn + second * (LENGTH - STEP)
    x = (1 - np.cos(turn)) / first + (np.cos(turn) - np.cos(end)) / second
    z = np.sin(turn) / first + (np.sin(end) - np.sin(turn)) / second
    return np.array([x, 0.0, z])


@pytest.mark.parametrize("form", [*ALL.values(), pl.BSpline(1, 9), pl.BSpline(5, 9)], ids=repr)
def test_a_natural_curvature_with_a_step_makes_two_circular_arcs(form: Any) -> None:
    robot, _ = robot_of(pl.Circle(0.01), stepped((0.0, 1.5, 0.0), (0.0, -2.0, 0.0)))
    tip = robot.statics(formulation=form).position("arm", LENGTH)
    assert tip == pytest.approx(two_arcs(1.5, -2.0), abs=1e-9 * LENGTH)


@pytest.mark.parametrize("name", ALL)
def test_a_rod_of_two_radii_bends_as_beam_theory_says(name: str) -> None:
    radii, force = (0.012, 0.006), 1e-3
    robot, arm = robot_of(pl.Circle(stepped(*radii)))
    robot.add_load("tip", arm.tip, force=(force, 0.0, 0.0))
    area = [np.pi * r**2 for r in radii]
    bending = [E * np.pi * r**4 / 4 for r in radii]
    rest = LENGTH - STEP
    exact = force * ((LENGTH**3 - rest**3) / bending[0] + rest**3 / bending[1]) / 3
    if shears(ALL[name]):
        exact += force / (E / 2.6) * (STEP / area[0] + rest / area[1])
    tip = robot.statics(formulation=ALL[name]).position("arm", LENGTH)
    assert tip[0] == pytest.approx(exact, rel=2e-7)


SEGMENTS = {"SRL": pl.SRL(20), "EBR": pl.EBR(20), "EBA": pl.EBA(20)}


@pytest.mark.parametrize("name", ALL | SEGMENTS)
def test_a_rod_of_two_radii_has_the_weight_of_both_parts(name: str) -> None:
    """Wherever they meet: formulations with their mass at nodes have one there."""
    for step in LENGTH * np.array([0.1703, 1 / 3, 0.40009, 0.71]):
        robot = pl.Robot(gravity=(0.0, 0.0, -0.02))
        section = pl.Circle(lambda s, step=step: 0.012 if s < step else 0.006)
        robot.add_rod("arm", LENGTH, section, MATERIAL, pl.along("x"))
        weight = 0.02 * MATERIAL.rho * np.pi * (step * 0.012**2 + (LENGTH - step) * 0.006**2)
        still = robot.statics(formulation=(ALL | SEGMENTS)[name])
        assert still.reactions["arm"][3:] == pytest.approx([-weight, 0.0, 0.0], rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("name", ["Spectral", "EBA", "BSpline"])
@pytest.mark.parametrize(("place", "width"), [(0.31, 1e-5), (0.31, 8e-4), (1.0, 1e-4), (1.0, 0.0)])
def test_a_rod_whose_radius_climbs_within_a_hair_has_its_weight(
    name: str, place: float, width: float
) -> None:
    """A ramp in a table is a jump in its middle, and what the last hair of a rod has weighs nothing."""
    end = place * LENGTH
    start = end - width * LENGTH

    def radius(s: float) -> float:
        return 0.012 if s < start else 0.006

    table = (
        pl.Table([0.0, start, end, LENGTH], [0.012, 0.012, 0.006, 0.006]) if place < 1.0 else None
    )
    robot = pl.Robot(gravity=(0.0, 0.0, -0.02))
    robot.add_rod("arm", LENGTH, pl.Circle(table or radius), MATERIAL, pl.along("x"))
    step = 0.5 * (start + end)
    weight = 0.02 * MATERIAL.rho * np.pi * (step * 0.012**2 + (LENGTH - step) * 0.006**2)
    still = robot.statics(formulation=ALL.get(name, pl.EBA(20)))
    assert still.reactions["arm"][3] == pytest.approx(-weight, rel=2e-4)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("width", [0.01, 0.004, 0.001])
def test_a_narrow_peak_of_force_acts_with_all_of_its_force(name: str, width: float) -> None:
    """A bell of force about s = c; its moments of s are those of a normal distribution."""
    force, w, c = 2e-2, width * LENGTH, 0.4904
    robot, _ = robot_of(pl.Circle(0.01))
    height = force / (w * np.sqrt(np.pi))
    robot.add_load(
        "peak", "arm", force=lambda s: (height * np.exp(-(((s - c) / w) ** 2)), 0.0, 0.0)
    )
    still = robot.statics(formulation=ALL[name])
    squares, cubes = c**2 + w**2 / 2, c**3 + 1.5 * c * w**2
    exact = force * (3 * LENGTH * squares - cubes) / (6 * E * np.pi * 0.01**4 / 4)
    if shears(ALL[name]):
        exact += force * c / (E / 2.6 * np.pi * 0.01**2)
    assert still.position("arm", LENGTH)[0] == pytest.approx(exact, rel=5e-5)
    assert still.reactions["arm"][3] == pytest.approx(-force, rel=3e-5)


@pytest.mark.parametrize("name", SOME)
def test_a_force_over_a_millimetre_is_found_by_its_edges(name: str) -> None:
    """A rectangle of force of 0.001 of the length, given as a function."""
    force, low, wide = 1e-3, 0.4904, 0.001 * LENGTH
    robot, _ = robot_of(pl.Circle(0.01))
    robot.add_load(
        "patch",
        "arm",
        force=lambda s: (force / wide if low < s < low + wide else 0.0, 0.0, 0.0),
    )
    still = robot.statics(formulation=ALL[name])
    assert still.reactions["arm"][3] == pytest.approx(-force, rel=1e-7)
    assert still.reactions["arm"][1] == pytest.approx(-force * (low + wide / 2), rel=1e-4)


@pytest.mark.parametrize("name", SOME)
def test_a_named_peak_acts_however_narrow_it_is(name: str) -> None:
    force, c, w = 1e-3, 0.4904, 1e-5 * LENGTH
    robot, _ = robot_of(pl.Circle(0.01))
    height = force / (w * np.sqrt(np.pi))
    robot.add_load(
        "peak",
        "arm",
        force=lambda s: (height * np.exp(-(((s - c) / w) ** 2)), 0.0, 0.0),
        breaks=(c - 5 * w, c + 5 * w),
    )
    assert robot.statics(formulation=ALL[name]).reactions["arm"][3] == pytest.approx(
        -force, rel=1e-4
    )


@pytest.mark.parametrize("name", ["BSpline", "Hermite", "Strain", "Shooting", "Collocation"])
def test_a_notch_is_as_soft_as_it_is(name: str) -> None:
    """A smooth dip of the bending stiffness to a twentieth over 0.01 of the length, in pure bending."""
    w, c, moment = 0.01 * LENGTH, 0.4904, 1e-3

    def compliance(s: float) -> float:
        return 1.0 + 19.0 * float(np.exp(-(((s - c) / w) ** 2)))

    section = pl.Stiffness(bending=lambda s: 1.0 / compliance(s), twist=1.0, shear=1e4, axial=1e4)
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    arm = robot.add_rod("arm", LENGTH, section)
    robot.add_load("turn", arm.tip, moment=(0.0, moment, 0.0))
    exact = moment * (LENGTH + 19.0 * w * np.sqrt(np.pi))
    pose = robot.statics(formulation=ALL[name]).pose("arm", LENGTH)
    assert np.arctan2(pose[0, 2], pose[2, 2]) == pytest.approx(exact, rel=1e-3)


# -- large bending, against two rods joined end to end ----------------------------------------------

RUBBER = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=200.0)
SHAPES = ((0.014, (0.0, 2.0, 0.0)), (0.009, (0.0, -3.0, 0.0)))
PLACES = np.linspace(0.0, LENGTH, 9)


def soft(**more: Any) -> pl.Robot:
    robot, radius = pl.Robot(), stepped(SHAPES[0][0], SHAPES[1][0])
    natural = stepped(SHAPES[0][1], SHAPES[1][1])
    options = {"natural": natural, **more}
    arm = robot.add_rod("arm", LENGTH, pl.Circle(radius), RUBBER, pl.along("x"), **options)
    robot.add_load("tip", arm.tip, force=(0.02, 0.0, -0.03))
    return robot


def joined(**more: Any) -> pl.Robot:
    robot = pl.Robot()
    (r1, n1), (r2, n2) = SHAPES
    one = robot.add_rod("one", STEP, pl.Circle(r1), RUBBER, pl.along("x"), natural=n1, **more)
    other = robot.add_rod(
        "two", LENGTH - STEP, pl.Circle(r2), RUBBER, base=one.tip, natural=n2, **more
    )
    robot.add_load("tip", other.tip, force=(0.02, 0.0, -0.03))
    return robot


def centres(result: Any, names: tuple[str, ...]) -> np.ndarray:
    """Positions at PLACES, at the end of a motion or at rest."""
    rows = []
    for s in PLACES:
        beyond = len(names) == 2 and s > STEP
        p = result.position(names[int(beyond)], s - STEP if beyond else s)
        rows.append(np.asarray(p).reshape(-1, 3)[-1])
    return np.array(rows)


@pytest.mark.parametrize(
    ("make", "sizes", "order", "bound"),
    [
        (lambda n: pl.BSpline(3, n), (12, 24), 3.6, 1e-5),
        (lambda n: pl.BSpline(2, n), (12, 24), 2.8, 4e-5),
        (lambda n: pl.Hermite(n), (6, 24), 1.7, 1e-5),
        (lambda n: pl.Strain(1, n), (4, 8), 3.2, 2e-4),
        (lambda n: pl.Strain(2, n), (4, 8), 4.0, 5e-6),
        (lambda n: pl.Shooting(n), (25, 50), 3.6, 2e-6),
    ],
    ids=["cubic", "quadratic", "Hermite", "Strain 1", "Strain 2", "Shooting"],
)
def test_a_jump_does_not_cost_order(make: Any, sizes: Any, order: float, bound: float) -> None:
    exact = centres(joined().statics(formulation=pl.Strain(4, 8)), ("one", "two"))
    errors = [
        np.abs(centres(soft().statics(formulation=make(n)), ("arm",)) - exact).max() / LENGTH
        for n in sizes
    ]
    assert errors[1] < bound
    assert np.log(errors[0] / errors[1]) / np.log(sizes[1] / sizes[0]) > order


def test_nodes_of_ancf_at_a_jump_keep_its_order() -> None:
    exact = joined(theory="kirchhoff").statics(formulation=pl.Strain(4, 8))
    rigid = soft(theory="kirchhoff")
    errors = []
    for n in (8, 16):
        found = centres(rigid.statics(formulation=pl.ANCF(n)), ("arm",))
        errors.append(np.abs(found - centres(exact, ("one", "two"))).max() / LENGTH)
    assert errors[1] < 2e-5
    assert np.log2(errors[0] / errors[1]) > 2.7


# -- motion ---------------------------------------------------------------------------------------


def stepped_frequencies(radii: tuple[float, float], slender: bool, count: int) -> np.ndarray:
    """Frequencies (Hz) of a stepped clamped beam from its transfer matrix (Timoshenko, or Euler)."""

    def tip(frequency: float) -> float:
        square, transfer = (2 * np.pi * frequency) ** 2, np.eye(4)
        for radius, piece in zip(radii, (STEP, LENGTH - STEP), strict=True):
            area, moment = np.pi * radius**2, np.pi * radius**4 / 4
            A = np.zeros((4, 4))  # of (w, angle, moment, shear force)
            A[0, 1], A[1, 2], A[2, 3] = 1.0, 1.0 / (E * moment), -1.0
            A[3, 0] = -square * RHO * area
            if not slender:
                A[0, 3], A[2, 1] = 1.0 / (E / 2.6 * area), -square * RHO * moment
            transfer = expm(A * piece) @ transfer
        return float(np.linalg.det(transfer[2:, 2:] / [1.0, 1.0]))

    grid = np.linspace(0.5, 150.0, 3000)
    values = [tip(f) for f in grid]
    roots = [
        brentq(tip, a, b, xtol=1e-9)
        for a, b, x, y in zip(grid, grid[1:], values, values[1:], strict=False)
        if x * y < 0
    ]
    return np.array(roots[:count])


@pytest.mark.parametrize("name", ["BSpline", "quadratic", "graded", "Hermite", "Strain", "ANCF"])
def test_a_stepped_beam_vibrates_as_its_transfer_matrix_says(name: str) -> None:
    radii = (0.012, 0.005)
    robot, _ = robot_of(pl.Circle(stepped(*radii)))
    form = ALL[name]
    exact = stepped_frequencies(radii, not shears(form), 3)
    found = np.unique(np.round(robot.modes(8, formulation=form).frequencies, 3))
    nearest = np.array([found[np.argmin(np.abs(found - f))] for f in exact])
    assert nearest == pytest.approx(exact, rel=6e-4)


@pytest.mark.parametrize("name", ["BSpline", "Hermite", "Strain"])
def test_a_stepped_rod_swings_like_two_rods_joined(name: str) -> None:
    fine = joined().simulate(0.1, 2e-3, formulation=pl.Strain(3, 6))
    found = soft().simulate(0.1, 2e-3, formulation=ALL[name])
    away = np.abs(centres(found, ("arm",)) - centres(fine, ("one", "two"))).max()
    assert away < 4e-4 * LENGTH


@pytest.mark.parametrize("name", ["Shooting", "Collocation"])
def test_a_stepped_rod_swings_like_two_rods_joined_in_strong_form(name: str) -> None:
    fine = joined().simulate(0.04, 2e-3, formulation=STRONG[name])
    found = soft().simulate(0.04, 2e-3, formulation=STRONG[name])
    away = np.abs(centres(found, ("arm",)) - centres(fine, ("one", "two"))).max()
    assert away < 1e-6 * LENGTH


# -- other data and effects of your own ------------------------------------------------------------


@pytest.mark.parametrize("name", SOME)
def test_a_chamber_over_part_of_a_rod_bends_that_part_to_an_arc(name: str) -> None:
    """Bending by a chamber whose area doubles: three arcs, and straight beyond it."""
    area, arm, low, high = 1e-4, 0.01, 0.1234, 0.5678
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    section = pl.Stiffness(bending=0.2, twist=0.2, shear=1e5, axial=1e5)
    robot.add_rod("arm", LENGTH, section)
    robot.add_chamber(
        "air",
        "arm",
        area=lambda s: area if s < STEP else 2 * area,
        offset=(-arm, 0.0),
        over=(low, high),
        thrust=False,
    )
    pressure = 4e5
    angle, x, z = 0.0, 0.0, low
    for bend, piece in ((1.0, STEP - low), (2.0, high - STEP)):
        u = bend * area * arm * pressure / 0.2
        x += (np.cos(angle) - np.cos(angle + u * piece)) / u
        z += (np.sin(angle + u * piece) - np.sin(angle)) / u
        angle += u * piece
    x, z = x + (LENGTH - high) * np.sin(angle), z + (LENGTH - high) * np.cos(angle)
    tip = robot.statics({"air": pressure}, ALL[name]).position("arm", LENGTH)
    arc = 1e-4 if name == "ANCF" else 2e-6  # a cubic is no arc
    assert tip == pytest.approx([x, 0.0, z], abs=arc * LENGTH)


@pytest.mark.parametrize("name", ["BSpline", "Hermite", "Strain", "Shooting", "Collocation"])
def test_a_table_with_a_step_is_a_step(name: str) -> None:
    s = [0.0, STEP, STEP + 1e-9, LENGTH]
    table = pl.Table(s, [(0.0, 1.5, 0.0)] * 2 + [(0.0, -2.0, 0.0)] * 2)
    robot, _ = robot_of(pl.Circle(0.01), table)
    tip = robot.statics(formulation=ALL[name]).position("arm", LENGTH)
    assert tip == pytest.approx(two_arcs(1.5, -2.0), abs=1e-8 * LENGTH)


@dataclass(frozen=True, eq=False)
class Wind(pl.LineEffect):
    """A dead force per metre along x, only beyond the step."""

    on: str
    force: float
    breaks: tuple[float, ...] = (STEP,)

    def gradient(self, s, g, u):
        pull = np.where(s > STEP, -self.force, 0.0)
        p = np.zeros((len(s), 6))
        p[:, 3:] = g[:, 0, :3] * pull[:, None]
        return p

    def density(self, s, g, u):
        return np.where(s > STEP, -self.force, 0.0) * g[:, 0, 3]


@dataclass(frozen=True, eq=False)
class PatchedMuscle(pl.StrainEffect):
    """A constant bending moment about y, only up to the step."""

    on: str
    moment: float
    breaks: tuple[float, ...] = (STEP,)

    def stress(self, s, e, u):
        sigma = np.zeros((len(s), 6))
        sigma[:, 1] = np.where(s < STEP, -self.moment, 0.0)
        return sigma

    def density(self, s, e, u):
        return np.where(s < STEP, -self.moment, 0.0) * e[:, 1]


@pytest.mark.parametrize("name", SOME)
def test_effects_of_your_own_jump_where_they_say(name: str) -> None:
    radius, moment, force = 0.01, 0.4, 1e-3
    bending = E * np.pi * radius**4 / 4
    robot, _ = robot_of(pl.Circle(radius))
    robot.add(PatchedMuscle("muscle", "arm", moment))
    tip = robot.statics(formulation=ALL[name]).position("arm", LENGTH)
    u = moment / bending
    turn, rest = u * STEP, LENGTH - STEP
    x = (1 - np.cos(turn)) / u + rest * np.sin(turn)
    z = np.sin(turn) / u + rest * np.cos(turn)
    assert tip == pytest.approx([x, 0.0, z], abs=1e-7 * LENGTH)
    robot, _ = robot_of(pl.Circle(radius))
    robot.add(Wind("wind", "arm", force))
    still = robot.statics(formulation=ALL[name])
    assert still.reactions["arm"][3] == pytest.approx(-force * rest, rel=1e-6)
    exact = force / (24 * bending) * (3 * LENGTH**4 - STEP**3 * (4 * LENGTH - STEP))
    if shears(ALL[name]):
        exact += force * (LENGTH**2 - STEP**2) / 2 / (E / 2.6 * np.pi * radius**2)
    assert still.position("arm", LENGTH)[0] == pytest.approx(exact, rel=3e-6)
