"""Robots that take over what was compiled for an earlier one of their kind give what new ones give, to
the bit: for every effect, formulation and integrator.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.rods.contract import Formulation
from pliant.solve import coordinates
from pliant.solve.in_plane import FlatSteps
from pliant.solve.pool import CompiledRobot, Pool
from pliant.solve.registry import formulations, integrators

pytestmark = pytest.mark.filterwarnings("ignore")

FILES = sorted((Path(pl.__file__).parent / "robots" / "warm_up").glob("*.yaml"))
FORMULATIONS = [kind() for kind in formulations().values() if issubclass(kind, Formulation)]
INTEGRATORS = [*(kind() for kind in integrators().values()), pl.Radau(1e-3)]
NUMBERS = (1.0, 1.37, 0.71)
"""Factors on all numbers of the robots of one kind."""


class CountingPool(Pool):
    """Tells how many robots were taken over, and by how many others."""

    def __init__(self, keeps: bool = True) -> None:
        super().__init__()
        self.keeps, self.made, self.taken = keeps, 0, 0

    def take(self, *given: Any) -> CompiledRobot:
        known = [*self._kept, *self._returned]
        robot = super().take(*given)
        self.made, self.taken = self.made + 1, self.taken + (robot in known)
        return robot

    def give_back(self, robot: CompiledRobot) -> None:
        if self.keeps:
            super().give_back(robot)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> CountingPool:
    """A pool of its own for one test."""
    own = CountingPool()
    monkeypatch.setattr(coordinates, "POOL", own)
    return own


def scaled(entry: Any, factor: float) -> Any:
    """An entry with other numbers."""
    if isinstance(entry, pl.Load) and not callable(entry.force):
        return replace(entry, force=tuple(factor * x for x in entry.force))
    material = getattr(entry, "material", None)
    if material is None:
        return entry
    other = {"E": 1.0 / factor, "rho": factor, "viscosity": factor**2}
    changed = {name: x * getattr(material, name) for name, x in other.items()}
    return replace(entry, material=replace(material, **changed))


def arm_robot(factor: float, theory: str = "cosserat", planar: bool = False) -> pl.Robot:
    """A rod that carries a body, with a tendon, loads, drag and damping."""
    aside = 0.0 if planar else factor
    robot = pl.Robot(gravity=(0.0, 0.3 * aside, -9.81 * factor))
    soft = pl.Material(E=1e6 * factor**2, nu=0.45, rho=1000.0 / factor, viscosity=30.0 * factor)
    arm = robot.add_rod(
        "arm", 0.3, pl.Circle(0.01 * factor), soft, pl.along("x"), theory=theory, drag=0.5,
        mass_damping=0.2,
    )  # fmt: skip
    robot.add_body("camera", 0.01, (1e-6, 1e-6, 1e-6), on=arm.tip)
    robot.add_load("push", arm.tip, force=(0.0, 0.02 * aside, -0.05))
    if not planar:
        robot.add_tendon("pull", along=arm, offset=(0.006, 0.0), tension=0.2 * factor)
        robot.add_load("turn", arm.at(0.3), moment=(0.0, 0.0, 1e-3 * factor), frame="body")
    robot.add_load("line", arm, force=(0.0, 0.0, 0.1 * factor))
    return robot


def answers(found: Any) -> list[Any]:
    """All numbers of an equilibrium or a motion."""
    shapes = [*found._places().values()]
    for name in found.rods:
        s = np.linspace(0.0, found._rod(name).length, 5)
        shapes += [found.pose(name, s), found.strain(name, s), found.wrench(name, s)]
    told = [*found.energy.values()] if isinstance(found.energy, dict) else [found.energy]
    held = [*found.reactions.values()]
    if isinstance(found, pl.Motion):
        speeds = [found.velocity(name) for name in found.rods]
        return [*shapes, *told, *held, *speeds, found.iterations, found.step_times]
    error = None if found.error is None else found.error.relative
    return [*shapes, *told, *held, found.iterations, found.residual, found.stable, error]


def same(mine: list[Any], other: list[Any]) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b
               for a, b in zip(mine, other, strict=True))  # fmt: skip


def compare(solve: Any, pool: CountingPool, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Solve robots of one kind one after the other, and each by what is compiled for it alone.

    Returns whether numbers make a difference.
    """
    found = [solve(factor) for factor in NUMBERS]
    with monkeypatch.context() as alone:
        alone.setattr(coordinates, "POOL", CountingPool(keeps=False))
        fresh = [solve(factor) for factor in NUMBERS]
    for mine, other in zip(found, fresh, strict=True):
        assert same(mine, other)
    return not same(found[0], found[1])


@pytest.mark.parametrize("theory", ["cosserat", "kirchhoff"])
@pytest.mark.parametrize("form", FORMULATIONS, ids=repr)
def test_equilibria_of_every_formulation(
    form: Any, theory: str, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if theory not in form.capabilities.theories:
        pytest.skip("another theory")

    def solve(factor: float) -> list[Any]:
        still = arm_robot(factor, theory, isinstance(form, pl.ANCF)).statics(formulation=form)
        return answers(still)

    assert compare(solve, pool, monkeypatch)
    assert pool.taken == 2


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=repr)
@pytest.mark.parametrize("form", [pl.Spectral(3, 3), pl.BSpline(3, 7), pl.Strain(2, 2)], ids=repr)
def test_motions_of_every_integrator(
    form: Any, integrator: Any, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solve(factor: float) -> list[Any]:
        robot = arm_robot(factor)
        given = {"push": lambda t: 1.0 + 5.0 * t}
        h = 2e-5 if isinstance(integrator, pl.Variational) else 2e-3
        motion = robot.simulate(20 * h, h, given, formulation=form, integrator=integrator)
        return answers(motion)

    try:
        assert compare(solve, pool, monkeypatch)
    except pl.DescriptionError:
        pytest.skip("refused")
    assert pool.taken == 2


@pytest.mark.parametrize("integrator", [pl.Radau(), pl.Midpoint()], ids=repr)
@pytest.mark.parametrize("form", [pl.Spectral(3, 3), pl.BSpline(3, 7)], ids=repr)
def test_motions_in_a_plane(
    form: Any, integrator: Any, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    flat: list[object] = []
    plain = FlatSteps.start

    def start(self: FlatSteps) -> None:
        flat.append(self)
        plain(self)

    monkeypatch.setattr(FlatSteps, "start", start)

    def solve(factor: float) -> list[Any]:
        robot = arm_robot(factor, planar=True)
        return answers(robot.simulate(0.1, 5e-4, formulation=form, integrator=integrator))

    assert compare(solve, pool, monkeypatch)
    assert pool.taken == 2 and len(flat) == 2 * len(NUMBERS)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_every_effect(file: Path, pool: CountingPool, monkeypatch: pytest.MonkeyPatch) -> None:
    def solve(factor: float) -> list[Any]:
        robot = pl.Robot.from_file(file)
        parts = robot.description.parts
        parts.update({name: scaled(entry, factor) for name, entry in parts.items()})
        try:
            still = answers(robot.statics())
        except pl.ConvergenceError as error:
            still = [str(error), factor]
        return [*still, *answers(robot.simulate(5e-3, 5e-4))]

    compare(solve, pool, monkeypatch)
