"""Rods, bodies and effects of a result as shapes and arrows for pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
_JOINT = 0.012
"""Radius of the pin of a joint as a part of the size of the robot."""
_JOINTS, _PIN = "joints", "#5b6470"
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
    """Return the rigid bodies by their shapes, or as ellipsoids of their inertia, and the joints."""
    bodies = [
        body_shape(body, np.array([compiled.frame(q, body.origin) for q in configurations]))
        for body in compiled.description.bodies.values()
        if body.mass > 0 or body.shape is not None
    ]
    return bodies + joint_shapes(compiled, configurations)


def joint_shapes(compiled: Problem, configurations: Sequence[Any]) -> list[RodShape]:
    """Return a pin for each axis of a joint about which it turns, a rail for each along which it
    slides, and a ball for one that turns any way.
    """
    members = compiled.description.jointed().values()
    found: list[RodShape] = []
    radius = _JOINT * extent_of(compiled, configurations[0])
    for part in members:
        joint: Any = part.joint
        if joint is None or not 0 < joint.nv < 6:
            continue
        base = Frame(part.name) if isinstance(part, Body) else Frame(part.name, 0.0)
        poses = np.array([compiled.frame(q, base) for q in configurations])
        if not joint.additive and joint.nv == 3:
            ball = _ball(_JOINTS, poses, np.eye(4), np.full(3, 1.5 * radius))
            found.append(replace(ball, color=_PIN, inside=True))
            continue
        coordinates = [compiled.joint(q, part.name) for q in configurations]
        for k in range(joint.nv):
            axes = np.array([joint.axes(q)[:, k] for q in coordinates])
            turns = bool(np.any(axes[0, :3]))
            way = axes[:, :3] if turns else axes[:, 3:]
            wide, least = (radius, 7.0 * radius) if turns else (0.5 * radius, 10.0 * radius)
            through = 1.3 * min(_reach(part, way[0]), 25.0 * radius)
            found.append(_pin(poses, way, wide, max(least, through)))
    return found


def extent_of(compiled: Problem, q: Any) -> float:
    """Return the size of the robot, m: of its rods, its bodies and what lies between them."""
    members = compiled.description.members().values()
    rods = [part.length for part in members if isinstance(part, Rod)]
    bodies = [part for part in members if isinstance(part, Body)]
    frames = [frame for part in bodies for frame in (part.origin, part.at(part.centre))]
    points = np.array([compiled.frame(q, frame)[:3, 3] for frame in frames])
    solids = [part.shape.faces().reshape(-1, 3) for part in bodies if part.shape is not None]
    clouds = [points.reshape(-1, 3), *solids]
    spans = [float(np.linalg.norm(np.ptp(cloud, axis=0))) for cloud in clouds if len(cloud)]
    return max([*rods, *spans, 0.0]) or 0.1


def _reach(part: Rod | Body, way: Array) -> float:
    """How far a part reaches from its joint along a direction (3,), m."""
    if isinstance(part, Rod):
        return float(part.outline(np.zeros(1)).max())
    if part.shape is None:
        return 0.0
    return float(np.abs(part.shape.faces() @ way).max())


def _pin(poses: Array, way: Array, radius: float, half: float) -> RodShape:
    """A cylinder of half a length along directions (T, 3) in poses (T, 4, 4)."""
    turn = np.array([frame_along(x) for x in way])
    shown = np.repeat(poses[:, None], 2, axis=1)
    shown[:, :, :3, :3] = poses[:, None, :3, :3] @ turn[:, None]
    ends = np.array([-1.0, 1.0]) * half
    shown[:, :, :3, 3] += ends[:, None] * np.einsum("tij,tj->ti", poses[:, :3, :3], way)[:, None]
    return RodShape(_JOINTS, shown, np.full(2, radius), _PIN, inside=True)


def body_shape(body: Body, poses: Array) -> RodShape:
    """Return the solid ellipsoid of a body's mass and moments, at its poses (T, 4, 4)."""
    if body.shape is not None:
        pair = np.repeat(poses[:, None], 2, axis=1)
        return RodShape(body.name, pair, np.zeros(2), faces=body.shape.faces())
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
    readings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def told(self, name: str) -> Mapping[str, Any]:
        """What an effect tells of itself."""
        return self.readings.get(name, {})

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
    told: Sequence[Mapping[str, Mapping[str, Any]]] = (),
) -> tuple[list[RodShape], list[Arrow]]:
    """Return what the effects show at some configurations: shapes, and arrows that are not zero.

    inputs : by name, one value for each configuration.  tensions : of effects that have one, N, by
    name, one number or one for each span; they are coloured by it.  told : what effects tell of
    themselves, for each configuration; nothing if it is not known.
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
                Snapshot(
                    compiled,
                    q,
                    {name: inputs[name][k] for name in effect.inputs()},
                    told[k] if told else {},
                )
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

    With several tensions from one end to the other it is cut into its spans.
    """
    given = np.atleast_1d(np.asarray(tension, dtype=float))
    spans = line.poses.shape[-3] - 1
    name = f"{line.name}: {given[0]:.3g} N"
    if len(given) == 1:
        color = tension_color(given[0] / (most or 1))
        return [RodShape(name, line.poses, line.half_widths, color, inside=line.inside)]
    if not np.allclose(given, given[0]):
        name = f"{line.name}: {given[0]:.3g} to {given[-1]:.3g} N"
    at, known = ((np.arange(n) + 0.5) / n for n in (spans, len(given)))
    return [
        RodShape(
            name,
            line.poses[..., k : k + 2, :, :],
            line.half_widths[k : k + 2],
            tension_color(x / (most or 1)),
            inside=line.inside,
        )
        for k, x in reversed(list(enumerate(np.interp(at, known, given))))
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
        thin = np.full(2, 0.002 * size)
        return RodShape(first.name, poses, thin, inside=first.inside)
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
