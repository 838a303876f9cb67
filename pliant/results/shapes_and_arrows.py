"""Rods, bodies and loads of a result as shapes and arrows for pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.model import Array, Body, Frame, Load, Rod
from pliant.solve.problem import Problem
from pliant.view import Arrow, RodShape

_SECTIONS = 61
_DENSITY = 3000.0
"""kg/m^3 of the ball that is drawn for a body without moments of inertia."""


def rod_shape(rod: Rod, poses: Array) -> RodShape:
    """Return a rod with its poses ([T,] S, 4, 4) at evenly spaced sections."""
    s = np.linspace(0.0, rod.length, poses.shape[-3])
    return RodShape(rod.name, poses, np.stack(rod.section.outline(s, rod.length), axis=-1))


def rod_shapes(compiled: Problem, configurations: Sequence[Any]) -> list[RodShape]:
    """Return all rods at one configuration or over several."""
    shapes = []
    for rod in compiled.description.rods.values():
        s = np.linspace(0.0, rod.length, _SECTIONS)
        poses = np.array([compiled.sampler.poses(q, rod.name, s) for q in configurations])
        shapes.append(rod_shape(rod, poses))
    return shapes


def body_shapes(compiled: Problem, configurations: Sequence[Any]) -> list[RodShape]:
    """Return the rigid bodies as ellipsoids of their inertia."""
    shapes = []
    for body in compiled.description.bodies.values():
        if body.mass > 0:
            poses = np.array([compiled.frame(q, body.origin) for q in configurations])
            shapes.append(body_shape(body, poses))
    return shapes


def body_shape(body: Body, poses: Array) -> RodShape:
    """Return the solid ellipsoid of a body's mass and moments, at its poses (T, 4, 4)."""
    moments, T = body.principal()
    ball = (3.0 * body.mass / (4.0 * np.pi * _DENSITY)) ** (1.0 / 3.0)
    total = 0.5 * moments[:3].sum()
    # I1 = m (b^2 + c^2) / 5 and so on
    half = np.sqrt(np.maximum(5.0 * (total - moments[:3]) / body.mass, (0.5 * ball) ** 2))
    if not moments[:3].any():
        half = np.full(3, ball)
    height = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13))
    slices = np.tile(T, (len(height), 1, 1))
    slices[:, :3, 3] += height[:, None] * half[2] * T[:3, 2]
    widths = np.sqrt(1.0 - height[:, None] ** 2) * half[:2]
    return RodShape(body.name, poses[:, None] @ slices, widths, axes=False)


def arrows_over(
    compiled: Problem, configurations: Sequence[Any], inputs: Mapping[str, Any]
) -> list[Arrow]:
    """Return the loads; a line load is drawn as its resultant at the middle.

    inputs : by name, one value for each configuration.
    """
    arrows = []
    for load in compiled.description.loads.values():
        pairs = zip(configurations, inputs[load.name], strict=True)
        rows = [_resultant(compiled, q, load, value) for q, value in pairs]
        origin, wrench = (np.array([row[k] for row in rows]) for k in (0, 1))
        if len(rows) == 1:
            origin, wrench = origin[0], wrench[0]
        for kind, vector in (("moment", wrench[..., :3]), ("force", wrench[..., 3:])):
            if np.any(vector):
                arrows.append(Arrow(origin, vector, kind, rows[0][2]))
    return arrows


def _resultant(compiled: Problem, q: Array, load: Load, value: Any) -> tuple[Array, Array, str]:
    """Return where a load acts (3,), its wrench (6,) in world axes, and its label."""
    if isinstance(load.on, Frame):
        pose = compiled.frame(q, load.on)
        wrench = load.wrench(value)
        name = load.name
    else:
        rod = compiled.description.rods[load.on]
        start, end = load.over or (0.0, rod.length)
        s = np.linspace(start, end, 41)
        pose = compiled.frame(q, Frame(rod.name, 0.5 * (start + end)))
        wrench = np.asarray(np.trapezoid(load.density(s, value), s, axis=0))
        name = f"{load.name} (sum)"
    if load.frame == "body":
        R = pose[:3, :3]
        wrench = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    return pose[:3, 3], np.asarray(wrench), name
