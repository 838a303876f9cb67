"""Random trees of rods, bodies, joints, springs, tendons and loops: two formulations that share no map.

`benchmarks/random_trees.py` looks at many more of them.
"""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.reference.random_trees import answers, motions, random_tree

FORMULATIONS = (pl.BSpline(4, 12), pl.Strain(3, 3))


@pytest.mark.parametrize("seed", [1, 4, 9, 13])
def test_formulations_agree_on_random_trees_at_rest(seed: int) -> None:
    found = [answers(seed, formulation) for formulation in FORMULATIONS]
    assert [result[0] for result in found] == ["solved", "solved"]
    assert found[0][1] == pytest.approx(found[1][1], abs=3e-4)


@pytest.mark.parametrize("seed", [2, 7])
def test_formulations_agree_on_short_motions_of_random_trees(seed: int) -> None:
    found = [motions(seed, formulation) for formulation in FORMULATIONS]
    assert [result[0] for result in found] == ["solved", "solved"]
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-3)
    assert max(result[2] for result in found) < 0.02


def test_one_load_step_does_not_jump_to_an_unstable_equilibrium() -> None:
    """With a follower load pivots tell nothing: strain modes went to an equilibrium upside down."""
    robot, inputs = random_tree(29)
    upright, found = (robot.statics(inputs, formulation) for formulation in FORMULATIONS)
    assert found.stable
    gap = found.position("rod4.tip") - upright.position("rod4.tip")
    assert np.abs(gap).max() < 3e-4


def hand() -> tuple[pl.Robot, pl.Rod]:
    robot = pl.Robot()
    soft = pl.Material(E=3e6, nu=0.4, rho=1000.0)
    return robot, robot.add_rod("arm", 0.2, pl.Circle(0.008), soft)


def test_connection_within_one_rigid_piece_is_refused() -> None:
    robot, arm = hand()
    plate = robot.add_body("plate", 0.01, (1e-6,) * 3, on=arm.tip)
    robot.connect("loop", plate.at((0, 0, 0.02)), arm.tip)
    with pytest.raises(
        pl.DescriptionError, match=r"connection 'loop'.*both are on one rigid piece"
    ):
        robot.statics()


def test_redundancy_is_seen_where_both_ends_move_with_one_rod() -> None:
    robot, arm = hand()
    fork = pl.Universal("x", "y", stiffness=0.2)
    plate = robot.add_body("plate", 0.01, (1e-6,) * 3, on=arm.tip, joint=fork)
    robot.connect("loop", plate.at((0, 0, 0)), arm.tip, joint=pl.Revolute("z"))
    with pytest.warns(
        pl.RedundancyWarning, match=r"3 redundant constraint rows: connection 'loop'"
    ):
        robot.statics(formulation=pl.BSpline(4, 12))
