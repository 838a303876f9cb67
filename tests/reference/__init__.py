"""Independent oracle for the tests: exact solutions and high-accuracy solvers.

Nothing here imports pliant, so that an error in pliant cannot hide in its own reference.
"""

from tests.reference.cosserat_bvp import BvpSolution, solve_bvp_cantilever
from tests.reference.cosserat_shooting import RodSolution, solve_cantilever, solve_path
from tests.reference.rod_problem import (
    PointLoad,
    RodProblem,
    base_pose,
    circular_stiffness,
    straight,
)

__all__ = [
    "BvpSolution",
    "PointLoad",
    "RodProblem",
    "RodSolution",
    "base_pose",
    "circular_stiffness",
    "solve_bvp_cantilever",
    "solve_cantilever",
    "solve_path",
    "straight",
]
