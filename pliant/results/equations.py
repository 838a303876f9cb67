"""The equations of motion of a robot as functions of its configuration: `Equations`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_matrix

from pliant.model import (
    Array,
    DescriptionError,
    Frame,
    choice,
    finite_array,
    instance,
    known_name,
    refuse,
)
from pliant.results.responses import frame_of, input_names, turned
from pliant.results.result import Result, ShapeResult
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.equations_of_motion import EquationsOfMotion, Place, require_determined
from pliant.solve.schedule import as_inputs, check_values

_STENCIL = ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0))
_STEP = 1e-3
"""Step of the derivative of the coordinates along velocities, for the largest of them."""
_DRIFT = 0.1
"""How far rotations in q may be from unit length; they are brought there."""
_ROUNDS = 20
"""Iterations for a displacement, and for rotations of unit length."""


class Accelerations(NamedTuple):
    """What a robot does at one instant.

    a (n,) : rates of the velocities.  multipliers (m,) : of the constraints; zero where a one-sided one
    does not touch.  drives : by input, the forces (N) and torques (N m) that prescribe joints.
    """

    a: Array
    multipliers: Array
    drives: dict[str, float]


class Equations(Result):
    """The equations of motion of a robot, M(q) a + b(q, v) = f(q, v, u) + J(q)ᵀ λ, as functions.

    names : of the velocities (n,), such as "crank.angle" of a joint or "arm[3]" of a rod.
    free : how many of them are unknown; the others, at the end, are prescribed by inputs.
    constraints : names of the m rows of J.  rest : coordinates (nq,) of the undeformed robot.
    inputs : values, by name, of the inputs that a call does not give.

    Coordinates q (nq,) are those of `StepState.coordinates`: of joints and rods, one after the other.
    Velocities v (n,) are rates of the coordinates where these add up (angles, lengths, strains), else
    angular and linear velocities in the body frame; a = dv/dt. SI units.

    f holds all that acts and is not inertia or constraint: elasticity, gravity, damping, loads,
    pressures, tendons, springs, soft contact. Constraints φ(q) = 0 are loops, rods without stretch or
    shear, tendons and contacts without compliance; rows that only pull or push, φ ≤ 0, have λ ≤ 0.
    Dry friction counts as long as a joint slides.

    Made by `Robot.equations` from compiled and inputs. It belongs to one thread.
    """

    def __init__(self, compiled: CoordinateProblem, inputs: Mapping[str, Any]) -> None:
        super().__init__(compiled)
        require_determined(compiled.effects)
        self._system = EquationsOfMotion(compiled.effects)
        self.names: list[str] = self._system.names()
        self.free: int = self._system.free
        self.rest: Array = np.array(compiled.rest)
        self.inputs: dict[str, Any] = dict(inputs)
        self._values = check_values(compiled.description, self.inputs)

    def __repr__(self) -> str:
        return f"<Equations of {self._names}: {len(self.names)} velocities>"

    @property
    def constraints(self) -> list[str]:
        """Names (m,) of the rows of the constraints."""
        terms = self._system.effects.hard
        return [f"{term.label} {k}" for term in terms for k in range(len(term.rows))]

    # -- states --------------------------------------------------------------------------------

    def state(self, result: ShapeResult) -> tuple[Array, Array]:
        """Return coordinates q (nq,) and velocities v (n,) of a result of this robot.

        result : an Equilibrium, a state of a stepper, or a Motion, whose last state is taken; with the
        formulations of these equations.
        """
        expected, remedy = "a result of this robot", "give e.g. stepper.state"
        given = instance("equations", "result", result, ShapeResult, expected, remedy)  # type: ignore[type-abstract]
        problem, q, v = given._compiled.settle(*given._final())
        refuse(
            not self._compiled.same_rods(problem), "equations", "result", given,
            "a result for the same rods and formulations", "solve it with these, or give "
            "equations(formulation=...) those of the result",
        )  # fmt: skip
        rates = np.zeros(len(self.names)) if v is None else np.asarray(v)[self._system.numbers]
        return np.array(q), rates

    def moved(self, q: ArrayLike, x: ArrayLike) -> Array:
        """Return the coordinates (nq,) after a displacement x (n,): moved(q, 0) = q, and along
        moved(q, t v) the velocities are v.
        """
        return np.array(self._system.moved(self._q(q), self._v("x", x)))

    def coordinate_rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the time derivatives (nq,) of the coordinates at velocities v (n,).

        With them any solver of ordinary differential equations takes (q, v).
        """
        here, rates = self._q(q), self._v("v", v)
        size = float(np.abs(rates).max(initial=0.0))
        if size == 0.0:
            return np.zeros(len(here))
        h = _STEP / size
        ends = [weight * self._system.moved(here, at * h * rates) for at, weight in _STENCIL]
        return np.asarray(sum(ends) / (12.0 * h))

    def displacement_basis(self, q: ArrayLike) -> Array:
        """Return dq/dx (nq, n) of `moved` at x = 0."""
        here = self._q(q)
        units = _STEP * np.eye(len(self.names))
        ends = [[self._system.moved(here, t * x) for t in (1.0, -1.0)] for x in units]
        return np.array([(a - b) / (2.0 * _STEP) for a, b in ends]).reshape(-1, len(here)).T

    def displacement(self, q: ArrayLike, other: ArrayLike, basis: Array | None = None) -> Array:
        """Return the displacement x (n,) with moved(q, x) = other, for configurations that are near.

        basis : `displacement_basis` of q, if it is known.
        """
        here, there = self._q(q), self._q(other)
        inverse = np.linalg.pinv(self.displacement_basis(here) if basis is None else basis)
        x = inverse @ (there - here)
        for _ in range(_ROUNDS):
            left = there - self._system.moved(here, x)
            if np.abs(left).max(initial=0.0) < 1e-13 * (1.0 + np.abs(there).max(initial=0.0)):
                break
            x = x + inverse @ left
        return np.asarray(x)

    def prescribe(
        self, q: ArrayLike, v: ArrayLike, motions: Mapping[str, Any]
    ) -> tuple[Array, Array, Array]:
        """Return q, v and accelerations (n - free,) with joints where inputs prescribe them.

        motions : by input, its value, rate (1/s) and acceleration (1/s²); others are at rest.
        """
        prescribed = self._system.effects.prescribed
        expected = "the name of an input that prescribes a motion"
        drive = np.zeros((len(prescribed.names), 3))
        drive[:, 0] = [float(self._values[name]) for name in prescribed.names]
        for name, motion in as_inputs(motions).items():
            known_name("equations", "motions", name, prescribed.names, expected)
            drive[prescribed.names.index(name)] = self._sized(f"motions {name!r}", motion, 3)
        here, rates = prescribed.put(self._q(q), drive), self._v("v", v).copy()
        speeds, accelerations = (x[self._system.numbers] for x in prescribed.rates(drive))
        rates[self.free :] = speeds[self.free :]
        return here, rates, accelerations[self.free :]

    # -- terms ---------------------------------------------------------------------------------

    def mass(self, q: ArrayLike, sparse: bool = False) -> Array | csc_matrix:
        """Return the mass matrix M (n, n), symmetric; sparse : True for a SciPy matrix."""
        found = self._system.mass(self._q(q))
        return found if sparse else found.toarray()

    def bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return b (n,): centrifugal, Coriolis and gyroscopic forces, on the side of M a."""
        rates = self._v("v", v)
        return self._system.inertia(self._q(q), rates, np.zeros(len(rates)))

    def forces(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> Array:
        """Return the generalised forces f (n,) of all that acts; v @ f is their power, W.

        v : None at rest.  inputs : values by name, as for `statics`; others as in `self.inputs`. Those
        of prescribed joints do not count: q has their values.
        """
        return self._system.forces(self._q(q), self._v("v", v), self._numbers(inputs)[0])

    def input_matrix(
        self,
        q: ArrayLike,
        names: Sequence[str] | str | None = None,
        inputs: Mapping[str, Any] | None = None,
        v: ArrayLike | None = None,
    ) -> Array:
        """Return B (n, k): forces per unit of k inputs, such as tensions, pressures and torques.

        names : of the inputs; None for all that exert forces. An input of 3 or 6 numbers has as many
        columns.  inputs, v : where the derivative is taken.
        """
        u, values = self._numbers(inputs)
        driven = self._system.effects.prescribed.names
        known = {name: x for name, x in values.items() if name not in driven}
        fixed = self._compiled.description.settled_inputs()
        listed = input_names(known, "input_matrix", names, fixed)
        where = (self._q(q), self._v("v", v), u)
        columns = []
        for name in listed:
            value = np.asarray(values[name], dtype=float)
            for unit in np.eye(value.size):
                given = (name, value, unit.reshape(value.shape))
                columns.append(self._system.input_forces(*where, *given))
        return np.array(columns).reshape(len(columns), len(self.names)).T

    # -- constraints ---------------------------------------------------------------------------

    def constraint_gaps(self, q: ArrayLike) -> Array:
        """Return φ (m,): zero where constraints hold, below zero for one-sided ones that are idle."""
        return self._system.gaps(self._q(q))

    def constraint_jacobian(self, q: ArrayLike, sparse: bool = False) -> Array | csc_matrix:
        """Return J (m, n) = dφ, of all rows, idle or not; sparse : True for a SciPy matrix."""
        found = self._system.jacobian(self._q(q))
        return found if sparse else found.toarray()

    def constraint_bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return c (m,) = dJ/dt v: the second derivative of φ is J a + c."""
        return self._system.constraint_bias(self._q(q), self._v("v", v))

    # -- accelerations -------------------------------------------------------------------------

    def accelerations(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        inputs: Mapping[str, Any] | None = None,
        prescribed: ArrayLike | None = None,
    ) -> Accelerations:
        """Return a and λ with M a + b = f + Jᵀ λ and J a + c = 0, and what drives exert.

        q, v : meet the constraints.  inputs : as for `forces`.
        prescribed : accelerations of the velocities beyond the first `free`; None for zero.

        Constraints that depend on each other share their load: λ is the smallest. One-sided ones that
        touch are released where they would pull.
        """
        here, rates, u = self._q(q), self._v("v", v), self._numbers(inputs)[0]
        system, known = self._system, np.zeros(len(self.names) - self.free)
        if prescribed is not None:
            known[:] = self._sized("prescribed", prescribed, len(known))
        a, multipliers = system.accelerations(here, rates, u, known)
        drives: dict[str, float] = {}
        if len(known):
            left = system.inertia(here, rates, a) - system.forces(here, rates, u)
            left -= system.jacobian(here).T @ multipliers
            drives = system.tree.drives(system.spread(left))
        return Accelerations(a, multipliers, drives)

    def input_accelerations(
        self,
        q: ArrayLike,
        names: Sequence[str] | str | None = None,
        inputs: Mapping[str, Any] | None = None,
        v: ArrayLike | None = None,
    ) -> Array:
        """Return da/du (n, k): accelerations per unit of k inputs, with all two-sided constraints.

        Arguments as for `input_matrix`. Coordinates that inputs prescribe stay.
        """
        return self._system.driven_accelerations(self._q(q), self.input_matrix(q, names, inputs, v))

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, inputs: Mapping[str, Any] | None = None
    ) -> Array:
        """Return M a + b − f (n,): the forces that it takes beside all that acts to accelerate by a."""
        here, rates, acc = self._q(q), self._v("v", v), self._v("a", a)
        u = self._numbers(inputs)[0]
        return self._system.inertia(here, rates, acc) - self._system.forces(here, rates, u)

    # -- places --------------------------------------------------------------------------------

    def jacobian(self, of: str | Frame, q: ArrayLike, frame: str = "body") -> Array:
        """Return J (6, n) of a place such as "arm.tip": its twist is J v, angular part first.

        frame : "body" for axes of the place, "world" for world axes: rows 3 to 5 are then those of the
        velocity of its origin.
        """
        choice("equations", "frame", frame, ("body", "world"))
        found = self._place(of, q, None, None)
        return found.jacobian if frame == "body" else turned(found.jacobian, found.pose)

    def place_motion(
        self, of: str | Frame, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None
    ) -> tuple[Array, Array, Array]:
        """Return pose (4, 4), velocity (6,) and acceleration (6,) of a place, in world axes.

        Angular parts first, then those of the place's origin. a : accelerations (n,); None for zero,
        which leaves the part of the acceleration that velocities alone cause.
        """
        found = self._place(of, q, v, a)
        spin = np.cross(found.twist[:3], found.twist[3:])
        acceleration = found.acceleration + np.concatenate([np.zeros(3), spin])
        both = turned(np.stack([found.twist, acceleration], axis=1), found.pose)
        return found.pose, both[:, 0], both[:, 1]

    def _place(self, of: str | Frame, q: ArrayLike, v: Any, a: Any) -> Place:
        frame = frame_of(self._compiled.description, "equations", of)
        return self._system.place(frame, self._q(q), self._v("v", v), self._v("a", a))

    # -- arguments -----------------------------------------------------------------------------

    def _q(self, q: ArrayLike) -> Array:
        """Coordinates (nq,), rotations brought to unit length: solvers let them drift."""
        given, count = self._sized("q", q, len(self.rest)), len(self.names)
        if len(given) == count:  # coordinates add up
            return given
        near, still = given, np.zeros(count)
        for _ in range(_ROUNDS):
            last, near = near, self._system.moved(near, still)
            if not np.abs(near - last).max() > 1e-13:
                break
        refuse(
            not np.abs(near - given).max() < _DRIFT, "equations", "q", given,
            "a configuration, with rotations as unit quaternions or matrices",
            "make one with moved(rest, x) or state(result)",
        )  # fmt: skip
        return near

    def _v(self, field: str, x: ArrayLike | None) -> Array:
        """Velocities or accelerations (n,), zero for None."""
        count = len(self.names)
        return np.zeros(count) if x is None else self._sized(field, x, count)

    def _sized(self, field: str, x: ArrayLike, count: int) -> Array:
        expected = f"{count} finite numbers, shape ({count},)"
        remedy = "see names for velocities, and rest or state(result) for coordinates"
        return finite_array("equations", field, x, expected, remedy, lambda y: y.shape == (count,))

    def _numbers(self, inputs: Mapping[str, Any] | None) -> tuple[Array, dict[str, Any]]:
        """Inputs as numbers (J,) of what acts, and their values by name."""
        given = {**self.inputs, **as_inputs(inputs)}
        values = check_values(self._compiled.description, given)
        fixed = self._compiled.description.settled_inputs()
        for name in fixed:
            if np.any(np.asarray(values[name]) != np.asarray(fixed[name])):
                raise DescriptionError(
                    "equations", f"input {name!r}", values[name],
                    f"{fixed[name]:g} as in these equations, for the mesh depends on it",
                    f"ask for robot.equations({{{name!r}: ...}}) with the other value",
                )  # fmt: skip
        return self._system.effects.at(values).u, values
