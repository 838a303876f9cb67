"""The midpoint integrator: forces of the middle of a step, half at each of its ends.

Stresses are taken once in a step, at the mean strain, or where an effect has a potential of another
measure as its secant slope between both ends. With directions of motion Ja at the start and Jb at the
end, the impulses

    Fa = h/2 (Ja^T p + Ba^T sigma),      Fb = h/2 (Jb^T p + Bb^T sigma)

leave the start and arrive at the end: the stationarity of the discrete Lagrangian

    Ld = h [ 1/2 sum eta.M eta - U((ea + eb)/2) ] - h/2 [V(qa) + V(qb)],

whose motions have no drift of energy. But it is explicit in geometric stiffness, sigma . d^2 e: a
section of a rod under a compressive force P, with its small rotary inertia rho I, gains energy in steps
above 2 sqrt(rho I / P). Tendons and chambers squeeze a rod so for good. Where there are such, the mean
of both impulses acts at both ends,

    pa^+ + mean(Fa, Fb) = pa,      pb = pb^- - mean(Fa, Fb),

with the momenta pa^+ and pb^- of `momenta`. Means of forces on poses are taken in the world
(`lie.mean_forces`), so that linear and angular momentum are kept, and the rule is its own inverse in
time: it has order two.

Hard rows have no such mean: they hold at the end of a step by an impulse at its start. Of tendons that
cannot stretch the multiplier of the last step is part of the mean force, and that of the step, the
whole tension, adds what is missing at the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, combine, copy
from pliant.engine.program import ask, run
from pliant.model.fields import Number, holds
from pliant.physics.effects import Effects, Inputs
from pliant.physics.met_strains import meet_between
from pliant.rods.contract import Array
from pliant.solve.integrators.contract import Integrator, Stepper
from pliant.solve.integrators.momenta import MomentumStepper
from pliant.solve.integrators.variational import OwnEndsStepper
from pliant.tree.backward import gather, gather_form, gather_tangent
from pliant.tree.state import State
from pliant.tree.work import Work


@dataclass(frozen=True)
class Midpoint(Integrator):
    """Implicit midpoint integrator: second order, no numerical damping, momentum kept.

    It stands steps far longer than the shear and stretch waves of a rod. Where the step is too long
    even for fast bending at large rotation and nothing damps it, energy can grow; simulate() warns.

    tolerance : residual of a step relative to the momenta in play.
    """

    tolerance: float = holds(Number(sign="positive", example="3e-7"), 3e-7)
    variational: ClassVar[bool] = True

    def stepper(self, effects: Effects, h: float) -> Stepper:
        if effects.squeezed:
            return MeanForceStepper(effects, h, self.tolerance)
        return OwnEndsStepper(effects, h, self.tolerance, 0.5)

    def damped_stepper(self, effects: Effects, h: float) -> Stepper:
        """Stresses act as they are at the end of the step, as in implicit Euler."""
        return OwnEndsStepper(effects, h, self.tolerance, 1.0)


class MeanForceStepper(MomentumStepper):
    """Steps of `Midpoint` in rods that are squeezed: half of the mean force leaves the start, half
    arrives at the end.

    Fa, Fb (total,) : half of the impulses of all effects but those that are `whole`, with the
    directions at a and at b; the momenta of both ends stand in `whole` and in `pb`. carried (total,) :
    multipliers of the last step of hard rows that squeeze; arrived : h / 2 times those of the one
    before, whose impulses have arrived at a; lag_a, lag_whole : what they add to Fa and to `whole`.
    """

    def __init__(self, effects: Effects, h: float, tolerance: float) -> None:
        super().__init__(effects, h, tolerance, True, 0.5)
        total = self.tree.total
        self.Fa, self.Fb, self.mean_force, self.whole = (np.zeros(total) for _ in range(4))
        self.end = Work(self.tree)
        self.pb = [np.zeros(w.pb.shape) for w in self.workspace.parts]
        self._whole = [term for term in effects.terms if term.whole]
        self._shared = [term for term in effects.terms if not term.whole]
        self._lagging = [term for term in effects.hard if term.squeezes]
        self.carried, self.lag_a, self.lag_whole, self.arrived = (np.zeros(total) for _ in range(4))
        self.stresses = [np.zeros(w.sigma.shape) for w in self.workspace.parts]

    def begin_motion(self, v: Array, inputs: Inputs) -> None:
        super().begin_motion(v, inputs)
        clear(self.arrived)

    def begin_step(self, a: State, b: State) -> None:
        """Set also the impulses of hard rows that squeeze, with their multipliers of the last step."""
        super().begin_step(a, b)
        if not self._lagging:
            return
        clear(self.carried)
        for term in self._lagging:
            run(carry, term.rows, self.z, self.carried)
        combine(1.0, self.arrived, 0.5 * self.h, self.carried, self.impacts.lag)
        self._set_row_forces(a, self.carried, 0.5 * self.h, self.lag_a)
        self._set_row_forces(a, self.impacts.lag, -1.0, self.lag_whole)

    def _set_row_forces(self, a: State, multipliers: Array, scale: float, out: Array) -> None:
        work = self.end
        work.clear(False)
        for term in self._lagging:
            ask(term.add_forces, a, multipliers, work, scale)
        gather(self.tree, a, work, work.residual)
        copy(work.residual, out)

    def set_residual(self, a: State, b: State, tangent: bool) -> None:
        tree, work = self.tree, self.workspace
        self.set_momenta(a, b, tangent)
        meet_between(work, a, b, self.h, 0.5)
        step = self.step(a, b, work, tangent)
        for term in self._whole:
            ask(term.go, step)
        gather(tree, a, work, work.residual)
        combine(1.0, work.residual, 1.0, self.lag_whole, self.whole)
        for w, pb, stress in zip(work.parts, self.pb, self.stresses, strict=True):
            copy(w.pb, pb)
            copy(w.sigma, stress)
            for array in (w.p, w.pb, w.sigma, w.ry):
                clear(array)
        clear(work.residual)
        for term in self._shared:
            ask(term.go, step)
        gather(tree, a, work, work.residual)
        combine(1.0, work.residual, 1.0, self.given, self.Fa)
        combine(1.0, self.Fa, 1.0, self.lag_a, self.Fa)
        if tangent:
            gather_form(tree, a, b, work, self.tangent)
        self._set_end_force(a, b, tangent)
        tree.set_mean_force(a, b, self.Fa, self.Fb, self.mean_force)
        run(join, self.effects.gap_rows, self.whole, self.Fa, self.mean_force, self.p, self.left)
        self.measure_left()

    def _set_end_force(self, a: State, b: State, tangent: bool) -> None:
        """Set Fb, and add the second derivatives of the map that its share meets."""
        end = self.end
        end.clear(tangent)
        step = self.step(a, b, end, tangent)
        for term in self._shared:
            ask(term.arrive, step)
        mass = [e.mass for e in end.parts]
        for e, w in zip(end.parts, self.workspace.parts, strict=True):  # what arrives is minus Fb
            combine(-0.5, e.p, -0.5, w.pb, e.p)
            combine(-0.5, e.sigma, 0.5, w.sigma, e.sigma)
            for array in (e.inner, e.ry, *([e.k] if tangent else [])):
                combine(-0.5, array, 0.0, array, array)
            e.mass = True
        combine(-0.5, end.residual, 0.0, end.residual, end.residual)
        for row in self._lagging:
            ask(row.add_forces, b, self.carried, end, 0.25 * self.h)
            if tangent:
                ask(row.add_bends, b, self.carried, end, 0.25 * self.h)
        gather(self.tree, b, end, end.residual)
        combine(2.0, end.residual, 0.0, end.residual, self.Fb)
        if tangent:
            for e, acts in zip(end.parts, mass, strict=True):
                e.mass = acts
            gather_tangent(self.tree, b, end, self.tangent)

    def arrive(self, a: State, b: State) -> None:
        """Momenta, less the mean force, with what whole effects have at the end of the step."""
        work = self.workspace
        self._set_end_force(a, b, False)
        self.tree.set_mean_force(b, a, self.Fb, self.Fa, self.mean_force)
        work.clear(False)
        for w, pb, stress in zip(work.parts, self.pb, self.stresses, strict=True):
            copy(pb, w.p)
            combine(-1.0, stress, 0.0, stress, w.sigma)
            w.mass = True
        combine(0.5 * self.h, self.carried, 0.0, self.carried, self.arrived)
        step = self.step(a, b, work, False)
        for term in self._whole:
            ask(term.arrive, step)
        gather(self.tree, b, work, work.residual)
        combine(1.0, work.residual, -1.0, self.mean_force, work.residual)


@kernel
def carry(rows, z, out):  # type: ignore[no-untyped-def]
    """out = z in some rows where it pulls, both (total,)."""
    for at in rows:
        out[at] = max(z[at], 0.0)


@kernel
def join(rows, whole, Fa, mean, p, left):  # type: ignore[no-untyped-def]
    """left = whole + mean - p, all (total,); gaps in some rows stand in `whole` and Fa."""
    for i in range(left.shape[0]):
        left[i] = whole[i] + mean[i] - p[i]
    for at in rows:
        left[at] = whole[at] + Fa[at]
