"""The public face: describe a robot, then ask for its equilibrium, its motion, its modes."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.files import load_robot_file, save_robot_file
from pliant.model import (
    Array,
    BaseMotion,
    BendingActuator,
    Body,
    Bushing,
    Chamber,
    Connection,
    Constant,
    Constraint,
    Contact,
    ConvergenceError,
    Damping,
    Description,
    DescriptionError,
    EmbeddedTendon,
    Entry,
    Frame,
    Gear,
    Joint,
    Link,
    Load,
    Material,
    Mesh,
    MountedActuator,
    Muscle,
    PlausibilityWarning,
    PressureLine,
    ResolutionWarning,
    Rod,
    SectionUpdate,
    Shape,
    Solid,
    Spring,
    Stiffness,
    StrainDamper,
    Tendon,
    Tube,
    Wireframe,
    checks,
    positive,
    values_at,
)
from pliant.model.origin import with_parameters
from pliant.model.plausible import time_doubts
from pliant.model.progress import time_reached, told
from pliant.model.telling import untold
from pliant.results.checkpoint_file import open_checkpoints
from pliant.results.equations import Equations
from pliant.results.equilibrium import Equilibrium, Modes
from pliant.results.linearisation import Linearisation, linearise
from pliant.results.motion import Motion
from pliant.results.path import FollowTask, Path
from pliant.results.reach import Reach, reach
from pliant.results.responses import coordinates_of
from pliant.results.result import ShapeResult
from pliant.results.stepper import Stepper, StepState, make_stepper, state_seen
from pliant.results.switched_motion import SwitchedMotion
from pliant.rods.contract import RodModel
from pliant.solve.automatic import DEFAULT, first_mesh, refine
from pliant.solve.clock import Clock, make_clock
from pliant.solve.compiled import Compiler, choose_formulations, require_mass
from pliant.solve.control import Control, controller_pairs
from pliant.solve.controller_memory import Repeated
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.dynamics import Trajectory
from pliant.solve.events import Event, Watch, as_events
from pliant.solve.input_times import input_intervals
from pliant.solve.integrators.contract import Integrator
from pliant.solve.mesh_slopes import brought, on_mesh_of
from pliant.solve.motion_error import Companions, check_error
from pliant.solve.motion_search import OUTPUTS, InterruptedSearchError, MotionSearch
from pliant.solve.moving_mesh import MovingMesh
from pliant.solve.problem import Problem, Start, Still
from pliant.solve.registry import formulations, integrators
from pliant.solve.schedule import Inputs, as_inputs, check_input, check_values
from pliant.solve.side_by_side import MotionPlan
from pliant.solve.statics import StaticSolution
from pliant.solve.step_methods import given_method
from pliant.solve.stretch import judge_stretch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Formulations = RodModel | Mapping[str, RodModel]

T = TypeVar("T", bound=Entry)


def _load_reached(level: float, iterations: int, residual: float) -> tuple[float, str]:
    return level, f"{iterations} iterations"


@contextmanager
def _as_motion(compiled: Problem, method: Integrator) -> Iterator[None]:
    """Give a simulation that fails the motion up to there as the `last` of its error."""
    try:
        yield
    except ConvergenceError as error:
        if isinstance(error.last, Trajectory):
            error.last = Motion(compiled, error.last, repr(method))
        raise


def _refuse_with_accuracy(dt: Any, resume: Any, changing: list[str]) -> None:
    """Refuse what a motion for an accuracy cannot have.

    changing : names of inputs with which the mesh moves.
    """
    checks.refuse(
        resume is not None, "simulate", "resume", resume, "left out unless dt alone is given",
        "give the dt, formulation and integrator of the motion that was saved, and no accuracy",
    )  # fmt: skip
    checks.refuse(
        changing, "simulate", "dt", dt, f"given alone where {changing[:1]} changes in time, for "
        "its mesh moves from step to step", "give e.g. dt=4e-3 and no accuracy",
    )  # fmt: skip


def _saved(motion: Motion, path: str | os.PathLike[str] | None) -> Motion:
    """The motion, written to a file if there is one and the motion came to its end."""
    if path is not None and motion.complete:
        motion.save(path)
    return motion


class Robot:
    """A robot made of slender parts.

    gravity : (3,) world frame, m/s^2.

    Add parts with the ``add_`` methods; then `statics`, `simulate`, `stepper` and `modes` solve it.
    Every load is an input by its own name. What was compiled for one call is kept for the next.
    """

    @checks.checked
    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self._begin(Description(gravity), {})  # type: ignore[arg-type]

    def _begin(self, description: Description, inputs: Mapping[str, Any]) -> None:
        self.description = description
        self.inputs = dict(inputs)
        """Values or signals from a robot file, for inputs that a call does not name."""
        self._compiler = Compiler(description)
        self._judged: object = None
        """What was described when doubts about it were told; True for never."""

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        allow: Any = (),
        parameters: Mapping[str, Any] | None = None,
    ) -> Robot:
        """Return the robot that a YAML file describes, with the inputs that it gives.

        path : the file.  allow : a folder, or several, in which it may name files, besides its own.
        parameters : values of named parameters of the file by name, instead of those in it.
        """
        file = load_robot_file(path, formulations(), integrators(), allow, parameters)
        robot = cls._from(file.description, file.inputs)
        robot._judged = None
        return robot

    @checks.checked
    def save(self, path: str | os.PathLike[str], tabulate: int | None = None) -> FilePath:
        """Write the robot and its inputs to a robot file (.yaml) and return the path.

        tabulate : replace functions of s by tables with this many intervals, linear in between and cut
        where the functions jump; None refuses them. Functions of time and formulations of your own are
        refused.

        `Robot.from_file` gives an equal robot back. An old file is replaced only at the end.
        """
        families: dict[str, Mapping[str, type]] = {
            "formulation": formulations(),
            "integrator": integrators(),
        }
        return save_robot_file(path, self.description, self.inputs, families, tabulate)

    @classmethod
    def _from(cls, description: Description, inputs: Mapping[str, Any]) -> Robot:
        robot = cls.__new__(cls)
        robot._begin(description, inputs)
        robot._judged = True
        return robot

    def __repr__(self) -> str:
        return f"<Robot with {', '.join(self.description.parts) or 'no parts'}>"

    def copy(self) -> Robot:
        """Return a robot with the same parts, effects and inputs, to which you can add others."""
        return self._from(self.description.snapshot(), self.inputs)

    @property
    def parameters(self) -> dict[str, float | tuple[float, ...]]:
        """Values of the named parameters of its robot file, by name."""
        origin = self.description.origin
        return {} if origin is None else dict(origin.values)

    @checks.checked
    def with_parameters(self, parameters: Mapping[str, Any]) -> Robot:
        """Return the robot with other values of named parameters of its robot file.

        parameters : numbers, or lists of them, by name. Parts that you added since it was loaded stay.
        """
        new = with_parameters(self.description, parameters)
        old, origin = self.description.origin, new.origin
        assert old is not None and origin is not None
        own = {name: x for name, x in self.inputs.items() if old.inputs.get(name) is not x}
        gone = set(old.inputs) - set(self.inputs)
        inputs = {name: x for name, x in origin.inputs.items() if name not in gone}
        return self._from(new, {**inputs, **own})

    @checks.checked
    def remove(self, name: str, cascade: bool = False) -> list[str]:
        """Remove a part or an effect, and return the names of all that were removed.

        cascade : True also removes what hangs on it, acts on it or holds it; else it is refused if
        there is any. Values in `inputs` of what was removed are removed too.
        """
        parts = self.description.parts
        expected = "the name of a part or an effect of this robot"
        checks.known_name("robot", "name", name, parts, expected)
        others = self.description.dependants(name)
        checks.refuse(
            others and not cascade,
            "robot",
            "name",
            name,
            f"one that nothing depends on, but {', '.join(map(repr, others))} would be left over",
            f"remove these first, or give remove({name!r}, cascade=True)",
        )
        del parts[name]
        removed = [name]
        for other in others:
            removed += self.remove(other, cascade=True) if other in parts else []
        known = self.description.inputs()
        self.inputs = {key: value for key, value in self.inputs.items() if key in known}
        return removed

    @checks.checked
    def plot(self, path: str | os.PathLike[str] | None = None, view: Any = None) -> Figure:
        """Draw the robot undeformed, with its effects as described, without solving it.

        path : of a picture to write, .png, .pdf, .svg or .jpg.
        view : (elevation, azimuth) in degrees, "iso", "front", "side", "top", or None to choose.
        """
        from pliant.results.undeformed import draw_description

        return draw_description(self.description, path, view)

    def show(self) -> None:
        """Open the picture of `plot` in a window and wait until you close it."""
        from pliant.view import show

        self.plot()
        show()

    # -- describing --------------------------------------------------------------------------

    @checks.checked
    def add_rod(
        self,
        name: str,
        length: float,
        section: Shape | Stiffness,
        material: Material | None = None,
        pose: ArrayLike | None = None,
        base: str | Frame | None = "world",
        natural: Any = (0.0, 0.0, 0.0),
        formulation: RodModel | None = None,
        theory: str = "cosserat",
        drag: float | ArrayLike = 0.0,
        mass_damping: float = 0.0,
        rotary: bool = True,
        strain_damping: Damping | None = None,
        joint: Joint | None = None,
        breaks: Sequence[float] = (),
    ) -> Rod:
        """Add a rod that runs along its local z axis, and return it (`.tip`, `.at(s)` are places).

        length : metres.  section : Circle, Annulus, Rectangle, Section, or Stiffness (without
        material).  pose : 4x4 pose of the base in the world, or relative to the frame ``base``.
        base : "world" (clamped), a place on another part (a Frame, or its name such as "arm.tip";
        clamped to it), or None (free).
        natural : curvature and twist at rest (ux, uy, uz), rad/m, or all six strains; fixed, a
        function of s, or a Table; or a shape: a Curve, a PoseSpline, or a list of control points
        (N, 3) or control poses (N, 4, 4).  formulation : for this rod; None for the default.
        theory : "cosserat", or "kirchhoff" for no shear and no stretch.
        drag : kg/m^2, square-law drag along all or each of the body axes.
        mass_damping : 1/s, Rayleigh's first coefficient.  rotary : False leaves out the rotary
        inertia of the sections.  strain_damping : Damping, one value per strain, besides the
        viscosity of the material.
        joint : how the base hangs on ``base``, such as Revolute("x"); None for a clamp.
        breaks : arclengths in metres, increasing, where section, natural strain or damping jump, and
        the borders of narrow peaks. Those of functions of s and tables are found, except in peaks
        narrower than 0.001 of the length. Each becomes a knot of the formulation, which adds points.
        """
        place: Array = np.eye(4) if pose is None else pose  # type: ignore[assignment]
        rod = Rod(
            *(name, length, section, material, place, base, natural, formulation, theory),
            drag=drag,  # type: ignore[arg-type]
            mass_damping=mass_damping,
            rotary=rotary,
            strain_damping=strain_damping,
            joint=joint,
            breaks=breaks,  # type: ignore[arg-type]
        )
        return self.description.add(rod)

    @checks.checked
    def add_tube(
        self,
        name: str,
        length: float,
        section: Shape | Stiffness,
        material: Material | None = None,
        inside: Rod | str | None = None,
        natural: Any = (0.0, 0.0, 0.0),
        start: float = 0.0,
        angle: float = 0.0,
        insertion: str | None = None,
        rotation: str | None = None,
        drive: str = "angle",
        shift: str | None = None,
        offset: ArrayLike = (0.0, 0.0),
        tip_turns: bool | None = None,
        pose: ArrayLike | None = None,
        base: str | Frame | None = "world",
        formulation: RodModel | None = None,
        theory: str = "cosserat",
        rotary: bool = True,
        strain_damping: Damping | None = None,
        joint: Joint | None = None,
        breaks: Sequence[float] = (),
    ) -> Tube:
        """Add a precurved tube in another tube or rod and return it; it shares the centreline.

        length, section, material, natural, theory, rotary, strain_damping, breaks : as for `add_rod`,
        along the tube from its base; the section is round, such as an Annulus.
        inside : the tube or rod around it; None for the outermost, which comes out of the entry plane
        at ``pose`` on ``base`` by ``joint``, and whose ``formulation`` is that of the centreline.
        start : where its base is, metres along the axis from the entry plane: negative for a straight
        part of that length behind the plane, which twists.  angle : of its base about the axis, rad.
        insertion : name of an input in metres, added to ``start``.
        rotation : name of an input in radians, added to ``angle``; with ``drive="torque"`` it is the
        torque in N m that turns a base that is free to turn.
        shift : name of an input in metres that pushes the base of a tube with its tip fixed; it slides
        along the others, and turns about its axis too if ``rotation`` is given. The outermost is a rod.
        offset : (x, y) of its axis in the sections of that rod, metres.
        tip_turns : whether its tip turns against the centreline; None for no with ``shift``, else yes.
        """
        place: Array = np.eye(4) if pose is None else pose  # type: ignore[assignment]
        tube = Tube(
            *(name, length, section, material, place, base, natural, formulation, theory),
            rotary=rotary,
            strain_damping=strain_damping,
            joint=joint,
            breaks=breaks,  # type: ignore[arg-type]
            inside=inside,
            start=start,
            angle=angle,
            insertion=insertion,
            rotation=rotation,
            drive=drive,
            shift=shift,
            offset=offset,  # type: ignore[arg-type]
            tip_turns=tip_turns,
        )
        return self.description.add(tube)

    @checks.checked
    def add_load(
        self,
        name: str,
        on: Frame | Rod | str,
        force: Any = (0.0, 0.0, 0.0),
        moment: ArrayLike = (0.0, 0.0, 0.0),
        frame: str | Frame = "world",
        over: tuple[float, float] | None = None,
        breaks: Sequence[float] = (),
    ) -> Load:
        """Add a load and return it; its name is an input of the robot.

        on : a place (N, N m): a Frame such as ``arm.tip`` or its name, "arm.tip", "arm.base" or
        "arm.0.12" for s = 0.12 m; or a rod or its name for a load along it (N/m, N m/m).
        force, moment : (3,) in ``frame``; a force along a rod may be a function of s.
        frame : "world" (fixed direction), "body" (follows the section), or at a point the Frame of
        another part, or its name, with which force and moment turn.
        over : (s0, s1) in metres, the stretch that a load along a rod covers.
        breaks : arclengths in metres, increasing, where a force that is a function of s jumps, and the
        borders of peaks narrower than 0.001 of the length; others are found.
        """
        place = on.name if isinstance(on, Rod) else on
        return self.description.add(Load(name, place, force, moment, frame, over, breaks))  # type: ignore[arg-type]

    @checks.checked
    def add_constraint(
        self,
        name: str,
        on: Frame | str,
        to: Frame | str | ArrayLike | None = None,
        kind: str | None = None,
        hold: tuple[str, ...] | None = None,
        moves: Mapping[str, str] | None = None,
    ) -> Constraint:
        """Add a constraint that holds the frame ``on``, and return it.

        on : a Frame, or its name such as "arm.tip".
        to : another one, a 4x4 world pose, or None for where ``on`` is in the undeformed robot.
        kind : "fixed" (default), "articulated" (position) or "sliding" (orientation).
        hold : instead of kind, directions from "rx", "ry", "rz", "x", "y", "z" in the frame ``to``;
        "z >= 0" and "z <= 0" hold one side only.
        moves : inputs by direction, {"x": "slide"}, that prescribe where ``on`` is held, m and rad.
        """
        return self.description.add(Constraint(name, on, to, kind, hold, moves))  # type: ignore[arg-type]

    @checks.checked
    def connect(
        self,
        name: str,
        a: Frame | str | ArrayLike,
        b: Frame | str | ArrayLike | None = None,
        joint: Joint | None = None,
        pose: ArrayLike | None = None,
    ) -> Connection:
        """Close a loop: connect two places by a joint, and return the connection.

        a : a Frame, its name such as "arm.tip", or a 4x4 world pose; the joint is at its origin and has
        its axes.  b : another one, or "world" (None) for the world where ``a`` is at rest.
        joint : such as Revolute("x"), with springs, limits and drives as in `add_body`; None for a
        rigid connection. Results have its coordinates and the wrench on b by the name.
        pose : 4x4 pose of b in a where the joint is at rest; None for that of the undeformed robot.
        With the identity both frames come together: `statics` closes the gap.
        """
        return self.description.add(Connection(name, a, b, joint, pose))  # type: ignore[arg-type]

    @checks.checked
    def add_gear(
        self,
        name: str,
        joint: str | Sequence[str],
        follows: str | Mapping[str, float],
        ratio: float = 1.0,
        offset: float = 0.0,
        input: str | None = None,
    ) -> Gear:
        """Tie joints together and return the gear: value = offset + ratio times what it follows.

        joint : name of a part whose joint has one coordinate, "part.coordinate" such as "hand.rz", or
        several that each follow.  follows : another one, or several by name with the ratio of each.
        ratio : change of joint for a unit of what it follows; negative to turn the other way.
        offset : rad or m.  input : name of an input, rad or m, that is added to the offset.
        """
        return self.description.add(Gear(name, joint, follows, ratio, offset, input))  # type: ignore[arg-type]

    @checks.checked
    def add_body(
        self,
        name: str,
        mass: float | None = None,
        inertia: ArrayLike = (0.0, 0.0, 0.0),
        on: Frame | str | None = None,
        centre: ArrayLike = (0.0, 0.0, 0.0),
        pose: ArrayLike | None = None,
        joint: Joint | None = None,
        shape: Solid | None = None,
        density: float | None = None,
    ) -> Body:
        """Add a rigid body and return it (`.at(point)` are places on it).

        mass : kg.  inertia : about its centre of mass along the axes of the body, kg m^2: three
        principal moments, six (Ixx, Iyy, Izz, Ixy, Ixz, Iyz), or 3x3.
        on : a Frame such as ``arm.tip`` or its name "arm.tip", or None for the world.
        centre : (3,) of the mass in the body, metres.
        pose : 4x4 pose of the body at rest in the frame ``on``.
        joint : how it hangs there, such as Revolute("x") or Free(); None for a rigid connection.
        shape : a SolidBox, SolidCylinder, SolidSphere or SolidMesh for pictures; None for an
            ellipsoid of its inertia.
        density : kg/m^3 of its shape, instead of mass, inertia and centre.
        """
        given = (name, mass, inertia, on, centre, pose, joint, shape, density)
        return self.description.add(Body(*given))  # type: ignore[arg-type]

    @checks.checked
    def add_base_motion(
        self,
        name: str,
        of: Rod | str,
        translation: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike = (0.0, 0.0, 0.0),
    ) -> BaseMotion:
        """Move the base of a rod that is clamped to the world; the name is an input x, 0 if not given.

        of : the rod.  translation : (3,) world frame, metres per unit of x.
        rotation : (3,) rotation vector in the frame of the base, radians per unit of x.
        """
        motion = BaseMotion(name, of, translation, rotation)  # type: ignore[arg-type]
        return self.description.add(motion)

    @checks.checked
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

    @checks.checked
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
        checks.instance(
            f"actuator {name!r}",
            "actuator",
            actuator,
            BendingActuator,
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

    @checks.checked
    def add_tendon(
        self,
        name: str,
        path: Sequence[Any] | None = None,
        *,
        along: Rod | str | Sequence[Rod | str] | None = None,
        offset: Any = None,
        over: tuple[float, float] | None = None,
        drive: str = "tension",
        tension: float = 0.0,
        stiffness: float | None = None,
        slack: float = 0.0,
        friction: float = 0.0,
        sliding: str = "pull",
        creep: float = 1e-3,
    ) -> Tendon | EmbeddedTendon:
        """Add a tendon and return it; its name is an input, a tension in N or a pulled length in m.

        path : two via-points or more, from where it is pulled to where it is fixed, straight in
        between: Frames such as ``arm.at(0.1, (0.007, 0))`` or their names, or points (3,) in the
        world, metres.
        along : instead of ``path``, a channel along a rod or its name, or several rods from base to
        tip, joined rigidly end to end.
        offset : with ``along``, (x, y) in the section, metres; fixed, a pair of them at both ends, a
        function of s, or a Table.  over : (s0, s1) in metres, the stretch that it covers. s counts from
        the base of the first rod.
        drive : "tension"; "length" for a reel that pulls in as many metres as the input says; with
        ``path`` also "none" for a cable of fixed length.  tension : where no input is given, N.
        stiffness : axial stiffness EA of a tendon with a given length, N; None if it does not stretch.
        slack : how much longer such a tendon is than its path at rest, metres.
        friction : coefficient of friction in the channel or at the via-points.
        sliding : with friction, which way the tendon slid to an equilibrium: "pull", "release", or
        "way", as the loads came on. In a motion rates tell.
        creep : rate of sliding below which friction fades in a motion, m/s.
        """
        rubbing = (friction, sliding, creep)
        if along is None:
            via = Tendon(name, path, drive, tension, stiffness, slack, *rubbing)  # type: ignore[arg-type]
            return self.description.add(via)
        expected = "left out, for the tendon runs along rods"
        checks.refuse(path is not None, f"tendon {name!r}", "path", path, expected, "remove it")
        given = (over, tension, friction, drive, stiffness, slack, sliding, creep)
        tendon = EmbeddedTendon(name, along, offset, *given)
        return self.description.add(tendon)

    @checks.checked
    def add_spring(
        self,
        name: str,
        a: Frame | str | ArrayLike,
        b: Frame | str | ArrayLike,
        stiffness: float = 0.0,
        rest: float | None = None,
        damping: float = 0.0,
        power: float = 1.0,
        kind: str = "two-way",
        compression: float = 1.0,
    ) -> Spring:
        """Add a spring, damper, rope or bumper between two points and return it.

        a, b : Frames such as ``arm.tip`` or their names, or points (3,) in the world, metres.
        stiffness : N/m.  rest : length without force, metres; None for the distance at rest.
        damping : N (s/m)^power, of the rate of the length to this power.  power : one for a viscous
        damper; below one the force is smoothed at rates under 1 mm/s.
        kind : "two-way", "tension" for a rope that only pulls, "compression" for a bumper that only
        pushes.
        compression : without a rest, length without force over the distance at rest.
        """
        law = (stiffness, rest, damping, power, kind, compression)
        return self.description.add(Spring(name, a, b, *law))  # type: ignore[arg-type]

    @checks.checked
    def add_bushing(
        self,
        name: str,
        on: Frame | str,
        to: Frame | str | ArrayLike | None = None,
        stiffness: Mapping[str, float] | None = None,
        damping: Mapping[str, float] | None = None,
        rest: Mapping[str, float] | None = None,
        power: float = 1.0,
        kinds: Mapping[str, str] | None = None,
    ) -> Bushing:
        """Add springs and dampers along and about the axes of a frame ``to``, and return them.

        on : the Frame that is sprung, or its name.  to : another one, a 4x4 world pose, or None for
        where ``on`` is in the undeformed robot.
        stiffness, damping, rest : by direction from "rx", "ry", "rz", "x", "y", "z": N m/rad and N/m;
        N m (s/rad)^power and N (s/m)^power; rad and m, where absent as in the undeformed robot.
        kinds : by direction "two-way", "tension" (acts above its rest only) or "compression" (below).
        """
        given = (stiffness, damping, rest, power, kinds)
        return self.description.add(Bushing(name, on, to, *given))  # type: ignore[arg-type]

    @checks.checked
    def add_link(
        self,
        name: str,
        a: Frame | str | ArrayLike,
        b: Frame | str | ArrayLike,
        section: Shape | Stiffness,
        material: Material | None = None,
        *,
        rest: float = 1.0,
        kind: str = "two-way",
        strain_damping: Damping | None = None,
        beam: bool = True,
        x_axis: ArrayLike | None = None,
        power: float = 1.0,
        updated: bool = False,
    ) -> Link:
        """Add an elastic link between two places, a light beam clamped at both, and return it.

        a, b : Frames such as ``node.base_frame`` or their names, or points (3,) in the world, metres.
        section, material : as of a rod, uniform; or a Stiffness without material.
        rest : length without force over the distance at rest.
        kind : of its stretch: "two-way", "tension" for one that gives way when shortened,
        "compression" for one that gives way when lengthened.
        strain_damping : besides the viscosity of the material.
        beam : True for the end forces of a beam whose moment varies along it, False for the shear
        stiffness as it is.  x_axis : (3,) direction of local x at rest, in the world; None to choose.
        power : of the rates of strain in the damping.
        updated : True for a section that follows the stretch as by `add_section_update`.
        """
        more = (rest, kind, strain_damping, beam, x_axis, power, updated)
        return self.description.add(Link(name, a, b, section, material, *more))  # type: ignore[arg-type]

    @checks.checked
    def add_mesh(
        self,
        name: str,
        wireframe: Wireframe,
        mass: float,
        section: Shape | Stiffness,
        material: Material | None = None,
        *,
        inertia: ArrayLike | None = None,
        fixed: Any = None,
        kind: str = "two-way",
        rest: float = 1.0,
        strain_damping: Damping | None = None,
        x_axis: ArrayLike | None = None,
        power: float = 1.0,
        updated: bool = False,
    ) -> list[Body | None]:
        """Add a net: a body for each node of a wireframe, a link for each edge; return the bodies.

        Node k is the body ``name_k``, edge k the link ``name_edge_k``; both move freely in space.
        mass : of the whole net, kg, shared by the nodes in proportion to the edges that meet there.
        inertia : of a node, kg m^2, three numbers; None for that of a ball as wide as half the mean
        edge.  fixed : nodes that are fixed in the world, for which the list has None: "single-edge" for
        those with one edge, numbers, or a function of a position (3,) in metres.
        section, material, kind, rest, strain_damping, x_axis, power, updated : of the links, as of
        `add_link`.
        """
        links = (kind, rest, strain_damping, x_axis, power, updated)
        mesh = Mesh(name, wireframe, mass, section, material, inertia, fixed, *links)  # type: ignore[arg-type]
        self.description.add(mesh)
        return mesh.nodes

    @checks.checked
    def add_urdf(
        self,
        path: str | os.PathLike[str],
        prefix: str = "",
        *,
        on: Frame | str | None = None,
        pose: ArrayLike | None = None,
        floating: bool = False,
        drive: str | Mapping[str, str] | None = None,
        limits: bool = True,
        limit_stiffness: float | None = None,
        packages: Mapping[str, str] | None = None,
    ) -> dict[str, Body | None]:
        """Add the rigid robot of a URDF file; return the body of each link.

        Links become bodies, joints carry them; joints that mimic others become gears. Rods, tendons and
        loads can hang on the bodies. A root without mass and shape, such as "world", has None.

        prefix : before the names of links and joints, so that a file can be added twice.
        on, pose : frame that carries the root link, None for the world, and its pose (4, 4) there.
        floating : True if the root moves freely.
        drive : "motion" if an input prescribes the value of each joint, "force" if it is its force or
        torque, None for neither; or by name of the joint. Inputs have the names of the joints.
        limits : False leaves out limits of joints.  limit_stiffness : of their stops, N m/rad or N/m;
        None for hard stops.
        packages : folders of the packages in "package://name/..."; else they are sought above the file.

        Bodies do not collide: add contacts. Efforts and velocities of motors are not limited.
        """
        from pliant.files.urdf import read_urdf
        from pliant.files.urdf_parts import UrdfOptions, urdf_bodies

        file = read_urdf(path, packages)
        place = checks.pose_matrix("add_urdf", "pose", np.eye(4) if pose is None else pose)
        options = UrdfOptions(prefix, on, place, floating, drive, limits, limit_stiffness)  # type: ignore[arg-type]
        kept = dict(self.description.parts)
        try:
            bodies = {
                link: None if body is None else self.description.add(body)
                for link, body in urdf_bodies(file, options)
            }
            child = {joint.name: prefix + joint.child for joint in file.joints}
            for joint in file.joints:
                if joint.mimic is not None:
                    leader, ratio, offset = joint.mimic
                    ends = (child[joint.name], child[leader])
                    self.add_gear(f"{prefix}{joint.name} gear", *ends, ratio, offset)
        except BaseException:  # all of the file or nothing
            self.description.parts.clear()
            self.description.parts.update(kept)
            raise
        undrawn = [f"link {link!r} is not drawn: {text}" for link, text in file.undrawn.items()]
        for text in undrawn + file.doubts:
            warnings.warn(text, PlausibilityWarning, stacklevel=3)
        return bodies

    @checks.checked
    def add_contact(
        self,
        name: str,
        of: Any,
        against: Any,
        friction: float = 0.0,
        creep: float = 1e-3,
        stiffness: float | None = None,
        damping: float = 0.0,
        stations: int | None = None,
        radius: float | None = None,
    ) -> Contact:
        """Keep rods and spheres from passing through surfaces, rods or themselves; return the contact.

        of : a rod, or Sphere(radius, on="ball") fixed to a body, or several of them.
        against : Plane, Sphere or Cylinder, in the world or fixed to a part; or a rod; or several.
        friction : coefficient; equilibria with friction depend on the way, see `start` of `statics`.
        creep : velocity at which friction has 0.7 of its full force, m/s.
        stiffness : None for hard contact with inelastic impacts; else of a spring, N/m, or N/m per
        metre of a rod.  damping : of the spring, s/m.
        stations : points along each rod that may touch, None to choose.
        radius : of the rods, metres, None for that of their round sections.
        """
        rules = (friction, creep, stiffness, damping, stations, radius)
        return self.description.add(Contact(name, of, against, *rules))

    @checks.checked
    def add_section_update(self, name: str, on: Rod | str) -> SectionUpdate:
        """Let section and stiffness of a rod follow its stretch, and return the law: radii become
        r / sqrt(stretch), moduli E / stretch. Chambers keep their areas, as if a braid held them.

        on : the rod, or its name.
        """
        return self.description.add(SectionUpdate(name, on))

    @checks.checked
    def add_strain_damper(
        self, name: str, on: Rod | str, damping: Damping, power: float
    ) -> StrainDamper:
        """Let a rod resist its rates of strain by damping |rate|^(power - 1) rate; return the damper.

        on : the rod, or its name.  damping : Damping, in N m^2 s^power of bending and twist and in
        N s^power of shear and stretch.  power : of the rates.
        """
        return self.description.add(StrainDamper(name, on, damping, power))

    @checks.checked
    def add_muscle(
        self,
        name: str,
        path: Sequence[Any],
        strength: float = 0.0,
        optimum: float | None = None,
        width: float = 0.5,
        speed: float = 1.0,
        passive: float = 1.0,
        law: Callable[[float, float, float], float] | None = None,
    ) -> Muscle:
        """Add a muscle and return it; its name is an input, the activation from 0 to 1.

        path : via-points as of a tendon.  strength : largest isometric force, N.
        optimum : length of that force, metres; None for the length at rest.  width : of the force over
        the length, relative to it.  speed : rate of shortening without force, m/s.
        passive : force of the muscle without activation, relative to ``strength``.
        law : instead, a function of length (m), rate (m/s) and activation that returns a force (N).
        """
        rest = (strength, optimum, width, speed, passive, law)
        return self.description.add(Muscle(name, path, *rest))  # type: ignore[arg-type]

    @checks.checked
    def add(self, entry: T) -> T:
        """Add a part or an effect of any class, such as your own, and return it.

        entry : an object of a subclass of `Part` or `Effect` (`pliant.model.registry`).
        """
        return self.description.add(entry)

    # -- solving -----------------------------------------------------------------------------

    @checks.checked
    def statics(
        self,
        inputs: Mapping[str, Any] | None = None,
        formulation: Formulations | None = None,
        start: Equilibrium | Mapping[str, Any] | None = None,
        tolerance: float = 1e-10,
        progress: bool | Callable[[float, int, float], object] | None = None,
        accuracy: float | None = None,
    ) -> Equilibrium:
        """Return the equilibrium on the branch that starts at the unloaded robot.

        inputs : by load name, a factor on the described load, a force (3,), or (moment, force)
        (6,); by name of a base motion, its number.  formulation : for all rods, or by rod name.
        start : an equilibrium to follow the branch from; or by rod name, points (n, 3) in the world at
        evenly spaced sections from base to tip, or (s, points), near which an equilibrium is sought.
        tolerance : on the residual relative to the loads.
        progress : True for a bar with the remaining time; or a function, called with the load level
        reached, the iterations so far and the residual.
        accuracy : relative to the longest rod, such as 1e-4: the mesh is refined until the estimated
        error of the shape is below it.
        """
        if accuracy is not None:
            checks.refuse(
                start, "statics", "accuracy", accuracy, "left out when start is given",
                "remove one of them, for a start keeps its mesh",
            )  # fmt: skip
            return refine(
                lambda mesh: self.statics(inputs, mesh or formulation, None, tolerance, progress),
                lambda found: math.inf if found.error is None else found.error.relative,
                lambda found: found._compiled.formulations,
                checks.accuracy("statics", "accuracy", accuracy),
            )
        limit = positive("statics", "tolerance", tolerance, "", "give e.g. 1e-10")
        given = {**values_at(self.inputs, 0.0), **as_inputs(inputs)}
        near = start if isinstance(start, Mapping) else None
        compiled = self._compiled(
            formulation, start if near is None else None, "start", given, carry=True
        )
        values = check_values(compiled.description, given)
        begin = None
        if near is not None:
            begin = compiled, compiled.still_at(compiled.through_points(near, "statics"), values)
        elif start is not None:
            expected = "an Equilibrium of the robot with the same constraints"
            remedy = "leave start out to begin at the unloaded robot"
            still = checks.instance("statics", "start", start, Equilibrium, expected, remedy)
            begin = brought(still._compiled, still._still, compiled)
        began = time.perf_counter()
        try:
            with told(progress, "statics", _load_reached) as report:
                solved = compiled.statics(values, begin, limit, report)
        except ConvergenceError as error:
            if isinstance(error.last, Still):
                seconds = time.perf_counter() - began
                error.last = Equilibrium(compiled, error.last.solution, error.last.applied, seconds)
            raise
        seconds = time.perf_counter() - began
        found = Equilibrium(compiled, solved.solution, solved.applied, seconds)
        judge_stretch(compiled, [solved.solution.q], found)
        return found

    @checks.checked
    def reach(
        self,
        targets: Mapping[str, Any],
        inputs: Sequence[str] | str,
        bounds: Any = None,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, float] | None = None,
        start: Equilibrium | None = None,
        formulation: Formulations | None = None,
        tolerance: float = 1e-6,
        tries: int = 4,
    ) -> Reach:
        """Return the equilibrium whose inputs, of least effort, bring places to their targets.

        targets : by place such as "arm.tip", a pose (4x4), a position (3,) in metres with None for
        a free coordinate, or a dict with ``position``, ``rotation`` (3x3), or ``direction`` (3,) in
        the world along which the ``axis`` "x", "y" or "z" (default) of the place is to point.
        inputs : names of those that are sought: loads, pressures, base motions, joints.
        bounds : a pair (lowest, highest) for all of them, or by name; None where there is none. What an
        input refuses is a bound of its own.
        values : of inputs, by name; the search starts from those of the inputs that are sought.
        sizes : by name, the value of an input that counts as one in the effort, the sum of their
        squares; else what moves a place by the length of the robot or by a radian, the same for inputs
        of one kind.
        start : an equilibrium to start from.  formulation : as for `statics`.
        tolerance : on distances over the length of the longest part, and on angles in radians.
        tries : how many searches are made at most, from random inputs after the first one.

        A ReachWarning says how far targets are that are not reached; the result is then the closest
        equilibrium found. Stable equilibria come first: where only an unstable one reaches the targets,
        it is returned with a ReachWarning.
        """
        limit = positive("reach", "tolerance", tolerance, "", "give e.g. 1e-6")
        number = checks.count("reach", "tries", tries, 1, "give e.g. 4")
        first = dict(getattr(start, "inputs", {}))
        given = {**values_at(self.inputs, 0.0), **first, **as_inputs(values)}
        compiled = self._compiled(formulation, start, "start", given, carry=True)
        known = check_values(compiled.description, given)
        found = reach(compiled, targets, inputs, known, bounds, sizes, start, limit, number)
        judge_stretch(compiled, [found._solution.q], found)
        return found

    @checks.checked
    def follow(
        self,
        name: str,
        start: float,
        stop: float,
        inputs: Mapping[str, Any] | None = None,
        at: Equilibrium | None = None,
        formulation: Formulations | None = None,
        points: int = 50,
        most: int = 1000,
        tolerance: float = 1e-10,
    ) -> Path:
        """Return a branch of equilibria while an input goes from ``start`` to ``stop``, through folds.

        name : of the input: a load, a pressure, a base motion, a prescribed joint.
        inputs : values of the others, by name, as for `statics`.
        at : an equilibrium on the branch, from which that under ``start`` is solved for; None for the
        unloaded robot.
        formulation : as for `statics`.  points : least number of steps if the robot hardly moves; a
        step turns or moves it by 1/points rad or lengths at most.  most : steps at most.
        tolerance : on the residual relative to the loads.

        The path ends where the input arrives at ``stop``, or back at ``start`` on another part of the
        branch. Folds and bifurcations are located; `Path.branch` follows other branches.
        """
        ends = tuple(checks.number("follow", field, value, "", "give e.g. 0.0")
                     for field, value in (("start", start), ("stop", stop)))  # fmt: skip
        checks.refuse(ends[0] == ends[1], "follow", "stop", stop, "another value than start",
                      "give e.g. 1.0")  # fmt: skip
        steps = checks.count("follow", "points", points, 2, "give e.g. 50")
        limit = checks.count("follow", "most", most, 1, "give e.g. 1000")
        others = {**values_at(self.inputs, 0.0), **as_inputs(inputs), name: ends[0]}
        compiled = coordinates_of(
            self._compiled(formulation, at, "at", others, carry=True), "follow"
        )
        known = compiled.description.inputs()
        checks.known_name("follow", "name", name, known, "the name of an input of this robot")
        given = {**({} if at is None else at.inputs), **as_inputs(inputs), name: ends[0]}
        at = self.statics(given, compiled.formulations, at)
        values = check_values(compiled.description, {**at.inputs, **given})
        check_input(self.description, name, ends[1])
        small = positive("follow", "tolerance", tolerance, "", "give e.g. 1e-10")
        task = FollowTask(name, (ends[0], ends[1]), values, 1.0 / steps, limit, small)
        return task.run(compiled, at)

    @checks.checked
    def simulate(
        self,
        duration: float,
        dt: float | None = None,
        inputs: Mapping[str, Any] | None = None,
        start: str | Equilibrium | Motion | StepState | Mapping[str, Any] = "rest",
        velocity: Mapping[str, Any] | None = None,
        formulation: Formulations | None = None,
        integrator: Integrator | None = None,
        output_every: float | None = None,
        output_times: ArrayLike | None = None,
        progress: bool | Callable[[float, float], object] | None = None,
        joints: Mapping[str, Any] | None = None,
        save: str | os.PathLike[str] | None = None,
        resume: str | os.PathLike[str] | None = None,
        error: bool = False,
        accuracy: float | None = None,
        controllers: Any = None,
        events: Event | Sequence[Event] | None = None,
    ) -> Motion:
        """Return the motion over ``duration`` seconds in steps of ``dt`` seconds.

        dt is shortened a little where that makes whole steps fill the duration. Without it, mesh,
        integrator and step are chosen for ``accuracy``.
        inputs : by name, values as for `statics`, functions of time in seconds, or signals. Within a
        step they vary linearly: a jump at t acts as a ramp over the step before t, half a step early.
        start : "rest" (undeformed), "statics" (the equilibrium under the inputs at t = 0), points along
        rods (by rod name, (n, 3) in the world from base to tip, or (s, points)), an
        Equilibrium, a state of a stepper, or a Motion whose last state is taken; both with velocities.
        velocity : by rod name, body twists (w, v) at the start: a function of s, (6,) or (N, 6); by
        body name, its twist (6,). A number is the velocity of a hinge, in rad/s: what hangs on it
        moves along.
        formulation : for all rods, or by rod name.  integrator : if not given, Midpoint(), or
        GeneralizedAlpha(0.8) where tendons squeeze rods that shear.
        output_every : seconds between stored states, or output_times : (T,) s; else every step.
        progress : True for a bar with the remaining time; or a function, called with the time reached
        and the duration after each step.
        joints : by part name, where joints start instead: the angle of a hinge in radians, the pose
        4x4 of a free part in its place. What hangs on them turns along.
        save : a .nc file for checkpoints, one every few seconds, and for the motion at its end; with
        ``accuracy`` for the motion only.
        resume : such a file of the same simulation, to go on from its checkpoint to the same motion,
        bit by bit.
        error : estimate the error of the motion by coarser ones, which take about half as long; the
        result is `Motion.error`. Functions of time are called again for them, and controllers, whose
        samples must be an even number of steps apart.
        accuracy : relative to the longest rod, 1e-3 if there is no dt. The motion is repeated on finer
        meshes, and with shorter steps, until the extrapolated error of all shapes is below it; the
        result is `Motion.error`. What you give, dt, formulation or integrator, is kept. Controllers are
        asked in all these motions and need their own rates; an event ends each of them.
        controllers : a function that takes the robot at one instant, a `StepState`, and returns inputs
        by name; or a pair of it and the seconds between its samples, a whole multiple of dt; or a list
        of them. What it returns acts until the next sample; an input that prescribes a motion goes
        straight to its new value until then.
        events : `Event`, or a list: the motion ends where the function of one crosses zero, at a time
        inside a step; `motion.event` has its name and time. Go on from there with start=motion.

        Ctrl-C ends it early with what there is (complete = False); with ``accuracy``, with the finest
        motion so far. If a step fails, the error's
        ``last`` is the motion up to there.
        """
        if dt is None or accuracy is not None:
            found = self._accurate_motion(
                duration, dt, accuracy, inputs, (start, velocity, joints), formulation, integrator,
                (output_every, output_times, progress), (controllers, events, resume),
            )  # fmt: skip
            return _saved(found, save)
        plan = self._motion_plan(
            make_clock(duration, dt, output_every, output_times),
            inputs, start, velocity, formulation, integrator, joints,
        )  # fmt: skip
        compiled, method, given, clock, begin = plan
        control = self._control(
            controllers, compiled, given, clock.h, start, any((save, resume, error))
        )
        check_error(error, clock, compiled, method, control)
        origin = (start if isinstance(start, str) else (begin.q, begin.v), velocity, joints)
        checkpoints = open_checkpoints(
            save, resume, compiled, given, method, clock, origin, control
        )
        given = {**given, **({} if control is None else control.signals)}
        with told(progress, "simulate", time_reached) as report, _as_motion(compiled, method):
            asked = (method, given, clock, begin, report, checkpoints, control)
            trajectory = compiled.simulate(*asked, self._watch(events, compiled, given, error))
        motion = self._judged_motion(plan, trajectory)
        motion.warn_of_energy(method)
        if error and motion.complete:
            companions = Companions(compiled, self._again(given), method, given, begin, control)
            motion.error = companions.error(trajectory, clock)
        motion.warn_of_resolution(method.drift_order)
        return _saved(motion, save)

    def _motion_plan(
        self,
        clock: Clock,
        inputs: Mapping[str, Any] | None,
        start: Any,
        velocity: Mapping[str, Any] | None,
        formulation: Formulations | None,
        integrator: Integrator | None,
        joints: Mapping[str, Any] | None = None,
    ) -> MotionPlan:
        """The robot ready to move, see `simulate`."""
        given = {**self.inputs, **as_inputs(inputs)}
        self._tell_doubts(clock.h)
        compiled, method, begin = self._prepare(
            "simulate", formulation, integrator, given, start, velocity, joints
        )
        return MotionPlan(compiled, method, given, clock, begin)

    @staticmethod
    def _judged_motion(plan: MotionPlan, trajectory: Trajectory) -> Motion:
        """The motion of a plan; refuses one that no rod can have."""
        motion = Motion(plan.problem, trajectory, repr(plan.method))
        some = trajectory.q[:: -(-len(trajectory.q) // 5) or 1]
        judge_stretch(plan.problem, some, motion)
        return motion

    def _accurate_motion(
        self,
        duration: float,
        dt: float | None,
        accuracy: float | None,
        inputs: Mapping[str, Any] | None,
        start: tuple[Any, Any, Any],
        formulation: Formulations | None,
        integrator: Integrator | None,
        outputs: tuple[Any, Any, Any],
        more: tuple[Any, Any, Any],
    ) -> Motion:
        """The motion for an accuracy, see `simulate`."""
        laws, events, resume = more
        controllers = None if laws is None else Repeated(controller_pairs(laws))
        asked = DEFAULT if accuracy is None else accuracy
        wanted = checks.accuracy("simulate", "accuracy", asked)
        given = {**self.inputs, **as_inputs(inputs)}
        _refuse_with_accuracy(dt, resume, self.changing_meshes(given))
        whole = positive("simulate", "duration", duration, "seconds", "give e.g. 2.0")
        every, times, progress = outputs
        if every is None and times is None:
            times = np.linspace(0.0, whole, OUTPUTS)
        begin, velocity, joints = start
        rods = self.description.rods
        mesh = choose_formulations(self.description, formulation or first_mesh(self.description))
        if isinstance(begin, ShapeResult):
            mesh = dict(begin._compiled.formulations)

        def run(formulations: Mapping[str, RodModel], by: Integrator, h: float) -> Motion:
            with untold():
                return self.simulate(
                    whole, h, inputs, begin, velocity, formulations, by, every, times, progress, joints,
                    controllers=controllers and controllers.pairs, events=events,
                )  # fmt: skip

        bodies = [name for name, body in self.description.bodies.items() if body.joint is not None]
        chooses_mesh = formulation is None and not isinstance(begin, ShapeResult)
        between = every if times is None else whole / max(1, np.size(times) - 1)
        between = positive("simulate", "output_every", between, "seconds", "give e.g. 0.01")
        planned = len(make_clock(whole, whole, every, times).outputs)
        asked_of = Inputs(self.description, given, [], {})
        straight = whole / input_intervals(asked_of, whole, wanted)
        search = MotionSearch(
            run, rods, bodies, whole, wanted, dt, chooses_mesh, between, straight, planned, controllers
        )  # fmt: skip
        found = self._searched(search, mesh, formulation, integrator)
        if controllers is not None:
            controllers.keep(found)
        return found

    def _searched(
        self,
        search: MotionSearch,
        mesh: Mapping[str, RodModel],
        formulation: Formulations | None,
        integrator: Integrator | None,
    ) -> Motion:
        """What a search finds from a first mesh on, also if it is interrupted."""
        try:
            if integrator is not None:
                return search.find_by(mesh, given_method(integrator))
            problem = self._compiler.compiled(mesh)
            first = formulation or first_mesh(self.description, False)
            smooth = choose_formulations(self.description, first) if search.chooses_mesh else mesh
            return search.find(problem, problem.integrator(None), smooth)
        except InterruptedSearchError as ended:
            return ended.motion

    @checks.checked
    def stepper(
        self,
        dt: float,
        inputs: Mapping[str, Any] | None = None,
        start: str | Equilibrium | Motion | StepState | Mapping[str, Any] = "rest",
        velocity: Mapping[str, Any] | None = None,
        formulation: Formulations | None = None,
        integrator: Integrator | None = None,
        joints: Mapping[str, Any] | None = None,
        controllers: Any = None,
    ) -> Stepper:
        """Return a stepper that moves the robot by ``dt`` seconds per call of `Stepper.step`.

        inputs : by name, values at t = 0, as for `statics`; others have their described values.
        start, velocity, formulation, integrator, joints, controllers : as for `simulate`.

        A rehearsal step compiles and loads everything, so that your first step takes no longer than
        the others.
        """
        h = positive("stepper", "dt", dt, "seconds", "give e.g. 1e-3")
        now = {**values_at(self.inputs, 0.0), **as_inputs(inputs)}
        compiled, method, begin = self._prepare(
            "stepper", formulation, integrator, now, start, velocity, joints
        )
        values = check_values(compiled.description, now)
        control = self._control(controllers, compiled, values, h, start, False)
        return make_stepper(compiled, method, values, h, begin, control)

    def _control(
        self,
        controllers: Any,
        compiled: Problem,
        inputs: Mapping[str, Any],
        h: float,
        start: Any,
        watch: bool,
    ) -> Control | None:
        """The controllers of a motion, None if there are none; watch : they must tell their memory."""
        if controllers is None:
            return None
        control = Control(controller_pairs(controllers), compiled, inputs, h, state_seen, watch)
        control.begin(anew=not isinstance(start, Motion | StepState | SwitchedMotion))
        return control

    @staticmethod
    def _watch(events: Any, compiled: Problem, inputs: Any, error: bool) -> Watch | None:
        """The events of a motion, None if there are none."""
        if events is None:
            return None
        return Watch(as_events(events, inputs, error), state_seen(compiled))

    def _prepare(
        self,
        part: str,
        formulation: Formulations | None,
        integrator: Integrator | None,
        inputs: Mapping[str, Any],
        start: Any,
        velocity: Mapping[str, Any] | None,
        joints: Mapping[str, Any] | None,
    ) -> tuple[Problem, Integrator, Start]:
        """Return the compiled robot, the integrator and the initial conditions of a motion.

        part : the method that was called, for error messages.
        """
        if isinstance(start, SwitchedMotion):
            start = start.phases[-1]
        known = start if isinstance(start, ShapeResult) else None
        points = start if isinstance(start, Mapping) else None
        if known is None and points is None:
            checks.choice(part, "start", start, ("rest", "statics"))
        if formulation is None and known is None and isinstance(integrator, Integrator):
            formulation = integrator.formulations(self.description.rods)
        compiled = self._compiled(formulation, known, "start", inputs, goes_on=True)
        method = compiled.integrator(integrator)
        if start == "statics":
            known = self.statics(values_at(inputs, 0.0), compiled.formulations)
            compiled = known._compiled
        q, v = None, None
        if known is not None:
            earlier, q, v = known._compiled.settle(*known._final())
            v = compiled.rates_of(earlier, q, v)
        still = known._still if isinstance(known, Equilibrium) else None
        if points is not None:
            q = compiled.through_points(points, part)
        if joints is not None:
            q, still = compiled.with_joints(compiled.rest if q is None else q, joints), None
        begin = Start(q, v, velocity, still)
        moving = self._moving(part, compiled, inputs)
        return moving, method if moving is compiled else moving.integrator(integrator), begin

    def changing_meshes(self, inputs: Mapping[str, Any]) -> list[str]:
        """Return the names of inputs that change in time and with which the mesh moves: insertions."""
        given = {name: inputs.get(name) for name in self.description.settled_inputs()}
        return [k for k, x in given.items() if callable(x) and not isinstance(x, Constant)]

    def _moving(self, part: str, compiled: Problem, inputs: Mapping[str, Any]) -> Problem:
        """The robot with a mesh that moves, if inputs that are part of what is compiled may change."""
        names = compiled.description.settled_inputs()
        if not (self.changing_meshes(inputs) or (names and part == "stepper")):
            return compiled
        first, choice = coordinates_of(compiled, part), compiled.formulations

        def compile(values: Mapping[str, float]) -> CoordinateProblem:
            with untold():
                return coordinates_of(self._compiler.compiled(choice, values), part)

        return MovingMesh(self.description.snapshot(), first, compile)

    def _tell_doubts(self, dt: float | None = None) -> None:
        """Warn of values that no robot has and of data too wild, once for each description; or of a
        time step (s).
        """
        if dt is not None:
            if self._judged is not True:
                for doubt in time_doubts(self.description.rods, dt):
                    warnings.warn(doubt, PlausibilityWarning, stacklevel=4)
            return
        described = (self.description.gravity, len(self.description.parts))
        if self._judged is not True and self._judged != described:
            self._judged = described
            for doubt in self.description.doubts():
                warnings.warn(doubt, PlausibilityWarning, stacklevel=5)
            for doubt in self.description.unresolved():
                warnings.warn(doubt, ResolutionWarning, stacklevel=5)

    def _settled(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values at t = 0 of those inputs that are part of the compiled robot."""
        names = self.description.settled_inputs()
        known = {name: value for name, value in inputs.items() if name in names}
        found = {name: checks.as_float(x) for name, x in values_at(known, 0.0).items()}
        return {name: x for name, x in found.items() if x is not None}  # others are refused later

    def _again(self, inputs: Mapping[str, Any]) -> Callable[[Any], Problem]:
        """Return what compiles the robot with other formulations, for the same inputs."""
        settled = self._settled(inputs)
        return lambda choice: self._compiler.compiled(choice, settled)

    def _compiled(
        self,
        formulation: Formulations | None,
        start: object,
        field: str,
        values: Mapping[str, Any] | None = None,
        carry: bool = False,
        goes_on: bool = False,
    ) -> Problem:
        """Compile with the chosen formulations, or those of the result to start from.

        field : the argument that holds the result, for error messages.  values : of inputs that are
        part of the compiled robot, by name.  carry : whether the result may have other values of them.
        goes_on : whether a motion goes on from it, also in a robot that is made of something else.
        """
        self._tell_doubts()
        settled = self._settled(values or {})
        if start is None:
            return self._compiler.compiled(formulation, settled)
        expected, remedy = "a result of this robot", "give what statics returned"
        result = checks.instance("robot", field, start, ShapeResult, expected, remedy)  # type: ignore[type-abstract]
        earlier = result._compiled.settle(*result._final())[0]
        settled = {**earlier.description.settled_inputs(), **settled}
        if formulation is None and set(earlier.formulations) == set(
            self.description.snapshot().rods
        ):
            formulation = earlier.formulations
        problem = self._compiler.compiled(formulation, settled)
        if carry:
            earlier = on_mesh_of(earlier, problem)
        moving = goes_on and isinstance(start, Motion | StepState)
        same = problem.same_shapes(earlier) if moving else problem.same_rods(earlier)
        checks.refuse(
            not same,
            "robot",
            field,
            start,
            "a result for the same rods, formulations and moving bases",
            "solve it again with these rods and this formulation, or leave formulation out",
        )
        return problem

    @checks.checked
    def linearise(
        self,
        at: Equilibrium | None = None,
        inputs: Sequence[str] | str | None = None,
        outputs: Sequence[Any] | str | None = None,
        values: Mapping[str, Any] | None = None,
        modes: int | None = None,
        formulation: Formulations | None = None,
    ) -> Linearisation:
        """Return small motions about an equilibrium: damped modes, and A, B, C, D of a linear system.

        at : the equilibrium; None solves for it under the inputs ``values``.
        inputs : names of the inputs of the system; None for all. Base motions and prescribed joints
        enter by their value: what their rates and accelerations do is taken into the system.
        outputs : places such as "arm.tip", for its world position, or pairs such as ("arm.tip", "z")
        with one of "x", "y", "z" in metres or "rx", "ry", "rz" in radians, about world axes.
        modes : how many undamped vibration modes to keep; None for all motions of the robot.
        formulation : as for `statics`.

        Pressure lines are left out: the input of a chamber is the pressure in it. Constraints that hold
        at the equilibrium go on holding. Dry friction and drag have no part in small motions at rest.
        """
        if at is not None:
            remedy = "give what statics returned, or values=..."
            checks.instance("linearise", "at", at, Equilibrium, "an Equilibrium", remedy)
        both = at is not None and values is not None
        expected = "left out when at is given"
        checks.refuse(both, "linearise", "values", values, expected, "remove one of them")
        count = None
        if modes is not None:
            count = checks.count("linearise", "modes", modes, 1, "give e.g. 20")
        require_mass(self.description.snapshot())
        compiled = self._compiled(formulation, at, "at")
        coordinates_of(compiled, "linearise")
        still = at or self.statics(values, compiled.formulations)
        return linearise(still, inputs, outputs, count)

    @checks.checked
    def equations(
        self,
        inputs: Mapping[str, Any] | None = None,
        at: Equilibrium | Motion | StepState | None = None,
        formulation: Formulations | None = None,
    ) -> Equations:
        """Return mass matrix, forces and constraints of the robot as functions of its configuration.

        inputs : by name, values that hold where a call gives no others.
        at : a result whose formulations are taken.  formulation : as for `statics`.
        """
        values = {**values_at(self.inputs, 0.0), **as_inputs(inputs)}
        require_mass(self.description.snapshot())
        compiled = coordinates_of(self._compiled(formulation, at, "at", values), "equations")
        return Equations(compiled, values)

    @checks.checked
    def modes(
        self,
        count: int = 6,
        at: Equilibrium | None = None,
        inputs: Mapping[str, Any] | None = None,
        formulation: Formulations | None = None,
        accuracy: float | None = None,
    ) -> Modes:
        """Return the ``count`` slowest undamped vibrations about an equilibrium.

        at : the equilibrium; None solves for it under ``inputs``.  What friction holds there sticks.
        formulation : as for `statics`.
        accuracy : such as 1e-3: the mesh is refined until the estimated relative error of every
        frequency is below it.
        """
        if accuracy is not None:
            checks.refuse(
                at, "modes", "accuracy", accuracy, "left out when at is given",
                "give inputs instead of at, for an equilibrium keeps its mesh",
            )  # fmt: skip
            return refine(
                lambda mesh: self.modes(count, None, inputs, mesh or formulation),
                lambda found: float(np.max(found.error, initial=0.0)),
                lambda found: found.equilibrium._compiled.formulations,
                checks.accuracy("modes", "accuracy", accuracy),
            )
        from pliant.solve.modes import modal_analysis

        number = checks.count("modes", "count", count, 1, "give e.g. 6")
        if at is not None:
            remedy = "give what statics returned, or inputs=..."
            checks.instance("modes", "at", at, Equilibrium, "an Equilibrium", remedy)
        require_mass(self.description.snapshot())
        both = at is not None and inputs is not None
        expected = "left out when at is given"
        checks.refuse(both, "modes", "inputs", inputs, expected, "remove one of them")
        compiled = self._compiled(formulation, at, "at")
        still = at or self.statics(inputs, compiled.formulations)
        began = time.perf_counter()
        problem, solution = still._compiled, still._solution
        if not isinstance(problem, CoordinateProblem) or not isinstance(solution, StaticSolution):
            raise DescriptionError(
                "modes",
                "formulation",
                next(iter(problem.formulations.values())),
                "a formulation with coordinates, for modes are found from its matrices",
                "give e.g. BSpline(), or at= an equilibrium found with it",
            )
        where = (solution.q, solution.z, solution.inputs, number, solution.memory)
        modes = modal_analysis(problem.effects, *where)
        return Modes(still, modes, time.perf_counter() - began)
