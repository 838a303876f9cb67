"""The answer does not depend on where the robot stands, nor on how the same rod is written."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3
from pliant.model import Array
from pliant.physics.effects import Effects
from pliant.solve.energy import potential
from pliant.tree.state import State
from tests.validation.cases import pose_errors

FORMULATIONS = [
    *(pl.BSpline(k, 9) for k in (1, 2, 3, 4, 5)),
    pl.BSpline(3, 9, map="cayley"),
    pl.Hermite(5),
    pl.Hermite(5, map="cayley"),
    pl.Spectral(3, 3),
    pl.Strain(2, 3),
    pl.EBA(4),
    pl.EBR(4),
    pl.SRL(4),
    pl.ROM(4),
    pl.ROM(4, "free"),
]
STEP = np.array([0.4, -1.1, 0.7, 2.0, -3.0, 0.5])


def robot_at(place: Array, free: bool = False) -> pl.Robot:
    """A curved weightless rod with its loads, all of it moved by `place`."""
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod(
        "arm", 1.0, pl.Circle((0.03, 0.015)), pl.Material(E=2e5, nu=0.45),
        pose=place @ pl.along("x"), natural=(0.5, -0.3, 0.8), base=None if free else "world",
    )  # fmt: skip
    turn = place[:3, :3]
    robot.add_load("push", arm.tip, force=turn @ [0.0, 0.1, 0.25])
    robot.add_load("middle", arm.at(0.4), force=turn @ [0.0, -0.2, 0.1])
    return robot


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_the_same_answer_from_any_base_pose(formulation: pl.Formulation) -> None:
    place = se3.exp(STEP)
    here = robot_at(np.eye(4)).statics(formulation=formulation)
    there = robot_at(place).statics(formulation=formulation)
    s = np.linspace(0, 1, 9)
    assert there.pose("arm", s) == pytest.approx(place @ here.pose("arm", s), abs=1e-9)
    assert there.strain("arm", s) == pytest.approx(here.strain("arm", s), abs=1e-8)
    assert there.energy["elastic"] == pytest.approx(here.energy["elastic"], rel=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_a_rigid_motion_of_the_whole_rod_leaves_its_strain_energy(
    formulation: pl.Formulation,
) -> None:
    robot = robot_at(np.eye(4), free=True)
    effects = robot._compiler.compiled(formulation).effects
    tree, rng = effects.tree, np.random.default_rng(1)
    bent = tree.moved(tree.rest, 0.1 * rng.normal(size=tree.total), newton=False)
    joint = tree.parts[0].joint_slice
    before = strain_energy(effects, bent)
    moved = bent.copy()
    moved[joint] = (se3.exp(STEP) @ moved[joint].reshape(4, 4)).ravel()
    assert strain_energy(effects, moved) == pytest.approx(before, rel=1e-12)
    assert before > 0.0


def strain_energy(effects: Effects, q: Array) -> float:
    return potential(effects, State(effects.tree).place(q), effects.nothing)["elastic"]


def test_exp_and_cayley_agree_as_the_mesh_is_refined() -> None:
    robot = robot_at(np.eye(4))
    s = np.linspace(0, 1, 21)
    gaps = []
    for points in (10, 20, 40, 80):
        one, other = (
            robot.statics(formulation=pl.BSpline(3, points, map=name)).pose("arm", s)
            for name in ("exp", "cayley")
        )
        gaps.append(pose_errors(one, other).max())
    assert gaps[-1] < 1e-5
    assert np.all(np.array(gaps[:-1]) > 3.0 * np.array(gaps[1:]))


@pytest.mark.parametrize("size", [0.1, 0.5])
def test_degree_one_is_piecewise_constant_strain(size: float) -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    section, material = pl.Circle((0.025, 0.015)), pl.Material(E=2e5, nu=0.45)
    arm = robot.add_rod("arm", 1.0, section, material, pose=pl.along("x"), natural=(0.5, 0.2, 0.4))
    robot.add_load("push", arm.tip, force=(0, size, 0.25))
    robot.add_load("middle", arm.at(0.4), force=(0, -size, 0.1))
    spline = robot.statics(formulation=pl.BSpline(1, 9))
    strain = robot.statics(formulation=pl.Strain(0, 8))
    s = np.linspace(0, 1, 33)
    assert spline.pose("arm", s) == pytest.approx(strain.pose("arm", s), abs=1e-8)
    middle = (np.arange(8) + 0.5) / 8
    assert spline.strain("arm", middle) == pytest.approx(strain.strain("arm", middle), abs=1e-7)
