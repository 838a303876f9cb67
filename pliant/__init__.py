"""Pliant: robots made of slender soft parts, described once and solved with any rod formulation.

    >>> import pliant as pl
    >>> robot = pl.Robot()
    >>> arm = robot.add_rod("arm", length=0.3, section=pl.Circle(0.01),
    ...                     material=pl.Material(E=1e6, nu=0.5, rho=1000.0), pose=pl.along("x"))
    >>> robot.statics().tip("arm")

SI units and radians everywhere. Twists, strains and wrenches are six numbers, angular part first,
in the body frame; poses are 4x4 arrays. Names are loaded on first use, so that importing is quick.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # the import of typing takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "pliant.robot": ("Robot",),
    "pliant.model": (
        "Annulus",
        "BaseMotion",
        "BendingActuator",
        "Body",
        "Bushing",
        "Chamber",
        "Circle",
        "Connection",
        "Constant",
        "Constraint",
        "Contact",
        "ConvergenceError",
        "Cylinder",
        "Curve",
        "Damping",
        "DescriptionError",
        "Flow",
        "Frame",
        "Gear",
        "Integral",
        "Lag",
        "Link",
        "Load",
        "Material",
        "Muscle",
        "Plane",
        "PliantError",
        "PoseSpline",
        "PressureLine",
        "Ramp",
        "Rectangle",
        "PlausibilityWarning",
        "RedundancyWarning",
        "ResolutionHint",
        "ResolutionWarning",
        "StabilityWarning",
        "Rod",
        "Section",
        "SectionUpdate",
        "StrainDamper",
        "Signal",
        "Sine",
        "SolidBox",
        "SolidCylinder",
        "SolidMesh",
        "SolidSphere",
        "Sphere",
        "Spring",
        "Step",
        "Stiffness",
        "Sum",
        "Sweep",
        "Table",
        "Tendon",
        "TimeTable",
        "Tube",
        "Wireframe",
        "along",
        "pose",
    ),
    "pliant.control.computed_torque": ("ComputedTorque",),
    "pliant.control.kalman": ("KalmanFilter",),
    "pliant.control.lqr": ("LQR",),
    "pliant.control.pid": ("PID",),
    "pliant.control.task_space": ("TaskSpace",),
    "pliant.files": ("FileError",),
    "pliant.results.energy_gap": ("EnergyGap", "EnergyWarning", "NumericalDamping"),
    "pliant.bvp.collocation": ("Collocation",),
    "pliant.bvp.shooting": ("MultipleShooting", "Shooting"),
    "pliant.joints.contract": ("JointMap",),
    "pliant.joints.options": ("MovingJoint",),
    "pliant.joints.prismatic": ("Prismatic",),
    "pliant.joints.cylindrical": ("Cylindrical",),
    "pliant.joints.universal": ("Universal",),
    "pliant.joints.spherical": ("Spherical",),
    "pliant.joints.planar": ("Planar",),
    "pliant.joints.free_directions": ("FreeDirections",),
    "pliant.joints.fixed": ("Fixed",),
    "pliant.joints.free": ("Free",),
    "pliant.joints.revolute": ("Revolute",),
    "pliant.physics.constraint_effect": ("ConstraintEffect",),
    "pliant.physics.frame_effect": ("FrameEffect",),
    "pliant.physics.line_effect": ("LineEffect",),
    "pliant.physics.strain_effect": ("StrainEffect",),
    "pliant.rods.ancf": ("ANCF",),
    "pliant.rods.bspline": ("BSpline",),
    "pliant.rods.contract": ("Formulation",),
    "pliant.rods.eba": ("EBA",),
    "pliant.rods.ebr": ("EBR",),
    "pliant.rods.hermite": ("Hermite",),
    "pliant.rods.rom": ("ROM",),
    "pliant.rods.spectral": ("Spectral",),
    "pliant.rods.srl": ("SRL",),
    "pliant.rods.strain": ("Strain",),
    "pliant.solve.events": ("Event",),
    "pliant.solve.integrators.bdf": ("BDF",),
    "pliant.solve.integrators.bdf_alpha": ("BDFAlpha",),
    "pliant.solve.integrators.contract": ("Integrator",),
    "pliant.solve.integrators.explicit": ("Explicit",),
    "pliant.solve.integrators.midpoint": ("Midpoint",),
    "pliant.solve.integrators.newmark": ("GeneralizedAlpha", "ImplicitEuler", "Newmark"),
    "pliant.solve.integrators.radau": ("Radau",),
    "pliant.solve.integrators.variational": ("Variational",),
    "pliant.results.studies": ("Comparison", "ComparisonRow", "Resolution", "ResolutionRow"),
    "pliant.results.equations": ("Accelerations", "Equations"),
    "pliant.results.equilibrium": ("Equilibrium", "Modes"),
    "pliant.results.fit": ("Estimate", "Fit", "FitData", "FitWarning"),
    "pliant.results.linearisation": ("Linearisation",),
    "pliant.results.motion": ("Motion",),
    "pliant.results.path": ("Path", "Turn"),
    "pliant.results.reach": ("Miss", "Reach", "ReachWarning"),
    "pliant.results.result_file": ("load",),
    "pliant.results.stepper": ("StepState", "Stepper"),
    "pliant.results.switched_motion": ("SwitchedMotion",),
    "pliant.results.workspace": ("Workspace",),
    "pliant.solve.motion_error": ("MotionError",),
    "pliant.solve.registry": ("formulations", "integrators"),
    "pliant.solve.shape_error": ("ShapeError",),
    "pliant.study.compare": ("compare",),
    "pliant.study.fit": ("fit",),
    "pliant.study.parallel": ("simulate_many", "statics_many"),
    "pliant.study.outputs": ("Output",),
    "pliant.study.parameters": ("Parameter",),
    "pliant.study.resolve": ("resolve",),
    "pliant.study.switching": ("Periodic", "Switch", "simulate_switched"),
    "pliant.study.track": ("Track", "track_marker"),
    "pliant.study.workspace": ("workspace",),
    "pliant.files.measurement": ("Measurement", "read_measurement"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from pliant.bvp.collocation import Collocation as Collocation
    from pliant.bvp.shooting import MultipleShooting as MultipleShooting, Shooting as Shooting
    from pliant.control.computed_torque import ComputedTorque as ComputedTorque
    from pliant.control.kalman import KalmanFilter as KalmanFilter
    from pliant.control.lqr import LQR as LQR
    from pliant.control.pid import PID as PID
    from pliant.control.task_space import TaskSpace as TaskSpace
    from pliant.files import FileError as FileError
    from pliant.files.measurement import (
        Measurement as Measurement,
        read_measurement as read_measurement,
    )
    from pliant.joints.contract import JointMap as JointMap
    from pliant.joints.cylindrical import Cylindrical as Cylindrical
    from pliant.joints.fixed import Fixed as Fixed
    from pliant.joints.free import Free as Free
    from pliant.joints.free_directions import FreeDirections as FreeDirections
    from pliant.joints.options import MovingJoint as MovingJoint
    from pliant.joints.planar import Planar as Planar
    from pliant.joints.prismatic import Prismatic as Prismatic
    from pliant.joints.revolute import Revolute as Revolute
    from pliant.joints.spherical import Spherical as Spherical
    from pliant.joints.universal import Universal as Universal
    from pliant.model import (
        Annulus as Annulus,
        BaseMotion as BaseMotion,
        BendingActuator as BendingActuator,
        Body as Body,
        Bushing as Bushing,
        Chamber as Chamber,
        Circle as Circle,
        Connection as Connection,
        Constant as Constant,
        Constraint as Constraint,
        ConvergenceError as ConvergenceError,
        Curve as Curve,
        Damping as Damping,
        DescriptionError as DescriptionError,
        Flow as Flow,
        Frame as Frame,
        Gear as Gear,
        Integral as Integral,
        Lag as Lag,
        Link as Link,
        Load as Load,
        Material as Material,
        Muscle as Muscle,
        PlausibilityWarning as PlausibilityWarning,
        PliantError as PliantError,
        PoseSpline as PoseSpline,
        PressureLine as PressureLine,
        Ramp as Ramp,
        Rectangle as Rectangle,
        RedundancyWarning as RedundancyWarning,
        ResolutionHint as ResolutionHint,
        ResolutionWarning as ResolutionWarning,
        Rod as Rod,
        Section as Section,
        SectionUpdate as SectionUpdate,
        Signal as Signal,
        Sine as Sine,
        SolidBox as SolidBox,
        SolidCylinder as SolidCylinder,
        SolidMesh as SolidMesh,
        SolidSphere as SolidSphere,
        Spring as Spring,
        StabilityWarning as StabilityWarning,
        Step as Step,
        Stiffness as Stiffness,
        StrainDamper as StrainDamper,
        Sum as Sum,
        Sweep as Sweep,
        Table as Table,
        Tendon as Tendon,
        TimeTable as TimeTable,
        Tube as Tube,
        Wireframe as Wireframe,
        along as along,
        pose as pose,
    )
    from pliant.physics.constraint_effect import ConstraintEffect as ConstraintEffect
    from pliant.physics.frame_effect import FrameEffect as FrameEffect
    from pliant.physics.line_effect import LineEffect as LineEffect
    from pliant.physics.strain_effect import StrainEffect as StrainEffect
    from pliant.results.energy_gap import (
        EnergyGap as EnergyGap,
        EnergyWarning as EnergyWarning,
        NumericalDamping as NumericalDamping,
    )
    from pliant.results.equations import Accelerations as Accelerations, Equations as Equations
    from pliant.results.equilibrium import Equilibrium as Equilibrium, Modes as Modes
    from pliant.results.fit import (
        Estimate as Estimate,
        Fit as Fit,
        FitData as FitData,
        FitWarning as FitWarning,
    )
    from pliant.results.linearisation import Linearisation as Linearisation
    from pliant.results.motion import Motion as Motion
    from pliant.results.path import Path as Path, Turn as Turn
    from pliant.results.reach import Miss as Miss, Reach as Reach, ReachWarning as ReachWarning
    from pliant.results.result_file import load as load
    from pliant.results.stepper import Stepper as Stepper, StepState as StepState
    from pliant.results.studies import (
        Comparison as Comparison,
        ComparisonRow as ComparisonRow,
        Resolution as Resolution,
        ResolutionRow as ResolutionRow,
    )
    from pliant.results.switched_motion import SwitchedMotion as SwitchedMotion
    from pliant.results.workspace import Workspace as Workspace
    from pliant.robot import Robot as Robot
    from pliant.rods.ancf import ANCF as ANCF
    from pliant.rods.bspline import BSpline as BSpline
    from pliant.rods.contract import Formulation as Formulation
    from pliant.rods.eba import EBA as EBA
    from pliant.rods.ebr import EBR as EBR
    from pliant.rods.hermite import Hermite as Hermite
    from pliant.rods.rom import ROM as ROM
    from pliant.rods.spectral import Spectral as Spectral
    from pliant.rods.srl import SRL as SRL
    from pliant.rods.strain import Strain as Strain
    from pliant.solve.events import Event as Event
    from pliant.solve.integrators.bdf import BDF as BDF
    from pliant.solve.integrators.bdf_alpha import BDFAlpha as BDFAlpha
    from pliant.solve.integrators.contract import Integrator as Integrator
    from pliant.solve.integrators.explicit import Explicit as Explicit
    from pliant.solve.integrators.midpoint import Midpoint as Midpoint
    from pliant.solve.integrators.newmark import (
        GeneralizedAlpha as GeneralizedAlpha,
        ImplicitEuler as ImplicitEuler,
        Newmark as Newmark,
    )
    from pliant.solve.integrators.radau import Radau as Radau
    from pliant.solve.integrators.variational import Variational as Variational
    from pliant.solve.motion_error import MotionError as MotionError
    from pliant.solve.registry import formulations as formulations, integrators as integrators
    from pliant.solve.shape_error import ShapeError as ShapeError
    from pliant.study.compare import compare as compare
    from pliant.study.fit import fit as fit
    from pliant.study.outputs import Output as Output
    from pliant.study.parallel import simulate_many as simulate_many, statics_many as statics_many
    from pliant.study.parameters import Parameter as Parameter
    from pliant.study.resolve import resolve as resolve
    from pliant.study.switching import (
        Periodic as Periodic,
        Switch as Switch,
        simulate_switched as simulate_switched,
    )
    from pliant.study.track import Track as Track, track_marker as track_marker
    from pliant.study.workspace import workspace as workspace

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in, on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'pliant' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
