"""The same planar motion by finite differences: lumped nodes with absolute positions and angles.

A rod of m cells has nodes (x, z, angle), angles positive about +y, which carry the mass of the half
cells beside them; the strains of a cell are the differences of its nodes, seen from its mean angle.
The base node of a rod, and every body, is rigidly fixed to a node, a hinge or the world. Errors are
even in the length of the cells, so Richardson's extrapolation over m, 2 m, 4 m gains four orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from tests.reference.tree_problem import Array, BodyPart, RodPart, TreeProblem

PLANE = [0, 2]


def _turn(angle: float, vector: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] + s * vector[1], c * vector[1] - s * vector[0]])


@dataclass
class _Rigid:
    """A frame fixed to a node (its first coordinate) or the world by levers, angles and hinges."""

    anchor: int | None
    steps: list[tuple[Array, float, int | None, float]] = field(default_factory=list)

    def coordinates(self) -> list[int]:
        nodes = [] if self.anchor is None else [self.anchor + k for k in range(3)]
        return nodes + [hinge for _, _, hinge, _ in self.steps if hinge is not None]

    def at(self, q: Array, rate: Array, lever: Array) -> tuple[Array, Array, Array]:
        """(x, z, angle) of a point, its Jacobian over coordinates(), and its bias acceleration."""
        p, bias, angle, spin = np.zeros(2), np.zeros(2), 0.0, 0.0
        jacobian, reached = np.zeros((3, len(self.coordinates()))), 0
        if self.anchor is not None:
            p, angle = q[self.anchor : self.anchor + 2], q[self.anchor + 2]
            spin = rate[self.anchor + 2]
            jacobian[:, :3], reached = np.eye(3), 3
        for arm, offset, hinge, sign in [*self.steps, (lever, 0.0, None, 0.0)]:
            shift = _turn(angle, arm)
            jacobian[:2] += np.outer([shift[1], -shift[0]], jacobian[2])
            p, bias, angle = p + shift, bias - spin**2 * shift, angle + offset
            if hinge is not None:
                angle, spin = angle + sign * q[hinge], spin + sign * rate[hinge]
                jacobian[2, reached], reached = sign, reached + 1
        return np.array([*p, angle]), jacobian, np.array([*bias, 0.0])


class PlanarSegments:
    """The tree with `cells` cells in every rod. load: factor on all forces and moments over time."""

    def __init__(
        self, tree: TreeProblem, cells: int, load: Callable[[float], float] = lambda t: 1.0
    ) -> None:
        self.tree, self.cells, self.load, self.size = tree, cells, load, 0
        self.gravity = np.asarray(tree.gravity, dtype=float)[PLANE]
        self.frames: dict[str, _Rigid] = {}
        self.first: dict[str, int] = {}
        ends: dict[str | None, _Rigid] = {None: _Rigid(None)}
        for part in tree.parts:
            on = ends[part.on]
            rest = float(np.arctan2(part.rotation[0, 2], part.rotation[2, 2]))
            hinge, sign = None, 0.0
            if part.joint.axis is not None:
                hinge, sign = self.size, part.joint.axis[1]
                self.size += 1
            step = (part.translation[PLANE], rest, hinge, sign)
            self.frames[part.name] = ends[part.name] = _Rigid(on.anchor, [*on.steps, step])
            if isinstance(part, RodPart):
                self.first[part.name] = self.size
                self.size += 3 * cells
                ends[part.name] = _Rigid(self.size - 3)
        self.masses, self.weights = self._lumped()
        self.hinges = self._springs()
        self.groups = self._groups()

    def _springs(self) -> list[tuple[int, float, float]]:
        """Coordinate, stiffness and damping of every hinge."""
        return [(self.frames[part.name].steps[-1][2], part.joint.stiffness, part.joint.damping)  # type: ignore[misc]
                for part in self.tree.parts if part.joint.axis is not None]  # fmt: skip

    def _lumped(self) -> tuple[Array, Array]:
        """Masses and weights (N,) of the coordinates of nodes, half cells at the tips."""
        masses, weights = np.zeros(self.size), np.zeros(self.size)
        for rod in self.tree.parts:
            if isinstance(rod, RodPart):
                node = np.array([rod.line_mass, rod.line_mass, rod.inertia[1]])
                nodes = np.tile(rod.length / self.cells * node, (self.cells, 1))
                nodes[-1] *= 0.5
                own = slice(self.first[rod.name], self.first[rod.name] + 3 * self.cells)
                masses[own] = nodes.ravel()
                weights[own] = (nodes * [*self.gravity, 0.0]).ravel()
        return masses, weights

    def _groups(self) -> list[list[int]]:
        """Coordinates that rigid parts couple in the mass matrix."""
        groups: list[set[int]] = []
        for frame in self.frames.values():
            group = set(frame.coordinates())
            if not group:
                continue
            joined = [other for other in groups if other & group]
            groups = [other for other in groups if not other & group] + [group.union(*joined)]
        return [sorted(group) for group in groups]

    def _elastic(self, rod: RodPart, nodes: Array) -> tuple[Array, float]:
        """Forces (cells + 1, 3) on the nodes and the elastic energy."""
        cell = rod.length / self.cells
        step = np.diff(nodes, axis=0)
        angle = 0.5 * (nodes[1:, 2] + nodes[:-1, 2])
        c, s = np.cos(angle), np.sin(angle)
        shear = (c * step[:, 0] - s * step[:, 1]) / cell
        stretch = (s * step[:, 0] + c * step[:, 1]) / cell - 1.0
        a, b = rod.stiffness[3] * shear, rod.stiffness[5] * stretch
        n = np.stack([c * a + s * b, c * b - s * a], -1)
        moment = rod.stiffness[1] * step[:, 2] / cell
        couple = 0.5 * (n[:, 0] * step[:, 1] - n[:, 1] * step[:, 0])
        out = np.zeros_like(nodes)
        out[:-1, :2], out[:-1, 2] = n, moment + couple
        out[1:, :2] -= n
        out[1:, 2] += couple - moment
        curvature = rod.stiffness[1] * (step[:, 2] / cell) ** 2
        return out, 0.5 * cell * float(np.sum(curvature + a * shear + b * stretch))

    def _rigid_masses(self, part: BodyPart | RodPart) -> tuple[Array, Array, Array]:
        """Lever (2,) of the mass, its diagonal (3,) and weight (3,): a body, or half a cell."""
        if isinstance(part, BodyPart):
            lever, m = np.asarray(part.centre)[PLANE], [part.mass, part.mass, part.inertia[1]]
        else:
            half = 0.5 * part.length / self.cells
            lever, m = np.zeros(2), [half * part.line_mass] * 2 + [half * part.inertia[1]]
        return lever, np.array(m), np.array([*(m[0] * self.gravity), 0.0])

    def _terms(self, t: float, q: Array, rate: Array) -> tuple[dict[int, Array], Array, float]:
        """Mass blocks by group, forces (N,) and energy."""
        force = self.weights.copy()
        energy = 0.5 * self.masses @ rate**2 - self.weights @ q
        blocks = {k: np.diag(self.masses[group]) for k, group in enumerate(self.groups)}
        for part in self.tree.parts:
            frame = self.frames[part.name]
            index = frame.coordinates()
            load = self.load(t) * np.array([part.force[0], part.force[2], part.moment[1]])
            lever, mass, weight = self._rigid_masses(part)
            place, jacobian, bias = frame.at(q, rate, lever)
            force[index] += jacobian.T @ (weight - mass * bias)
            energy += 0.5 * mass @ (jacobian @ rate[index]) ** 2 - weight @ place
            if index:
                k = next(k for k, group in enumerate(self.groups) if index[0] in group)
                rows = np.searchsorted(self.groups[k], index)
                blocks[k][np.ix_(rows, rows)] += jacobian.T @ (mass[:, None] * jacobian)
            if isinstance(part, BodyPart):
                force[index] += frame.at(q, rate, np.zeros(2))[1].T @ load
                continue
            own = slice(self.first[part.name], self.first[part.name] + 3 * self.cells)
            push, stored = self._elastic(part, np.vstack([place, q[own].reshape(-1, 3)]))
            force[index] += jacobian.T @ push[0]
            push[-1] += load
            force[own] += push[1:].ravel()
            energy += stored
        for hinge, stiffness, damping in self.hinges:
            force[hinge] -= stiffness * q[hinge] + damping * rate[hinge]
            energy += 0.5 * stiffness * q[hinge] ** 2
        return blocks, force, float(energy)

    def move(
        self, times: ArrayLike, angles: dict[str, float] | None = None, rtol: float = 1e-9
    ) -> tuple[dict[str, Array], Array]:
        """(x, z) (T, 2) of bodies and, as 'name.tip', of tips of rods; and the energy (T,).

        angles: of hinges at the start, by part; the rods start straight and everything at rest.
        """
        times, start = np.asarray(times, dtype=float), self._turned(angles or {})

        def rhs(t: float, y: Array) -> Array:
            q, rate = y[: self.size], y[self.size :]
            blocks, force, _ = self._terms(t, q, rate)
            acceleration = force / np.where(self.masses > 0.0, self.masses, 1.0)
            for k, group in enumerate(self.groups):
                acceleration[group] = np.linalg.solve(blocks[k], force[group])
            return np.concatenate([rate, acceleration])

        run = solve_ivp(rhs, (times[0], times[-1]), np.concatenate([start, 0.0 * start]),
                        method="DOP853", t_eval=times, rtol=rtol, atol=0.01 * rtol)  # fmt: skip
        q, rate = run.y[: self.size].T, run.y[self.size :].T
        out = {}
        for part in self.tree.parts:
            if isinstance(part, RodPart):
                end = self.first[part.name] + 3 * self.cells
                out[f"{part.name}.tip"] = q[:, end - 3 : end - 1]
            else:
                frame = self.frames[part.name]
                out[part.name] = np.array([frame.at(x, x, np.zeros(2))[0][:2] for x in q])
        energy = [self._terms(t, x, v)[2] for t, x, v in zip(times, q, rate, strict=True)]
        return out, np.array(energy)

    def _turned(self, angles: dict[str, float]) -> Array:
        """Coordinates of the unloaded tree with hinges turned."""
        q = np.zeros(self.size)
        for name, angle in angles.items():
            q[self.frames[name].steps[-1][2]] = angle  # type: ignore[call-overload]
        for rod in self.tree.parts:
            if isinstance(rod, RodPart):
                place, _, _ = self.frames[rod.name].at(q, q, np.zeros(2))
                s = rod.length * np.arange(1, self.cells + 1)[:, None] / self.cells
                along = _turn(place[2], np.array([0.0, 1.0]))
                nodes = np.hstack([place[:2] + s * along, np.full(s.shape, place[2])])
                q[self.first[rod.name] : self.first[rod.name] + nodes.size] = nodes.ravel()
        return q


def extrapolated(results: list[Array]) -> tuple[Array, Array]:
    """Richardson's limit of values for cells m, 2 m, 4 m, ... and its last correction."""
    rows, before = [np.asarray(r) for r in results], np.asarray(results[-1])
    for level in range(1, len(results)):
        before = rows[-1]
        rows = [b + (b - a) / (4.0**level - 1.0) for a, b in pairwise(rows)]
    return rows[-1], np.abs(rows[-1] - before)
