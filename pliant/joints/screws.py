"""Joints that turn and slide along constant axes, one after the other.

With constant unit twists s_i, turns about axes and shifts along them, the pose is

    j(q) = exp(s_1 q_1) exp(s_2 q_2) ... exp(s_n q_n) C,    S_i = Ad((exp(s_i+1 q_i+1) ... C)^-1) s_i,

with C the constant pose at q = 0, and j(q)^-1 j(q + x) = exp(S_1 x_1) ... exp(S_n x_n) exactly. By the
Baker-Campbell-Hausdorff formula the second derivative of r . log is r . [S_i, S_j] / 2 for i < j, and
the twist S v changes at constant velocities by the sum over i < j of [S_i, S_j] v_i v_j.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from pliant._numba import inner, kernel
from pliant.engine.arrays import clear, combine, copy
from pliant.engine.program import run
from pliant.joints.options import MovingJoint
from pliant.lie import symbolic
from pliant.lie.se3_kernels import Ad_inverse_array, ad_array, exp_pose_array, multiply_array
from pliant.lie.tuples import Array


@dataclass(frozen=True)
class ScrewJoint(MovingJoint):
    """A joint of turns about axes and shifts along axes, one after the other.

    A subclass gives `twists`, and says ``compiled = True`` for itself.
    """

    file_name: ClassVar[str] = ""

    @abstractmethod
    def twists(self) -> Array:
        """Unit twists (nv, 6) = (w, v) in the order in which the joint makes them."""

    def end(self) -> Array:
        """The pose (4, 4) at q = 0."""
        return np.eye(4)

    @cached_property
    def _end(self) -> Array:
        return np.ascontiguousarray(self.end(), dtype=float)

    @cached_property
    def screws(self) -> Array:
        return np.ascontiguousarray(self.twists(), dtype=float)

    @cached_property
    def _constant(self) -> bool:
        """Whether all twists commute, so that they keep their axes."""
        pairs = [(a, b) for a in self.screws for b in self.screws]
        return not any(np.any(_bracket(a, b)) for a, b in pairs)

    def pose(self, q: Array) -> Array:
        out, axes = np.eye(4), np.zeros((6, self.nv))
        place_screws(self.screws, self._end, q, out, axes)
        return out

    def axes(self, q: Array) -> Array:
        out, axes = np.eye(4), np.zeros((6, self.nv))
        place_screws(self.screws, self._end, q, out, axes)
        return axes

    def place(self, q: Array, pose: Array, axes: Array) -> None:
        run(place_screws, self.screws, self._end, q, pose, axes)

    def move(self, q: Array, x: Array, index: Array, out: Array) -> None:
        run(add_variation, q, x, index, out)

    def extrapolate(self, before: Array, now: Array, out: Array) -> None:
        combine(2.0, now, -1.0, before, out)

    def set_difference(self, a: Array, b: Array, out: Array) -> None:
        combine(1.0, b, -1.0, a, out)

    def add_second(self, q: Array, wrench: Array, H: Array) -> None:
        if not self._constant:
            run(add_screw_second, self.screws, self._end, q, wrench, H)

    def set_bias(self, q: Array, v: Array, index: Array, bias: Array) -> None:
        if self._constant:
            clear(bias)
        else:
            run(set_screw_bias, self.screws, self._end, q, v, index, bias)

    def second(self, q: Array, r: Array) -> Array:
        H = np.zeros((self.nv, self.nv))
        self.add_second(q, r, H)
        return H

    def bias(self, q: Array, v: Array) -> Array:
        out = np.zeros(6)
        set_screw_bias(self.screws, self._end, q, v, np.arange(self.nv), out)
        return out

    def set_values(self, q: Array, out: Array, slope: Array) -> None:
        copy(q, out)
        run(set_identity, slope)

    def set_change(self, a: Array, b: Array, out: Array, slope: Array) -> None:
        combine(1.0, b, -1.0, a, out)
        run(set_identity, slope)

    def add_curvature(self, q: Array, r: Array, H: Array) -> None:
        """Add nothing."""

    def symbolic_pose(self, math: Any, q: Any) -> tuple[Any, Any]:
        """One turn or shift after the other, then the pose at q = 0."""
        R, p = math.SX.eye(3), math.SX.zeros(3)
        for k, twist in enumerate(self.twists()):
            turned, moved = symbolic.screw(math, twist, q[k])
            R, p = R @ turned, p + R @ moved
        end = self.end()
        return R @ end[:3, :3], p + R @ end[:3, 3]


def turn(axis: Array) -> Array:
    """The unit twist (6,) of a turn about an axis (3,)."""
    return np.concatenate([axis, np.zeros(3)])


def shift(axis: Array) -> Array:
    """The unit twist (6,) of a shift along an axis (3,)."""
    return np.concatenate([np.zeros(3), axis])


def _bracket(a: Array, b: Array) -> Array:
    w, v = np.cross(a[:3], b[:3]), np.cross(a[:3], b[3:]) + np.cross(a[3:], b[:3])
    return np.concatenate([w, v])


@kernel
def set_identity(out):  # type: ignore[no-untyped-def]
    """out (n, n) = 1."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 1.0 if i == j else 0.0


@kernel
def add_variation(q, x, index, out):  # type: ignore[no-untyped-def]
    """out = q + x[index]."""
    for i in range(q.shape[0]):
        out[i] = q[i] + x[index[i]]


@kernel
def place_screws(screws, end, q, pose, axes):  # type: ignore[no-untyped-def]
    """pose (4, 4) and axes (6, n) of a joint with unit twists (n, 6) at q (n,), last one first.

    end (4, 4) : the pose at q = 0.
    """
    n = screws.shape[0]
    x, g, inward = np.empty(6), np.empty((4, 4)), np.empty((6, 6))
    for i in range(4):
        for j in range(4):
            pose[i, j] = end[i, j]
    for k in range(n - 1, -1, -1):
        Ad_inverse_array(pose, inward)
        for i in range(6):
            axes[i, k] = 0.0
            for j in range(6):
                axes[i, k] += inward[i, j] * screws[k, j]
            x[i] = q[k] * screws[k, i]
        exp_pose_array(x, g)
        multiply_array(g, pose, pose)


@inner
def bracket_of(axes, a, b, ad, out):  # type: ignore[no-untyped-def]
    """out (6,) = [S_a, S_b], columns of axes (6, n); ad (6, 6) is workspace."""
    for i in range(6):
        out[i] = axes[i, a]
    ad_array(out, ad)
    for i in range(6):
        out[i] = 0.0
        for j in range(6):
            out[i] += ad[i, j] * axes[j, b]


@kernel
def add_screw_second(screws, end, q, wrench, H):  # type: ignore[no-untyped-def]
    """H_ij, H_ji += wrench . [S_i, S_j] / 2 for i < j."""
    n = screws.shape[0]
    pose, axes, ad, out = np.empty((4, 4)), np.empty((6, n)), np.empty((6, 6)), np.empty(6)
    place_screws(screws, end, q, pose, axes)
    for a in range(n):
        for b in range(a + 1, n):
            bracket_of(axes, a, b, ad, out)
            value = 0.0
            for i in range(6):
                value += 0.5 * wrench[i] * out[i]
            H[a, b] += value
            H[b, a] += value


@kernel
def set_screw_bias(screws, end, q, v, index, bias):  # type: ignore[no-untyped-def]
    """bias (6,) = sum over i < j of [S_i, S_j] v_i v_j, velocities v[index]."""
    n = screws.shape[0]
    pose, axes, ad, out = np.empty((4, 4)), np.empty((6, n)), np.empty((6, 6)), np.empty(6)
    place_screws(screws, end, q, pose, axes)
    for i in range(6):
        bias[i] = 0.0
    for a in range(n):
        for b in range(a + 1, n):
            bracket_of(axes, a, b, ad, out)
            for i in range(6):
                bias[i] += out[i] * v[index[a]] * v[index[b]]
