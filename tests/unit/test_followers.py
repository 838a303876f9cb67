"""Followers in compiled steps: the same as in plain Python, and as differences of motions."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.solve import sensitivities
from pliant.study.experiments import Family
from pliant.study.fit import make_experiment
from pliant.study.outputs import probes
from pliant.study.parameters import variables

PATHS = [
    "finger.bending[1]", "finger.mass_damping", "finger.retardation", "weight.mass", "chamber1.area",
    "chamber1.line.time", "gravity[2]",
]  # fmt: skip
TIMES = np.linspace(0.0, 1.2, 61)


def finger(axial: float | None) -> pl.Robot:
    robot = pl.Robot()
    part = pl.BendingActuator(
        0.175, 0.0186, 0.006, 0.009, mass=0.12, mass_damping=2.4, retardation=5e-3, axial=axial
    )
    rod = robot.add_actuator("finger", part, pl.along("x"), line=pl.Lag(0.03))
    robot.add_body("weight", 0.03, on=rod.tip)
    return robot


def slopes(
    robot: pl.Robot, integrator: pl.Integrator, mode: str
) -> tuple[np.ndarray, tuple[int, int]]:
    """Outputs and their derivatives (N, C, P), and how many motions were simulated and followed."""
    inputs = {"chamber1": pl.Sine(2e4, 1.3, offset=2e4), "chamber2": 1e4}
    names = ("finger.tip.x", "finger.tip.z")
    data = pl.Measurement(
        {"t": TIMES, **dict.fromkeys(names, 0 * TIMES)}, "t", inputs, start="statics"
    )
    asked = variables(robot.description, PATHS)
    family = Family(robot, asked, pl.ANCF(3), mode)
    run = make_experiment(data, probes(robot.description, list(names)), robot, 2e-3, integrator)
    z = np.array([item.start for item in asked.items])
    y, found = run.evaluate(family, z, True)
    assert found is not None
    both = np.concatenate([y[..., None], found], axis=-1)
    return both, (family.solves, family.followed)


@pytest.mark.parametrize("axial", [None, 200.0])
@pytest.mark.parametrize("integrator", [pl.Newmark(), pl.GeneralizedAlpha(0.7)], ids=str)
def test_compiled_neighbours_are_those_of_single_steps(
    integrator: pl.Integrator, axial: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = finger(axial)
    found, counts = slopes(robot, integrator, "auto")
    assert counts == (1, len(PATHS))
    by_differences, solved = slopes(robot, integrator, "differences")
    assert solved == (1 + 2 * len(PATHS), 0)
    plain = sensitivities._programs
    monkeypatch.setattr(
        sensitivities,
        "_programs",
        lambda a, b, compiled: (None, None) if compiled else plain(a, b, False),
    )
    by_steps, counts = slopes(robot, integrator, "auto")
    assert counts == (1, len(PATHS))
    scale = np.abs(by_steps).max(axis=(0, 1))
    assert (scale > 1e-6).all()
    assert (np.abs(found - by_steps).max(axis=(0, 1)) < 1e-9 * scale).all()
    assert (np.abs(found - by_differences).max(axis=(0, 1)) < 4e-5 * scale).all()


def test_a_chunk_of_steps_is_like_another(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = finger(None)
    whole, _ = slopes(robot, pl.Newmark(), "auto")
    monkeypatch.setattr(sensitivities, "_CHUNK", 7)
    parts, _ = slopes(robot, pl.Newmark(), "auto")
    assert np.array_equal(whole, parts)
