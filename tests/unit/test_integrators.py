"""Time integrators: Newton and Euler at every section, order, energy books, momenta, constraints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pliant.linalg.driving import base_twists
from pliant.linalg.energy import potential
from pliant.linalg.loading import Loading, make_loading
from pliant.linalg.matricesise import linearise
from pliant.linalg.sampling import Sampler
from pliant.linalg.system import System

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
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array, Formulation
from pliant.rods.hermite import Hermite
from pliant.rods.strain import Strain
from pliant.solve.integrators.contract import Integrator, Stepper
from pliant.solve.integrators.midpoint import Midpoint, Variational
from pliant.solve.integrators.newmark import GeneralizedAlpha, ImplicitEuler, Newmark
from pliant.solve.statics import StaticSolver

ALL = [Midpoint(), Variational(), Newmark(), GeneralizedAlpha(0.8), ImplicitEuler()]
GRAVITY = (0.0, 1.0, -9.81)
INSTANT = 1e-9
"""A step (s) that resolves every mode, for accelerations as they are."""


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
}


class Moving:
    """A bent robot with velocity, and the acceleration that an integrator starts with."""

    def __init__(self, name: str, viscosity: float, speed: float = 0.5) -> None:
        build, formulations = ROBOTS[name]
        self.description = build(viscosity)
        rod = list(self.description.rods.values())[-1]
        self.description.add(Load("dead", rod.tip, force=(0.5, 0.3, 0.1)))
        follower = Load("follower", rod.at(0.2), moment=(0.05, 0, 0.02), frame="body")
        self.description.add(follower)
        self.system = System(self.description, formulations)
        drive = np.array([(0.1, 0.7, -3.0), (-0.2, 0.4, 5.0)])
        self.loading = make_loading(self.system, {})
        self.loading = self.loading.moving(drive[: len(self.loading.drive)])
        self.q = bend(self.system, 0.03)
        self.v = allowed(self.system, self.q, speed, base_twists(self.system, self.loading)[0])
        stepper = Newmark().stepper(self.system, INSTANT)
        stepper.start(self.q, self.v, self.loading)
        self.acc = stepper.acc.copy()
        self.pushed = float(stepper._reaction @ self.v[self.system.driven])
        """Power that goes in through driven bases, W."""
        self.instant = float(np.sqrt(1e-7 / np.max(np.abs(self.acc))))
        """A time (s) short enough for differences along `path`."""

    def at(self, x: Array) -> Array:
        self.system.place(self.q)
        return self.system.moved(self.q, x, newton=False)

    def path(self, t: float) -> Array:
        """Configuration that leaves q with rates v and accelerations acc."""
        return self.at(t * self.v + 0.5 * t * t * self.acc)

    def poses(self, q: Array) -> list[Array]:
        self.system.place(q, mass=True)
        return [block.level.inertial.g.copy() for block in self.system.blocks]

    def strains(self, q: Array) -> list[Array]:
        self.system.place(q)
        return [block.level.strain.e.copy() for block in self.system.blocks]


def bend(system: System, size: float) -> Array:
    """A bent configuration that keeps the constraints."""
    rng = np.random.default_rng(3)
    system.place(system.q_rest)
    q = system.moved(system.q_rest, size * rng.normal(size=system.n), newton=False)
    for _ in range(20):
        gap, A = gaps(system, q)
        if np.max(np.abs(gap), initial=0) < 1e-13:
            break
        system.place(q)
        x, free = np.zeros(system.n), system.coordinates
        x[free] = -np.linalg.pinv(A[:, free]) @ gap
        q = system.moved(q, x, newton=False)
    return q


def allowed(system: System, q: Array, size: float, driven: Array | float = 0.0) -> Array:
    """Random rates that keep the constraints; bases move as `driven` says, by default not."""
    v = size * np.random.default_rng(4).normal(size=system.n)
    v[system.mode_unknowns] = 0.0
    v[system.driven] = driven
    if system.m:
        _, A = gaps(system, q)
        free = system.coordinates
        v[free] -= np.linalg.pinv(A[:, free]) @ (A @ v)
    return v


def gaps(system: System, q: Array) -> tuple[Array, Array]:
    """Gaps (m,) of the constraints and their derivative (m, n), by differences."""
    from pliant.linalg.balance import link_gaps

    def at(x: Array) -> Array:
        system.place(q)
        system.place(system.moved(q, x, newton=False))
        return link_gaps(system)

    A = np.zeros((system.m, system.n))
    if system.m:
        for a in np.concatenate([system.coordinates, system.driven]):
            x = np.eye(system.n)[a] * 1e-5
            A[:, a] = (at(x) - at(-x)) / 2e-5
    return at(np.zeros(system.n)), A


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
    directions = [allowed(case.system, case.q, 1.0)]
    for z in directions:
        work = potential_slope(case, z) + damping_work(case, z) - follower_work(case, z)
        work -= resistance_work(case, z)
        size = abs(work)
        inertial = 0.0
        for block, before, now, after, shift in zip(
            case.system.blocks, a, b, c, virtual_motion(case, z), strict=True
        ):
            mass = block.M
            rate = sections_momentum_rate(mass, before, now, after, h)
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


def potential_slope(case: Moving, z: Array) -> float:
    h = 1e-5
    ends = [sum(potential(case.system, case.at(s * h * z), case.loading).values()) for s in (-1, 1)]
    return (ends[1] - ends[0]) / (2 * h)


def damping_work(case: Moving, z: Array) -> float:
    """Bilinear form of the dissipation between the strain rates of v and of z."""
    h = 1e-5
    rates = []
    for x in (case.v, z):
        behind, ahead = (case.strains(case.at(sign * h * x)) for sign in (-1, 1))
        rates.append([(b - a) / (2 * h) for a, b in zip(behind, ahead, strict=True)])
    case.system.place(case.q)
    total = 0.0
    for block, rate, virtual in zip(case.system.blocks, *rates, strict=True):
        total += 0.25 * (block.dissipation(rate + virtual) - block.dissipation(rate - virtual))
    return total


def resistance_work(case: Moving, z: Array) -> float:
    """Virtual work along z of drag and mass damping at the rates v, as they are described."""
    total, sampler = 0.0, Sampler(case.system)
    for block in case.system.blocks:
        rod, s, w = block.rod, block.mass_s, block.mass_w
        eta, shift = (sampler.velocities(case.q, x, rod.name, s) for x in (case.v, z))
        density = -rod.mass_damping * rod.inertia(s) * eta
        density[:, 3:] -= rod.drag_coefficients() * eta[:, 3:] * np.abs(eta[:, 3:])
        total += float(np.sum(w[:, None] * density * shift))
    return total


def follower_work(case: Moving, z: Array) -> float:
    rod = list(case.description.rods)[-1]
    twist = Sampler(case.system).velocities(case.q, z, rod, np.array([0.2]))[0]
    return float(twist[:3] @ (0.05, 0, 0.02))


@pytest.mark.parametrize("name", ["held", "held-branch", "driven-and-held"])
def test_the_first_acceleration_keeps_the_constraints(name: str) -> None:
    """The centripetal part too: a pinned frame that turns is held on its circle."""
    case = Moving(name, 0.0, speed=5.0)
    h = case.instant
    values = [gaps(case.system, case.path(t))[0] for t in (-h, 0.0, h)]
    rate = (values[2] - values[0]) / (2 * h)
    second = (values[0] - 2 * values[1] + values[2]) / h**2
    steady = [gaps(case.system, case.at(t * case.v))[0] for t in (-h, 0.0, h)]
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
        for block, a, b in zip(case.system.blocks, behind, ahead, strict=True):
            eta = se3.log(se3.inverse(a) @ b) / (2 * d)
            kinetic += 0.5 * float(np.sum(block.M * eta**2))
        energies.append(kinetic + sum(potential(case.system, case.path(t), case.loading).values()))
    gain = (energies[1] - energies[0]) / (2 * h)
    power = follower_work(case, case.v) - damping_work(case, case.v)
    power += resistance_work(case, case.v) + case.pushed
    size = abs(potential_slope(case, case.v)) + abs(power)
    assert gain == pytest.approx(power, abs=1e-4 * size)


# -- the discrete Lagrangian ----------------------------------------------------------------------


def discrete_lagrangian(case: Moving, a: Array, b: Array, h: float, implicit: bool) -> float:
    """Action of a step from a to b: kinetic energy of the screws between them, less the potential."""
    system = case.system
    poses, strains, loads = [], [], []
    for q in (a, b):
        poses.append(case.poses(q))
        strains.append(case.strains(q))
        energies = potential(system, q, case.loading)
        loads.append(energies["gravity"] + energies["loads"])
    action = -0.5 * h * sum(loads) if implicit else -h * loads[0]
    for i, block in enumerate(system.blocks):
        eta = se3.log(se3.inverse(poses[0][i]) @ poses[1][i]) / h
        action += 0.5 * h * float(np.sum(block.M * eta**2))
        mean = 0.5 * (strains[0][i] + strains[1][i]) if implicit else strains[0][i]
        block.level.strain.e[...] = mean
        action -= h * block.elastic_energy(block.level)
    return action


@pytest.mark.parametrize(
    "integrator", [Midpoint(tolerance=1e-12), Variational(tolerance=1e-12)], ids=repr
)
@pytest.mark.parametrize(
    "name",
    ["spline", "linear-spline", "hermite", "strain", "chained", "mounted", "flying", "laden"],
)
def test_momenta_are_the_derivatives_of_the_discrete_lagrangian(
    name: str, integrator: Integrator
) -> None:
    """What leaves a is -D1 Ld, what arrives at b is D2 Ld: eqs. 54-55 by differences."""
    case = Moving(name, 0.0)
    case.loading = make_loading(case.system, {"follower": 0.0})
    implicit = isinstance(integrator, Midpoint)
    h = 2e-3 if implicit else 2e-4
    stepper = integrator.stepper(case.system, h)
    stepper.start(case.q, case.v, case.loading)
    start, leaving = case.q, stepper.p.copy()
    stepper.advance(case.loading, case.loading)
    end, arriving = stepper.q.copy(), stepper.p.copy()
    z, step = allowed(case.system, case.q, 1.0), 1e-5

    def slope(at: Array, action: Callable[[Array], float]) -> float:
        values = []
        for sign in (1, -1):
            case.system.place(at)
            values.append(action(case.system.moved(at, sign * step * z, newton=False)))
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
        self.system = System(description, {"arm": formulation})
        self.q = bend(self.system, 0.0)
        self.v = np.zeros(self.system.n)
        free = self.system.coordinates
        smooth = np.arange(1, len(free) // 6 + 1) / max(1, len(free) // 6)
        if isinstance(formulation, Strain):
            self.v[free] = np.random.default_rng(0).normal(size=len(free))
        else:  # every control pose swings sideways, further out faster
            rates = np.outer(smooth**2, (0.5, 0.3, 0.2, 0.1, 0.3, 0.0))
            self.v[free] = rates.ravel()

    def loading(self, t: float) -> Loading:
        inputs = {"push": np.sin(20.0 * t), "turn": np.cos(15.0 * t)}
        return make_loading(self.system, inputs)

    def run(self, integrator: Integrator, h: float, duration: float) -> Stepper:
        stepper = integrator.stepper(self.system, h)
        before = self.loading(0.0)
        stepper.start(self.q, self.v, before)
        for k in range(round(duration / h)):
            after = self.loading((k + 1) * h)
            stepper.advance(before, after)
            before = after
        return stepper

    def state(self, stepper: Stepper) -> Array:
        """Poses and velocities of sections at the end."""
        sampler, s = Sampler(self.system), np.array([0.2, 0.5])
        poses = sampler.poses(stepper.q, "arm", s)
        twists = sampler.velocities(stepper.q, stepper.velocity(), "arm", s)
        return np.concatenate([poses.ravel(), 0.05 * twists.ravel()])

    def energy(self, q: Array, v: Array) -> float:
        """Kinetic, elastic and gravitational energy."""
        none = make_loading(self.system, {"push": 0.0, "turn": 0.0})
        M = linearise(self.system, q, np.zeros(self.system.n), none)[1]
        return 0.5 * float(v @ (M @ v)) + sum(potential(self.system, q, none).values())


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
def test_order_two_for_a_damped_spline_with_stress_modes(integrator: Integrator) -> None:
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
        assert stepper.dissipated > 2e-3
        assert abs(stepper.work) > 2e-4
        turned_over = abs(stepper.work) + stepper.dissipated
        lost.append(abs(end - start - stepper.work + stepper.dissipated) / turned_over)
    assert lost[1] < (1e-3 if order == 2 else 0.2)
    assert lost[0] / lost[1] > 0.8 * 2**order


# -- what must be kept ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "integrator", [Midpoint(), Newmark(), GeneralizedAlpha(0.8), ImplicitEuler()], ids=repr
)
@pytest.mark.parametrize("name", ["held", "held-branch"])
def test_constraints_hold_at_position_level(name: str, integrator: Integrator) -> None:
    case = Moving(name, 100.0)
    stepper = integrator.stepper(case.system, 2e-3)
    stepper.start(case.q, case.v, case.loading)
    worst = 0.0
    for _ in range(30):
        stepper.advance(case.loading, case.loading)
        gap, _ = gaps(case.system, stepper.q)
        worst = max(worst, float(np.max(np.abs(gap))))
    _, A = gaps(case.system, stepper.q)
    assert worst < 1e-9
    assert np.max(np.abs(stepper.q - case.q)) > 1e-2
    if isinstance(integrator, Midpoint):
        assert A @ stepper.velocity() == pytest.approx(0.0, abs=1e-6)


def spatial_momentum(system: System, q: Array, v: Array) -> Array:
    """Angular (about the world origin) and linear momentum of all sections, world frame."""
    sampler = Sampler(system)
    total = np.zeros(6)
    for block in system.blocks:
        g = sampler.poses(q, block.rod.name, block.mass_s)
        eta = sampler.velocities(q, v, block.rod.name, block.mass_s)
        total += np.einsum("sji,sj->i", se3.Ad(se3.inverse(g)), block.M * eta)
    return total


@pytest.mark.parametrize(
    "integrator", [Midpoint(tolerance=1e-11), Variational(tolerance=1e-11)], ids=repr
)
@pytest.mark.parametrize("formulation", [BSpline(3, 5), Hermite(2), Strain(1, 2)], ids=repr)
def test_a_free_rod_keeps_its_momenta(formulation: Formulation, integrator: Integrator) -> None:
    """Variational integrators inherit the symmetry of the Lagrangian, whatever the step."""
    description = Description(gravity=(0, 0, 0))
    description.add(arm(base=None))
    system = System(description, {"arm": formulation})
    loading = make_loading(system, {})
    q = bend(system, 0.03)
    v = allowed(system, q, 0.5)
    stepper = integrator.stepper(system, 2e-4 if isinstance(integrator, Variational) else 1e-3)
    stepper.start(q, v, loading)
    before = spatial_momentum(system, q, v)
    for _ in range(20):
        stepper.advance(loading, loading)
    after = spatial_momentum(system, stepper.q, stepper.velocity())
    assert after == pytest.approx(before, abs=1e-8 * np.linalg.norm(before))
    assert np.max(np.abs(stepper.q - q)) > 1e-3


@pytest.mark.parametrize("integrator", ALL, ids=repr)
def test_the_base_of_a_flying_rod_stays_a_pose_and_falls_like_a_stone(
    integrator: Integrator,
) -> None:
    """A hundred steps of a spinning throw: rotations stay rotations, the centre of mass falls."""
    description = Description(gravity=(0, 0, -9.81))
    rod = description.add(arm(base=None, natural=(0, 0, 0)))
    system = System(description, {"arm": Strain(0, 1)})
    loading = make_loading(system, {})
    v = np.zeros(system.n)
    v[:6] = (3.0, 1.0, 0.5, 0.2, 0.1, 0.3)
    h, steps = (2e-4 if isinstance(integrator, Variational) else 1e-3), 100
    stepper = integrator.stepper(system, h)
    stepper.start(system.q_rest, v, loading)
    start, speed = centre_of_mass(system, system.q_rest), spatial_momentum(system, system.q_rest, v)
    for _ in range(steps):
        stepper.advance(loading, loading)
    turn = stepper.q[system.blocks[0].pose_slice].reshape(4, 4)[:3, :3]
    assert turn.T @ turn == pytest.approx(np.eye(3), abs=1e-12)
    mass = float(system.blocks[0].line_mass.sum())
    t = h * steps
    fallen = start + t * speed[3:] / mass + 0.5 * t * t * np.array((0, 0, -9.81))
    slack = 9.81 * t * h + 1e-6  # an error of first order in the step at most
    assert centre_of_mass(system, stepper.q) == pytest.approx(fallen, abs=slack)
    assert np.linalg.norm(turn - rod.pose[:3, :3]) > 0.05


def centre_of_mass(system: System, q: Array) -> Array:
    system.place(q, mass=True)
    block = system.blocks[0]
    return block.line_mass @ block.level.mass.g[:, :3, 3] / block.line_mass.sum()


def test_at_rest_in_equilibrium_nothing_moves() -> None:
    description = single(0.0)
    system = System(description, {"arm": BSpline(3, 5)})
    loading = make_loading(system, {})
    found = StaticSolver(system).solve(loading)
    for integrator in ALL:
        stepper = integrator.stepper(system, 1e-4 if isinstance(integrator, Variational) else 1e-2)
        stepper.start(found.q, np.zeros(system.n), loading)
        for _ in range(5):
            stepper.advance(loading, loading)
        assert stepper.q == pytest.approx(found.q, abs=1e-7)
        assert stepper.velocity() == pytest.approx(0.0, abs=1e-5)
        assert stepper.dissipated == 0.0


def test_a_failed_step_leaves_the_state_as_it_was() -> None:
    """The explicit integrator far beyond its limit of stability."""
    case = Moving("spline", 0.0)
    stepper = Variational().stepper(case.system, 0.5)
    stepper.start(case.q, case.v, case.loading)
    with pytest.raises(ConvergenceError, match="dt"):
        for _ in range(50):
            before = stepper.q.copy()
            stepper.advance(case.loading, case.loading)
    assert np.array_equal(stepper.q, before)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (lambda: Newmark(beta=0.0), "beta"),
        (lambda: Newmark(gamma=0.4), "gamma"),
        (lambda: GeneralizedAlpha(rho=1.2), "rho"),
    ],
)
def test_coefficients_outside_their_range_are_refused(
    settings: Callable[[], Integrator], message: str
) -> None:
    with pytest.raises(DescriptionError, match=message):
        settings()
