"""Springs, stops, dry friction and drives in joints: against energies, differences, exact motions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import pliant as pl
from pliant.joints.contract import JointMap
from pliant.model import Array
from pliant.physics.effects import Effects, effects_of
from pliant.solve.balance import balance
from pliant.solve.energy import potential
from pliant.tree.state import State
from pliant.tree.work import Work

INTEGRATORS: dict[str, Any] = {
    "Midpoint": pl.Midpoint(),
    "Variational": pl.Variational(),
    "Newmark": pl.Newmark(),
    "GeneralizedAlpha": pl.GeneralizedAlpha(0.9),
    "ImplicitEuler": pl.ImplicitEuler(),
}
GRAVITY = 9.81
ASKEW = (1.0, 2.0, -0.5)
STOPS: dict[str, Any] = {"limits": (-0.1, 0.2), "limit_stiffness": 150.0}
JOINTS: dict[str, JointMap] = {
    "Revolute": pl.Revolute(ASKEW, stiffness=1.0, rest=0.3, **STOPS),
    "Prismatic": pl.Prismatic(ASKEW, stiffness=20.0, rest=0.1, **STOPS),
    "Cylindrical": pl.Cylindrical(
        ASKEW, stiffness=(2.0, 50.0), limits=((-0.1, 0.1), None), limit_stiffness=80.0
    ),
    "Universal": pl.Universal("x", ASKEW, stiffness=(1.0, 2.0), **STOPS),
    "Spherical": pl.Spherical(stiffness=(1.0, 2.0, 3.0), rest=(0.2, 0.0, -0.1), **STOPS),
    "Planar": pl.Planar("y", stiffness=(50.0, 60.0, 2.0), **STOPS),
    "FreeDirections": pl.FreeDirections(("rx", "z", "ry"), stiffness=(1.0, 60.0, 2.0), **STOPS),
}


def body_on(joint: JointMap, gravity: float = GRAVITY) -> pl.Robot:
    robot = pl.Robot(gravity=(0.0, 0.0, -gravity))
    robot.add_body("bob", 1.0, (1e-2, 2e-2, 1.5e-2), centre=(0.03, 0.02, -0.1), joint=joint)
    return robot


def compiled(robot: pl.Robot) -> Effects:
    return effects_of(robot.description, {})


# -- forces and tangents -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", JOINTS)
def test_forces_are_the_slopes_of_the_energy_and_the_tangent_their_derivative(name: str) -> None:
    """Springs, stops and weight, at a place where some stops touch."""
    joint = JOINTS[name]
    effects = compiled(body_on(joint))
    tree, inputs, z = effects.tree, effects.at({}), np.zeros(effects.tree.total)
    work, tangent, step = Work(tree), effects.tangent(True), 1e-5
    rng = np.random.default_rng(2)
    here = State(tree).place(joint.retract(joint.origin(), 0.3 * rng.normal(size=joint.nv)))
    there = State(tree)

    def at(x: Array) -> State:
        return there.place(tree.moved(here, x, newton=False))

    def energy(x: Array) -> float:
        return sum(potential(effects, at(x), inputs).values())

    def force(x: Array) -> Array:
        return balance(effects, at(x), work, inputs, z).copy()

    units = np.eye(joint.nv) * step
    slope = [(energy(e) - energy(-e)) / (2 * step) for e in units]
    r = balance(effects, here, work, inputs, z, tangent, chart=False).copy()
    assert r == pytest.approx(slope, abs=1e-7)
    tangent.matrix.factorise()
    inverse = np.array([tangent.matrix.solve(e) for e in np.eye(joint.nv)])
    second = [[_mixed(energy, a, b) / step**2 for b in units] for a in units]
    assert np.linalg.inv(inverse) == pytest.approx(np.array(second), rel=1e-3, abs=2e-3)


def _mixed(f: Any, a: Array, b: Array) -> float:
    a, b = 30.0 * a, 30.0 * b
    return float(f(a + b) - f(a - b) - f(b - a) + f(-a - b)) / 3600.0


@pytest.mark.parametrize("sliding", [False, True])
@pytest.mark.parametrize("name", JOINTS)
def test_tangent_of_a_midpoint_step_is_the_derivative_of_its_residual(
    name: str, sliding: bool
) -> None:
    joint = replace(JOINTS[name], damping=0.3, friction=0.4)
    effects = compiled(body_on(joint))
    stepper, rng = pl.Midpoint().stepper(effects, 5e-3), np.random.default_rng(4)
    q = joint.retract(joint.origin(), 0.25 * rng.normal(size=joint.nv))
    inputs = effects.at({})
    stepper.start(q, np.zeros(effects.tree.total), inputs)
    stepper.after[: len(inputs.u)] = inputs.u
    a, b = stepper.a, stepper.b
    stepper.begin_step(a, b)
    size = 5e-4 if sliding else 1e-6
    target = joint.retract(q, size * (1.0 + rng.random(joint.nv)))

    def left(x: Array, tangent: bool = False) -> Array:
        b.q[...] = joint.retract(target, x)
        stepper.place_iterate(a, b)  # type: ignore[attr-defined]
        stepper.set_residual(a, b, tangent)
        return np.array(stepper.left)

    step = 1e-7 if sliding else 1e-8
    units = step * np.eye(joint.nv)
    left(0.5 * units[0])  # from another iterate, so that each coordinate knows which way it slides
    columns = np.array([(left(e) - left(-e)) / (2 * step) for e in units]).T
    left(np.zeros(joint.nv), True)
    stepper.tangent.matrix.factorise()
    found = np.array([stepper.tangent.matrix.solve(c) for c in columns.T]).T
    assert found == pytest.approx(np.eye(joint.nv), abs=1e-4)


# -- energy balance ----------------------------------------------------------------------------------

CLOSED = {
    "Midpoint": 2e-3, "Newmark": 5e-3, "GeneralizedAlpha": 0.02,
    "Variational": 0.05, "ImplicitEuler": 0.6,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", JOINTS)
def test_energy_balance_of_each_joint_closes_with_each_integrator(
    name: str, integrator: str
) -> None:
    """With springs, stops, damping, dry friction and a drive at once."""
    words = ["torque" if unit == "rad" else "force" for unit in JOINTS[name].units]
    joint = replace(
        JOINTS[name], damping=0.02, friction=0.15, drive=words if len(words) > 1 else words[0]
    )
    robot = body_on(joint)
    signals = {n: pl.Sine(2.0, 3.0 + k) for k, n in enumerate(robot.description.inputs())}
    motion = robot.simulate(0.3, 1e-3, inputs=signals, integrator=INTEGRATORS[integrator])
    energy = motion.energy
    total = energy["kinetic"] + energy["gravity"] + energy["elastic"] + energy["dissipated"]
    gap = np.abs(total - total[0] - energy["work"]).max()
    assert energy["dissipated"][-1] > 0.0
    assert gap < CLOSED[integrator] * max(np.ptp(energy["kinetic"]), energy["dissipated"][-1])


# -- stops -------------------------------------------------------------------------------------------


def pendulum(**options: Any) -> pl.Robot:
    robot = pl.Robot()
    joint = pl.Revolute("x", **options)
    robot.add_body("bob", 1.0, (0.02,) * 3, centre=(0.0, 0.0, -0.5), joint=joint)
    return robot


def test_pendulum_presses_an_elastic_stop_as_far_as_its_energy_does() -> None:
    motion = pendulum(limits=(-0.5, None), limit_stiffness=200.0).simulate(
        1.5, 2e-3, joints={"bob": 1.2}
    )
    weight = 0.5 * GRAVITY
    deep = brentq(lambda x: 100 * x**2 - weight * (np.cos(0.5 + x) - np.cos(1.2)), 0.0, 1.0)
    angle = motion.joint("bob")[:, 0]
    assert angle.min() == pytest.approx(-0.5 - deep, abs=1e-4)
    assert angle[-300:].max() == pytest.approx(1.2, abs=1e-3)  # and comes back


@pytest.mark.parametrize("integrator", ["Midpoint", "Newmark"])
def test_hard_stop_takes_the_energy_of_the_impact(integrator: str) -> None:
    motion = pendulum(limits=(-0.5, None)).simulate(
        1.2, 2e-3, joints={"bob": 1.2}, integrator=INTEGRATORS[integrator]
    )
    angle, lost = motion.joint("bob")[:, 0], motion.energy["dissipated"][-1]
    assert angle.min() == pytest.approx(-0.5, abs=1e-9)
    assert lost == pytest.approx(0.5 * GRAVITY * (np.cos(0.5) - np.cos(1.2)), rel=1e-3)
    assert angle[-200:].max() < 0.51  # it falls back from rest


@pytest.mark.parametrize("stiffness", [None, 200.0])
def test_weight_rests_on_a_stop(stiffness: float | None) -> None:
    robot = pl.Robot()
    stops = {"limits": (None, 0.2), "limit_stiffness": stiffness}
    joint = pl.Revolute("y", stiffness=0.5, **stops)
    robot.add_body("bob", 1.0, (0.02,) * 3, centre=(0.3, 0.0, 0.0), joint=joint)
    found = robot.statics().joint("bob")[0]
    if stiffness is None:
        assert found == pytest.approx(0.2, abs=1e-12)
        return
    moment = 0.3 * GRAVITY
    exact = brentq(lambda x: 0.5 * x + stiffness * (x - 0.2) - moment * np.cos(x), 0.2, 1.0)
    assert found == pytest.approx(exact, abs=1e-9)


# -- dry friction ------------------------------------------------------------------------------------


def incline(friction: float) -> pl.Robot:
    robot = pl.Robot()
    joint = pl.Prismatic("x", friction=friction)
    robot.add_body("block", 1.0, (0.01,) * 3, pose=pl.pose(rotation=(0.0, 0.4, 0.0)), joint=joint)
    return robot


PULL = GRAVITY * np.sin(0.4)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_block_on_an_incline_slides_or_sticks(integrator: str) -> None:
    method = INTEGRATORS[integrator]
    stuck = incline(1.05 * PULL).simulate(0.5, 1e-2, integrator=method)
    assert np.abs(stuck.joint("block")).max() < 1e-12
    motion = incline(0.7 * PULL).simulate(0.5, 1e-2, integrator=method)
    way = motion.joint("block")[-1, 0]
    first_order = integrator in ("Variational", "ImplicitEuler")
    assert way == pytest.approx(0.5 * 0.3 * PULL * 0.25, rel=0.03 if first_order else 1e-9)
    assert motion.energy["dissipated"][-1] == pytest.approx(0.7 * PULL * way, rel=1e-9)


def test_block_kicked_up_an_incline_stops_and_stays() -> None:
    motion = incline(1.2 * PULL).simulate(1.0, 1e-3, velocity={"block": (-1.0,)})
    way = motion.joint("block")[:, 0]
    assert way.min() == pytest.approx(-0.5 / (2.2 * PULL), abs=3e-4)
    assert np.abs(way[-100:] - way.min()).max() < 1e-4  # it springs back by a few times STICKS
    assert np.ptp(way[-500:]) < 1e-9  # no creep


def stopping_angles(friction: float, start: float) -> list[float]:
    """Turning points of a pendulum with dry friction until it sticks, each swing integrated alone."""
    moment, inertia, angles = 0.5 * GRAVITY, 0.27, [start]
    while moment * abs(np.sin(angles[-1])) > friction:
        way = -np.sign(angles[-1])

        def turned(t: float, y: Array) -> Any:
            return y[1]

        turned.terminal, turned.direction = True, -way  # type: ignore[attr-defined]
        swing = solve_ivp(
            lambda t, y, way=way: [y[1], -(moment * np.sin(y[0]) + friction * way) / inertia],
            (0.0, 5.0), [angles[-1], 0.0], events=turned, rtol=1e-10, atol=1e-12,
        )  # fmt: skip
        angles.append(float(swing.y[0, -1]))
    return angles


@pytest.mark.parametrize("integrator", ["Midpoint", "Newmark", "GeneralizedAlpha"])
def test_pendulum_with_dry_friction_stops_where_theory_says(integrator: str) -> None:
    angles = stopping_angles(0.5, 1.2)
    motion = pendulum(friction=0.5).simulate(
        6.0, 5e-3, joints={"bob": 1.2}, integrator=INTEGRATORS[integrator]
    )
    found = motion.joint("bob")[:, 0]
    assert found.min() == pytest.approx(angles[1], abs=1e-3)
    assert found[-1] == pytest.approx(angles[-1], abs=len(angles) * 1e-4 + 5e-4)
    assert np.ptp(found[-100:]) < 1e-7


def test_statics_stick_until_the_friction_is_reached_and_when_unloaded() -> None:
    """Hysteresis: a torque T turns by (T - F) / k, and it takes 2 F to turn back."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    joint = pl.Revolute("x", stiffness=2.0, friction=1.0, drive="torque")
    robot.add_body("arm", 1.0, (1.0, 1.0, 1.0), joint=joint)
    assert abs(robot.statics({"arm": 0.9}).joint("arm")[0]) < 1e-4
    loaded = robot.statics({"arm": 3.0})
    assert loaded.joint("arm")[0] == pytest.approx(1.0, abs=1e-9)
    for torque, angle in ((2.5, 1.0), (1.1, 1.0), (0.5, 0.75), (0.0, 0.5)):
        back = robot.statics({"arm": torque}, start=loaded).joint("arm")[0]
        assert back == pytest.approx(angle, abs=2.1e-4)


def test_two_joints_with_friction_take_few_iterations() -> None:
    robot = pl.Robot()
    upper = robot.add_body(
        "upper", 1.0, (0.02,) * 3, centre=(0, 0, -0.2), joint=pl.Revolute("x", friction=0.6)
    )
    robot.add_body(
        "lower", 1.0, (0.02,) * 3, on=upper.at((0, 0, -0.4)), centre=(0, 0, -0.2),
        joint=pl.Revolute("x", friction=0.3),
    )  # fmt: skip
    motion = robot.simulate(5.0, 5e-3, joints={"upper": 1.0, "lower": -0.5})
    assert motion.iterations < 4 * motion.steps and not motion.rescues
    energy = motion.energy
    total = energy["kinetic"] + energy["gravity"] + energy["dissipated"]
    assert np.abs(total - total[0]).max() < 2e-3 * np.ptp(energy["gravity"])
    assert np.ptp(motion.joint("lower")[-40:]) < 1e-6
