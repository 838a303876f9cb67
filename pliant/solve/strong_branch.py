"""The branch from no load, followed by coordinates, as a reference for strong forms.

Load steps of a strong form see no pivots, and conjugate points tell of a lost branch only if all loads
have a potential and vary slowly along the rods. Strain modes follow the branch with the checks of
`branch_checks`; where a strong form ends elsewhere, their equilibrium is where it begins again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bvp.contract import State
from pliant.bvp.states import rest_state
from pliant.model import PliantError
from pliant.model.telling import untold
from pliant.rods.contract import Array
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.limits import OTHER
from pliant.solve.problem import Still
from pliant.solve.registry import strain_modes
from pliant.solve.stability import directions, judge

if TYPE_CHECKING:
    from pliant.solve.strong import StrongProblem

_SAME = 1e-3
"""Distance, relative to the length of all rods, below which two equilibria are one."""
_SECTIONS, _KNOTS = 17, 33
"""Sections of a rod that are compared, and knots on each piece of a state."""


@dataclass(frozen=True)
class Reference:
    """The equilibrium of a chain that strain modes find on the branch from no load."""

    chain: StrongProblem
    problem: CoordinateProblem
    still: Still

    def is_at(self, state: State) -> bool:
        """Whether a state of the chain is the same equilibrium."""
        return self.distance(state) <= _SAME * self.chain.chain.length

    def distance(self, state: State) -> float:
        """Largest distance of a section of a state of the chain from here, m."""
        sampler, q, apart = self.problem.sampler, self.still.solution.q, [0.0]
        for rod in self.chain.chain.rods:
            s = np.linspace(0.0, rod.length, _SECTIONS)
            gap = sampler.poses(q, rod.name, s) - self.chain.sampler.poses(state, rod.name, s)
            apart.append(float(np.linalg.norm(gap[:, :3, 3], axis=1).max()))
        return max(apart)

    def verdict(self) -> tuple[bool | None, str]:
        """Whether it is stable, with the reason."""
        stable, note = judge(self.problem.effects, self.still.solution)
        return stable, f"{note}, with {strain_modes()}"

    def state(self) -> State:
        """The equilibrium as a state of the chain."""
        chain, sampler, q = self.chain.chain, self.problem.sampler, self.still.solution.q
        found = rest_state(chain, np.eye(4), _KNOTS)
        for k, piece in enumerate(chain.pieces):
            rows = found.piece == k
            s = piece.inside(found.s[rows])
            found.pose[rows] = sampler.poses(q, piece.rod.name, found.s[rows])
            found.strain[rows] = sampler.strains(q, piece.rod.name, s)
            found.wrench[rows] = self._wrench(piece.rod, s)
        return found

    def _wrench(self, rod: Any, s: Array) -> Array:
        """Internal wrenches (S, 6), just inside of what acts at the ends."""
        ends = 1e-9 * rod.length
        inside = np.clip(s, s[0] + ends, s[-1] - ends)
        return self.problem.wrenches(self.still, rod, inside, "balance")


def reference(chain: StrongProblem, values: Mapping[str, Any]) -> Reference | None:
    """The equilibrium under input values by strain modes, None if they find none."""
    formulations = dict.fromkeys(chain.formulations, strain_modes())
    try:
        with untold():
            problem = CoordinateProblem(chain.description, formulations)
            return Reference(chain, problem, problem.statics(values, None, 1e-9, None))
    except PliantError:
        return None


def judge_chain(chain: StrongProblem, still: Still) -> tuple[bool | None, str]:
    """Return True, False or None with the reason, for an equilibrium that a strong form found.

    Conjugate points tell if the loads have a potential. If not, the robot is solved with strain modes
    and judged by its small motions, provided that these find the same equilibrium.
    """
    share, values = still.applied[-1]
    state = still.solution.q
    unknown = "dead moments and follower loads have no energy to judge by"
    if chain.stability.conservative(values):
        count = chain.stability.falling(state, values, share)
        if count == 0:
            return True, "the energy rises in every direction: there is no conjugate point"
        if count is not None:
            return (
                False,
                f"the energy falls in {directions(count)}, by the count of conjugate points",
            )
        unknown = "the loads vary too quickly along the rods to count conjugate points"
    if share < 1.0:
        return None, f"{unknown}, and only a part of the load is carried"
    other = reference(chain, values)
    if other is None:
        return None, f"{unknown}, and {strain_modes()} does not find this equilibrium"
    if not other.is_at(state):
        return None, f"{unknown}, and {strain_modes()} {OTHER}"
    return other.verdict()
