"""The search for the motion of an accuracy: the ladder of meshes, observed orders, levels of steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.solve.automatic import RUNGS, first_mesh, intervals, next_rung
from pliant.solve.motion_search import (
    HIGHEST,
    LOWEST,
    MotionSearch,
    Taken,
    no_further,
    observed_order,
)
from pliant.solve.step_methods import given_method, stepped_method
from tests.reference.random_robots import random_task


@pytest.mark.parametrize("order", [1.3, 2.0, 2.8])
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
    mesh, found = first_mesh(robot.description), []
    while mesh is not None:
        found.append(intervals(mesh))
        mesh = next_rung(mesh, 0.0)
    assert found == [count for count in RUNGS if count >= found[0]]
    assert intervals(next_rung(first_mesh(robot.description), 20.0) or {}) == 24


def test_rods_with_their_own_formulation_keep_it_on_the_first_mesh() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, formulation=pl.Hermite(5))
    assert first_mesh(robot.description) == {}


@pytest.mark.parametrize("level", [1.0, 0.013, 1e-4])
def test_outputs_are_ends_of_steps_and_of_steps_of_twice_the_length(level: float) -> None:
    found = stepped_method(pl.Midpoint()).fitting(level, 0.01)
    assert found <= level and found > 0.4 * min(level, 0.01)
    assert math.isclose(0.01 / (2.0 * found), round(0.01 / (2.0 * found)))


def test_integrators_that_choose_their_steps_have_no_length_to_find() -> None:
    assert not given_method(pl.Explicit()).has_level
    assert given_method(pl.Newmark()).has_level


# -- which motions are taken -----------------------------------------------------------------------


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Formulation and integrator of every motion that a search simulates."""
    found: list[str] = []
    plain = MotionSearch._shapes

    def noted(self: MotionSearch, motion: pl.Motion) -> np.ndarray:
        found.append(f"{motion.formulation} {motion.integrator} {motion.dt:g}")
        return plain(self, motion)

    monkeypatch.setattr(MotionSearch, "_shapes", noted)
    return found


TIMES = np.linspace(0.0, 0.5, 21)


def pushed_beam(accuracy: float) -> pl.Motion:
    robot = pl.Robot(gravity=(0, 0, 0))
    steel = pl.Material(E=210e9, nu=0.2, rho=7800.0)
    beam = robot.add_rod("rod", 1.0, pl.Rectangle(0.01, 0.01), steel, pose=pl.along("x"))
    robot.add_load("push", beam.tip, force=(0, 0, -10.0))
    return robot.simulate(0.5, accuracy=accuracy, output_times=TIMES)


def apart(one: pl.Motion, other: pl.Motion) -> float:
    return float(np.linalg.norm(one.position("rod") - other.position("rod"), axis=-1).max())


def test_two_motions_are_enough_where_mesh_and_tolerance_agree(taken: list[str]) -> None:
    found = pushed_beam(3e-3)
    assert len(taken) == 2
    with_more = pushed_beam(3e-4)
    assert found.error is not None and found.error.relative <= 3e-3
    assert apart(found, with_more) < 2.0 * found.error.shape
    assert found.error.space is None and found.error.time is None
    assert "%" in str(found.error)


def test_no_motion_is_simulated_twice_where_they_disagree(taken: list[str]) -> None:
    found = pushed_beam(3e-4)
    assert len(taken) > 3 and len(set(taken)) == len(taken)
    assert found.error is not None and found.error.relative < 3e-4
    assert None not in (found.error.space, found.error.time)


def test_other_steps_are_taken_where_those_for_a_tolerance_do_not_reach_the_accuracy(
    taken: list[str],
) -> None:
    found = pushed_beam(1e-4)
    assert any("Radau" in one for one in taken) and "Radau" not in found.integrator
    assert found.error is not None and found.error.relative < 1e-4


def test_meshes_too_coarse_for_the_folds_are_left_out(taken: list[str]) -> None:
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    for length, push, meshes in ((1.0, 0.0, (8, 16)), (1.0, 2.0, (2, 8)), (0.2, 0.0, (2, 4))):
        taken.clear()
        robot = pl.Robot(gravity=(0, 0, 0) if push else (0, 0, -9.81))  # weight is known beforehand
        rod = robot.add_rod("rod", length, pl.Circle(0.01), soft, pose=pl.along("x"))
        robot.add_load("push", rod.tip, force=(0, 0, push))
        robot.simulate((0.8 if push else 2.0) * math.sqrt(length), accuracy=1e-3)
        seen = [next(n for n in RUNGS[::-1] if f"elements={n})" in name) for name in taken]
        assert tuple(seen[: len(meshes)]) == meshes


def test_bends_of_chords_are_those_of_circles() -> None:
    robot = pl.Robot()
    robot.add_rod("rod", 1.0, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5, rho=1000.0))
    given = (lambda *_: None, robot.description.rods, [], 1.0, 1e-3, None, True, 0.01)
    angles = 3.0 * np.linspace(0.0, 1.0, 21)
    circle = np.stack([np.sin(angles), 1.0 - np.cos(angles), 0.0 * angles], axis=-1) / 3.0
    straight = angles[:, None] * (1.0, 0.0, 0.0)
    shapes = np.stack([straight, circle])
    assert MotionSearch(*given)._bend(Taken({}, 1.0, None, shapes)) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("integrator", "least"),
    [(pl.Newmark(), 0.5), (pl.ImplicitEuler(), 0.3)],
    ids=["second", "first"],
)
def test_steps_that_are_given_have_their_error_in_an_accuracy(
    integrator: Any, least: float
) -> None:
    """A mesh that is fine enough does not hide what steps of 10 ms miss."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=100.0)
    robot.add_rod("arm", 0.3, pl.Circle((0.012, 0.006)), soft, pl.along("x"))
    true = robot.simulate(0.2, accuracy=1e-4).position("arm", 0.3)
    with pytest.warns(pl.ResolutionWarning, match=r"was not reached.*Give a smaller dt"):
        motion = robot.simulate(0.2, 0.01, accuracy=1e-3, integrator=integrator)
    off = np.abs(motion.position("arm", 0.3) - true)[::10].max() / 0.3
    assert off > 3e-3
    assert least * off < motion.error.relative < 3.0 * off


def metre() -> pl.Robot:
    robot = pl.Robot()
    robot.add_rod("rod", 1.0, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5, rho=1000.0))
    return robot


def searching() -> MotionSearch:
    """A search for one rod of a metre."""
    return MotionSearch(lambda *_: None, metre().description.rods, [], 1.0, 1e-3, None, True, 0.01)


class Outputs:
    t = np.zeros(1)


@pytest.mark.parametrize(
    ("off", "hopeless"),
    [
        ((0.2, 0.15, 0.18, 0.13), True),  # chaos: as far apart on fine meshes as on coarse ones
        ((0.5, 0.3, 0.1, 0.012), False),  # slow at first, as folds need a mesh
        ((1e-2, 5e-3, 2.5e-3, 1.2e-3), False),  # first order, but near
    ],
)
def test_searches_end_where_finer_meshes_do_not_help(
    off: tuple[float, ...], hopeless: bool
) -> None:
    meshes = [
        Taken({"rod": pl.Spectral(3, n)}, 1.0, Outputs(), np.full((1, 1, 3), (-1) ** n * x))
        for n, x in zip((2, 4, 8, 16), (off[0], -off[1], off[2], -off[3]), strict=True)
    ]
    assert searching()._hopeless(meshes) is hopeless
    assert not searching()._hopeless(meshes[:3])


def test_shorter_steps_are_given_up_where_they_come_no_further() -> None:
    assert no_further([0.031, 0.030, 0.032])
    assert no_further([0.001, 0.031, 0.030, 0.032])
    assert not no_further([0.03, 0.03])
    assert not no_further([0.03, 0.05, 0.09])


def test_steps_that_fail_wherever_they_are_cut_end_the_search_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[float] = []

    def run(_: Any, __: Any, h: float) -> Any:
        tried.append(h)
        raise pl.ConvergenceError("no", None, 0.3)

    search = searching()
    search.run = run
    mesh = first_mesh(metre().description)
    with pytest.raises(pl.ConvergenceError):
        search.find_by(mesh, stepped_method(pl.Midpoint()))
    assert len(tried) == 4 and len(set(tried)) == 4


def test_meshes_too_coarse_to_reach_the_end_are_left_out(taken: list[str]) -> None:
    """On two elements this motion becomes infinite."""
    task = random_task(1420022)
    assert task.duration is not None
    found = task.robot.simulate(task.duration, accuracy=1e-3)
    assert "elements=4" in taken[0]
    assert found.error is not None and found.error.relative < 1e-3


def closed_loop(inertia: float) -> pl.Robot:
    """Two wires on sliders that carry a plate."""
    robot = pl.Robot(gravity=(0, 0, 0))
    wire = pl.Material(E=207e9, nu=0.3, rho=7850.0)
    rods = []
    for k, y in enumerate((-0.1, 0.1)):
        base = pl.pose((0.0, y, 0.0)) @ pl.along("x")
        rods.append(robot.add_rod(f"rod{k}", 0.4, pl.Circle(0.7e-3), wire, base))
        robot.add_base_motion(f"slider{k}", rods[k], translation=(1, 0, 0))
    plate = robot.add_body("plate", 0.1, (inertia,) * 3, on=rods[0].tip)
    robot.connect("clamp", rods[1].tip, plate.at((0.2, 0.0, 0.0)))
    return robot


def test_slow_motions_of_loops_take_a_few_steps_of_one_length(taken: list[str]) -> None:
    far, robot = (0.005, 0.01), closed_loop(5e-4)
    moves = {f"slider{k}": pl.Sine(x, 0.5, -0.5 * math.pi, x) for k, x in enumerate(far)}
    found = robot.simulate(2.0, inputs=moves, accuracy=1e-3, output_times=4.0 * TIMES)
    assert len(taken) == 2 and all("Midpoint" in one for one in taken)
    true = robot.simulate(
        2.0, 0.05, moves, formulation=pl.BSpline(3, 6), integrator=pl.Radau(1e-6),
        output_times=4.0 * TIMES,
    )  # fmt: skip
    off = np.linalg.norm(found.position("rod1") - true.position("rod1"), axis=-1).max() / 0.4
    assert found.error is not None and off < found.error.relative < 1e-3
