"""Energies, reactions and measures of a chain in a given state."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from pliant.bvp.chain import BODY, WRENCH, Chain, Jump
from pliant.bvp.contract import State
from pliant.bvp.jump_conditions import point_wrenches
from pliant.bvp.sections import Sections
from pliant.lie import so3
from pliant.lie.tuples import Array
from pliant.model import DescriptionError


class Knots(Sections):
    """The sections of a chain at the knots of a state, with weights (K,) of the integral over all
    pieces: that of the cubic spline through the values at the knots.
    """

    def __init__(self, chain: Chain, state: State) -> None:
        super().__init__(chain, state.piece, state.s)
        self.weights = np.zeros(len(state.s))
        for rows in self.rows:
            spline = CubicSpline(self.s[rows], np.eye(rows.stop - rows.start))
            self.weights[rows] = spline.integrate(self.s[rows][0], self.s[rows][-1])

    @cached_property
    def ends(self) -> tuple[list[int], list[int]]:
        """First and last knot of each piece."""
        return [rows.start for rows in self.rows], [rows.stop - 1 for rows in self.rows]


class ChainMeasures:
    """What the inputs that act by stress work on, the volumes of chambers, by name and state, m^3."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._s = np.zeros(0)

    def __call__(self, name: str, state: State) -> float:
        """Return a measure: what it is without strain, and the integral of its sweep times strain."""
        if not np.array_equal(state.s, self._s):
            self._weigh(state)
        rest, sweep = self._weights[name]
        return rest + float(np.sum(sweep * state.strain))

    def _weigh(self, state: State) -> None:
        self._s = state.s.copy()
        knots, self._weights = Knots(self.chain, state), {}
        for stress in self.chain.stresses:
            rest, sweep = 0.0, np.zeros_like(state.strain)
            for rows, s, length in knots.covered(stress):
                sweep[rows] = knots.weights[rows, None] * stress.sweep(s, length)
                rest += float(knots.weights[rows] @ stress.rest(s, length))
            self._weights[stress.name] = rest, sweep


class Energies:
    """What is stored in the states of one chain, at the same knots."""

    def __init__(self, chain: Chain, state: State) -> None:
        self.chain, self.s = chain, state.s
        self.knots = Knots(chain, state)
        self.gravity = np.asarray(chain.description.gravity)
        self.C = np.where(self.knots.rigid[:, None] & (np.arange(6) > 2), 0.0, self.knots.C)
        bodies = [jump.part for jump in chain.jumps_of(BODY)]
        self.bodies = list(zip(self.knots.places(BODY, *self.knots.ends), bodies, strict=True))

    def _along(self, density: Array) -> float:
        """Integral of a density (K,) over all pieces."""
        return float(self.knots.weights @ density)

    def elastic(self, state: State) -> float:
        """Strain energy, J."""
        stretch = state.strain - self.knots.natural
        return self._along(0.5 * np.sum(self.C * stretch**2, axis=1))

    def gravitational(self, state: State) -> float:
        """Potential of weight, J, zero at the world origin."""
        found = self._along(-self.knots.M[:, 3] * (state.pose[:, :3, 3] @ self.gravity))
        for knot, body in self.bodies:
            g = state.pose[knot]
            found -= body.mass * float(self.gravity @ (g[:3, 3] + g[:3, :3] @ body.arm()))
        return found

    def kinetic(self, state: State) -> float:
        """Kinetic energy, J."""
        found = self._along(0.5 * np.sum(self.knots.M * state.velocity**2, axis=1))
        for knot, body in self.bodies:
            eta = state.velocity[knot]
            found += 0.5 * float(eta @ body.spatial_inertia() @ eta)
        return found

    def dead(self, state: State, values: Mapping[str, Any]) -> float:
        """Potential of dead forces, J."""
        found, knots = 0.0, self.knots
        points = knots.jumps.wrenches[:, :3], point_wrenches(self.chain, values)
        for knot, offset, wrench in zip(knots.places(WRENCH, *knots.ends), *points, strict=True):
            g = state.pose[knot]
            found -= float(wrench[3:6] @ (g[:3, 3] + g[:3, :3] @ offset))
        for line in (line for line in self.chain.lines if line.world):
            for rows, s, _ in knots.covered(line):
                force = line.density(s, values[line.name])[:, 3:]
                power = np.sum(force * state.pose[rows, :3, 3], axis=1)
                found -= float(knots.weights[rows] @ power)
        return found


def readings(chain: Chain, state: State, values: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """What effects with a method `told` tell of themselves, by name, summed over the rods."""
    knots, found = Knots(chain, state), dict[str, dict[str, float]]()
    telling: list[Any] = [form for form in chain.own if hasattr(form, "told")]
    for form in telling:
        start, end = form.over
        for piece, rows in zip(chain.pieces, knots.rows, strict=True):
            if piece.rod.name == form.rod and start < 0.5 * (piece.a + piece.b) < end:
                where = (knots.inside[rows], state.strain[rows], knots.weights[rows])
                before = found.setdefault(form.name, {})
                form.told(*where, values[form.name], before)
    return found


def reactions(
    chain: Chain, state: State, values: Mapping[str, Any], share: float
) -> dict[str, Array]:
    """Wrenches (6,) that hold the ends of a chain at rest, by name of the clamped rod or constraint.

    At the base what holds it exerts: the internal wrench there, reversed, less what else sits at the
    base. At the tip what is left of the internal wrench beyond the loads. Of a clamp in the frame of
    the base, of a constraint in the frame that it holds to.
    """
    found = {}
    gravity = share * np.asarray(chain.description.gravity)
    if chain.base.held.any():
        wrench = -state.wrench[0]
        for jump in chain.pieces[0].before:
            wrench = wrench - _exerted(jump, state.pose[0], values, share, gravity)
        name = chain.base.name or chain.rods[0].name
        if chain.base.name:
            wrench = _seen_from(chain.base.pose, state.pose[0], wrench)
        found[name] = np.where(chain.base.held, wrench, 0.0)
    if chain.tip.held.any():
        wrench = state.wrench[-1].copy()
        for jump in chain.at_tip:
            wrench -= _exerted(jump, state.pose[-1], values, share, gravity)
        wrench[:3] -= np.cross(chain.tip.offset, wrench[3:])
        held = _seen_from(chain.tip.pose, state.pose[-1], wrench)
        found[chain.tip.name] = np.where(chain.tip.held, held, 0.0)
    return found


def moving_reactions(
    chain: Chain, states: list[State], inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Wrenches (T, 6) that hold the ends of a chain in motion, at T states, by the same names.

    inputs : by name, their values (T, ...).
    """
    ends = [chain.at_tip] if chain.tip.held.any() else []
    if chain.description.motions_of(chain.rods[0].name):
        ends.append(chain.pieces[0].before)
    for body in [jump.part for end in ends for jump in end if jump.kind == BODY]:
        raise DescriptionError(
            body.label,
            "on",
            body.on,
            "not at an end that is held and moves, where a strong form is asked for reactions",
            "use a formulation with coordinates, e.g. BSpline()",
        )
    rows = [
        reactions(chain, state, {name: value[k] for name, value in inputs.items()}, 1.0)
        for k, state in enumerate(states)
    ]
    return {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else {})}


def _seen_from(held_to: Array, pose: Array, wrench: Array) -> Array:
    """Body wrench (6,) of a section in the frame that it is held to: D^T m and the force there.

    D = dexp of the rotation vector between both, on which moments work.
    """
    turn = held_to[:3, :3].T @ pose[:3, :3]
    return np.concatenate([so3.dexp(so3.log(turn)).T @ wrench[:3], turn @ wrench[3:]])


def _exerted(
    jump: Jump, pose: Array, values: Mapping[str, Any], share: float, gravity: Array
) -> Array:
    """Body wrench (6,) of a load or a weight on the section it sits at."""
    R, moment, force = pose[:3, :3], np.zeros(3), np.zeros(3)
    if jump.kind == BODY:
        force = jump.part.mass * (R.T @ gravity)
    elif jump.kind == WRENCH:
        moment, force = share * jump.part.wrench(values[jump.part.name]).reshape(2, 3)
        if jump.part.world:
            moment, force = R.T @ moment, R.T @ force
    return np.concatenate([moment + np.cross(jump.offset, force), force])
