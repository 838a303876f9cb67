"""One robot in several threads at once gives the answers of one thread, bit by bit."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pliant as pl

FORMULATIONS = {
    "bspline": pl.BSpline(3, 8),
    "hermite": pl.Hermite(6),
    "strain": pl.Strain(order=3, segments=2),
    "collocation": pl.Collocation(10),
    "shooting": pl.Shooting(40),
    "multiple shooting": pl.MultipleShooting(20),
}


def make_robot(chain: bool) -> pl.Robot:
    """Two rods with loads; unless it is a plain chain, also a body on a hinge, and a loop."""
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=200.0)
    arm = robot.add_rod("arm", 0.2, pl.Circle(0.01), rubber, pose=pl.along("x"), drag=0.5)
    hand = robot.add_rod("hand", 0.1, pl.Circle(0.008), rubber, base=arm.tip)
    robot.add_load("push", hand.tip, force=(0.02, 0.05, 0.01))
    robot.add_load("wind", "arm", force=(0.0, 0.1, 0.0))
    robot.add_load("thrust", arm.tip, force=(0.0, 0.0, 0.05), frame="body")
    if not chain:
        bob = robot.add_body("bob", 0.01, (1e-6, 1e-6, 1e-6), on=arm.at(0.1), centre=(0.0, 0.0, -0.02),
                             joint=pl.Revolute("y", stiffness=0.01))  # fmt: skip
        robot.add_constraint("string", hand.tip, kind="articulated")
        robot.add_load("tug", bob.at((0.0, 0.0, -0.03)), force=(0.0, 0.02, 0.0))
    return robot


def still_answer(robot: pl.Robot, formulation: Any, inputs: dict[str, float]) -> list[Any]:
    still = robot.statics(inputs, formulation=formulation)
    s = np.linspace(0.0, 0.1, 5)
    return [still.pose("hand", s), still.strain("arm", s), still.wrench("arm", s), still.residual]


def motion_answer(robot: pl.Robot, formulation: Any, inputs: dict[str, float]) -> list[Any]:
    move = robot.simulate(0.02, 2e-3, inputs, formulation=formulation)
    return [move.pose("hand", 0.05), move.velocity("arm", 0.1), *move.energy.values()]


def modes_answer(robot: pl.Robot, formulation: Any, inputs: dict[str, float]) -> list[Any]:
    return [robot.modes(3, inputs=inputs, formulation=formulation).frequencies]


def same(a: list[Any], b: list[Any]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("name", FORMULATIONS)
def test_threads_share_a_robot(name: str) -> None:
    """120 equilibria and some motions and modes, by two and by four threads in random order."""
    strong = not isinstance(FORMULATIONS[name], pl.Formulation)
    formulation, rng = FORMULATIONS[name], np.random.default_rng(7)
    tasks: list[tuple[Callable[..., list[Any]], dict[str, float]]] = []
    names = ["push", "wind", "thrust"] + ([] if strong else ["tug"])
    for _ in range(120 if name == "bspline" else 30):
        tasks.append((still_answer, dict(zip(names, rng.uniform(-1.0, 2.0, 4), strict=False))))
    for k in range(2 if strong else 6):
        inputs = dict(zip(names, rng.uniform(-1.0, 2.0, 4), strict=False))
        tasks.append((modes_answer if k % 2 and not strong else motion_answer, inputs))
    serial_robot = make_robot(strong)
    serial = [ask(serial_robot, formulation, inputs) for ask, inputs in tasks]
    for workers in (2, 4):
        # a fresh robot: what is compiled for it is compiled while the threads run
        robot, order = make_robot(strong), rng.permutation(len(tasks))
        with ThreadPoolExecutor(workers) as pool:
            futures = {k: pool.submit(tasks[k][0], robot, formulation, tasks[k][1]) for k in order}
        wrong = [k for k, future in futures.items() if not same(future.result(), serial[k])]
        assert not wrong


def test_copies_of_a_robot_that_was_solved_stand_on_their_own() -> None:
    robot = make_robot(True)
    tip = robot.statics().tip("hand")
    for other in (copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert np.array_equal(other.statics().tip("hand"), tip)


def test_parts_may_be_added_while_other_threads_solve() -> None:
    """A call takes the robot as it is when it begins; each answer is that of some state of it."""
    robot, done = make_robot(True), threading.Event()
    spline, interval = FORMULATIONS["bspline"], sys.getswitchinterval()

    def describe() -> None:
        k = 0
        while not done.is_set():
            robot.add_load(f"more {k}", pl.Frame("arm", 0.1), force=(0.0, 0.01, 0.0))
            k += 1
            if k % 4 == 0:
                for name in [name for name in list(robot.description.parts) if "more" in name]:
                    del robot.description.parts[name]

    def solve(k: int) -> Any:
        if k % 3 == 0:
            return robot.stepper(2e-3, formulation=spline).step().tip("hand")
        if k % 3 == 1:
            return robot.statics(formulation=FORMULATIONS["collocation"]).tip("hand")
        return robot.simulate(4e-3, 2e-3, start="statics", formulation=spline).tip("hand")

    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            editor = pool.submit(describe)
            answers = [pool.submit(solve, k) for k in range(24)]
            try:
                assert all(np.isfinite(answer.result()).all() for answer in answers)
            finally:
                done.set()
            editor.result()
    finally:
        sys.setswitchinterval(interval)


def test_threads_share_a_robot_with_different_formulations_and_calls() -> None:
    """First calls of five formulations, steppers, motions and reactions at once, on one robot."""
    names = ["bspline", "hermite", "strain", "collocation", "shooting"]

    def answer(robot: pl.Robot, k: int) -> Any:
        formulation, push = FORMULATIONS[names[k % 5]], 0.2 * k
        if k % 3 == 0:
            stepper = robot.stepper(2e-3, {"push": push}, formulation=formulation)
            states = [stepper.step({"push": push + 0.1 * i}) for i in range(4)]
            return [state.position("hand", 0.1) for state in states]
        if k % 3 == 1:
            motion = robot.simulate(0.01, 2e-3, {"push": push}, formulation=formulation)
            return [motion.tip("hand"), motion.reactions["arm"], motion.wrench("arm", 0.1)]
        still = robot.statics({"push": push}, formulation=formulation)
        return [still.tip("hand"), still.reactions["arm"], still.to_xarray(5).position.values]

    alone, shared = make_robot(True), make_robot(True)
    expected = [answer(alone, k) for k in range(30)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: answer(shared, k), range(30)))
    assert [k for k in range(30) if not same(found[k], expected[k])] == []
