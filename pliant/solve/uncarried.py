"""How far a rod would bend or twist where its formulation does not let it.

A planar rod does not bend out of its plane, and a cable does not twist. The moment in such a row of the
strains follows from balance with all that acts beyond a section, inertia included, whatever effect it
comes from: weight, a moving base, constraints, carried parts. Over the stiffness of the section it is
the strain that the formulation leaves out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pliant.model import ConvergenceError
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects
from pliant.physics.met_strains import meet_at_rest
from pliant.rods.contract import Array, Ints, Plan
from pliant.solve.dynamics import Trajectory
from pliant.solve.inverse_dynamics import InverseDynamics, at_origin
from pliant.solve.statics import StaticSolution
from pliant.tree.part import Part
from pliant.tree.state import State
from pliant.tree.work import Work

LEAST = 1e-3
"""Sideways displacement, relative to the length of the rod, or twist (rad) that is worth a warning."""
_FIRST, _MORE, _MOST = 4, 20, 24
"""Output times of a motion at even intervals that are looked at, how many if anything was found there,
and how many at which inputs or velocities change most.
"""


@dataclass(frozen=True)
class Missed:
    """What a rod leaves out: sideways displacement (m) if it cannot bend, else its twist (rad).

    size : over the length, or the angle.  t : time in a motion, s.
    """

    part: Part
    row: int
    size: float
    t: float | None = None

    def __str__(self) -> str:
        when = "" if self.t is None else f" at t = {self.t:.4g} s"
        if self.row == 2:
            what = f"twist by about {np.degrees(self.size):.2g} degrees"
            kind = "formulation has no twist"
        else:
            share, far = 100.0 * self.size, self.size * self.part.length
            much = f"about {far:.2g} m ({share:.2g} % of its length)"
            much = much if self.size < 1.0 else "more than its length"
            what = f"bend about its local {'xy'[self.row]} axis by {much}"
            kind = "planar formulation does not bend that way"
        return (
            f"{self.part.source.label}: in equilibrium with all that acts{when} it would {what}, but "
            f"its {kind}: the result leaves this out. Turn its pose, choose another plane, or a "
            "formulation in space such as BSpline()."
        )


def lame_parts(effects: Effects) -> list[int]:
    """Rods whose formulations miss a row of bending or twist."""
    parts = enumerate(effects.tree.parts)
    return [i for i, part in parts if part.rod is not None and _missing(part)]


def _missing(part: Part) -> list[int]:
    return [row for row in range(3) if row not in part.capabilities.strain_rows]


def missed_at_rest(effects: Effects, found: StaticSolution) -> list[Missed]:
    """What rods leave out of an equilibrium."""
    tree, idle = effects.tree, effects.idle.setdefault("uncarried", deque())
    try:
        state, work, plans = idle.pop()
    except IndexError:  # also if another thread was faster
        state, work, plans = State(tree), Work(tree), _plans(effects)
    state.place(found.q)
    meet_at_rest(work, state)
    work.clear(False)
    moment = Moment(tree, state, work, found.inputs.u, found.z, memory=found.memory)
    for term in effects.terms:
        term.act(moment)
    all_missed = list(_missed(effects, plans, state, work, found.inputs.u))
    idle.append((state, work, plans))
    return [missed for missed in all_missed if missed.size > LEAST]


def missed_in_motion(effects: Effects, path: Trajectory) -> list[Missed]:
    """The most that each rod leaves out of a motion in any of its missing rows."""
    idle = effects.idle.setdefault(("uncarried", path.h), deque())
    try:
        inverse, plans = idle.pop()
    except IndexError:
        inverse, plans = InverseDynamics(effects, path.h), _plans(effects)
    worst: dict[tuple[str, int], Missed] = {}
    first = np.concatenate([_even_rows(len(path.t), _FIRST), _lively_times(effects, path)])
    for times in (first, _even_rows(len(path.t), _MORE)):
        for k in np.unique(times):
            try:
                at = inverse.output(path, int(k))
            except ConvergenceError:  # something moves without inertia, which `spin` tells
                continue
            t = float(path.t[k])
            for missed in _missed(effects, plans, inverse.state, inverse.work, at.inputs.u, t):
                key = (missed.part.name, missed.row)
                if key not in worst or missed.size > worst[key].size:
                    worst[key] = missed
        if all(missed.size < 0.01 * LEAST for missed in worst.values()):
            break
    idle.append((inverse, plans))
    return [missed for missed in worst.values() if missed.size > LEAST]


def _even_rows(total: int, count: int) -> Ints:
    """At most `count` of the numbers below a total, at even intervals."""
    return np.unique(np.linspace(0, total - 1, count).astype(np.int64))


def _lively_times(effects: Effects, path: Trajectory) -> Ints:
    """Output times, by number, at which each input is largest or bends most, or a part is struck.

    What acts on a rod for a short time comes from one of them.
    """
    T, steps = len(path.t), np.maximum(np.diff(path.t), path.h)[:, None]
    if T < 4:
        return np.arange(T)
    given = [*path.inputs.values(), path.drive_rates]
    signals = np.concatenate([np.reshape(values, (T, -1)) for values in given], axis=1)
    bends, jumps = np.zeros_like(signals), np.zeros((T, len(effects.tree.parts)))
    bends[1:-1] = np.diff(np.diff(signals, axis=0) / steps, axis=0)
    for i, part in enumerate(effects.tree.parts):
        own = np.concatenate([part.joint_index, part.x_index])
        jumps[1:, i] = np.linalg.norm(np.diff(path.v[:, own], axis=0) / steps, axis=1)
    activity = np.abs(np.concatenate([signals, bends, jumps], axis=1))
    times = np.unique(np.argmax(activity, axis=0))
    return times[_even_rows(len(times), _MOST)]


def _plans(effects: Effects) -> dict[int, Plan]:
    """Plans for the frames of rods that miss a row, at the stations of their strains."""
    parts = effects.tree.parts
    return {i: parts[i].map.frames(parts[i].strain_s) for i in lame_parts(effects)}


def _missed(
    effects: Effects,
    plans: Mapping[int, Plan],
    state: State,
    work: Work,
    u: Array,
    t: float | None = None,
) -> Iterator[Missed]:
    """What rods leave out, from the gradients at the frame stations in `work`, inertia included."""
    tree = effects.tree
    acting: list[list[tuple[Array, Array]]] = [[] for _ in tree.parts]
    for i in range(len(tree.parts) - 1, -1, -1):
        part, at = tree.parts[i], state.parts[i]
        acting[i].append((part.frames_s, -at_origin(at.g, work.parts[i].p)))
        if part.parent >= 0:
            mount = tree.parts[part.parent].frames_s[[part.mount]]
            total = np.sum([w.sum(axis=0) for _, w in acting[i]], axis=0)
            acting[part.parent].append((mount, total[None]))
    for i, plan in plans.items():
        part, at = tree.parts[i], state.parts[i]
        part.map.frame(plan, at.c)
        moment = _moments(plan, acting[i])
        for term in effects.terms:
            stress = term.stress(i, part.strain_s, at.strain.e, u)
            moment -= 0.0 if stress is None else stress[:, :3]
        yield from _sizes(part, moment / part.C[:, :3], t)


def _moments(plan: Plan, acting: list[tuple[Array, Array]]) -> Array:
    """Internal moments (S, 3) at the frames of a plan of wrenches in the world about its origin."""
    at = np.concatenate([where for where, _ in acting])
    wrenches = np.concatenate([wrench for _, wrench in acting])
    beyond = (at[None] >= plan.s[:, None]).astype(float) @ wrenches
    moment = beyond[:, :3] - np.cross(plan.g[:, :3, 3], beyond[:, 3:])
    return np.asarray(np.einsum("sji,sj->si", plan.g[:, :3, :3], moment))


def _sizes(part: Part, strain: Array, t: float | None) -> Iterator[Missed]:
    """Displacements and twist by strains (S, 3) at the stations of the strain rule."""
    s, length = part.strain_s, part.length
    w = np.diff(np.concatenate([[0.0], 0.5 * (s[1:] + s[:-1]), [length]]))
    for row in _missing(part):
        arm = 1.0 if row == 2 else 1.0 - s / length
        yield Missed(part, row, abs(float((w * arm) @ strain[:, row])), t)
