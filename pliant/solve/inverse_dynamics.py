"""Balance at the instants of a motion: accelerations, and the wrenches that hold the robot.

At configuration q with rates v balance asks for accelerations M a = f(q, v), those of modes with
periods far below the step included. Of these a motion holds an alternating rest, which M^-1 makes
large. With

    (M + h^2/4 K) a = f(q, v)

they are the second differences of the motion that the midpoint rule makes, for which
M (q+ - 2 q + q-) / h^2 + K (q+ + 2 q + q-) / 4 = load: a mode of frequency w is divided by
1 + (w h / 2)^2, and what the step resolves keeps its order. K a holds the accelerations of prescribed
joints too: in coordinates that are not relative to a moving base, what it carries would else stay
behind. Hard rows are held with their second derivatives.

What holds a part at its base then follows from the motion of all that it carries, as by Newton and
Euler: no stress enters, and so neither theory nor formulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from pliant.lie import se3
from pliant.linalg.matrices import SingularError
from pliant.model import ConvergenceError
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs
from pliant.physics.inertia import add_inertia
from pliant.physics.met_strains import meet_moving
from pliant.rods.contract import Array
from pliant.solve.balance import balance
from pliant.solve.dynamics import Trajectory, recorded_at
from pliant.solve.integrators.hard_rows import gap_accelerations
from pliant.solve.integrators.motion_balance import dynamic_balance
from pliant.solve.redundancy import without_self_stress
from pliant.solve.sampling import Sampler
from pliant.tree.backward import gather
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.work import Work

_SMALL = 1e-4
"""Displacement, relative to the coordinates, by which accelerations of sections are measured."""
_NUDGE = 1e-6
"""Displacement of prescribed joints, rad and lengths of the robot, by which stiffness is measured."""


@dataclass
class Instant:
    """One instant: configuration q (nq,), rates v and accelerations (total,) of the coordinates.

    z (total,) multipliers.  recorded : as of a Moment.
    points : per part, minus the wrench of inertia (N, 6) at its rigid bodies,
    world frame about the origin.  reactions : wrenches (6,) by name of the constraint or part held, as
    of an equilibrium.
    """

    q: Array
    v: Array
    acceleration: Array
    z: Array
    inputs: Inputs
    points: list[Array]
    reactions: dict[str, Array]
    drives: dict[str, float] = field(default_factory=dict)
    recorded: Array | None = None


class InverseDynamics:
    """Instants of motions of one robot in steps of h seconds.

    state, work : the robot at the last instant that was asked for, and at its stations all that acts
    there less what accelerates it.
    """

    def __init__(self, effects: Effects, h: float) -> None:
        self.effects, self.tree = effects, effects.tree
        self._slope = 4.0 / h**2
        self._tangent = effects.tangent(False)
        self.work = Work(self.tree)
        self.state = State(self.tree)

    def along(self, path: Trajectory) -> Iterator[Instant]:
        """Every output time of a motion, one after the other."""
        for k in range(len(path.t)):
            yield self.output(path, k)

    def output(self, path: Trajectory, k: int) -> Instant:
        """Output time k of a motion."""
        inputs = self.effects.at({name: values[k] for name, values in path.inputs.items()})
        if path.drive_rates.size:
            drive = np.column_stack([inputs.drive[:, 0], path.drive_rates[k]])
            inputs = Inputs(inputs.u, drive)
        return self.at(path.q[k], path.v[k], inputs, recorded_at(path, k))

    def at(self, q: Array, v: Array, inputs: Inputs, recorded: Array | None = None) -> Instant:
        """The instant of configuration q (nq,) and rates v (total,) under `inputs`."""
        acc, z = self._balanced(q, v, inputs, recorded)
        tree, work, state = self.tree, self.work, self.state
        set_rates(tree, state, work, v, acc)
        meet_moving(work, state, 0.0)
        work.clear(False)
        wrenches = []
        for part, at, w in zip(tree.parts, state.parts, work.parts, strict=True):
            add_inertia(part.M, w.eta, w.acceleration, 0.0, 0.0, False, w.p, w.k)
            wrenches.append(at_origin(at.g[: part.inertial], w.p[: part.inertial]))
        bodies = [all_[len(part.mass_w) :] for part, all_ in zip(tree.parts, wrenches, strict=True)]
        instant = Instant(q, v, acc, z, inputs, bodies, {}, recorded=recorded)
        instant.reactions = self._reactions(instant)
        return instant

    def _balanced(
        self, q: Array, v: Array, inputs: Inputs, recorded: Array | None
    ) -> tuple[Array, Array]:
        """Accelerations and multipliers (total,)."""
        effects, tree, slope = self.effects, self.tree, self._slope
        state = self.state.place(q)
        acc = effects.prescribed.rates(inputs.drive)[1]
        set_rates(tree, state, self.work, v, acc)
        meet_moving(self.work, state, 0.0)
        z = np.zeros(tree.total)
        for term in effects.rows:
            if not term.hard:
                term.settle(state, self.work, z)
        for term in effects.one_sided:
            term.touch(state, v, z, rough=True)
        moment = Moment(
            tree,
            state,
            self.work,
            inputs.u,
            z,
            v,
            0.0,
            self._tangent,
            mobility=1.0 / slope,
            recorded=recorded,
        )
        pulled, pull = np.ones(1, dtype=np.int64), self._pull(acc, inputs, z)
        while pulled[0]:
            pulled[0] = 0
            r = dynamic_balance(effects, moment, slope).copy()
            gaps = gap_accelerations(effects, state, v, acc, z)
            right = -slope * r - pull
            right[effects.gap_rows] = -gaps[effects.gap_rows] - pull[effects.gap_rows]
            x = self._solved(right)
            for term in effects.one_sided:
                term.release(x, z, pulled)
        acc[tree.coordinates] += x[tree.coordinates]
        for term in effects.hard:
            z[term.rows] += (x[term.rows] - term.augmented(gaps[term.rows])) / slope
        return acc, without_self_stress(effects, state, z)

    def _pull(self, acc: Array, inputs: Inputs, z: Array) -> Array:
        """K a (total,) of accelerations (total,) of prescribed joints: none in relative coordinates.

        By a central difference of the forces at rest. Hard rows know their second derivatives.
        """
        tree, work, state = self.tree, Work(self.tree), State(self.tree)
        size = float(np.max(np.abs(acc), initial=0.0))
        if size == 0.0:
            return np.zeros(tree.total)
        step = _NUDGE * min(1.0, tree.length) / size
        ends = []
        for x in (step, -step):
            state.place(tree.moved(self.state, x * acc, newton=False))
            ends.append(balance(self.effects, state, work, inputs, z).copy())
        pull: Array = (ends[0] - ends[1]) / (2.0 * step)
        for term in self.effects.hard:
            pull[term.rows] = 0.0
        return pull

    def _solved(self, right: Array) -> Array:
        try:
            self._tangent.matrix.factorise()
            return self._tangent.matrix.solve(right[: self.tree.size])
        except SingularError:
            raise ConvergenceError(
                "the forces at one instant of the motion have no solution: something can move "
                "freely, or a rod has no mass"
            ) from None

    def _reactions(self, instant: Instant) -> dict[str, Array]:
        """Wrenches (6,) that hold the robot, in the frames of `energy.reactions`."""
        tree, work, state = self.tree, self.work, self.state
        about, mobility = (instant.inputs.u, instant.z, instant.v), 1.0 / self._slope
        moment = Moment(tree, state, work, *about, mobility=mobility, recorded=instant.recorded)
        held = self.effects.reactions(moment)
        for term in self.effects.terms:
            term.act(moment)
        totals = [np.zeros(6) for _ in tree.parts]
        for i in range(len(tree.parts) - 1, -1, -1):
            part, at, w = tree.parts[i], state.parts[i], work.parts[i]
            totals[i] += at_origin(at.g, w.p).sum(axis=0)
            if part.parent >= 0:
                totals[part.parent] += totals[i]
        for i in tree.held_parts():
            held[tree.parts[i].name] = se3.Ad(state.parts[i].c.base).T @ totals[i]
        if len(tree.prescribed):
            gather(tree, state, work, work.residual)
            instant.drives = tree.drives(work.residual)
        return held


def section_motion(sampler: Sampler, instant: Instant, rod: str, s: Array) -> tuple[Array, Array]:
    """Body twists and their rates (S, 6) of a rod's sections at s (S,).

    The rates are taken by a central difference along q(t) = q o exp(t v + t^2/2 a).
    """
    q, v, acc = instant.q, instant.v, instant.acceleration
    size = max(np.abs(v).max(initial=0.0), np.sqrt(np.abs(acc).max(initial=0.0)))
    twist = sampler.velocities(q, v, rod, s)
    if size == 0.0:
        return twist, np.zeros_like(twist)
    t = _SMALL / float(size)
    tree = sampler.tree
    here = State(tree).place(q)
    ends = [
        sampler.velocities(
            tree.moved(here, x * v + (0.5 * t * t) * acc, newton=False), v + x * acc, rod, s
        )
        for x in (t, -t)
    ]
    return twist, (ends[0] - ends[1]) / (2.0 * t)


def at_origin(g: Array, p: Array) -> Array:
    """Body wrenches p (S, 6) at poses g (S, 4, 4) in the world frame about its origin."""
    R = g[:, :3, :3]
    moment, force = (np.einsum("sij,sj->si", R, half) for half in (p[:, :3], p[:, 3:]))
    return np.concatenate([moment + np.cross(g[:, :3, 3], force), force], axis=1)
