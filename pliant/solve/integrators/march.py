"""Steppers in acceleration form that take many steps in one compiled call, where the robot allows it.

It does if it is one rod with its base at rest whose map offers a `CompiledMap`, if what has inertia
has no rotary inertia, and if what acts on it are chambers, on its strains, and dead forces at its
centres. Everything else is stepped by the general path, with the same numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.physics import lines as pressure_lines
from pliant.physics.chambers import PressureChamber
from pliant.physics.effects import Effects
from pliant.physics.gravity import Gravity
from pliant.rods.actuation import OnStrains
from pliant.rods.compiled import CompiledMap
from pliant.rods.contract import Array, Ints
from pliant.solve.integrators.contract import StepError
from pliant.solve.integrators.march_rod import Parts
from pliant.solve.schedule import Schedule

if TYPE_CHECKING:
    from pliant.solve.integrators.acceleration import AccelerationStepper

_LIMIT = 25
_STALLED = 1e-6
"""Relative residual at which a step is taken that rounding keeps from its tolerance."""
_CORRECTIONS, _ENOUGH = 6, 1e-8
"""How often a step beside another is corrected, and the part of its first residual that may stay."""
FAILURES = {
    1: "the motion became infinite",
    2: "the step matrix is singular",
    3: f"no convergence in {_LIMIT} iterations",
}


def compiled_rod(effects: Effects) -> CompiledMap | None:
    """The compiled map of a robot that can be stepped with it, as far as its parts tell."""
    tree = effects.tree
    if len(tree.parts) != 1 or tree.m or tree.drivers:
        return None
    part = tree.parts[0]
    if part.rod is None or part.joint.nv or np.any(part.M[:, :3]):
        return None
    if part.rod.drag_coefficients().any() or np.any(part.point_X[:, :3, 3]):
        return None
    if not isinstance(part.map.actuation, OnStrains):
        return None
    return part.map.march_map(np.concatenate([part.strain_s, part.inner_s]))


class March:
    """Many steps of an `AccelerationStepper` at once, under the inputs of a schedule.

    names : of the inputs whose numbers stand in the columns of `inputs`, with their component.
    """

    def __init__(
        self,
        stepper: AccelerationStepper,
        schedule: Schedule,
        parts: Parts,
        lines: Any,
        applied: list[tuple[Array, Array]],
    ) -> None:
        assert schedule.channels is not None
        _, channels = schedule.channels
        self.stepper, self.schedule, self.parts = stepper, schedule, parts
        self.names = [(c.name, c.component) for c in channels]
        n, J = parts.tree.n, len(channels)
        weight, base, *units = applied
        self._loads = (
            parts.on_coordinates(base[0]),
            np.array([parts.on_coordinates(unit[0]) for unit in units]).reshape(J, n),
            parts.on_coordinates(weight[0]),
            base[1],
            np.array([unit[1] for unit in units]).reshape(J, *base[1].shape),
        )
        self._lines = lines
        mode_slope, viscous = 1.0 + stepper.v_slope * parts.mode_lag, bool(np.any(parts.law[1]))
        self._rule = np.array([*stepper.rule(), mode_slope, viscous, _STALLED])
        self.books, self.counts = np.zeros(4), np.zeros(3, dtype=np.int64)
        self._room = self._make_room(J)
        matrix = parts.matrix
        factor = np.zeros((matrix.n, matrix.bandwidth + 1))
        made = np.zeros(1, dtype=np.int64)
        work = np.zeros(2 * matrix.bandwidth + 5)
        self._band = (matrix.data, factor, np.zeros(matrix.n), made, work)

    def _make_room(self, J: int) -> tuple[Array, ...]:
        parts, block = self.parts, self.parts.part
        n, nq = parts.tree.n, block.map.nq
        S, R = self._loads[3].shape
        E, m = parts.rod[3].shape
        p, Q = parts.law[7].shape[1], len(block.field_rows)
        shapes = [(n,), (nq,), (n,), (n,), (n,), (n,), (S, R), (S, R, m), (S, R), (S, R)]
        shapes += [(E, p, Q), (E, m), (E, m), (n,), (n,), (S, R), (E, m, m), (E, p * Q, m)]
        K = parts.law[11].shape[1]
        shapes += [(E, p * Q, p * Q), (n,), (J,), (E, p, Q), (K,), (K,)]
        return tuple(np.zeros(shape) for shape in shapes)

    def begin(self, inputs: Array) -> None:
        """Take over the state of the stepper, with inputs (J,) that act there."""
        from pliant.solve.integrators.march_parts import strains_at

        stepper, parts = self.stepper, self.parts
        strain, R = self._loads[3], len(parts.found.rows)
        e, B = np.zeros_like(strain), np.zeros((len(strain), R, parts.found.n))
        strains_at(parts.found.strain, parts.found.ints, parts.found.floats, stepper.q, e, B)
        gas = np.zeros((len(inputs), 3))
        gas[:, 0] = inputs
        gas[:, 1] = self._lines[2] - np.sum(self._loads[4] * e, axis=(1, 2))
        mult = stepper.z[: parts.tree.n]
        now = (stepper.q, stepper.v, stepper.acc, stepper.like, mult)
        force = self._loads[0] + inputs @ self._loads[1]
        stress = strain + np.tensordot(inputs, self._loads[4], 1)
        self.state = (*(a.copy() for a in now), force, stress, e, gas, np.array(inputs))
        self.books[:] = (stepper.work, stepper.dissipated, stepper.scale, 0.0)
        self.counts[:] = (stepper.iterations, 0, 0)

    def prepare(self, inputs: Array, rows: Ints, record: tuple[Array, ...]) -> None:
        """Make ready for steps to whose ends inputs (count, J) belong.

        rows : (count,) of `record`, made by `room_for`, that the ends of steps are written to, or -1.
        """
        from pliant.solve.integrators.march_bundle import bundled
        from pliant.solve.integrators.march_kernels import march

        parts, found = self.parts, self.parts.found
        constants = (self._rule, parts.rod, parts.law, parts.form, self._loads, self._lines)
        room = (self.state, self._room, self._band, self.books, self.counts)
        task = (inputs, rows, record)
        self._bundle = bundled(found.strain, found.second, (*constants, *room, task))
        self._march = march

    def advance(self) -> int:
        """Take the steps that were prepared, once more if called again; returns how many were taken."""
        return int(self._march(self._bundle, _LIMIT))

    def trail(self, count: int) -> tuple[Array, ...]:
        """Room for what `lead` keeps of `count` steps."""
        n, factor = self.parts.tree.n, self._band[1]
        return (*(np.empty((count, n)) for _ in range(3)), np.empty((count, *factor.shape)),
                np.empty((count, n)))  # fmt: skip

    def lead(self, trail: tuple[Array, ...]) -> int:
        """`advance`, leaving a trail of as many steps for neighbours."""
        from pliant.solve.integrators.march_beside import lead

        return int(lead(self._bundle, _LIMIT, trail))

    def follow(self, leader: March, trail: tuple[Array, ...]) -> None:
        """Take the steps that were prepared beside those of a leader."""
        from pliant.solve.integrators.march_beside import follow

        follow(self._bundle, trail, leader._rule[9], _CORRECTIONS, _ENOUGH)

    def hand_back(self) -> None:
        """Let the stepper have the state reached."""
        stepper, state = self.stepper, self.state
        stepper.q[...], stepper.v[...] = state[0], state[1]
        stepper.work, stepper.dissipated = float(self.books[0]), float(self.books[1])

    def columns(self, asked: dict[str, Array], count: int) -> Array:
        """Inputs (count, J) from values (count, ...) by name."""
        found = np.empty((count, len(self.names)))
        for j, (name, k) in enumerate(self.names):
            found[:, j] = asked[name].reshape(count, -1)[:, k]
        return found

    def by_name(self, columns: Array) -> dict[str, Array]:
        """Values (count, ...) by name from inputs (count, J)."""
        found: dict[str, Array] = {}
        for name in dict.fromkeys(name for name, _ in self.names):
            at = [j for j, (other, _) in enumerate(self.names) if other == name]
            shape = self.schedule.shape_of(name)
            found[name] = columns[:, at].reshape(len(columns), *shape)
        return found

    def all_by_name(self, columns: Array) -> dict[str, Array]:
        """`by_name` with those that stay what they are."""
        schedule, count = self.schedule, len(columns)
        vary = self.by_name(columns)
        return {
            name: vary[name]
            if name in vary
            else np.broadcast_to(np.asarray(value, dtype=float), (count, *np.shape(value)))
            for name, value in schedule.values.items()
        }

    def room_for(self, count: int) -> tuple[Array, ...]:
        """A record of `count` rows for `advance`: q, v, work and loss, inputs."""
        n, nq = self.parts.tree.n, self.parts.part.map.nq
        return tuple(np.empty((count, size)) for size in (nq, n, 2, len(self.names)))

    def error(self) -> StepError:
        """Say why the last step that was tried failed."""
        return self.stepper.error(FAILURES[int(self.counts[2])])


def make_march(stepper: AccelerationStepper, schedule: Schedule) -> March | None:
    """Steps at once for a stepper under a schedule, or None where the general path is needed."""
    effects = stepper.effects
    compiled = compiled_rod(effects)
    if schedule.channels is None or compiled is None:
        return None
    base, channels = schedule.channels
    parts = Parts(effects, compiled, stepper.workspace.parts[0].lag, 1.0 / stepper.a_slope)
    weight = np.zeros_like(base)
    for term in effects.of_kind(Gravity):
        weight[term.at] = base[term.at]
    applied = [parts.applied(u) for u in (weight, base, *(channel.unit for channel in channels))]
    found = [pair for pair in applied if pair is not None]
    lines = _lines(effects, schedule, [channel.name for channel in channels])
    if lines is None or len(found) < len(applied):
        return None
    return March(stepper, schedule, parts, lines, found)


def _lines(effects: Effects, schedule: Schedule, names: list[str]) -> tuple[Any, ...] | None:
    """Kinds, numbers and rest volumes of the pressure lines behind channels; None if unknown."""
    chambers = {term.input: term for term in effects.of_kind(PressureChamber)}
    kinds, numbers, volumes = [], [], []
    for name in names:
        chamber = chambers.get(name)
        known = pressure_lines.constants(None if chamber is None else chamber.chamber.line)
        if known is None:
            return None
        kinds.append(known[0])
        numbers.append(known[1])
        volumes.append(0.0 if chamber is None else chamber.rest_volume)
    return (
        np.array(kinds, dtype=np.int64),
        np.array(numbers).reshape(-1, 3),
        np.array(volumes, dtype=float),
    )
