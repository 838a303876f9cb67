"""The engine: programs of kernel calls repeat what plain calls do, whatever robot they are for."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import pliant as pl
from pliant._numba import kernel
from pliant.engine import calls, linking, loops
from pliant.engine.arrays import combine, copy, put_values, take
from pliant.engine.program import Program, ask, include, is_compiled, record, recorder, run
from pliant.solve import coordinates
from pliant.solve.integrators import contract
from pliant.solve.integrators.contract import Stepper
from pliant.solve.pool import Pool


@kernel
def add_scaled(flag, count, factor, pair, x, out):  # type: ignore[no-untyped-def]
    """out += factor count x if `flag`, and the sum of a pair of arrays in its first entry."""
    if flag:
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j] += factor * count * x[i, j]
    out[0, 0] += pair[0][0] + pair[1][0]


class Plain:
    """What a user writes in plain Python."""

    def __init__(self) -> None:
        self.calls = 0

    def act(self, x: np.ndarray) -> None:
        self.calls += 1
        x[0, 0] *= 2.0


class Compiled(Plain):
    compiled = True


class Derived(Compiled):
    """A class of its own, of which nobody has said that it only calls kernels."""


# -- programs --------------------------------------------------------------------------------------


def test_a_program_passes_every_kind_of_argument():
    x, out = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    pair = (np.array([0.25]), np.array([-1.5]))
    program = record(run, add_scaled, True, -3, 0.5, pair, x, out)
    assert program.compiled and not out.any(), "recording computes nothing"
    program()
    plain = np.zeros((2, 3))
    add_scaled(True, -3, 0.5, pair, x, plain)
    assert np.array_equal(out, plain) and out[1, 2] == -7.5
    x[...], out[...] = 1.0, 0.0
    program()
    assert out[1, 2] == -1.5, "it reads its arrays as they are now"


def test_a_program_keeps_its_arrays_alive():
    program = record(lambda: combine(2.0, np.ones(1000), 0.0, np.zeros(1000), kept))
    for _ in range(3):
        kept[...] = 0.0
        program()
        assert np.array_equal(kept, np.full(1000, 2.0))


kept = np.zeros(1000)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(3),
        np.zeros((2, 3, 4)),
        np.zeros((4, 6))[::2, 1:5:3],
        np.asfortranarray(np.ones((3, 2))),
        np.zeros((0, 6)),
        np.zeros(2, dtype=np.int64),
        np.zeros((3, 2), dtype=np.complex128),
        np.zeros(5, dtype=np.bool_),
        np.array(2.0),
    ],
)
def test_linking_reads_what_an_array_is_from_its_header(array: np.ndarray) -> None:
    """Compiled code reads the memory of array objects; NumPy itself says what must be there."""
    tags, items = np.zeros(1, dtype=np.int64), np.array([id(array)])
    starts, one = np.array([0, 1]), np.ones(1, dtype=np.int64)
    keys, sizes = np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64)
    linking.inspect(tags, items, starts, one, keys, sizes)
    words, table = np.zeros(sizes[1], dtype=np.int64), np.zeros(2, dtype=np.int64)
    targets = np.array([[7, 8]])
    linking.write(tags, items, starts, targets, sizes, linking._ITEMSIZES, words, table)
    interface = array.__array_interface__
    expected = [array.size, array.itemsize, interface["data"][0], *array.shape, *array.strides]
    assert words.tolist() == [7, 8, 0, 0, *expected]
    assert table.tolist() == [1, words.ctypes.data]


def test_calls_with_arguments_of_other_types_have_other_keys() -> None:
    """Else a kernel would be entered with arguments that it was not compiled for."""
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    arguments: list[tuple[object, ...]] = [
        (np.zeros((2, 3)),), (np.zeros((2, 3), dtype=np.int64),), (np.zeros(3),), (frozen,),
        (np.zeros((4, 6))[::2],), (np.asfortranarray(np.zeros((2, 3))),), (1,), (1.0,), (True,),
        ((np.zeros(1), np.zeros(1)), np.zeros(1)), ((np.zeros(1),), np.zeros(1), np.zeros(1)),
        ((np.zeros(1), np.zeros(1), np.zeros(1)),),
    ]  # fmt: skip
    keys = []
    for given in arguments:
        tags, items = [], []
        for value in given:
            linking._append(value, tags, items)
        key, sizes = np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64)
        starts, one = np.array([0, len(tags)]), np.ones(1, dtype=np.int64)
        linking.inspect(np.array(tags), np.array(items), starts, one, key, sizes)
        keys.append(int(key[0]))
    assert len(set(keys)) == len(arguments)


def test_a_program_within_another_is_linked_once() -> None:
    x, y = np.ones(3), np.zeros(3)
    inner = record(copy, x, y)

    def twice() -> None:
        include(inner)
        combine(2.0, y, 0.0, y, y)
        include(inner)

    outer = record(twice)
    assert [function for function, _ in outer.entries].count(calls.execute) == 2
    outer()
    assert np.array_equal(y, x)
    twice()
    assert np.array_equal(y, x), "and plainly outside of recordings"


def test_plain_calls_stand_between_compiled_stretches_in_their_order():
    x, out, own = np.ones((1, 1)), np.zeros((1, 1)), Plain()

    def both() -> None:
        copy(x, out)
        ask(own.act, out)
        combine(1.0, out, 1.0, x, out)

    program = record(both)
    assert not program.compiled and own.calls == 0
    program()
    assert own.calls == 1 and out[0, 0] == 3.0
    longer = record(program)
    longer()
    assert own.calls == 2 and len(longer.entries) == 3


def test_only_the_class_itself_says_that_it_calls_kernels():
    assert [is_compiled(each()) for each in (Plain, Compiled, Derived)] == [False, True, False]


def test_threads_record_apart():
    found = []

    def look() -> None:
        found.append(recorder())

    def while_recording() -> None:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        found.append(recorder())

    record(while_recording)
    assert found[0] is None and isinstance(found[1], Program) and recorder() is None


def test_an_error_ends_the_recording():
    with pytest.raises(ZeroDivisionError):
        record(lambda: 1 / 0)
    assert recorder() is None


def test_arrays_by_place():
    x, out = np.arange(5.0), np.zeros(2)
    places = np.array([3, 1])

    def both() -> None:
        take(x, places, out)
        put_values(out, places, x)

    record(both)()
    assert out.tolist() == [3.0, 1.0] and x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


# -- compiled and uncompiled -----------------------------------------------------------------------

RUBBER = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=500.0)


def tree(formulation: pl.Formulation) -> tuple[pl.Robot, dict[str, object]]:
    """A rod with a hinged bob, a load, drag and damping; the second rod hangs on the first."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), RUBBER, pose=pl.along("x"), mass_damping=0.5)
    robot.add_load("push", arm.tip, force=(0.0, 0.0, 0.2))
    robot.add_body("bob", 0.01, (1e-6,) * 3, on=arm.tip, joint=pl.Revolute("y", stiffness=0.01))
    robot.add_rod("twig", 0.1, pl.Circle(0.005), RUBBER, base=arm.at(0.3), pose=pl.along("z"))
    return robot, {"push": pl.Sine(1.0, 3.0)}


FORMULATIONS = [pl.BSpline(3, 6), pl.BSpline(2, 5, "cayley"), pl.Hermite(3), pl.Strain(2, 2)]
INTEGRATORS = [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.7), pl.ImplicitEuler()]


def rows(motion: pl.Motion) -> list[np.ndarray]:
    energy = motion.energy
    return [motion.tip("arm"), motion.tip("twig"), motion.joint("bob"), *energy.values()]


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_compiled_and_uncompiled_engine_agree(
    formulation: pl.Formulation, integrator: pl.Integrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty steps of a tree: by compiled programs, and by the same source in plain Python."""
    one, other = both(lambda: tree(formulation), formulation, integrator, monkeypatch)
    for x, y in zip(rows(one), rows(other), strict=True):
        assert x == pytest.approx(y, rel=1e-12, abs=1e-12 * np.abs(y).max())


def shaken() -> tuple[pl.Robot, dict[str, object]]:
    """A rod on a moving base whose tip a constraint guides, with drag and a chamber behind a line."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), RUBBER, pose=pl.along("x"), drag=0.3)
    robot.add_base_motion("shake", arm, translation=(0.0, 0.0, 1.0))
    robot.add_constraint("rail", arm.tip, hold=("x",))
    robot.add_chamber("air", arm, area=2e-5, offset=(0.004, 0.0), line=pl.Lag(0.01))
    return robot, {"shake": pl.Sine(0.01, 2.0), "air": pl.Sine(1e4, 3.0)}


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("formulation", [pl.BSpline(3, 6), pl.ANCF(3)], ids=str)
def test_constraints_drives_and_lines_are_compiled_too(
    formulation: pl.Formulation, integrator: pl.Integrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = both(shaken, formulation, integrator, monkeypatch)
    for x, y in ((one.tip("arm"), other.tip("arm")), (one.inputs["air"], other.inputs["air"])):
        assert x == pytest.approx(y, rel=1e-11, abs=1e-11 * np.abs(y).max())
    size = max(np.abs(column).max() for column in other.energy.values())
    for name, column in other.energy.items():
        assert one.energy[name] == pytest.approx(column, abs=1e-10 * size), name
    assert np.abs(one.tip("arm")[:, 2, 3]).max() < 1e-9


def both(
    make: Callable[[], tuple[pl.Robot, dict[str, object]]],
    formulation: pl.Formulation,
    integrator: pl.Integrator,
    monkeypatch: pytest.MonkeyPatch,
) -> list[pl.Motion]:
    """Forty steps by compiled programs, and by the same source in plain Python."""
    motions, compiled = [], []
    take_steps = loops.take_steps

    def counted(table, *others):  # type: ignore[no-untyped-def]
        compiled.append(table.dtype)
        return take_steps(table, *others)

    monkeypatch.setattr(loops, "take_steps", counted)
    for short_lived in (2, 10**6):
        monkeypatch.setattr(contract, "_SHORT_LIVED", short_lived)
        robot, inputs = make()
        motions.append(
            robot.simulate(0.08, 2e-3, inputs, formulation=formulation, integrator=integrator)
        )
        if short_lived == 2:
            assert compiled and all(kind == np.int64 for kind in compiled)
            compiled.clear()
    assert not compiled
    return motions


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_recorded_equilibria_are_those_of_plain_calls(formulation: pl.Formulation) -> None:
    """The first attempt of a solver is made by plain calls, later ones by programs."""
    robot, _ = tree(formulation)
    first = robot.statics({"push": 1.0}, formulation)
    again = robot.statics({"push": 1.0}, formulation)
    third = robot.statics({"push": 1.0}, formulation)
    for found in (again, third):
        assert found.iterations == first.iterations
        assert found.tip("twig") == pytest.approx(first.tip("twig"), abs=1e-14)


def test_a_stepper_that_served_before_starts_afresh() -> None:
    """Motions that follow each other share steppers, not their states."""
    robot, inputs = tree(FORMULATIONS[0])
    for integrator in INTEGRATORS:
        settings = {"formulation": FORMULATIONS[0], "integrator": integrator}
        first = robot.simulate(0.02, 2e-3, inputs, **settings)
        other = robot.simulate(0.02, 2e-3, {"push": 5.0}, **settings)
        again = robot.simulate(0.02, 2e-3, inputs, **settings)
        assert other.iterations > 0
        for one, two in zip(rows(first), rows(again), strict=True):
            assert one == pytest.approx(two, rel=1e-12, abs=1e-13)


SPECIALISATIONS = """
import numpy as np
import pliant as pl
from pliant.engine import calls, linking
from pliant.engine import loops

rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0)
for k, form in enumerate([pl.BSpline(3, 6), pl.Hermite(3), pl.Strain(1, 2), pl.ANCF(3, planar=False)]):
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), rubber, pose=pl.along("x"))
    if k:
        robot.add_load("push", arm.tip, force=(0, 0, 0.1))
    if k > 1:
        robot.add_body("bob", 0.01, (1e-6,) * 3, on=arm.tip, joint=pl.Revolute("y", stiffness=0.01))
    robot.statics(formulation=form)
    robot.simulate(0.01, 1e-3, formulation=form)
loop = [loops.newton, loops.solve_step, loops.take_steps, calls.execute]
print([len(each.overloads) for each in loop])
"""


def test_a_new_formulation_or_effect_adds_no_specialisation_of_the_engine() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SPECIALISATIONS], capture_output=True, text=True, check=True
    )
    counts = eval(done.stdout)  # a list of numbers that we printed
    assert all(count <= 1 for count in counts) and counts[-1] == 1, counts


def test_steps_of_a_users_own_effect_run_uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Pull(pl.FrameEffect):
        """A constant pull on a frame along the world's y axis."""

        on: pl.Frame = pl.Frame("arm", 0.3)

        def frames(self):  # type: ignore[no-untyped-def]
            return (self.on,)

        def potential(self, g, u):  # type: ignore[no-untyped-def]
            return -0.05 * float(g[0][1, 3])

    robot, inputs = tree(FORMULATIONS[0])
    robot.add(Pull("pull"))
    tables = []
    table = Stepper._table

    def watched(stepper: Stepper, *ahead: int) -> object:
        tables.append(table(stepper, *ahead))
        return tables[-1]

    monkeypatch.setattr(Stepper, "_table", watched)
    found = robot.simulate(0.02, 2e-3, inputs, formulation=FORMULATIONS[0])
    assert found.complete and isinstance(tables[-1], list)
    programs = [x for row in tables[-1] for x in row if isinstance(x, Program)]
    assert programs and not all(x.compiled for x in programs)
    assert calls.execute.overloads


def test_an_output_inside_a_step_leaves_the_stepper_whole() -> None:
    """Steps, steps with an output inside one of them, steps again: all by one stepper."""
    robot = pl.Robot()
    form = pl.ANCF(4)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), RUBBER, pose=pl.along("x"), formulation=form)
    robot.add_load("pull", arm.tip, force=(0.05, 0, 0), frame="body")

    def end(pull: float, **settings: object) -> np.ndarray:
        motion = robot.simulate(0.02, 1e-3, {"pull": pull}, integrator=pl.Newmark(), **settings)
        return motion.tip("arm")[-1, :3, 3]

    first = end(1.0)
    end(0.0, output_times=[0.0105, 0.02])
    assert np.array_equal(end(1.0), first)


def test_outputs_at_the_same_part_of_steps_share_a_stepper(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, inputs = tree(FORMULATIONS[0])
    made = []
    make = pl.Newmark.stepper

    def watched(integrator: pl.Newmark, effects: object, h: float) -> Stepper:
        made.append(h)
        return make(integrator, effects, h)

    def moved(every: float) -> pl.Motion:
        settings = {"formulation": FORMULATIONS[0], "integrator": pl.Newmark()}
        return robot.simulate(0.06, 2e-3, inputs, output_every=every, **settings)

    whole = moved(2e-3)
    monkeypatch.setattr(pl.Newmark, "stepper", watched)
    motion = moved(3e-3)  # every other output is half a step after the last one
    assert [h for h in made if h < 1.5e-3] == [pytest.approx(1e-3)]
    assert np.array_equal(motion.energy["kinetic"][::2], whole.energy["kinetic"][::3])


def test_robots_and_steppers_are_freed() -> None:
    """Those that are kept for the next robot of the kind are, with the pool that keeps them."""

    def steppers() -> int:
        gc.collect()
        return sum(issubclass(type(item), Stepper) for item in gc.get_objects())

    before = steppers()
    robot, inputs = tree(FORMULATIONS[0])
    times = np.linspace(0.0, 0.02, 28)
    for integrator in INTEGRATORS[:2]:
        settings = {"formulation": FORMULATIONS[0], "integrator": integrator}
        robot.simulate(0.02, 2e-3, inputs, output_times=times, **settings)
    assert steppers() <= before + 2, "one of each kind is kept for the next motion"
    del robot
    assert steppers() <= before + 2
    coordinates.POOL = Pool()
    assert steppers() <= before


def test_progress_is_told_of_every_step() -> None:
    robot, inputs = tree(FORMULATIONS[0])
    told: list[float] = []
    robot.simulate(
        0.02, 2e-3, inputs, formulation=FORMULATIONS[0], output_every=0.02,
        progress=lambda t, duration: told.append(t),
    )  # fmt: skip
    assert told == pytest.approx(2e-3 * np.arange(1, 11))


@dataclass(frozen=True)
class Brittle(pl.FrameEffect):
    """A spring whose stiffness has no value once its frame has moved."""

    def frames(self):  # type: ignore[no-untyped-def]
        return (pl.Frame("arm", 0.3),)

    def gradient(self, g, u):  # type: ignore[no-untyped-def]
        return np.zeros((1, 6))

    def curvature(self, g, u):  # type: ignore[no-untyped-def]
        return np.full((6, 6), np.nan if abs(g[0][2, 3]) > 1e-4 else 0.0)


def test_a_law_without_stiffness_is_named() -> None:
    robot, inputs = tree(FORMULATIONS[0])
    robot.add(Brittle("glass"))
    with pytest.raises(pl.ConvergenceError, match="glass"):
        robot.simulate(0.3, 2e-3, inputs, formulation=FORMULATIONS[0], integrator=pl.Newmark())


@kernel
def fail_at(limit, x):  # type: ignore[no-untyped-def]
    """Raise an error if x_0 is beyond a limit."""
    if x[0] > limit:
        raise ValueError("beyond the limit")


def test_an_error_in_a_kernel_is_not_lost():
    x = np.zeros(1)
    program = record(run, fail_at, 1.0, x)
    program()
    x[0] = 2.0
    with pytest.raises(RuntimeError, match="a kernel in a program raised an error"):
        program()
