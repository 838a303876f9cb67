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
