"""Forces and moments on a robot, at a point or along a rod."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.breaks import Places, gauss_panels
from pliant.model.checks import Array, DescriptionError, finite_array, raised
from pliant.model.drawing import Arrow, Placed, Primitive
from pliant.model.fields import Interval, Place, Reader, Schema, Writer, holds, quantity
from pliant.model.places import Frame, OnFrame, OnFrameOrRod
from pliant.model.plausible import wrench_doubts
from pliant.model.pointwise import LineWrench, PointWrench
from pliant.model.profile import evaluate_rows
from pliant.model.registry import Effect

if TYPE_CHECKING:
    from pliant.model.description import Description

FRAMES = ("world", "body")


@dataclass(frozen=True)
class Axes(OnFrame):
    """Whose axes a vector has: "world", "body", or a Frame of another part or its name."""

    meaning: str = "world, body, or a place on another part"
    expected: ClassVar[str] = "'world', 'body', or a place on another part such as 'table'"
    frame: ClassVar[str] = "'body'"
    words: ClassVar[tuple[str, ...]] = FRAMES

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        return given if given in FRAMES else super().read(reader, path, given)

    def write(self, writer: Writer, value: Any) -> Any:
        return value if isinstance(value, str) else super().write(writer, value)

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        known = isinstance(value, str) and value in FRAMES
        return iter(()) if known else super().problems(description, part, field, value)

    def schema(self, defs: Schema) -> Schema:
        return {"anyOf": [{"enum": list(FRAMES)}, *super().schema(defs)["anyOf"]]}


@dataclass(frozen=True, eq=False)
class Load(Effect):
    """A load; its name is an input of the robot.

    name : unique in the robot.
    on : a Frame (point load: N and N m), or the name of a rod (distributed: N/m and N m/m).
    force, moment : (3,) in ``frame``. A distributed force may be a function of s (metres) that
        returns three numbers.
    frame : "world" (fixed direction), "body" (follows the section), or for a point load the Frame of
        another part, or its name, with which force and moment turn.
    over : (s0, s1) in metres, the stretch that a distributed load covers; None for the whole rod.
    breaks : arclengths in metres, increasing, where a force that is a function of s jumps, and the
        borders of its narrow peaks. Most are found without.
    """

    on: Frame | str = holds(OnFrameOrRod("a place, or the name of a rod for a load along it"))
    force: tuple[float, ...] | Callable[[float], ArrayLike] = quantity(
        "N (N per metre when distributed)", shape=3, along=True, default=(0.0, 0.0, 0.0)
    )
    moment: tuple[float, ...] = quantity(
        "N m (N m per metre when distributed)", shape=3, default=(0.0, 0.0, 0.0)
    )
    frame: str | Frame = holds(Axes(), "world")
    over: tuple[float, float] | None = holds(Interval(), None)
    breaks: tuple[float, ...] = holds(Places(), ())

    heading: ClassVar[str] = "loads"
    on_nested: ClassVar[bool] = True
    place: ClassVar[int] = 2
    refilled: ClassVar[tuple[str, ...] | None] = ("force", "moment")
    input_sizes: ClassVar[tuple[int, ...]] = (1, 3, 6)
    input_expected: ClassVar[str] = "a finite factor, 3 finite numbers (force) or 6 (moment, force)"
    input_remedy: ClassVar[str] = "give e.g. 1.0 for the load as described"

    def check(self) -> None:
        """Refuse at a point what only makes sense along a rod."""
        if not self.distributed:
            self.refuse(
                callable(self.force),
                "force",
                "three numbers for a point load",
                "give its change in time as an input of statics or simulate",
            )
            self.refuse(
                self.over,
                "over",
                "left out for a point load",
                "give on= the name of the rod for a distributed load",
            )
            self.refuse(
                self.breaks,
                "breaks",
                "left out for a point load",
                "give on= the name of the rod for a distributed load",
            )

    def acts_at(self) -> Iterator[Frame]:
        """Yield the frame that it loads."""
        yield from (self.on,) if isinstance(self.on, Frame) else ()

    def inputs(self) -> dict[str, float]:
        """Return its name with 1.0: the load as described."""
        return {self.name: 1.0}

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot; a force that is a function is evaluated."""
        problems = list(super().problems(description))
        if self.distributed and self.frame not in FRAMES:
            expected, remedy = "'world' or 'body' along a rod", "load it at a point instead"
            problems.append(DescriptionError(self.label, "frame", self.frame, expected, remedy))
        yield from problems
        if self.distributed and not problems:
            start, end = self.over or (0.0, description.rods[self.part].length)
            yield from raised(lambda: self.density(np.linspace(start, end, 33)))

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield what is implausible about its force and moment on a rod."""
        rod = description.rods.get(self.part)
        if rod is None or callable(self.force):
            return
        start, end = self.over or (0.0, rod.length)
        over = end - start if self.distributed else 1.0
        force, moment = (over * float(np.linalg.norm(x)) for x in (self.force, self.moment))
        yield from wrench_doubts(self.label, rod, force, moment)

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return its force and moment; a line load is drawn as its resultant at the middle."""
        value, name = at.input(self.name), self.name
        if isinstance(self.on, Frame):
            pose, wrench = at.frame(self.on), self.wrench(value)
        else:
            start, end = self.over or (0.0, at.length(self.on))
            s, w = gauss_panels([start, *self.breaks_along(at.length(self.on)).places, end])
            pose = at.frame(Frame(self.on, 0.5 * (start + end)))
            wrench = w @ self.density(s, value)
            name = f"{name} (sum)"
        turn = pose[:3, :3] if self.frame == "body" else np.eye(3)
        if isinstance(self.frame, Frame):
            turn = at.frame(self.frame)[:3, :3]
        halves = {"moment": turn @ wrench[:3], "force": turn @ wrench[3:]}
        return [Arrow(name, pose[:3, 3], vector, kind) for kind, vector in halves.items()]

    def pointwise(self) -> PointWrench | LineWrench | None:
        """Return its wrench at a point, or per metre of a rod; None if it turns with another part."""
        if isinstance(self.frame, Frame):
            return None
        world = self.frame == "world"
        if isinstance(self.on, Frame):
            return PointWrench(self.name, self.on, world, self.wrench)
        return LineWrench(self.name, self.on, self.over, world, self.density, self.breaks_along)

    @property
    def distributed(self) -> bool:
        """True for a load along a rod, False for a load at a point."""
        return isinstance(self.on, str)

    @property
    def part(self) -> str:
        """The name of the part that carries the load."""
        return self.on.part if isinstance(self.on, Frame) else self.on

    def wrench(self, value: ArrayLike = 1.0) -> Array:
        """Return (moment, force), shape (6,), in the load's frame, for an input value.

        value : a number multiplies the described force and moment; three numbers replace the
        force; six numbers are (moment, force). For a distributed load the result is per metre.
        """
        given = self._input(value)
        self.refuse(
            given.ndim == 0 and callable(self.force),
            "force",
            "three numbers where one wrench is asked for",
            "use density(s, value) for a force that depends on s",
        )
        described = self.moment + (() if callable(self.force) else self.force)
        return self._combine(np.array(described), given)

    def density(self, s: ArrayLike, value: ArrayLike = 1.0) -> Array:
        """Return (moment, force) per metre at arclengths ``s`` (S,), shape (S, 6).

        Only for a distributed load; zero outside ``over``. ``value`` as in `wrench`.
        """
        self.refuse(not self.distributed, "on", "the name of a rod", "use wrench(value) at a point")
        where = np.atleast_1d(np.asarray(s, dtype=np.float64))
        given = self._input(value)
        forces = evaluate_rows(self.label, "force", self.force, where, (3,), "N/m")
        wrenches = np.array([self._combine(np.array((*self.moment, *f)), given) for f in forces])
        if self.over is not None:
            wrenches[(where < self.over[0]) | (where > self.over[1])] = 0.0
        return wrenches

    def _input(self, value: object) -> Array:
        return finite_array(
            self.label,
            "input",
            value,
            self.input_expected,
            self.input_remedy,
            lambda x: x.shape in ((), (3,), (6,)),
        )

    @staticmethod
    def _combine(described: Array, given: Array) -> Array:
        if given.ndim == 0:
            return described * given
        return given if len(given) == 6 else np.concatenate((described[:3], given))
