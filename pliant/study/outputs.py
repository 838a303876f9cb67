"""Measured quantities by path: positions, angles, strains, velocities and forces of a result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

from pliant.lie import so3
from pliant.model import (
    Array,
    Description,
    DescriptionError,
    Effect,
    did_you_mean,
    finite_array,
    nearest_name,
    number_in,
    positive,
    refuse,
)


@dataclass(frozen=True, eq=False)
class Marker:
    """A point of a rod: arclength s, m, infinite for the tip, and offset (3,) in the section, m."""

    rod: str
    s: float
    offset: Array

    def at(self, robot: Description) -> float:
        """The arclength, m; that of a tip is the length of the rod."""
        return robot.rods[self.rod].length if np.isinf(self.s) else self.s

    def pose(self, result: Any) -> Array:
        """World poses (..., 4, 4) of the section."""
        pose = result.tip(self.rod) if np.isinf(self.s) else result.pose(self.rod, self.s)
        return np.asarray(pose)


Vector = Callable[[Marker, Any, Description], Array]
"""Components (..., n) of a quantity at a marker of a result with this description."""


def _position(marker: Marker, result: Any, robot: Description) -> Array:
    g = marker.pose(result)
    return np.asarray(g[..., :3, 3] + g[..., :3, :3] @ marker.offset)


def _tangent(marker: Marker, result: Any, robot: Description) -> Array:
    return marker.pose(result)[..., :3, 2]


def _angles(marker: Marker, result: Any, robot: Description) -> Array:
    """Angles of the tangent in the planes xy, xz, ..., zy, from the first axis."""
    t = _tangent(marker, result, robot)
    angles = [np.arctan2(t[..., b], t[..., a]) for a, b in permutations(range(3), 2)]
    return np.stack(angles, axis=-1)


def _turn(marker: Marker, result: Any, robot: Description) -> Array:
    """Rotation vectors from the base section, in its axes."""
    base = np.asarray(result.pose(marker.rod, 0.0))
    R = np.swapaxes(base[..., :3, :3], -1, -2) @ marker.pose(result)[..., :3, :3]
    return np.asarray(so3.log(R))


def _velocity(marker: Marker, result: Any, robot: Description) -> Array:
    """World velocities of the marker."""
    refuse(
        not hasattr(result, "velocity"),
        "output",
        "path",
        "velocity",
        "an output of a motion",
        "give a column of times, or another output",
    )
    twist = np.asarray(result.velocity(marker.rod, marker.at(robot)))
    body = twist[..., 3:] + np.cross(twist[..., :3], marker.offset)
    return np.einsum("...ij,...j->...i", marker.pose(result)[..., :3, :3], body)


def _sampled(quantity: str, part: slice) -> Vector:
    """Some components of a quantity that results have along rods."""

    def ask(marker: Marker, result: Any, robot: Description) -> Array:
        return np.asarray(getattr(result, quantity)(marker.rod, marker.at(robot))[..., part])

    return ask


_TABLE: tuple[tuple[tuple[str, ...], str, Vector], ...] = (
    (("x", "y", "z"), "m", _position),
    (("tx", "ty", "tz"), "1", _tangent),
    (("rx", "ry", "rz"), "rad", _turn),
    (tuple(f"angle_{a}{b}" for a, b in permutations("xyz", 2)), "rad", _angles),
    (("ux", "uy", "uz"), "rad/m", _sampled("strain", slice(3))),
    (("mx", "my", "mz"), "N m", _sampled("wrench", slice(3))),
    (("nx", "ny", "nz"), "N", _sampled("wrench", slice(3, 6))),
    (("vx", "vy", "vz"), "m/s", _velocity),
)
QUANTITIES = {
    name: (unit, vector, k) for names, unit, vector in _TABLE for k, name in enumerate(names)
}
"""By component: its unit, the vector it belongs to, and its number in the vector."""


_PLACE = re.compile(r"^at\(\s*([^)]*?)\s*\)$")
_JOINT = re.compile(r"^(.+?)\.(joint|joint_rate)(?:\.([^.]+))?$")
_FEATURE = re.compile(r"^(\w+)\((.+)\)$")
_REACTION = ("mx", "my", "mz", "fx", "fy", "fz")
_VECTORS = {
    "position": ("x", "y", "z"),
    "tangent": ("tx", "ty", "tz"),
    "turn": ("rx", "ry", "rz"),
}
"""Names of three components together."""
Ask = Callable[[Any, Description], Array]


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
        ``pull.tension`` (N), ``pull.length`` and ``pull.slack`` (m) are those of a tendon or spring.
        ``feature(rod.place.component)`` is a feature of that column over time, one number for a whole
        motion, for motions that oscillate: first_peak, first_valley, last_peak, last_valley (values),
        frequency (Hz) or decay (1/s, of the amplitude). The column is then the signal.
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
        expected = "a path such as 'arm.tip.z', or a function of the result"
        _refuse(not isinstance(self.path, str) and not callable(self.path), self.path, expected)
        refuse(
            callable(self.path) and self.column is None,
            "output",
            "column",
            None,
            "given where the path is a function",
            "name the column",
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
    feature : what is compared of the column over time, "" for all its rows.  source : the column in the
    file that it is a feature of.
    """

    column: str
    group: str
    std: float | None
    unit: str
    ask: Ask
    periodic: bool = False
    rates: bool = False
    position: tuple[str, int, float] | None = None
    feature: str = ""
    source: str = ""


class CachedResult:
    """A result that computes each pose, velocity, strain or wrench once for all outputs."""

    def __init__(self, result: Any) -> None:
        self._result = result
        for name in ("pose", "tip", "velocity", "strain", "wrench"):
            if hasattr(result, name):
                setattr(self, name, cache(getattr(result, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)


def probes(description: Description, outputs: Iterable[Any]) -> list[Probe]:
    """Return the columns of the outputs; refuse invalid paths."""
    columns: list[Probe] = []
    for given in outputs:
        output = Output(given) if isinstance(given, str) else given
        expected = "an Output or a path such as 'arm.tip.z'"
        _refuse(not isinstance(output, Output), given, expected)
        columns += _expand(description, output)
    names = [probe.column for probe in columns]
    for name in names:
        refuse(names.count(name) > 1, "outputs", "column", name, "named once", "remove one")
    return columns


def infer(description: Description, columns: Iterable[str]) -> list[Probe]:
    """Return a probe for every column whose name is the path of an output."""
    inferred: list[Probe] = []
    for name in columns:
        with suppress(DescriptionError):
            inferred += _expand(description, Output(name))
    return inferred


def _expand(description: Description, output: Output) -> list[Probe]:
    if callable(output.path):
        column, function = str(output.column), output.path

        def ask(result: Any, _: Description) -> Array:
            return _numbers(column, function(result))

        return [Probe(column, column, output.std, "", ask, rates=True)]
    feature = _FEATURE.match(output.path.strip())
    if feature is not None:
        return [_feature(description, output, *feature.groups())]
    joint = _JOINT.match(output.path.strip())
    if joint is not None and joint[1] in {**description.members(), **description.auxiliaries()}:
        return _joint(description, output, *joint.groups())
    if output.path.strip().endswith(".drive_force"):
        return [_drive_force(description, output, output.path.strip().removesuffix(".drive_force"))]
    # split at dots outside of parentheses
    words = _words(description, output.path.strip())
    if len(words) == 3 and words[1] == "reaction":
        return [_reaction(description, output, words[0], words[2])]
    told = description.of(Effect).get(words[0]) if len(words) == 2 else None
    if told is not None and words[1] in told.tells:
        return [_told(output, words[0], words[1], told.tells[words[1]])]
    if len(words) == 2:
        words = [*words, "position"]
    wrong = len(words) != 3 or words[0] not in description.rods
    hint = did_you_mean(words[0] if words else "", description.rods)
    near = nearest_name(words[0], description.rods) if len(words) == 3 else None
    hint = hint if near is None else f"did you mean '{'.'.join([near, *words[1:]])}'?"
    bodies = [name for name in description.bodies if near is None]
    body = nearest_name(words[0], bodies) if words else None
    hint = hint if body is None else f"did you mean '{body}.joint' or '{body}.joint_rate'?"
    expected = "rod.place.component, part.joint, or a number of an effect such as pull.length"
    _refuse(wrong, output.path, expected, hint)
    marker = _marker(description, output.path, words[0], words[1])
    parts = _VECTORS.get(words[2], (words[2],))
    hint = did_you_mean(words[2], (*QUANTITIES, *_VECTORS))
    unknown = any(part not in QUANTITIES for part in parts)
    _refuse(unknown, output.path, f"a component, not {words[2]!r}", hint)
    stem = output.column or ".".join(words[:2])
    single = output.column or output.path
    columns = [single] if len(parts) == 1 else [f"{stem}.{part}" for part in parts]
    return [_probe(output, marker, *pair) for pair in zip(columns, parts, strict=True)]


def _words(description: Description, path: str) -> list[str]:
    """Return rod, place and component of a path; names of rods and arclengths may have dots."""
    head, _, last = path.rpartition(".")
    for place, more in ((path, []), (head, [last])):
        rods = [name for name in description.rods if place.startswith(f"{name}.")]
        frame = description.place(place) if rods else None
        if frame is not None:
            at = place.removeprefix(f"{frame.part}.")
            return [frame.part, at if at[0].isalpha() else f"at({at})", *more]
    return [word for word in re.split(r"\.(?![^(]*\))", path) if word]


def _feature(description: Description, output: Output, name: str, path: str) -> Probe:
    """Return the probe of a feature of one component over time."""
    from pliant.study.features import FEATURES

    hint = did_you_mean(name, FEATURES)
    _refuse(name not in FEATURES, output.path, f"a feature, not {name!r}", hint)
    probes = _expand(description, Output(path, output.column, output.std))
    expected = "a feature of one component"
    _refuse(len(probes) != 1, output.path, expected, f"give e.g. '{name}(arm.tip.z)'")
    probe, group = probes[0], f"{name}({path})"
    return replace(
        probe,
        column=f"{name}({probe.column})",
        group=group,
        unit=FEATURES[name][0] or probe.unit,
        periodic=False,
        feature=name,
        source=probe.column,
    )


def _probe(output: Output, marker: Marker, column: str, part: str) -> Probe:
    """Return the probe of one component of a marker."""
    unit, vector, k = QUANTITIES[part]
    offset = float(np.linalg.norm(marker.offset))
    return Probe(
        column,
        str(output.path),
        output.std,
        unit,
        lambda result, robot: vector(marker, result, robot)[..., k],
        periodic=part.startswith("angle"),
        rates=unit in ("m/s", "N m", "N"),
        position=(marker.rod, k, offset) if unit == "m" else None,
    )


def _marker(description: Description, path: str, rod: str, place: str) -> Marker:
    """Return the marker at a place: tip, base, at(s) or at(s, x, y)."""
    length = description.rods[rod].length
    if place in ("tip", "base"):
        return Marker(rod, np.inf if place == "tip" else 0.0, np.zeros(3))
    match = _PLACE.match(place)
    texts = match[1].split(",") if match else []
    numbers = [x for x in map(number_in, texts) if x is not None]
    wrong = len(numbers) not in (1, 3, 4) or len(numbers) < len(texts)
    expected = "a place tip, base, at(s) or at(s, x, y)"
    _refuse(wrong, path, expected, "give e.g. 'arm.at(0.1).z'")
    outside = not 0 <= numbers[0] <= length * (1 + 1e-9)
    expected = f"a place on the rod, from 0 to {length:g} m"
    _refuse(outside, path, expected, f"give e.g. at({length / 2:g})")
    at_tip = len(numbers) == 1 and abs(numbers[0] - length) <= 1e-9 * length
    offset = np.array([*numbers[1:], 0.0, 0.0, 0.0][:3])
    return Marker(rod, np.inf if at_tip else numbers[0], offset)


def _told(output: Output, name: str, quantity: str, unit: str) -> Probe:
    """Return the probe of what an effect tells of itself; of several spans, the first."""

    def ask(result: Any, _: Description) -> Array:
        return np.asarray(result._told(name, quantity))

    path = str(output.path)
    return Probe(output.column or path, path, output.std, unit, ask, rates=True)


def _reaction(description: Description, output: Output, part: str, component: str) -> Probe:
    effects = description.of(Effect)
    jointed = [x.name for x in description.bodies.values() if x.joint is not None]
    holders = [
        *description.rods,
        *jointed,
        *(name for name, effect in effects.items() if effect.reacts),
    ]
    hint = did_you_mean(part, holders)
    _refuse(part not in holders, output.path, "a rod, a body with a joint, or a constraint", hint)
    expected = f"a component of a reaction, not {component!r}"
    hint = did_you_mean(component, _REACTION)
    _refuse(component not in _REACTION, output.path, expected, hint)
    k = _REACTION.index(component)

    def ask(result: Any, _: Description) -> Array:
        reactions = getattr(result, "reactions", {})
        _refuse(
            part not in reactions,
            output.path,
            "the reaction of a constraint, or of a rod clamped to the world",
            "for a rod mounted on another take its wrench, e.g. 'arm.base.nz'",
        )
        return np.asarray(reactions[part])[..., k]

    path = str(output.path)
    unit = "N m" if k < 3 else "N"
    return Probe(output.column or path, path, output.std, unit, ask, rates=True)


def _joint(
    description: Description, output: Output, part: str, kind: str, name: str | None
) -> list[Probe]:
    """Return the probes of values or rates of a joint, of one coordinate or of all."""
    known = {**description.members(), **description.auxiliaries()}
    joint = getattr(known[part], "joint", None)
    names = tuple(getattr(joint, "names", ())) if getattr(joint, "units", ()) else ()
    hint = "give a part with a joint that moves"
    _refuse(not names, output.path, "a joint with coordinates", hint)
    hint = did_you_mean(name or "", names)
    unknown = name is not None and name not in names
    _refuse(unknown, output.path, f"a coordinate of the joint, not {name!r}", hint)
    stem = output.column or f"{part}.{kind}"

    def probe(k: int) -> Probe:
        single = output.column is not None and (name is not None or len(names) == 1)
        column = str(output.column) if single else f"{stem}.{names[k]}"
        unit = joint.units[k] + ("/s" if kind == "joint_rate" else "")  # type: ignore[union-attr]

        def ask(result: Any, _: Description) -> Array:
            ways = {"joint": "joint_values", "joint_rate": "joint_rate"}
            return np.asarray(getattr(result, ways[kind])(part))[..., k]

        path, rates = str(output.path), kind == "joint_rate"
        return Probe(column, path, output.std, unit, ask, rates=rates)

    return [probe(k) for k, each in enumerate(names) if name in (None, each)]


def _drive_force(description: Description, output: Output, name: str) -> Probe:
    """Return the probe of the torque or force of a prescribed coordinate, by the name of its input."""
    parts = {**description.members(), **description.auxiliaries()}.values()
    known = [x for part in parts for x in part.motion_inputs()]
    hint = did_you_mean(name, known)
    _refuse(name not in known, output.path, "an input that prescribes a joint", hint)

    def ask(result: Any, _: Description) -> Array:
        return np.asarray(result.drive_forces[name])

    path = str(output.path)
    return Probe(output.column or path, path, output.std, "N m or N", ask, rates=True)


def _numbers(column: str, value: object) -> Array:
    return finite_array(
        f"output {column!r}",
        "value",
        value,
        "one finite number, or one for each time",
        "correct the function",
        lambda x: x.ndim < 2,
    )


def _refuse(
    wrong: bool, path: object, expected: str, remedy: str = "give e.g. 'arm.tip.z'"
) -> None:
    refuse(wrong, "output", "path", path, expected, remedy)
