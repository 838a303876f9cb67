"""Places on a robot and poses in space, and the fields that hold them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import (
    ROTATION_TOLERANCE,
    Array,
    DescriptionError,
    PlausibilityWarning,
    as_array,
    as_float,
    choice,
    finite_array,
    instance,
    nearest_name,
    number,
    part_name,
    pose_matrix,
    raised,
    refuse,
    rotation_matrix,
    show,
    vector,
)
from pliant.model.fields import (
    NUMBER,
    Choice,
    Kind,
    Place,
    Reader,
    Schema,
    Several,
    Text,
    Vector,
    Writer,
    holds,
    schema_of,
)
from pliant.model.place_names import find_place, place_hint

if TYPE_CHECKING:
    from pliant.model.description import Description
    from pliant.model.registry import Effect


DIRECTIONS = ("rx", "ry", "rz", "x", "y", "z")
"""Names of rotations about the axes of a frame, and of shifts along them."""


@dataclass(frozen=True)
class Frame:
    """A frame fixed to a section of a rod or to a rigid body.

    part : name of the part.  s : arclength on a rod, metres from its base; 0 on a body.
    offset : (x, y) or (x, y, z) in the frame of the section or body, metres.
    rotation : (3,) rotation vector of the frame in the section or body, radians.
    """

    part: str
    s: float = 0.0
    offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        part_name("Frame", self.part)
        s = number(f"frame on {self.part!r}", "s", self.s, "metres", "give e.g. 0.1")
        object.__setattr__(self, "s", s)
        shift = vector(f"frame on {self.part!r}", "offset", self.offset, (2, 3), "metres")
        object.__setattr__(self, "offset", (*shift, 0.0)[:3])
        turn = rotation_vector(f"frame on {self.part!r}", self.rotation)
        object.__setattr__(self, "rotation", turn)

    @staticmethod
    def field_kind() -> Kind:
        """Return what a field holds that is annotated with this class."""
        return OnFrame()

    def pose_offset(self) -> Array:
        """Return the pose (4x4) of this frame in the frame of its section or body."""
        return pose(self.offset, self.rotation)


def rotation_vector(part: str, rotation: ArrayLike | None) -> tuple[float, ...]:
    """Return a rotation, given as a vector (3,) in radians or a matrix (3, 3), as a vector."""
    from scipy.spatial.transform import Rotation

    if rotation is None:
        return (0.0, 0.0, 0.0)
    given = as_array(rotation)
    if given is not None and given.shape == (3, 3):
        matrix = rotation_matrix(part, "rotation", given)
        return tuple(float(x) for x in Rotation.from_matrix(matrix).as_rotvec())
    found = vector(part, "rotation", rotation, 3, "radians")
    warn_of_degrees(part, np.array(found))
    return found


def warn_of_degrees(part: str, rotation: Array) -> None:
    """Tell of a rotation vector (3,) longer than a full turn, which is probably in degrees."""
    angle = float(np.linalg.norm(rotation))
    if angle > 2.0 * np.pi + ROTATION_TOLERANCE:
        told = ", ".join(f"{x:.4g}" for x in np.radians(rotation))
        warnings.warn(
            f"{part}: rotation = {show(rotation)} rad is more than a full turn; if it is in degrees, "
            f"write ({told})",
            PlausibilityWarning,
            stacklevel=4,
        )


# columns: where local x, y and z point
AXES: dict[str, list[list[float]]] = {
    "x": [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
    "-x": [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
    "y": [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
    "-y": [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    "z": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "-z": [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
}


def along(axis: str, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Return the pose (4x4) whose local z axis points along a world axis.

    axis : "x", "-x", "y", "-y", "z" or "-z" ("+x" also works).  origin : (3,) world, metres.
    For x the frame is turned about world y (local y stays y, local x points to -z for "x" and to
    +z for "-x"); for y and "-z" it is turned about world x (local x stays x).
    """
    name = axis[1:] if isinstance(axis, str) and axis.startswith("+") else axis
    choice("along", "axis", name, AXES)
    matrix = np.eye(4)
    matrix[:3, :3] = AXES[name]
    matrix[:3, 3] = vector("along", "origin", origin, 3, "metres")
    return matrix


def pose(position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> Array:
    """Return the pose (4x4) with this position (3,) in metres and rotation.

    rotation : 3x3 matrix whose columns are the local axes, or a rotation vector (3,) in radians
    (axis times angle), or None for no rotation.
    """
    from scipy.spatial.transform import Rotation

    matrix = np.eye(4)
    matrix[:3, 3] = vector("pose", "position", position, 3, "metres")
    if rotation is None:
        return matrix
    given = finite_array(
        "pose",
        "rotation",
        rotation,
        "a 3x3 matrix or a rotation vector of 3 finite numbers in radians",
        "give e.g. (0, 1.57, 0)",
        lambda x: x.shape in ((3,), (3, 3)),
    )
    if given.ndim == 2:
        matrix[:3, :3] = rotation_matrix("pose", "rotation", given)
    else:
        warn_of_degrees("pose", given)
        matrix[:3, :3] = Rotation.from_rotvec(given).as_matrix()
    return matrix


class BaseState(NamedTuple):
    """Where a base is and how it moves.

    pose : (4, 4) world.  twist : (6,) body twist (w, q), rad/s and m/s.  twist_rate : (6,) its
    time derivative, rad/s^2 and m/s^2.
    """

    pose: Array
    twist: Array
    twist_rate: Array


class MovingFrame(NamedTuple):
    """A frame in motion: rotation (3, 3) and position (3,) in the world, angular velocity and its
    derivative (3,) in the body, velocity and acceleration (3,) in the world.
    """

    R: Array
    p: Array
    w: Array
    w_rate: Array
    velocity: Array
    acceleration: Array


class Moving(NamedTuple):
    """One motion at one instant: input x, its rate (per second) and acceleration (per second^2)."""

    motion: Effect
    x: float
    rate: float = 0.0
    acceleration: float = 0.0


def base_state(pose: Array, moving: Sequence[Moving]) -> BaseState:
    """Return where a base is and how it moves.

    pose : (4, 4) as described.  moving : the motions of the rod in the order of description.
    """
    base = MovingFrame(np.array(pose[:3, :3]), np.array(pose[:3, 3]), *np.zeros((4, 3)))
    for motion, *x in moving:
        base = motion.displaced(base, *x)
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = base.R, base.p
    q = base.R.T @ base.velocity
    q_rate = base.R.T @ base.acceleration
    if base.w.any():
        q_rate -= np.cross(base.w, q)
    return BaseState(place, np.concatenate((base.w, q)), np.concatenate((base.w_rate, q_rate)))


@dataclass(frozen=True)
class _At(Kind):
    """A place along a rod: its tip, its base, or an arclength."""

    json: ClassVar[Schema] = {"anyOf": [NUMBER, {"enum": ["tip", "base"]}]}

    def check(self, part: str, field: str, value: Any) -> float | str:
        if as_float(value) is not None:
            return number(part, field, value)
        return choice(part, field, value, ("tip", "base"))


@dataclass(frozen=True)
class FrameEntry:
    """A place on a part."""

    part: str = holds(Text("name of a rod or body", example="arm"))
    at: Any = holds(_At("on a rod: tip, base, or the arclength in metres", example="tip"), None)
    offset: Any = holds(Vector("in the section or body", "metres", sizes=(2, 3)), (0.0, 0.0, 0.0))
    rotation_vector: Any = holds(Vector("in the section or body", "radians"), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class PoseEntry:
    """A pose: an axis to point along, or a position with a rotation."""

    along: Any = holds(Choice(names=tuple(AXES)), None)
    origin: Any = holds(Vector("with along: world", "metres"), None)
    position: Any = holds(Vector(unit="metres"), None)
    rotation_vector: Any = holds(Vector(unit="radians"), None)
    rotation: Any = holds(
        Several("instead of rotation_vector: rows of a matrix", item=Vector()), None
    )


@dataclass(frozen=True)
class OnFrame(Kind):
    """A Frame, or its name such as "arm.tip"."""

    example: str = "arm.tip"
    expected: ClassVar[str] = "a Frame, or its name such as 'arm.tip'"
    frame: ClassVar[str] = "arm.tip"
    """An example."""
    words: ClassVar[tuple[str, ...]] = ()
    """Texts with a meaning of their own."""
    whole: ClassVar[bool] = False
    """Whether the name of a rod alone stands for all of it."""

    def check(self, part: str, field: str, value: Any) -> Any:
        if isinstance(value, str):
            return value
        return instance(part, field, value, Frame, self.expected, f"give e.g. {self.frame}")

    def located(self, description: Description, part: Any, field: str, value: Any) -> Any:
        if not isinstance(value, str) or value in self.words:
            return value
        lengths = {name: rod.length for name, rod in description.rods.items()}
        try:
            return self._look_up(value, lengths, description.bodies)
        except DescriptionError as error:
            told = (value, error.expected, error.remedy)
            raise DescriptionError(part.label, field, *told) from None

    def _look_up(self, text: str, rods: Mapping[str, float | None], bodies: Collection[str]) -> Any:
        """Return the frame that a text names, or the name of a rod that may stand for all of it."""
        if self.whole and text in rods:
            return text
        found = find_place(text, rods, bodies)
        if found is None:
            near = nearest_name(text, self.words)
            hint = f"did you mean {near!r}?" if near else place_hint(text, rods, bodies, self.whole)
            raise DescriptionError("", "", text, self.expected, hint)
        return Frame(*found)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        if isinstance(given, str):
            return self._look_up(given, *reader.lengths_and_bodies(given))
        if not isinstance(given, dict):
            raise DescriptionError("", "", given, self.expected, f"give e.g. {self.frame}")
        entry = FrameEntry(**reader.group(path, FrameEntry, given))
        s = reader.arclength(path, entry.part, entry.at)
        return Frame(entry.part, s, entry.offset, entry.rotation_vector)

    def write(self, writer: Writer, value: Any) -> Any:
        length = writer.length(value.part)
        at = {} if length is None else {"at": "tip" if value.s == length else value.s}
        shift = {"offset": list(value.offset), "rotation_vector": list(value.rotation)}
        return {"part": value.part, **at, **{key: x for key, x in shift.items() if any(x)}}

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        from pliant.model.rod import check_arclength

        if not isinstance(value, Frame):
            yield from raised(lambda: self.located(description, part, field, value))
            return
        carrier, name = description.members().get(value.part), f"{field}.s"
        if value.part == part.name:
            expected = "a frame of another part"
            yield DescriptionError(part.label, field, value, expected, "choose another part")
        elif carrier is None:
            yield description.unknown(part.label, field, value.part, description.members())
        elif value.part in description.rods:
            length = description.rods[value.part].length
            yield from raised(lambda: check_arclength(part.label, name, value.s, length))
        elif value.s != 0.0:
            yield DescriptionError(
                part.label,
                name,
                value.s,
                f"left out or 0, for {carrier.label} has no arclength",
                f"take the frame from the body, e.g. {carrier.name}.at((0, 0, 0.1))",
            )

    def schema(self, defs: Schema) -> Schema:
        return {"anyOf": [{"type": "string"}, schema_of(FrameEntry, defs)]}


@dataclass(frozen=True)
class OnRod(Kind):
    """A rod, or its name."""

    meaning: str = "name of a rod"
    example: str = "arm"
    json: ClassVar[Schema] = Text.json

    def check(self, part: str, field: str, value: Any) -> str:
        name = getattr(value, "name", value)
        return instance(part, field, name, str, "a rod or the name of a rod", "give e.g. arm")

    def read(self, reader: Reader, path: Place, given: Any) -> str:
        return reader.rod(Text().check("", "", given))

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        if value not in description.rods:
            yield description.unknown(part.label, field, value, description.rods)


@dataclass(frozen=True)
class OnFrameOrRod(OnFrame):
    """A Frame or its name, or a rod or its name for something along it."""

    expected: ClassVar[str] = "a place such as 'arm.tip', or the name of a rod for all of it"
    whole: ClassVar[bool] = True

    def check(self, part: str, field: str, value: Any) -> Any:
        name = getattr(value, "name", value)
        return name if isinstance(name, str) else super().check(part, field, value)

    def write(self, writer: Writer, value: Any) -> Any:
        return value if isinstance(value, str) else super().write(writer, value)

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        kind = OnRod() if isinstance(value, str) else OnFrame()
        return kind.problems(description, part, field, value)


@dataclass(frozen=True)
class Base(OnFrame):
    """What carries the base of a rod: "world", a Frame of another part, None for a free rod."""

    meaning: str = "world, free, or a place on another part"
    expected: ClassVar[str] = "'world', 'free', or a place on another part such as 'other.tip'"
    frame: ClassVar[str] = "other.tip"
    words: ClassVar[tuple[str, ...]] = ("world", "free")

    def check(self, part: str, field: str, value: Any) -> Any:
        free = value is None or (isinstance(value, str) and value == "free")
        return None if free else super().check(part, field, value)

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        fixed = isinstance(value, str) and value == "world"
        return iter(()) if fixed else super().problems(description, part, field, value)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        if isinstance(given, str) and given in self.words:
            return self.check("", "", given)
        return super().read(reader, path, given)

    def write(self, writer: Writer, value: Any) -> Any:
        if isinstance(value, Frame):
            return super().write(writer, value)
        return "free" if value is None else value


@dataclass(frozen=True)
class Pose(Kind):
    """A pose (4x4) in the world or in the frame that carries a part; nothing stands for none."""

    nullable: ClassVar[bool] = True

    def check(self, part: str, field: str, value: Any) -> Array:
        return pose_matrix(part, field, np.eye(4) if value is None else value)

    def read(self, reader: Reader, path: Place, given: Any) -> Array:
        entry = reader.group(path, PoseEntry, given)
        first = [name for name in entry if name in ("along", "origin")]
        second = [name for name in entry if name not in first]
        refuse(
            (first and second) or first == ["origin"] or not entry or len(second) == 3,
            "",
            "",
            ", ".join(first + second) or "nothing",
            "along with origin, or position with rotation_vector or rotation",
            "give e.g. {along: x, origin: [0, 0, 0]}",
        )
        if first:
            return along(entry.pop("along"), **entry)
        turn = entry.get("rotation", entry.get("rotation_vector"))
        return pose(entry.get("position", (0.0, 0.0, 0.0)), turn)

    def write(self, writer: Writer, value: Any) -> Any:
        from scipy.spatial.transform import Rotation

        place, turn = np.asarray(value)[:3, 3], np.asarray(value)[:3, :3]
        for name, axes in AXES.items():
            if np.array_equal(turn, axes):
                return {"along": name, **({"origin": place.tolist()} if place.any() else {})}
        short = np.round(Rotation.from_matrix(turn).as_rotvec(), 12) + 0.0
        good = np.abs(Rotation.from_rotvec(short).as_matrix() - turn).max() < 1e-15
        rotation = {"rotation_vector": short} if good else {"rotation": turn}
        return {
            "position": place.tolist(),
            **{key: x.tolist() for key, x in rotation.items()},
        }

    def schema(self, defs: Schema) -> Schema:
        return schema_of(PoseEntry, defs)


@dataclass(frozen=True)
class OnFrameOrPose(OnFrame):
    """A Frame, or a fixed pose (4x4) in the world."""

    def check(self, part: str, field: str, value: Any) -> Any:
        return value if isinstance(value, (str, Frame)) else pose_matrix(part, field, value)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        names = set(given) if isinstance(given, dict) else set()
        if "part" not in names and names & set(PoseEntry.__dataclass_fields__):
            return Pose().read(reader, path, given)
        return super().read(reader, path, given)

    def write(self, writer: Writer, value: Any) -> Any:
        frame = isinstance(value, Frame)
        return super().write(writer, value) if frame else Pose().write(writer, value)

    def schema(self, defs: Schema) -> Schema:
        return {"anyOf": [*super().schema(defs)["anyOf"], Pose().schema(defs)]}


@dataclass(frozen=True)
class OnFrameOrWorld(OnFrameOrPose):
    """A Frame, a fixed pose (4x4) in the world, or "world" and None for the world as such."""

    words: ClassVar[tuple[str, ...]] = ("world",)

    def check(self, part: str, field: str, value: Any) -> Any:
        world = isinstance(value, str) and value == "world"
        return None if value is None or world else super().check(part, field, value)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        return None if given == "world" else super().read(reader, path, given)


@dataclass(frozen=True)
class RelativePose(Pose):
    """A pose (4x4) of one frame in another, or None for that of the undeformed robot."""

    def check(self, part: str, field: str, value: Any) -> Any:
        return None if value is None else super().check(part, field, value)
