"""Robot files of studies that come with Pliant: each is the robot of its example, and has a picture."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import pliant as pl

FOLDER = Path(pl.__file__).parent / "robots"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STUDIES = {
    "stewart_gough": ("plot_stewart_gough", lambda x: x.platform(), "plate"),
    "chiral_structure": ("plot_chiral_structure", lambda x: x.structure(True), "upper"),
    "cable_manipulator": ("plot_cable_manipulator", lambda x: x.manipulator(), "arm.tip"),
}


@pytest.mark.parametrize("name", STUDIES)
def test_file_of_a_study_is_the_robot_of_its_example(name: str, tmp_path: Path) -> None:
    script, make, place = STUDIES[name]
    robot = pl.Robot.from_file(FOLDER / f"{name}.yaml")
    still = robot.statics()
    there = make(example(script)).statics(still.inputs)
    assert still.position(place) == pytest.approx(there.position(place), abs=1e-9)
    still.plot(tmp_path / f"{name}.png")
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


def test_file_of_the_gripper_moves_as_its_example(tmp_path: Path) -> None:
    robot = pl.Robot.from_file(FOLDER / "gripper.yaml")
    other = example("plot_gripper").gripper()
    ends = [
        x.simulate(0.04, 0.004, inputs=robot.inputs).position("finger 1.tip")[-1]
        for x in (robot, other)
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)
    assert robot.plot(tmp_path / "gripper.png").axes
