"""BDF-alpha: its coefficients, its first step and its order in time."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bvp.contract import TimeRule
from pliant.solve.integrators.bdf_alpha import START, first_rules

ALPHAS = (-0.5, -0.48, -0.25, 0.0)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("before", [0.1, 0.03, 0.25])
def test_rule_is_exact_for_parabolas_with_steps_of_any_length(alpha, before):
    h, rule = 0.1, pl.BDFAlpha(alpha).rule(0.1, before)
    for power in range(3):

        def y(t: float, power: int = power) -> float:
            return float((1.0 + t) ** power)

        def rate(t: float, power: int = power) -> float:
            return float(power * (1.0 + t) ** (power - 1))

        found = rule.c0 * y(h) + rule.c1 * y(0.0) + rule.c2 * y(-before) + rule.d1 * rate(0.0)
        assert found == pytest.approx(rate(h), abs=1e-12)


def test_ends_of_the_range_are_the_trapezoidal_rule_and_bdf2():
    trapezoidal, bdf2 = pl.BDFAlpha(-0.5).rule(0.1, 0.1), pl.BDFAlpha(0.0).rule(0.1, 0.1)
    assert (trapezoidal.c0, trapezoidal.c1) == pytest.approx((20.0, -20.0))
    assert (trapezoidal.c2, trapezoidal.d1) == pytest.approx((0.0, -1.0))
    assert (bdf2.c0, bdf2.c1, bdf2.c2, bdf2.d1) == pytest.approx((15.0, -20.0, 5.0, 0.0))


def test_first_step_is_of_second_order_and_forgets_fast_motions():
    """SDIRK2 on y' = -k y: third order per step, and no trace of a very stiff part."""

    def step(k: float, h: float) -> float:
        (part, first), (whole, second) = first_rules(h)
        assert (part, whole) == (START, 1.0)
        a = -(first.c1 + first.d1 * 0.0) / (first.c0 + k)  # y_0 = 1
        rate = first.c0 * a + first.c1
        return -(second.c1 * a + second.c2 + second.d1 * rate) / (second.c0 + k)

    errors = [abs(step(1.0, h) - np.exp(-h)) for h in (0.1, 0.05)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(3.0, abs=0.2)
    assert abs(step(1e9, 1.0)) < 1e-8


class Spring:
    """m v' + c v + k x = f in time rules, with what `TimeRule.shares` books."""

    m, c, k = 0.3, 0.8, 5.0

    def __init__(self) -> None:
        self.y, self.rate = np.array([0.2, -0.4]), np.zeros(2)
        self.older, self.f, self.work, self.lost = self.y, 0.0, 0.0, 0.0

    @property
    def energy(self) -> float:
        return 0.5 * (self.k * self.y[0] ** 2 + self.m * self.y[1] ** 2)

    def step(self, rule: TimeRule, step: float, f: float, keep_older: bool = False) -> None:
        history = rule.c1 * self.y + rule.c2 * self.older + rule.d1 * self.rate
        A = np.array([[rule.c0, -1.0], [self.k, self.m * rule.c0 + self.c]])
        y = np.linalg.solve(A, [-history[0], f - self.m * history[1]])
        v0, v1, f0 = self.y[1], y[1], self.f
        means = (0.5 * (f0 + f), 0.5 * (v0 + v1))
        for share, (force, v) in zip(rule.shares(step), ((f0, v0), (f, v1), means), strict=True):
            self.work += share * force * v
            self.lost += share * self.c * v * v
        self.older = self.older if keep_older else self.y
        self.y, self.rate, self.f = y, rule.c0 * y + history, f


def test_energy_balance_is_exact_in_linear_motions():
    """The trapezoidal rule keeps all of the energy; stages of the first step keep a known term."""
    spring, h = Spring(), 0.3
    start, rates = spring.energy, []
    reached = 0.0
    for k, (part, rule) in enumerate(first_rules(h)):
        spring.step(rule, (part - reached) * h, 2.0 + part, keep_older=k == 1)
        rates.append(spring.k * spring.rate[0] ** 2 + spring.m * spring.rate[1] ** 2)
        reached = part
    own = 0.5 * START**2 * h**2 * (rates[0] - rates[1])
    assert abs(own) > 1e-3
    assert spring.energy - start == pytest.approx(spring.work - spring.lost + own, abs=1e-14)
    start, books = spring.energy, spring.work - spring.lost
    for k in range(20):
        spring.step(pl.BDFAlpha(-0.5).rule(h, h), h, float(k % 3))
    gained = spring.work - spring.lost - books
    assert spring.energy - start == pytest.approx(gained, abs=1e-13)


@pytest.mark.parametrize("alpha", [-0.51, 0.1, "half", float("nan")])
def test_alpha_outside_its_range_is_refused(alpha):
    with pytest.raises(
        pl.DescriptionError, match=r"alpha.*-0.5 is the trapezoidal rule and 0 is BDF2"
    ):
        pl.BDFAlpha(alpha)


def shaken() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=2e5, nu=0.45, rho=1000.0, viscosity=500.0)
    rod = robot.add_rod("rod", 0.5, pl.Circle((0.02, 0.015)), material, pl.along("x"))
    robot.add_load("tip", rod.tip, force=(0, 0.1, 0.2))
    return robot


SHOT, COLLOCATED = pl.Shooting(steps=300), pl.Collocation(nodes=12)
CASES = [(SHOT, alpha) for alpha in ALPHAS] + [(COLLOCATED, -0.5), (COLLOCATED, 0.0)]


@pytest.mark.parametrize(("form", "alpha"), CASES)
def test_order_in_time_is_two(form, alpha):
    robot, inputs = shaken(), {"tip": lambda t: np.sin(2.5 * np.pi * t) ** 4}
    tips = []
    for count in (20, 40, 80, 160):
        move = robot.simulate(
            0.4, 0.4 / count, inputs, formulation=form, integrator=pl.BDFAlpha(alpha),
            output_times=[0.4],
        )  # fmt: skip
        tips.append(move.tip("rod")[0, :3, 3])
    changes = np.linalg.norm(np.diff(tips, axis=0), axis=1)
    orders = np.log2(changes[:-1] / changes[1:])
    assert orders[-1] == pytest.approx(2.0, abs=0.2)
    assert changes[-1] < 1e-3
