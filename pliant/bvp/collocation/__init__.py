"""Chebyshev collocation of the rod equations, static and dynamic.

After Jilani, Villard and Kerrien, "An Orthogonal Collocation Method for Static and Dynamic Cosserat
Rods" (2023): internal moment and force are polynomials, each with its own number of nodes. Beyond
that paper:

* Equations are met in integral form. The unknown loads give strains, strains a shape and its motion,
  and these, integrated from the tip, the loads that they need: both must agree at the nodes. These
  are equations of the second kind (identity plus integral operators), well conditioned for any time
  step, where derivatives of polynomials are not.
* The moment is unknown in the body frame, so that the quaternions follow from a linear equation; the
  force in the world frame, where dead loads leave it constant or linear however the rod winds. It only
  enters through shear and stretch: balance always uses the integrated force, and a rod without shear
  and stretch has no force unknowns.
* Shape and histories live on a finer Chebyshev grid, on which all integrals are spectral; nothing is
  interpolated between time steps. The derivative of all this is exact, by the same integrals.
* Numbers of nodes and grid points follow from the decay of the coefficients, per solve and per step.
* Each smooth stretch between point loads, bodies and joints has polynomials of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from pliant.bvp.chain import Chain
from pliant.bvp.collocation.grid import Policy
from pliant.bvp.contract import StrongForm, StrongSolver
from pliant.model import DescriptionError
from pliant.model.checks import as_float

LEAST_GRID = 4


@dataclass(frozen=True)
class Collocation(StrongForm):
    """Chebyshev collocation on internal moment and force.

    nodes : in each smooth stretch of rod: a number for both, a pair (force nodes, moment nodes), or
        "auto" to choose them from the decay of the Chebyshev coefficients.
    history_nodes : points in each stretch that carry pose, strain, velocity and their histories in
        time; not fewer than nodes. "auto" to choose.
    tolerance : relative; of coefficients that are left out, and of the equations in a time step.
        None for 1e-10, and for 1e-8 in motion where nodes are chosen: time steps err by more.
    """

    nodes: str | int | tuple[int, int] = "auto"
    history_nodes: str | int = "auto"
    tolerance: float | None = None

    def __post_init__(self) -> None:
        pair = self.nodes if isinstance(self.nodes, tuple | list) else (self.nodes, self.nodes)
        if len(pair) != 2 or not all(_is_count(n, 1) for n in pair):
            raise DescriptionError(
                "Collocation",
                "nodes",
                self.nodes,
                'a number of at least 1, a pair (force nodes, moment nodes) of such, or "auto"',
                "give e.g. nodes=16",
            )
        if isinstance(self.nodes, list):
            object.__setattr__(self, "nodes", tuple(self.nodes))
        least = max([LEAST_GRID, *(n for n in pair if isinstance(n, int))])
        if not _is_count(self.history_nodes, least):
            raise DescriptionError(
                "Collocation",
                "history_nodes",
                self.history_nodes,
                f'a number of at least {least}, not fewer than nodes, or "auto"',
                f"give e.g. history_nodes={2 * least}",
            )
        found = 1e-10 if self.tolerance is None else as_float(self.tolerance)
        if found is None or not 1e-14 <= found <= 1e-2:
            raise DescriptionError(
                "Collocation",
                "tolerance",
                self.tolerance,
                "a number between 1e-14 and 1e-2",
                "give e.g. tolerance=1e-10",
            )

    def coarser(self, rod: str, factor: int) -> Self:
        """Fewer nodes, or where they are chosen a tolerance with fewer digits.

        Errors fall exponentially with nodes, so that two thirds of them do for half the intervals.
        """
        if self.nodes == "auto":
            return replace(self, tolerance=self.policy(motion=True).tolerance ** (1.0 / factor))
        pair = self.nodes if isinstance(self.nodes, tuple) else (self.nodes, self.nodes)
        force, moment = (
            n if isinstance(n, str) else max(1, round(2 * n / (1 + factor))) for n in pair
        )
        return replace(self, nodes=(force, moment))  # type: ignore[arg-type]

    def policy(self, motion: bool = False) -> Policy:
        """Which numbers of points are given and which are chosen, at rest or in motion."""
        pair = self.nodes if isinstance(self.nodes, tuple) else (self.nodes, self.nodes)
        force, moment = (n if isinstance(n, int) else None for n in pair)
        grid = self.history_nodes if isinstance(self.history_nodes, int) else None
        still, moving = (1e-10, 1e-8) if self.tolerance is None else (self.tolerance,) * 2
        if None not in (force, moment):
            moving = still
        return Policy(force, moment, grid, float(moving if motion else still))

    def solver(self, chain: Chain, rate: float = 0.0) -> StrongSolver:
        """Return a solver for `chain`; it chooses its points as it goes."""
        from pliant.bvp.collocation.solver import CollocationSolver

        return CollocationSolver(chain, self.policy(), self.policy(motion=True))


def _is_count(value: object, least: int) -> bool:
    if isinstance(value, str):
        return value == "auto"
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= 1000
