"""Measured quantities by path: positions, angles, strains, velocities and forces of a result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.lie import so3
from pliant.model import Array, Description, DescriptionError, did_you_mean
from pliant.model.checks import as_array, positive

_PLACE = re.compile(r"^at\(\s*([^)]*?)\s*\)$")
_POSITION = ("x", "y", "z")
_TANGENT = ("tx", "ty", "tz")
_TURN = ("rx", "ry", "rz")
_SPEED = ("vx", "vy", "vz")
_ANGLES = tuple(f"angle_{a}{b}" for a in "xyz" for b in "xyz" if a != b)
_STRAIN = ("ux", "uy", "uz")
_WRENCH = ("mx", "my", "mz", "nx", "ny", "nz")
_REACTION = ("mx", "my", "mz", "fx", "fy", "fz")
Ask = Callable[[Any, Description], Array]
COMPONENTS = (*_POSITION, *_TANGENT, *_TURN, *_ANGLES, *_STRAIN, *_WRENCH, *_SPEED)
GROUPS = {"position": _POSITION, "tangent": _TANGENT, "turn": _TURN}


@dataclass(frozen=True, eq=False)
class Output:
    """A measured quantity and its column.

    path : ``rod.place.component``. The place is ``tip``, ``base`` or ``at(s)`` with s in metres, or
        ``at(s, x, y)`` for a marker at an offset in the section, metres. The component is

        - x, y, z: position, world, m; or position (the default) for all three;
        - tx, ty, tz: tangent, world; or tangent;  angle_xz: angle of the tangent in the xz plane
          from x towards z, rad, and the same for other planes;
        - rx, ry, rz: rotation vector from the rod's base section to this one, in axes of the base
          section, rad, of at most half a turn (angle_xz has no such limit); or turn;
        - vx, vy, vz: velocity of the marker, world, m/s (motions);
        - ux, uy, uz: curvature and twist, rad/m;  mx ... nz: internal wrench, N m and N.

        ``part.reaction.fz`` is the reaction of a clamped rod or a constraint: mx ... mz and fx ... fz,
        N m and N, in the frame of the base, or of the frame that the constraint is attached to.
        The path may also be a function that takes a result and returns a number, or for motions one
        number for each time (T,).
    column : the name in the file; None for the path itself (with three components, the name followed
        by ``.x``, ``.y``, ``.z`` or the component).
    std : standard deviation of the noise in the unit of the output; None estimates it.
    """

    path: str | Callable[[Any], Any]
    column: str | None = None
    std: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) and not callable(self.path):
            raise _wrong(self.path, "a path such as 'arm.tip.z', or a function of the result")
        if callable(self.path) and self.column is None:
            raise DescriptionError(
                "output", "column", None, "given where the path is a function", "name the column"
            )
        if self.std is not None:
            positive("output", "std", self.std, "the unit of the output", "give e.g. 1e-3")


@dataclass(frozen=True)
class Probe:
    """One measured column and its prediction.

    column : in the file.  group : outputs of one group share their noise.  std : of the noise, or
    None.  unit : of the numbers.  ask : takes a result and its description and returns the prediction
    (T,), or a number for an equilibrium.  rates : whether it needs velocities.
    periodic : whether it is an angle that may differ by full turns.
    position : rod, axis (0, 1, 2) and distance from the centre line, m, of a position; else None.
    """

    column: str
    group: str
    std: float | None
    unit: str
    ask: Ask
    periodic: bool = False
    rates: bool = False
    position: tuple[str, int, float] | None = None


class CachedResult:
    """A result that computes each pose, velocity, strain or wrench once for all outputs."""

    def __init__(self, result: Any) -> None:
        self._result = result
        self._known: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._result, name)
        if name not in ("pose", "tip", "velocity", "strain", "wrench"):
            return value

        def ask(*args: Any) -> Any:
            key = (name, *args)
            if key not in self._known:
                self._known[key] = value(*args)
            return self._known[key]

        return ask


def probes(description: Description, outputs: Iterable[Any]) -> list[Probe]:
    """Return the columns of the outputs; refuse invalid paths."""
    columns: list[Probe] = []
    for given in outputs:
        output = Output(given) if isinstance(given, str) else given
        if not isinstance(output, Output):
            raise _wrong(given, "an Output or a path such as 'arm.tip.z'")
        columns += _expand(description, output)
    names = [probe.column for probe in columns]
    for name in names:
        if names.count(name) > 1:
            raise DescriptionError("outputs", "column", name, "named once", "remove one")
    return columns


def infer(description: Description, columns: Iterable[str]) -> list[Probe]:
    """Return a probe for every column whose name is the path of an output."""
    inferred = []
    for name in columns:
        try:
            inferred += _expand(description, Output(name))
        except DescriptionError:
            continue
    return inferred


def _expand(description: Description, output: Output) -> list[Probe]:
    if callable(output.path):
        column, function = str(output.column), output.path

        def ask(result: Any, _: Description) -> Array:
            return _numbers(column, function(result))

        return [Probe(column, column, output.std, "", ask, rates=True)]
    words = _split(output.path)
    if len(words) == 3 and words[1] == "reaction":
        return [_reaction(description, output, words[0], words[2])]
    if len(words) == 2:
        words = [*words, "position"]
    if len(words) != 3 or words[0] not in description.rods:
        name = words[0] if words else ""
        raise _wrong(output.path, "rod.place.component", did_you_mean(name, description.rods))
    rod, s, offset = _place(description, output.path, words[0], words[1])
    parts = GROUPS.get(words[2], (words[2],))
    if any(part not in COMPONENTS for part in parts):
        known = (*COMPONENTS, *GROUPS)
        raise _wrong(output.path, f"a component, not {words[2]!r}", did_you_mean(words[2], known))
    stem = output.column or ".".join(words[:2])
    expanded = []
    for part in parts:
        single = len(parts) == 1
        column = (output.column or output.path) if single else f"{stem}.{part}"
        unit, predict = _question(rod, s, offset, part)
        rates = part in _SPEED + _WRENCH
        away = float(np.linalg.norm(offset))
        where = (rod, _POSITION.index(part), away) if part in _POSITION else None
        turns = part in _ANGLES
        expanded.append(
            Probe(column, str(output.path), output.std, unit, predict, turns, rates, where)
        )
    return expanded


def _split(path: str) -> list[str]:
    """Split at dots outside of parentheses."""
    return [word for word in re.split(r"\.(?![^(]*\))", path.strip()) if word]


def _place(description: Description, path: str, rod: str, place: str) -> tuple[str, float, Array]:
    """Return rod, arclength, m, and offset (3,), m; the arclength of a tip is infinite."""
    length = description.rods[rod].length
    if place in ("tip", "base"):
        return rod, np.inf if place == "tip" else 0.0, np.zeros(3)
    match = _PLACE.match(place)
    try:
        numbers = [float(item) for item in match[1].split(",")] if match else []
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 3, 4):
        raise _wrong(path, "a place tip, base, at(s) or at(s, x, y)", "give e.g. 'arm.at(0.1).z'")
    if not 0 <= numbers[0] <= length * (1 + 1e-9):
        raise _wrong(
            path, f"a place on the rod, from 0 to {length:g} m", f"give e.g. at({length / 2:g})"
        )
    at_tip = len(numbers) == 1 and abs(numbers[0] - length) <= 1e-9 * length
    return rod, np.inf if at_tip else numbers[0], np.array([*numbers[1:], 0.0, 0.0, 0.0][:3])


def _question(rod: str, s: float, offset: Array, part: str) -> tuple[str, Ask]:
    """Return the unit of one component and the function that predicts it."""

    def at(robot: Description) -> float:
        return robot.rods[rod].length if np.isinf(s) else s

    def pose(result: Any) -> Array:
        return np.asarray(result.tip(rod) if np.isinf(s) else result.pose(rod, s))

    def position(result: Any, robot: Description) -> Array:
        g = pose(result)
        k = _POSITION.index(part)
        return np.asarray(g[..., k, 3] + g[..., k, :3] @ offset)

    def angle(result: Any, robot: Description) -> Array:
        a, b = ("xyz".index(c) for c in part[-2:])
        tangent = pose(result)[..., :3, 2]
        return np.arctan2(tangent[..., b], tangent[..., a])

    if part in _POSITION:
        return "m", position
    if part in _TANGENT:
        return "1", lambda result, _: pose(result)[..., _TANGENT.index(part), 2]
    if part in _ANGLES:
        return "rad", angle
    if part in _TURN:
        return "rad", lambda result, _: _turn(result, rod, pose(result))[..., _TURN.index(part)]
    if part in _SPEED:
        k = _SPEED.index(part)
        return "m/s", lambda result, robot: _speed(result, rod, at(robot), pose(result), offset)[
            ..., k
        ]
    if part in _STRAIN:
        k = _STRAIN.index(part)
        return "rad/m", lambda result, robot: result.strain(rod, at(robot))[..., k]
    k = _WRENCH.index(part)
    return "N m" if k < 3 else "N", lambda result, robot: result.wrench(rod, at(robot))[..., k]


def _turn(result: Any, rod: str, g: Array) -> Array:
    """Rotation vectors (..., 3) from the base section, in its axes."""
    base = np.asarray(result.pose(rod, 0.0))
    R = np.swapaxes(base[..., :3, :3], -1, -2) @ g[..., :3, :3]
    return np.asarray(so3.log(R))


def _speed(result: Any, rod: str, s: float, g: Array, offset: Array) -> Array:
    """World velocities (..., 3) of a marker."""
    if not hasattr(result, "velocity"):
        raise _wrong("velocity", "asked of a motion", "give a column of times, or another output")
    twist = np.asarray(result.velocity(rod, s))
    body = twist[..., 3:] + np.cross(twist[..., :3], offset)
    return np.einsum("...ij,...j->...i", g[..., :3, :3], body)


def _reaction(description: Description, output: Output, part: str, component: str) -> Probe:
    holders = [*description.rods, *description.constraints]
    if part not in holders:
        raise _wrong(output.path, "a rod or a constraint", did_you_mean(part, holders))
    if component not in _REACTION:
        raise _wrong(
            output.path, f"a component of a reaction, not {component!r}",
            did_you_mean(component, _REACTION),
        )  # fmt: skip
    k = _REACTION.index(component)

    def ask(result: Any, _: Description) -> Array:
        reactions = getattr(result, "reactions", None)
        if reactions is None or part not in reactions:
            raise _wrong(
                output.path, "the reaction of a constraint, or of a rod clamped to the world",
                "for a rod mounted on another take its wrench, e.g. 'arm.base.nz'",
            )  # fmt: skip
        return np.asarray(reactions[part])[..., k]

    path = str(output.path)
    unit = "N m" if k < 3 else "N"
    return Probe(output.column or path, path, output.std, unit, ask, rates=True)


def _numbers(column: str, value: object) -> Array:
    numbers = as_array(value)
    if numbers is None or numbers.ndim > 1 or not np.isfinite(numbers).all():
        raise DescriptionError(
            f"output {column!r}", "value", value, "one finite number, or one for each time",
            "correct the function",
        )  # fmt: skip
    return numbers


def _wrong(path: object, expected: str, remedy: str = "give e.g. 'arm.tip.z'") -> DescriptionError:
    return DescriptionError("output", "path", path, expected, remedy)
