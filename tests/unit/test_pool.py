"""Compiled robots for the next ones of their kind: who may take them over, and when."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model.likeness import kind_of
from pliant.solve import coordinates
from pliant.solve.pool import MOST_KEPT, MOST_UNKNOWNS, CompiledRobot

pytestmark = pytest.mark.filterwarnings("ignore")
MESH = pl.Spectral(3, 3)


def arm_robot(E: float = 1e6, **more: Any) -> pl.Robot:
    given = {"length": 0.5, "section": pl.Circle(0.01), "pose": pl.along("x"), **more}
    robot = pl.Robot()
    arm = robot.add_rod("arm", material=pl.Material(E=E, nu=0.5, rho=1000.0), **given)
    robot.add_load("push", arm.tip, force=(0.0, 0.0, -0.01))
    return robot


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[CompiledRobot]:
    """All robots that are compiled in a test."""
    found: list[CompiledRobot] = []
    plain = CompiledRobot.__init__

    def init(self: CompiledRobot, *given: Any) -> None:
        plain(self, *given)
        found.append(self)

    monkeypatch.setattr(CompiledRobot, "__init__", init)
    return found


def tip(E: float) -> Any:
    return arm_robot(E).statics(formulation=MESH).tip("arm")


def test_a_sweep_compiles_once(made: list[CompiledRobot]) -> None:
    gc.disable()  # what is no longer in use is given back at once
    try:
        tips = [tip(E) for E in (1e6, 4e6, 16e6)]
    finally:
        gc.enable()
    assert len(made) == 1
    sags = [-x[2, 3] for x in tips]
    assert sags[0] > 1.1 * sags[1] > 1.5 * sags[2] > 0.0


def test_a_motion_leaves_its_robot_to_the_next(made: list[CompiledRobot]) -> None:
    gc.disable()
    try:
        for E in (1e6, 2e6):
            arm_robot(E).simulate(0.02, 1e-2, formulation=MESH, integrator=pl.Radau()).tip("arm")
            arm_robot(E).simulate(0.02, accuracy=1e-2).tip("arm")
        count = len(made)
        arm_robot(3e6).simulate(0.02, accuracy=1e-2)
        assert len(made) == count
    finally:
        gc.enable()


def test_results_keep_what_they_are_of(made: list[CompiledRobot]) -> None:
    kept = [arm_robot(E).statics(formulation=MESH) for E in (1e6, 2e6, 3e6)]
    assert len(made) == 3
    tips = [still.tip("arm") for still in kept]
    first, energy = kept.pop(0), kept[0].energy
    del first
    for E in (5e6, 6e6, 7e6):
        tip(E)
    assert len(made) == 3, "that of the result which is gone"
    assert kept[0].energy == energy
    for still, known in zip(kept, tips[1:], strict=True):
        assert np.array_equal(still.tip("arm"), known)


def test_what_others_hold_is_not_taken_over(made: list[CompiledRobot]) -> None:
    robot = arm_robot()
    stepper = robot.stepper(1e-3, formulation=MESH)
    stepper.step()
    del robot
    before = stepper.state.tip("arm")
    arm_robot(1e7).stepper(1e-3, formulation=MESH).step()
    tip(3e6)
    assert np.array_equal(stepper.state.tip("arm"), before)
    effects = arm_robot()._compiler.compiled(MESH).effects
    stiffness = effects.tree.parts[0].C.copy()
    tip(5e6)
    assert np.array_equal(effects.tree.parts[0].C, stiffness)


def test_threads_that_solve_robots_of_one_kind() -> None:
    moduli = np.geomspace(5e5, 5e6, 24).tolist()
    alone = [tip(E) for E in moduli]
    begin = threading.Barrier(4)

    def some(k: int) -> list[Any]:
        begin.wait()
        return [tip(E) for E in moduli[k::4]]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(some, range(4)))
    for k, tips in enumerate(found):
        for mine, other in zip(tips, alone[k::4], strict=True):
            assert np.array_equal(mine, other)


def test_few_robots_are_kept() -> None:
    for points in range(5, 5 + 2 * MOST_KEPT):
        arm_robot().statics(formulation=pl.BSpline(3, points))
    pool = coordinates.POOL
    assert 0 < len(pool._returned) + len(pool._kept) <= 1 + MOST_KEPT
    many = MOST_UNKNOWNS // 18 + 1
    problem: Any = arm_robot()._compiler.compiled(pl.Spectral(3, many))
    robot = problem._robot
    del problem
    assert robot.size > MOST_UNKNOWNS and robot not in pool._returned


CHANGES = (
    {"length": 0.6}, {"pose": pl.along("y")}, {"natural": (0.1, 0.0, 0.0)}, {"theory": "kirchhoff"},
    {"section": pl.Circle((0.01, 0.009))}, {"section": pl.Annulus(0.01, 0.005)}, {"rotary": False},
    {"joint": pl.Revolute("x", stiffness=1.0)}, {"drag": 0.1}, {"breaks": (0.2,)},
    {"section": pl.Circle(lambda s: 0.01)},
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda x: next(iter(x)))
def test_other_robots_are_of_another_kind(change: dict[str, Any]) -> None:
    robot, other = arm_robot(), arm_robot(**change)
    assert kind_of(robot.description) == kind_of(arm_robot(2e6).description)
    assert kind_of(robot.description) != kind_of(other.description)


def test_numbers_that_are_zero_are_of_another_kind() -> None:
    robot = arm_robot()
    arm = robot.description.rods["arm"]
    assert arm.material is not None
    known = kind_of(robot.description)
    for change in ({"viscosity": 1.0}, {"rho": 0.0}):
        robot.description.parts["arm"] = replace(arm, material=replace(arm.material, **change))
        assert kind_of(robot.description) != known
    robot = arm_robot()
    robot.description.gravity = (0.0, 0.0, 0.0)
    assert kind_of(robot.description) != known


def test_effects_of_your_own_are_compiled_for_each_robot(made: list[CompiledRobot]) -> None:
    @dataclass(frozen=True)
    class Lift(pl.FrameEffect):
        """A constant force on a tip, upwards."""

        size: float = 0.1

        def frames(self) -> list[pl.Frame]:
            return [pl.Frame("arm", 0.5)]

        def potential(self, g: Any, u: Any) -> float:
            return float(-self.size * g[0, 2, 3])

    heights = []
    for size in (0.02, 0.04):
        robot = arm_robot(1e7)
        robot.add(Lift("lift", size))
        assert kind_of(robot.description) is None
        heights.append(robot.statics(formulation=MESH).tip("arm")[2, 3])
        del robot
    assert len(made) == 2
    assert heights[1] > heights[0] + 1e-3
