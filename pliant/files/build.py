"""Build the Python description from the checked fields of a robot file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pliant.files.report import part_and_field, report_description_error
from pliant.files.schema import (
    ActuatorFields,
    BaseMotionFields,
    BodyFields,
    ChamberFields,
    ConstraintFields,
    FrameFields,
    LineFields,
    LoadFields,
    PoseFields,
    RodFields,
    SectionFields,
)
from pliant.files.schema_file import SignalFields
from pliant.files.settings import build_choice
from pliant.files.source import Place, Source
from pliant.model import (
    Annulus,
    Array,
    BaseMotion,
    BendingActuator,
    Body,
    Chamber,
    Circle,
    Constant,
    Constraint,
    Damping,
    DescriptionError,
    Flow,
    Frame,
    Lag,
    Load,
    Material,
    PressureLine,
    Ramp,
    Rectangle,
    Rod,
    Section,
    Shape,
    Signal,
    Sine,
    Stiffness,
    Sum,
    Sweep,
    TimeTable,
    along,
    did_you_mean,
    pose,
)
from pliant.model.rod import check_arclength

SECTIONS: dict[str, type[Shape] | type[Stiffness]] = {
    "circle": Circle,
    "annulus": Annulus,
    "rectangle": Rectangle,
    "section": Section,
    "stiffness": Stiffness,
}
SIGNALS: dict[str, type[Signal]] = {"ramp": Ramp, "sine": Sine, "sweep": Sweep}

T = TypeVar("T")


class Builder:
    """Builds parts one by one; a part that cannot be built is reported and None is returned.

    lengths : the length of every rod in the file in metres, None where the file's own is wrong.
    """

    def __init__(
        self,
        source: Source,
        lengths: Mapping[str, float | None],
        formulations: Mapping[str, type],
    ) -> None:
        self.source = source
        self.lengths = lengths
        self.formulations = formulations

    def rod(self, name: str, fields: RodFields, partial: bool = False) -> Rod | None:
        """Return the rod, or None after reporting.

        partial : some fields are stand-ins for wrong ones; check what each field says on its own.
        """
        path: Place = ("rods", name)
        before = len(self.source.problems)
        given = fields.given()
        given["section"] = self._section((*path, "section"), fields.section)
        if fields.material is not None:
            material = fields.material.given()
            given["material"] = self._try((*path, "material"), lambda: Material(**material))
        elif fields.section.stiffness is None and not partial:
            self._missing_material(path)
        if fields.strain_damping is not None:
            given["strain_damping"] = Damping(**fields.strain_damping.given())
        given.update(self._mounting(path, fields))
        if partial or len(self.source.problems) > before or not self._usable(fields.base):
            return None
        return self._try(path, lambda: Rod(name=name, **given))

    def actuator(
        self, name: str, fields: ActuatorFields
    ) -> tuple[Rod, tuple[Chamber, Chamber]] | None:
        """Return the rod and the chambers of a bending actuator, or None after reporting."""
        path: Place = ("actuators", name)
        before = len(self.source.problems)
        given = fields.given()
        mounting = self._mounting(path, fields)
        for field in (*mounting, "chambers", "line"):
            given.pop(field, None)
        part = self._try(path, lambda: BendingActuator(**given))
        if part is None or len(self.source.problems) > before or not self._usable(fields.base):
            return None
        rod = self._try(path, lambda: part.rod(name, **mounting))
        if rod is None:
            return None
        line = None if fields.line is None else _line(fields.line)
        pair = self._try(path, lambda: part.chambers(rod, fields.chambers, line))
        return None if pair is None else (rod, pair)

    def _mounting(self, path: Place, fields: RodFields | ActuatorFields) -> dict[str, Any]:
        """Where a rod stands and what it is solved with: pose, base and formulation."""
        base: object = None if fields.base == "free" else fields.base
        if isinstance(fields.base, FrameFields):
            base = self.frame((*path, "base"), fields.base)
        where: Place = (*path, "formulation")
        return {
            "pose": pose_of(fields.pose) if fields.pose is not None else np.eye(4),
            "base": base,
            "formulation": build_choice(self.source, where, fields.formulation, self.formulations),
        }

    def load(self, name: str, fields: LoadFields) -> Load | None:
        """Return the load, or None after reporting."""
        path: Place = ("loads", name)
        given = fields.given()
        if isinstance(fields.on, FrameFields):
            given["on"] = self.frame((*path, "on"), fields.on)
        elif not self._known((*path, "on"), fields.on):
            return None
        if given["on"] is None:
            return None
        return self._try(path, lambda: Load(name=name, **given))

    def constraint(self, name: str, fields: ConstraintFields) -> Constraint | None:
        """Return the constraint, or None after reporting."""
        path: Place = ("constraints", name)
        given = fields.given()
        given["on"] = self.frame((*path, "on"), fields.on)
        if isinstance(fields.to, FrameFields):
            given["to"] = self.frame((*path, "to"), fields.to)
            if given["to"] is None:
                return None
        elif fields.to is not None:
            given["to"] = pose_of(fields.to)
        if given["on"] is None:
            return None
        return self._try(path, lambda: Constraint(name=name, **given))

    def body(self, name: str, fields: BodyFields) -> Body | None:
        """Return the rigid body, or None after reporting."""
        path: Place = ("bodies", name)
        given = fields.given()
        given["on"] = self.frame((*path, "on"), fields.on)
        if given["on"] is None:
            return None
        return self._try(path, lambda: Body(name=name, **given))

    def chamber(self, name: str, fields: ChamberFields) -> Chamber | None:
        """Return the pressure chamber, or None after reporting."""
        path: Place = ("chambers", name)
        if not self._known((*path, "on"), fields.on):
            return None
        given = fields.given()
        if fields.line is not None:
            given["line"] = _line(fields.line)
        return self._try(path, lambda: Chamber(name=name, **given))

    def base_motion(self, name: str, fields: BaseMotionFields) -> BaseMotion | None:
        """Return the motion of a base, or None after reporting."""
        path: Place = ("base_motions", name)
        if not self._known((*path, "of"), fields.of):
            return None
        return self._try(path, lambda: BaseMotion(name=name, **fields.given()))

    def frame(self, path: Place, fields: FrameFields) -> Frame | None:
        """Return the place on a rod, or None if the rod is unknown or has no usable length."""
        if not self._known((*path, "part"), fields.part):
            return None
        length = self.lengths[fields.part]
        if length is None:
            return None
        named = {"tip": length, "base": 0.0}
        at = named[fields.at] if isinstance(fields.at, str) else fields.at
        return self._try(
            path,
            lambda: Frame(fields.part, check_arclength("", "at", at, length), fields.offset),
        )

    def input(self, name: str, fields: Any) -> Signal | tuple[float, ...] | None:
        """Return the signal or the constant vector of an input, or None after reporting."""
        if not isinstance(fields, SignalFields):
            return fields if isinstance(fields, tuple) else Constant(fields)
        return self._signal(("inputs", name), fields)

    def _signal(self, path: Place, fields: SignalFields) -> Signal | None:
        kind, value = fields.only()
        if kind == "sum":
            parts = [self._signal((*path, kind, k), item) for k, item in enumerate(value)]
            return self._try(path, lambda: Sum(parts)) if None not in parts else None  # type: ignore[arg-type]
        if kind == "constant":
            return Constant(value)
        if kind == "table":
            return self._try((*path, kind), lambda: self._table(value))
        return self._try((*path, kind), lambda: SIGNALS[kind](**value.given()))

    def _table(self, fields: Any) -> TimeTable:
        if fields.csv is None:
            return TimeTable(fields.t, fields.values)
        file = Path(self.source.name).parent / fields.csv
        return TimeTable.from_csv(file, time=fields.time, value=fields.value)

    def _section(self, path: Place, fields: SectionFields) -> Shape | Stiffness | None:
        kind, value = fields.only()
        return self._try((*path, kind), lambda: SECTIONS[kind](**value.given()))

    def _missing_material(self, path: Place) -> None:
        part, _ = part_and_field(path)
        message = "material is missing; give e.g. {E: 1.0e6, nu: 0.5, rho: 1000}"
        self.source.report(path, part, "material", message)

    def _known(self, path: Place, part: str) -> bool:
        if part in self.lengths:
            return True
        error = DescriptionError(
            "", "", part, "the name of a rod in this file", did_you_mean(part, self.lengths)
        )
        report_description_error(self.source, path, error)
        return False

    def _usable(self, base: object) -> bool:
        """Tell whether the rod that carries this one has a usable length."""
        return not isinstance(base, FrameFields) or self.lengths.get(base.part) is not None

    def _try(self, path: Place, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except DescriptionError as error:
            report_description_error(self.source, path, error)
            return None


def _line(fields: LineFields) -> PressureLine:
    """Return the pressure line that a file gives."""
    kind, value = fields.only()
    kinds: dict[str, type[PressureLine]] = {"lag": Lag, "flow": Flow}
    return kinds[kind](**value.given())


def pose_of(fields: PoseFields) -> Array:
    """Return the pose (4x4) that a file gives."""
    if fields.along is not None:
        return along(fields.along, fields.origin or (0.0, 0.0, 0.0))
    return pose(fields.position or (0.0, 0.0, 0.0), fields.rotation_vector)
