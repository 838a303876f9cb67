"""Random soft robots in motion, each with a formulation, an integrator and a step of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import pliant as pl

DENSITY, GRAVITY = 1000.0, 9.81
SECTIONS = 21


@dataclass
class RandomMotion:
    """A robot and how it is simulated.

    released : inputs whose equilibrium the motion starts from, None for `start`.  length : of the
    chain of rods, m.
    """

    robot: pl.Robot
    formulation: Any
    integrator: Any
    dt: float
    steps: int
    inputs: dict[str, Any]
    start: str
    released: dict[str, float] | None
    length: float

    @property
    def text(self) -> str:
        kind = type(self.formulation).__name__
        size = getattr(self.formulation, self.formulation.size)
        return f"{kind}({size}), {type(self.integrator).__name__}, {self.steps} steps"

    @property
    def times(self) -> Any:
        """Output times, s, at the ends of steps that are eight times as long too."""
        every = self.steps // 8
        return np.linspace(0.0, self.dt * self.steps, every + 1)[:: max(1, every // 20)]

    def simulate(self, finer: float = 1.0, shorter: int = 1, **options: Any) -> pl.Motion:
        """Simulate with a factor more intervals and shorter steps."""
        formulation = refined(self.formulation, finer)
        method = self.integrator
        if shorter > 1 and isinstance(method, pl.ImplicitEuler):
            method = pl.GeneralizedAlpha(0.8)  # second order: nearer to the exact solution
        if shorter > 1 and isinstance(method, pl.BDF):
            method = pl.BDFAlpha(-0.4)
        if shorter > 1 and isinstance(method, pl.Radau):
            method = replace(method, tolerance=method.tolerance / 4**shorter)
        start: Any = self.start
        if self.released is not None:
            start = self.robot.statics({**self.released}, formulation)
        return self.robot.simulate(
            self.dt * self.steps,
            self.dt / shorter,
            self.inputs,
            start,
            formulation=formulation,
            integrator=method,
            output_times=self.times,
            **options,
        )

    def shapes(self, motion: pl.Motion) -> Any:
        """Positions (T, P, 3) of sections of all rods, m."""
        stations = self.robot.description.stations(SECTIONS).items()
        return np.concatenate([motion.position(name, s) for name, s in stations], axis=1)


def distance(one: Any, other: Any) -> float:
    """Largest distance of two shapes over all sections and times, m."""
    return float(np.linalg.norm(one - other, axis=-1).max())


def refined(formulation: Any, factor: float) -> Any:
    """The formulation with a factor more intervals."""
    if factor == 1.0:
        return formulation
    if isinstance(formulation, pl.Collocation):
        if formulation.nodes == "auto":
            return replace(formulation, tolerance=1e-9)
        return replace(formulation, nodes=round(formulation.nodes * (0.4 + 0.6 * factor)))
    least = formulation.least_size("rod")
    intervals = getattr(formulation, formulation.size) - least + 1
    return formulation.with_size(least + int(np.ceil(factor * intervals)) - 1)


def random_motion(
    seed: int, strong: bool | None = None, integrator: str = "", form: str = ""
) -> RandomMotion:
    """The robot of a seed.

    strong : whether it is solved by a strong form; None for a quarter of all.  integrator, form : names
    of one integrator, and of one formulation that goes with it; "" for any of the usual ones.
    """
    rng = np.random.default_rng(seed)
    named = integrator or form
    strong = integrator in STRONG if named else strong
    strong = bool(rng.random() < 0.25) if strong is None else strong
    length = float(10 ** rng.uniform(-1, 0))
    radius = length / float(10 ** rng.uniform(1.1, 2))
    area, inertia = np.pi * radius**2, np.pi * radius**4 / 4
    weight = float(10 ** rng.uniform(-1.5, 1.3))
    E = DENSITY * GRAVITY * area * length**3 / inertia / weight
    bending = 3.5 * np.sqrt(E * inertia / (DENSITY * area * length**4))
    period = 2 * np.pi / max(bending, 1.5 * np.sqrt(GRAVITY / length))
    method, theory = None, "cosserat"
    if named:
        formulation, method = _named(rng, integrator, form)
    else:
        formulation, method, theory = _method(rng, strong)
    viscosity = float(rng.choice([0, 0, 1e-3, 1e-2])) * E * period / 6.28
    material = pl.Material(E=E, nu=0.45, rho=DENSITY, viscosity=viscosity)
    robot = pl.Robot()
    rods = _rods(rng, robot, material, length, radius, formulation, theory, strong)
    if rng.random() < 0.3:
        mass = DENSITY * area * length
        robot.add_body(
            "tip", rng.uniform(0.1, 1) * mass, (1e-4 * mass * length**2,) * 3, rods[-1].tip
        )
    inputs, start, released = _inputs(rng, robot, rods, E * inertia / length**2, length, period)
    per_period = int(rng.choice([16, 25, 50, 100, 150]))
    steps = max(16, 8 * round(per_period * rng.choice([0.5, 1.0, 1.5, 2.0]) / 8))
    dt = period / per_period
    if isinstance(method, pl.Variational):
        wave = np.sqrt(E / DENSITY)
        size = getattr(formulation, formulation.size)
        dt = min(dt, 0.12 * rods[0].length / size / wave, 0.48 * radius / wave)
        steps = max(steps, 400)
    return RandomMotion(robot, formulation, method, dt, steps, inputs, start, released, length)


STRONG = ("BDF", "BDFAlpha")
LUMPED = ("Spectral", "EBA")
FORMS = ("BSpline", "Hermite", "Strain", "ANCF", "Spectral", "SRL", "EBR", "EBA", "ROM")


def _named(rng: np.random.Generator, integrator: str, form: str) -> tuple[Any, Any]:
    """A formulation and an integrator by their names, "" for any that go together."""
    integrators = {
        "Midpoint": pl.Midpoint(),
        "Newmark": pl.Newmark(),
        "GeneralizedAlpha": pl.GeneralizedAlpha(float(rng.choice([0.5, 0.8]))),
        "ImplicitEuler": pl.ImplicitEuler(),
        "Variational": pl.Variational(),
        "Explicit": pl.Explicit(),
        "Radau": pl.Radau(float(10 ** rng.uniform(-5, -3))),
        "BDF": pl.BDF(int(rng.choice([1, 2, 2, 3]))),
        "BDFAlpha": pl.BDFAlpha(float(rng.choice([-0.48, -0.4, -0.2, 0.0]))),
    }
    if integrator in STRONG:
        steps = int(rng.choice([30, 60, 100]))
        forms = (pl.Shooting(steps), pl.MultipleShooting(4, steps), pl.Collocation())
        return forms[rng.integers(len(forms))], integrators[integrator]
    method = integrators[integrator or str(rng.choice(["Midpoint", "Newmark", "GeneralizedAlpha"]))]
    known = LUMPED if integrator == "Explicit" else FORMS
    n = int(rng.choice([3, 4, 6, 8, 12]))
    sizes: dict[str, Any] = {
        "BSpline": pl.BSpline(3, n + 3),
        "Hermite": pl.Hermite(n),
        "Strain": pl.Strain(int(rng.integers(3)), min(n, 4)),
        "ANCF": pl.ANCF(n, planar=False),
        "Spectral": pl.Spectral(int(rng.integers(1, 4)), n),
        "SRL": pl.SRL(3 * n),
        "EBR": pl.EBR(3 * n),
        "EBA": pl.EBA(3 * n),
        "ROM": pl.ROM(n, rotation="free"),
    }
    return sizes[form or str(rng.choice(known))], method


def _method(rng: np.random.Generator, strong: bool) -> tuple[Any, Any, str]:
    """Formulation, integrator and theory."""
    if strong:
        forms = (
            pl.Shooting(int(rng.choice([30, 60, 100]))),
            pl.MultipleShooting(int(rng.choice([2, 4])), int(rng.choice([32, 60, 100]))),
            pl.Collocation(),
            pl.Collocation(int(rng.choice([6, 8, 12]))),
        )
        alpha = float(rng.choice([-0.48, -0.4, -0.2, 0.0]))
        return forms[rng.integers(len(forms))], pl.BDFAlpha(alpha), "cosserat"
    n = int(rng.choice([2, 4, 6, 8, 12]))
    formulations = (
        pl.BSpline(3, n + 3),
        pl.BSpline(2, n + 2),
        pl.Hermite(n),
        pl.Strain(int(rng.integers(3)), min(n, 4)),
        pl.ANCF(n, planar=False),
    )
    formulation = formulations[rng.integers(len(formulations))]
    integrators = (
        pl.Midpoint(),
        pl.Midpoint(),
        pl.Newmark(),
        pl.GeneralizedAlpha(float(rng.choice([0.5, 0.8]))),
        pl.ImplicitEuler(),
        pl.Variational(),
    )
    integrator = integrators[rng.integers(len(integrators))]
    kirchhoff = isinstance(formulation, pl.Strain) and rng.random() < 0.4
    if isinstance(integrator, pl.Variational) and isinstance(formulation, pl.Strain | pl.ANCF):
        integrator = pl.Midpoint()
    return formulation, integrator, "kirchhoff" if kirchhoff else "cosserat"


def _rods(
    rng: np.random.Generator,
    robot: pl.Robot,
    material: pl.Material,
    length: float,
    radius: float,
    formulation: Any,
    theory: str,
    strong: bool,
) -> list[pl.Rod]:
    """One rod or two, one after the other or one beside the other."""
    ancf = isinstance(formulation, pl.ANCF)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    base, side = np.eye(4), np.eye(4)
    base[:3, :3] = turn * np.sign(np.linalg.det(turn))
    count = int(rng.integers(1, 3))
    natural = (0.0, 0.0, 0.0) if ancf else tuple(rng.normal(size=3) * rng.choice([0, 1]) / length)
    branch = not strong and rng.random() < 0.4
    if branch and not ancf:
        side[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    first = robot.add_rod(
        *("a", length / count, pl.Circle(radius), material, base),
        natural=natural,
        theory=theory,
    )
    if count == 1:
        return [first]
    on = first.at(0.6 * first.length) if branch else first.tip
    section = pl.Circle(0.8 * radius)
    second = robot.add_rod(
        *("b", length / count, section, material, side, on), natural=natural, theory=theory
    )
    return [first, second]


def _inputs(
    rng: np.random.Generator,
    robot: pl.Robot,
    rods: list[pl.Rod],
    force: float,
    length: float,
    period: float,
) -> tuple[dict[str, Any], str, dict[str, float] | None]:
    """Inputs, where the motion starts, and the inputs of the equilibrium that is released."""
    size = force * float(10 ** rng.uniform(-1, 0.7))
    u = rng.normal(size=3)
    u /= np.linalg.norm(u)
    kind, frequency = rng.integers(4), float(rng.uniform(0.2, 1.5) / period)
    if kind == 0:
        robot.add_base_motion("shake", rods[0], 0.1 * length * u)
        return {"shake": pl.Sine(1.0, frequency)}, "statics", None
    robot.add_load("push", rods[-1].tip, (0.3 if kind == 1 else 1.0) * size * u)
    if kind == 1:
        return {"push": 1.0}, "rest", None
    if kind == 2:
        return {"push": 0.0}, "rest", {"push": 1.0}
    return {"push": pl.Sine(1.0, frequency)}, str(rng.choice(["rest", "statics"])), None
