"""From a description to a compiled system: choice of formulations, memory of what was compiled."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from pliant.engine.collection import collection_paused
from pliant.model import (
    Body,
    Description,
    DescriptionError,
    Frame,
    Rod,
    did_you_mean,
    is_inner,
    is_nested,
    nest_of,
)
from pliant.rods.contract import Formulation, RodModel
from pliant.solve.problem import Problem
from pliant.solve.registry import default_formulation

MOST_KEPT = 8
"""Compiled systems that a robot keeps for the next call."""


class Compiler:
    """Compiles one robot; what did not change is compiled once."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self._kept: OrderedDict[Any, Problem] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles of a robot compile for themselves."""
        return Compiler, (self.description,)

    def compiled(self, choice: object = None, values: Mapping[str, Any] | None = None) -> Problem:
        """Return the robot compiled with the formulations that `choose_formulations` gives.

        values : by name, of inputs that are part of the compiled robot, such as insertions of tubes.
        The robot as it is now: other threads may go on describing it meanwhile.
        """
        now = self.description.settled(values or {})
        formulations = choose_formulations(now, choice)
        key = (_state(now), tuple(_mark(f) for f in formulations.values()))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            else:
                now.validate()
                self._kept[key] = make_problem(now, formulations)
                if len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
            return self._kept[key]


@collection_paused()
def make_problem(description: Description, formulations: Mapping[str, RodModel]) -> Problem:
    """Compile a description that no longer changes, with one formulation for each rod."""
    maps = {name: item for name, item in formulations.items() if isinstance(item, Formulation)}
    if len(maps) == len(formulations):
        from pliant.solve.coordinates import CoordinateProblem

        return CoordinateProblem(description, maps)
    from pliant.solve.strong import StrongProblem
    from pliant.solve.strong_tubes import TubeProblem, is_nest

    if all(form.solves_tubes for form in formulations.values()) and is_nest(description):
        return TubeProblem(description, formulations)
    _require_welded_rods(description, formulations)
    return StrongProblem(description, formulations)


def _require_welded_rods(description: Description, formulations: Mapping[str, RodModel]) -> None:
    """Refuse for strong forms what their boundary conditions do not have: joints, moving bodies."""
    strong = next(x for x in formulations.values() if not isinstance(x, Formulation))
    name = type(strong).__name__

    def refuse(part: str, field: str, value: object, expected: str) -> NoReturn:
        remedy = "choose a formulation with coordinates, such as BSpline()"
        raise DescriptionError(part, field, value, f"{expected} with {name}", remedy)

    for part in description.members().values():
        if isinstance(part, Rod) and is_nested(description, part):
            refuse(
                part.label,
                "formulation",
                strong,
                "Shooting() where all rods are tubes in one another; other strong forms do not know "
                "them, nor other rods beside them, as",
            )
        if part.joint is not None and part.joint.moves:
            refuse(
                part.label, "joint", part.joint, "left out, for it knows rigid connections only,"
            )
        carrier = part.carrier
        if isinstance(part, Body) and (carrier is None or carrier.part not in description.rods):
            refuse(part.label, "on", carrier, "a frame of a rod")
        if carrier is not None and carrier.part not in description.rods:
            refuse(part.label, "base", carrier, "a frame of a rod")
    for entry in description.parts.values():
        for field in ("on", "to", "base"):
            frame = getattr(entry, field, None)
            if isinstance(frame, Frame) and any(frame.rotation):
                refuse(entry.label, field, frame, "a frame that is not rotated in its section")
            if isinstance(frame, Frame) and frame.part not in description.rods:
                refuse(entry.label, field, frame, "a frame of a rod")


def choose_formulations(description: Description, choice: object) -> dict[str, RodModel]:
    """Return the formulation of every rod: from the call, else from the rod, else the default.

    choice : None, one formulation for all rods, or a dict of them by rod name.
    """
    given: Mapping[Any, object] = choice if isinstance(choice, Mapping) else {}
    for name in given:
        if name not in description.rods:
            raise DescriptionError(
                "formulation",
                str(name),
                given[name],
                "filed under the name of a rod of this robot",
                did_you_mean(name, description.rods),
            )
    for_all = None if isinstance(choice, Mapping) else choice
    found = {}
    for rod in description.rods.values():
        wanted = given.get(rod.name, for_all)
        if wanted is None:
            wanted = rod.formulation
        if wanted is None:
            wanted = default_formulation(rod)
        found[rod.name] = _check_formulation(rod, wanted)
        _check_effects(description, rod, found[rod.name])
    for rod in description.rods.values():  # the outermost of nested tubes decides
        if is_inner(rod):
            found[rod.name] = found[nest_of(description, rod)[0].name]
    return found


def _check_effects(description: Description, rod: Rod, formulation: RodModel) -> None:
    """Refuse a rod with an effect that its formulation does not carry."""
    mounted = [body for body in description.bodies.values() if body.on is not None]
    bodies = [body.name for body in mounted if body.part == rod.name]
    motions = [motion.name for motion in description.motions_of(rod.name)]
    needed = {
        "drag": rod.drag if rod.drag_coefficients().any() else None,
        "mass_damping": rod.mass_damping or None,
        "bodies": ", ".join(bodies) or None,
        "base_motions": ", ".join(motions) or None,
    }
    carried = formulation.capabilities.effects
    for field, value in needed.items():
        if value is not None and field not in carried:
            name = type(formulation).__name__
            raise DescriptionError(
                rod.label,
                field,
                value,
                f"left out with {name}, which does not carry it",
                "choose another formulation such as BSpline(), or leave it out",
            )


def _check_formulation(rod: Rod, formulation: object) -> RodModel:
    if not isinstance(formulation, RodModel):
        is_class = isinstance(formulation, type) and issubclass(formulation, RodModel)
        remedy = f"write {formulation.__name__}()" if is_class else "give e.g. BSpline(points=15)"  # type: ignore[attr-defined]
        raise DescriptionError(rod.label, "formulation", formulation, "a formulation", remedy)
    theories = formulation.capabilities.theories
    if rod.theory not in theories:
        raise DescriptionError(
            rod.label,
            "formulation",
            formulation,
            f"one that can carry theory {rod.theory!r}, while "
            f"{type(formulation).__name__} carries {' and '.join(theories)}",
            "choose e.g. Strain(), or leave it out for the default",
        )
    return formulation


def require_mass(
    description: Description, formulations: Mapping[str, RodModel] | None = None
) -> None:
    """Refuse a robot with a rod that has no mass.

    With formulations (by rod name), as motion in time needs them, also one without rotary inertia
    where its formulation cannot do without.
    """
    for rod in description.rods.values():
        inertia = rod.inertia(np.linspace(0.0, rod.length, 9))
        direct = rod.material is None
        if not (inertia[:, 3:] > 0).all():
            field = "section.mass" if direct else "material.rho"
            unit = "kg/m" if direct else "kg/m^3"
            remedy = "give e.g. mass=0.3" if direct else "give e.g. rho=1000.0"
            raise DescriptionError(
                rod.label, field, 0.0, f"a positive number in {unit}, for motion needs mass", remedy
            )
        used = formulations[rod.name] if formulations else None
        if used is None or used.capabilities.massless_rotation or (inertia[:, :3] > 0).all():
            continue
        if not rod.rotary:
            raise DescriptionError(
                rod.label,
                "rotary",
                False,
                f"True with {type(used).__name__}, whose sections turn on their own as they move",
                "leave it out: in a slender rod rotary inertia does little and costs nothing",
            )
        raise DescriptionError(
            rod.label,
            "section.inertia",
            tuple(inertia[0, :3]),
            "three positive numbers in kg m, for the sections turn as they move",
            "give e.g. inertia=(1e-6, 1e-6, 2e-6), or take ANCF(), which needs none",
        )


def _state(description: Description) -> tuple[Any, ...]:
    """A key that changes when parts are added or replaced; parts themselves cannot change."""
    return (description.gravity, *(id(part) for part in description.parts.values()))


def _mark(formulation: RodModel) -> Any:
    """The formulation itself where it can be a key, else its identity."""
    try:
        hash(formulation)
    except TypeError:
        return id(formulation)
    return formulation
