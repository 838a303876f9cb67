"""What a call costs outside of kernels: what robots of one kind share, and what is done only once."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.engine import linking
from pliant.engine.arrays import combine
from pliant.engine.by_value import by_value
from pliant.engine.program import Recurring, Shared, record, recorder
from pliant.model.telling import untold
from pliant.rods import increments
from pliant.solve.closed_states import ClosedStates
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.schedule import Schedule
from pliant.solve.statics import Equilibrium


def soft_arm(E: float = 1e6, natural: float = 0.0, length: float = 1.0) -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod(
        "arm", length, pl.Circle(0.01), pl.Material(E=E, nu=0.5, rho=1000.0), pose=pl.along("x"),
        natural=(natural, 0.0, 0.0),
    )  # fmt: skip
    robot.add_load("push", arm.tip, force=(0.0, 0.0, -0.01))
    return robot


# -- results kept by value -------------------------------------------------------------------------


def test_a_function_by_value_is_computed_once_for_equal_arrays() -> None:
    seen: list[float] = []

    @by_value(2)
    def twice(x: Any, factor: int) -> Any:
        seen.append(float(x[0]))
        return factor * x

    x = np.ones(3)
    first = twice(x, 2)
    assert twice(np.ones(3), 2) is first
    x[0] = 5.0  # the array that it was asked for first
    assert np.array_equal(twice(x, 2), [10.0, 2.0, 2.0])
    assert np.array_equal(first, [2.0, 2.0, 2.0])
    assert seen == [1.0, 5.0]


@pytest.mark.parametrize(
    "other",
    [np.ones((3, 1)), np.ones(3, dtype=np.float32), np.ones(3, dtype=np.int64), np.ones(4)],
    ids=["shape", "single precision", "whole numbers", "length"],
)
def test_arrays_of_other_types_and_shapes_are_other_values(other: Any) -> None:
    asked: list[Any] = []
    keeping = by_value(4)(asked.append)
    for x in (np.ones(3), other, np.ones(3), other.copy()):
        keeping(x)
    assert len(asked) == 2


def test_results_for_large_arrays_are_not_kept() -> None:
    keeping = by_value(4)(lambda x: x + 1.0)
    small, large = np.zeros(100), np.zeros(10_000)
    assert keeping(small) is keeping(small)
    assert keeping(large) is not keeping(large)


def test_the_oldest_value_is_dropped() -> None:
    asked: list[int] = []
    keeping = by_value(2)(lambda k: asked.append(k) or k)
    for k in (1, 2, 1, 3, 1, 2):
        assert keeping(k) == k
    assert asked == [1, 2, 3, 2]


def test_robots_of_one_kind_share_shape_functions_and_nothing_else() -> None:
    plans = []
    for E in (1e6, 2e6):
        robot = soft_arm(E)
        robot.statics(formulation=pl.Spectral(3, 5))
        problem = robot._compiler.compiled(pl.Spectral(3, 5))
        assert isinstance(problem, CoordinateProblem)
        plans.append(problem.tree.rest.parts[0].strain)
    a, b = plans
    assert a.L is b.L and a.dL is b.dL
    own = ("g", "J", "e", "B", "C", "s")
    assert not any(np.shares_memory(getattr(a, name), getattr(b, name)) for name in own)


@pytest.mark.parametrize("mesh", [pl.Spectral(3, 5), pl.BSpline(3, 7), pl.Hermite(3)], ids=repr)
def test_robots_in_turns_and_in_threads_are_as_alone(mesh: Any) -> None:
    """Whatever was solved before or is solved meanwhile, each robot has its own numbers."""
    kinds = [(1e6, 0.0, 1.0), (3e6, 0.0, 1.0), (1e6, 2.0, 1.0), (1e6, 0.0, 0.7)]

    def tip(kind: tuple[float, float, float]) -> Any:
        with untold():
            return soft_arm(*kind).statics(formulation=mesh).tip("arm")

    alone = [tip(kind) for kind in kinds]
    assert len({x.tobytes() for x in alone}) == len(kinds)
    barrier = threading.Barrier(len(kinds))

    def together(k: int) -> list[Any]:
        barrier.wait()
        return [tip(kinds[(k + n) % len(kinds)]) for n in range(len(kinds))]

    with ThreadPoolExecutor(len(kinds)) as pool:
        for k, found in enumerate(pool.map(together, range(len(kinds)))):
            for n, x in enumerate(found):
                assert np.array_equal(x, alone[(k + n) % len(kinds)])


# -- linking ---------------------------------------------------------------------------------------


def test_threads_never_give_two_kernels_the_same_number() -> None:
    class Item:
        pass

    items = [[Item() for _ in range(2000)] for _ in range(4)]
    barrier = threading.Barrier(len(items))

    def number(some: list[Item]) -> list[int]:
        barrier.wait()
        return [linking._number(item) for item in some]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(items)) as pool:
            numbers = [n for some in pool.map(number, items) for n in some]
    finally:
        sys.setswitchinterval(interval)
        for some in items:
            for item in some:
                del linking._numbers[item]
    assert len(set(numbers)) == len(numbers)


# -- whole calls -----------------------------------------------------------------------------------


def test_a_motion_within_a_search_is_not_judged_for_warnings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody would hear of it: the search tells of the error that it estimates."""
    judged: list[object] = []

    def trouble(self: object, q: object) -> str:
        judged.append(q)
        return ""

    monkeypatch.setattr(CoordinateProblem, "trouble", trouble)
    soft_arm().simulate(0.02, 0.01, formulation=pl.Spectral(3, 2))
    assert judged
    judged.clear()
    soft_arm().simulate(0.02, accuracy=1e-2)
    assert not judged


def test_what_recurs_is_recorded_when_it_is_called_again() -> None:
    x, asked = np.ones(1), list[bool]()

    def grow() -> None:
        asked.append(recorder() is not None)
        combine(2.0, x, 0.0, x, x)

    growing = Recurring(grow)
    for k in range(4):
        growing()
        assert x[0] == 2.0 ** (k + 1)
    assert asked == [False, True]
    outer = record(Recurring(grow))
    assert asked == [False, True, True] and x[0] == 16.0
    outer()
    assert x[0] == 32.0


def test_a_first_equilibrium_repeats_its_programs_and_not_its_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    balanced: list[bool] = []
    plain = Equilibrium._place_and_balance

    def counted(self: Equilibrium, tangent: bool) -> None:
        balanced.append(tangent)
        plain(self, tangent)

    monkeypatch.setattr(Equilibrium, "_place_and_balance", counted)
    found = soft_arm().statics(formulation=pl.Spectral(3, 5))
    assert found.iterations > 3
    assert balanced.count(True) == 2, "once at once and once to be recorded"


def test_rates_are_those_of_the_configuration_that_was_asked_for() -> None:
    """Sections, rates and energies come from passes that are recorded once and repeated."""
    robot = soft_arm()
    with untold():
        motion = robot.simulate(0.1, 0.01, formulation=pl.BSpline(3, 6))
    path, problem = motion._path, motion._compiled
    s, order = np.array([0.3, 1.0]), [3, 1, 10, 3, 7, 0, 5]
    for k in order:
        alone = CoordinateProblem(problem.description, problem.formulations)
        q, v = path.q[k], path.v[k]
        twists = problem.sampler.velocities(q, v, "arm", s)
        assert np.array_equal(twists, alone.sampler.velocities(q, v, "arm", s))
        problem.sampler.poses_along(path.q, "arm", s)  # ends at the last configuration
    energies = problem.energies(path, np.array(order))
    for n, k in enumerate(order):
        alone = CoordinateProblem(problem.description, problem.formulations)
        for name, values in alone.energies(path, np.array([k])).items():
            assert energies[name][n] == pytest.approx(values[0], rel=1e-12, abs=1e-15)


def flexible_loop() -> pl.Robot:
    """Two steel wires on sliders that end in one plate."""
    robot = pl.Robot()
    steel = pl.Material(E=207e9, nu=0.3, rho=7850.0)
    wires = []
    for name, y in (("left", -0.1), ("right", 0.1)):
        base = pl.pose((0.0, y, 0.0)) @ pl.along("x")
        wires.append(robot.add_rod(name, 0.4, pl.Circle(7e-4), steel, base))
        robot.add_base_motion(f"slide {name}", wires[-1], translation=(1, 0, 0))
    plate = robot.add_body("plate", 0.1, (5e-4,) * 3, on=wires[0].tip)
    robot.connect(
        "clamp", wires[1].tip, plate.at(np.linalg.inv(pl.along("x"))[:3, :3] @ (0, 0.2, 0))
    )
    return robot


def test_outputs_of_radau_with_constraints_repeat_recorded_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    placed: list[bool] = []
    plain = ClosedStates._measure

    def counted(self: ClosedStates) -> None:
        placed.append(recorder() is not None)
        plain(self)

    monkeypatch.setattr(ClosedStates, "_measure", counted)
    robot = flexible_loop()
    slide = {"slide left": pl.Sine(0.01, 1.0), "slide right": pl.Sine(0.01, 1.3)}
    motion = robot.simulate(
        0.5, 0.25, slide, formulation=pl.Spectral(3, 1), integrator=pl.Radau(1e-4),
        output_times=np.linspace(0.0, 0.5, 38),
    )  # fmt: skip
    assert placed == [False, True]
    left, right = (motion.tip(name)[:, :3, 3] for name in ("left", "right"))
    frame = motion.pose("plate")
    apart = np.einsum("tji,tj->ti", frame[:, :3, :3], right - left)
    np.testing.assert_allclose(apart - apart[0], 0.0, atol=1e-10)


def moved_joints(turns: bool) -> pl.Robot:
    robot = pl.Robot()
    steel = pl.Material(E=2e11, nu=0.3, rho=7800.0)
    table = robot.add_rod(
        "table", 0.5, pl.Circle(0.005), steel, pl.pose((0, 0, 1), (0.3, 0.2, 0.1))
    )
    robot.add_base_motion("shift", table, translation=(0.2, 0.3, -1.0))
    robot.add_base_motion("shake", table, translation=(1.0, 0.0, 0.5))
    if turns:
        robot.add_base_motion("turn", table, rotation=(0.0, 0.0, 1.0))
    hinge = pl.Revolute("z", drive="angle")
    robot.add_rod("arm", 0.3, pl.Circle(0.005), steel, joint=hinge)
    robot.add_load("push", "arm.tip", force=(1, 0, 0))
    return robot


@pytest.mark.parametrize("turns", [False, True], ids=["in one product", "joint by joint"])
def test_rows_of_prescribed_joints_are_those_of_each_instant(turns: bool) -> None:
    robot = moved_joints(turns)
    effects = robot._compiler.compiled(pl.Spectral(3, 1)).effects
    given = {
        "shift": pl.Sine(0.1, 2.0), "shake": lambda t: 0.1 * t**3, "push": pl.Ramp(0.0, 2.0, 0.1, 0.4),
        "arm": pl.Table([0.0, 0.3, 1.0], [0.0, 0.5, -0.5]),
    }  # fmt: skip
    if turns:
        given["turn"] = pl.Sweep(0.3, 1.0, 3.0, 1.0)
    schedule, times = Schedule(effects, given), np.array([0.0, 0.17, 0.3, 0.31, 0.9])
    assert (effects.prescribed._affine is None) == turns
    rows = schedule.rows(times)
    for t, row in zip(times.tolist(), rows, strict=True):
        now = schedule.at(t)
        joints = [motion for _, motion in effects.prescribed._motions(now.drive)]
        columns = [np.concatenate(column) for column in zip(*joints, strict=True)]
        np.testing.assert_allclose(row, np.concatenate([now.u, *columns]), rtol=1e-14, atol=1e-15)
        v, acc = effects.prescribed.rates(now.drive)
        np.testing.assert_allclose(
            v[effects.prescribed.v_places], columns[1], rtol=1e-14, atol=1e-15
        )
        np.testing.assert_allclose(
            acc[effects.prescribed.v_places], columns[2], rtol=1e-14, atol=1e-15
        )


@pytest.mark.parametrize("signal", [False, True], ids=["function", "signal"])
def test_an_input_that_is_no_number_later_is_told_with_its_time(signal: bool) -> None:
    def shake(t: float) -> float:
        return np.nan if t > 0.105 else t

    given = {
        "arm": pl.Table([0.0, 1.0], [0.0, 0.5]),
        "shake": pl.Sum((shake,)) if signal else shake,
    }
    with pytest.raises(pl.DescriptionError, match=r"input 'shake'.* at t = 0\.1\d* s = nan"):
        moved_joints(False).simulate(0.2, 0.01, given, formulation=pl.Spectral(3, 1))


def test_what_programs_share_is_recorded_once() -> None:
    x, asked = np.ones(1), list[bool]()

    def grow() -> None:
        asked.append(recorder() is not None)
        combine(2.0, x, 0.0, x, x)

    growing = Shared(grow)
    growing()
    assert x[0] == 2.0 and asked == [False]
    once, twice = record(growing), record(lambda: (growing(), growing()))
    assert asked == [False, True] and x[0] == 2.0
    once()
    twice()
    assert x[0] == 16.0


def test_tangents_of_one_robot_share_slots_and_no_entries() -> None:
    effects = flexible_loop()._compiler.compiled(pl.Spectral(3, 1)).effects
    for symmetric in (False, True):
        one, other = effects.tangent(symmetric), effects.tangent(symmetric)
        assert one.effects is other.effects and one.parts is other.parts
        arrays = zip(one.matrix.remembered(), other.matrix.remembered(), strict=True)
        assert not any(np.shares_memory(a, b) for a, b in arrays)
        one.matrix.data[...] = 1.0
        assert not other.matrix.data.any() and not effects.tangent(symmetric).matrix.data.any()


def test_a_linked_program_is_one_call_of_others_and_keeps_what_it_needs() -> None:
    x = np.ones(3)

    def grow() -> None:
        combine(2.0, x, 0.0, x, x)
        combine(1.0, x, 1.0, np.full(3, 0.5), x)

    inner = record(grow)
    inner()
    outer = record(inner)
    assert len(outer.entries) == len(inner.entries) == 1
    del inner
    gc.collect()
    outer()
    np.testing.assert_array_equal(x, 5.5)


def test_least_sizes_are_sought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sought: list[int] = []
    plain = pl.BSpline.with_size

    def counted(self: pl.BSpline, size: int) -> pl.BSpline:
        sought.append(size)
        return plain(self, size)

    monkeypatch.setattr(pl.BSpline, "with_size", counted)
    kinds = [pl.BSpline(4, 9, map="cayley"), pl.BSpline(4, 12, map="cayley"), pl.BSpline(2, 9)]
    assert [kind.intervals for kind in kinds] == [5, 8, 7]
    known = len(sought)
    assert [kind.intervals for kind in kinds] == [5, 8, 7] and len(sought) == known
    fixed = pl.BSpline(3, 6, knots=[0.2, 0.6])
    for _ in range(2):
        assert fixed.intervals is None
        with pytest.raises(pl.DescriptionError, match="leave out the settings that fix it"):
            fixed.least_size("arm")


@pytest.mark.parametrize("mesh", [pl.Spectral(3, 3), pl.BSpline(3, 7)], ids=repr)
def test_robots_of_one_pattern_share_slots_and_no_entries(mesh: Any) -> None:
    a, b, other = (
        soft_arm(E)._compiler.compiled(form).effects.tangent(True)
        for E, form in ((1e6, mesh), (2e6, mesh), (1e6, mesh.with_size(mesh.intervals + 5)))
    )
    assert a.tree is not b.tree and a.parts[0].elements is b.parts[0].elements
    assert a.parts[0].elements is not other.parts[0].elements
    arrays = zip(a.matrix.remembered(), b.matrix.remembered(), strict=True)
    assert not any(np.shares_memory(x, y) for x, y in arrays)


def test_straight_splines_are_relaxed_without_solving(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[int] = []
    plain = increments._least_squares

    def counted(*given: Any) -> Any:
        solved.append(1)
        return plain(*given)

    monkeypatch.setattr(increments, "_least_squares", counted)
    for bend, mesh, needed in (
        (0.0, pl.BSpline(3, 9), False),
        (2.0, pl.BSpline(3, 9), False),
        (2.0, pl.BSpline(3, 9, map="cayley"), True),
    ):
        solved.clear()
        tree = soft_arm(natural=bend)._compiler.compiled(mesh).tree
        strain, described = tree.rest.parts[0].strain.e, (bend, 0.0, 0.0, 0.0, 0.0, 1.0)
        close = 1e-2 if needed else 1e-13
        np.testing.assert_allclose(strain, [described] * len(strain), rtol=0.0, atol=close)
        assert bool(solved) == needed


# -- Python in a whole call ------------------------------------------------------------------------


def python_calls(solve: Callable[[float], Any]) -> int:
    """Calls of Python functions in a call of a user for a robot of a kind that was met before."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    for E in (1e6, 1.1e6, 1.2e6):
        solve(E)
    gc.collect()
    gc.disable()
    sys.setprofile(note)
    try:
        solve(1.3e6)
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def sag(E: float) -> Any:
    return soft_arm(E).statics(formulation=pl.Spectral(3, 8)).tip("arm")


def moved(integrator: pl.Integrator, E: float) -> Any:
    robot, outputs = soft_arm(E), np.linspace(0.0, 0.2, 21)
    given = {"output_times": outputs, "formulation": pl.Spectral(3, 2), "integrator": integrator}
    return robot.simulate(0.2, 0.01, {"push": pl.Ramp(0.0, 1.0, 0.0, 0.1)}, **given).tip("arm")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("solve", "most"),
    [
        (sag, 2700),
        (lambda E: soft_arm(E).statics(accuracy=1e-3).tip("arm"), 2500),
        (partial(moved, pl.Explicit()), 5000),
        (partial(moved, pl.Radau()), 6600),
    ],
    ids=["equilibrium", "accuracy", "explicit", "radau"],
)
def test_a_robot_of_a_known_kind_takes_few_calls_of_python(solve: Any, most: int) -> None:
    """A robot of a kind that is new takes three to five times as many."""
    assert python_calls(solve) <= most


def test_radau_takes_steps_without_python_between_them() -> None:
    """Where inputs do not change: twice as many steps between outputs are as many calls."""

    def fall(tolerance: float) -> Any:
        def solve(E: float) -> None:
            robot, outputs = soft_arm(E), np.linspace(0.0, 0.1, 6)
            by, mesh = pl.Radau(tolerance), pl.Spectral(3, 2)
            with untold():
                motion = robot.simulate(
                    0.1, 0.01, formulation=mesh, integrator=by, output_times=outputs
                )
            steps.append(motion.steps)

        return solve

    steps = list[int]()
    rough, fine = (python_calls(fall(tolerance)) for tolerance in (1e-4, 1e-7))
    assert steps[-1] > steps[0] + 20
    assert fine < rough + 20
