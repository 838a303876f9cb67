"""Identification from forces that were measured while the robot moved."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main
from pliant.study.experiments import Family
from pliant.study.fit import _Setup
from pliant.study.parameters import variables

METHOD = pl.Strain(order=1, segments=2)
ROBOT = """
rods:
  arm:
    length: 0.3
    section:
      stiffness: {bending: 6.0e-3, twist: 5.0e-3, shear: 60, axial: 200, mass: 0.2,
                  inertia: [6.0e-6, 6.0e-6, 1.2e-5], retardation: 0.01}
    pose: {along: x}
    formulation: {strain: {order: 1, segments: 2}}
loads:
  pull: {on: {part: arm, at: tip}, force: [0, 0.05, 0.1]}
"""


def arm(bending: float = 6e-3, mass: float = 0.2, theory: str = "cosserat") -> pl.Robot:
    robot = pl.Robot()
    section = pl.Stiffness(bending=bending, twist=5e-3, shear=60.0, axial=200.0, mass=mass,
                           inertia=(6e-6, 6e-6, 1.2e-5), retardation=0.01)  # fmt: skip
    rod = robot.add_rod("arm", 0.3, section, pose=pl.along("x"), theory=theory)
    robot.add_load("pull", rod.tip, force=(0.0, 0.05, 0.1))
    return robot


def weighing(robot: pl.Robot, noise: float) -> pl.Measurement:
    """A pulled arm on a balance: force and moment at its clamp, no place of it."""
    t = np.linspace(0.0, 0.3, 31)
    pull = pl.Sine(1.0, 2.0, phase=-np.pi / 2, offset=1.0)
    motion = robot.simulate(0.3, 2.5e-3, {"pull": pull}, formulation=METHOD, output_times=t,
                            start="statics")  # fmt: skip
    held = motion.reactions["arm"]
    held = held + noise * np.random.default_rng(5).normal(0.0, np.abs(held).max(axis=0), held.shape)
    names = dict(zip(("my", "fx", "fz"), held[:, [1, 3, 5]].T, strict=True))
    columns = {f"arm.reaction.{name}": values for name, values in names.items()}
    return pl.Measurement({"t": t, "pull": [pull(x) for x in t], **columns}, "t", start="statics")


@pytest.mark.filterwarnings("ignore::pliant.FitWarning")
@pytest.mark.parametrize(
    ("sensitivities", "noise"), [("auto", 0.0), ("auto", 0.01), ("differences", 0.01)]
)
def test_stiffness_and_mass_are_found_from_forces_in_motion(
    sensitivities: str, noise: float
) -> None:
    found = pl.fit(
        arm(),
        weighing(arm(7e-3, 0.23), noise),
        ["arm.bending", "arm.mass"],
        dt=2.5e-3,
        sensitivities=sensitivities,
        formulation=METHOD,
    )
    for name, truth in (("arm.bending", 7e-3), ("arm.mass", 0.23)):
        assert abs(found[name].value - truth) < max(4 * found[name].error, 2e-3 * truth)
        assert found[name].error < 0.08 * truth


def test_slopes_of_forces_in_motion_agree_with_those_of_motions_solved_anew() -> None:
    robot = arm(theory="kirchhoff")
    data = weighing(robot, 0.0)
    setup = _Setup(robot, None, {}, 2.5e-3, pl.Midpoint(1e-10))
    slopes = []
    for how in ("auto", "differences"):
        unknowns = variables(robot.description, ["arm.bending", "arm.mass"])
        family = Family(robot, unknowns, pl.BSpline(points=7), how)
        start = np.array([item.start for item in unknowns.items])
        slopes.append(setup.experiments(data, "data")[0].evaluate(family, start, True)[1])
    size = np.abs(slopes[1]).max(axis=(0, 2), keepdims=True)
    assert np.abs((slopes[0] - slopes[1]) / size).max() < 3e-3


def test_forces_are_read_from_columns_of_a_file(tmp_path: Path) -> None:
    data = weighing(arm(7e-3), 0.0)
    file = tmp_path / "balance.csv"
    names = list(data.columns)
    rows = np.column_stack([data.columns[name] for name in names])
    np.savetxt(file, rows, delimiter=",", header=",".join(names), comments="", fmt="%.12g")
    robot = tmp_path / "arm.yaml"
    robot.write_text(ROBOT)
    words = [robot, file, "-p", "arm.bending", "--start", "statics", "-o", tmp_path / "out"]
    done = CliRunner().invoke(main, ["fit", *map(str, words), "--dt", "0.0025"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "out" / "arm-fit.json").read_text())["parameters"]
    assert found["arm.bending"]["value"] == pytest.approx(7e-3, rel=3e-3)
