"""Explicit integration of robots whose inertia is lumped at nodes: no equations to solve.

A step of h seconds drifts by half a step, kicks, and drifts by half a step. Without damping the kick is
the force-gradient one of Takahashi and Imada: the forces are found on nodes shifted by h^2 / 12 times
their accelerations,

    V += h a(q exp(h^2 / 12 a(q))).

It is of second order, but conjugate to a method of fourth order: a motion begins at nodes and velocities
that are processed by h^2 / 24 {T, V} and outputs undo that, so results are of order four. With damping
the kick takes velocities in its middle and is of second order (Verlet).

The stability limit is h omega = sqrt(12), or 2 with damping, omega the highest frequency of the
discretised robot. `dt` is the time between inputs; each is cut into as many steps as stability needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.engine.arrays import clear, combine, copy
from pliant.engine.program import Program, ask, record, repeat, run
from pliant.model import DescriptionError
from pliant.model.checks import number
from pliant.physics.contract import KernelTerm, Moment, Term
from pliant.physics.effects import Effects, Inputs
from pliant.physics.met_strains import meet_at_rest, meet_moving
from pliant.rods.contract import Array
from pliant.solve import loops
from pliant.solve.integrators import rigid_nodes
from pliant.solve.integrators.contract import Integrator, StepError, Stepper, step_failed
from pliant.solve.newton import Policy
from pliant.tree.nodes import Nodes, PartNodes
from pliant.tree.state import State

_POWERS = 60
"""Power iterations for the highest frequency."""
_LIMIT, _DAMPED_LIMIT = math.sqrt(12.0), 2.0
"""Stability limits of h omega."""
_MOST = 2**20
"""Steps for one dt from which on they are refused."""
POLICY = Policy(iterations=1)


@dataclass(frozen=True)
class Explicit(Integrator):
    """Explicit integrator for robots with lumped inertia (`Spectral`): cheap steps near their limit.

    Positions are of fourth order in the steps without damping, of second order with damping. Joints
    other than clamps and Free(), constraints and prescribed motions are refused. Strong damping makes
    steps short; Midpoint() is the better choice then.

    safety : length of the steps relative to the stability limit, between 0 and 1.
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

    def stepper(self, effects: Effects, h: float) -> Stepper:
        return ExplicitStepper(effects, h, self.safety)


class Motion:
    """The moving nodes of one part: constants and momenta, see `rigid_nodes`, and workspaces."""

    def __init__(self, nodes: PartNodes, inertia: Array) -> None:
        self.nodes = nodes
        self.moving, N = nodes.moving, len(nodes.poses)
        self.mass = inertia[:, 5, 5].copy()
        first = inertia[:, :3, 3:] / np.maximum(self.mass, 1e-300)[:, None, None]
        self.centre = np.stack([first[:, 2, 1], first[:, 0, 2], first[:, 1, 0]], axis=1)
        self.about = inertia[:, :3, :3] - np.einsum("nij,nkj->nik", first, inertia[:, :3, 3:])
        """(N, 3, 3): inertia about the centres, in the axes of the nodes."""
        self.inverse = np.zeros((N, 3, 3))
        for i in np.flatnonzero(self.moving):
            if not (self.mass[i] > 0.0 and np.linalg.eigvalsh(self.about[i])[0] > 0.0):
                raise _massless(nodes)
            self.inverse[i] = np.linalg.inv(self.about[i])
        self.rates, self.kept_rates = np.zeros((2, N, 3)), np.zeros((2, N, 3))
        """Velocities V of the centres and angular momenta L."""
        self.pulls, self.ahead, self.behind = (np.zeros((2, N, 3)) for _ in range(3))
        """Accelerations A of the centres and torques T about them."""
        self.kept_poses, self.kept_quaternions = nodes.poses.copy(), nodes.quaternions.copy()

    def drift(self, factor: float, unit: Array) -> None:
        """Free motion for factor times unit (1,) seconds."""
        body = (self.moving, self.centre, self.inverse)
        where = (self.nodes.poses, self.nodes.quaternions)
        run(rigid_nodes.drift, factor, unit, *body, *where, *self.rates)

    def kick(self, factor: float, unit: Array) -> None:
        """Change momenta by what acts for factor times unit (1,) seconds."""
        run(rigid_nodes.kick, factor, unit, self.moving, *self.pulls, *self.rates)

    def shift(self, factor: float, unit: Array, pulls: Array) -> None:
        """Move the nodes by factor times unit (1,), in s^2, times accelerations."""
        body = (self.moving, self.centre, self.inverse)
        where = (self.nodes.poses, self.nodes.quaternions)
        run(rigid_nodes.shift, factor, unit, *body, *pulls, *where)

    def process(self, sign: float, unit: Array, step: Array) -> None:
        """Process momenta, then nodes, see `rigid_nodes.process`."""
        given = (self.moving, self.inverse, *self.pulls, self.ahead, self.behind)
        run(rigid_nodes.process, sign, unit, step, *given, *self.rates)
        self.shift(sign, unit, self.pulls)

    def keep_nodes(self) -> None:
        """Keep the nodes where they are."""
        copy(self.nodes.poses, self.kept_poses)
        copy(self.nodes.quaternions, self.kept_quaternions)

    def restore_nodes(self) -> None:
        """Put the nodes where they were kept."""
        copy(self.kept_poses, self.nodes.poses)
        copy(self.kept_quaternions, self.nodes.quaternions)

    def set_rates(self) -> None:
        """Set spins and velocities of the nodes."""
        nodes, body = self.nodes, (self.moving, self.centre, self.inverse)
        given = (nodes.poses, *self.rates, nodes.spin, nodes.velocity)
        run(rigid_nodes.set_rates, *body, *given)

    def set_pulls(self) -> None:
        """Set accelerations and torques from what acts on the nodes."""
        nodes = self.nodes
        body = (self.moving, self.mass, self.centre, nodes.poses)
        run(rigid_nodes.set_kick, *body, nodes.torque, nodes.force, *self.pulls)


def _massless(nodes: PartNodes) -> DescriptionError:
    label = f"rod {nodes.part.name!r}" if nodes.part.rod else f"body {nodes.part.name!r}"
    return DescriptionError(
        label,
        "mass, inertia",
        0.0,
        "mass and rotary inertia at every node, for an explicit integrator",
        "give rho and rotary=True, or mass and inertia, or use Midpoint()",
    )


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
        _check(effects)
        super().__init__(effects, h, POLICY, 1e-12)
        self.safety = safety
        self.core = State(self.tree).place(self.tree.q_rest)
        self.nodes = Nodes(self.tree, self.core, self.workspace)
        pairs = zip(self.nodes.parts, self.nodes.inertia, strict=True)
        self.motions = [Motion(nodes, inertia) for nodes, inertia in pairs]
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

    # -- state -------------------------------------------------------------------------------

    def begin_motion(self, v: Array, inputs: Inputs) -> None:
        self.a.place(self.q)
        self.core.place(self.q)
        self.nodes.renew()
        self.acting[...], self._rates[...] = inputs.u, v
        self._choose_steps()
        for motion in self.motions:
            self._set_momenta(motion, v)
        if not self.damped:
            self._process(0.5)

    def _set_momenta(self, motion: Motion, v: Array) -> None:
        """Set the momenta of nodes with rates v (total,)."""
        nodes, (V, L) = motion.nodes, motion.rates
        for i in np.flatnonzero(motion.moving):
            twist = v[nodes.numbers[i]]
            L[i] = motion.about[i] @ twist[:3]
            arm = np.cross(twist[:3], motion.centre[i])
            V[i] = nodes.poses[i, :3, :3] @ (twist[3:] + arm)

    def _choose_steps(self) -> None:
        """Choose the length of the short steps from the highest frequency here."""
        omega, limit = self._highest_frequency(), _LIMIT
        if self.damped:
            lag = max(float(w.lag.max(initial=0.0)) for w in self.workspace.parts)
            limit = _DAMPED_LIMIT * (math.hypot(1.0, 0.5 * omega * lag) - 0.5 * omega * lag)
        count = max(1, math.ceil(self.h * omega / (self.safety * limit)))
        if count > _MOST:
            raise self.error(f"stability would need {count} steps for one dt")
        self.more[0], self.share[0] = count - 1, 1.0 / count
        self.short[0] = self.h / count
        self.gradient[0] = self.short[0] ** 2 / 12.0

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
        return [*super().remembered(), *(x for x in own if isinstance(x, np.ndarray)), *nodes]

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
            motion.shift(1.0, self.gradient, motion.behind)
        self._accelerate(moving=False)
        for motion in self.motions:
            motion.restore_nodes()
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

    def aim_at(self, leader: Stepper, b: State) -> None:
        raise TypeError("explicit steps have no equations that a neighbour could correct")

    def error(self, reason: str) -> StepError:
        return step_failed(self.h, reason, "a smaller safety, or Midpoint()", 1)


_TINY = np.array([1e-9])
"""How far, in s^2 times accelerations of unit size, nodes are moved to find the highest frequency."""
