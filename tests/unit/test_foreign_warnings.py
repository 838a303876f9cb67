"""Nothing that NumPy, SciPy or Numba warn of reaches a user: Pliant says itself what matters."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl

WARNS = {
    "scipy.linalg": {"solve", "inv", "lu_factor", "lu_solve", "solve_sylvester", "logm", "sqrtm"},
    "scipy.sparse.linalg": {"spsolve", "inv", "cg", "gmres"},
    "numpy": {"polyfit"},
}
"""Functions that warn of ill-conditioned or singular matrices on their own."""


def _own(base: type[Warning] = Warning) -> Iterator[type[Warning]]:
    """The classes of warnings that are Pliant's, of those loaded so far."""
    for category in base.__subclasses__():
        if category.__module__.startswith("pliant"):
            yield category
        yield from _own(category)


@contextmanager
def own_warnings_only() -> Iterator[None]:
    """Make errors of all warnings but those of classes that Pliant defines."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in (pl.ResolutionWarning, pl.EnergyWarning, pl.NumericalDamping, *_own()):
            warnings.simplefilter("ignore", category)
        yield


def random_robot(rng: np.random.Generator) -> pl.Robot:
    """Sizes from millimetres to metres, rubber to steel, with loads that may follow the robot."""
    robot = pl.Robot(gravity=rng.normal(0.0, 6.0, 3))
    E, L = 10.0 ** rng.uniform(5.0, 11.0), 10.0 ** rng.uniform(-2.5, 0.5)
    r = L / rng.choice([8.0, 40.0, 300.0])
    stuff = pl.Material(
        E=E, nu=0.4, rho=10.0 ** rng.uniform(2, 4), viscosity=rng.choice([0, 1e-4 * E])
    )
    sections = [
        pl.Circle(r),
        pl.Circle((r, 0.4 * r)),
        pl.Rectangle(r, 0.2 * r),
        pl.Annulus(r, 0.8 * r),
    ]
    theory = str(rng.choice(["cosserat", "kirchhoff"]))
    natural = rng.normal(0.0, rng.choice([0.0, 1.0 / L]), 3)
    rod = robot.add_rod(
        "one", L, sections[rng.integers(4)], stuff, pl.along("x"), natural=natural, theory=theory
    )
    if rng.random() < 0.4:
        joint = [None, pl.Revolute("y", stiffness=E * r**4 / L)][rng.integers(2)]
        rod = robot.add_rod(
            "two", 0.5 * L, pl.Circle(r), stuff, base=rod.tip, joint=joint, theory=theory
        )
    force = E * r**4 / L**2 * 10.0 ** rng.uniform(-2.0, 0.0) * rng.normal(size=3)
    robot.add_load("push", rod.tip, force=force, frame=str(rng.choice(["world", "body"])))
    if rng.random() < 0.4:
        robot.add_body("bob", stuff.rho * r * r * L * rng.choice([0.1, 10.0]), on=rod.tip)
    if rng.random() < 0.2:
        robot.add_constraint("held", rod.tip, kind="articulated")
    return robot


FORMS = [
    None,
    pl.Hermite(5),
    pl.Strain(order=3),
    pl.BSpline(1, 6),
    pl.Collocation(10),
    pl.Shooting(50),
]


@pytest.mark.parametrize("seed", range(6))
def test_random_robots_give_no_warning_of_other_packages(seed: int) -> None:
    """Robots that cannot be solved are refused in Pliant's words; a study has 200 of them."""
    rng = np.random.default_rng(seed)
    for form in rng.permutation(len(FORMS))[:4]:
        robot, way, dt = random_robot(rng), FORMS[form], 10.0 ** rng.uniform(-4.0, -2.0)

        def still(robot: pl.Robot = robot, way: Any = way) -> None:
            found = robot.statics(formulation=way)
            _ = found.stable, found.reactions, found.summary(), found.wrench("one", 0.0)

        def moving(robot: pl.Robot = robot, way: Any = way, dt: float = dt) -> None:
            found = robot.simulate(5 * dt, dt, formulation=way)
            _ = found.energy, found.reactions, found.summary()

        def vibrating(robot: pl.Robot = robot, way: Any = way) -> None:
            robot.modes(4, formulation=way).summary()

        calls: list[Callable[[], None]] = [still, moving, vibrating]
        for call in calls:
            with own_warnings_only():
                try:
                    call()
                except pl.PliantError:
                    continue


def test_effects_are_silent_at_the_strains_of_a_solve_that_diverges() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft)
    tendon = robot.add_tendon("pull", along=arm, offset=(0.005, 0))
    update = robot.add_section_update("softer", arm)
    for effect in (tendon, update):
        for form in effect.pointwise_forms(robot.description):
            with own_warnings_only():
                form.stress(0.1, np.full(6, 1e200), np.zeros(6), 1.0)


def test_modes_of_a_small_robot_under_a_follower_load_are_those_of_a_large_one() -> None:
    """Frequencies go with the inverse of the size, though rows of turns and lengths differ by 1e10."""
    ratios = []
    for L in (1.0, 3e-3):
        robot = pl.Robot(gravity=(0, 0, 0))
        steel, round_ = pl.Material(E=2e11, nu=0.3, rho=8000.0), pl.Circle(L / 600)
        rod = robot.add_rod("rod", L, round_, steel, pl.along("x"))
        flap = robot.add_rod(
            "flap", 0.1 * L, round_, steel, base=rod.at(0.5 * L), joint=pl.Revolute("x")
        )
        push = 0.1 * 2e11 * np.pi / 4 * (L / 600) ** 4 / L**2
        robot.add_load("push", flap.tip, force=(push, 0.0, 0.0), frame="body")
        with own_warnings_only():
            ratios.append(robot.modes(5).frequencies * L)
    assert ratios[0][-1] > 1.0
    np.testing.assert_allclose(ratios[1], ratios[0], rtol=1e-6, atol=1e-6 * ratios[0][-1])


def test_nothing_is_imported_that_warns_on_its_own() -> None:
    found = []
    for path in Path(pl.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            known: set[str] = set()
            names: list[str] = []
            if isinstance(node, ast.ImportFrom):
                known, names = WARNS.get(node.module or "", set()), [x.name for x in node.names]
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np":
                known, names = WARNS["numpy"], [node.attr]
            found += [f"{path.name}: {name}" for name in names if name in known]
    assert found == []
