"""From a description to a compiled system: choice of formulations, memory of what was compiled."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.model import Description, DescriptionError, Rod, Stiffness, did_you_mean
from pliant.rods.contract import Formulation
from pliant.solve.registry import default_formulation
from pliant.system.sampling import Sampler
from pliant.system.system import System

MOST_KEPT = 8
"""Compiled systems that a robot keeps for the next call."""


class Compiled:
    """A robot as it was when it was compiled, with one formulation for each rod.

    system, sampler : what computes and what answers questions about configurations.
    description : a copy; parts added to the robot later do not change it.
    formulations : by rod name.
    """

    def __init__(self, description: Description, formulations: Mapping[str, Formulation]) -> None:
        self.description = Description(
            description.gravity,
            dict(description.rods),
            dict(description.loads),
            dict(description.constraints),
            dict(description.bodies),
            dict(description.base_motions),
            dict(description.chambers),
        )
        self.formulations = dict(formulations)
        self.system = System(self.description, self.formulations)
        self.sampler = Sampler(self.system)

    def has_force_law(self, rod: str) -> bool:
        """Tell whether the internal force of a rod follows from its shear and stretch."""
        felt = self.formulations[rod].capabilities.strain_rows
        stretches = self.description.rods[rod].theory == "cosserat"
        return stretches and {3, 4, 5} <= set(felt)

    def same_rods(self, other: Compiled) -> bool:
        """Tell whether configurations of both mean the same: rods, formulations, moving bases."""
        rods, others = self.description.rods, other.description.rods
        return self is other or (
            list(rods) == list(others)
            and all(rods[name] is others[name] for name in rods)
            and all(self.formulations[n] == other.formulations[n] for n in self.formulations)
            and [b.driven for b in self.system.blocks] == [b.driven for b in other.system.blocks]
        )

    def same_unknowns(self, other: Compiled) -> bool:
        """Tell whether multipliers too mean the same: the same constraints as well."""
        mine, theirs = self.description.constraints, other.description.constraints
        return self.same_rods(other) and list(mine.values()) == list(theirs.values())


class Compiler:
    """Compiles one robot; what did not change is compiled once."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self._kept: OrderedDict[Any, Compiled] = OrderedDict()

    def compiled(self, choice: object = None) -> Compiled:
        """Return the robot compiled with the formulations that `choose_formulations` gives."""
        formulations = choose_formulations(self.description, choice)
        key = (_state(self.description), tuple(_mark(f) for f in formulations.values()))
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            self.description.validate()
            self._kept[key] = Compiled(self.description, formulations)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]


def choose_formulations(description: Description, choice: object) -> dict[str, Formulation]:
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
    return found


def _check_formulation(rod: Rod, formulation: object) -> Formulation:
    if not isinstance(formulation, Formulation):
        is_class = isinstance(formulation, type) and issubclass(formulation, Formulation)
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
    description: Description, formulations: Mapping[str, Formulation] | None = None
) -> None:
    """Refuse a robot with a rod that has no mass.

    With formulations (by rod name), as motion in time needs them, also one without rotary inertia
    where its formulation cannot do without.
    """
    for rod in description.rods.values():
        inertia = rod.inertia(np.linspace(0.0, rod.length, 9))
        direct = isinstance(rod.section, Stiffness)
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
    kinds = description.kinds().values()
    return (description.gravity, *(tuple(id(part) for part in kind.values()) for kind in kinds))


def _mark(formulation: Formulation) -> Any:
    """The formulation itself where it can be a key, else its identity."""
    try:
        hash(formulation)
    except TypeError:
        return id(formulation)
    return formulation
