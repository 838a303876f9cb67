"""What a user describes: the parts of a robot as plain, validated data.

`Table` is a table over arclength, for profiles; `TimeTable` is the table over time among the
signals.
"""

from pliant.model.base_motion import BaseMotion, BaseState, Moving, base_state
from pliant.model.body import Body
from pliant.model.checks import Array
from pliant.model.constraint import Constraint
from pliant.model.description import Description
from pliant.model.errors import ConvergenceError, DescriptionError, PliantError, did_you_mean
from pliant.model.frame import Frame, along, pose
from pliant.model.load import Load
from pliant.model.material import Material
from pliant.model.profile import Profile, ProfileLike, Table
from pliant.model.rod import Rod
from pliant.model.section import (
    Annulus,
    Circle,
    Rectangle,
    Section,
    SectionGeometry,
    Shape,
    Stiffness,
)
from pliant.model.signals import Constant, Function, Ramp, Signal, Sine, Sweep, as_signal
from pliant.model.signals import Table as TimeTable

__all__ = [
    "Annulus",
    "Array",
    "BaseMotion",
    "BaseState",
    "Body",
    "Circle",
    "Constant",
    "Constraint",
    "ConvergenceError",
    "Description",
    "DescriptionError",
    "Frame",
    "Function",
    "Load",
    "Material",
    "Moving",
    "PliantError",
    "Profile",
    "ProfileLike",
    "Ramp",
    "Rectangle",
    "Rod",
    "Section",
    "SectionGeometry",
    "Shape",
    "Signal",
    "Sine",
    "Stiffness",
    "Sweep",
    "Table",
    "TimeTable",
    "along",
    "as_signal",
    "base_state",
    "did_you_mean",
    "pose",
]
