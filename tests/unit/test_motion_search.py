"""The search for the motion of an accuracy: the ladder of meshes, observed orders, levels of steps."""

from __future__ import annotations

import math

import pytest

import pliant as pl
from pliant.solve.automatic import RUNGS, first_mesh, intervals, next_rung
from pliant.solve.motion_search import HIGHEST, LOWEST, observed_order
from pliant.solve.step_methods import given_method, stepped_method


@pytest.mark.parametrize("order", [1.3, 2.0, 3.5])
@pytest.mark.parametrize("counts", [(2, 4, 8), (8, 16, 24), (24, 32, 64)])
def test_orders_are_read_from_distances_on_unequal_rungs(
    order: float, counts: tuple[int, int, int]
) -> None:
    a, b, c = (n**-order for n in counts)
    assert observed_order(counts, a - b, b - c) == pytest.approx(order, abs=1e-6)


def test_orders_have_bounds() -> None:
    assert observed_order((2, 4, 8), 1.0, 2.0) == LOWEST
    assert observed_order((2, 4, 8), 1.0, 1e-6) == HIGHEST
    assert observed_order((2, 4, 8), 1.0, 0.0) == HIGHEST


@pytest.mark.parametrize("theory", ["cosserat", "kirchhoff"])
def test_meshes_climb_the_rungs_of_the_ladder(theory: str) -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, theory=theory)
    mesh, found = first_mesh(robot.description.rods), []
    while mesh is not None:
        found.append(intervals(mesh))
        mesh = next_rung(mesh, 0.0)
    assert found == [count for count in RUNGS if count >= found[0]]
    assert intervals(next_rung(first_mesh(robot.description.rods), 20.0) or {}) == 24


def test_rods_with_their_own_formulation_keep_it_on_the_first_mesh() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, formulation=pl.Hermite(5))
    assert first_mesh(robot.description.rods) == {}


@pytest.mark.parametrize("level", [1.0, 0.013, 1e-4])
def test_outputs_are_ends_of_steps_and_of_steps_of_twice_the_length(level: float) -> None:
    found = stepped_method(pl.Midpoint()).fitting(level, 0.01)
    assert found <= level and found > 0.4 * min(level, 0.01)
    assert math.isclose(0.01 / (2.0 * found), round(0.01 / (2.0 * found)))


def test_integrators_that_choose_their_steps_have_no_length_to_find() -> None:
    assert not given_method(pl.Explicit()).has_level
    assert given_method(pl.Newmark()).has_level
