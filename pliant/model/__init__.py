"""What a user describes: the parts of a robot as plain, validated data.

`Table` is a table over arclength, for profiles; `TimeTable` is the table over time among the
signals.
"""

from pliant.model.base_motion import BaseMotion
from pliant.model.body import Body
from pliant.model.chamber import BendingActuator, Chamber, Flow, Lag, PressureLine
from pliant.model.checks import (
    Array,
    ConvergenceError,
    DescriptionError,
    PliantError,
    ResolutionWarning,
    as_array,
    as_float,
    choice,
    count,
    did_you_mean,
    finite_array,
    instance,
    known_name,
    nearest_name,
    number,
    positive,
    refuse,
    whole_number,
)
from pliant.model.constraint import Constraint
from pliant.model.description import Description
from pliant.model.file_access import check_suffix, whole_file
from pliant.model.load import Load
from pliant.model.measurement import Measurement
from pliant.model.paths import field_at, number_paths, value_at, with_values
from pliant.model.places import BaseState, Frame, Moving, along, base_state, pose
from pliant.model.profile import Profile, ProfileLike, Table
from pliant.model.rod import Rod
from pliant.model.section import (
    Annulus,
    Circle,
    Damping,
    Material,
    Rectangle,
    Section,
    SectionGeometry,
    Shape,
    Stiffness,
)
from pliant.model.signals import (
    Constant,
    Function,
    Ramp,
    Signal,
    Sine,
    Sum,
    Sweep,
    Table as TimeTable,
    as_signal,
    values_at,
)

__all__ = [
    "Annulus",
    "Array",
    "BaseMotion",
    "BaseState",
    "BendingActuator",
    "Body",
    "Chamber",
    "Circle",
    "Constant",
    "Constraint",
    "ConvergenceError",
    "Damping",
    "Description",
    "DescriptionError",
    "Flow",
    "Frame",
    "Function",
    "Lag",
    "Load",
    "Material",
    "Measurement",
    "Moving",
    "PliantError",
    "PressureLine",
    "Profile",
    "ProfileLike",
    "Ramp",
    "Rectangle",
    "ResolutionWarning",
    "Rod",
    "Section",
    "SectionGeometry",
    "Shape",
    "Signal",
    "Sine",
    "Stiffness",
    "Sum",
    "Sweep",
    "Table",
    "TimeTable",
    "along",
    "as_array",
    "as_float",
    "as_signal",
    "base_state",
    "check_suffix",
    "choice",
    "count",
    "did_you_mean",
    "field_at",
    "finite_array",
    "instance",
    "known_name",
    "nearest_name",
    "number",
    "number_paths",
    "pose",
    "positive",
    "refuse",
    "value_at",
    "values_at",
    "whole_file",
    "whole_number",
    "with_values",
]
