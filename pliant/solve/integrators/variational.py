"""The explicit variational integrator (Xun et al. 54-55), and steps that damp what they do not resolve.

Both have all impulses where the effects have them. With share = 0 stresses and loads are those of the
start of a step,

    Ld = h [ 1/2 sum eta.M eta - U(ea) - V(qa) ],

which is explicit (the printed equation (54) has the adjoint where dexp^-T stands here, and the opposite
sign of the potential in the Lagrangian). With share = 1 stresses are those of its end, as in the
implicit Euler rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.engine.arrays import combine, copy
from pliant.engine.program import ask
from pliant.model.fields import Number, holds
from pliant.physics.effects import Effects
from pliant.physics.met_strains import meet_between
from pliant.solve.integrators.contract import Integrator, Stepper
from pliant.solve.integrators.momenta import MomentumStepper
from pliant.tree.backward import gather, gather_form
from pliant.tree.state import State


@dataclass(frozen=True)
class Variational(Integrator):
    """The explicit variational integrator of the Lie-group framework: cheap, conditionally stable.

    The step must stay below 2 / omega, omega the highest frequency of the discretised robot.
    tolerance : residual of a step relative to the momenta in play.
    """

    tolerance: float = holds(Number(sign="positive", example="1e-10"), 1e-10)
    variational: ClassVar[bool] = True
    halves: ClassVar[bool] = False

    @property
    def order(self) -> int:
        """One: loads act by their values at the start of the step."""
        return 1

    @property
    def drift_order(self) -> int:
        """Two, as of the leapfrog rule, to which it is conjugate."""
        return 2

    def stepper(self, effects: Effects, h: float) -> Stepper:
        return OwnEndsStepper(effects, h, self.tolerance, 0.0)


class OwnEndsStepper(MomentumStepper):
    """Steps in which every impulse acts with the directions of its own end.

    share : stresses are those of the start of a step (0), of its middle (1/2), half of which leave the
    start and half arrive at the end, or of its end (1).
    """

    def __init__(self, effects: Effects, h: float, tolerance: float, share: float) -> None:
        super().__init__(effects, h, tolerance, share > 0.0, 0.5 if share == 0.5 else 1.0)
        self.share = share

    def set_residual(self, a: State, b: State, tangent: bool) -> None:
        """All impulses that leave the start of the step."""
        work = self.workspace
        self.set_momenta(a, b, tangent)
        meet_between(work, a, b, self.h, self.share)
        step = self.step(a, b, work, tangent)
        for term in self.effects.terms:
            ask(term.go, step)
        gather(self.tree, a, work, work.residual)
        if tangent:
            gather_form(self.tree, a, b, work, self.tangent)
        combine(1.0, work.residual, -1.0, self.goal, self.left)
        self.measure_left()

    def arrive(self, a: State, b: State) -> None:
        """Momenta, and what stresses and effects have at the end of the step."""
        work, rest = self.workspace, 1.0 - 1.0 / self.first
        stresses = [np.zeros(w.sigma.shape) for w in work.parts]
        for w, stress in zip(work.parts, stresses, strict=True):
            combine(rest, w.sigma, 0.0, w.sigma, stress)
        work.clear(False)
        for w, stress in zip(work.parts, stresses, strict=True):
            copy(w.pb, w.p)
            copy(stress, w.sigma)
            w.mass = True
        step = self.step(a, b, work, False)
        for term in self.effects.terms:
            ask(term.arrive, step)
        gather(self.tree, b, work, work.residual)
