"""Thin rods are found as well as stout ones: no locking.

A cantilever of bending stiffness 1 and length 1 whose shear and axial stiffness grow with the
slenderness L / r, bent far out of every plane.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pliant as pl
from tests.reference import PointLoad, RodProblem, RodSolution, solve_cantilever
from tests.validation.cases import pose_errors

SLENDERNESS = (20, 100, 400, 1000)
FORMULATIONS = [
    *(pl.BSpline(k, 12) for k in (2, 3, 4, 5)), pl.Hermite(6), pl.Spectral(3, 4),
    pl.EBA(64), pl.EBR(96), pl.ROM(8), pl.ROM(8, "free"),
]  # fmt: skip
S = (np.arange(61) + 0.5) / 61
LOADS = {
    # a load along the whole rod in one direction, one at the tip in another: smooth
    "smooth": {"tip": (0.0, 0.6, 1.2), "along": (0.0, -8.0, 4.0), "middle": (0.0, 0.0, 0.0)},
    # a load in the middle: the curvature has a kink there
    "kinked": {"tip": (0.0, 2.0, 3.0), "along": (0.0, 0.0, 0.0), "middle": (0.0, -2.0, 2.0)},
}


def stiffness(slenderness: float) -> tuple[float, float, float, float]:
    """Bending, twist, shear and axial stiffness of a solid circle with EI = L = 1, nu = 0.3."""
    axial = 4.0 * slenderness**2
    return 1.0, 1 / 1.3, axial / 2.6, axial


@functools.cache
def truth(case: str, slenderness: float) -> RodSolution:
    loads = LOADS[case]
    bending, twist, shear, axial = stiffness(slenderness)
    diagonal = np.array([bending, bending, twist, shear, shear, axial])
    return solve_cantilever(
        RodProblem(
            1.0,
            lambda s: diagonal,
            base=pl.along("x"),
            distributed=lambda s: np.array(loads["along"]),
            tip_force=loads["tip"],
            point_loads=(PointLoad(0.5, loads["middle"]),),
        ),
        rtol=1e-10,
    )


def solve(case: str, slenderness: float, formulation: pl.Formulation) -> pl.Equilibrium:
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 1.0, pl.Stiffness(*stiffness(slenderness)), pose=pl.along("x"))
    robot.add_load("tip", arm.tip, force=LOADS[case]["tip"])
    robot.add_load("along", arm, force=LOADS[case]["along"])
    robot.add_load("middle", arm.at(0.5), force=LOADS[case]["middle"])
    return robot.statics(formulation=formulation)


def test_the_rod_is_bent_far_in_space() -> None:
    for case in LOADS:
        poses = truth(case, 100).pose(np.linspace(0, 1, 11))
        assert np.linalg.norm(poses[-1, :3, 3] - [1, 0, 0]) > 0.5
        centred = poses[:, :3, 3] - poses[:, :3, 3].mean(axis=0)
        assert np.linalg.svd(centred)[1][2] > 0.008, "all in one plane"


@pytest.mark.parametrize("case", LOADS)
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_slender_rods_are_found_as_well_as_stout_ones(
    formulation: pl.Formulation, case: str
) -> None:
    errors, iterations = [], []
    for slenderness in SLENDERNESS:
        found = solve(case, slenderness, formulation)
        along = pose_errors(found.pose("arm", S), truth(case, slenderness).pose(S))
        errors.append(np.sqrt(np.mean(along**2)))
        iterations.append(found.iterations)
    assert max(errors) < 1.3 * errors[0]
    assert max(errors) < (2e-4 if case == "smooth" else 1.5e-3)
    # spectral elements and polynomials have no force fields: load steps may be cut
    assert max(iterations) <= (25 if isinstance(formulation, (pl.Spectral, pl.ROM)) else 6)
