"""Time integrators: Newton and Euler at every section, order, energy books, momenta, constraints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.lie import se3
from pliant.model import (
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
from pliant.system.energy import potential
from pliant.system.linearise import linearise
from pliant.system.loading import Loading, make_loading
from pliant.system.sampling import Sampler
from pliant.system.system import System

ALL = [Midpoint(), Variational(), Newmark(), GeneralizedAlpha(0.8), ImplicitEuler()]
GRAVITY = (0.0, 1.0, -9.81)


def rubber(viscosity: float = 0.0) -> Material:
    return Material(E=2e5, nu=0.45, rho=1000.0, viscosity=viscosity)


def arm(viscosity: float = 0.0, **more: object) -> Rod:
    more = {"pose": along("x"), "natural": (0.5, 0.0, 0.3), **more}
    return Rod("arm", 0.5, Circle((0.06, 0.04)), rubber(viscosity), **more)


def twig(base: object, viscosity: float = 0.0, **more: object) -> Rod:
    return Rod("twig", 0.3, Circle(0.03), rubber(viscosity), base=base, **more)


def single(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    description.add_rod(arm(viscosity))
    return description


def chained(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    description.add_rod(twig(description.add_rod(arm(viscosity)).tip, viscosity))
    return description


def mounted(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    on = description.add_rod(arm(viscosity)).at(0.2, offset=(0.05, 0.01))
    description.add_rod(twig(on, viscosity, pose=pose(rotation=(0.5, -0.3, 0.8))))
    return description


def flying(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    description.add_rod(arm(viscosity, base=None))
    return description


def held(viscosity: float) -> Description:
    description = Description(gravity=GRAVITY)
    rod = description.add_rod(arm(viscosity, base=None))
    description.add_constraint(Constraint("pin", rod.base_frame, kind="articulated"))
    description.add_constraint(Constraint("ring", rod.at(0.3, offset=(0.02, 0)), hold=("x", "rz")))
    return description


def held_branch(viscosity: float) -> Description:
    description = mounted(viscosity)
    description.add_constraint(Constraint("held", description.rods["twig"].tip, hold=("x", "y")))
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
}


class Moving:
    """A bent robot with velocity, and the acceleration that an integrator starts with."""

    def __init__(self, name: str, viscosity: float) -> None:
        build, formulations = ROBOTS[name]
        self.description = build(viscosity)
        rod = list(self.description.rods.values())[-1]
        self.description.add_load(Load("dead", rod.tip, force=(0.5, 0.3, 0.1)))
        follower = Load("follower", rod.at(0.2), moment=(0.05, 0, 0.02), frame="body")
        self.description.add_load(follower)
        self.system = System(self.description, formulations)
        self.loading = make_loading(self.system, {})
        self.q = bend(self.system, 0.1)
        self.v = allowed(self.system, self.q, 0.5)
        stepper = Newmark().stepper(self.system, 1e-3)
        stepper.start(self.q, self.v, self.loading)
        self.acc = stepper.acc.copy()

    def at(self, x: Array) -> Array:
        self.system.place(self.q)
        return self.system.moved(self.q, x, newton=False)

    def path(self, t: float) -> Array:
        """Configuration that leaves q with rates v and accelerations acc."""
        return self.at(t * self.v + 0.5 * t * t * self.acc)

    def poses(self, q: Array) -> list[Array]:
        self.system.place(q, mass=True)
        return [block.level.mass.g.copy() for block in self.system.blocks]

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
        q = system.moved(q, -np.linalg.pinv(A) @ gap, newton=False)
    return q


def allowed(system: System, q: Array, size: float) -> Array:
    """Random rates that keep the constraints."""
    v = size * np.random.default_rng(4).normal(size=system.n)
    v[system.mode_unknowns] = 0.0
    if system.m:
        _, A = gaps(system, q)
        v -= np.linalg.pinv(A) @ (A @ v)
    return v


def gaps(system: System, q: Array) -> tuple[Array, Array]:
    """Gaps (m,) of the constraints and their derivative (m, n), by differences."""
    from pliant.system.balance import link_gaps

    def at(x: Array) -> Array:
        system.place(q)
        system.place(system.moved(q, x, newton=False))
        return link_gaps(system)

    A = np.zeros((system.m, system.n))
    if system.m:
        for a in system.coordinates:
            x = np.eye(system.n)[a] * 1e-5
            A[:, a] = (at(x) - at(-x)) / 2e-5
    return at(np.zeros(system.n)), A


# -- mechanics of the acceleration ------------------------------------------------------------------


@pytest.mark.parametrize("viscosity", [0.0, 200.0], ids=["elastic", "damped"])
@pytest.mark.parametrize("name", list(ROBOTS))
def test_inertia_is_the_rate_of_momentum_of_every_section(name: str, viscosity: float) -> None:
    """d'Alembert in every allowed direction, with poses at three instants and nothing else.

    Forces of inertia come from the world momenta of the sections, elastic and dead forces from the
    potential, damping from the dissipation; constraint forces do no work.
    """
    case = Moving(name, viscosity)
    h = 1e-4
    a, b, c = (case.poses(case.path(t)) for t in (-h, 0.0, h))
    directions = [allowed(case.system, case.q, 1.0)]
    for z in directions:
        work = potential_slope(case, z) + damping_work(case, z) - follower_work(case, z)
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


def follower_work(case: Moving, z: Array) -> float:
    rod = list(case.description.rods)[-1]
    twist = Sampler(case.system).velocities(case.q, z, rod, np.array([0.2]))[0]
    return float(twist[:3] @ (0.05, 0, 0.02))


@pytest.mark.parametrize("name", ["held", "held-branch"])
def test_the_first_acceleration_keeps_the_constraints(name: str) -> None:
    case = Moving(name, 0.0)
    h = 1e-3
    values = [gaps(case.system, case.path(t))[0] for t in (-h, 0.0, h)]
    rate = (values[2] - values[0]) / (2 * h)
    second = (values[0] - 2 * values[1] + values[2]) / h**2
    assert rate == pytest.approx(0.0, abs=1e-5)
    assert second == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("viscosity", [0.0, 200.0], ids=["elastic", "damped"])
@pytest.mark.parametrize("name", list(ROBOTS))
def test_power_is_balanced_at_every_instant(name: str, viscosity: float) -> None:
    """Along the exact acceleration, energy changes by what loads do and damping takes."""
    case = Moving(name, viscosity)
    h, d = 1e-3, 1e-4
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
    size = abs(potential_slope(case, case.v)) + abs(power)
    assert gain == pytest.approx(power, abs=1e-4 * size)
