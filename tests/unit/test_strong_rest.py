"""Strong forms at rest: a time step and an equilibrium are the same discrete equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import pliant as pl
from pliant.model.fields import holds, quantity
from pliant.model.places import OnRod

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


@dataclass(frozen=True, eq=False)
class Bed(pl.LineEffect):
    """An elastic bed under a rod: an effect of a user's own."""

    on: str = holds(OnRod())
    stiffness: float = quantity("N/m^2", sign="positive", example="100")

    def density(self, s, g, u):
        return 0.5 * self.stiffness * g[:, 2, 3] ** 2


WAYS = [(form, pl.BDFAlpha(alpha)) for form in FORMS for alpha in (-0.48, 0.0)]
WAYS += [(pl.BSpline(), x) for x in (pl.Midpoint(), pl.Newmark(), pl.ImplicitEuler())]
WAYS += [(pl.Strain(order=3, segments=2), pl.GeneralizedAlpha(0.0))]
SPEED = np.array([0.4, -0.3, 0.2])


def joined_rods(moving: bool) -> pl.Robot:
    """A heavy tapered curved rod that carries another one, with all kinds of loads."""
    robot = heavy_rod()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=100.0)
    two = robot.add_rod("two", 0.15, pl.Circle(0.006), soft, base=pl.Frame("rod", 0.5))
    robot.add_load("thrust", two.tip, force=(0.02, 0.03, 0.01), frame="body")
    robot.add_load("turn", pl.Frame("rod", 0.25), moment=(0.0, 0.002, 0.001))
    if moving:
        robot.add_base_motion("go", "rod", translation=tuple(SPEED))
    return robot


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize(("form", "integrator"), WAYS, ids=named)
def test_joined_rods_at_rest_stay_at_rest(form, integrator, dt):
    robot, s = joined_rods(False), np.linspace(0.0, 0.5, 6)
    still = robot.statics(formulation=form)
    motion = robot.simulate(0.04, dt, start=still, formulation=form, integrator=integrator)
    for rod, at in (("rod", s), ("two", 0.3 * s)):
        assert np.abs(motion.position(rod, at) - still.position(rod, at)).max() < 1e-9 * 0.65


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize(("form", "integrator"), WAYS, ids=named)
def test_a_base_at_constant_speed_is_as_good_as_one_at_rest(form, integrator, dt):
    """Galilean invariance under weight, dead and follower loads, bodies and viscosity."""
    robot, s = joined_rods(True), np.linspace(0.0, 0.5, 6)
    still = robot.statics({"go": 0.0}, formulation=form)

    def glide(rod: str) -> object:
        return lambda s: np.r_[np.zeros(3), still.pose(rod, s)[:3, :3].T @ SPEED]

    motion = robot.simulate(
        0.04, dt, {"go": lambda t: t}, still, {rod: glide(rod) for rod in ("rod", "two")},
        form, integrator,
    )  # fmt: skip
    moved = motion.position("rod", s) - motion.t[:, None, None] * SPEED
    assert np.abs(moved - still.position("rod", s)).max() < 1e-6 * 0.65


def test_rod_at_rest_on_a_bed_of_its_users_own_stays_at_rest():
    form, robots, s = pl.Collocation(8), (heavy_rod(), heavy_rod()), np.linspace(0.0, 0.5, 6)
    robots[1].add(Bed("bed", "rod", 20.0))
    alone, still = (robot.statics(formulation=form) for robot in robots)
    assert np.abs(still.position("rod", s) - alone.position("rod", s)).max() > 0.02
    motion = robots[1].simulate(6e-3, 2e-3, start=still, formulation=form)
    assert np.abs(motion.position("rod", s) - still.position("rod", s)).max() < 1e-9 * 0.5


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
