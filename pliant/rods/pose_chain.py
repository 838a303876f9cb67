"""Rods whose coordinates are the increments between poses, one after the other from the base.

The variations x are the twists of these poses, see `chain`; what lies between poses is the business of
each formulation.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from pliant.engine.program import run
from pliant.lie.mean_forces import mean_wrenches
from pliant.rods import chain
from pliant.rods.contract import (
    NO_TURNS,
    Array,
    Configuration,
    Ints,
    KernelMap,
    OwnConfiguration,
    OwnPlan,
    Plan,
    identities,
)


class OnePassMap(KernelMap):
    """A map that finds frames and strains at the stations of a plan in one pass."""

    shares_plans: ClassVar[bool] = True

    @abstractmethod
    def plan(self, s: Array) -> Plan:
        """Plan for frames and strains at s (S,)."""

    @abstractmethod
    def evaluate(self, plan: OwnPlan, c: OwnConfiguration, frames: bool, strains: bool) -> None:
        """Write frames and strains at the stations of a plan, as wanted."""

    def frames(self, s: Array) -> Plan:
        return self.plan(np.asarray(s, dtype=float))

    def strains(self, s: Array) -> Plan:
        return self.plan(np.asarray(s, dtype=float))

    def frame(self, plan: OwnPlan, c: OwnConfiguration) -> None:
        self.evaluate(plan, c, True, False)

    def strain(self, plan: OwnPlan, c: OwnConfiguration) -> None:
        self.evaluate(plan, c, False, True)

    def frame_and_strain(self, plan: OwnPlan, c: OwnConfiguration) -> None:
        self.evaluate(plan, c, True, True)


class ChainConfiguration(Configuration):
    """Poses (n+1, 4, 4) and the tangents D+, D- (n, 6, 6) of the increments psi (n, 6) between them."""

    def __init__(self, increments: int, nq: int) -> None:
        super().__init__(nq)
        self.psi = self.q.reshape(-1, 6)
        self.controls = identities(increments + 1)
        self.plus = np.zeros((increments, 6, 6))
        self.minus = np.zeros((increments, 6, 6))


class PoseChainMap(OnePassMap):
    """The map of a chain of poses; x = (twist of pose 0, ..., twist of pose n).

    kind : EXP or CAYLEY, by which increments are stored.  increments : n.
    """

    kind: int
    increments: int
    first: Ints
    """(E,): the first increment of each element."""

    def configuration(self) -> ChainConfiguration:
        return ChainConfiguration(self.increments, self.nq)

    def update(self, c: OwnConfiguration, base: Array, q: Array) -> None:
        super().update(c, base, q)
        self.set_increments(c)
        run(chain.propagate, self.kind, c.base, c.psi, c.controls, c.plus, c.minus)

    def set_increments(self, c: OwnConfiguration) -> None:
        """Set c.psi where the increments are not the coordinates themselves."""

    def retract_to(self, c: OwnConfiguration, base: Array, x: Array, out: Array) -> None:
        twists, psi = x.reshape(-1, 6), out.reshape(-1, 6)
        run(chain.retract_increments, self.kind, c.controls, base, twists, psi)

    def advance_to(self, c: OwnConfiguration, base: Array, x: Array, out: Array) -> None:
        twists, psi = x.reshape(-1, 6), out.reshape(-1, 6)
        run(chain.advance_increments, c.psi, c.plus, c.minus, twists, psi)

    def chart_entries(self) -> tuple[Ints, Ints]:
        return np.arange(self.nv, dtype=np.int64).reshape(-1, 6), NO_TURNS

    def set_mean_force(
        self,
        c: OwnConfiguration,
        other: OwnConfiguration,
        index: Ints,
        r: Array,
        far: Array,
        out: Array,
    ) -> None:
        poses, own = (c.controls, other.controls), np.arange(1, self.increments + 1)
        run(mean_wrenches, *poses, own, index.reshape(-1, 6), r, far, out)
