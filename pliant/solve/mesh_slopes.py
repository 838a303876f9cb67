"""Derivatives in inputs that are part of the compiled robot, such as insertions of tubes.

With such an input a the mesh moves, and balance is R(x, a) = 0 with coordinates x of the mesh of a.
Meshes of neighbouring values are alike: as many unknowns, spans that move with a. So x means the same
on all of them, R is smooth in both, and with the frame g(x, a)

    dx/da = -K^-1 dR/da,    dg/da = J dx/da + the twist of g on the meshes around it.

Both derivatives at fixed x are differences between neighbouring meshes; nothing is solved on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from pliant.engine import loops
from pliant.lie import se3
from pliant.model import ConvergenceError, DescriptionError, Frame
from pliant.model.telling import untold
from pliant.physics.effects import Inputs
from pliant.rods.contract import Array
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.insertion import refitted
from pliant.solve.load_steps import StaticSolver
from pliant.solve.problem import Problem, Still
from pliant.solve.response import Response
from pliant.solve.statics import StaticSolution

_STEPS = (1e-5, 1e-6, 1e-7)
"""Differences of an input, in lengths of the robot."""
_AGREE = 1e-4
"""Relative difference at which two derivatives with different steps agree."""
_STENCILS = (
    ((-1, -0.5), (1, 0.5)),
    ((0, -1.5), (1, 2.0), (2, -0.5)),
    ((0, 1.5), (-1, -2.0), (-2, 0.5)),
)
"""Places and weights of differences of second order: central, forward, backward."""
_APART = 4.0
"""How many times farther than the input spans may move on meshes that are alike."""


@lru_cache(maxsize=24)
def on_mesh(problem: CoordinateProblem, values: tuple[tuple[str, float], ...]) -> CoordinateProblem:
    """The robot of a problem with other values of inputs that are compiled, by name."""
    with untold():
        description = problem.description.settled(dict(values))
        return CoordinateProblem(description, problem.formulations)  # type: ignore[arg-type]


def mesh_at(problem: CoordinateProblem, values: Mapping[str, Any]) -> CoordinateProblem:
    """The robot of a problem on the mesh of the values of all inputs."""
    own = problem.description.settled_inputs()
    wanted = {name: float(np.asarray(values[name])) for name in own if name in values}
    if all(own[name] == value for name, value in wanted.items()):
        return problem
    return on_mesh(problem, tuple(wanted.items()))


def alike(a: CoordinateProblem, b: CoordinateProblem) -> bool:
    """Whether coordinates mean the same on two meshes: spans move with the inputs, and none is new."""
    mine, theirs = (problem.description.settled_inputs() for problem in (a, b))
    far = _APART * sum(abs(mine[name] - theirs[name]) for name in mine) + 1e-9 * a.length
    sizes = [(x.tree.nq, x.tree.total, x.tree.size, x.effects.inputs) for x in (a, b)]
    if sizes[0] != sizes[1]:
        return False
    pairs = zip(a.tree.parts, b.tree.parts, strict=True)
    spans = [(one.map.breaks, other.map.breaks) for one, other in pairs]
    return all(len(x) == len(y) and not (np.abs(x - y) > far).any() for x, y in spans)


def carried(
    problem: CoordinateProblem, found: StaticSolution, to: CoordinateProblem, inputs: Inputs
) -> StaticSolution:
    """An equilibrium on another mesh, to start from there; inputs : what acts on that mesh."""
    if problem is to:
        return found
    q = refitted(problem.sampler, found.q, to.sampler, inputs)
    z = found.z.copy() if alike(problem, to) else np.zeros(to.tree.total)
    return StaticSolution(q, z, inputs, negative=found.negative, odd=found.odd)


def on_mesh_of(problem: Problem, other: Problem) -> Problem:
    """A problem with the values that inputs that are compiled have in another one of the robot."""
    values = other.description.settled_inputs()
    if not (values and isinstance(problem, CoordinateProblem)):
        return problem
    if values.keys() != problem.description.settled_inputs().keys():
        return problem
    return mesh_at(problem, values)


def brought(problem: Problem, still: Still, to: Problem) -> tuple[Problem, Still]:
    """An equilibrium, with its problem, on the mesh of another problem of the robot if they differ."""
    if on_mesh_of(problem, to) is problem:
        return problem, still
    assert isinstance(problem, CoordinateProblem) and isinstance(to, CoordinateProblem)
    own = to.description.settled_inputs()
    applied = [(share, {**values, **own}) for share, values in still.applied]
    found = carried(problem, still.solution, to, to.acting(applied))
    return to, Still(found, applied)


class MeshSlopes:
    """Derivatives of balance and of frames, at fixed coordinates, in one input that is compiled.

    problem, q, z : the mesh and the equilibrium, or any configuration.  values : of all inputs.
    steps : differences of the input that may be taken, in lengths of the robot.
    """

    def __init__(
        self,
        problem: CoordinateProblem,
        q: Array,
        z: Array,
        values: Mapping[str, Any],
        name: str,
        steps: Sequence[float] = _STEPS,
    ) -> None:
        self.q, self.z, self.values, self.name = q, z, dict(values), name
        self.step, self.sides = _neighbours(problem, self.values, name, steps)

    def balance(self) -> Array:
        """dR/da (size,)."""
        return np.asarray(sum(weight * self._residual(x) for x, weight in self.sides) / self.step)

    def _residual(self, problem: CoordinateProblem) -> Array:
        values = {**self.values, **problem.description.settled_inputs()}
        return residual(problem, self.q, self.z, values)

    def twist(self, frame: Frame, pose: Array) -> Array:
        """Body twist (6,) of a frame, whose pose is (4, 4), per unit of the input."""
        here = se3.inverse(pose)
        moved = [(x.sampler.frame(self.q, frame), weight) for x, weight in self.sides]
        return np.asarray(sum(weight * se3.log(here @ g) for g, weight in moved) / self.step)


def residual(problem: CoordinateProblem, q: Array, z: Array, values: Mapping[str, Any]) -> Array:
    """Balance (size,) of a configuration with its force fields and multipliers."""
    inputs = problem.effects.at(values)
    solver = StaticSolver(problem.effects)
    solver.choose_equations(inputs, inputs)
    equations = solver.equations
    equations.state.q[...] = problem.effects.prescribed.put(q, inputs.drive)
    equations.z[...], equations.u[...], equations.keep[...] = z, inputs.u, 0.0
    equations.programs[loops.RESIDUAL]()
    return equations.work.residual[: problem.tree.size].copy()


def _neighbours(
    problem: CoordinateProblem, values: Mapping[str, Any], name: str, steps: Sequence[float]
) -> tuple[float, list[tuple[CoordinateProblem, float]]]:
    """A difference of an input, and meshes around that of a problem with their weights."""
    value = problem.description.settled_inputs()[name]
    for share, stencil in product(steps, _STENCILS):
        step = share * problem.length
        try:
            sides = [
                (mesh_at(problem, {**values, name: value + k * step}), weight)
                for k, weight in stencil
            ]
        except DescriptionError:  # beyond what the input takes
            continue
        if all(alike(problem, other) for other, _ in sides):
            return step, sides
    raise ConvergenceError(_none(name, value))


def _none(name: str, value: float) -> str:
    return (
        f"the equilibrium has no derivative in {name!r} at {value:g}: the mesh changes there, for one "
        "tube ends where another one ends or bends, or its base is at the entry plane; look at a "
        "value beside it"
    )


def _plain(
    problem: CoordinateProblem,
    response: Response,
    found: StaticSolution,
    values: Mapping[str, Any],
    name: str,
) -> tuple[MeshSlopes, Array]:
    """As `certified`, by one difference."""
    slopes = MeshSlopes(problem, found.q, found.z, values, name)
    return slopes, response.solve(-slopes.balance())


def certified(
    problem: CoordinateProblem,
    response: Response,
    found: StaticSolution,
    values: Mapping[str, Any],
    name: str,
) -> tuple[MeshSlopes, Array]:
    """Derivatives in an input, and displacements (total,) per unit of it, that two differences
    agree on.
    """
    pairs = [
        (slopes, response.solve(-slopes.balance()))
        for slopes in (MeshSlopes(problem, found.q, found.z, values, name, [x]) for x in _STEPS[:2])
    ]
    for step in (*_STEPS[2:], None):
        one, other = (x for _, x in pairs[-2:])
        if np.linalg.norm(one - other) <= _AGREE * np.linalg.norm(one):
            return pairs[-2]
        if step is not None:
            slopes = MeshSlopes(problem, found.q, found.z, values, name, [step])
            pairs.append((slopes, response.solve(-slopes.balance())))
    raise ConvergenceError(_none(name, problem.description.settled_inputs()[name]))


def input_slopes(
    problem: CoordinateProblem,
    response: Response,
    found: StaticSolution,
    values: Mapping[str, Any],
    names: Sequence[str],
    exact: bool = False,
) -> tuple[Array, dict[int, MeshSlopes]]:
    """Displacements (total, n) per unit of some inputs as `Response.input_rates`, those that are
    compiled among them; and for the columns of the latter, what frames do besides.

    exact : whether two differences have to agree on each.
    """
    fixed = problem.description.settled_inputs()
    columns: list[Array] = []
    meshes: dict[int, MeshSlopes] = {}
    for name in names:
        if name in fixed:
            given = (problem, response, found, values, name)
            slopes, x = certified(*given) if exact else _plain(*given)
            meshes[len(columns)] = slopes
            columns.append(x)
        else:
            columns.extend(response.input_rates(values, [name]).T)
    if not columns:
        return np.zeros((response.tree.total, 0)), {}
    return np.stack(columns, axis=1), meshes


def frame_slopes(
    response: Response, frame: Frame, rates: Array, meshes: Mapping[int, MeshSlopes]
) -> tuple[Array, Array]:
    """World pose (4, 4) of a frame, and its body twists (6, n) per unit of the inputs."""
    pose, rows = response.frame_rates(frame)
    twists = rows @ rates
    for column, slopes in meshes.items():
        twists[:, column] += slopes.twist(frame, pose)
    return pose, twists
