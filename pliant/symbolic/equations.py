"""Equations of motion of a robot as CasADi functions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError, finite_array, known_name, refuse
from pliant.model.checks import as_array
from pliant.results.equations import Equations
from pliant.results.responses import coordinates_of, frame_of
from pliant.results.result import ShapeResult
from pliant.solve.schedule import check_input
from pliant.symbolic.c_source import write_source
from pliant.symbolic.numbers import Parameters
from pliant.symbolic.system import Inputs, System

if TYPE_CHECKING:
    from pliant.robot import Robot


def equations(
    robot: Robot,
    parameters: Parameters = (),
    inputs: Inputs = None,
    controls: Sequence[str] | str = (),
    formulation: Any = None,
    at: Any = None,
) -> SymbolicEquations:
    """Return the equations of motion of a robot, derived with symbols.

    robot : of rods by SRL, EBR, EBA or ROM, rigid bodies and joints. What cannot be written with
        symbols is refused by name.
    parameters : paths of numbers that stay arguments, such as ["arm.material.E", "hand.mass"], or names
        with their paths, {"E": "arm.material.E"}; several paths of one name share its value. A path to
        a vector, taper or function stands for a factor, 1 as described. Lengths, poses and natural
        shapes enter as numbers.
    inputs : names of the inputs that stay arguments; None for all that act. The others have the values
        of the robot. A mapping gives how many numbers an input has, {"push": 3} for a force.
    controls : names of parts whose joints move with accelerations that you give, besides those that
        inputs prescribe.
    formulation : as for `Robot.statics`.  at : a result whose formulations are taken.
    """
    numeric = robot.equations(at=at, formulation=formulation)
    effects = coordinates_of(numeric._compiled, "equations").effects
    system = System(_casadi(), effects, numeric.inputs, parameters, inputs)
    return SymbolicEquations(system, numeric, controls)


class SymbolicEquations:
    """Equations of motion M(q) a + b(q, v) = f(q, v, u) + J(q)ᵀ λ as CasADi functions.

    Made by `equations` from system, numeric and controls. Functions, with arguments of these names:

    rates(q, v) : q', the rates (nq,) of the coordinates.
    mass(q, p), bias(q, v, p), forces(q, v, u, p) : M (n, n), b and f (n,).
    constraint_gaps(q, p), constraint_jacobian(q, p), constraint_bias(q, v, p) : φ (m,), J (m, n) and
    c (m,), the rate of J v at constant v.
    kinetic_energy(q, v, p), potential_energy(q, u, p) : J.
    accelerations(q, v, u, c, p) : a (n,), multipliers λ (m,), and what drives the controlled
    velocities (k,), N m or N; c (k,) are their accelerations.

    Velocities v (n,) are those of `Robot.equations`, in the same order, and so is `names`; coordinates
    q (nq,) are the same but for poses, of free parts and of the nodes of EBA: a position and a unit
    quaternion (w, x, y, z) each. `state(result)` gives both. `free` of the velocities are unknown, the
    others at the end prescribed by inputs.

    inputs, parameters, controls : names of the entries of u, p and c.  rest (nq,) : coordinates of the
    undeformed robot.  rows : how many rows J has. SI units.
    """

    def __init__(self, system: System, numeric: Equations, controls: Sequence[str] | str) -> None:
        self._system, self._numeric, self._math = system, numeric, system.math
        self.names: list[str] = list(numeric.names)
        self.free: int = system.free
        self.rest: Array = system.coordinates(numeric.rest)
        self.parameters: tuple[str, ...] = system.numbers.names
        self.inputs: tuple[str, ...] = tuple(system.entry_names())
        self.rows: int = len(system.labels)
        self._controlled = self._find_controls(
            [controls] if isinstance(controls, str) else controls
        )
        self.controls: tuple[str, ...] = tuple(self.names[k] for k in self._controlled)

    @property
    def constraints(self) -> list[str]:
        """Names (m,) of the constraints to which the rows of J belong."""
        return list(self._system.labels)

    def __repr__(self) -> str:
        return (
            f"<Symbolic equations: {len(self.names)} velocities, {len(self.inputs)} inputs, "
            f"{len(self.parameters)} parameters>"
        )

    def _find_controls(self, controls: Sequence[str]) -> list[int]:
        tree, found = self._system.tree, list(range(self.free, len(self.names)))
        parts = {part.name: part for part in tree.parts}
        listed = isinstance(controls, (list, tuple))
        refuse(
            not listed, "equations", "controls", controls, "names of parts", "give e.g. ['hand']"
        )
        for name in controls:
            expected = "the name of a part on a joint that moves"
            known = known_name("equations", "controls", name, list(parts), expected)
            numbers = parts[known].joint_index
            refuse(not len(numbers), "equations", "controls", name, expected, "give it a joint")
            found += [k for k in self._system.columns(numbers) if k not in found]
        return sorted(found)

    # -- functions ---------------------------------------------------------------------------

    def _function(self, name: str, arguments: str, results: Mapping[str, Any]) -> Any:
        symbols = {"q": self._system.q, "v": self._system.v, "u": self._system.u}
        symbols |= {"p": self._system.p, "c": self._accelerations}
        given = [symbols[letter] for letter in arguments]
        keywords = {"cse": True}
        return self._math.Function(
            name, given, list(results.values()), list(arguments), list(results), keywords
        )

    @cached_property
    def _accelerations(self) -> Any:
        return self._math.SX.sym("c", len(self._controlled))

    @cached_property
    def _mass(self) -> Any:
        return self._system.mass()

    @cached_property
    def _bias(self) -> Any:
        return self._system.bias()

    @cached_property
    def _forces(self) -> Any:
        return self._system.forces()

    @cached_property
    def rates(self) -> Any:
        """q' (nq,) from q and v."""
        return self._function("rates", "qv", {"rates": self._system.rates})

    @cached_property
    def mass(self) -> Any:
        """M (n, n) from q and p."""
        return self._function("mass", "qp", {"M": self._mass})

    @cached_property
    def bias(self) -> Any:
        """b (n,) from q, v and p."""
        return self._function("bias", "qvp", {"b": self._bias})

    @cached_property
    def forces(self) -> Any:
        """f (n,) from q, v, u and p."""
        return self._function("forces", "qvup", {"f": self._forces})

    @cached_property
    def constraint_gaps(self) -> Any:
        """φ (m,) from q and p."""
        return self._function("constraint_gaps", "qp", {"gaps": self._system.gaps})

    @cached_property
    def constraint_jacobian(self) -> Any:
        """J (m, n) from q and p."""
        return self._function("constraint_jacobian", "qp", {"J": self._system.constraint()[0]})

    @cached_property
    def constraint_bias(self) -> Any:
        """c (m,) from q, v and p."""
        return self._function("constraint_bias", "qvp", {"c": self._system.constraint()[1]})

    @cached_property
    def kinetic_energy(self) -> Any:
        """Kinetic energy, J, from q, v and p."""
        return self._function("kinetic_energy", "qvp", {"energy": self._system.kinetic()})

    @cached_property
    def potential_energy(self) -> Any:
        """Potential energy, J, from q, u and p: of weight, strain, springs, tendons and pressures.

        Loads are forces here, also dead ones, and have no part in it.
        """
        return self._function("potential_energy", "qup", {"energy": self._system.energy})

    @cached_property
    def accelerations(self) -> Any:
        """a (n,), λ (m,) and forces of the controls (k,) from q, v, u, c and p."""
        a, multipliers, drives = self._solved()
        results = {"a": a, "multipliers": multipliers, "drives": drives}
        return self._function("accelerations", "qvucp", results)

    def _solved(self) -> tuple[Any, Any, Any]:
        """M a + b = f + Jᵀ λ + drives and J a + c = 0, by an LDLᵀ factorisation with symbols.

        In the order of the unknowns: velocities first, whose pivots are positive, then multipliers.
        """
        math, M, count = self._math, self._mass, len(self.names)
        known = self._controlled
        free = [k for k in range(count) if k not in known]
        idle = next((k for k in free if M[k, k].is_zero()), None)
        if idle is not None:
            raise DescriptionError(
                "equations",
                "accelerations",
                self.names[idle],
                "a velocity that moves some mass",
                "take mass, forces and constraint_jacobian, and solve for the accelerations yourself",
            )
        A, drift = self._system.constraint()
        given = math.SX.zeros(count)
        given[known] = self._accelerations
        left = self._forces - self._bias - M @ given
        rows = A.shape[0]
        zero = math.SX.zeros(rows, rows)
        whole = math.blockcat([[M[free, free], A[:, free].T], [A[:, free], zero]])
        right = math.vertcat(left[free], -drift - A @ given)
        D, LT, order = math.ldl(whole, False)
        found = math.ldl_solve(right, D, LT, order)
        a = math.SX(given)
        a[free] = found[: len(free)]
        multipliers = math.reshape(
            -found[len(free) :], rows, 1
        )  # also of a robot with one velocity
        drives = (M @ a + self._bias - self._forces - A.T @ multipliers)[known]
        return a, multipliers, drives

    def pose(self, place: Any) -> Any:
        """The pose (4, 4) of a place in the world, a function of q and p.

        place : a Frame, or a name such as "arm.tip", "arm.0.12" or that of a body.
        """
        frame = self._system.frame(frame_of(self._system.tree.description, "equations", place))
        math, last = self._math, self._math.SX([[0.0, 0.0, 0.0, 1.0]])
        g = math.vertcat(math.horzcat(frame.R, frame.p), last)
        return self._function("pose", "qp", {"pose": g})

    # -- numbers -----------------------------------------------------------------------------

    def state(self, result: ShapeResult) -> tuple[Array, Array]:
        """Return coordinates q (nq,) and velocities v (n,) of a result of this robot.

        result : an Equilibrium, a state of a stepper, or a Motion, whose last state is taken; with the
        formulations of these equations.
        """
        q, v = self._numeric.state(result)
        return self._system.coordinates(q), v

    def coordinates(self, q: ArrayLike) -> Array:
        """Return the coordinates (nq,) of these equations from those q of `Robot.equations`."""
        count = len(self._numeric.rest)
        given = finite_array(
            "equations", "q", q, f"{count} finite numbers", "give e.g. robot.equations().rest",
            lambda x: x.shape == (count,),
        )  # fmt: skip
        return self._system.coordinates(given)

    def u(self, values: Mapping[str, Any] | None = None) -> Array:
        """Return the inputs (nu,) from values by name; the others as the robot has them."""
        system, out = self._system, self._system.defaults.copy()
        for name, value in (values or {}).items():
            known_name("equations", "inputs", name, list(system.input_names), "an input")
            at = system.input_slice(name)
            given, size = as_array(value), at.stop - at.start
            bad = given is None or given.size != size or not np.isfinite(given).all()
            expected = f"{size} finite number{'s' * (size > 1)}"
            remedy = "give as many, or derive the equations with inputs={name: size}"
            refuse(bad, "equations", f"input {name!r}", value, expected, remedy)
            assert given is not None
            check_input(system.tree.description, name, given.reshape(() if size == 1 else size))
            out[at] = given.ravel()
        return out

    def p(self, values: Mapping[str, float] | None = None) -> Array:
        """Return the parameters (np,) from values by name, checked as in a description; the others as
        described.
        """
        return self._system.numbers.values(values or {})

    # -- C -----------------------------------------------------------------------------------

    def export_c(
        self,
        folder: str | os.PathLike[str],
        name: str = "robot",
        functions: Sequence[str] = ("rates", "mass", "bias", "forces", "accelerations"),
        places: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write C source and a header with functions of these equations; returns the source file.

        folder : made if needed.  name : of both files, and before the name of every function.
        functions : which ones, by their names here.  places : by name, places whose poses are wanted.
        """
        return write_source(self, Path(folder), name, functions, places or {})


def _casadi() -> Any:
    try:
        return import_module("casadi")
    except ImportError:
        raise ImportError(
            "equations with symbols need CasADi; install it by `pip install pliant[symbolic]`"
        ) from None
