"""Short steps of robots: the scheme that suits their damping, and how many of them stability needs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pliant.model.checks import StepError
from pliant.physics.contract import opposes
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.solve.integrators.contract import ChosenSteps, step_failed
from pliant.solve.integrators.lumped.chebyshev import Chebyshev
from pliant.solve.integrators.lumped.frequency import Spectrum
from pliant.solve.integrators.lumped.leapfrog import Leapfrog
from pliant.solve.integrators.lumped.pace import Pace
from pliant.solve.integrators.lumped.scheme import Damping, Scheme
from pliant.solve.integrators.lumped.system import LumpedSystem
from pliant.solve.integrators.lumped.verlet import Verlet
from pliant.tree.work import Work

LOOK = 250
"""Short steps after which the energy balance is looked at."""
_TURN = 0.1
"""Most that a node may turn in a step by the spin that it starts with, rad."""
_SAME = 1e-9
"""Part of a short step that counts as none."""
_MOST = 2**20
"""Steps for one dt from which on they are refused."""


def failed(h: float, reason: str) -> StepError:
    """The error of explicit steps of h seconds."""
    return step_failed(h, reason, "a smaller safety, or Midpoint()", 1)


class ShortSteps:
    """Robots of one kind with the scheme that moves them, at a pace that they share.

    ends : inputs (J,) of all robots at the start and at the end of a step of h seconds.
    accounts : work and loss (2 + records,) of each robot, J.
    """

    def __init__(
        self,
        effects: Sequence[Effects],
        works: Sequence[Work],
        h: float,
        ends: tuple[Array, Array],
        accounts: Sequence[Array],
    ) -> None:
        self.system, self.pace = LumpedSystem(effects, works), Pace(h)
        damped = any(opposes(term) for item in effects for term in item.terms)
        kinds = (Verlet, Chebyshev) if damped else (Leapfrog,)
        given = (self.system, self.pace, ends, accounts)
        self._schemes: list[Scheme] = [kind(*given) for kind in kinds]
        self.scheme = self._schemes[0]
        self._spectrum = Spectrum(self.system)

    def choose(self, safety: float, longest: float | None, keeps_account: bool) -> None:
        """Choose scheme and length of the short steps from frequency, decay and spin where nodes are.

        safety : length over the stability limit.  longest : length that they may have, s.
        keeps_account : whether losses are accounted for.
        """
        damping = self._damping()
        self.scheme = min(self._schemes, key=lambda scheme: scheme.evaluations(damping))
        self.scheme.keeps_account = keeps_account
        most, h = min(safety * self.scheme.most(damping), longest or math.inf), self.pace.h
        each = max(1.0 / most, self.system.fastest_spin() / _TURN)
        count = max(1, math.ceil(h * each - _SAME))
        if count > _MOST:
            raise failed(h, f"stability would need {count} steps for one dt")
        self.pace.set(count)
        self.scheme.prepare(damping)

    def _damping(self) -> Damping:
        """How the robots vibrate, and how that dies out."""
        omega = self._spectrum.highest_frequency()
        if len(self._schemes) == 1:
            return Damping(omega, 0.0, 0.0)
        parts = [part for robot in self.system.robots for part in robot.tree.parts]
        lags = [part.lag for part in parts if part.rod is not None]
        shortest = min((float(lag.min()) for lag in lags), default=0.0)
        return Damping(omega, self._spectrum.fastest_decay(), shortest)

    @property
    def patience(self) -> int:
        """Steps of h seconds after which the energy balance is looked at."""
        return max(1, LOOK // int(self.pace.count[0]))

    @property
    def method(self) -> str:
        """How the steps are taken, in words."""
        length = float(self.pace.short[0])
        found = ChosenSteps(f"{self.scheme.name}, steps of {length:.3g} s")
        found.order, found.length = self.scheme.order, length
        return found
