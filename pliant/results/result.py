"""Base classes of results: the robot they belong to, its rods and bodies, files and pictures."""

from __future__ import annotations

import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import (
    Array,
    Body,
    DescriptionError,
    Effect,
    Frame,
    Rod,
    check_suffix,
    choice,
    did_you_mean,
    finite_array,
    known_name,
    refuse,
)
from pliant.model.place_names import place_hint
from pliant.results import result_file
from pliant.results.contacts import Contacts
from pliant.results.export import names, pose_variables, variable
from pliant.results.notebook import card
from pliant.solve.problem import Problem

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

STATIONS = 51
"""Sections of a rod where no arclengths are given, and in files: evenly spaced, both ends included."""


class Drawable:
    """A result with a picture."""

    plot: Callable[..., Figure]
    summary: Callable[[], str]

    def _repr_html_(self) -> str:
        """Return the summary with a small drawing, for notebooks."""
        return card(type(self).__name__, self.summary(), self._sketch())

    def _sketch(self) -> str:
        """A small drawing as SVG; "" for none."""
        return ""

    def show(self) -> None:
        """Open the picture of `plot` in a window and wait until you close it."""
        from pliant.view import show

        self.plot()
        show()


class Study(Drawable):
    """A result that prints as its summary."""

    def __str__(self) -> str:
        return self.summary()


class Saveable(Drawable):
    """A result that can be written to a NetCDF file."""

    to_xarray: Callable[..., xr.Dataset]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as NetCDF (.nc) and return the path; read it with `pliant.load`."""
        check_suffix("save", path, (".nc",))  # before anything is computed
        return result_file.write(self.to_xarray(), path)


class Result:
    """Base of the results of one robot: finds rods by name and checks arclengths."""

    def __init__(self, compiled: Problem) -> None:
        self._compiled = compiled

    @property
    def rods(self) -> tuple[str, ...]:
        """The names of the robot's rods."""
        return tuple(self._compiled.description.rods)

    @property
    def _names(self) -> str:
        """What the result is of: the names of the rods, or of the bodies if there are none."""
        return ", ".join(self.rods or self._compiled.description.bodies)

    @property
    def formulation(self) -> dict[str, str]:
        """The formulation of each rod as Python code, by rod name."""
        return {name: repr(item) for name, item in self._compiled.formulations.items()}

    @property
    def unknowns(self) -> int:
        """Size of the system solved at once: coordinates, force fields and multipliers."""
        return self._compiled.unknowns

    @property
    def theory(self) -> dict[str, str]:
        """The theory of each rod, "cosserat" or "kirchhoff", by rod name."""
        return {name: rod.theory for name, rod in self._compiled.description.rods.items()}

    @property
    def rotary(self) -> dict[str, bool]:
        """Whether the sections of each rod have rotary inertia, by rod name."""
        rods = self._compiled.description.rods
        return {
            name: item.capabilities.rotary
            and bool(rods[name].inertia(np.array([0.0, rods[name].length]))[:, :3].any())
            for name, item in self._compiled.formulations.items()
        }

    def _rod(self, rod: object) -> Rod:
        """Return a rod by name; None for the only one."""
        known = self._compiled.description.rods
        name = rod.name if isinstance(rod, Rod) else self._or_only("rod", rod, known)
        return known[known_name("result", "rod", name, known, "the name of a rod of this robot")]

    def _or_only(self, field: str, name: object, known: Mapping[str, object]) -> object:
        """Return the name; for None, that of the only one there is."""
        if name is not None:
            return name
        expected = f"named, for this robot has {len(known)} of them"
        refuse(len(known) != 1, "result", field, None, expected, did_you_mean("", known))
        return next(iter(known))

    def _sections(self, rod: object, s: ArrayLike | None) -> tuple[Rod, Array, tuple[int, ...]]:
        """Return the rod, the arclengths flattened to (S,), and the shape they were given in."""
        part = self._rod(rod)
        if s is None:
            s = np.linspace(0.0, part.length, STATIONS)
        expected, remedy = "finite arclengths in metres", f"give e.g. {part.length:g}"
        given = finite_array(part.label, "s", s, expected, remedy)
        slack = 1e-9 * part.length
        outside = (given < -slack) | (given > part.length + slack)
        if outside.any():
            raise DescriptionError(
                part.label,
                "s",
                given[outside].ravel()[0],
                f"from 0 to the rod's length {part.length:g} m",
                f"give e.g. s = {part.length / 2:g}, or np.linspace(0, {part.length:g}, 51)",
            )
        return part, np.clip(given, 0.0, part.length).ravel(), given.shape

    def _located(self, part: Any, s: Any) -> tuple[Any, Any]:
        """Return the part and arclength of a place by name such as "arm.tip", else what is given."""
        description = self._compiled.description
        named = isinstance(part, str) and part not in description.members()
        frame = description.place(part) if named else None
        if frame is None:
            return part, s
        expected = f"left out, for {part!r} is one place"
        refuse(s is not None, "result", "s", s, expected, f"remove it, or give {frame.part!r}")
        return frame.part, frame.s

    def _body(self, part: object, s: ArrayLike | None) -> Body | None:
        """Return the body of that name; None for a rod."""
        known = self._part(part)
        if isinstance(known, Body):
            expected = "left out, for a body has no arclength"
            refuse(s is not None, known.label, "s", s, expected, "remove it")
            return known
        return None

    def _part(self, part: object) -> Rod | Body:
        """Return a rod or body by name; None for the only rod, or the only body without rods."""
        about = self._compiled.description
        known = about.members()
        if isinstance(part, (Rod, Body)):
            part = part.name
        name = self._or_only("part", part, about.rods or about.bodies)
        if name not in known:
            hint = place_hint(str(name), about.rods, about.bodies, whole=True)
            expected = "a part of this robot, or a place such as 'arm.tip'"
            raise DescriptionError("result", "part", name, expected, hint)
        return known[str(name)]

    def _at_rods(
        self, ask: Callable[[str, Array], Array], count: int, entry: tuple[int, ...]
    ) -> Array:
        """Arrays (R, count, *entry) of ask(rod, s) at evenly spaced sections of all R rods.

        A leading axis of what is asked stays in front.
        """
        rows = [ask(*station) for station in self._compiled.description.stations(count).items()]
        if not rows:
            return np.zeros((*getattr(self, "_leading", ()), 0, count, *entry))
        return np.stack(rows, axis=rows[0].ndim - 1 - len(entry))

    def _labels(self, count: int) -> dict[str, Any]:
        """Names of rods and bodies, and the arclengths of evenly spaced sections, for files."""
        stations = self._compiled.description.stations(count).values()
        s = np.array(list(stations)).reshape(-1, count)
        bodies = self._compiled.description.bodies
        body = {"body": names(bodies)} if bodies else {}
        return {"rod": names(self.rods), **body, "s": variable("s", ("rod", "station"), s)}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the summary as plain data, SI units."""
        return {**self._attributes(), "formulation": self.formulation}

    def _attributes(self) -> dict[str, Any]:
        """How the result was computed, for files."""
        return {
            "kind": type(self).__name__,
            "formulation": json.dumps(self.formulation),
            "gravity": list(self._compiled.description.gravity),
            "pliant_version": sys.modules["pliant"].__version__,
            "conventions": "SI units; twists, strains and wrenches angular part first, body frame",
        }


class ShapeResult(Result, ABC):
    """A result that holds one configuration, or one for each of T output times.

    A motion adds a leading axis T to the shapes of all arrays below.
    """

    _leading: tuple[int, ...] = ()
    """() for one configuration, (T,) for a motion."""

    _configurations: Sequence[Any]
    """The configuration q of each output time."""

    def pose(self, part: str | Frame | None = None, s: ArrayLike | None = None) -> Array:
        """Return world poses (..., 4, 4) of a rod's sections at arclengths s (...), metres.

        part : a rod or body by name, a place such as "arm.tip" or "arm.0.12", or a Frame; with one rod
        it may be left out.
        s : without it, the whole rod at 51 evenly spaced sections from base to tip, (51, 4, 4); `tip`
        is the last one. A body, a place and a Frame have no s, and one pose (4, 4).
        """
        if isinstance(part, Frame):
            expected = "left out, for a Frame is one place"
            refuse(s is not None, "result", "s", s, expected, "remove it")
            return self._frames(self._known_frame(part))
        name, s = self._located(part, s)
        body = self._body(name, s)
        if body is None:
            rod, where, shape = self._sections(name, s)
            poses = self._compiled.poses_along(self._configurations, rod.name, where)
            return poses.reshape(*self._leading, *shape, 4, 4)
        return self._frames(body.origin)

    def _known_frame(self, frame: Frame) -> Frame:
        """Return the frame if its part and arclength exist."""
        if self._body(frame.part, None) is None:
            self._sections(frame.part, frame.s)
        return frame

    def tip(self, rod: str | None = None) -> Array:
        """Return the world pose (4, 4) of a rod's tip; with one rod its name may be left out."""
        part = self._rod(rod)
        return self.pose(part.name, part.length)

    def position(self, part: str | Frame | None = None, s: ArrayLike | None = None) -> Array:
        """Return world positions (..., 3) of a rod's sections at s (...), metres.

        part, s : as for `pose`: without s, the centre line (51, 3) of a rod from base to tip, or the
        position (3,) of a body, a place such as "arm.tip", or a Frame.
        """
        return self.pose(part, s)[..., :3, 3]

    def joint(self, part: str) -> Array:
        """Return the coordinates (nq,) of the joint by which a rod or body hangs, or of a connection.

        The angle of a hinge in radians, the position of a slider in metres; of a ball joint its unit
        quaternion (w, x, y, z); of a free part, its pose (4, 4) at its place, row by row.
        """
        known = self._jointed(part)
        rows = [self._compiled.joint(q, known.name) for q in self._configurations]
        return np.array(rows).reshape(*self._leading, -1)

    def joint_values(self, part: str) -> Array:
        """Return the values (nv,) of a joint, one for each of its velocities, rad and m.

        The same as `joint`, but of a ball joint its rotation vector, of a free part its twist.
        """
        known = self._jointed(part)
        rows = [self._compiled.joint_values(q, known.name) for q in self._configurations]
        return np.array(rows).reshape(*self._leading, -1)

    def _jointed(self, part: str) -> Any:
        """Return the part, or what a connection brings along, if its joint moves."""
        brought = self._compiled.description.auxiliaries()
        known = brought[part] if part in brought else self._part(part)
        fixed = not self._compiled.joint(self._configurations[0], known.name).size
        remedy = "ask for its pose instead"
        refuse(fixed, known.label, "joint", "fixed", "one that moves", remedy)
        return known

    def _joint_variables(self, time: tuple[str, ...]) -> dict[str, Any]:
        """Values of joints by the names of their coordinates, for files: ``joint_hand``."""
        variables: dict[str, Any] = {}
        for part in self._compiled.description.jointed().values():
            joint = getattr(part, "joint", None)
            if joint is None or not getattr(joint, "units", ()):
                continue
            values, more = self.joint_values(part.name), {"units": _listed(joint.units)}
            dims = (*time, f"joint_{part.name}_coordinate")
            variables[f"joint_{part.name}"] = (
                dims,
                values,
                {**more, "names": _listed(joint.names)},
            )
        return variables

    def tension(self, name: str) -> Array | float:
        """Return the tension of a tendon, spring or muscle, N; negative for a spring that pushes.

        One number, or with friction one for each span between its via-points, from where it is pulled.
        """
        return self._told(name, "tension")

    def tendon_length(self, name: str) -> Array | float:
        """Return the length of the path of a tendon, spring or muscle, metres."""
        return self._told(name, "length")

    def slack(self, name: str) -> Array | float:
        """Return by how much a tendon is longer than its path, metres; 0 while it is taut."""
        return self._told(name, "slack")

    def reading(self, name: str, quantity: str) -> Array | float:
        """Return what an effect tells of itself, in a motion with time as the first axis.

        Such as the "force" of a gear, the torque or force on each joint that follows.
        """
        return self._told(name, quantity)

    def contacts(self, name: str) -> Contacts:
        """Return where a contact may touch: gaps, places and forces, in a motion over time."""
        effects = self._compiled.description.of(Effect)
        known = [key for key, effect in effects.items() if "gap" in effect.tells]
        known_name("result", "contacts", name, known, "the name of a contact")
        told = self._readings[name]
        names: Any = {x: tuple(np.atleast_2d(told[x])[0].tolist()) for x in ("part", "other")}
        return Contacts(**names, **{key: told[key] for key in effects[name].tells})

    @property
    @abstractmethod
    def _readings(self) -> Mapping[str, Mapping[str, Any]]:
        """What effects tell of themselves, by name; in a motion with a leading axis T."""

    def _told(self, name: str, quantity: str) -> Any:
        """Return a quantity that the effect of that name tells of itself."""
        effects = self._compiled.description.of(Effect)
        known = [key for key, effect in effects.items() if quantity in effect.tells]
        expected = f"the name of an effect that has a {quantity}"
        known_name("result", quantity, name, known, expected)
        values = self._readings[name][quantity]
        return values if np.ndim(values) else float(values)

    def strain(self, rod: str | None = None, s: ArrayLike | None = None) -> Array:
        """Return strains (..., 6) = (u, v) at s, body frame: rad/m, and 1 for no stretch.

        rod, s : as for `pose`.
        """
        return self._sampled(self._compiled.sampler.strains, rod, s, (6,))

    def wrench(
        self, rod: str | None = None, s: ArrayLike | None = None, by: str = "balance"
    ) -> Array:
        """Return internal wrenches (..., 6) = (m, n) at s, body frame, N m and N.

        The wrench is what the part of the rod beyond s exerts on the section at s. A load at exactly
        s counts as beyond.
        rod, s : as for `pose`.
        by : "balance" sums the loads on the part beyond s, in a motion less its inertia, and holds for
            every formulation and theory; "law" is stiffness times strain, C(s) (e - e0), in a motion
            plus damping times strain rate, whose force is zero in a Kirchhoff rod and inaccurate in
            very slender ones; of nested tubes, which share what acts, it is always the law. In a
            motion, a strong form solves for the wrench, and both are the same.

        In a motion, an EnergyWarning says that the integrator added energy; see `Motion.reactions`.
        """
        part, where, shape = self._sections(*self._located(rod, s))
        choice("wrench", "by", by, ("balance", "law"))
        return self._wrenches(part, where, by).reshape(*self._leading, *shape, 6)

    @abstractmethod
    def _wrenches(self, rod: Rod, s: Array, by: str) -> Array:
        """Internal wrenches ([T,] S, 6) of a rod at arclengths s (S,)."""

    @abstractmethod
    def _final(self) -> tuple[Any, Any]:
        """Configuration and rates with which a motion goes on from here; None for rates at rest."""

    def _frames(self, frame: Frame) -> Array:
        """World poses (4, 4) of a frame at each configuration."""
        rows = [self._compiled.frame(q, frame) for q in self._configurations]
        return np.array(rows).reshape(*self._leading, 4, 4)

    def _variables(self, stations: int, **along: str) -> dict[str, Any]:
        """Poses of rods and bodies, and quantities along rods by the name of their axis, for files."""
        time = ("time",) if self._leading else ()
        dims = (*time, "rod", "station")
        variables = pose_variables(dims, self._at_rods(self.pose, stations, (4, 4)))
        bodies = self._compiled.description.bodies
        if bodies:
            poses = np.stack([self.pose(name) for name in bodies], axis=-3)
            variables |= pose_variables((*time, "body"), poses, "body_")
        variables |= self._told_variables(time) | self._joint_variables(time)
        for name, axis in along.items():
            values = self._at_rods(getattr(self, name), stations, (6,))
            variables[name] = variable(name, (*dims, axis), values, frame="body")
        return variables

    def _told_variables(self, time: tuple[str, ...]) -> dict[str, Any]:
        """What effects tell of themselves, for files: ``tension_pull``."""
        variables: dict[str, Any] = {}
        for name, effect in self._compiled.description.of(Effect).items():
            for quantity, unit in effect.tells.items():
                values = np.asarray(self._told(name, quantity))
                axes = (f"{name}_span", f"{name}_axis")[: values.ndim - len(time)]
                variables[f"{quantity}_{name}"] = ((*time, *axes), values, {"units": unit})
        return variables

    def _places(self) -> dict[str, Array]:
        """World poses (4, 4) of all tips, and of the centres of mass of bodies that move by a joint."""
        bodies = self._compiled.description.bodies.values()
        tips = {f"tip of {name}": self.tip(name) for name in self.rods}
        moving = [body for body in bodies if body.joint is not None or not tips]
        return tips | {
            f"centre of {body.name}": self._frames(body.at(body.centre)) for body in moving
        }

    def _twists(self, part: str | None, s: ArrayLike | None, rates: Sequence[Any]) -> Array:
        """Body twists (..., 6) of a rod's sections or of a body, at rates v of each configuration."""
        part, s = self._located(part, s)
        body = self._body(part, s)
        if body is None:
            return self._sampled(self._compiled.sampler.velocities, part, s, (6,), rates)
        states = zip(self._configurations, rates, strict=True)
        rows = [self._compiled.body_twist(q, v, body.name) for q, v in states]
        return np.array(rows).reshape(*self._leading, 6)

    def _sampled(
        self,
        sample: Callable[..., Array],
        rod: str | None,
        s: ArrayLike | None,
        entry: tuple[int, ...],
        *rates: Sequence[Any],
    ) -> Array:
        """Arrays (..., *entry) of sample(q, [v,] rod name, s) at each configuration."""
        part, where, shape = self._sections(*self._located(rod, s))
        states = zip(self._configurations, *rates, strict=True)
        rows = [sample(*state, part.name, where) for state in states]
        return np.array(rows).reshape(*self._leading, *shape, *entry)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words)
