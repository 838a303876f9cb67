"""A robot written down with symbols: kinematics part by part, then what has mass and what acts.

Rods, joints and effects write their own formulas (`RodMap.symbolic`, `JointMap.symbolic_pose`,
`Term.symbolic`); here they are put together as in the TMT method. With the pose of every piece that has
mass as a function of q, and q' = H(q) v,

    M = sum T^T m T,    bias = sum T^T (m T' v + (0, w x I w)),    T = d(position, spin) / dv,

where positions are in the world and spins w in the axes of the piece. Generalised forces are -H^T dV/dq
of potentials, and -(dm/dv)^T s of stresses s on measures m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from pliant.lie import symbolic
from pliant.model import Auxiliary, Body, DescriptionError, Effect, Frame, Rod, did_you_mean
from pliant.physics.contract import Term
from pliant.physics.effects import Effects
from pliant.physics.symbolic import Place, Station, Symbols, turned
from pliant.rods.contract import Array, SymbolicRod
from pliant.symbolic import sections
from pliant.symbolic.numbers import Numbers, Parameters
from pliant.tree.part import Part
from pliant.tree.state import State

Inputs = Sequence[str] | Mapping[str, int] | None


class System(Symbols):
    """One robot with symbols.

    q (nq, 1), v (nv, 1), u, p : coordinates, velocities, inputs and parameters. Velocities stand in the
    order of the tree, those that inputs prescribe last.  input_names, input_sizes : of u.
    energy : potential energy, J.  gaps : of constraints, with `labels` for each row.
    """

    def __init__(
        self,
        math: Any,
        effects: Effects,
        values: Mapping[str, Any],
        parameters: Parameters,
        inputs: Inputs,
    ) -> None:
        self.math, self.tree, self._values = math, effects.tree, values
        self.numbers = Numbers(math, self.tree.description, parameters)
        self.p = self.numbers.symbols
        self._set_coordinates()
        self._set_inputs(inputs)
        self._parts: list[SymbolicRod] = []
        self._sections: dict[tuple[int, float], Place] = {}
        self._strains: dict[tuple[int, float], Any] = {}
        """What was asked for once: reverse sweeps go through an expression as often as it is built."""
        self._joints: list[tuple[Any, Any]] = []
        self._place_parts()
        self._at_rest = self._rest_coordinates()
        self._stations = [self.sections(i) for i in range(len(self.tree.parts))]
        self._stations.append(self._bodies())
        self.energy: Any = math.SX(0.0)
        self._measures: list[Any] = []
        self._stresses: list[Any] = []
        self._along: Any = math.SX.zeros(self.v.numel())
        self.gaps: Any = math.SX.zeros(0)
        self.labels: list[str] = []
        for term in effects.terms:
            term.symbolic(self)
        self.numbers.require_used()

    # -- symbols -----------------------------------------------------------------------------

    def _set_coordinates(self) -> None:
        tree, math = self.tree, self.math
        state = State(tree)
        state.place(tree.q_rest)
        self._spans: list[tuple[slice, slice]] = []
        """Places in q of the coordinates of joint and map of each part."""
        at = 0
        for part, here in zip(tree.parts, state.parts, strict=True):
            sizes = [len(x) for x in _coordinates_of(part, here)]
            self._spans.append((slice(at, at + sizes[0]), slice(at + sizes[0], at + sum(sizes))))
            at += sum(sizes)
        order = np.concatenate([tree.coordinates, tree.prescribed])
        self._column = {int(number): k for k, number in enumerate(order)}
        self.order = order
        """Numbers (nv,) of the velocities in the tree."""
        self.free = len(tree.coordinates)
        """How many velocities nothing prescribes: the first ones."""
        self.q, self.v = math.SX.sym("q", at), math.SX.sym("v", len(order))

    def _set_inputs(self, inputs: Inputs) -> None:
        known = {**self.tree.description.inputs(), **self._values}
        moved = {name for driver in self.tree.drivers.values() for name in driver.inputs}
        wanted: Any = [name for name in known if name not in moved] if inputs is None else inputs
        wanted = [wanted] if isinstance(wanted, str) else wanted
        listed = isinstance(wanted, (list, tuple, Mapping)) and len(set(wanted)) == len(wanted)
        if not listed:
            raise _refused("inputs", inputs, "names of inputs, each once", "give e.g. ['pull']")
        sizes = dict(wanted) if isinstance(wanted, Mapping) else dict.fromkeys(wanted, 0)
        self.input_names, self.input_sizes = tuple(sizes), []
        self._inputs = {name: self.math.SX(np.ravel(value)) for name, value in known.items()}
        for name, size in sizes.items():
            if name not in known:
                remedy = did_you_mean(str(name), list(known))
                raise _refused("inputs", name, "the name of an input of this robot", remedy)
            if name in moved:
                expected = "an input that acts; this one prescribes a motion"
                remedy = "leave it out: its acceleration is among the controls"
                raise _refused("inputs", name, expected, remedy)
            self.input_sizes.append(self._checked_size(name, size))
        self.u = self.math.SX.sym("u", sum(self.input_sizes))
        ends = np.cumsum([0, *self.input_sizes])
        for k, name in enumerate(self.input_names):
            self._inputs[name] = self.u[int(ends[k]) : int(ends[k + 1])]
        self.defaults = np.concatenate(
            [
                np.zeros(0),
                *(_default(known[n], k) for n, k in zip(sizes, self.input_sizes, strict=True)),
            ]
        )
        """Values (nu,) that the inputs have in the description; zero for other numbers of them."""

    def input_slice(self, name: str) -> slice:
        """Where the numbers of an input stand in u."""
        k = self.input_names.index(name)
        start = sum(self.input_sizes[:k])
        return slice(start, start + self.input_sizes[k])

    def entry_names(self) -> list[str]:
        """Names (nu,) of the entries of u: of inputs, with a number in brackets for one of several."""
        pairs = list(zip(self.input_names, self.input_sizes, strict=True))
        return [n if size == 1 else f"{n}[{k}]" for n, size in pairs for k in range(size)]

    def columns(self, numbers: Any) -> list[int]:
        """Places in v of velocities by their numbers in the tree."""
        return [self._column[int(number)] for number in numbers]

    def _checked_size(self, name: str, size: Any) -> int:
        """How many numbers an input becomes; 0 for as many as it is described by."""
        described = int(self._inputs[name].numel())
        allowed = {described}
        for effect in self.tree.description.of(Effect).values():
            if name in effect.inputs():
                allowed |= set(getattr(effect, "input_sizes", ()))
        found = size or described
        if found not in allowed:
            listed = ", ".join(str(x) for x in sorted(allowed))
            raise _refused("inputs", {name: size}, f"one of {listed} numbers", "give another size")
        return int(found)

    # -- kinematics --------------------------------------------------------------------------

    def _place_parts(self) -> None:
        math, rates = self.math, []
        for part, (joint_at, map_at) in zip(self.tree.parts, self._spans, strict=True):
            q, own = self.q[joint_at], self.q[map_at]
            v = self._velocities(part.joint_index)
            carrier = part.source.carrier if part.parent >= 0 else None
            G = Place(math.SX.eye(3), math.SX.zeros(3)) if carrier is None else self.frame(carrier)
            X = turned(G, part.pose)
            R, p = part.joint.symbolic_pose(math, q)
            rod = part.map.symbolic(math, (X.R @ R, X.p + X.R @ p), own)
            self._parts.append(rod)
            self._joints.append((part.joint.symbolic_values(math, q), v))
            rates += [part.joint.symbolic_rates(math, q, v)]
            rates += [rod.rates(self._velocities(part.x_index))]
        self.rates = math.vertcat(*(x for x in rates if x.numel()))
        """q' (nq, 1) as a function of q and v."""
        self.H = math.jacobian(self.rates, self.v)

    def _velocities(self, index: Any) -> Any:
        columns = self.columns(index)
        return self.v[columns] if columns else self.math.SX.zeros(0)

    def _rest_coordinates(self) -> Array:
        return self.coordinates(self.tree.q_rest)

    def coordinates(self, q: Array) -> Array:
        """Coordinates (nq,) of these equations from those of the tree."""
        state = State(self.tree)
        state.place(q)
        parts = zip(self.tree.parts, state.parts, strict=True)
        return np.concatenate([np.zeros(0), *(x for pair in parts for x in _coordinates_of(*pair))])

    def frame(self, frame: Frame) -> Place:
        i, s, pose = self.tree.place_of(frame)
        return turned(self.section(i, s), pose)

    def section(self, i: int, s: float) -> Place:
        if (i, s) not in self._sections:
            self._sections[i, s] = Place(*self._parts[i].frame(float(s)))
        return self._sections[i, s]

    def station(self, i: int, station: int) -> Place:
        part = self.tree.parts[i]
        place, at = self.section(i, float(part.frames_s[station])), station - len(part.mass_s)
        return place if at < 0 else turned(place, part.point_X[at])

    def strain(self, i: int, s: float) -> Any:
        if (i, s) not in self._strains:
            self._strains[i, s] = self._parts[i].strain(float(s))
        return self._strains[i, s]

    def joint(self, i: int) -> tuple[Any, Any]:
        return self._joints[i]

    def rate(self, measure: Any) -> Any:
        return self.math.jtimes(measure, self.q, self.rates)

    def spin(self, place: Place) -> Any:
        math = self.math
        turning = math.reshape(self.rate(math.vec(place.R)), 3, 3)
        return symbolic.axial(math, place.R.T @ turning)

    def at_rest(self, measure: Any) -> Array:
        numbers = self.math.Function("rest", [self.q, self.p], [measure])
        return np.array(numbers(self._at_rest, self.numbers.described)).ravel()

    # -- numbers -----------------------------------------------------------------------------

    def number(self, entry: Any, field: str, s: float | None = None) -> Any:
        return self.numbers.number(entry, field, s)

    def along(self, entry: Any, field: str, s: float, length: float) -> Any:
        return self.numbers.along(entry, field, s, length)

    def input(self, name: str) -> Any:
        return self._inputs[name]

    def stiffness(self, i: int, s: float) -> Any:
        return sections.stiffness(self.math, self.numbers, self._rod(i), s)

    def damping(self, i: int, s: float) -> Any:
        return sections.damping(self.math, self.numbers, self._rod(i), s)

    def _rod(self, i: int) -> Rod:
        rod = self.tree.parts[i].rod
        assert rod is not None
        return rod

    # -- what has mass -----------------------------------------------------------------------

    def sections(self, i: int) -> list[Station]:
        part, found = self.tree.parts[i], []
        s, w = part.map.mass_rule()
        if part.rod is None:
            return []
        places, lengths = part.map.rigid_pieces(s)
        for at, weight, place, length in zip(s, w, places, lengths, strict=True):
            line, rotary = sections.mass(self.math, self.numbers, part.rod, float(place))
            across = line * float(length) ** 2 / 12.0
            inertia = rotary + self.math.vertcat(across, across, 0.0)
            station = self.section(i, float(at))
            found.append(Station(station, weight * line, self.math.diag(weight * inertia)))
        return found

    def _bodies(self) -> list[Station]:
        """Rigid bodies at their centres of mass, in their own axes."""
        found = []
        for body in self.tree.description.bodies.values():
            if isinstance(body, Auxiliary):
                continue
            i, s, pose = self.tree.place_of_part(body.name)
            frame = turned(self.section(i, s), pose)
            centre = frame.p + frame.R @ self.number(body, "centre")
            inertia = self.number(body, "inertia")
            found.append(Station(Place(frame.R, centre), self.number(body, "mass"), inertia))
        return found

    def stations(self) -> list[Station]:
        return [station for part in self._stations for station in part]

    # -- what acts ---------------------------------------------------------------------------

    def store(self, energy: Any) -> None:
        self.energy = self.energy + energy

    def resist(self, measure: Any, stress: Any) -> None:
        self._measures.append(self.math.vec(measure))
        self._stresses.append(-self.math.vec(stress))

    def push(self, place: Place, force: Any, moment: Any) -> None:
        """With the matrix m^ of a moment, m . w = 1/2 tr((R m^)^T R')."""
        math = self.math
        self._measures += [place.p, math.vec(place.R)]
        self._stresses += [force, math.vec(0.5 * (place.R @ symbolic.hat(math, moment)))]

    def drive(self, i: int, force: Any) -> None:
        columns = self.columns(self.tree.parts[i].joint_index)
        along = self.math.SX.zeros(self.v.numel())
        along[columns] = force
        self._along = self._along + along

    def hold(self, label: str, gap: Any) -> None:
        self.gaps = self.math.vertcat(self.gaps, gap)
        self.labels += [label] * int(gap.numel())

    def refuse(self, term: Term, why: str = "") -> NoReturn:
        what = type(term).__module__.rsplit(".", 1)[-1].replace("_", " ")
        raise DescriptionError(
            _label_of(term),
            what,
            getattr(term, "name", "") or type(term).__name__,
            "an effect whose equations can be written with symbols",
            why or "leave it out of the robot, or use the numeric equations",
        )

    # -- equations ---------------------------------------------------------------------------

    def forces(self) -> Any:
        """Generalised forces (nv, 1) of all that acts, by one reverse sweep."""
        math = self.math
        measures = math.vertcat(self.energy, *self._measures)
        stresses = math.vertcat(-1.0, *self._stresses)
        pulled = math.jtimes(measures, self.q, stresses, True)
        return self.H.T @ pulled + self._along

    def _poses(self) -> Any:
        """Positions (3 S, 1) and rotations (9 S, 1) of all that has mass, one after the other."""
        vec = self.math.vec
        return self.math.vertcat(
            *(self.math.vertcat(x.place.p, vec(x.place.R)) for x in self.stations())
        )

    def mass(self) -> Any:
        """M (nv, nv)."""
        math, M = self.math, self.math.SX.zeros(self.v.numel(), self.v.numel())
        T = math.jacobian(self._poses(), self.q) @ self.H
        for k, station in enumerate(self.stations()):
            rows, R = T[12 * k : 12 * k + 12, :], station.place.R
            move, (x, y, z) = rows[:3, :], (rows[3 + 3 * j : 6 + 3 * j, :] for j in range(3))
            spin = math.vertcat(R[:, 2].T @ y, R[:, 0].T @ z, R[:, 1].T @ x)
            M = M + station.mass * (move.T @ move) + spin.T @ station.inertia @ spin
        return math.triu2symm(math.triu(M))

    def _motions(self) -> list[tuple[Any, Any, Any, Any]]:
        """Of each station velocity, acceleration at constant v, spin and its rate."""
        math, poses, found = self.math, self._poses(), []
        first = self.rate(poses)
        second = self.rate(first)
        for k, station in enumerate(self.stations()):
            at = slice(12 * k, 12 * k + 12)
            turning, bending = (math.reshape(x[at][3:], 3, 3) for x in (first, second))
            spins = [symbolic.axial(math, station.place.R.T @ x) for x in (turning, bending)]
            found.append((first[at][:3], second[at][:3], *spins))
        return found

    def bias(self) -> Any:
        """Inertial forces (nv, 1) at constant velocities, by one reverse sweep."""
        math, pulls = self.math, []
        for station, (_, bent, w, turning) in zip(self.stations(), self._motions(), strict=True):
            inertia, R = station.inertia, station.place.R
            moment = inertia @ turning + math.cross(w, inertia @ w)
            pulls += [station.mass * bent, math.vec(0.5 * (R @ symbolic.hat(math, moment)))]
        if not pulls:
            return math.SX.zeros(self.v.numel())
        return self.H.T @ math.jtimes(self._poses(), self.q, math.vertcat(*pulls), True)

    def kinetic(self) -> Any:
        """Kinetic energy, J."""
        energy = self.math.SX(0.0)
        for station, (velocity, _, w, _) in zip(self.stations(), self._motions(), strict=True):
            energy += 0.5 * station.mass * self.math.dot(velocity, velocity)
            energy += 0.5 * self.math.dot(w, station.inertia @ w)
        return energy

    def constraint(self) -> tuple[Any, Any]:
        """A = d gaps / dv (m, nv), and the rate (m, 1) of A v at constant v."""
        A = self.math.jacobian(self.gaps, self.q) @ self.H
        return A, self.rate(self.rate(self.gaps))


def _coordinates_of(part: Part, here: Any) -> tuple[Array, Array]:
    joint = part.joint.symbolic_coordinates(np.array(here.joint_q, dtype=float))
    return joint, part.map.symbolic_coordinates(here.c)


def _default(value: Any, size: int) -> Array:
    given = np.ravel(np.asarray(value, dtype=float))
    return given if len(given) == size else np.zeros(size)


def _refused(field: str, value: Any, expected: str, remedy: str) -> DescriptionError:
    return DescriptionError("equations", field, value, expected, remedy)


def _label_of(term: Term) -> str:
    """How messages call what a term comes from."""
    if getattr(term, "label", ""):
        return str(term.label)  # type: ignore[attr-defined]
    held = list(vars(term).values())
    for kind in (Effect, Rod, Body):
        for value in held:
            if isinstance(value, kind):
                return str(value.label)
    parts = [value for value in held if isinstance(value, Part)]
    return parts[0].source.label if parts else "robot"
