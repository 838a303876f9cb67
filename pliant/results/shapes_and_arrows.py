"""Rods, bodies and effects of a result as shapes and arrows for pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from pliant.model import Array, Body, Effect, Frame, Rod, drawing, seen_from
from pliant.solve.problem import Problem
from pliant.view import Arrow, RodShape
from pliant.view.mesh import frame_along

_SECTIONS = 61
_DENSITY = 3000.0
"""kg/m^3 of the ball that is drawn for a body without moments of inertia."""
_MARK = 0.015
"""Radius of a mark as a part of the longest rod."""
_SLACK, _TAUT = "#c9c4bd", "#b3122f"
"""Colours of tendons without tension, and with the largest one in the picture."""
_AROUND = 1.25
"""Least radius of a mark as a part of the widest base of a rod, so that it is seen around it."""


def rod_shape(rod: Rod, poses: Array, s: Array | None = None) -> RodShape:
    """Return a rod with its poses ([T,] S, 4, 4) at s (S,), or at evenly spaced sections."""
    s = np.linspace(0.0, rod.length, poses.shape[-3]) if s is None else s
    return RodShape(rod.name, poses, rod.outline(s))


def rod_shapes(compiled: Problem, configurations: Sequence[Any]) -> list[RodShape]:
    """Return all rods at one configuration or over several."""
    about, sample = compiled.description, compiled.sampler.poses
    sections = {
        name: np.linspace(seen_from(about, rod), rod.length, _SECTIONS)
        for name, rod in about.rods.items()
    }
    return [
        rod_shape(about.rods[name], np.array([sample(q, name, s) for q in configurations]), s)
        for name, s in sections.items()
    ]


def robot_shapes(compiled: Problem, configurations: Sequence[Any]) -> list[RodShape]:
    """Return all rods and bodies at one configuration or over several."""
    return rod_shapes(compiled, configurations) + body_shapes(compiled, configurations)


def body_shapes(compiled: Problem, configurations: Sequence[Any]) -> list[RodShape]:
    """Return the rigid bodies as ellipsoids of their inertia."""
    return [
        body_shape(body, np.array([compiled.frame(q, body.origin) for q in configurations]))
        for body in compiled.description.bodies.values()
        if body.mass > 0
    ]


def body_shape(body: Body, poses: Array) -> RodShape:
    """Return the solid ellipsoid of a body's mass and moments, at its poses (T, 4, 4)."""
    moments, T = body.principal()
    ball = (3.0 * body.mass / (4.0 * np.pi * _DENSITY)) ** (1.0 / 3.0)
    total = 0.5 * moments[:3].sum()
    # I1 = m (b^2 + c^2) / 5 and so on
    half = np.sqrt(np.maximum(5.0 * (total - moments[:3]) / body.mass, (0.5 * ball) ** 2))
    if not moments[:3].any():
        half = np.full(3, ball)
    return _ball(body.name, poses, T, half)


def _ball(name: str, poses: Array, T: Array, half: Array) -> RodShape:
    """An ellipsoid with half axes (3,) at T (4, 4) in its poses (T, 4, 4)."""
    height = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13))
    slices = np.tile(T, (len(height), 1, 1))
    slices[:, :3, 3] += height[:, None] * half[2] * T[:3, 2]
    widths = np.sqrt(1.0 - height[:, None] ** 2) * half[:2]
    return RodShape(name, poses[:, None] @ slices, widths, axes=False)


@dataclass
class Snapshot:
    """The robot at configuration q, with the values of its inputs; see `pliant.model.drawing`."""

    compiled: Problem
    q: Any
    values: Mapping[str, Any]

    def frame(self, frame: Frame) -> Array:
        """World pose (4, 4) of a frame."""
        return self.compiled.frame(self.q, frame)

    def sections(self, rod: str, s: Array) -> Array:
        """World poses (S, 4, 4) of sections of a rod at s (S,)."""
        return self.compiled.sampler.poses(self.q, rod, s)

    def length(self, rod: str) -> float:
        """Length of a rod, m."""
        return self.compiled.description.rods[rod].length

    def input(self, name: str) -> Any:
        """Value of an input."""
        return self.values[name]


def effect_shapes(
    compiled: Problem,
    configurations: Sequence[Any],
    inputs: Mapping[str, Any],
    tensions: Mapping[str, Any] | None = None,
) -> tuple[list[RodShape], list[Arrow]]:
    """Return what the effects show at some configurations: shapes, and arrows that are not zero.

    inputs : by name, one value for each configuration.  tensions : of effects that have one, N, by
    name, one number or one for each span; they are coloured by it.
    """
    shapes: list[RodShape] = []
    arrows: list[Arrow] = []
    rods = compiled.description.rods.values()
    size = max((rod.length for rod in rods), default=0.1)
    wide = [float(rod.outline(np.zeros(1)).max()) for rod in rods]
    radius = max(_MARK * size, _AROUND * max(wide, default=0.0))
    for effect in compiled.description.of(Effect).values():
        rows = [
            effect.drawing(
                Snapshot(compiled, q, {name: inputs[name][k] for name in effect.inputs()})
            )
            for k, q in enumerate(configurations)
        ]
        drawn = [_over_time(list(item), size, radius) for item in zip(*rows, strict=True)]
        lines = [item for item in drawn if isinstance(item, RodShape)]
        if tensions is not None and effect.name in tensions:
            most = max(float(np.max(np.abs(x))) for x in tensions.values())
            lines = [part for line in lines for part in coloured(line, tensions[effect.name], most)]
        shapes += lines
        arrows += [item for item in drawn if isinstance(item, Arrow) and np.any(item.vector)]
    return shapes, arrows


def coloured(line: RodShape, tension: Any, most: float) -> list[RodShape]:
    """Return a line coloured by its tension, N, relative to the largest one in the picture.

    With one tension for each of its spans it is cut into them.
    """
    given = np.atleast_1d(np.asarray(tension, dtype=float))
    count = line.poses.shape[-3]
    name = f"{line.name}: {given[0]:.3g} N"
    if len(given) == 1 or len(given) != count - 1:
        return [
            RodShape(name, line.poses, line.half_widths, tension_color(given.mean() / (most or 1)))
        ]
    if not np.allclose(given, given[0]):
        name = f"{line.name}: {given[0]:.3g} to {given[-1]:.3g} N"
    return [
        RodShape(
            name,
            line.poses[..., k : k + 2, :, :],
            line.half_widths[k : k + 2],
            tension_color(x / (most or 1)),
        )
        for k, x in reversed(list(enumerate(given)))
    ]


def tension_color(share: float) -> str:
    """Return a colour from grey for slack to dark red for the largest tension."""
    first, last = np.array(to_rgb(_SLACK)), np.array(to_rgb(_TAUT))
    return to_hex(first + min(abs(share), 1.0) * (last - first))


def tensions_of(result: Any) -> dict[str, Any]:
    """Return the tensions of all effects of a result that have one, N; in a motion the largest."""
    effects = result._compiled.description.of(Effect)
    known = [name for name, effect in effects.items() if "tension" in effect.tells]
    found = {name: np.asarray(result.tension(name)) for name in known}
    over_time = len(result._leading)
    return {name: np.abs(x).max(axis=0) if over_time and len(x) else x for name, x in found.items()}


def _over_time(drawn: list[Any], size: float, radius: float) -> RodShape | Arrow:
    """Return one shape or arrow from what is drawn of it at each configuration.

    size, radius : of the longest rod and of marks, m.
    """
    first, last = drawn[0], drawn[-1]
    if isinstance(first, drawing.Arrow):
        origin, vector = (np.array([getattr(x, k) for x in drawn]) for k in ("origin", "vector"))
        one = len(drawn) == 1
        return Arrow(
            origin[0] if one else origin, vector[0] if one else vector, first.kind, first.name
        )
    if isinstance(first, drawing.Line):
        poses = np.array([_along(np.asarray(item.points, dtype=float)) for item in drawn])
        return RodShape(first.name, poses, np.full(2, 0.002 * size), axes=False)
    if isinstance(first, drawing.Tube):
        poses = np.array([item.poses for item in drawn])
        return RodShape(first.name, poses, first.half_widths, axes=False)
    name = first.name
    if isinstance(last, drawing.Value):
        name = f"{name}: {last.number:.3g} {last.unit}".strip()
    balls = np.tile(np.eye(4), (len(drawn), 1, 1))
    balls[:, :3, 3] = [item.origin for item in drawn]
    return _ball(name, balls, np.eye(4), np.full(3, radius))


def _along(points: Array) -> Array:
    """Poses (N, 4, 4) at points (N, 3), with z along the line."""
    ways = np.asarray(np.gradient(points, axis=0))
    poses = np.tile(np.eye(4), (len(points), 1, 1))
    poses[:, :3, :3] = [frame_along(way if way.any() else np.eye(3)[2]) for way in ways]
    poses[:, :3, 3] = points
    return poses
