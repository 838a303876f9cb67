"""Large motion in the plane x-z of a tree of Cosserat rods, bodies and hinges, by Lagrange's equations.

Coordinates are the hinge angles and the Legendre coefficients of curvature, shear and stretch of
every rod. Angles, positive about +y, are then linear in the coordinates, angle = A q, and with
e = (shear, 1 + stretch) positions follow from p' = R(angle) e,

    p   = p_base + int R e,          J    = J_base + int (R' e A + R E),
    J' q' = (J' q')_base + int (R'' e (A q')^2 + 2 R' (A q') (E q')).

Integrals are those of the polynomial through the values at Gauss points, so the error falls
exponentially with the number of modes as long as the motion is smooth. Parts hang on bodies or on
the tips of rods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.optimize import root

from tests.reference.tree_problem import Array, BodyPart, RodPart, TreeProblem

PLANE = [0, 2]
Signal = Callable[[float], float]


def _rotation(angle: Array) -> Array:
    """Rotations (..., 2, 2) of components (x, z) by angles (...) about +y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], -2)


_QUARTER = _rotation(np.array(np.pi / 2))


class _Place(NamedTuple):
    """A frame: angle and its row of A; position (2,), Jacobian (2, N), bias (2,)."""

    angle: float
    row: Array
    p: Array
    jacobian: Array
    bias: Array

    def shifted(self, lever: ArrayLike, rate: float) -> tuple[Array, Array, Array]:
        """Position, Jacobian and bias of a point with the given lever (2,) in this frame."""
        arm = _rotation(np.array(self.angle)) @ np.asarray(lever)
        across = _QUARTER @ arm
        return self.p + arm, self.jacobian + np.outer(across, self.row), self.bias - rate**2 * arm


class _Basis(NamedTuple):
    """Gauss points of a rod: weights (n,), modes (n, k), integrals (n + 1, n) up to them and to 1."""

    weights: Array
    modes: Array
    integral: Array


def _basis(length: float, modes: int, points: int) -> _Basis:
    x, w = legendre.leggauss(points)
    values = legendre.legvander(x, points - 1)
    ends = np.append(x, 1.0)
    integrals = np.stack(
        [legendre.legval(ends, legendre.legint(row, lbnd=-1.0)) for row in np.eye(points)], -1
    )
    integral = 0.5 * length * integrals @ np.linalg.inv(values)
    return _Basis(0.5 * length * w, values[:, :modes], integral)


@dataclass(frozen=True)
class PlanarMotion:
    """Angle, x and z (T, 3) by part at times (T,): of bodies and, as 'name.tip', of the tips of rods.

    energy: kinetic plus elastic plus gravity, (T,); work: done by loads so far; lost: to dampers.
    """

    times: Array
    places: dict[str, Array]
    energy: Array
    work: Array
    lost: Array


class PlanarSpectral:
    """The tree with `modes` Legendre coefficients for each strain of each rod.

    Only curvature has coefficients where a rod's shear and axial stiffness are infinite.
    load: factor on all forces and moments over time.
    """

    def __init__(self, tree: TreeProblem, modes: int, load: Signal = lambda t: 1.0) -> None:
        self.tree, self.load = tree, load
        self.gravity = np.asarray(tree.gravity, dtype=float)[PLANE]
        self.columns: dict[str, slice] = {}
        self.hinges: dict[str, int] = {}
        self.size = 0
        for part in tree.parts:
            if part.joint.axis is not None:
                self.hinges[part.name] = self.size
                self.size += 1
            if isinstance(part, RodPart):
                fields = 3 if np.isfinite(part.stiffness[5]) else 1
                self.columns[part.name] = slice(self.size, self.size + fields * modes)
                self.size += fields * modes
        self.bases = {rod.name: _basis(rod.length, modes, 2 * modes + 4) for rod in tree.parts
                      if isinstance(rod, RodPart)}  # fmt: skip
        self.modes = modes
        self.stiffness, self.damping = self._constants()

    def _constants(self) -> tuple[Array, Array]:
        stiffness, damping = np.zeros(self.size), np.zeros(self.size)
        for part in self.tree.parts:
            if part.name in self.hinges:
                stiffness[self.hinges[part.name]] = part.joint.stiffness * part.joint.axis[1] ** 2  # type: ignore[index]
                damping[self.hinges[part.name]] = part.joint.damping
            if isinstance(part, RodPart):
                norms = part.length / (2.0 * np.arange(self.modes) + 1.0)
                fields = [part.stiffness[1], part.stiffness[3], part.stiffness[5]]
                chosen = [k * norms for k in fields if np.isfinite(k)]
                stiffness[self.columns[part.name]] = np.concatenate(chosen)
        return stiffness, damping

    def _sweep(
        self, q: Array, rate: Array, t: float
    ) -> tuple[Array, Array, dict[str, _Place], float]:
        """Mass matrix, force (N,) without stiffness and damping, places, energy of gravity."""
        zero = np.zeros(self.size)
        world = _Place(0.0, zero, np.zeros(2), np.zeros((2, self.size)), np.zeros(2))
        places: dict[str | None, _Place] = {None: world}
        seen: dict[str, _Place] = {}
        mass, force, height = np.zeros((self.size, self.size)), np.zeros(self.size), 0.0
        load = self.load(t)
        for part in self.tree.parts:
            own = self._base(part, places[part.on], q, rate)
            inner = self._rod if isinstance(part, RodPart) else self._body
            place, m, f, v = inner(part, own, q, rate)  # type: ignore[arg-type,operator]
            places[part.name] = place
            seen[f"{part.name}.tip" if isinstance(part, RodPart) else part.name] = place
            dead = place.jacobian.T @ np.asarray(part.force)[PLANE] + place.row * part.moment[1]
            mass += m
            force += f + load * dead
            height += v
        return mass, force, seen, height

    def _base(self, part: BodyPart | RodPart, on: _Place, q: Array, rate: Array) -> _Place:
        p, jacobian, bias = on.shifted(part.translation[PLANE], on.row @ rate)
        angle = on.angle + np.arctan2(part.rotation[0, 2], part.rotation[2, 2])
        row = on.row.copy()
        if part.name in self.hinges:
            sign = part.joint.axis[1]  # type: ignore[index]
            row[self.hinges[part.name]] = sign
            angle = angle + sign * q[self.hinges[part.name]]
        return _Place(angle, row, p, jacobian, bias)

    def _body(
        self, body: BodyPart, own: _Place, q: Array, rate: Array
    ) -> tuple[_Place, Array, Array, float]:
        p, jacobian, bias = own.shifted(np.asarray(body.centre)[PLANE], own.row @ rate)
        mass = body.mass * jacobian.T @ jacobian + body.inertia[1] * np.outer(own.row, own.row)
        force = body.mass * jacobian.T @ (self.gravity - bias)
        return own, mass, force, -body.mass * float(self.gravity @ p)

    def _rod(
        self, rod: RodPart, own: _Place, q: Array, rate: Array
    ) -> tuple[_Place, Array, Array, float]:
        basis, columns, n = self.bases[rod.name], self.columns[rod.name], self.modes
        rows = np.tile(own.row, (len(basis.weights) + 1, 1))
        rows[:, columns.start : columns.start + n] = basis.integral @ basis.modes
        strain = np.zeros((len(basis.weights), 2, self.size))
        if columns.stop - columns.start > n:
            strain[:, 0, columns.start + n : columns.start + 2 * n] = basis.modes
            strain[:, 1, columns.start + 2 * n : columns.stop] = basis.modes
        angle = own.angle + (rows - own.row) @ q
        spin = rows @ rate
        turn = _rotation(angle[:-1])
        e = strain @ q + (0.0, 1.0)
        tangent = np.einsum("nij,nj->ni", turn, e)
        across = tangent @ _QUARTER.T
        slope = across[:, :, None] * rows[:-1, None, :] + turn @ strain
        swirl = np.einsum("ij,njk,nk->ni", _QUARTER, turn, strain @ rate)
        bend = 2.0 * spin[:-1, None] * swirl - spin[:-1, None] ** 2 * tangent
        p = own.p + basis.integral @ tangent
        jacobian = own.jacobian + np.tensordot(basis.integral, slope, 1)
        bias = own.bias + basis.integral @ bend
        line = rod.line_mass * basis.weights
        flat = (np.sqrt(line)[:, None, None] * jacobian[:-1]).reshape(-1, self.size)
        turning = np.sqrt(rod.inertia[1] * basis.weights)[:, None] * rows[:-1]
        mass = flat.T @ flat + turning.T @ turning
        push = line[:, None] * (self.gravity - bias[:-1])
        force = np.tensordot(push, jacobian[:-1], 2)
        tip = _Place(float(angle[-1]), rows[-1], p[-1], jacobian[-1], bias[-1])
        return tip, mass, force, -float(line @ (p[:-1] @ self.gravity))

    def energy(self, q: Array, rate: Array) -> float:
        """Kinetic, elastic and gravitational energy, J."""
        mass, _, _, height = self._sweep(q, rate, 0.0)
        return float(0.5 * rate @ mass @ rate + 0.5 * self.stiffness @ q**2 + height)

    def equilibrium(self) -> tuple[Array, dict[str, Array]]:
        """Coordinates and places (angle, x, z) at rest under gravity and loads at time 0."""
        still = np.zeros(self.size)

        def unbalance(q: Array) -> Array:
            return (self._sweep(q, still, 0.0)[1] - self.stiffness * q) / scale

        scale = np.sqrt(np.where(self.stiffness > 0.0, self.stiffness, 1.0))
        found = root(unbalance, still, tol=1e-14)
        if np.abs(found.fun).max() > 1e-9 * np.abs(unbalance(still)).max():
            raise ArithmeticError(f"no equilibrium: {found.message}")
        return found.x, self.places(found.x)

    def places(self, q: Array) -> dict[str, Array]:
        """(angle, x, z) of bodies and tips of rods."""
        seen = self._sweep(q, np.zeros(self.size), 0.0)[2]
        return {name: np.array([place.angle, *place.p]) for name, place in seen.items()}

    def linear(self, q: Array) -> Array:
        """Frequencies (Hz) about an unloaded configuration without gravity."""
        mass = self._sweep(q, np.zeros(self.size), 0.0)[0]
        lower = np.linalg.inv(np.linalg.cholesky(mass))
        squares = np.linalg.eigvalsh(lower * self.stiffness @ lower.T)
        return np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi)

    def move(
        self, times: ArrayLike, start: Array | None = None, rate: Array | None = None,
        rtol: float = 1e-10,
    ) -> PlanarMotion:  # fmt: skip
        """Motion from given coordinates and rates, zero unless given, at times[0]."""
        n, times = self.size, np.asarray(times, dtype=float)

        def rhs(t: float, y: Array) -> Array:
            q, speed = y[:n], y[n : 2 * n]
            mass, force, seen, _ = self._sweep(q, speed, t)
            right = force - self.stiffness * q - self.damping * speed
            power = self.load(t) * sum(
                np.asarray(part.force)[PLANE] @ (place.jacobian @ speed)
                + part.moment[1] * (place.row @ speed)
                for part, place in zip(self.tree.parts, seen.values(), strict=True)
            )
            lost = self.damping @ speed**2
            return np.concatenate([speed, np.linalg.solve(mass, right), [power, lost]])

        zero = np.zeros(n)
        first = np.concatenate(
            [zero if start is None else start, zero if rate is None else rate, [0, 0]]
        )
        run = solve_ivp(rhs, (times[0], times[-1]), first, method="DOP853", t_eval=times,
                        rtol=rtol, atol=0.01 * rtol, first_step=1e-6, max_step=1e-3)  # fmt: skip
        frames = [self.places(y[:n]) for y in run.y.T]
        energy = np.array([self.energy(y[:n], y[n : 2 * n]) for y in run.y.T])
        places = {name: np.array([frame[name] for frame in frames]) for name in frames[0]}
        return PlanarMotion(times, places, energy, run.y[2 * n], run.y[2 * n + 1])
