"""What robot files ask to compute: `follow` and `reach`, with results, pictures and faults."""

from __future__ import annotations

import json
import re
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


MOVING = """\
parameters: {angle: 0.3}
rods:
  arm: {length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1.0e+6, nu: 0.45, rho: 1000}}
bodies:
  hand: {mass: 0.1, inertia: [1.0e-4, 1.0e-4, 1.0e-4], joint: {revolute: {axis: y, stiffness: 1.0}}}
  ball: {mass: 0.1, inertia: [1.0e-4, 1.0e-4, 1.0e-4], joint: free}
simulate:
  duration: 0.02
  dt: 0.01
  start: {arm: [[0, 0, 0], [0.01, 0, 0.1], [0.05, 0, 0.19], [0.11, 0, 0.27]]}
  joints: {hand: 2*angle, ball: [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}
  velocity: {hand: 1.5, ball: [0, 0, 0, 0, 0.1, 0]}
"""
POINTS = MOVING.partition("start: ")[2].partition("\n")[0]


@pytest.mark.parametrize("placed", [False, True])
def test_motion_of_a_file_begins_where_it_says(tmp_path: Path, placed: bool) -> None:
    """Points, joints and velocities, with named parameters, as `simulate` takes them."""
    points = np.array([[0, 0, 0], [0.01, 0, 0.1], [0.05, 0, 0.19], [0.11, 0, 0.27]])
    text, start = MOVING, points
    if placed:
        s = "{arm: {s: [0, 0.1, 0.2, 0.3], points: " + POINTS[len("{arm: ") : -1] + "}}"
        text, start = MOVING.replace(POINTS, s), (np.array([0, 0.1, 0.2, 0.3]), points)
    code, told = run(tmp_path, text, "run", "--json", "--no-animation", "--set", "angle=0.2")
    assert code == 0, told
    robot = pl.Robot.from_file(tmp_path / "arm.yaml")
    motion = robot.simulate(
        0.02, 0.01, start={"arm": start}, joints={"hand": 0.4, "ball": pl.pose((0.5, 0, 0))},
        velocity={"hand": 1.5, "ball": (0, 0, 0, 0, 0.1, 0)},
    )  # fmt: skip
    assert motion.joint("hand")[0] == pytest.approx([0.4])
    kept = pl.load(tmp_path / "out" / "arm-motion.nc")
    ours = motion.to_xarray()
    assert "position" in ours and set(ours.data_vars) <= set(kept.data_vars)
    assert np.allclose(kept["position"], ours["position"], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{hand: 2", "{hnd: 2", r"11:.*joints.hnd = 'hnd': must be the name of a part.*'hand'"),
        ("hand: 2*angle", "hand: [1, 2]", "joints.hand = .*1 finite number"),
        ("[[1, 0, 0, 0.5]", "[[2, 0, 0, 0.5]", "joints.ball.*right-handed rotation"),
        ("{hand: 1.5", "{hnd: 1.5", r"12:.*velocity.hnd.*'hand'"),
        ("hand: 1.5", "hand: [1, 2]", "velocity.hand.*six numbers, its twist, or 1"),
        ("hand: 1.5", "hand: fast", "velocity.hand = 'fast': must be finite numbers"),
        ("{arm: [[", "{am: [[", r"10:.*start.am.*'arm'"),
        ("[0.01, 0, 0.1]", "[0.01, 0]", r"start.arm.*points of three numbers"),
        (POINTS, "rst", "start = 'rst'.*did you mean 'rest'"),
    ],
)
def test_starts_that_do_not_fit_the_robot_have_their_line(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in MOVING
    code, found = run(tmp_path, MOVING.replace(old, new), "check")
    assert code != 0 and re.search(told, found), found


def test_comparison_of_a_motion_that_starts_elsewhere_is_refused(tmp_path: Path) -> None:
    code, told = run(tmp_path, MOVING, "compare", "--with", "BSpline()")
    assert code != 0 and "simulate: start = ['arm']" in told
