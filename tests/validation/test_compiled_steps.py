"""Recorded programs of a step give what plain calls give, for every kind of effect.

A program looks up numbers as it runs. What Python reads while a program is recorded, a branch on an
array or a product with its value at that time, stays as it was: Newton's method then has a wrong
tangent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.engine.exchange import Exchange, UnlikeError
from pliant.engine.program import record

FILES = sorted((Path(pl.__file__).parent / "robots" / "warm_up").glob("*.yaml"))
INTEGRATORS = {"midpoint": pl.Midpoint(), "newmark": pl.Newmark(), "euler": pl.ImplicitEuler()}
SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=100.0)


def tendon_robot(through: str, stiffness: float | None, **more: Any) -> pl.Robot:
    """An arm with a tendon that is pulled by its length, through disks or embedded."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pl.along("x"))
    more = {"drive": "length", "stiffness": stiffness, **more}
    if through == "disks":
        path = [arm.at(s, (0.006, 0.0)) for s in (0.0, 0.1, 0.2, 0.3)]
        robot.add_tendon("cable", path, **more)
    else:
        robot.add_tendon("cable", along=arm, offset=(0.006, 0.0), **more)
    return robot


def check(robot: pl.Robot, integrator: Any, values: dict[str, float] | None = None) -> pl.Stepper:
    """Compare residual and tangent of a step at a perturbed state, plain and recorded."""
    stream = robot.stepper(1e-3, integrator=integrator)
    for _ in range(3):
        stream.step(values or {})
    stepper: Any = stream._stream.motion.stepper  # type: ignore[attr-defined]
    tree, a, b = stepper.tree, stepper.a, stepper.b
    chance = np.random.default_rng(0)
    x = np.zeros(tree.total)
    x[tree.coordinates] = 1e-6 * chance.normal(size=len(tree.coordinates))

    def equations() -> None:
        stepper.place_iterate(a, b)
        stepper.fill(a, b, True)

    program = record(equations)

    def filled(call: Any) -> list[Any]:
        if hasattr(stepper, "D"):
            stepper.D[...] = x
        else:
            b.place(tree.moved(a, x))
        stepper.trial[...] = stepper.z
        stepper.trial[stepper.effects.gap_rows] += 0.1
        call()
        return [stepper.left.copy(), stepper.matrix.data.copy()]

    plain = filled(equations)
    for _ in range(2):
        for mine, other in zip(filled(program), plain, strict=True):
            size = np.abs(other).max()
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12 * size)
    return stream


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("stiffness", [None, 100.0])
@pytest.mark.parametrize("through", ["disks", "embedded"])
def test_tendons_by_length(through: str, stiffness: float | None, integrator: str) -> None:
    robot = tendon_robot(through, stiffness)
    stream = check(robot, INTEGRATORS[integrator], {"cable": 2e-3})
    assert stiffness is None or stream.state.tension("cable") > 0.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("through", ["disks", "embedded"])
def test_tendons_that_rub(through: str, integrator: str) -> None:
    robot = tendon_robot(through, 100.0, friction=0.4, creep=0.01)
    stream = check(robot, INTEGRATORS[integrator], {"cable": 2e-3})
    tension = np.asarray(stream.state.tension("cable"))
    assert tension[-1] > 0.0 and np.ptp(tension) > 1e-4 * tension[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_every_effect(file: Path, integrator: str) -> None:
    check(pl.Robot.from_file(file), INTEGRATORS[integrator])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.Newmark(), pl.Radau(1e-3)], ids=repr)
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_every_second_step_is_as_if_it_were_recorded(
    file: Path, integrator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its programs are those of the other steps with the arrays of both states exchanged."""

    def motion() -> Any:
        return pl.Robot.from_file(file).simulate(5e-3, 5e-4, integrator=integrator)

    try:
        found = motion()
    except pl.DescriptionError:
        pytest.skip("refused")
    exchanged: list[object] = []
    plain = Exchange.__call__

    def unlike(self: Exchange, program: Any) -> Any:
        exchanged.append(plain(self, program))
        raise UnlikeError

    monkeypatch.setattr(Exchange, "__call__", unlike)
    recorded = motion()
    assert exchanged
    for mine, other in ((found._path.q, recorded._path.q), (found._path.v, recorded._path.v)):
        assert np.array_equal(np.asarray(mine), np.asarray(other))
