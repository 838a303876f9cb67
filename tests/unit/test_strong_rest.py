"""Strong forms at rest: a time step and an equilibrium are the same discrete equations."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

FORMS = [pl.Shooting(100), pl.MultipleShooting(4, 100), pl.Collocation()]


def named(form: object) -> str:
    return type(form).__name__


def heavy_rod(**options: object) -> pl.Robot:
    """A soft rod with all that acts along it and a hand, bent by its weight."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=100.0)
    shape = {"natural": (1.0, -2.0, 0.5), **options}
    rod = robot.add_rod("rod", 0.5, pl.Circle((0.012, 0.008)), soft, pl.along("x"), **shape)
    robot.add_load("side", "rod", force=(0.0, 0.2, 0.0), over=(0.1, 0.3))
    robot.add_body("hand", 0.01, (1e-6,) * 3, on=rod.tip, centre=(0.0, 0.01, 0.0))
    return robot


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_rod_at_rest_stays_at_rest(form):
    robot = heavy_rod()
    still = robot.statics(formulation=form)
    motion = robot.simulate(0.3, 1e-3, formulation=form, start=still, output_every=0.05)
    s = np.linspace(0.0, 0.5, 6)
    assert np.abs(still.position("rod", s)[:, 2]).max() > 0.1
    away = np.abs(motion.position("rod", s) - still.position("rod", s)).max()
    assert away < 1e-9 * 0.5
    again = robot.simulate(0.05, 1e-3, formulation=form, start=motion, output_every=0.05)
    assert np.abs(again.position("rod", s)[-1] - still.position("rod", s)).max() < 1e-9 * 0.5


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_rod_held_at_both_ends_stays_at_rest(form):
    robot = heavy_rod()
    place = np.array(pl.along("x"))
    place[:3, 3] = 0.42, 0.0, -0.05
    robot.add_constraint("tip", pl.Frame("rod", 0.5), to=place, kind="articulated")
    still = robot.statics(formulation=form)
    motion = robot.simulate(0.05, 2e-3, formulation=form, start=still, output_every=0.05)
    s = np.linspace(0.0, 0.5, 6)
    assert np.abs(motion.position("rod", s)[-1] - still.position("rod", s)).max() < 1e-9 * 0.5


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_free_rod_glides_without_bending(form):
    """Galilean invariance: a curved rod at constant velocity keeps its shape."""
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    free, held = pl.Robot(gravity=(0, 0, 0)), pl.Robot(gravity=(0, 0, 0))
    for robot, base in ((free, None), (held, "world")):
        shape = {"natural": (1.0, -2.0, 0.5), "base": base}
        robot.add_rod("rod", 0.5, pl.Circle(0.01), soft, pl.along("x"), **shape)
    still, s, speed = (
        held.statics(formulation=form),
        np.linspace(0, 0.5, 6),
        np.array([0.3, -0.2, 0.5]),
    )

    def glide(s: float) -> np.ndarray:
        return np.r_[np.zeros(3), still.pose("rod", s)[:3, :3].T @ speed]

    motion = free.simulate(0.1, 2e-3, formulation=form, velocity={"rod": glide}, output_every=0.1)
    moved = motion.position("rod", s)[-1] - motion.position("rod", s)[0]
    assert moved == pytest.approx(np.tile(0.1 * speed, (6, 1)), abs=1e-7)


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_every_strain_has_a_viscosity_of_its_own(form, monkeypatch):
    """Damping of bending alone stops a swinging rod without touching its twist."""
    lost = []
    for factors in ((1, 1, 1, 1, 1, 1), (0, 0, 1, 0, 0, 0)):
        robot = pl.Robot(gravity=(0, 0, 0))
        soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=3e3)
        rod = robot.add_rod("rod", 0.3, pl.Circle(0.01), soft, pl.along("x"))
        robot.add_load("turn", rod.tip, moment=(0.02, 0.0, 0.0))
        whole = type(robot.description.rods["rod"]).damping
        monkeypatch.setattr(
            type(robot.description.rods["rod"]),
            "damping",
            lambda self, s, f=factors, of=whole: of(self, s) * np.array(f),
        )
        motion = robot.simulate(0.05, 1e-3, formulation=form, output_every=0.05)
        lost.append(motion.energy["dissipated"][-1])
        monkeypatch.undo()
    assert lost[0] > 1e-6
    assert lost[1] == pytest.approx(lost[0], rel=1e-6)
