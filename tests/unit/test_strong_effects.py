"""Effects in plain Python in strong forms, and rods at rest that stay at rest."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bvp.chain import Chain
from pliant.bvp.contract import BasePath, State, StrongSolver, TimeRule
from pliant.bvp.energies import Energies
from pliant.bvp.pointwise_effects import OwnEffects
from pliant.bvp.shooting.mesh import Mesh, even_edges
from pliant.lie import se3, so3
from pliant.model.base_motion import BaseState
from pliant.solve.integrators.bdf_alpha import START, first_rules

SOFT = pl.Material(E=2e5, nu=0.45, rho=1000.0, viscosity=50.0)
FORMS = [pl.Shooting(steps=20), pl.MultipleShooting(4, 40), pl.Collocation()]
ZERO = np.zeros((6, 6))


def named(form: object) -> str:
    return type(form).__name__


class Foundation:
    """Springs of `stiffness` N/m^2 along a rod that hold it to where it lies along x."""

    name, rod = "foundation", "rod"

    def __init__(self, stiffness: float, drag: float = 0.0) -> None:
        self.stiffness, self.drag = stiffness, drag

    def line_wrench(self, s, g, strain, twist, u):
        R, away = g[:3, :3], g[:3, 3] - np.array([s, 0.0, 0.0])
        force = -self.stiffness * R.T @ away
        by_pose, by_twist = np.zeros((6, 6)), np.zeros((6, 6))
        by_pose[3:, :3], by_pose[3:, 3:] = so3.hat(force), -self.stiffness * np.eye(3)
        by_twist[3:, 3:] = -self.drag * np.eye(3)
        return np.r_[np.zeros(3), force - self.drag * twist[3:]], by_pose, by_twist

    def stress(self, s, strain, strain_rate, u):
        return np.zeros(6), ZERO, ZERO


class Stiffening:
    """A moment that grows with the cube of the curvature, and with its rate; an input scales it."""

    name, rod = "muscle", "rod"

    def line_wrench(self, s, g, strain, twist, u):
        return np.zeros(6), ZERO, ZERO

    def stress(self, s, strain, strain_rate, u):
        slope, rate_slope = np.zeros((6, 6)), np.zeros((6, 6))
        k = strain[:3]
        slope[:3, :3] = 1e-4 * u * (k @ k * np.eye(3) + 2 * np.outer(k, k))
        rate_slope[:3, :3] = 1e-4 * u * np.eye(3)
        return np.r_[1e-4 * u * (k @ k * k + strain_rate[:3]), np.zeros(3)], slope, rate_slope


def heavy_rod() -> pl.Robot:
    robot = pl.Robot()
    robot.add_rod("rod", 0.5, pl.Circle(0.01), SOFT, pl.along("x"))
    return robot


def solver_of(form: pl.StrongForm, *effects: object) -> StrongSolver:
    return form.solver(Chain(heavy_rod().description, named(form), effects))


@pytest.mark.parametrize("effect", [Foundation(40.0, 3.0), Stiffening()], ids=named)
def test_derivatives_of_own_effects_are_those_of_differences(effect, rng):
    chain = Chain(heavy_rod().description, "Shooting", [effect])
    mesh = Mesh(chain, even_edges(chain, 4))
    mesh.set_history(50.0, *(rng.normal(size=(2, 16, 6))), np.zeros((0, 6)))
    own = OwnEffects(mesh, [effect])
    own.set_inputs({"muscle": 2.0}, 0.7)
    y, h = np.r_[1e-2 * rng.normal(size=15), so3.exp(rng.normal(size=3)).ravel()], 1e-6
    strain, S = own.strain(5, 50.0, y[:6])
    _, by_pose, by_twist = own.line_wrench(5, y, strain)
    g = se3.pose(y[15:].reshape(3, 3), y[12:15])
    for k, unit in enumerate(np.eye(6)):
        ahead, back = (own.strain(5, 50.0, y[:6] + x * unit)[0] for x in (h, -h))
        assert (ahead - back) / (2 * h) == pytest.approx(S[:, k], abs=1e-5 * np.abs(S).max())
        sides = []
        for x in (h, -h):
            moved, turned = y.copy(), g @ se3.exp(x * unit)
            moved[12:15], moved[15:] = turned[:3, 3], turned[:3, :3].ravel()
            sides.append(own.line_wrench(5, moved, strain)[0])
        slope = (sides[0] - sides[1]) / (2 * h)
        assert slope == pytest.approx(by_pose[:, k], abs=1e-6 * max(1.0, np.abs(by_pose).max()))
        moved = y.copy()
        moved[6:12] += unit
        change = own.line_wrench(5, moved, strain)[0] - own.line_wrench(5, y, strain)[0]
        assert change == pytest.approx(by_twist[:, k], abs=1e-9)


def along(state: State) -> np.ndarray:
    """Height of the rod at some places."""
    return np.interp(np.linspace(0.0, 0.5, 6), state.s, state.pose[:, 2, 3])


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_elastic_foundation_carries_the_weight(form):
    """Far from the clamp a rod on springs sinks by its weight over their stiffness."""
    solver = solver_of(form, Foundation(400.0))
    state = solver.statics({}, None, BasePath.fixed(solver.chain.base.pose), 1e-10)
    weight = 1000.0 * np.pi * 0.01**2 * 9.81
    assert along(state)[3:] == pytest.approx(-weight / 400.0, rel=0.02)


QUICK = [pl.MultipleShooting(4, 20), pl.Collocation(nodes=10, history_nodes=14)]
EFFECTS = [Foundation(40.0, 3.0), Stiffening()]


@pytest.mark.parametrize("effect", EFFECTS, ids=named)
def test_own_effects_act_alike_at_rest(effect):
    tips = []
    for form in QUICK:
        solver = solver_of(form, effect)
        state = solver.statics({"muscle": 3.0}, None, BasePath.fixed(solver.chain.base.pose), 1e-10)
        tips.append(state.pose[-1, :3, 3])
    assert tips[1] == pytest.approx(tips[0], abs=2e-5)


@pytest.mark.parametrize("effect", EFFECTS, ids=named)
def test_own_effects_act_alike_in_motion_and_do_work(effect):
    """The same motion by both, and work and loss that make up for the change of energy."""
    dt, tips = 0.01, []
    for form in QUICK:
        solver = solver_of(form, effect)
        base = BaseState(solver.chain.base.pose, np.zeros(6), np.zeros(6))
        other = form.solver(Chain(pl_unloaded().description, named(form)))
        start = other.statics({}, None, BasePath.fixed(base.pose), 1e-10)
        solver.begin(start)
        for k, (part, rule) in enumerate(first_rules(dt)):
            length = part * dt if k == 0 else (1.0 - START) * dt
            solver.step(rule, length, {"muscle": 3.0}, base, keep_older=k == 1)
        for _ in range(9):
            solver.step(TimeRule(2 / dt, -2 / dt, 0.0, -1.0), dt, {"muscle": 3.0}, base)
        stored = []
        for state in (start, solver.state()):
            of = Energies(solver.chain, state)
            stored.append(of.elastic(state) + of.kinetic(state) + of.gravitational(state))
        work, loss = solver.totals
        assert work - loss == pytest.approx(stored[1] - stored[0], rel=5e-3)
        tips.append(solver.state().pose[-1, :3, 3])
    assert tips[1] == pytest.approx(tips[0], abs=2e-4)


def pl_unloaded() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_rod("rod", 0.5, pl.Circle(0.01), SOFT, pl.along("x"))
    return robot


def test_error_of_an_own_effect_is_raised():
    class Wrong(Foundation):
        def line_wrench(self, s, g, strain, twist, u):
            raise ValueError("no such spring")

    solver = solver_of(FORMS[0], Wrong(1.0))
    with pytest.raises(ValueError, match="no such spring"):
        solver.statics({}, None, BasePath.fixed(solver.chain.base.pose), 1e-10)
