"""The same equilibria by `scipy.integrate.solve_bvp`, as a second method.

All rods are mapped to one interval and solved together. State of a rod (13,): position, unit
quaternion (w, x, y, z), internal moment and force, world frame. Joint angles are parameters of the
boundary-value problem. Parts hang on bodies or on the tips of rods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_bvp
from scipy.spatial.transform import Rotation

from tests.reference.tree_problem import Array, BodyPart, RodPart, TreeProblem


def _product(a: Array, b: Array) -> Array:
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def _matrix(q: Array) -> Array:
    """Rotation matrices (3, 3, ...) of quaternions (4, ...), homogeneous in the quaternion."""
    w, x, y, z = q / np.sqrt(np.sum(q * q, axis=0))
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _rest(part: BodyPart | RodPart) -> Array:
    return np.roll(Rotation.from_matrix(part.rotation).as_quat(), 1)


@dataclass
class _Boundary:
    """Residuals of all boundary conditions for states (n, 13) at bases and tips."""

    tree: TreeProblem
    factor: float
    base: Array
    tip: Array
    angles: Array

    def __post_init__(self) -> None:
        rods = [part.name for part in self.tree.parts if isinstance(part, RodPart)]
        joints = [part.name for part in self.tree.parts if part.joint.axis is not None]
        self.row = {name: k for k, name in enumerate(rods)}
        self.angle = dict(zip(joints, self.angles, strict=True))
        self.residual: list[Array] = []
        self.bodies: dict[str, tuple[Array, Array]] = {}
        for part in self.tree.children(None):
            self._hang(part, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))

    def _hang(self, part: BodyPart | RodPart, p: Array, q: Array) -> tuple[Array, Array]:
        lever = _matrix(q) @ part.translation
        own = _product(q, _rest(part))
        joint = part.joint
        if joint.axis is not None:
            half = 0.5 * self.angle[part.name]
            own = _product(own, np.array([np.cos(half), *(np.sin(half) * np.asarray(joint.axis))]))
        inner = self._rod if isinstance(part, RodPart) else self._body
        moment, force = inner(part, p + lever, own)  # type: ignore[arg-type,operator]
        if joint.axis is not None:
            about = _matrix(own) @ np.asarray(joint.axis) @ moment
            self.residual.append(np.array([about - joint.stiffness * self.angle[part.name]]))
        return moment + np.cross(lever, force), force

    def _body(self, body: BodyPart, p: Array, q: Array) -> tuple[Array, Array]:
        self.bodies[body.name] = (p, q)
        weight = self.factor * body.mass * np.asarray(self.tree.gravity)
        moment = np.cross(_matrix(q) @ np.asarray(body.centre), weight)
        moment, force = moment + self.factor * np.asarray(body.moment), weight.copy()
        force += self.factor * np.asarray(body.force)
        for child in self.tree.children(body.name):
            m, n = self._hang(child, p, q)
            moment, force = moment + m, force + n
        return moment, force

    def _rod(self, rod: RodPart, p: Array, q: Array) -> tuple[Array, Array]:
        base, tip = self.base[self.row[rod.name]], self.tip[self.row[rod.name]]
        moment, force = self.factor * np.asarray(rod.moment), self.factor * np.asarray(rod.force)
        for child in self.tree.children(rod.name):
            m, n = self._hang(child, tip[:3], tip[3:7])
            moment, force = moment + m, force + n
        self.residual += [base[:3] - p, base[3:7] - q, tip[7:10] - moment, tip[10:] - force]
        return base[7:10], base[10:]


def _derivative(rods: list[RodPart], weights: list[Array], y: Array) -> Array:
    out = np.empty_like(y)
    for k, (rod, weight) in enumerate(zip(rods, weights, strict=True)):
        state, rate = y[13 * k : 13 * k + 13], out[13 * k : 13 * k + 13]
        rotation, stiffness = _matrix(state[3:7]), np.asarray(rod.stiffness)[:, None]
        u = np.einsum("jis,js->is", rotation, state[7:10]) / stiffness[:3]
        v = np.einsum("jis,js->is", rotation, state[10:]) / stiffness[3:] + [[0], [0], [1]]
        rate[:3] = np.einsum("ijs,js->is", rotation, v)
        rate[3] = -0.5 * np.sum(state[4:7] * u, axis=0)
        rate[4:7] = 0.5 * (state[3] * u + np.cross(state[4:7], u, axis=0))
        rate[7:10] = np.cross(state[10:], rate[:3], axis=0)
        rate[10:] = -weight[:, None]
        rate *= rod.length
    return out


def solve_tree_bvp(
    tree: TreeProblem, tolerance: float = 1e-8, load_steps: int = 4
) -> tuple[dict[str, Array], dict[str, float]]:
    """Tip poses 4x4 by rod, and joint angles (rad) by part."""
    rods = [part for part in tree.parts if isinstance(part, RodPart)]
    if any(child.s != rod.length for rod in rods for child in tree.children(rod.name)):
        raise ValueError("parts between base and tip are not possible with solve_bvp")
    joints = [part.name for part in tree.parts if part.joint.axis is not None]
    mesh, angles = np.linspace(0.0, 1.0, 21), np.zeros(len(joints))
    guess = _unloaded(tree, rods, mesh)
    for level in np.arange(1, load_steps + 1) / load_steps:
        weights = [level * rod.line_mass * np.asarray(tree.gravity) for rod in rods]

        def boundary(a: Array, b: Array, q: Array | None = None, level: float = level) -> Array:
            ends = _Boundary(tree, level, a.reshape(-1, 13), b.reshape(-1, 13), _given(q))
            return np.concatenate(ends.residual)

        def field(s: Array, y: Array, q: Any = None, weights: list[Array] = weights) -> Array:
            return _derivative(rods, weights, y)

        raw = solve_bvp(field, boundary, mesh, guess, p=angles if joints else None,
                        tol=tolerance if level == 1.0 else 1e-3, max_nodes=20000)  # fmt: skip
        if not raw.success:
            raise ArithmeticError(f"solve_bvp failed at load factor {level}: {raw.message}")
        guess, angles = raw.sol(mesh), _given(raw.p)
    tips = {}
    for k, rod in enumerate(rods):
        pose = np.eye(4)
        pose[:3, :3] = _matrix(raw.y[13 * k + 3 : 13 * k + 7, -1])
        pose[:3, 3] = raw.y[13 * k : 13 * k + 3, -1]
        tips[rod.name] = pose
    return tips, dict(zip(joints, map(float, angles), strict=True))


def _given(parameters: Array | None) -> Array:
    return np.zeros(0) if parameters is None else np.asarray(parameters, dtype=float)


def _unloaded(tree: TreeProblem, rods: list[RodPart], mesh: Array) -> Array:
    """Guess (13 n, S): the tree at rest, each rod straight."""
    guess = np.zeros((13 * len(rods), mesh.size))
    frames: dict[str | None, tuple[Array, Array]] = {None: (np.zeros(3), np.array([1.0, 0, 0, 0]))}
    for part in tree.parts:
        p, q = frames[part.on]
        p, q = p + _matrix(q) @ part.translation, _product(q, _rest(part))
        if isinstance(part, RodPart):
            k = rods.index(part)
            guess[13 * k : 13 * k + 3] = p[:, None] + _matrix(q)[:, 2, None] * mesh * part.length
            guess[13 * k + 3 : 13 * k + 7] = q[:, None]
            p = p + _matrix(q)[:, 2] * part.length
        frames[part.name] = (p, q)
    return guess
