"""A simulation that is ended at any moment goes on from its checkpoint to the same bits."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import pliant as pl
from pliant._interrupts import uninterrupted
from pliant.model.checks import StepError
from pliant.model.fields import holds
from pliant.model.places import OnFrame
from pliant.results import checkpoint_file
from pliant.solve import checkpoint, dynamics
from pliant.solve.checkpoint import Checkpoint, Checkpoints
from pliant.solve.integrators.variational import OwnEndsStepper

ROOT = Path(__file__).resolve().parents[2]
SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=100.0)
SMALL = pl.BSpline(points=6)
INSIDE = [0.004, 0.0123, 0.03, 0.0456, 0.06]


def arm(formulation: Any = SMALL) -> pl.Robot:
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pl.along("x"), formulation=formulation)
    robot.add_load("push", on=rod.tip, force=(0, 0.05, 0))
    return robot


def chain() -> pl.Robot:
    robot = arm()
    rod = robot.description.rods["arm"]
    hand = robot.add_rod("hand", 0.1, pl.Circle(0.008), SOFT, base=rod.tip, formulation=SMALL)
    robot.add_body("camera", 0.02, (4e-6, 4e-6, 6e-6), on=hand.tip)
    robot.add_base_motion("shake", "arm", translation=(0, 0, 1))
    robot.add_constraint("pin", hand.tip, kind="articulated")
    return robot


def driven() -> pl.Robot:
    robot = pl.Robot()
    hinge = pl.Revolute("x", drive="angle")
    bar = robot.add_body("bar", 0.1, (1e-4, 1e-4, 1e-5), centre=(0, 0, -0.1), joint=hinge)
    robot.add_rod("arm", 0.2, pl.Circle(0.008), SOFT, base=bar.at((0, 0, -0.2)), formulation=SMALL)
    return robot


def finger() -> pl.Robot:
    robot = pl.Robot()
    actuator = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12)
    robot.add_actuator("finger", actuator, pl.along("-z"), line=pl.Lag(0.05))
    return robot


@dataclass(frozen=True, eq=False)
class CheckpointFloor(pl.ConstraintEffect):
    """A floor under a frame, which it may leave."""

    on: pl.Frame = holds(OnFrame())
    unilateral = True

    def frames(self) -> list[pl.Frame]:
        return [self.on]

    def gap(self, g: Any) -> Any:
        return -0.01 - g[0, 2, 3]


def landing() -> pl.Robot:
    robot = arm()
    robot.add(CheckpointFloor("floor", robot.description.rods["arm"].tip))
    return robot


def reeled() -> pl.Robot:
    """An arm with a tendon in it, which is pulled by length; most steps are halved."""
    robot = arm()
    rod = robot.description.rods["arm"]
    robot.add_tendon("cable", along=rod, offset=(0.006, 0), drive="length", stiffness=1e4)
    return robot


def disked() -> pl.Robot:
    robot = arm()
    rod = robot.description.rods["arm"]
    robot.add_tendon("pull", [rod.at(s, (0.006, 0)) for s in (0.0, 0.1, 0.2, 0.3)])
    return robot


class _Short(OwnEndsStepper):
    """Fails where its step is longer than 0.6 ms."""

    def take(self, rows: Any, wanted: Any = None) -> int:
        if self.h > 6e-4:
            self.done = 0
            raise StepError("too long")
        return super().take(rows, wanted)


@dataclass(frozen=True)
class Shortened(pl.Midpoint):
    """Midpoint whose steps are all halved twice."""

    def stepper(self, effects: Any, h: float) -> Any:
        return _Short(effects, h, self.tolerance, 0.5)


def wave(t: float) -> float:
    return float(np.sin(20.0 * t))


PUSH: dict[str, Any] = {"push": wave}
PRESSURE = {"chamber1": pl.Sine(3e4, 2.0, offset=3e4)}
CASES: dict[str, tuple[Callable[[], pl.Robot], dict[str, Any]]] = {
    "midpoint": (arm, {"inputs": PUSH}),
    "newmark": (arm, {"inputs": PUSH, "integrator": pl.Newmark()}),
    "explicit": (
        lambda: arm(pl.Spectral(3, 2)),
        {"inputs": PUSH, "integrator": pl.Explicit()},
    ),
    "alpha": (arm, {"inputs": PUSH, "integrator": pl.GeneralizedAlpha(rho=0.5)}),
    "euler": (arm, {"inputs": {"push": 1.0}, "integrator": pl.ImplicitEuler()}),
    "hermite": (lambda: arm(pl.Hermite(3)), {"inputs": PUSH}),
    "outputs inside steps": (arm, {"inputs": PUSH, "output_times": INSIDE}),
    "chain": (chain, {"inputs": {**PUSH, "shake": pl.Sine(0.002, 3.0)}}),
    "driven": (driven, {"inputs": {"bar": wave}, "integrator": pl.Newmark()}),
    "line": (finger, {"inputs": PRESSURE, "start": "statics"}),
    "halved steps": (arm, {"inputs": PUSH, "integrator": Shortened()}),
    "impacts": (landing, {"inputs": PUSH}),
    "impacts newmark": (landing, {"inputs": PUSH, "integrator": pl.Newmark()}),
    "shooting": (lambda: arm(pl.Shooting(40)), {"inputs": PUSH}),
    "adaptive": (lambda: arm(pl.Shooting(scheme="adaptive")), {"inputs": PUSH}),
    "multiple": (lambda: arm(pl.MultipleShooting()), {"inputs": PUSH, "output_times": INSIDE}),
    "radau": (arm, {"inputs": PUSH, "integrator": pl.Radau(1e-5)}),
    "radau inside": (arm, {"inputs": PUSH, "integrator": pl.Radau(), "output_times": INSIDE}),
    "bdf": (lambda: arm(pl.Shooting(40)), {"inputs": PUSH, "integrator": pl.BDF(3)}),
    "collocation": (lambda: arm(pl.Collocation()), {"inputs": PUSH}),
    "tendon by length": (reeled, {"inputs": {"cable": pl.Sine(0.002, 3.0)}}),
    "tendon through disks": (disked, {"inputs": {"pull": pl.Sine(1.0, 3.0, offset=1.0)}}),
}


class Always(Checkpoints):
    """Checkpoints between all calls of the stepper."""

    def offer(self, arrays: Callable[[], Mapping[str, Any]], inputs: Mapping[str, Any]) -> None:
        self._next = -1.0
        super().offer(arrays, inputs)


def same(first: pl.Motion, second: pl.Motion) -> bool:
    a, b = first.to_xarray(), second.to_xarray()
    return all(np.array_equal(a[name], b[name]) for name in a.variables) and (
        a.attrs["iterations"] == b.attrs["iterations"]
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_resumed_motion_has_the_same_bits(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, more = CASES[name]
    whole = make().simulate(0.06, 0.002, **more)
    kept: list[Checkpoint] = []

    def keep(_: Path, made: Checkpoint) -> None:
        copies = {key: np.array(values) for key, values in made.arrays.items()}
        kept.append(Checkpoint(copies, made.inputs, made.fingerprint))

    with monkeypatch.context() as patch:
        patch.setattr(dynamics, "_SHOWN", (4, 4))
        patch.setattr(dynamics, "_CHUNK", 4)
        patch.setattr(checkpoint_file, "Checkpoints", Always)
        patch.setattr(checkpoint_file, "write_checkpoint", keep)
        assert same(make().simulate(0.06, 0.002, save=tmp_path / "motion.nc", **more), whole)
    assert len(kept) > 5
    for made in (kept[0], kept[2], kept[-1]):
        monkeypatch.setattr(checkpoint_file, "read_checkpoint", lambda _, made=made: made)
        assert same(make().simulate(0.06, 0.002, resume="kept.nc", **more), whole)


SCRIPT = """
import sys
import pliant as pl
from pliant.solve import checkpoint
checkpoint.EVERY = 0.02
robot = pl.Robot()
soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=100.0)
rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"), formulation=pl.BSpline(points=6))
robot.add_load("push", on=rod.tip, force=(0, 0.05, 0))
path, resume = sys.argv[1], sys.argv[2:] or [None]
robot.simulate(6.0, 0.002, {"push": pl.Sine(1.0, 3.0)}, output_every=0.05, save=path, resume=resume[0])
"""


def start(*arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, text=True)


def test_killed_simulation_goes_on_to_the_same_file(tmp_path: Path) -> None:
    """Whole, and killed at random moments until it is done: both files hold the same numbers."""
    assert start(tmp_path / "whole.nc").wait() == 0
    chance, file, killed = random.Random(4), tmp_path / "killed.nc", 0
    while True:
        before = file.stat().st_mtime_ns if file.exists() else 0
        process = start(file, *([file] if before else []))
        while process.poll() is None and (not file.exists() or file.stat().st_mtime_ns == before):
            time.sleep(0.001)
        time.sleep(0.2 * chance.random())  # at least one checkpoint was written since
        if killed < 2:
            process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        assert process.returncode == -signal.SIGKILL
        killed += 1
    assert killed > 0
    whole, resumed = pl.load(tmp_path / "whole.nc"), pl.load(file)
    for name in whole.variables:
        np.testing.assert_array_equal(whole[name], resumed[name])
    assert {path.name for path in tmp_path.iterdir()} == {"whole.nc", "killed.nc"}


def interrupted(robot: pl.Robot, path: Path, **more: Any) -> None:
    """Leave a checkpoint of a simulation that was ended by Ctrl-C."""
    calls = []

    def stop(t: float, _: float) -> None:
        calls.append(t)
        if len(calls) > 5:
            raise KeyboardInterrupt

    settings = {"duration": 0.06, "dt": 0.002, "inputs": {"push": 1.0}, **more}
    assert not robot.simulate(save=path, progress=stop, **settings).complete


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"dt": 0.001}, "times"),
        ({"duration": 0.08}, "times"),
        ({"output_every": 0.02}, "times"),
        ({"inputs": {"push": 2.0}}, "input 'push'"),
        ({"inputs": PUSH}, "input 'push'"),
        ({"integrator": pl.Newmark()}, "integrator"),
        ({"formulation": pl.BSpline(points=7)}, "formulation"),
        ({"velocity": {"arm": np.ones(6)}}, "start"),
    ],
)
def test_checkpoint_of_another_simulation_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    file = tmp_path / "motion.nc"
    interrupted(arm(), file)
    settings = {"duration": 0.06, "dt": 0.002, "inputs": {"push": 1.0}, **change}
    with pytest.raises(pl.DescriptionError, match=f"other than there: {named}"):
        arm().simulate(resume=file, **settings)


def test_checkpoint_of_another_robot_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "motion.nc"
    interrupted(arm(), file)
    other = arm()
    other.add_body("weight", 0.01, on=other.description.rods["arm"].tip)
    with pytest.raises(pl.DescriptionError, match="other than there: robot"):
        other.simulate(0.06, 0.002, {"push": 1.0}, resume=file)


def test_functions_count_by_what_they_do() -> None:
    def pushes(factor: float) -> Callable[[float], float]:
        return lambda t: factor * t

    def prints(value: object) -> str:
        return checkpoint.fingerprint({"push": value}, {})["input 'push'"]

    assert prints(pushes(2.0)) == prints(pushes(2.0))
    assert prints(pushes(2.0)) != prints(pushes(3.0))
    assert prints(lambda t: 2.0 * t) != prints(lambda t: 3.0 * t)
    assert prints(pl.Sine(1.0, 2.0)) != prints(pl.Sine(1.0, 2.5))
    assert prints(np.zeros(3)) != prints(np.array([0.0, 0.0, 1e-300]))
    assert prints(partial(scaled, factor=2.0)) == prints(partial(scaled, factor=2.0))
    assert prints(partial(scaled, factor=2.0)) != prints(partial(scaled, factor=3.0))


HEIGHT = 1.0


def test_splines_count_by_their_coefficients() -> None:
    """Objects that keep what they are in slots."""

    def prints(end: float) -> str:
        way = CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, end])
        return checkpoint.fingerprint({"push": way}, {})["input 'push'"]

    assert prints(1.0) == prints(1.0) != prints(2.0)


def test_compiled_functions_count_by_their_source() -> None:
    """Also before and after they are compiled."""

    def prints(function: object) -> str:
        return checkpoint.fingerprint({"push": function}, {})["input 'push'"]

    push, other = (numba.njit(lambda t, a=a: a * t) for a in (1.0, 2.0))
    before = prints(push)
    checkpoint.refuse_hidden_memories({"push": push})
    assert push(2.0) == 2.0
    assert prints(push) == before != prints(other)


def scaled(t: float, factor: float) -> float:
    return factor * height() * t


def height() -> float:
    return HEIGHT


@pytest.mark.parametrize("value", [2.0, [1.0], np.ones(2), {"a": 1}, pl.Sine(1.0, 2.0), None])
def test_functions_count_with_what_they_take_from_their_module(
    value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A constant of a script that was edited between two runs."""

    def prints() -> str:
        return checkpoint.fingerprint({"push": lambda t: scaled(t, 2.0)}, {})["input 'push'"]

    before = prints()
    assert before == prints()
    monkeypatch.setitem(globals(), "HEIGHT", value)
    assert prints() != before


def test_objects_count_with_what_they_do() -> None:
    def law(factor: float) -> object:
        code = f"class Law:\n    def __call__(self, t):\n        return {factor} * t\n"
        names: dict[str, Any] = {"__name__": "script"}
        exec(code, names)  # as in a script that was edited
        return names["Law"]()

    first, second, again = (
        checkpoint.fingerprint({"push": law(x)}, {})["input 'push'"] for x in (2.0, 3.0, 2.0)
    )
    assert first == again != second


def recursive(t: float) -> float:
    return t if t < 1.0 else recursive(t - 1.0) + scaled(t, recursive(0.5))


def test_functions_that_call_themselves_have_an_end() -> None:
    assert checkpoint.fingerprint({"push": recursive}, {})


def test_finished_motions_and_checkpoints_are_told_apart(tmp_path: Path) -> None:
    robot, file = arm(), tmp_path / "motion.nc"
    interrupted(robot, file)
    with pytest.raises(pl.DescriptionError, match="a checkpoint of a simulation"):
        pl.load(file)
    whole = robot.simulate(0.06, 0.002, {"push": 1.0}, resume=file, save=file)
    np.testing.assert_array_equal(pl.load(file).position, whole.to_xarray().position)
    with pytest.raises(pl.DescriptionError, match="holds a finished Motion"):
        robot.simulate(0.06, 0.002, {"push": 1.0}, resume=file)
    with pytest.raises(pl.DescriptionError, match="No such file"):
        robot.simulate(0.06, 0.002, {"push": 1.0}, resume=tmp_path / "missing.nc")


class Filter:
    """A controller with a memory: a first-order lag between the calls, which it may tell."""

    def __init__(self) -> None:
        self.t, self.y = 0.0, 0.0

    def __call__(self, t: float) -> float:
        if t > self.t:
            self.y += (t - self.t) / 0.01 * (wave(t) - self.y)
            self.t = t
        return self.y


class OpenFilter(Filter):
    """The same with its memory in the open."""

    def state(self) -> dict[str, float]:
        return {"t": self.t, "y": self.y}

    def restore(self, state: dict[str, float]) -> None:
        self.t, self.y = state["t"], state["y"]


def test_controller_with_a_memory_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "motion.nc"
    whole = arm().simulate(0.06, 0.002, {"push": OpenFilter()}, save=tmp_path / "whole.nc")
    interrupted(arm(), file, inputs={"push": OpenFilter()})
    assert checkpoint_file.read_checkpoint(file).inputs["push"]["t"] >= 0.0
    assert same(arm().simulate(0.06, 0.002, {"push": OpenFilter()}, resume=file), whole)


def test_controller_that_hides_its_memory_is_refused(tmp_path: Path) -> None:
    count = [0]

    def counting(t: float) -> float:
        count[0] += 1
        return 1.0

    values, noise = iter(np.linspace(0.0, 1.0, 1000)), np.random.default_rng(1)
    series, random_push = (lambda t: next(values)), (lambda t: noise.normal())
    for hidden in (counting, iter_like(), Counting(), series, random_push):
        with pytest.raises(pl.DescriptionError, match=r"state\(\).*restore"):
            arm().simulate(0.06, 0.002, {"push": hidden}, save=tmp_path / "motion.nc")


class Counting:
    """An object that counts its calls."""

    calls = 0

    def __call__(self, t: float) -> float:
        self.calls += 1
        return 1.0


def iter_like() -> Callable[[float], float]:
    seen: list[float] = []
    return lambda t: seen.append(t) or 1.0  # type: ignore[func-returns-value]


def test_folder_that_cannot_be_written_is_found_before_computing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(pl.DescriptionError, match="a folder in which files can be written"):
        arm().simulate(0.06, 0.002, save=tmp_path / "file" / "motion.nc")
    with pytest.raises(pl.DescriptionError, match=r"\.nc"):
        arm().simulate(0.06, 0.002, save=tmp_path / "motion.txt")


def test_checkpoint_that_cannot_be_written_does_not_end_a_motion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []

    def full(_: Path, made: Checkpoint) -> None:
        written.append(made)
        if len(written) > 1:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint_file, "write_checkpoint", full)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 0.0)
    monkeypatch.setattr(dynamics, "_SHOWN", (10, 10))
    with pytest.warns(UserWarning, match="goes on without checkpoints"):
        motion = arm().simulate(0.06, 0.002, save=tmp_path / "motion.nc")
    assert motion.complete
    assert len(written) == 2


# -- temporary files and Ctrl-C --------------------------------------------------------------------

WRITER = """
import os, signal, sys
from pathlib import Path
from pliant.model import whole_file
with whole_file(Path(sys.argv[1])) as partial:
    partial.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_temporary_file_of_a_killed_process_is_removed_by_the_next_one(tmp_path: Path) -> None:
    from pliant.model import whole_file

    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WRITER, str(tmp_path / "result.nc")]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".")
    with whole_file(tmp_path / "a.txt") as first:
        first.write_text("a")
        with whole_file(tmp_path / "b.txt") as second:  # the first one is not abandoned
            second.write_text("b")
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "b.txt"}


def test_ctrl_c_at_start_up_ends_in_one_line(tmp_path: Path) -> None:
    """Interrupted while modules are imported, and while a command begins."""
    for place in ("enum", "click", "pliant.files"):  # the first one soon after Python itself
        script = (
            "import os, sys\n"
            "class Stop:\n"
            "    @staticmethod\n"
            "    def find_spec(name, path=None, target=None):\n"
            f"        if name == {place!r}: os.kill(os.getpid(), 2)\n"
            "sys.meta_path.insert(0, Stop)\n"
            "sys.argv = ['pliant', 'run']\n"
            "from pliant.__main__ import run\n"
            "run()\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 130
        assert done.stderr.strip() == "interrupted"
        assert not done.stdout


def test_ctrl_c_while_the_command_line_is_read_ends_in_one_line(tmp_path: Path) -> None:
    script = (
        "import sys, click\n"
        "def stop(*_, **__): raise KeyboardInterrupt\n"
        "click.Group.make_context = stop\n"
        "from pliant.__main__ import run\n"
        "run()\n"
    )
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr.strip() == "interrupted"


def test_usage_errors_of_the_command_line_keep_their_exit_code() -> None:
    command = [sys.executable, "-m", "pliant", "check"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Usage: pliant check" in done.stderr
    assert "Missing argument 'FILE'" in done.stderr


def test_ctrl_c_inside_exec_ends_with_the_exit_code(tmp_path: Path) -> None:
    """Dataclasses are made by exec. ``python -m`` then ended by a signal after the line was printed."""
    (tmp_path / "stopped.py").write_text(
        "import sys; sys.argv = ['pliant', 'check']\n"
        "from pliant import __main__, cli\n"
        "def main(**_): exec('raise KeyboardInterrupt')\n"
        "cli.main = main\n"
        "__main__.run()\n"
    )
    command = [sys.executable, "-m", "stopped"]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_before_the_first_step_is_no_motion() -> None:
    def stop(t: float) -> float:
        if t > 0.0:
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        arm().simulate(0.06, 0.002, {"push": stop})


def test_ctrl_c_is_held_back_until_short_work_is_done() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        done.append("all of it")
    assert done == ["all of it"]


ROBOT = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1.0e6, nu: 0.48, rho: 1000}
    formulation: {bspline: {points: 6}}
simulate: {duration: 0.05, dt: 0.002}
"""


def test_command_line_resumes_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from pliant.cli import main

    monkeypatch.chdir(tmp_path)
    Path("arm.yaml").write_text(ROBOT)
    arguments = ["run", "arm.yaml", "--no-animation", "-o"]
    assert CliRunner().invoke(main, [*arguments, "whole"]).exit_code == 0
    assert {path.suffix for path in Path("whole").iterdir()} == {".nc", ".png"}
    original, calls = dynamics._Run._collect, []

    def collect(self: Any, done: int) -> None:
        calls.append(done)
        if len(calls) == 7:
            raise KeyboardInterrupt
        original(self, done)

    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 0.0)
    monkeypatch.setattr(dynamics._Run, "_collect", collect)
    stopped = CliRunner().invoke(main, [*arguments, "stopped"])
    assert stopped.exit_code == 130
    assert "--resume" in stopped.output
    assert Path("stopped/arm-checkpoint.nc").exists()
    resumed = CliRunner().invoke(main, [*arguments, "stopped", "--resume"])
    assert resumed.exit_code == 0
    assert len(calls) < 2 * 25
    assert not Path("stopped/arm-checkpoint.nc").exists()
    first, second = (pl.load(f"{name}/arm-motion.nc") for name in ("whole", "stopped"))
    np.testing.assert_array_equal(first.position, second.position)


def test_damaged_checkpoints_and_those_of_other_versions_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "motion.nc"
    interrupted(arm(), file)
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 4
    (tmp_path / "damaged.nc").write_bytes(whole)
    with pytest.raises(pl.DescriptionError, match="checksum does not match"):
        arm().simulate(0.06, 0.002, {"push": 1.0}, resume=tmp_path / "damaged.nc")
    monkeypatch.setattr(pl, "__version__", "99.0")
    with pytest.raises(pl.DescriptionError, match="other than there: version of Pliant"):
        arm().simulate(0.06, 0.002, {"push": 1.0}, resume=file)
    with pytest.raises(pl.DescriptionError, match="as this version writes it"):
        checkpoint.unpack([np.zeros(3)], checkpoint.pack([np.zeros(4)]))


@pytest.mark.parametrize("every", [None, 0.012], ids=["each step", "between steps"])
def test_a_controller_is_called_once_for_each_instant_with_checkpoints_or_without(
    every: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)

    class Controller:
        def __init__(self) -> None:
            self.times: list[float] = []

        def __call__(self, t: float) -> float:
            self.times.append(t)
            return 0.1

        def state(self) -> list[float]:
            return self.times

        def restore(self, state: list[float]) -> None:
            self.times = list(state)

    called = []
    for save in (None, tmp_path / "motion.nc"):
        given, options = Controller(), {} if save is None else {"save": save}
        robot = pl.Robot()
        soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=100.0)
        arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, formulation=pl.BSpline(points=6))
        robot.add_load("push", on=arm.tip, force=(0, 0.05, 0))
        robot.simulate(0.05, 0.005, {"push": given}, output_every=every, **options)
        called.append(given.times)
    assert called[0] == called[1]
    assert every is not None or (np.diff(called[0]) > 0.0).all()
