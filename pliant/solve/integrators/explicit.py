"""Explicit integration of robots whose inertia is lumped at nodes: no equations to solve.

A step of h seconds drifts by half a step, kicks, and drifts by half a step. Without damping the kick
is the force-gradient one of Takahashi and Imada, with the derivative of the accelerations a along a,

    V += h (a + h^2 / 12 Da[a]),

by a second evaluation of the forces on nodes that are shifted along a.

It is of second order, but conjugate to a method of fourth order: a motion begins at nodes and momenta
that are processed by h^2 / 24 {T, V}, and outputs undo that, so results are of order four. With damping
the kick takes velocities in its middle and is of second order (Verlet).

The stability limit is h omega = sqrt(12), or 2 with damping, omega the highest frequency of the
discretised robot. `dt` is the time between inputs; each is cut into as many steps as stability needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, combine, copy
from pliant.engine.program import Program, ask, record, repeat, run
from pliant.model import DescriptionError, Rod
from pliant.model.checks import number
from pliant.physics.contract import KernelTerm, Moment, Term
from pliant.physics.effects import Effects, Inputs
from pliant.physics.met_strains import meet_at_rest, meet_moving
from pliant.rods.contract import Array, RodModel
from pliant.solve import loops
from pliant.solve.integrators import rigid_nodes
from pliant.solve.integrators.contract import Integrator, StepError, Stepper, step_failed
from pliant.solve.integrators.energy_watch import EnergyWatch
from pliant.solve.integrators.node_motion import NodeMotion
from pliant.solve.newton import Policy
from pliant.tree.nodes import Nodes
from pliant.tree.state import State

_POWERS = 60
"""Power iterations for the highest frequency."""
_LIMIT, _DAMPED_LIMIT = math.sqrt(12.0), 2.0
"""Stability limits of h omega."""
_LOOK = 250
"""Short steps after which the energy balance is looked at."""
_RUNGS = (0.6, 0.42, 0.3, 0.2)
"""Length of short steps, relative to those of the start, each time that the balance does not hold."""
_TURN = 0.1
"""Most that a node may turn in a step by the spin that it starts with, rad."""
_MOST = 2**20
"""Steps for one dt from which on they are refused."""
POLICY = Policy(iterations=1)


@dataclass(frozen=True)
class Explicit(Integrator):
    """Explicit integrator for robots with lumped inertia: many cheap steps near their stability limit.

    Rods are spectral elements unless you choose another formulation with lumped inertia.

    Positions are of fourth order in the steps without damping, of second order with damping. Joints
    other than clamps and Free(), constraints and prescribed motions are refused. Strong damping makes
    steps short; Midpoint() is the better choice then.

    Undamped motions of soft rods carry energy to ever shorter waves. From the time at which it reaches
    the grid, steps near the limit would gain energy: they are shortened when the energy balance shows
    it, and you are told the time, for from then on the motion depends on the mesh.

    safety : length of the first steps relative to the stability limit, between 0 and 1.
    """

    safety: float = 0.9
    halves: ClassVar[bool] = False

    def __post_init__(self) -> None:
        value = number("Explicit", "safety", self.safety, "", "give e.g. 0.9", "positive")
        if value > 1.0:
            raise DescriptionError(
                "Explicit", "safety", self.safety, "at most 1, the stability limit", "give e.g. 0.9"
            )
        object.__setattr__(self, "safety", value)

    @property
    def order(self) -> int:
        """Four without damping."""
        return 4

    def formulations(self, rods: Mapping[str, Rod]) -> dict[str, RodModel]:
        """Nodes with lumped inertia."""
        from pliant.solve.registry import lumped_formulation

        own = [name for name, rod in rods.items() if rod.formulation is None]
        return dict.fromkeys(own, lumped_formulation())

    def stepper(self, effects: Effects, h: float) -> Stepper:
        return ExplicitStepper(effects, h, self.safety)


def _check(effects: Effects) -> None:
    """Refuse what explicit steps cannot carry."""
    if effects.rows:
        term = effects.rows[0]
        name = getattr(term.source, "label", "a rod whose strains are held")
        raise DescriptionError(
            name, "integrator", "Explicit()", "one that solves for constraints", "use Midpoint()"
        )
    if effects.prescribed.names:
        name = effects.prescribed.names[0]
        raise DescriptionError(
            f"input {name!r}", "integrator", "Explicit()", "one for prescribed motions",
            "use Midpoint()",
        )  # fmt: skip


def _opposes(term: Term) -> bool:
    """Whether a term may oppose velocities."""
    own = type(term).add_power_lost not in (Term.add_power_lost, KernelTerm.add_power_lost)
    return bool(getattr(term, "resists", own))


class ExplicitStepper(Stepper):
    """Steps of `Explicit`: several short ones for every step of h seconds.

    The nodes live in the state `core`, before they are processed for outputs.
    """

    def __init__(self, effects: Effects, h: float, safety: float) -> None:
        super().__init__(effects, h, POLICY, 1e-12)
        self.safety = safety
        self.core = State(self.tree).place(self.tree.q_rest)
        self.nodes = Nodes(self.tree, self.core, self.workspace)
        _check(effects)
        pairs = zip(self.nodes.parts, self.nodes.inertia, strict=True)
        self.motions = [NodeMotion(nodes, inertia) for nodes, inertia in pairs]
        self.damped = any(_opposes(term) for term in effects.terms)
        self.counts[loops.KNOWS_LAST] = -1
        self.more = np.zeros(1, dtype=np.int64)
        """Short steps in a step of h seconds, less one."""
        self.short, self.gradient, self.share = np.ones(1), np.ones(1), np.ones(1)
        """Their length, s; its square over 12, s^2; part of h that each of them is."""
        self.passed, self.acting = np.zeros(1), np.zeros(effects.inputs)
        """Part of h that is over, and inputs that act."""
        self._rates, self._sizes = np.zeros(self.tree.total), np.zeros(1)
        self._searching: Program | None = None
        self.watch, self.wait = EnergyWatch(effects), np.zeros(2, dtype=np.int64)
        """The energy balance; steps until it is looked at, and steps taken."""
        self.rung, self.shortened = np.zeros(1, dtype=np.int64), np.zeros(1)
        """How often the short steps were shortened, and when that was first, s."""
        self._start: list[Array] = []

    # -- state -------------------------------------------------------------------------------

    def begin_motion(self, v: Array, inputs: Inputs) -> None:
        self.a.place(self.q)
        self.core.place(self.q)
        self.nodes.renew()
        self.acting[...], self._rates[...] = inputs.u, v
        for motion in self.motions:
            self._set_momenta(motion, v)
            motion.set_rates()
        self.rung[0], self.wait[1] = 0, 0
        self._choose_steps()
        if not self.damped:
            self._process(0.5)
        if self.books:
            self.watch.start(self.a, self._rates, self.account)
            self._keep_start()

    def _set_momenta(self, motion: NodeMotion, v: Array) -> None:
        """Set the momenta of nodes with rates v (total,)."""
        nodes, (V, L) = motion.nodes, motion.rates
        for i in np.flatnonzero(motion.moving):
            twist = v[nodes.numbers[i]]
            L[i] = motion.about[i] @ twist[:3]
            arm = np.cross(twist[:3], motion.centre[i])
            V[i] = nodes.poses[i, :3, :3] @ (twist[3:] + arm)

    def _choose_steps(self) -> None:
        """Choose the length of the short steps from the highest frequency and the fastest spin here."""
        omega, limit = self._highest_frequency(), _LIMIT
        if self.damped:
            lag = max(float(w.lag.max(initial=0.0)) for w in self.workspace.parts)
            limit = _DAMPED_LIMIT * (math.hypot(1.0, 0.5 * omega * lag) - 0.5 * omega * lag)
        spin = max(float(np.linalg.norm(x.nodes.spin, axis=1).max()) for x in self.motions)
        most = max(omega / (self.safety * limit), spin / _TURN)
        count = max(1, math.ceil(self.h * most))
        if count > _MOST:
            raise self.error(f"stability would need {count} steps for one dt")
        self._set_steps(count)

    def _set_steps(self, count: int) -> None:
        """Take `count` short steps for each step of h seconds."""
        self.more[0], self.share[0] = count - 1, 1.0 / count
        self.short[0] = self.h / count
        self.gradient[0] = self.short[0] ** 2 / 12.0
        self.wait[0] = max(1, _LOOK // count)

    def _highest_frequency(self) -> float:
        """Highest frequency of the robot where the nodes are, rad/s, by power iteration."""
        rng = np.random.default_rng(0)
        for motion in self.motions:
            motion.ahead[...] = rng.normal(size=motion.ahead.shape)
            motion.ahead[1] *= motion.mass[:, None] * self.tree.length
            motion.keep_nodes()
        if self._searching is None:
            self._searching = record(self._power_iteration)
        for _ in range(_POWERS):
            self._searching()
        return float(self._sizes[0]) ** 0.25

    def _power_iteration(self) -> None:
        """Let `ahead`, scaled to unit size, become the change of accelerations along itself.

        The squared size that it had is left behind: omega^4 in the end.
        """
        clear(self._sizes)
        for motion in self.motions:
            body = (motion.moving, motion.mass, motion.inverse)
            run(rigid_nodes.add_size, *body, *motion.ahead, self._sizes)
        for motion in self.motions:
            run(rigid_nodes.normalise, self._sizes, *motion.ahead)
        for side in (1.0, -1.0):
            for motion in self.motions:
                motion.shift(side, _TINY, motion.ahead)
            self._accelerate(moving=False)
            for motion in self.motions:
                motion.restore_nodes()
                if side > 0.0:
                    copy(motion.pulls, motion.behind)
        scale = 0.5 / float(_TINY[0])
        for motion in self.motions:
            combine(scale, motion.behind, -scale, motion.pulls, motion.ahead)

    def velocity(self) -> Array:
        return self._rates

    def note_rates(self, b: State) -> None:
        copy(self._rates, self.rates)

    def remembered(self) -> list[Any]:
        own = [x for motion in self.motions for x in vars(motion).values()]
        nodes = [x for item in self.nodes.parts for x in (item.poses, item.quaternions)]
        own = [x for x in own if isinstance(x, np.ndarray)]
        return [*super().remembered(), *own, *nodes, self.watch.known]

    def resume(self) -> None:
        super().resume()
        if self.books:
            self._keep_start()

    # -- short steps ---------------------------------------------------------------------------

    def _accelerate(self, moving: bool) -> None:
        """Set what acts on all nodes where they are; moving : with what opposes velocities."""
        work, nodes = self.workspace, self.nodes
        nodes.place()
        work.clear(False)
        if moving:
            for motion in self.motions:
                motion.set_rates()
            nodes.set_rates()
            meet_moving(work, self.core, 0.0)
        else:
            meet_at_rest(work, self.core)
        moment = self._moment(moving)
        for term in self.effects.terms:
            ask(term.act, moment)
        nodes.gather()
        for motion in self.motions:
            motion.set_pulls()

    def _moment(self, moving: bool) -> Moment:
        v = self._rates if moving else None
        return Moment(self.tree, self.core, self.workspace, self.acting, self.z, v=v)

    def _kick(self) -> None:
        """Kick the nodes where they are, with the inputs of the middle of the short step."""
        inputs = (self.before, self.after, self.acting)
        run(rigid_nodes.mix_inputs, self.share, self.passed, *inputs)
        if self.damped:
            self._kick_damped()
            return
        self._accelerate(moving=False)
        for motion in self.motions:
            motion.keep_nodes()
            copy(motion.pulls, motion.behind)
            motion.shift(_PART, self.gradient, motion.behind)
        self._accelerate(moving=False)
        for motion in self.motions:
            motion.restore_nodes()
            pulls, less = motion.pulls, 1.0 - 1.0 / _PART
            combine(1.0 / _PART, pulls, less, motion.behind, pulls)
            turned = (motion.inverse, motion.behind[1], motion.pulls[1])
            run(rigid_nodes.add_turned, self.gradient, motion.moving, *turned)
            motion.kick(1.0, self.short)

    def _kick_damped(self) -> None:
        """Kick with the velocities of the middle of the kick."""
        self._accelerate(moving=True)
        for motion in self.motions:
            copy(motion.rates, motion.kept_rates)
            motion.kick(0.5, self.short)
        self._accelerate(moving=True)
        if self.books:
            lost, moment = np.zeros(1), self._moment(True)
            clear(lost)
            for term in self.effects.terms:
                ask(term.add_power_lost, moment, 1.0, lost)
            run(rigid_nodes.add_loss, self.short, lost, self.account)
        for motion in self.motions:
            copy(motion.kept_rates, motion.rates)
            motion.kick(1.0, self.short)

    def _drift(self, factor: float) -> None:
        for motion in self.motions:
            motion.drift(factor, self.short)

    def _kick_and_drift(self) -> None:
        self._kick()
        self._drift(1.0)

    def _advance(self, b: State) -> None:
        """Take all short steps, and set b and the rates as the processed nodes have them."""
        clear(self.passed)
        self._drift(0.5)
        repeat(self.more, self._kick_and_drift)
        self._kick()
        self._drift(0.5)
        kept = [
            (x, np.zeros_like(x))
            for motion in self.motions
            for x in (motion.rates, motion.nodes.poses, motion.nodes.quaternions)
        ]
        for x, out in kept:
            copy(x, out)
        if not self.damped:
            copy(self.after[: len(self.acting)], self.acting)
            self._process(-0.5)
        self.nodes.place()
        self.nodes.set_coordinates(b.q)
        for motion in self.motions:
            motion.set_rates()
            nodes = motion.nodes
            given = (nodes.numbers, nodes.poses, nodes.spin, nodes.velocity)
            run(rigid_nodes.write_rates, motion.moving, *given, self._rates)
        for x, out in kept:
            copy(out, x)

    def _process(self, sign: float) -> None:
        """Process nodes and momenta before a motion (sign 1/2), or undo that for an output (-1/2)."""
        for motion in self.motions:
            motion.keep_nodes()
            copy(motion.rates, motion.kept_rates)
        for side in (0.5, -0.5):
            self._drift(side)
            self._accelerate(moving=False)
            for motion in self.motions:
                motion.restore_nodes()
                copy(motion.kept_rates, motion.rates)
                copy(motion.pulls, motion.ahead if side > 0.0 else motion.behind)
        self._accelerate(moving=False)
        for motion in self.motions:
            motion.process(sign, self.gradient, self.short)

    # -- what a step is asked for ----------------------------------------------------------------

    def begin_step(self, a: State, b: State) -> None:
        combine(0.5, self.before, 0.5, self.after[: len(self.before)], self.mean)

    def guesses(self, a: State, b: State) -> list[Callable[[], None]]:
        def advance() -> None:
            self._advance(b)

        return [advance]

    def place_iterate(self, a: State, b: State) -> None:
        b.place(b.q)

    def set_residual(self, a: State, b: State, tangent: bool) -> None:
        clear(self.left)
        self.measure_left()
        for motion in self.motions:
            run(rigid_nodes.check_finite, *motion.rates, self.numbers, loops.SIZE)

    def move_iterate(self, a: State, b: State) -> None:
        """Move nothing: there is nothing to correct."""

    def accept_step(self, a: State, b: State) -> None:
        copy(b.q, self.q)
        if self.books:
            for term in self.effects.terms:
                ask(term.add_work_done, a, b, self.mean, self.account[:1])
        copy(self.after[: len(self.before)], self.before)
        if self.books:
            run(count_steps, self.wait, self.counts)

    # -- watching the energy ---------------------------------------------------------------------

    def _moving(self) -> list[Array]:
        """All that a step changes."""
        nodes = [x for part in self.nodes.parts for x in (part.poses, part.quaternions)]
        rates = [motion.rates for motion in self.motions]
        return [*nodes, *rates, self.q, self._rates, self.before, self.account, self.memory]

    def _keep_start(self) -> None:
        self._start = [x.copy() for x in self._moving()]

    def finish_step(self, a: State, b: State) -> None:
        """Look at the energy; shorten the steps where it has changed, and take this step again.

        Where inputs change or loads follow the robot, their work is known for whole steps of h seconds
        only, not well enough; with damping no energy reaches the grid.
        """
        self.wait[0] = max(1, _LOOK // (int(self.more[0]) + 1))
        inputs = self.after.copy()
        steady = np.array_equal(self._start[-3], self.before) and not self.damped
        if not steady or not self.effects.conservative(self.before):
            self.watch.start(b, self._rates, self.account)
            self._keep_start()
            return
        while not self.watch.holds(b, self._rates, self.account):
            if self.rung[0] == len(_RUNGS):
                raise self.error("the energy balance does not close, however short the steps are")
            self._shorten(a, b, inputs)
        self._keep_start()

    def _shorten(self, a: State, b: State, inputs: Array) -> None:
        """Shorten the short steps; take the step again if it is the only one since the last look."""
        rung, last = int(self.rung[0]), int(self.more[0]) + 1
        before = 1.0 if rung == 0 else _RUNGS[rung - 1]
        count = math.ceil(last * before / _RUNGS[rung])
        if rung == 0:
            self.shortened[0] = float(self.wait[1]) * self.h
        self.rung[0] += 1
        again = last >= _LOOK
        self._set_steps(count)
        if not again:
            self.watch.start(b, self._rates, self.account)
            return
        for x, kept in zip(self._moving(), self._start, strict=True):
            x[...] = kept
        self.after[...] = inputs
        self.core.place(self.q)
        self._reprocess()
        self.begin_fed_step(a, b)
        self._advance(b)
        b.place(b.q)
        self.wait[1] -= 1
        self.accept_fed_step(a, b)
        self.counts[loops.PAUSED] = 0

    def _reprocess(self) -> None:
        """Begin at `q` with the present rates, with the present short steps."""
        self.nodes.renew()
        for motion in self.motions:
            self._set_momenta(motion, self._rates)
        self.acting[...] = self.before
        if not self.damped:
            self._process(0.5)

    def remarks(self) -> list[str]:
        """Tell from when on the steps were shortened."""
        if not self.rung[0]:
            return []
        return [
            f"from t = {self.shortened[0]:.3g} s on, waves shorter than the grid resolves carry "
            "energy: the motion then depends on the mesh. Explicit() has shortened its steps. Give the "
            "material a viscosity, which takes up such waves, or use the motion before that time."
        ]

    def aim_at(self, leader: Stepper, b: State) -> None:
        raise TypeError("explicit steps have no equations that a neighbour could correct")

    def error(self, reason: str) -> StepError:
        return step_failed(self.h, reason, "a smaller safety, or Midpoint()", 1)


@kernel
def count_steps(wait, counts):  # type: ignore[no-untyped-def]
    """Count steps; pause where the energy balance is to be looked at."""
    wait[0] -= 1
    wait[1] += 1
    if wait[0] <= 0:
        counts[loops.PAUSED] = 1


_PART = 1e-3
"""Part of the shift of nodes by which the derivative of forces along it is found. With the whole of it,
forces are not exactly the derivative of a potential, and angular momentum drifts.
"""
_TINY = np.array([1e-9])
"""How far, in s^2 times accelerations of unit size, nodes are moved to find the highest frequency."""
