"""What robot files ask to compute: `follow` and `reach`, with results, pictures and faults."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main

ARM = """\
gravity: [0, 0, 0]
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1.0e+6, nu: 0.45, rho: 1000}
    formulation: {b_spline: {points: 8}}
loads:
  side: {on: arm.tip, force: [0.1, 0, 0]}
  front: {on: arm.tip, force: [0, 0.1, 0]}
inputs: {side: 0, front: 0}
"""
RUNS = """\
follow: {input: side, start: 0, stop: 1, points: 5}
reach: {targets: {arm.tip: [0.05, 0.02, null]}, inputs: [side, front], least: -5, most: 5}
"""


def run(tmp_path: Path, text: str, command: str = "run", *more: str) -> tuple[int, str]:
    path = tmp_path / "arm.yaml"
    path.write_text(text, encoding="utf-8")
    folder = ["-o", str(tmp_path / "out")] if command == "run" else []
    result = CliRunner().invoke(main, [command, str(path), *folder, *more])
    return result.exit_code, result.output


def test_file_follows_an_input_and_reaches_a_target(tmp_path: Path) -> None:
    code, told = run(tmp_path, ARM + RUNS, "run", "--json")
    assert code == 0, told
    path, reached = json.loads(told)["results"]
    assert (path["kind"], reached["kind"]) == ("Path", "Reach")
    assert path["values"][-1] == pytest.approx(1.0)
    for name in ("path.nc", "path.png", "reach.nc", "reach.png"):
        assert (tmp_path / "out" / f"arm-{name}").stat().st_size > 1000
    robot = pl.Robot.from_file(tmp_path / "arm.yaml")
    found = robot.reach({"arm.tip": (0.05, 0.02, None)}, ["side", "front"], (-5, 5))
    assert found.tip("arm")[:2, 3] == pytest.approx([0.05, 0.02], abs=1e-6)
    assert reached["inputs"]["side"] == pytest.approx(float(found.inputs["side"]), rel=1e-6)


def test_unknown_inputs_and_places_of_runs_have_their_line(tmp_path: Path) -> None:
    wrong = RUNS.replace("input: side", "input: sidee").replace("arm.tip:", "arm.tipp:")
    code, told = run(tmp_path, ARM + wrong, "check")
    assert code != 0
    assert "arm.yaml:12:" in told and "follow: input = 'sidee'" in told
    assert "arm.yaml:13:" in told and "did you mean 'arm.tip'?" in told


@pytest.mark.parametrize(
    ("section", "match"),
    [
        ("follow: {start: 0, stop: 1}", "input is missing"),
        ("follow: {input: side, start: 1, stop: 1}", "another value than start"),
        ("reach: {targets: {arm.tip: [0.1, 0.2]}}", "three numbers in metres"),
        ("reach: {targets: 3}", "positions by place"),
        ("reach: {targets: {arm.tip: [0.1, x, 0]}}", "a finite number"),
        ("reach: {targets: {arm.tip: [0.1, 0, 0]}, inputs: [sid]}", "did you mean 'side'"),
    ],
)
def test_faults_of_runs_are_told(tmp_path: Path, section: str, match: str) -> None:
    code, told = run(tmp_path, ARM + section + "\n", "check")
    assert code != 0 and match in told


def test_robot_file_of_concentric_tubes_snaps_and_is_pushed(tmp_path: Path) -> None:
    path = Path(pl.__file__).parent / "robots" / "concentric_tubes.yaml"
    robot = pl.Robot.from_file(path)
    folds = [fold.value for fold in robot.follow("turn", 0.0, 2 * np.pi, points=30).folds]
    assert folds[0] + folds[1] == pytest.approx(2 * np.pi, abs=1e-3)
    short = path.read_text(encoding="utf-8").replace("duration: 0.4", "duration: 0.05")
    code, told = run(tmp_path, short[: short.index("follow: ")])
    assert code == 0, told
    assert "Motion: 0.05 s in 5 steps" in told
