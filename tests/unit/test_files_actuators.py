"""Pneumatic actuators in robot files: the same robot as in Python, and faults with their line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main

FINGER = """\
actuators:
  finger:
    length: 0.175
    bending: 0.0186
    chamber_radius: 0.006
    arm: 0.009
    mass: 0.12
    mass_damping: 2.4
    pose: {along: -z}
    formulation: {ancf: {elements: 4}}
    line: {lag: {time: 0.05}}
    chambers: [left, right]
bodies:
  weight: {mass: 0.02, on: {part: finger, at: tip}}
inputs:
  left: {sine: {amplitude: 3.0e4, frequency: 1.0, offset: 3.0e4}}
"""


def read(tmp_path: Path, text: str) -> pl.Robot:
    file = tmp_path / "finger.yaml"
    file.write_text(text)
    return pl.Robot.from_file(file)


def fault(tmp_path: Path, text: str) -> str:
    with pytest.raises(pl.FileError) as caught:
        read(tmp_path, text)
    return str(caught.value)


def test_file_gives_the_robot_of_add_actuator(tmp_path: Path) -> None:
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12, mass_damping=2.4)
    robot = pl.Robot()
    rod = robot.add_actuator(
        "finger", part, pl.along("-z"), chambers=("left", "right"), formulation=pl.ANCF(4),
        line=pl.Lag(0.05),
    )  # fmt: skip
    robot.add_body("weight", 0.02, on=rod.tip)
    found = read(tmp_path, FINGER)
    mine, theirs = found.description, robot.description
    assert mine.rods["finger"].section == theirs.rods["finger"].section
    assert mine.rods["finger"].theory == "kirchhoff"
    assert list(mine.chambers) == ["left", "right"]
    for name in ("left", "right"):
        assert mine.chambers[name].offset == theirs.chambers[name].offset
        assert mine.chambers[name].line == pl.Lag(0.05) and not mine.chambers[name].thrust
    pressure = {"left": 6e4, "right": 1e4}
    np.testing.assert_allclose(
        found.statics(pressure).tip("finger"), robot.statics(pressure).tip("finger"), atol=1e-12
    )
    driven = found.simulate(0.05, 0.01)
    assert driven.inputs["left"][-1] == pytest.approx(3.0e4, rel=0.3)


def test_names_of_chambers_and_settings_have_the_defaults_of_python(tmp_path: Path) -> None:
    text = "actuators: {f: {length: 0.2, bending: 0.02, chamber_radius: 0.006, arm: 0.01}}\n"
    found = read(tmp_path, text).description
    assert list(found.chambers) == ["chamber1", "chamber2"]
    assert found.rods["f"].section == pl.BendingActuator(0.2, 0.02, 0.006, 0.01).section()


def test_an_actuator_may_stand_on_a_rod_and_carry_one(tmp_path: Path) -> None:
    text = FINGER + (
        "rods:\n"
        "  claw: {length: 0.05, section: {circle: {radius: 0.004}}, material: {E: 1e7, nu: 0.4},\n"
        "         base: {part: finger, at: tip}}\n"
        "  post: {length: 0.1, section: {circle: {radius: 0.01}}, material: {E: 1e9, nu: 0.4}}\n"
    )
    text = text.replace("pose: {along: -z}", "base: {part: post, at: tip}")
    found = read(tmp_path, text).description
    assert list(found.rods) == ["post", "finger", "claw"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bending: 0.0186", "bending: -1", "4:5: actuator 'finger': bending = -1"),
        ("    arm: 0.009\n", "", "2:3: actuator 'finger': arm is missing"),
        ("arm: 0.009", "arms: 0.009", "6:5: actuator 'finger': arms"),
        ("time: 0.05", "time: 0", "11:18: actuator 'finger': line.lag.time = 0"),
        ("chambers: [left, right]", "chambers: [left]", "12:5: actuator 'finger': chambers"),
        ("chambers: [left, right]", "chambers: [left, left]", "chambers = 'left': must be unique"),
        ("chambers: [left, right]", "chambers: [left, weight]", "chambers = 'weight'"),
        ("chambers: [left, right]", "chambers: [lft, right]", "input 'left'"),
        ("ancf: {elements: 4}", "ancf: {elements: 0}", "formulation.ancf.elements = 0"),
        ("{part: finger, at: tip}", "{part: fingr, at: tip}", "did you mean 'finger'"),
        ("length: 0.175", "length: 0", "3:5: actuator 'finger': length = 0"),
    ],
)
def test_faults_name_line_field_and_remedy(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in FINGER
    text = fault(tmp_path, FINGER.replace(old, new))
    assert words in text, text
    assert "none" not in text, text


def test_two_actuators_need_names_for_their_chambers(tmp_path: Path) -> None:
    one = "{length: 0.2, bending: 0.02, chamber_radius: 0.006, arm: 0.01}"
    text = fault(tmp_path, f"actuators:\n  f: {one}\n  g: {one}\n")
    assert "actuator 'g': chambers = 'chamber1': must be unique" in text
    assert "chambers: [left, right]" in text


def test_command_checks_and_runs_an_actuator(tmp_path: Path) -> None:
    file = tmp_path / "finger.yaml"
    file.write_text(FINGER + "statics:\n")
    call = CliRunner().invoke(main, ["check", str(file)])
    assert call.exit_code == 0 and "1 rod" in call.output and "2 chambers" in call.output
