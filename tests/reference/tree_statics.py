"""Equilibrium of a tree of rods, bodies and revolute joints to about ten digits, by shooting.

The field equations are those of `cosserat_shooting`. Unknown are the internal wrench (m, n) at the
base of every rod, in the world frame, and the angle of every revolute joint. One recursion from the
world outwards integrates each rod from its base, passes what hangs on it as a jump of the internal
wrench, and leaves these residuals: the wrench beyond every tip, and at every joint the moment about
its axis minus stiffness times angle. Newton's Jacobian is the complex step through the recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from tests.reference.tree_problem import (
    Any_,
    Array,
    BodyPart,
    RodPart,
    TreeProblem,
    turned,
)

_STEP = 1e-30
Stations = Mapping[str, tuple[float, ...]]


def _unknowns(tree: TreeProblem) -> tuple[dict[str, slice], dict[str, int], Array]:
    """Places of base wrenches and of joint angles in the vector of unknowns, and its units."""
    wrenches, angles, units = {}, {}, []
    for part in tree.parts:
        if isinstance(part, RodPart):
            wrenches[part.name] = slice(len(units), len(units) + 6)
            moment = part.stiffness[0] / part.length
            units += [moment] * 3 + [moment / part.length] * 3
        if part.joint.axis is not None:
            angles[part.name] = len(units)
            units.append(1.0)
    return wrenches, angles, np.array(units)


def _field(rod: RodPart, weight: Array, y: Any_) -> Any_:
    """Right-hand side for columns [p | R | m | n] of shape (K, 3, 6), flattened."""
    state = y.reshape(-1, 3, 6)
    rotation = state[:, :, 1:4]
    body = np.swapaxes(rotation, 1, 2) @ state[:, :, 4:]
    stiffness = np.asarray(rod.stiffness)
    u = body[:, :, 0] / stiffness[:3]
    v = body[:, :, 1] / stiffness[3:] + (0.0, 0.0, 1.0)
    out = np.empty_like(state)
    out[:, :, 0] = (rotation @ v[:, :, None])[:, :, 0]
    out[:, :, 1:4] = np.cross(
        rotation, u[:, None, :], axis=2
    )  # each row r of R: (r hat(u))^T = r x u
    out[:, :, 4] = np.cross(state[:, :, 5], out[:, :, 0])
    out[:, :, 5] = -weight
    return out.reshape(-1)


@dataclass
class _Sweep:
    """One pass over the tree for K columns of unknowns (K, N) at a load factor."""

    tree: TreeProblem
    x: Any_
    factor: float
    rtol: float
    stations: Stations = field(default_factory=dict)
    poses: dict[Any, Any_] = field(default_factory=dict)
    residual: list[Any_] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wrenches, self.angles, self.units = _unknowns(self.tree)
        for part in self.tree.children(None):
            columns = len(self.x)
            self._hang(part, np.zeros((columns, 3)), np.broadcast_to(np.eye(3), (columns, 3, 3)))

    def _hang(self, part: BodyPart | RodPart, p: Any_, rotation: Any_) -> tuple[Any_, Any_]:
        """Moment about p and force that the part exerts on its carrier, world frame, (K, 3) each."""
        lever = rotation @ part.translation
        own = rotation @ part.rotation
        axis, place = part.joint.axis, self.angles.get(part.name)
        if axis is not None:
            own = own @ turned(axis, self.x[:, place])
        inner = self._rod if isinstance(part, RodPart) else self._body
        moment, force = inner(part, p + lever, own)  # type: ignore[arg-type,operator]
        if axis is not None:
            about = np.einsum("kij,j,ki->k", own, np.asarray(axis), moment)
            self.residual.append((about - part.joint.stiffness * self.x[:, place])[:, None])
        return moment + np.cross(lever, force), force

    def _record(self, name: str, s: float, p: Any_, rotation: Any_) -> None:
        pose = np.zeros((4, 4))
        pose[:3, :3], pose[:3, 3], pose[3, 3] = rotation[0].real, p[0].real, 1.0
        self.poses[name, s] = pose

    def _body(self, body: BodyPart, p: Any_, rotation: Any_) -> tuple[Any_, Any_]:
        self._record(body.name, 0.0, p, rotation)
        weight = self.factor * body.mass * np.asarray(self.tree.gravity)
        force = np.broadcast_to(weight + self.factor * np.asarray(body.force), p.shape)
        moment = np.cross(rotation @ np.asarray(body.centre), weight)
        moment = moment + self.factor * np.asarray(body.moment)
        for child in self.tree.children(body.name):
            m, n = self._hang(child, p, rotation)
            moment, force = moment + m, force + n
        return moment, force

    def _rod(self, rod: RodPart, p: Any_, rotation: Any_) -> tuple[Any_, Any_]:
        base = self.x[:, self.wrenches[rod.name]] * self.units[self.wrenches[rod.name]]
        state = np.empty((len(p), 3, 6), dtype=self.x.dtype)
        state[:, :, 0], state[:, :, 1:4] = p, rotation
        state[:, :, 4], state[:, :, 5] = base[:, :3], base[:, 3:]
        weight = self.factor * rod.line_mass * np.asarray(self.tree.gravity)
        hung = list(self.tree.children(rod.name))
        cuts = {0.0, rod.length, *self.stations.get(rod.name, ()), *(child.s for child in hung)}
        self._record(rod.name, 0.0, p, rotation)
        for start, end in pairwise(sorted(cuts)):
            state = self._integrate(rod, weight, start, end, state)
            self._record(rod.name, end, state[:, :, 0], state[:, :, 1:4])
            for child in hung:
                if child.s == end:
                    m, n = self._hang(child, state[:, :, 0], state[:, :, 1:4])
                    state[:, :, 4] -= m
                    state[:, :, 5] -= n
        end_wrench = state[:, :, 4:] - self.factor * np.stack([rod.moment, rod.force], axis=-1)
        beyond = np.swapaxes(end_wrench, 1, 2).reshape(-1, 6)
        self.residual.append(beyond / self.units[self.wrenches[rod.name]])
        return base[:, :3], base[:, 3:]

    def _integrate(
        self, rod: RodPart, weight: Array, start: float, end: float, state: Any_
    ) -> Any_:
        unit = np.ones((3, 6))
        unit[:, 0] = rod.length
        unit[:, 4:] = rod.stiffness[0] / rod.length / np.array([1.0, rod.length])
        atol = np.tile(0.1 * self.rtol * unit.reshape(-1), len(state))
        run = solve_ivp(lambda s, y: _field(rod, weight, y), (start, end), state.reshape(-1),
                        method="DOP853", rtol=self.rtol, atol=atol)  # fmt: skip
        if not run.success or not np.all(np.isfinite(run.y[:, -1])):
            raise ArithmeticError(f"rod {rod.name!r}: integration failed: {run.message}")
        return run.y[:, -1].reshape(-1, 3, 6).copy()


@dataclass(frozen=True)
class TreeSolution:
    """Equilibrium: joint angles (rad) by part, base wrenches (m, n), world frame, by rod, and poses."""

    angles: dict[str, float]
    wrenches: dict[str, Array]
    poses: dict[tuple[str, float], Array]
    residual: float

    def pose(self, name: str, s: float = 0.0) -> Array:
        """World pose 4x4 of a body (s = 0), or of a rod at its base, its tip or a station."""
        return self.poses[name, s]


def _newton(tree: TreeProblem, factor: float, x: Array, rtol: float, stop: float) -> Array | None:
    first = x
    for _ in range(12):
        try:
            sweep = _Sweep(tree, x + 1j * _STEP * np.eye(x.size), factor, rtol)
        except ArithmeticError:
            return None
        residual = np.concatenate(sweep.residual, axis=1).T
        step = np.linalg.solve(residual.imag / _STEP, residual.real[:, 0])
        x = x - step
        if np.linalg.norm(x - first) > 2.0:
            return None
        if np.linalg.norm(step) < stop * (1.0 + np.linalg.norm(x)):
            return x
    return None


def solve_tree(
    tree: TreeProblem, stations: Stations | None = None, rtol: float = 1e-13
) -> TreeSolution:
    """Equilibrium on the branch that starts at the unloaded tree.

    stations: arclengths by rod at which poses are wanted besides base and tip.
    """
    wrenches, angles, units = _unknowns(tree)
    factor, step = 0.0, 0.25
    x, before = np.zeros(units.size), np.zeros(units.size)
    last = step
    while factor < 1.0:
        target = min(1.0, factor + step)
        guess = x + (x - before) * (target - factor) / last
        found = _newton(tree, target, guess, 1e-7, 1e-5)
        if found is None:
            step *= 0.5
            if step < 1e-5:
                raise ArithmeticError(f"continuation stopped at load factor {factor:.6f}")
            continue
        before, x, last, factor = x, found, target - factor, target
    final = _newton(tree, 1.0, x, rtol, 1e-10)
    if final is None:
        raise ArithmeticError("the last Newton iteration did not converge")
    sweep = _Sweep(tree, final[None, :], 1.0, rtol, stations or {})
    return TreeSolution(
        {name: float(final[place]) for name, place in angles.items()},
        {name: final[place] * units[place] for name, place in wrenches.items()},
        sweep.poses,
        float(np.abs(np.concatenate(sweep.residual, axis=1)).max()),
    )
