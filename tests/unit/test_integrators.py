"""Time integrators: Newton and Euler at every section, order, energy books, momenta, constraints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.joints.free import Free
from pliant.joints.revolute import Revolute
from pliant.lie import se3
from pliant.model import (
    BaseMotion,
    Body,
    Circle,
    Constraint,
    ConvergenceError,
    Description,
    DescriptionError,
    Load,
    Material,
    Rod,
    along,
    pose,
)
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs, effects_of
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array, Formulation
from pliant.rods.hermite import Hermite
from pliant.rods.strain import Strain
from pliant.solve.energy import potential
from pliant.solve.integrators.contract import Integrator, Stepper
from pliant.solve.integrators.midpoint import Midpoint
from pliant.solve.integrators.newmark import GeneralizedAlpha, ImplicitEuler, Newmark
from pliant.solve.integrators.variational import Variational
from pliant.solve.linearise import linearise
from pliant.solve.load_steps import StaticSolver
from pliant.solve.sampling import Sampler
from pliant.tree.state import State
from pliant.tree.work import Work
from tests.unit.test_tree_assembly import Cardan, Screw

ALL = [Midpoint(), Variational(), Newmark(), GeneralizedAlpha(0.8), ImplicitEuler()]
GRAVITY = (0.0, 1.0, -9.81)
INSTANT = 1e-9
"""A step (s) that resolves every mode, for accelerations as they are."""


def take_step(stepper: Stepper, inputs: Inputs) -> None:
    """Take a step to inputs, from those that acted before."""
    drive = stepper.effects.prescribed.row(inputs.drive)
    stepper.take(np.concatenate([inputs.u, drive])[None])


def rubber(viscosity: float = 0.0) -> Material:
    return Material(E=2e5, nu=0.45, rho=1000.0, viscosity=viscosity)


def arm(viscosity: float = 0.0, **more: object) -> Rod:
    more = {"pose": along("x"), "natural": (0.5, 0.0, 0.3), **more}
    return Rod("arm", 0.5, Circle((0.06, 0.04)), rubber(viscosity), **more)


def twig(base: object, viscosity: float = 0.0, **more: object) -> Rod:
    return Rod("twig", 0.3, Circle(0.03), rubber(viscosity), base=base, **more)


def single(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    description.add(arm(viscosity))
    return description


def chained(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    description.add(twig(description.add(arm(viscosity)).tip, viscosity))
    return description


def mounted(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    on = description.add(arm(viscosity)).at(0.2, offset=(0.05, 0.01))
    description.add(twig(on, viscosity, pose=pose(rotation=(0.5, -0.3, 0.8))))
    return description


def flying(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    description.add(arm(viscosity, base=None))
    return description


def held(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    rod = description.add(arm(viscosity, base=None))
    description.add(Constraint("pin", rod.base_frame, kind="articulated"))
    description.add(Constraint("ring", rod.at(0.3, offset=(0.02, 0)), hold=("x", "rz")))
    return description


def held_branch(viscosity: float) -> Description:
    description = mounted(viscosity)
    description.add(Constraint("held", description.rods["twig"].tip, hold=("x", "y")))
    return description


def laden(viscosity: float) -> Description:
    """Bodies with offset centres and products of inertia, one of them on a mounted rod."""
    description = mounted(viscosity)
    on = description.rods["arm"].at(0.4, offset=(0.02, 0.01))
    tensor = (4e-4, 5e-4, 6e-4, 1e-4, -5e-5, 2e-5)
    description.add(Body("payload", 0.4, tensor, on, centre=(0.01, -0.02, 0.03)))
    description.add(Body("tool", 0.2, (1e-4, 2e-4, 2e-4), description.rods["twig"].tip))
    return description


def resisted(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    rod = description.add(arm(viscosity, drag=(30.0, 50.0, 10.0), mass_damping=2.0))
    description.add(Body("tool", 0.5, (1e-4, 2e-4, 2e-4), rod.tip, centre=(0, 0, 0.05)))
    return description


def driven(viscosity: float) -> Description:
    """A base that is shifted and turned by two inputs, with a rod, a body and a pin on the way."""
    description = laden(viscosity)
    description.add(BaseMotion("shake", "arm", (0.1, 0.2, 1.0), (0.3, 0.5, -0.2)))
    description.add(BaseMotion("turn", "arm", rotation=(0.0, 1.0, 0.4)))
    return description


def driven_and_held(viscosity: float) -> Description:
    description = driven(viscosity)
    description.add(Constraint("held", description.rods["twig"].tip, hold=("x", "y")))
    return description


TENSOR = (4e-4, 5e-4, 6e-4, 1e-4, -5e-5, 2e-5)


def link(on: object, joint: object, name: str = "link") -> Body:
    place = pose((0.01, 0.0, 0.02), (0.5, -0.3, 0.8))
    return Body(name, 0.4, TENSOR, on, (0.01, -0.02, 0.03), place, joint)


def hinged(viscosity: float) -> Description:
    """Hinges with springs and dampers at the root, under a body and under the rod that it carries."""
    description = Description(gravity=GRAVITY)
    damping = 1e-3 * viscosity
    rod = description.add(arm(viscosity, joint=Revolute("x", 3.0, damping)))
    body = description.add(link(rod.tip, Revolute("y", 1.0, damping)))
    on = body.at((0.0, 0.02, 0.05), (0.4, 0.0, -0.7))
    description.add(twig(on, viscosity, joint=Revolute("z", 0.5)))
    return description


def linkage(viscosity: float) -> Description:
    """Bodies alone carry the rod, one of them held to the world by a ball."""
    description = Description(gravity=GRAVITY)
    first = description.add(link(None, Revolute("x"), "first"))
    second = description.add(link(first.at((0.1, 0.0, 0.1)), Revolute((1.0, 2.0, 0.0)), "second"))
    third = description.add(link(second.at((0.0, 0.1, 0.1)), Revolute("z"), "third"))
    description.add(twig(third.at((0.0, 0.02, 0.05), (0.4, 0.0, -0.7)), viscosity))
    description.add(Constraint("ring", third.at((0.05, 0.0, 0.0)), hold=("x",)))
    return description


def flying_tree(viscosity: float, gravity: tuple[float, ...] = GRAVITY) -> Description:
    """A free body, a hinged one on it, and a rod on that."""
    description = Description(gravity=gravity)
    root = description.add(link(None, Free(), "root"))
    body = description.add(link(root.at((0.1, 0.0, 0.1), (0.2, 0.1, 0.0)), Revolute("y", 0.2)))
    description.add(twig(body.at((0.0, 0.02, 0.05), (0.4, 0.0, -0.7)), viscosity))
    return description


def driven_hinges(viscosity: float) -> Description:
    """Angles prescribed at the root and between a rod and a body that carries another rod."""
    description = Description(gravity=GRAVITY)
    rod = description.add(arm(viscosity, joint=Revolute("y", drive="angle", input="tilt")))
    body = description.add(link(rod.tip, Revolute("x", 0.1, drive="angle")))
    description.add(twig(body.at((0.0, 0.02, 0.05), (0.4, 0.0, -0.7)), viscosity))
    return description


def own_joints(viscosity: float) -> Description:
    """A user's joints, whose curvature and bias are differences."""
    description = Description(gravity=GRAVITY)
    rod = description.add(arm(viscosity, joint=Screw(0.1, 3.0)))
    body = description.add(link(rod.tip, Cardan(1.0)))
    description.add(twig(body.at((0.0, 0.02, 0.05), (0.4, 0.0, -0.7)), viscosity))
    return description


ROBOTS: dict[str, tuple[Callable[[float], Description], dict[str, Formulation]]] = {
    "spline": (single, {"arm": BSpline(3, 5)}),
    "linear-spline": (single, {"arm": BSpline(1, 4)}),
    "hermite": (single, {"arm": Hermite(2)}),
    "strain": (single, {"arm": Strain(1, 2)}),
    "chained": (chained, {"arm": BSpline(2, 4), "twig": Hermite(1)}),
    "mounted": (mounted, {"arm": BSpline(3, 5), "twig": BSpline(2, 4)}),
    "mounted-on-strain": (mounted, {"arm": Strain(1, 1), "twig": BSpline(2, 4)}),
    "flying": (flying, {"arm": BSpline(3, 5)}),
    "held": (held, {"arm": BSpline(3, 5)}),
    "held-branch": (held_branch, {"arm": BSpline(2, 4), "twig": BSpline(2, 4)}),
    "laden": (laden, {"arm": BSpline(3, 5), "twig": Hermite(1)}),
    "laden-strain": (laden, {"arm": Strain(1, 2), "twig": Strain(1, 1)}),
    "resisted": (resisted, {"arm": BSpline(3, 5)}),
    "resisted-hermite": (resisted, {"arm": Hermite(2)}),
    "driven": (driven, {"arm": BSpline(3, 5), "twig": BSpline(2, 4)}),
    "driven-strain": (driven, {"arm": Strain(1, 2), "twig": Hermite(1)}),
    "driven-and-held": (driven_and_held, {"arm": BSpline(2, 4), "twig": BSpline(2, 4)}),
    "hinged": (hinged, {"arm": BSpline(3, 5), "twig": Hermite(1)}),
    "hinged-strain": (hinged, {"arm": Strain(1, 2), "twig": Strain(0, 2)}),
    "linkage": (linkage, {"twig": BSpline(2, 4)}),
    "flying-tree": (flying_tree, {"twig": BSpline(2, 4)}),
    "driven-hinges": (driven_hinges, {"arm": BSpline(2, 4), "twig": Strain(0, 2)}),
    "own-joints": (own_joints, {"arm": BSpline(2, 4), "twig": Strain(0, 2)}),
}


class Moving:
    """A bent robot with velocity, and the acceleration that an integrator starts with."""

    def __init__(self, name: str, viscosity: float, speed: float = 0.5, size: float = 0.03) -> None:
        build, formulations = ROBOTS[name]
        self.description = build(viscosity)
        rod = list(self.description.rods.values())[-1]
        self.description.add(Load("dead", rod.tip, force=(0.5, 0.3, 0.1)))
        follower = Load("follower", rod.at(0.2), moment=(0.05, 0, 0.02), frame="body")
        self.description.add(follower)
        self.effects = effects_of(self.description, formulations)
        self.tree = self.effects.tree
        drive = np.array([(0.1, 0.7, -3.0), (-0.2, 0.4, 5.0)])
        inputs = self.effects.at({})
        self.inputs = Inputs(inputs.u, drive[: len(inputs.drive)])
        self.q = bend(self.effects, size)
        known = self.effects.prescribed.rates(self.inputs.drive)[0]
        self.v = allowed(self.effects, self.q, speed, known)
        stepper = Newmark().stepper(self.effects, INSTANT)
        stepper.start(self.q, self.v, self.inputs)
        self.acc = stepper.acc.copy()
        at = self.tree.prescribed
        self.pushed = float(stepper._reaction[at] @ self.v[at])
        """Power that goes in through prescribed joints, W."""
        self.instant = float(np.sqrt(4e-7 / np.max(np.abs(self.acc))))
        """A time (s) short enough for differences along `path`."""

    def at(self, x: Array) -> Array:
        return self.tree.moved(self.state(self.q), x, newton=False)

    def state(self, q: Array) -> State:
        return State(self.tree).place(q)

    def path(self, t: float) -> Array:
        """Configuration that leaves q with rates v and accelerations acc."""
        return self.at(t * self.v + 0.5 * t * t * self.acc)

    def poses(self, q: Array) -> list[Array]:
        """Of all stations with inertia: sections, then bodies."""
        return [at.g[: at.part.inertial] for at in self.state(q).parts]

    def strains(self, q: Array) -> list[Array]:
        return [at.strain.e for at in self.state(q).parts]


def bend(effects: Effects, size: float) -> Array:
    """A bent configuration that keeps the constraints."""
    tree, rng = effects.tree, np.random.default_rng(3)
    x = np.zeros(tree.total)
    x[_in_order(effects)] = size * rng.normal(size=tree.total)
    q = tree.moved(tree.rest, x, newton=False)
    for _ in range(20):
        gap, A = gaps(effects, q)
        if np.max(np.abs(gap), initial=0) < 1e-13:
            break
        x, free = np.zeros(tree.total), tree.coordinates
        x[free] = -np.linalg.pinv(A[:, free]) @ gap
        q = tree.moved(State(tree).place(q), x, newton=False)
    return q


def _in_order(effects: Effects) -> Array:
    """All numbers, from the root on: prescribed ones first."""
    return np.concatenate([effects.tree.prescribed, np.arange(effects.tree.size)])


def allowed(effects: Effects, q: Array, size: float, known: Array | None = None) -> Array:
    """Random rates that keep the constraints; prescribed ones are `known` (total,), by default zero."""
    tree = effects.tree
    v, free = np.zeros(tree.total), tree.coordinates
    v[_in_order(effects)] = size * np.random.default_rng(4).normal(size=tree.total)
    v[np.setdiff1d(np.arange(tree.total), free)] = 0.0
    if known is not None:
        v[tree.prescribed] = known[tree.prescribed]
    if tree.m:
        _, A = gaps(effects, q)
        v[free] -= np.linalg.pinv(A[:, free]) @ (A @ v)
    return v


def gaps(effects: Effects, q: Array) -> tuple[Array, Array]:
    """Gaps (m,) of the constraints and their derivative (m, total), by differences."""
    tree = effects.tree
    terms = [term for term in effects.hard if term.rows[0] >= tree.n]

    def at(x: Array) -> Array:
        state = State(tree).place(q)
        state.place(tree.moved(state, x, newton=False))
        return np.concatenate([np.zeros(0), *(term.gaps(state) for term in terms)])

    A = np.zeros((tree.m, tree.total))
    if tree.m:
        for a in np.concatenate([tree.coordinates, tree.prescribed]):
            x = np.eye(tree.total)[a] * 1e-5
            A[:, a] = (at(x) - at(-x)) / 2e-5
    return at(np.zeros(tree.total)), A


# -- mechanics of the acceleration ----------------------------------------------------------------


@pytest.mark.parametrize("viscosity", [0.0, 200.0], ids=["elastic", "damped"])
@pytest.mark.parametrize("name", list(ROBOTS))
def test_inertia_is_the_rate_of_momentum_of_every_section(name: str, viscosity: float) -> None:
    """d'Alembert in every allowed direction, with poses at three instants and nothing else.

    Forces of inertia come from the world momenta of the sections, elastic and dead forces from the
    potential, damping from the dissipation; constraint forces do no work.
    """
    case = Moving(name, viscosity)
    h = case.instant
    a, b, c = (case.poses(case.path(t)) for t in (-h, 0.0, h))
    directions = [allowed(case.effects, case.q, 1.0)]
    for z in directions:
        work = potential_slope(case, z) + damping_work(case, z) - follower_work(case, z)
        work -= resistance_work(case, z)
        size = abs(work)
        inertial = 0.0
        for part, before, now, after, shift in zip(
            case.tree.parts, a, b, c, virtual_motion(case, z), strict=True
        ):
            rate = sections_momentum_rate(part.M, before, now, after, h)
            inertial += float(np.sum(rate * shift))
        size = max(size, abs(inertial))
        assert inertial + work == pytest.approx(0.0, abs=2e-5 * size)


def sections_momentum_rate(mass: Array, a: Array, b: Array, c: Array, h: float) -> Array:
    """World rates of angular (about each centre) and linear momentum, (Q, 6)."""
    first, second = se3.log(se3.inverse(a) @ b) / h, se3.log(se3.inverse(b) @ c) / h
    spin = []
    for g, eta in ((a, first), (b, second)):
        # body angular momentum in the middle of the interval, seen in the world
        middle = g @ se3.exp(0.5 * h * eta)
        spin.append(np.einsum("sij,sj->si", middle[:, :3, :3], mass[:, :3] * eta[:, :3]))
    linear = mass[:, 3:] * (a[:, :3, 3] - 2 * b[:, :3, 3] + c[:, :3, 3]) / h**2
    return np.concatenate([(spin[1] - spin[0]) / h, linear], axis=1)


def virtual_motion(case: Moving, z: Array) -> list[Array]:
    """World rotations and displacements of the sections along z, per unit of z."""
    h = 1e-5
    behind, ahead = (case.poses(case.at(sign * h * z)) for sign in (-1, 1))
    out = []
    for a, b in zip(behind, ahead, strict=True):
        turn = se3.log(se3.inverse(a) @ b)[:, :3] / (2 * h)
        turn = np.einsum("sij,sj->si", a[:, :3, :3], turn)
        out.append(np.concatenate([turn, (b - a)[:, :3, 3] / (2 * h)], axis=1))
    return out


def energy_of(case: Moving, q: Array) -> float:
    """Potential energy at q, J."""
    return sum(potential(case.effects, case.state(q), case.inputs).values())


def potential_slope(case: Moving, z: Array) -> float:
    h = 1e-5
    ends = [energy_of(case, case.at(sign * h * z)) for sign in (-1, 1)]
    return (ends[1] - ends[0]) / (2 * h)


def damping_work(case: Moving, z: Array) -> float:
    """Bilinear form of the dissipation between the strain rates of v and of z."""
    h = 1e-5
    rates = []
    for x in (case.v, z):
        behind, ahead = (case.strains(case.at(sign * h * x)) for sign in (-1, 1))
        rates.append([(b - a) / (2 * h) for a, b in zip(behind, ahead, strict=True)])
    total = 0.0
    for sign in (1.0, -1.0):
        mixed = [rate + sign * virtual for rate, virtual in zip(*rates, strict=True)]
        total += 0.25 * sign * dissipation(case, mixed, case.v + sign * z)
    return total


def dissipation(case: Moving, rates: list[Array], v: Array) -> float:
    """Power lost at strain rates (S, 6) of each part and rates v (total,) of joints."""
    work = Work(case.tree)
    for w, rate in zip(work.parts, rates, strict=True):
        w.rate[...] = rate
    moment = Moment(
        case.tree, case.state(case.q), work, case.inputs.u, np.zeros(case.tree.total), v
    )
    return sum(term.power_lost(moment) for term in case.effects.terms)


def resistance_work(case: Moving, z: Array) -> float:
    """Virtual work along z of drag and mass damping at the rates v, as they are described."""
    total, sampler = 0.0, Sampler(case.effects)
    for rod in case.description.rods.values():
        s, w = case.tree.part(rod.name).map.mass_rule()
        eta, shift = (sampler.velocities(case.q, x, rod.name, s) for x in (case.v, z))
        density = -rod.mass_damping * rod.inertia(s) * eta
        density[:, 3:] -= rod.drag_coefficients() * eta[:, 3:] * np.abs(eta[:, 3:])
        total += float(np.sum(w[:, None] * density * shift))
    return total


def follower_work(case: Moving, z: Array) -> float:
    rod = list(case.description.rods)[-1]
    twist = Sampler(case.effects).velocities(case.q, z, rod, np.array([0.2]))[0]
    return float(twist[:3] @ (0.05, 0, 0.02))


@pytest.mark.parametrize("name", ["held", "held-branch", "driven-and-held", "linkage"])
def test_the_first_acceleration_keeps_the_constraints(name: str) -> None:
    """The centripetal part too: a pinned frame that turns is held on its circle."""
    case = Moving(name, 0.0, speed=5.0)
    h = case.instant
    values = [gaps(case.effects, case.path(t))[0] for t in (-h, 0.0, h)]
    rate = (values[2] - values[0]) / (2 * h)
    second = (values[0] - 2 * values[1] + values[2]) / h**2
    steady = [gaps(case.effects, case.at(t * case.v))[0] for t in (-h, 0.0, h)]
    centripetal = (steady[0] - 2 * steady[1] + steady[2]) / h**2
    assert np.max(np.abs(centripetal)) > 1.0
    assert rate == pytest.approx(0.0, abs=1e-4)
    assert second == pytest.approx(0.0, abs=1e-2 * np.max(np.abs(centripetal)))


@pytest.mark.parametrize("viscosity", [0.0, 200.0], ids=["elastic", "damped"])
@pytest.mark.parametrize("name", list(ROBOTS))
def test_power_is_balanced_at_every_instant(name: str, viscosity: float) -> None:
    """Along the exact acceleration, energy changes by what loads do and damping takes."""
    case = Moving(name, viscosity)
    h = d = case.instant
    energies = []
    for t in (-h, h):
        behind, ahead = case.poses(case.path(t - d)), case.poses(case.path(t + d))
        kinetic = 0.0
        for part, a, b in zip(case.tree.parts, behind, ahead, strict=True):
            eta = se3.log(se3.inverse(a) @ b) / (2 * d)
            kinetic += 0.5 * float(np.sum(part.M * eta**2))
        energies.append(kinetic + energy_of(case, case.path(t)))
    gain = (energies[1] - energies[0]) / (2 * h)
    power = follower_work(case, case.v) - damping_work(case, case.v)
    power += resistance_work(case, case.v) + case.pushed
    size = abs(potential_slope(case, case.v)) + abs(power)
    assert gain == pytest.approx(power, abs=1e-4 * size)


# -- the discrete Lagrangian ----------------------------------------------------------------------


def discrete_lagrangian(case: Moving, a: Array, b: Array, h: float, implicit: bool) -> float:
    """Action of a step from a to b: kinetic energy of the screws between them, less the potential."""
    poses, strains, loads = [], [], []
    for q in (a, b):
        poses.append(case.poses(q))
        strains.append(case.strains(q))
        energies = potential(case.effects, case.state(q), case.inputs)
        loads.append(energies["gravity"] + energies["loads"])
    action = -0.5 * h * sum(loads) if implicit else -h * loads[0]
    # joints with springs here have coordinates that add up, as strains do
    middle = case.state(a)
    middle.q = 0.5 * (a + b) if implicit else a
    for i, part in enumerate(case.tree.parts):
        eta = se3.log(se3.inverse(poses[0][i]) @ poses[1][i]) / h
        action += 0.5 * h * float(np.sum(part.M * eta**2))
        mean = 0.5 * (strains[0][i] + strains[1][i]) if implicit else strains[0][i]
        middle.parts[i].strain.e[...] = mean
    return action - h * potential(case.effects, middle, case.inputs)["elastic"]


@pytest.mark.parametrize(
    "integrator", [Midpoint(tolerance=1e-12), Variational(tolerance=1e-12)], ids=repr
)
@pytest.mark.parametrize(
    "name",
    [
        "spline",
        "linear-spline",
        "hermite",
        "strain",
        "chained",
        "mounted",
        "flying",
        "laden",
        "hinged",
        "flying-tree",
        "own-joints",
    ],
)
def test_momenta_are_the_derivatives_of_the_discrete_lagrangian(
    name: str, integrator: Integrator
) -> None:
    """What leaves a is -D1 Ld, what arrives at b is D2 Ld: eqs. 54-55 by differences."""
    case = Moving(name, 0.0)
    case.inputs = case.effects.at({"follower": 0.0})
    implicit = isinstance(integrator, Midpoint)
    h = 2e-3 if implicit else 2e-4
    stepper = integrator.stepper(case.effects, h)
    stepper.start(case.q, case.v, case.inputs)
    start, leaving = case.q, stepper.p.copy()
    take_step(stepper, case.inputs)
    end, arriving = stepper.q.copy(), stepper.p.copy()
    z, step = allowed(case.effects, case.q, 1.0), 1e-5

    def slope(at: Array, action: Callable[[Array], float]) -> float:
        here = case.state(at)
        values = [action(case.tree.moved(here, sign * step * z, newton=False)) for sign in (1, -1)]
        return (values[0] - values[1]) / (2 * step)

    first = slope(start, lambda q: discrete_lagrangian(case, q, end, h, implicit))
    second = slope(end, lambda q: discrete_lagrangian(case, start, q, h, implicit))
    size = np.linalg.norm(leaving) * np.linalg.norm(z)
    assert leaving @ z == pytest.approx(-first, abs=1e-6 * size)
    assert arriving @ z == pytest.approx(second, abs=1e-6 * size)


# -- order ----------------------------------------------------------------------------------------


class Swing:
    """A driven, damped arm under gravity with initial velocity, smooth at the steps used."""

    def __init__(self, formulation: Formulation, theory: str, viscosity: float = 150.0) -> None:
        description = Description(gravity=GRAVITY)
        rod = description.add(arm(viscosity, theory=theory))
        description.add(Load("push", rod.tip, force=(0.0, 1.0, 0.5)))
        description.add(Load("turn", rod.at(0.3), moment=(0.05, 0, 0.05), frame="body"))
        self.effects = effects_of(description, {"arm": formulation})
        self.q = bend(self.effects, 0.0)
        self.v = np.zeros(self.effects.tree.total)
        free = self.effects.tree.coordinates
        smooth = np.arange(1, len(free) // 6 + 1) / max(1, len(free) // 6)
        if isinstance(formulation, Strain):
            self.v[free] = np.random.default_rng(0).normal(size=len(free))
        else:  # every control pose swings sideways, further out faster
            rates = np.outer(smooth**2, (0.5, 0.3, 0.2, 0.1, 0.3, 0.0))
            self.v[free] = rates.ravel()

    def inputs(self, t: float) -> Inputs:
        return self.effects.at({"push": np.sin(20.0 * t), "turn": np.cos(15.0 * t)})

    def run(self, integrator: Integrator, h: float, duration: float) -> Stepper:
        stepper = integrator.stepper(self.effects, h)
        before = self.inputs(0.0)
        stepper.start(self.q, self.v, before)
        for k in range(round(duration / h)):
            after = self.inputs((k + 1) * h)
            take_step(stepper, after)
            before = after
        return stepper

    def state(self, stepper: Stepper) -> Array:
        """Poses and velocities of sections at the end."""
        sampler, s = Sampler(self.effects), np.array([0.2, 0.5])
        poses = sampler.poses(stepper.q, "arm", s)
        twists = sampler.velocities(stepper.q, stepper.velocity(), "arm", s)
        return np.concatenate([poses.ravel(), 0.05 * twists.ravel()])

    def energy(self, q: Array, v: Array) -> float:
        """Kinetic, elastic and gravitational energy."""
        none, tree = self.effects.at({"push": 0.0, "turn": 0.0}), self.effects.tree
        M = linearise(self.effects, q, np.zeros(tree.total), none)[1]
        stored = potential(self.effects, State(tree).place(q), none)
        return 0.5 * float(v @ (M @ v)) + sum(stored.values())


@pytest.fixture(scope="module")
def kirchhoff() -> Swing:
    return Swing(Strain(1, 1), "kirchhoff")


@pytest.fixture(scope="module")
def kirchhoff_reference(kirchhoff: Swing) -> Array:
    return kirchhoff.state(kirchhoff.run(Midpoint(tolerance=1e-11), 2e-4, 0.1))


@pytest.mark.parametrize(
    ("integrator", "order"),
    [
        (Midpoint(), 2),
        (Newmark(), 2),
        (GeneralizedAlpha(0.8), 2),
        (GeneralizedAlpha(0.0), 2),
        (ImplicitEuler(), 1),
        (Variational(), 1),
    ],
    ids=repr,
)
def test_order_on_a_smooth_motion(
    kirchhoff: Swing, kirchhoff_reference: Array, integrator: Integrator, order: int
) -> None:
    """Poses and velocities of sections, driven and damped; `Variational` is of first order."""
    fine = 4.0 if order == 2 else 1.0
    errors = []
    for h in (fine * 1e-3, fine * 5e-4, fine * 2.5e-4):
        state = kirchhoff.state(kirchhoff.run(integrator, h, 0.1))
        errors.append(float(np.linalg.norm(state - kirchhoff_reference)))
    orders = np.log2(errors[:-1] / np.array(errors[1:]))
    assert orders == pytest.approx([order, order], abs=0.25)


@pytest.mark.parametrize("integrator", [Midpoint(), Newmark(), GeneralizedAlpha(0.8)], ids=repr)
def test_order_two_for_a_damped_spline_with_force_fields(integrator: Integrator) -> None:
    swing = Swing(BSpline(2, 4), "cosserat", viscosity=300.0)
    reference = swing.state(swing.run(Midpoint(tolerance=1e-11), 2.5e-5, 0.02))
    errors = []
    for h in (1e-3, 5e-4, 2.5e-4):
        state = swing.state(swing.run(integrator, h, 0.02))
        errors.append(float(np.linalg.norm(state - reference)))
    orders = np.log2(errors[:-1] / np.array(errors[1:]))
    assert np.all(orders > 1.7)


# -- books ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("integrator", "order"),
    [
        (Midpoint(), 2),
        (Newmark(), 2),
        (GeneralizedAlpha(0.8), 2),
        (ImplicitEuler(), 1),
        (Variational(), 1),
    ],
    ids=repr,
)
def test_energy_books_close(kirchhoff: Swing, integrator: Integrator, order: int) -> None:
    """Energy at the end = energy at the start + work of the inputs - dissipated energy."""
    start = kirchhoff.energy(kirchhoff.q, kirchhoff.v)
    fine = 2.0 if order == 2 else 0.5
    lost = []
    for h in (fine * 1e-3, fine * 5e-4):
        stepper = kirchhoff.run(integrator, h, 0.1)
        end = kirchhoff.energy(stepper.q, stepper.velocity())
        assert stepper.account[1] > 2e-3
        assert abs(stepper.account[0]) > 2e-4
        turned_over = abs(stepper.account[0]) + stepper.account[1]
        lost.append(abs(end - start - stepper.account[0] + stepper.account[1]) / turned_over)
    assert lost[1] < (1e-3 if order == 2 else 0.2)
    assert lost[0] / lost[1] > 0.8 * 2**order


# -- what must be kept ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "integrator", [Midpoint(), Newmark(), GeneralizedAlpha(0.8), ImplicitEuler()], ids=repr
)
@pytest.mark.parametrize("name", ["held", "held-branch", "linkage"])
def test_constraints_hold_at_position_level(name: str, integrator: Integrator) -> None:
    case = Moving(name, 100.0, size=0.01)
    stepper = integrator.stepper(case.effects, 1e-3)
    stepper.start(case.q, case.v, case.inputs)
    worst = 0.0
    for _ in range(60):
        take_step(stepper, case.inputs)
        gap, _ = gaps(case.effects, stepper.q)
        worst = max(worst, float(np.max(np.abs(gap))))
    _, A = gaps(case.effects, stepper.q)
    assert worst < 1e-9
    assert np.max(np.abs(stepper.q - case.q)) > 1e-2
    if isinstance(integrator, Midpoint):
        assert A @ stepper.velocity() == pytest.approx(0.0, abs=1e-6)


def spatial_momentum(effects: Effects, q: Array, v: Array) -> Array:
    """Angular (about the world origin) and linear momentum of all sections and bodies, world frame."""
    sampler, tree = Sampler(effects), effects.tree
    total = np.zeros(6)
    for rod in tree.description.rods.values():
        s, w = tree.part(rod.name).map.mass_rule()
        g, eta = sampler.poses(q, rod.name, s), sampler.velocities(q, v, rod.name, s)
        momentum = rod.inertia(s) * w[:, None] * eta
        total += np.einsum("sji,sj->i", se3.Ad(se3.inverse(g)), momentum)
    for body in tree.description.bodies.values():
        centre = pose(body.centre)
        g = sampler.poses(q, body.name, np.zeros(1))[0] @ centre
        twist = sampler.velocities(q, v, body.name, np.zeros(1))[0]
        twist = se3.Ad(se3.inverse(centre)) @ twist
        momentum = np.concatenate([body.inertia @ twist[:3], body.mass * twist[3:]])
        total += se3.Ad(se3.inverse(g)).T @ momentum
    return total


@pytest.mark.parametrize(
    "integrator", [Midpoint(tolerance=1e-11), Variational(tolerance=1e-11)], ids=repr
)
@pytest.mark.parametrize("bodies", [False, True], ids=["rod", "tree"])
@pytest.mark.parametrize("formulation", [BSpline(3, 5), Hermite(2), Strain(1, 2)], ids=repr)
def test_a_free_robot_keeps_its_momenta(
    formulation: Formulation, bodies: bool, integrator: Integrator
) -> None:
    """Variational integrators inherit the symmetry of the Lagrangian, whatever the step."""
    description = Description(gravity=(0, 0, 0))
    if bodies:
        description = flying_tree(0.0, (0, 0, 0))
    else:
        description.add(arm(base=None))
    effects = effects_of(description, dict.fromkeys(description.rods, formulation))
    inputs = effects.at({})
    q = bend(effects, 0.03)
    v = allowed(effects, q, 0.5)
    stepper = integrator.stepper(effects, 2e-4 if isinstance(integrator, Variational) else 1e-3)
    stepper.start(q, v, inputs)
    before = spatial_momentum(effects, q, v)
    for _ in range(20):
        take_step(stepper, inputs)
    after = spatial_momentum(effects, stepper.q, stepper.velocity())
    assert after == pytest.approx(before, abs=1e-8 * np.linalg.norm(before))
    assert np.max(np.abs(stepper.q - q)) > 1e-3


@pytest.mark.parametrize("integrator", ALL, ids=repr)
def test_the_base_of_a_flying_rod_stays_a_pose_and_falls_like_a_stone(
    integrator: Integrator,
) -> None:
    """A hundred steps of a spinning throw: rotations stay rotations, the centre of mass falls."""
    description = Description(gravity=(0, 0, -9.81))
    rod = description.add(arm(base=None, natural=(0, 0, 0)))
    effects = effects_of(description, {"arm": Strain(0, 1)})
    tree, inputs = effects.tree, effects.at({})
    v = np.zeros(tree.total)
    v[tree.parts[0].joint_index] = (3.0, 1.0, 0.5, 0.2, 0.1, 0.3)
    h, steps = (2e-4 if isinstance(integrator, Variational) else 1e-3), 100
    stepper = integrator.stepper(effects, h)
    stepper.start(tree.q_rest, v, inputs)
    start, speed = centre_of_mass(effects, tree.q_rest), spatial_momentum(effects, tree.q_rest, v)
    for _ in range(steps):
        take_step(stepper, inputs)
    turn = State(tree).place(stepper.q).parts[0].c.base[:3, :3]
    assert turn.T @ turn == pytest.approx(np.eye(3), abs=1e-12)
    mass = float(tree.parts[0].M[:, 3].sum())
    t = h * steps
    fallen = start + t * speed[3:] / mass + 0.5 * t * t * np.array((0, 0, -9.81))
    slack = 9.81 * t * h + 1e-6  # an error of first order in the step at most
    assert centre_of_mass(effects, stepper.q) == pytest.approx(fallen, abs=slack)
    assert np.linalg.norm(turn - rod.pose[:3, :3]) > 0.05


def centre_of_mass(effects: Effects, q: Array) -> Array:
    part, at = effects.tree.parts[0], State(effects.tree).place(q).parts[0]
    mass = part.M[: len(part.mass_w), 3]
    return mass @ at.mass.g[:, :3, 3] / mass.sum()


def test_at_rest_in_equilibrium_nothing_moves() -> None:
    description = single(0.0)
    effects = effects_of(description, {"arm": BSpline(3, 5)})
    inputs = effects.at({})
    found = StaticSolver(effects).solve(inputs)
    for integrator in ALL:
        stepper = integrator.stepper(effects, 1e-4 if isinstance(integrator, Variational) else 1e-2)
        stepper.start(found.q, np.zeros(effects.tree.total), inputs)
        for _ in range(5):
            take_step(stepper, inputs)
        assert stepper.q == pytest.approx(found.q, abs=1e-7)
        assert stepper.velocity() == pytest.approx(0.0, abs=1e-5)
        assert stepper.account[1] == 0.0


def test_a_failed_step_leaves_the_state_as_it_was() -> None:
    """The explicit integrator far beyond its limit of stability."""
    case = Moving("spline", 0.0)
    stepper = Variational().stepper(case.effects, 0.5)
    stepper.start(case.q, case.v, case.inputs)
    with pytest.raises(ConvergenceError, match="dt"):
        for _ in range(50):
            before = stepper.q.copy()
            take_step(stepper, case.inputs)
    assert np.array_equal(stepper.q, before)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (lambda: Newmark(beta=0.0), "beta"),
        (lambda: Newmark(beta="large"), "beta"),  # type: ignore[arg-type]
        (lambda: Newmark(tolerance=0.0), "tolerance"),
        (lambda: Midpoint(tolerance=-1.0), "tolerance"),
        (lambda: Newmark(gamma=0.4), "gamma"),
        (lambda: GeneralizedAlpha(rho=1.2), "rho"),
    ],
)
def test_settings_outside_their_range_are_refused(
    settings: Callable[[], Integrator], message: str
) -> None:
    with pytest.raises(DescriptionError, match=message):
        settings()
