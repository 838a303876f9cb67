"""The pneumatic parts of a robot: methods that `Robot` has besides its own."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pliant.model.actuator import BendingActuator, MountedActuator
from pliant.model.calls import checked
from pliant.model.chamber import Chamber, PressureLine
from pliant.model.description import Description
from pliant.model.errors import DescriptionError
from pliant.model.frame import Frame
from pliant.model.rod import Rod


class Pneumatic:
    """A robot with pressure chambers and actuators."""

    description: Description

    @checked
    def add_chamber(
        self,
        name: str,
        on: Rod | str,
        area: Any,
        offset: Any = (0.0, 0.0),
        over: tuple[float, float] | None = None,
        pressure: float = 0.0,
        thrust: bool = True,
        line: PressureLine | None = None,
    ) -> Chamber:
        """Add a pressure chamber along a rod and return it; its name is an input, the pressure in Pa.

        area : m^2.  offset : (x, y) of its centroid in the section, metres.  over : (s0, s1) in
        metres.  pressure : where no input is given.  thrust : False leaves out the pull along the
        rod.  line : Lag or Flow between the input and the pressure in the chamber.
        """
        chamber = Chamber(name, on, area, offset, over, pressure, thrust, line)
        return self.description.add(chamber)

    @checked
    def add_actuator(
        self,
        name: str,
        actuator: BendingActuator,
        pose: ArrayLike | None = None,
        base: str | Frame | None = "world",
        chambers: tuple[str, str] = ("chamber1", "chamber2"),
        formulation: object = None,
        line: PressureLine | None = None,
    ) -> Rod:
        """Add a bending actuator and return its rod; the names of its chambers are inputs, Pa.

        pose, base : as for `add_rod`.  formulation : such as ANCF(8).  line : for each chamber.
        """
        if not isinstance(actuator, BendingActuator):
            raise DescriptionError(
                f"actuator {name!r}",
                "actuator",
                actuator,
                "a BendingActuator",
                "give e.g. BendingActuator(0.175, 0.0186, 0.006, 0.009)",
            )
        mounted = MountedActuator(
            name=name,
            **vars(actuator),
            pose=pose,  # type: ignore[arg-type]
            base=base,
            chambers=chambers,
            formulation=formulation,
            line=line,
        )
        self.description.add(mounted)
        return self.description.rods[name]
