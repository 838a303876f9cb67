"""Energies and powers of a chain in a given state, integrated along its pieces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from pliant.bvp.arrays import BODY, JOINT
from pliant.bvp.chain import Chain, Event
from pliant.bvp.contract import State
from pliant.lie import so3
from pliant.lie.tuples import Array
from pliant.model import Body, DescriptionError, Frame, Load
from pliant.model.profile import evaluate


def knot_weights(s: Array, knots: list[NDArray[np.int64]]) -> Array:
    """(K,) weights that integrate the cubic spline through values at the knots of each piece."""
    found = np.zeros(len(s))
    for rows in knots:
        spline = CubicSpline(s[rows], np.eye(len(rows)))
        found[rows] = spline.integrate(s[rows[0]], s[rows[-1]])
    return found


class ChainVolumes:
    """Volumes of the chambers of a chain, by name and state, m^3."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._s = np.zeros(0)

    def __call__(self, name: str, state: State) -> float:
        """Return the volume of a chamber: integral of its area and of `Chamber.sweep` times strain."""
        if not np.array_equal(state.s, self._s):
            self._weigh(state)
        rest, sweep = self._weights[name]
        return rest + float(np.sum(sweep * state.strain))

    def _weigh(self, state: State) -> None:
        self._s = state.s.copy()
        pieces = self.chain.pieces
        knots = [np.flatnonzero(state.piece == k) for k in range(len(pieces))]
        w = knot_weights(state.s, knots)
        self._weights = {}
        for chamber in self.chain.description.chambers.values():
            rest, sweep = 0.0, np.zeros((len(w), 6))
            for piece, rows in zip(pieces, knots, strict=True):
                if self.chain.covers(chamber, piece):
                    length, s = piece.rod.length, state.s[rows]
                    sweep[rows] = w[rows, None] * chamber.sweep(s, length)
                    if not chamber.thrust:
                        area = evaluate(chamber.label, "area", chamber.area, s, length)
                        rest += float(w[rows] @ area)
            self._weights[chamber.name] = rest, sweep


class Energies:
    """What is stored and what is passed on in the states of one chain, at the same knots."""

    def __init__(self, chain: Chain, state: State) -> None:
        self.chain = chain
        self.s = state.s
        self.knots = [np.flatnonzero(state.piece == k) for k in range(len(chain.pieces))]
        self.gravity = np.asarray(chain.description.gravity)
        K = len(state.s)
        self.C, self.D, self.M, self.natural = (np.zeros((K, 6)) for _ in range(4))
        self.drag, self.loss = np.zeros((K, 3)), np.zeros(K)
        for piece, rows in zip(chain.pieces, self.knots, strict=True):
            rod, s = piece.rod, state.s[rows]
            self.C[rows], self.D[rows] = rod.stiffness(s), rod.damping(s)
            self.M[rows], self.natural[rows] = rod.inertia(s), rod.natural_strain(s)
            self.drag[rows], self.loss[rows] = rod.drag_coefficients(), rod.mass_damping
            if rod.theory == "kirchhoff":
                self.C[rows, 3:] = self.D[rows, 3:] = 0.0
        self.bodies = self._bodies()

    def _bodies(self) -> list[tuple[int, Array, float, Array]]:
        """Knot, inertia (6, 6), mass and centre of each body."""
        found = []
        for k, piece in enumerate(self.chain.pieces):
            kinds = [event.kind for event in piece.before]
            for j, event in enumerate(piece.before):
                if event.kind == BODY:
                    # a joint still to come: the body sits at the end of the rod before
                    knot = self.knots[k - 1][-1] if JOINT in kinds[j:] else self.knots[k][0]
                    found.append((knot, event.part))
        last = self.knots[-1][-1]
        found += [(last, event.part) for event in self.chain.at_tip if event.kind == BODY]
        return [
            (int(knot), body.spatial_inertia(), body.mass, body.arm())
            for knot, body in found
            if isinstance(body, Body)
        ]

    @cached_property
    def _weights(self) -> Array:
        return knot_weights(self.s, self.knots)

    def _along(self, density: Array) -> float:
        """Integral of a density (K,) over all pieces."""
        return float(self._weights @ density)

    def elastic(self, state: State) -> float:
        """Strain energy, J."""
        stretch = state.strain - self.natural
        return self._along(0.5 * np.sum(self.C * stretch**2, axis=1))

    def gravitational(self, state: State) -> float:
        """Potential of weight, J, zero at the world origin."""
        found = self._along(-self.M[:, 3] * (state.pose[:, :3, 3] @ self.gravity))
        for knot, _, mass, centre in self.bodies:
            g = state.pose[knot]
            found -= mass * float(self.gravity @ (g[:3, 3] + g[:3, :3] @ centre))
        return found

    def kinetic(self, state: State) -> float:
        """Kinetic energy, J."""
        found = self._along(0.5 * np.sum(self.M * state.velocity**2, axis=1))
        for knot, inertia, _, _ in self.bodies:
            eta = state.velocity[knot]
            found += 0.5 * float(eta @ inertia @ eta)
        return found

    def lost(self, state: State) -> float:
        """Power lost in the material, to drag and to mass damping, W."""
        eta = state.velocity
        density = np.sum(self.D * state.strain_rate**2, axis=1)
        density += np.sum(self.drag * np.abs(eta[:, 3:]) ** 3, axis=1)
        density += self.loss * np.sum(self.M * eta**2, axis=1)
        return self._along(density)

    def loads(self, state: State, values: Mapping[str, Any]) -> float:
        """Potential of dead forces, J."""
        found = 0.0
        for load in self.chain.description.loads.values():
            if load.frame != "world":
                continue
            if isinstance(load.on, Frame):
                knot, arm = self._place(state, load)
                g = state.pose[knot]
                found -= float(load.wrench(values[load.name])[3:] @ (g[:3, 3] + g[:3, :3] @ arm))
            else:
                density = self._density(state, load, values)
                found -= self._along(np.sum(density[:, 3:] * state.pose[:, :3, 3], axis=1))
        return found

    def power(self, state: State, values: Mapping[str, Any]) -> float:
        """Power of all loads and of a moving base, W."""
        found = -float(state.wrench[0] @ state.velocity[0])
        found += self._along(np.sum(self._pressures(state, values) * state.strain_rate, axis=1))
        for load in self.chain.description.loads.values():
            if isinstance(load.on, Frame):
                knot, arm = self._place(state, load)
                R, eta = state.pose[knot, :3, :3], state.velocity[knot]
                wrench = load.wrench(values[load.name])
                if load.frame == "world":
                    wrench = np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])
                speed = eta[3:] + np.cross(eta[:3], arm)
                found += float(wrench[:3] @ eta[:3] + wrench[3:] @ speed)
            else:
                density = self._density(state, load, values)
                eta = state.velocity
                if load.frame == "world":
                    R = state.pose[:, :3, :3]
                    eta = np.concatenate(
                        [np.einsum("kij,kj->ki", R, part) for part in (eta[:, :3], eta[:, 3:])],
                        axis=1,
                    )
                found += self._along(np.sum(density * eta, axis=1))
        return found

    def _pressures(self, state: State, values: Mapping[str, Any]) -> Array:
        """p dV/d(strain) (K, 6) of all chambers at the knots."""
        found = np.zeros((len(state.s), 6))
        for piece, rows in zip(self.chain.pieces, self.knots, strict=True):
            found[rows] = -self.chain.active_wrench(piece, state.s[rows], values)
        return found

    def _place(self, state: State, load: Load) -> tuple[int, Array]:
        """Knot and offset of a point load."""
        assert isinstance(load.on, Frame)
        for piece, rows in zip(self.chain.pieces, self.knots, strict=True):
            if piece.rod.name == load.part and load.on.s <= piece.b * (1.0 + 1e-12):
                knot = rows[np.argmin(np.abs(state.s[rows] - load.on.s))]
                return int(knot), np.array(load.on.offset)
        raise AssertionError("a load lies on a rod of the chain")

    def _density(self, state: State, load: Load, values: Mapping[str, Any]) -> Array:
        """(moment, force) per metre (K, 6) of a load along a rod; zero on other pieces."""
        found = np.zeros((len(state.s), 6))
        start, end = load.over or (0.0, np.inf)
        for piece, rows in zip(self.chain.pieces, self.knots, strict=True):
            middle = 0.5 * (piece.a + piece.b)
            if piece.rod.name == load.part and start < middle < end:
                found[rows] = self.chain.line_density(load, piece, state.s[rows], values)
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
        for event in chain.pieces[0].before:
            wrench = wrench - _exerted(event, state.pose[0], values, share, gravity)
        name = chain.base.name or chain.rods[0].name
        if chain.base.name:
            wrench = _seen_from(chain.base.pose, state.pose[0], wrench)
        found[name] = np.where(chain.base.held, wrench, 0.0)
    if chain.tip.held.any():
        wrench = state.wrench[-1].copy()
        for event in chain.at_tip:
            wrench -= _exerted(event, state.pose[-1], values, share, gravity)
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
    for body in [event.part for end in ends for event in end if isinstance(event.part, Body)]:
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
    event: Event, pose: Array, values: Mapping[str, Any], share: float, gravity: Array
) -> Array:
    """Body wrench (6,) of a load or a weight on the section it sits at."""
    R = pose[:3, :3]
    if isinstance(event.part, Load):
        wrench = share * event.part.wrench(values[event.part.name])
        if event.part.frame == "world":
            wrench = np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])
    elif isinstance(event.part, Body):
        wrench = np.concatenate([np.zeros(3), event.part.mass * (R.T @ gravity)])
    else:
        return np.zeros(6)
    return np.concatenate([wrench[:3] + np.cross(event.offset, wrench[3:]), wrench[3:]])
