"""`pliant fit`: priors, noise, inputs and starts as words, and the robot file with what was found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main
from pliant.files.rewrite import check_rewritten, rewritten
from pliant.model.paths import with_values

ARM = """\
# an arm on a bench
rods:
  arm:
    length: 0.3
    section: {stiffness: {bending: [6.0e-3, 6.0e-3], twist: 5.0e-3, shear: 60, axial: 200, mass: 0.2,
      inertia: [6.0e-6, 6.0e-6, 1.2e-5]}}  # a guess
    pose: {along: x}
    mass_damping: 1.0
    formulation: {strain: {order: 1, segments: 2}}
loads:
  pull: {on: {part: arm, at: tip}, force: [0, 0.05, 0.1]}
  hang: {on: {part: arm, at: tip}, force: [0, 0, -1]}
chambers:
  muscle: {on: arm, area: 1.0e-4, offset: [0.01, 0.0], line: {lag: {time: 0.02}}}
inputs:
  hang: 0.0
  pull: 0.0
"""


def call(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["fit", *map(str, words)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def files(folder: Path, noise: float = 2e-4) -> tuple[Path, Path]:
    """The robot file, and load cases of a stiffer arm under another weight."""
    robot, data = folder / "arm.yaml", folder / "droop.csv"
    robot.write_text(ARM)
    truth = pl.Robot.from_file(robot)
    values = with_values(truth.description, {"arm.bending[0]": 7e-3})
    truth = pl.Robot._from(values, truth.inputs)
    rng = np.random.default_rng(4)
    lines = ["pull,marker"]
    for force in np.linspace(0.0, 2.0, 6):
        z = truth.statics({"pull": force, "hang": 0.05}).tip("arm")[2, 3] + rng.normal(0.0, noise)
        lines.append(f"{float(force)!r},{float(z)!r}")
    data.write_text("\n".join(lines) + "\n")
    return robot, data


def report(folder: Path) -> dict:
    return json.loads((folder / "arm-fit.json").read_text())


def test_prior_noise_and_inputs_are_those_of_python(tmp_path: Path) -> None:
    robot, data = files(tmp_path)
    out = tmp_path / "out"
    words = ("--output", "arm.tip.z=marker+-2e-4", "--input", "hang=0.05", "-o", out)
    code, text = call(robot, data, "-p", "arm.bending[0]=5e-3[1e-3,1e-2]~6.9e-3+-5e-5", *words)
    assert code == 0, text
    parameter = pl.Parameter("arm.bending[0]", 5e-3, (1e-3, 1e-2), (6.9e-3, 5e-5))
    found = pl.fit(
        pl.Robot.from_file(robot), data, [parameter],
        [pl.Output("arm.tip.z", "marker", 2e-4)], inputs={"hang": 0.05},
    )  # fmt: skip
    told = report(out)["parameters"]["arm.bending[0]"]
    assert told["value"] == pytest.approx(found["arm.bending[0]"].value, rel=1e-12)
    assert told["standard_error"] == pytest.approx(found["arm.bending[0]"].error, rel=1e-9)
    assert report(out)["noise"] == {"arm.tip.z": 2e-4}
    code, text = call(robot, data, "-p", "arm.bending[0]", *words)
    assert code == 0, text
    free = report(out)["parameters"]["arm.bending[0]"]
    assert told["standard_error"] < 0.9 * free["standard_error"]  # the prior counted
    code, text = call(robot, data, "-p", "arm.bending[0] ~ 6.9e-3 ± 5e-5", *words)
    assert code == 0, text
    again = report(out)["parameters"]["arm.bending[0]"]
    assert again["value"] == pytest.approx(told["value"], abs=0.02 * told["standard_error"])


def test_motion_let_go_by_an_input_begins_where_it_was_held(tmp_path: Path) -> None:
    robot, data = tmp_path / "arm.yaml", tmp_path / "swing.csv"
    robot.write_text(ARM)
    truth = pl.Robot.from_file(robot)
    held = truth.statics({"hang": 0.3})
    move = truth.simulate(0.3, 0.005, start=held)
    rows = [f"{t!r},{z!r}" for t, z in zip(move.t, move.tip("arm")[:, 2, 3], strict=True)]
    data.write_text("\n".join(["t,arm.tip.z", *rows]).replace("np.float64(", "").replace(")", ""))
    out = tmp_path / "out"
    code, text = call(
        robot, data, "-p", "arm.mass_damping=0.5", "--start", "hang=0.3", "--dt", 0.005, "-o", out
    )
    assert code == 0, text
    found = report(out)["parameters"]["arm.mass_damping"]["value"]
    assert found == pytest.approx(1.0, rel=1e-5)


def test_robot_is_written_back_with_the_values_found(tmp_path: Path) -> None:
    robot, data = files(tmp_path)
    out, new = tmp_path / "out", tmp_path / "fitted" / "arm.yaml"
    code, text = call(
        robot, data, "-p", "arm.bending[0]", "-p", "gravity[2]~-9.81+-0.01",
        "--output", "arm.tip.z=marker", "--input", "hang=0.05", "-o", out, "--write-robot", new,
    )  # fmt: skip
    assert code == 0 and str(new) in text, text
    written = new.read_text()
    assert "# an arm on a bench" in written and "# a guess" in written
    fitted = pl.Robot.from_file(new)
    told = report(out)
    stiffness = fitted.description.rods["arm"].section.bending
    assert stiffness[0] == told["parameters"]["arm.bending[0]"]["value"] and stiffness[1] == 6e-3
    assert fitted.description.gravity[2] == told["parameters"]["gravity[2]"]["value"]
    z = np.loadtxt(data, delimiter=",", skiprows=1)
    tips = [fitted.statics({"pull": f, "hang": 0.05}).tip("arm")[2, 3] for f in z[:, 0]]
    rms = np.sqrt(np.mean((np.array(tips) - z[:, 1]) ** 2))
    assert rms == pytest.approx(told["data"][0]["rms"]["marker"], rel=1e-8)
    assert not list(new.parent.glob(".*"))


@pytest.mark.parametrize(
    ("path", "value"),
    [("arm.length", 0.31), ("muscle.time", 0.05), ("arm.drag", 0.3), ("pull.force", 1.5)],
)
def test_any_number_of_a_file_can_be_written(tmp_path: Path, path: str, value: float) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    wanted = with_values(pl.Robot.from_file(file).description, {path: value})
    new = tmp_path / "new.yaml"
    new.write_text(rewritten(file, wanted, [path]))
    found = pl.Robot.from_file(new).description
    check_rewritten(file, found, wanted)
    with pytest.raises(pl.DescriptionError, match="of its own"):
        check_rewritten(file, pl.Robot.from_file(file).description, wanted)


def test_taper_and_actuator_are_written_as_they_are_described(tmp_path: Path) -> None:
    file, new = tmp_path / "robot.yaml", tmp_path / "new.yaml"
    file.write_text(
        "rods: {arm: {length: 0.3, section: {circle: {radius: [0.01, 0.005]}}, "
        "material: {E: 1.0e6, nu: 0.5}}}\n"
        "actuators: {finger: {length: 0.175, bending: 0.0186, chamber_radius: 0.006, arm: 0.009, "
        "mass: 0.12, mass_damping: 2.4, line: {lag: {time: 0.05}}}}\n"
    )
    described = pl.Robot.from_file(file).description
    for path, value in (("arm.radius", 1.2), ("arm.E", 2e6), ("finger.mass_damping", 3.0)):
        wanted = with_values(described, {path: value})
        new.write_text(rewritten(file, wanted, [path]))
        check_rewritten(file, pl.Robot.from_file(new).description, wanted)
    with pytest.raises(pl.DescriptionError, match="written out in the file"):
        rewritten(file, described, ["chamber1.area"])


FINGER = """\
actuators:
  finger: # on the bench
    {length: 0.175, bending: 0.02, chamber_radius: 0.006, arm: 0.009, mass: 0.12, pose: {along: x},
     line: {lag: {time: 0.05}}, formulation: {ancf: {elements: 2}}}
inputs: {chamber1: {table: {csv: valve.csv, time: t, value: p}}}
"""


@pytest.mark.parametrize(
    "words",
    [
        ["finger.bending"],
        ["finger.bending[1]"],
        ["finger.bending[1]", "chamber1.line.time,chamber2.line.time=0.04"],
    ],
)
def test_fitted_actuator_is_written_as_an_actuator(tmp_path: Path, words: list[str]) -> None:
    """What follows from the bending stiffness in the file, and was not fitted, is written out."""
    robot, data, new = (tmp_path / name for name in ("finger.yaml", "tip.csv", "new.yaml"))
    robot.write_text(FINGER)
    (tmp_path / "valve.csv").write_text("t,p\n0,0\n1,2e4\n")
    data.write_text("chamber2,finger.tip.z\n0,-0.0061\n3e4,0.0195\n6e4,0.0440\n9e4,0.0664\n")
    options = [item for word in words for item in ("-p", word)]
    code, text = call(robot, data, *options, "-o", tmp_path / "out", "--write-robot", new)
    assert code == 0 and str(new) in text, text
    found = pl.Robot.from_file(new).description.rods["finger"].section
    assert found.bending[1] == pytest.approx(0.0180, rel=1e-3)
    assert found.bending[0] == (0.02 if words[0].endswith("]") else found.bending[1])
    assert found.twist == 0.02 and "# on the bench" in new.read_text()
    if len(words) > 1:
        line = pl.Robot.from_file(new).description.chambers["chamber2"].line
        assert isinstance(line, pl.Lag) and line.time == pytest.approx(0.04, rel=1e-6)


def test_number_that_two_parts_share_is_not_written(tmp_path: Path) -> None:
    """An alias means one number for two rods; only one of them was fitted."""
    robot, data = tmp_path / "arm.yaml", tmp_path / "droop.csv"
    robot.write_text(
        "rods:\n"
        "  arm: {length: 0.3, section: {circle: {radius: 0.01}}, material: &soft {E: 1.0e6, nu: 0.5}, "
        "pose: {along: x}}\n"
        "  other: {length: 0.3, section: {circle: {radius: 0.01}}, material: *soft}\n"
        "loads: {pull: {on: {part: arm}, force: [0, 0, 1]}}\n"
    )
    data.write_text("pull,arm.tip.z\n0.1,0.012\n0.2,0.023\n")
    new = tmp_path / "new.yaml"
    code, text = call(robot, data, "-p", "arm.E", "-o", tmp_path / "out", "--write-robot", new)
    assert code == 1 and "'other.material.E'" in text and "shares" in text
    assert not new.exists() and not (tmp_path / "out").exists()  # told before the fit
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.yaml", "droop.csv"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-p", "arm.mass~1"), "with a prior"),
        (("-p", "arm.mass~1+-x"), "with a prior"),
        (("-p", "arm.mass~1+-0"), "standard deviation"),
        (("-p", "arm.mass", "--output", "arm.tip.z=marker+-x"), "standard deviation"),
        (("-p", "arm.mass", "--output", "arm.tip.z=marker+--1"), "std"),
        (("-p", "arm.mass", "--input", "hang"), "name of an input"),
        (("-p", "arm.mass", "--input", "hang=1", "--input", "hang=2"), "named once"),
        (("-p", "arm.mass", "--output", "arm.tip.z=marker", "--input", "hong=1"), "hang"),
        (("-p", "arm.mass", "--start", "state"), "'rest', 'statics' or inputs by name"),
        (("-p", "arm.mass", "--start", "statics", "--start", "hang=1"), "name of an input"),
    ],
)
def test_words_that_are_not_understood_get_a_sentence(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    robot, data = files(tmp_path)
    code, text = call(robot, data, *words, "-o", tmp_path / "out")
    assert code == 1 and told in text and "Traceback" not in text, text
