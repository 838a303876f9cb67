"""Rods of segments converge to the Cosserat rod: order two by default, order one as published.

An arm of rectangular section with natural curvature and twist bends in space under its weight and a
wrench at its tip, so that turns about different axes do not commute. Strain modes of order 4 give the
reference; they share no code with these models.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.linalg.matrices import BandedSymmetric
from pliant.tree.tangent import new_tangent

pytestmark = pytest.mark.filterwarnings("ignore::pliant.ResolutionWarning")
MODELS = {"EBA": pl.EBA, "EBR": pl.EBR, "SRL": pl.SRL}
REFERENCE = pl.Strain(order=4, segments=4)
LENGTH = 0.3


def arm(theory: str = "cosserat", moment: float = 1.0) -> pl.Robot:
    robot = pl.Robot(gravity=(0.0, 0.0, -9.81))
    rod = robot.add_rod(
        "arm", LENGTH, pl.Rectangle(0.02, 0.012),
        pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=1e3),
        pose=pl.along("x"), natural=(0.5, 1.0, 2.0), theory=theory,
    )  # fmt: skip
    moments = (0.002 * moment, 0.001 * moment, 0.002 * moment)
    robot.add_load("push", rod.tip, force=(0.02, 0.05, -0.03), moment=moments)
    return robot


@functools.cache
def still(formulation: Any, theory: str = "cosserat") -> Any:
    return arm(theory).statics(formulation=formulation).tip("arm")[:3, 3]


@functools.cache
def frequencies(formulation: Any) -> Any:
    return arm().modes(4, formulation=formulation).frequencies


@functools.cache
def moved(formulation: Any) -> Any:
    motion = arm().simulate(
        0.06, 2e-3, {"push": 3.0}, formulation=formulation, start="statics", output_times=(0.06,)
    )
    return motion.tip("arm")[-1, :3, 3]


def orders(sizes: tuple[int, ...], error: Any) -> tuple[Any, Any]:
    """Errors at these sizes and the orders between neighbours."""
    found = np.array([error(n) for n in sizes])
    return found, np.log(found[:-1] / found[1:]) / np.log(np.divide(sizes[1:], sizes[:-1]))


@pytest.mark.parametrize("name", MODELS)
def test_equilibria_converge_at_their_order(name: str) -> None:
    def error(n: int, scheme: str) -> float:
        gap = still(MODELS[name](n, scheme=scheme)) - still(REFERENCE)
        return float(np.abs(gap).max() / LENGTH)

    errors, order = orders((16, 32, 64), lambda n: error(n, "midpoint"))
    assert order == pytest.approx(2.0, abs=0.2) and errors[-1] < 2e-4
    errors, order = orders((16, 32, 64), lambda n: error(n, "one-sided"))
    assert order == pytest.approx(1.0, abs=0.15) and 5e-3 < errors[-1] < 8e-3


@pytest.mark.parametrize("name", MODELS)
def test_frequencies_converge_at_their_order(name: str) -> None:
    def error(n: int) -> float:
        return float(np.abs(frequencies(MODELS[name](n)) / frequencies(REFERENCE) - 1.0).max())

    errors, order = orders((16, 32, 64), error)
    assert order == pytest.approx(2.0, abs=0.2) and errors[-1] < 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_motions_converge_at_their_order(name: str) -> None:
    def error(n: int) -> float:
        return float(np.abs(moved(MODELS[name](n)) - moved(REFERENCE)).max() / LENGTH)

    errors, order = orders((12, 24, 48), error)
    assert order == pytest.approx(2.0, abs=0.3) and errors[-1] < 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_rods_without_shear_and_stretch_converge_too(name: str) -> None:
    def error(n: int) -> float:
        gap = still(MODELS[name](n), "kirchhoff") - still(REFERENCE, "kirchhoff")
        return float(np.abs(gap).max() / LENGTH)

    errors, order = orders((16, 32), error)
    assert order == pytest.approx(2.0, abs=0.2) and errors[-1] < 2e-3


@pytest.mark.parametrize("rotation", ["unit", "free"])
def test_polynomials_of_the_whole_rod_converge_exponentially(rotation: str) -> None:
    """Two orders more leave less than a quarter of the errors."""
    kinds: dict[str, tuple[Any, float]] = {
        "equilibrium": (lambda f: np.abs(still(f) - still(REFERENCE)).max() / LENGTH, 1e-6),
        "frequency": (lambda f: np.abs(frequencies(f) / frequencies(REFERENCE) - 1).max(), 3e-5),
        "motion": (lambda f: np.abs(moved(f) - moved(REFERENCE)).max() / LENGTH, 1e-5),
    }
    for error, last in kinds.values():
        errors = np.array([error(pl.ROM(order, rotation)) for order in (4, 6, 8)])
        assert (errors[1:] < errors[:-1] / 4.0).all() and errors[-1] < last


@pytest.mark.parametrize("rotation", ["unit", "free"])
def test_polynomials_of_high_order_stay_well_conditioned(rotation: str) -> None:
    tip = still(pl.ROM(64, rotation))
    assert tip == pytest.approx(still(REFERENCE), abs=1e-8 * LENGTH)


def test_vector_part_of_a_quaternion_ends_at_half_a_turn() -> None:
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    rod = robot.add_rod("arm", LENGTH, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5, rho=1000.0))
    moment = 1e6 * np.pi * 0.01**4 / 4 * 2 * np.pi / LENGTH
    robot.add_load("turn", rod.tip, moment=(0.0, moment, 0.0), frame="body")
    with pytest.raises(pl.ConvergenceError, match=r"ends at 180: use ROM\(rotation='free'\)"):
        robot.statics({"turn": 0.6}, formulation=pl.ROM(8))
    tip = robot.statics({"turn": 0.9}, formulation=pl.ROM(8, "free")).tip("arm")[:3, 3]
    angle = 0.9 * 2.0 * np.pi
    circle = np.array([1.0 - np.cos(angle), 0.0, np.sin(angle)]) * LENGTH / angle
    assert tip == pytest.approx(circle, abs=1e-6 * LENGTH)


def test_polynomials_refuse_data_that_jump() -> None:
    robot = pl.Robot()
    section = pl.Circle(lambda s: np.where(s < 0.1, 0.01, 0.012))
    robot.add_rod("arm", LENGTH, section, pl.Material(E=1e6, nu=0.45, rho=1100.0))
    with pytest.raises(pl.DescriptionError, match=r"section.radius.*s = 0\.1 m.*EBA\(\)"):
        robot.statics(formulation=pl.ROM(3))


@pytest.mark.parametrize("scheme", ["midpoint", "one-sided"])
def test_ways_to_keep_rotations_of_nodes_give_the_same_rod(scheme: str) -> None:
    unit, free = (still(pl.EBA(8, rotation, scheme)) for rotation in ("unit", "free"))
    assert free == pytest.approx(unit, abs=1e-9 * LENGTH)


@pytest.mark.filterwarnings("ignore::pliant.StabilityWarning")
def test_nodes_turn_by_more_than_half_a_turn_from_the_base() -> None:
    """A moment bends the rod to a circle, through a full turn of its tip."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    rod = robot.add_rod("arm", LENGTH, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5, rho=1000.0))
    moment = 1e6 * np.pi * 0.01**4 / 4 * 2 * np.pi / LENGTH
    robot.add_load("turn", rod.tip, moment=(0.0, moment, 0.0), frame="body")
    for formulation in (pl.EBA(64), pl.EBA(64, "free"), pl.EBR(64), pl.SRL(64)):
        tip = robot.statics(formulation=formulation).tip("arm")
        assert tip[:3, 3] == pytest.approx(np.zeros(3), abs=4e-3 * LENGTH)


@pytest.mark.parametrize("scheme", ["midpoint", "one-sided"])
def test_explicit_steps_move_nodes_as_implicit_ones(scheme: str) -> None:
    def tip(integrator: pl.Integrator, dt: float) -> Any:
        motion = arm().simulate(
            0.02, dt, {"push": 3.0}, formulation=pl.EBA(6, scheme=scheme),
            integrator=integrator, start="statics", output_times=(0.02,),
        )  # fmt: skip
        return motion.tip("arm")[-1, :3, 3] - still(pl.EBA(6, scheme=scheme))

    explicit = tip(pl.Explicit(), 1e-3)
    assert explicit == pytest.approx(tip(pl.Midpoint(), 2.5e-4), abs=2e-3 * np.abs(explicit).max())


def test_matrix_of_a_thousand_nodes_is_a_band() -> None:
    robot = arm(moment=0.0)
    effects = robot._compiler.compiled(pl.EBA(1000)).effects
    matrix = new_tangent(effects.tree, effects.pairs(), symmetric=True).matrix
    assert isinstance(matrix, BandedSymmetric) and matrix.bandwidth == 11
    tip, expected = (
        robot.statics(formulation=formulation).tip("arm")[:3, 3]
        for formulation in (pl.EBA(1000), REFERENCE)
    )
    assert tip == pytest.approx(expected, abs=1e-6 * LENGTH)


@pytest.mark.parametrize("name", MODELS)
def test_bad_settings_are_refused_by_name(name: str) -> None:
    with pytest.raises(pl.DescriptionError, match=f"{name}: segments = 0: .*whole number of 1"):
        MODELS[name](0)
    with pytest.raises(pl.DescriptionError, match=r"scheme = 'midpont'.*did you mean 'midpoint'"):
        MODELS[name](3, scheme="midpont")


def test_bad_polynomials_are_refused_by_name() -> None:
    with pytest.raises(pl.DescriptionError, match=r"ROM: order = 65: .*from 1 to 64"):
        pl.ROM(65)
    with pytest.raises(pl.DescriptionError, match=r"rotation = 'fre'.*did you mean 'free'"):
        pl.ROM(2, "fre")
