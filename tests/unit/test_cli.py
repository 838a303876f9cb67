"""The command line: clear sentences, files where promised, nothing written on bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import pliant as pl
from pliant.cli import BUNDLED, main

ARM = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1e6, nu: 0.5, rho: 1000, viscosity: 500}
    pose: {along: x}
    formulation: {bspline: {points: 6}}
loads:
  push: {on: {part: arm, at: tip}, force: [0, 0, -0.1]}
inputs:
  push: {ramp: {start: 0, end: 1, t0: 0, t1: 0.1}}
"""
KINDS = ("statics", "modes", "motion")
RUNS = "statics:\nsimulate: {duration: 0.1, dt: 0.01, start: statics}\nmodes: {count: 3}\n"


def call(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    file = folder / "arm.yaml"
    file.write_text(text)
    return file


def test_check_accepts_a_good_file(folder: Path) -> None:
    found = call("check", write(folder, ARM + RUNS))
    assert found.exit_code == 0
    assert "1 rod, 1 load" in found.output and "statics, simulate, modes" in found.output


def test_the_bundled_robot_file_has_no_errors() -> None:
    found = call("check", BUNDLED)
    assert found.exit_code == 0, found.output


def test_run_writes_pictures_and_results_and_prints_their_paths(folder: Path) -> None:
    found = call("run", write(folder, ARM + RUNS), "-o", "out")
    assert found.exit_code == 0, found.output
    names = {"statics.nc", "statics.png", "motion.nc", "motion.png", "motion.gif"}
    names |= {"modes.nc", "modes.png"}
    assert {path.name for path in (folder / "out").iterdir()} == {f"arm-{n}" for n in names}
    for name in names:
        assert str(Path("out") / f"arm-{name}") in found.output
    for word in ("tip of arm", "energy", "iterations", "Midpoint", "Hz", "BSpline"):
        assert word in found.output
    move = pl.load(folder / "out" / "arm-motion.nc")
    assert move.input_push.values[-1] == pytest.approx(1.0)


def test_run_without_runs_solves_statics_and_can_be_quiet(folder: Path) -> None:
    found = call("run", write(folder, ARM), "--quiet")
    assert found.exit_code == 0 and found.output == ""
    there = {path.name for path in (folder / "pliant-results").iterdir()}
    assert there == {"arm-statics.nc", "arm-statics.png"}


def test_run_takes_accuracies_instead_of_meshes_and_steps(folder: Path) -> None:
    text = ARM.replace("    formulation: {bspline: {points: 6}}\n", "")
    text += "statics: {accuracy: 1e-5}\nmodes: {count: 2, accuracy: 1e-3}\n"
    text += "simulate: {duration: 0.05, accuracy: 5e-3, output_every: 0.01}\n"
    found = call("run", write(folder, text), "--no-animation")
    assert found.exit_code == 0, found.output
    still, modes, move = (pl.load(folder / f"pliant-results/arm-{x}.nc") for x in KINDS)
    assert still.attrs["error_relative"] < 1e-5
    assert 0 < modes.error.max() < 1e-3
    assert move.time.size == 6


def test_comparing_motions_asks_for_their_step(folder: Path) -> None:
    found = call("compare", write(folder, ARM + "simulate: {duration: 0.1}\n"))
    assert found.exit_code == 1
    assert "simulate: dt = None: must be a time step where motions are compared" in found.output


def test_animation_can_be_left_out(folder: Path) -> None:
    text = ARM + "simulate: {duration: 0.02, dt: 0.01}\n"
    found = call("run", write(folder, text), "--no-animation")
    assert found.exit_code == 0
    assert not list(folder.rglob("*.gif")) and list(folder.rglob("*.nc"))


def test_modes_prints_frequencies_and_saves_on_demand(folder: Path) -> None:
    file = write(folder, ARM)
    found = call("modes", file, "--count", "2")
    assert found.exit_code == 0 and "frequencies / Hz" in found.output
    assert {path.name for path in folder.iterdir()} == {"arm.yaml"}
    assert call("modes", file, "-o", "out").exit_code == 0
    assert (folder / "out" / "arm-modes.png").exists()


def test_follow_and_reach_print_and_save_on_demand(folder: Path) -> None:
    file = write(folder, ARM)
    found = call("follow", file, "push", "0", "0.5", "-o", "out")
    assert found.exit_code == 0 and "the input arrived at 0.5" in found.output
    assert (folder / "out" / "arm-path.png").exists()
    found = call("reach", file, "arm.tip=,,-0.05", "--input", "push")
    assert found.exit_code == 0 and "arm.tip: reached" in found.output
    wrong = call("reach", file, "arm.tip=a,b", "--input", "push")
    assert wrong.exit_code != 0 and "place=x,y,z" in wrong.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ARM.replace("0.01}", "-0.01}"), ("arm.yaml:5", "rod 'arm'", "radius", "-0.01")),
        (ARM.replace("at: tip", "at: 0.4"), ("load 'push'", "0.4", "0.3")),
        (ARM.replace("points: 6", "points: 2"), ("points", "2", "degree + 1")),
        (ARM.replace(", rho: 1000", "") + RUNS, ("rod 'arm'", "material.rho", "kg/m^3")),
        (ARM.replace("push: {ramp", "pull: {ramp"), ("pull", "push")),
        (ARM + "simulate: {duration: 0.1, dt: 0.2}\n", ("dt", "0.2", "0.1")),
        (ARM + "  speed: 3\n", ("speed",)),
        ("gravity: [0, 0, -9.81]\n", ("rods",)),
    ],
)
def test_bad_file_gets_a_message_and_changes_nothing(
    folder: Path, text: str, words: tuple[str, ...]
) -> None:
    file = write(folder, text)
    for command in ("check", "run"):
        found = call(command, file)
        assert found.exit_code == 1
        for word in words:
            assert word in found.output
        assert "Traceback" not in found.output
        assert {path.name for path in folder.iterdir()} == {"arm.yaml"}


def test_missing_file_and_unusable_folder_get_a_message(folder: Path) -> None:
    found = call("run", "nothing.yaml")
    assert found.exit_code == 1 and "nothing.yaml" in found.output
    file = write(folder, ARM)
    found = call("run", file, "-o", file)
    assert found.exit_code == 1 and "folder" in found.output


def test_load_without_equilibrium_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object, **more: object) -> None:
        raise pl.ConvergenceError("no equilibrium was found beyond 30 % of the load", None)

    monkeypatch.setattr("pliant.robot.Robot.statics", refuse)
    found = call("run", write(folder, ARM))
    assert found.exit_code == 1 and "30 % of the load" in found.output
    assert {path.name for path in folder.iterdir()} == {"arm.yaml"}


def interrupt_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    from pliant.solve.integrators.momenta import MomentumStepper

    take = MomentumStepper.take

    def stop(self: MomentumStepper, rows: np.ndarray, wanted: object = None) -> int:
        count = getattr(self, "count", 0) + len(rows)
        self.count = count  # type: ignore[attr-defined]
        if count > steps:
            raise KeyboardInterrupt
        return take(self, rows, wanted)

    monkeypatch.setattr(MomentumStepper, "take", stop)


def test_ctrl_c_leaves_a_readable_partial_result(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_after(monkeypatch, 4)
    found = call("run", write(folder, ARM + RUNS))
    assert found.exit_code == 130
    assert "interrupted" in found.output and "kept" in found.output
    move = pl.load(folder / "pliant-results" / "arm-motion.nc")
    assert move.attrs["complete"] == "no" and move.sizes["time"] == 5
    assert not list(folder.rglob("*modes*"))


def test_ctrl_c_while_saving_still_saves(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pliant.results import result_file

    original, calls = result_file.write, []

    def interrupted(data: object, path: Path) -> Path:
        calls.append(path)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return original(data, path)  # type: ignore[arg-type]

    monkeypatch.setattr(result_file, "write", interrupted)
    found = call("run", write(folder, ARM + RUNS))
    assert found.exit_code == 130 and "kept" in found.output
    assert pl.load(folder / "pliant-results" / "arm-statics.nc").attrs["stable"] == "yes"


def test_failing_step_keeps_the_motion_and_says_why(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pliant.solve.integrators.contract import StepError
    from pliant.solve.integrators.momenta import MomentumStepper

    def fail(self: MomentumStepper, rows: np.ndarray, wanted: object = None) -> int:
        self.done = 0
        raise StepError("a time step of 0.01 s failed; try a smaller dt")

    monkeypatch.setattr(MomentumStepper, "take", fail)
    found = call("run", write(folder, ARM + RUNS))
    assert found.exit_code == 1 and "smaller dt" in found.output
    assert pl.load(folder / "pliant-results" / "arm-motion.nc").attrs["complete"] == "no"


def test_help_and_version_load_nothing_heavy() -> None:
    code = (
        "import sys, pliant, pliant.cli\n"
        "heavy = {'numpy', 'numba', 'scipy', 'xarray', 'matplotlib', 'rich', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "pliant.cli.main(['--version'], prog_name='pliant')"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
        env={k: v for k, v in os.environ.items() if k != "FACE_CACHE"},
    )
    assert done.stdout.splitlines() == ["[]", f"pliant {pl.__version__}"]


def test_first_result_does_not_wait_for_libraries_that_it_does_not_need() -> None:
    code = (
        "import sys, pliant.robot, pliant.files, pliant.solve.coordinates\n"
        "drawing = {'xarray', 'matplotlib', 'h5py', 'PIL'}\n"
        "numerics = {'scipy.spatial', 'scipy.interpolate', 'scipy.optimize'}\n"
        "print(sorted((drawing | numerics) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_compilation_is_announced_where_there_is_no_terminal(folder: Path) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from pliant.cli import _Compilation

    with (folder / "log").open("w") as log:
        console = Console(file=log, width=200)
        progress = Progress(console=console, disable=True)
        tell = _Compilation(progress, progress.add_task("statics"), "statics", console)
        tell("pliant.rods.chain.propagate", None)
        tell("pliant.rods.chain.propagate", 0.5)
        tell.conclude()
    text = (folder / "log").read_text()
    assert "compiling kernels, on first use only" in text and "1 kernels" not in text
    assert "1 kernel compiled" in text
