"""A robot of nested tubes as a boundary-value problem, solved by shooting: the classical model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from pliant.bvp.tube_shooting import Acting, Pull, TubeShape, TubeShooting
from pliant.lie.tuples import Array
from pliant.model import (
    Centreline,
    ConvergenceError,
    Description,
    DescriptionError,
    Effect,
    Frame,
    Rod,
    Tube,
    centreline,
    is_nested,
    nest_of,
)
from pliant.model.pointwise import LineWrench, PointWrench
from pliant.rods.contract import RodModel
from pliant.solve.problem import Problem, Still
from pliant.solve.shape_error import ShapeError
from pliant.solve.strong import StrongSolution

_REMEDY = "choose a formulation with coordinates, such as BSpline()"
_USUAL = 100
"""Intervals of integration where none are asked for."""


def is_nest(description: Description) -> bool:
    """Whether all rods of a robot are nested tubes of one centreline."""
    rods = list(description.rods.values())
    return (
        bool(rods)
        and is_nested(description, rods[0])
        and len(nest_of(description, rods[0])) == len(rods)
    )


class TubeSampler:
    """Answers questions about sections of tubes at an equilibrium."""

    def __init__(self, centre: Centreline) -> None:
        self._centre = centre
        self._numbers = {rod.name: k for k, rod in enumerate(centre.members)}

    def _placed(self, q: TubeShape, rod: str, s: Array) -> tuple[int, Array, Array, Array, Array]:
        """Number of a tube, places on the centreline, its poses there, angles and twists."""
        k = self._numbers[rod]
        first, end = self._centre.own(k)
        place = np.minimum(np.asarray(s, dtype=float) + first, end)
        g, angle, twist = q.poses(np.maximum(place, 0.0))
        psi, rate = angle[:, k], twist[:, k]
        behind = place < 0.0
        if behind.any():
            base = q.acting.angles[k]
            rate = np.where(behind, (psi - base) / -first, rate)
            psi = np.where(behind, base + (place - first) * rate, psi)
        return k, place, g, psi, rate

    def poses(self, q: TubeShape, rod: str, s: Array) -> Array:
        """World poses (S, 4, 4)."""
        _, place, g, psi, _ = self._placed(q, rod, s)
        turn = np.tile(np.eye(4), (len(psi), 1, 1))
        c, d = np.cos(psi), np.sin(psi)
        turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = c, -d, d, c
        turn[:, 2, 3] = np.minimum(place, 0.0)
        return np.asarray(g @ turn)

    def strains(self, q: TubeShape, rod: str, s: Array) -> Array:
        """Strains (S, 6) in the frames of the tube."""
        _, place, _, psi, rate = self._placed(q, rod, s)
        u = np.where((place < 0.0)[:, None], 0.0, q.curvature(np.maximum(place, 0.0)))
        c, d = np.cos(psi), np.sin(psi)
        found = np.zeros((len(psi), 6))
        found[:, 0], found[:, 1] = c * u[:, 0] + d * u[:, 1], c * u[:, 1] - d * u[:, 0]
        found[:, 2], found[:, 5] = rate, 1.0
        return found

    def velocities(self, q: Any, v: Any, rod: str, s: Array) -> Array:
        """Body twists (S, 6): none, for nothing moves."""
        return np.zeros((len(s), 6))


class TubeProblem(Problem):
    """Nested tubes as they were when they were compiled for shooting."""

    def __init__(self, description: Description, formulations: Mapping[str, RodModel]) -> None:
        self.description, self.formulations = description, dict(formulations)
        forms = list(self.formulations.values())
        self.form = forms[0]
        if not self.form.solves_tubes or any(form != self.form for form in forms):
            self._refuse("robot", "formulation", self.form, "Shooting() for tubes in one another")
        self.members = nest_of(description, next(iter(description.rods.values())))
        self.centre = centreline(self.members)
        self._require_classical()
        self.sampler: TubeSampler = TubeSampler(self.centre)
        places = [s for effect in self._effects() for s in self._breaks(effect)]
        places += [self._place(body.on)[1] for body in description.bodies.values() if body.on]
        steps = getattr(self.form, "steps", None) or _USUAL
        self._settings = (self.centre, np.asarray(self.members[0].pose), steps, places)

    def _refuse(self, part: str, field: str, value: object, expected: str) -> NoReturn:
        raise DescriptionError(part, field, value, expected, _REMEDY)

    def _require_classical(self) -> None:
        """Refuse what the classical model does not have."""
        root, name = self.members[0], type(self.form).__name__
        if root.theory != "kirchhoff":
            raise DescriptionError(
                root.label,
                "theory",
                root.theory,
                f"'kirchhoff' with {name}, which solves tubes without shear and stretch",
                "give theory='kirchhoff', or choose a formulation such as BSpline()",
            )
        if root.base != "world" or (root.joint is not None and root.joint.moves):
            self._refuse(root.label, "base", root.base, f"clamped to the world with {name}")
        for tube in self.members:
            if isinstance(tube, Tube) and tube.shift is not None:
                self._refuse(tube.label, "shift", tube.shift, f"left out with {name}")
            if isinstance(tube, Tube) and tube.tip_is_fixed:
                self._refuse(tube.label, "tip_turns", False, f"left out with {name}")
            if isinstance(tube, Tube) and tube.drive == "torque":
                self._refuse(tube.label, "drive", tube.drive, f"'angle' with {name}")
        for effect in self.description.of(Effect).values():
            form = effect.pointwise()
            known = isinstance(form, PointWrench) or (isinstance(form, LineWrench) and form.world)
            if not known:
                expected = (
                    f"left out with {name}, which carries loads and dead forces along tubes only"
                )
                self._refuse(effect.label, "kind", effect.word, expected)

    def _effects(self) -> list[PointWrench | LineWrench]:
        return [effect.pointwise() for effect in self.description.of(Effect).values()]

    def _place(self, frame: Frame) -> tuple[int, float, Array]:
        """Tube with which a frame moves, place on the centreline and offset (3,) there."""
        rod, s, pose = self._section_of(frame)
        if rod is None:
            self._refuse(f"frame of {frame.part!r}", "part", frame.part, "a place on a tube")
        k = [tube.name for tube in self.members].index(str(rod))
        place = self.centre.own(k)[0] + s
        if place < -1e-9 * self.centre.length:
            expected = f"beyond the entry plane, which is {-place:g} m farther along the tube"
            self._refuse(f"tube {rod!r}", "s", s, expected)
        return k, max(place, 0.0), pose

    def _breaks(self, form: PointWrench | LineWrench) -> list[float]:
        if isinstance(form, PointWrench):
            return [self._place(form.on)[1]]
        rod = self.description.rods[form.part]
        first = self.centre.own(self.members.index(rod))[0]
        return [first + s for s in (*(form.over or ()), *form.breaks(rod.length).places)]

    def _acting(self, values: Mapping[str, Any]) -> Acting:
        """What acts for values of the inputs."""
        tubes = [tube if isinstance(tube, Tube) else None for tube in self.members]
        angles = [
            0.0 if t is None else t.angle + float(values.get(t.rotation or "", 0.0)) for t in tubes
        ]
        gravity, pulls, lines = np.array(self.description.gravity), [], []
        for form in self._effects():
            if isinstance(form, PointWrench):
                k, place, pose = self._place(form.on)
                turn = np.eye(3) if form.world else pose[:3, :3]
                w = np.asarray(form.wrench(values[form.name]), dtype=float)
                pulls.append(Pull(place, k, pose[:3, 3], turn @ w[:3], turn @ w[3:], form.world))
            else:
                lines.append((form, values[form.name]))
        for body in self.description.bodies.values():
            assert body.on is not None
            k, place, pose = self._place(body.on)
            offset = (pose @ np.asarray(body.pose) @ np.append(body.centre, 1.0))[:3]
            pulls.append(Pull(place, k, offset, np.zeros(3), body.mass * gravity, True))

        def force(s: Array) -> Array:
            total = self.centre.mass_per_length(s)[:, None] * gravity
            for form, value in lines:
                total = total + self._line_force(form, value, s)
            return np.asarray(total)

        return Acting(np.array(angles), pulls, force)

    def _line_force(self, form: LineWrench, value: Any, s: Array) -> Array:
        """Force (S, 3) per metre at places s (S,) of the centreline."""
        rod = self.description.rods[form.part]
        own, inside = self.centre.place_of(self.members.index(rod), s)
        a, b = form.over or (0.0, rod.length)
        w = np.asarray(form.density(own, value), dtype=float)
        if w[:, :3].any():
            self._refuse(f"load {form.name!r}", "moment", w[0, :3], "left out with Shooting")
        return np.where((inside & (own >= a) & (own <= b))[:, None], w[:, 3:], 0.0)

    # -- solving -----------------------------------------------------------------------------

    @property
    def unknowns(self) -> int:
        """Force, moment and torques in the entry plane."""
        return len(TubeShooting(*self._settings).units)

    @property
    def rest(self) -> TubeShape:
        """Tubes that are all curved like their mean."""
        solver = TubeShooting(*self._settings)
        nothing = Acting(np.zeros(len(self.members)), [], lambda s: np.zeros((len(s), 3)))
        return solver.integrate(np.zeros((1, len(solver.units))), nothing, 0.0, True)[1]  # type: ignore[return-value]

    def same_rods(self, other: Problem) -> bool:
        """Tell whether shapes of both mean the same."""
        return isinstance(other, TubeProblem) and self.members == other.members

    def statics(
        self,
        values: Mapping[str, Any],
        origin: tuple[Problem, Still] | None,
        tolerance: float,
        progress: Callable[[float, int, float], None] | None,
    ) -> Still:
        """Return the equilibrium on the branch from `origin`, or from the unloaded tubes."""
        solver = TubeShooting(*self._settings)
        start = None if origin is None else origin[1].solution.q
        shape: Any = solver.solve(self._acting(values), start, tolerance)
        history, count = solver.history, len(solver.units)
        if progress is not None:
            progress(1.0, solver.newton.iterations, history[-1])
        solution = StrongSolution(shape, solver.newton.iterations, history[-1], history, count)
        return Still(solution, [(1.0, values)])

    def compared_error(self, still: Still) -> ShapeError | None:
        """From the same tubes with twice as many intervals of integration."""
        from pliant.solve.finer import shape_error

        values, (centre, pose, steps, places) = still.applied[-1][1], self._settings
        try:
            fine: Any = TubeShooting(centre, pose, 2 * steps, places).solve(
                self._acting(values), still.solution.q, 1e-10
            )
        except ConvergenceError:
            return None
        return shape_error(self, fine, self, still.solution.q)

    def _no_motion(self) -> NoReturn:
        expected = "a formulation with coordinates, for shooting solves tubes at rest only"
        self._refuse("simulate", "formulation", self.form, expected)

    def integrator(self, wanted: object) -> NoReturn:
        """Refuse: there is no motion."""
        self._no_motion()

    def simulate(self, *given: Any, **more: Any) -> NoReturn:
        """Refuse: there is no motion."""
        self._no_motion()

    def stream(self, *given: Any, **more: Any) -> NoReturn:
        """Refuse: there is no motion."""
        self._no_motion()

    def moving_wrenches(self, *given: Any) -> NoReturn:
        """Refuse: there is no motion."""
        self._no_motion()

    def energies(self, path: Any, rows: NDArray[Any]) -> NoReturn:
        """Refuse: there is no motion."""
        self._no_motion()

    def moving_reactions(self, path: Any) -> NoReturn:
        """Refuse: there is no motion."""
        self._no_motion()

    # -- answering ---------------------------------------------------------------------------

    def wrenches(self, still: Still, rod: Rod, s: Array, by: str) -> Array:
        """Internal wrenches (S, 6) of a tube by its law, without forces."""
        strain = self.sampler.strains(still.solution.q, rod.name, s)
        return np.asarray(rod.stiffness(s) * (strain - rod.natural_strain(s)))

    def potential(self, still: Still) -> dict[str, float]:
        """Energies of an equilibrium, J."""
        q, values = still.solution.q, still.applied[-1][1]
        x, w = np.polynomial.legendre.leggauss(3)
        h = np.diff(q.s)[:, None]
        place, weight = (q.s[:-1, None] + 0.5 * h * (x + 1)).ravel(), (0.5 * h * w).ravel()
        elastic = 0.0
        for k, tube in enumerate(self.members):
            own, inside = self.centre.place_of(k, place)
            e = self.sampler.strains(q, tube.name, own) - tube.natural_strain(own)
            elastic += 0.5 * float((weight * inside) @ np.sum(tube.stiffness(own) * e * e, axis=1))
        solver = TubeShooting(*self._settings)
        elastic += 0.5 * float(np.sum(solver.compliance * q.torque[0] ** 2))
        g = q.poses(place)[0][:, :3, 3]
        gravity = np.array(self.description.gravity)
        mass = weight * self.centre.mass_per_length(place)
        acting = self._acting(values)
        weights = -float(mass @ (g @ gravity))
        bodies = len(self.description.bodies)
        cut = len(acting.pulls) - bodies
        weights -= sum(self._moved_by(q, pull) for pull in acting.pulls[cut:])
        forces = acting.force(place) - (mass / weight)[:, None] * gravity
        dead = [pull for pull in acting.pulls[:cut] if pull.world]
        pulled = -float(weight @ np.sum(forces * g, axis=1))
        pulled -= sum(self._moved_by(q, pull) for pull in dead)
        return {"elastic": elastic, "gravity": weights, "loads": pulled}

    def _moved_by(self, q: TubeShape, pull: Pull) -> float:
        """Force times position, J."""
        tube = self.members[pull.k]
        s = np.array([pull.place - self.centre.own(pull.k)[0]])
        g = self.sampler.poses(q, tube.name, s)[0]
        return float(pull.force @ (g @ np.append(pull.offset, 1.0))[:3])

    def reactions(self, still: Still) -> dict[str, Array]:
        """What the entry plane exerts on the tubes, in its own frame."""
        q, R = still.solution.q, self._settings[1][:3, :3]
        held = -np.concatenate([R.T @ q.moment[0], R.T @ q.force[0]])
        return {self.members[0].name: held}

    def drive_forces(self, still: Still) -> dict[str, Any]:
        """Torques that turn the bases of tubes, by the name of their inputs."""
        q, tubes = still.solution.q, enumerate(self.members)
        turned = [(k, tube) for k, tube in tubes if isinstance(tube, Tube) and tube.rotation]
        return {str(tube.rotation): -float(q.torque[0, k]) for k, tube in turned}

    def judge(self, still: Still) -> tuple[bool | None, str]:
        """Nothing: whether tubes are stable is not known here."""
        return None, "shooting does not tell whether tubes are stable: solve them with BSpline()"

    def adopt(self, other: Problem, q: Any) -> NoReturn:
        """Refuse: there is no motion."""
        self._no_motion()

    def as_numbers(self, q: TubeShape) -> Array:
        """Force, moment and torques in the entry plane, without unit."""
        return q.x
