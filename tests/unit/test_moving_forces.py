"""Forces in motions: what holds the robot and what rods pass on, against momentum and strong forms."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant import EnergyWarning
from pliant.model import Array

SOFT = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=300.0)
SPLINE = pl.BSpline(points=8)
GAUSS = np.polynomial.legendre.leggauss(24)
WAYS: list[tuple[str, Any, Any]] = [
    ("cosserat", SPLINE, pl.Midpoint()),
    ("kirchhoff", SPLINE, pl.Newmark()),
    ("cosserat", pl.Hermite(elements=4), pl.GeneralizedAlpha()),
    ("kirchhoff", pl.Strain(segments=3), pl.Midpoint()),
    ("kirchhoff", {"arm": pl.ANCF(5, planar=False), "hand": pl.Strain(), "leg": SPLINE}, None),
]


def tree(theory: str) -> pl.Robot:
    """A driven arm that carries a hand with a camera beside its axis, and a leg held at its tip."""
    robot = pl.Robot()
    arm = robot.add_rod(
        "arm", 0.2, pl.Circle(0.01), SOFT, pl.along("x"), theory=theory, mass_damping=1.5
    )
    place = arm.at(0.15, offset=(0.004, 0.0))
    robot.add_rod("hand", 0.1, pl.Circle(0.008), SOFT, pl.along("x"), base=place, theory=theory)
    pose = np.array(pl.along("x"))
    pose[1, 3] = 0.05
    leg = robot.add_rod("leg", 0.2, pl.Circle(0.01), SOFT, pose, theory=theory)
    robot.add_body(
        "cam", 0.01, (1e-6, 2e-6, 2.5e-6), on=pl.Frame("hand", 0.1), centre=(0.002, 0.001, 0.01)
    )
    robot.add_load("push", arm.tip, force=(0.02, 0.02, 0), frame="body")
    robot.add_load("wind", leg, force=(0, 0.05, 0))
    robot.add_constraint("rest", on=leg.tip, to=pose, hold=("x", "y"))
    robot.add_base_motion("shake", of="arm", translation=(0, 0, 1))
    return robot


def smooth(amplitude: float) -> pl.Signal:
    return pl.Sine(amplitude, 2.5, phase=-np.pi / 2, offset=amplitude)


INPUTS = {"shake": smooth(0.01), "push": smooth(0.5), "wind": smooth(0.5)}


def to_origin(g: Array, wrench: Array) -> Array:
    """Body wrenches (T, S, 6) at poses g (T, S, 4, 4) summed in the world frame about its origin."""
    m, f = (np.einsum("tsij,tsj->tsi", g[..., :3, :3], w) for w in np.split(wrench, 2, axis=-1))
    return np.concatenate([m + np.cross(g[..., :3, 3], f), f], axis=-1).sum(axis=1)


def to_body(g: Array, wrench: Array) -> Array:
    parts = [np.einsum("tsji,tsj->tsi", g[..., :3, :3], w) for w in np.split(wrench, 2, axis=-1)]
    return np.concatenate(parts, axis=-1)


def momentum_and_loads(
    robot: pl.Robot, motion: pl.Motion, rods: tuple[str, ...]
) -> tuple[Array, Array]:
    """Momentum of some rods and the wrench of all loads on them (T, 6), world, about its origin."""
    about, momentum, acting = robot.description, 0.0, 0.0
    gravity = np.asarray(about.gravity)
    for name in rods:
        rod = about.rods[name]
        s, w = 0.5 * rod.length * (GAUSS[0] + 1.0), 0.5 * rod.length * GAUSS[1]
        g, h = motion.pose(name, s), rod.inertia(s) * motion.velocity(name, s) * w[:, None]
        momentum = momentum + to_origin(g, h)
        weight = np.zeros_like(h)
        weight[..., 3:] = gravity * (rod.mass_per_length(s) * w)[:, None]
        acting = acting + to_origin(g, to_body(g, weight) - rod.mass_damping * h)
        for load in about.loads.values():
            values = motion.inputs[load.name]
            if load.part == name and load.distributed:
                line = np.array([load.density(s, x) for x in values]) * w[:, None]
                acting = acting + to_origin(g, to_body(g, line))
            elif load.part == name:
                point = np.array([load.wrench(x) for x in values])[:, None]
                acting = acting + to_origin(motion.pose(name, [load.on.s]), point)
    for body in [item for item in about.bodies.values() if item.part in rods]:
        g, eta = (ask(body.part, [body.frame.s]) for ask in (motion.pose, motion.velocity))
        momentum = momentum + to_origin(g, eta @ body.spatial_inertia())
        force = body.mass * np.einsum("tsji,j->tsi", g[..., :3, :3], gravity)
        acting = acting + to_origin(
            g, np.concatenate([np.cross(body.arm(), force), force], axis=-1)
        )
    return np.asarray(momentum), np.asarray(acting)


def rate(values: Array, h: float) -> Array:
    """Time derivative at all but two instants at each end."""
    return (values[:-4] - 8 * values[1:-3] + 8 * values[3:-1] - values[4:]) / (12 * h)


def gap(found: Array, expected: Array) -> float:
    """The largest difference of moments over the largest moment, or of forces over theirs."""
    pairs = zip(np.split(found, 2, axis=-1), np.split(expected, 2, axis=-1), strict=True)
    return float(max(np.abs(a - b).max() / np.abs(b).max() for a, b in pairs))


@pytest.mark.parametrize(("theory", "formulation", "integrator"), WAYS)
def test_reactions_are_the_rate_of_momentum_less_what_acts(
    theory: str, formulation: Any, integrator: Any
) -> None:
    robot, h = tree(theory), 5e-4
    motion = robot.simulate(
        0.05, h, inputs=INPUTS, start="statics", formulation=formulation, integrator=integrator
    )
    held = motion.reactions
    assert set(held) == {"arm", "leg", "rest"} and held["arm"].shape == (101, 6)
    exerted = {
        "arm": to_origin(motion.pose("arm", [0.0]), held["arm"][:, None]),
        "leg": to_origin(motion.pose("leg", [0.0]), held["leg"][:, None]),
    }
    pose = np.tile(robot.description.constraints["rest"].to, (101, 1, 1, 1))
    tip = pose.copy()
    tip[..., :3, 3] = motion.tip("leg")[:, None, :3, 3]
    exerted["leg"] = exerted["leg"] + to_origin(tip, held["rest"][:, None])
    assert np.abs(held["rest"][:, 3:5]).max() > 0.01
    for base, rods in (("arm", ("arm", "hand")), ("leg", ("leg",))):
        momentum, acting = momentum_and_loads(robot, motion, rods)
        expected = rate(momentum, h) - acting[2:-2]
        assert gap(exerted[base][2:-2], expected) < 1.5e-3
        if base == "arm":
            assert np.abs(expected + acting[2:-2]).max() > 0.1 * np.abs(expected).max()
    beyond = motion.wrench("arm", 0.0)
    assert gap(-beyond, held["arm"]) < 1e-5


@pytest.mark.parametrize(("theory", "formulation", "integrator"), WAYS)
def test_forces_of_a_motion_at_rest_are_those_of_the_equilibrium(
    theory: str, formulation: Any, integrator: Any
) -> None:
    robot = tree(theory)
    still = robot.statics(formulation=formulation)
    motion = robot.simulate(
        0.004, 2e-3, start=still, formulation=formulation, integrator=integrator
    )
    for name, wrench in still.reactions.items():
        assert motion.reactions[name] == pytest.approx(np.tile(wrench, (3, 1)), abs=2e-6)
    for rod in ("arm", "hand"):
        s = [0.0, 0.03, 0.1]
        expected = still.wrench(rod, s)
        assert motion.wrench(rod, s)[-1] == pytest.approx(expected, abs=5e-6)


ACTUATORS: list[tuple[Any, Any, float]] = [
    (pl.ANCF(8, rotary=True), pl.Newmark(), 2e-3),
    (pl.BSpline(points=10), None, 1e-3),
    (pl.Strain(segments=4), pl.Newmark(), 2e-3),
    (pl.Hermite(), pl.GeneralizedAlpha(), 1e-3),
]


@pytest.fixture(scope="module")
def finger() -> tuple[pl.Robot, pl.Motion]:
    robot = pl.Robot()
    actuator = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12, mass_damping=2.4)
    robot.add_actuator("finger", actuator, pl.along("-z"))
    return robot, motion_of(robot, pl.Collocation(nodes=20), None, 1e-3)


def motion_of(robot: pl.Robot, formulation: Any, integrator: Any, dt: float) -> pl.Motion:
    return robot.simulate(
        0.2, dt, inputs={"chamber1": smooth(2e4)}, start="statics", formulation=formulation,
        integrator=integrator, output_times=np.linspace(0.0, 0.2, 21),
    )  # fmt: skip


@pytest.mark.parametrize(("formulation", "integrator", "tolerance"), ACTUATORS)
def test_forces_in_an_actuator_are_those_a_strong_form_solves_for(
    finger: tuple[pl.Robot, pl.Motion], formulation: Any, integrator: Any, tolerance: float
) -> None:
    robot, truth = finger
    motion = motion_of(robot, formulation, integrator, 1e-3)
    assert gap(motion.reactions["finger"], truth.reactions["finger"]) < tolerance
    assert truth.reactions["finger"] == pytest.approx(-truth.wrench("finger", 0.0))
    s = [0.05, 0.1]
    assert gap(motion.wrench("finger", s), truth.wrench("finger", s)) < tolerance
    law = motion.wrench("finger", s, by="law")
    assert np.abs(law[..., 3:]).max() < 1e-9


def test_long_steps_do_not_ring_in_the_reaction() -> None:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 0.05, 0))
    times = np.linspace(0.0, 0.3, 31)

    def reaction(formulation: Any, dt: float) -> Array:
        motion = robot.simulate(
            0.3, dt, inputs={"push": pl.Sine(1.0, 3.0)}, start="statics", output_times=times,
            formulation=formulation,
        )  # fmt: skip
        return motion.reactions["arm"]

    truth = reaction(pl.Collocation(nodes=20), 1e-3)
    assert gap(reaction(pl.BSpline(points=12), 5e-3), truth) < 0.03
    assert gap(reaction(pl.BSpline(points=12), 1e-3), truth) < 5e-4


def test_a_body_at_a_moving_base_is_felt_there_and_refused_by_strong_forms() -> None:
    def motion(mass: float, formulation: Any) -> pl.Motion:
        robot = pl.Robot()
        arm = robot.add_rod("arm", 0.2, pl.Circle(0.01), SOFT)
        robot.add_body("foot", mass, on=arm.at(0.0))
        robot.add_base_motion("shake", of="arm", translation=(1, 0, 0))
        inputs = {"shake": smooth(0.01)}
        return robot.simulate(0.02, 1e-3, inputs=inputs, start="statics", formulation=formulation)

    with pytest.raises(pl.DescriptionError, match=r"body 'foot'.*BSpline"):
        _ = motion(0.02, pl.Shooting()).reactions
    added = motion(0.02, SPLINE).reactions["arm"] - motion(0.0, SPLINE).reactions["arm"]
    expected = np.zeros((21, 6))
    expected[:, 3] = [0.02 * smooth(0.01).acceleration(t) for t in np.linspace(0.0, 0.02, 21)]
    expected[:, 5] = 0.02 * 9.81
    assert added == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.Newmark()])
def test_rates_of_carried_inextensible_rods_are_those_of_their_places(integrator: Any) -> None:
    motion = tree("kirchhoff").simulate(
        0.03, 5e-4, inputs=INPUTS, start="statics", formulation=SPLINE, integrator=integrator
    )
    for rod in ("arm", "hand"):
        g = motion.tip(rod)
        twist = motion.velocity(rod, motion._compiled.description.rods[rod].length)
        world = np.einsum("tij,tj->ti", g[:, :3, :3], twist[:, 3:])
        expected = rate(g[:, :3, 3], 5e-4)
        assert np.abs(world[2:-2] - expected).max() < 2e-3 * np.abs(expected).max()


STIFF = [SPLINE, pl.Hermite(6), pl.Strain(order=3), pl.ANCF(4, planar=False)]


@pytest.mark.parametrize("dt", [2e-3, 5e-4])
@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0)], ids=["along", "across"])
def test_base_pulls_a_steel_rod_by_its_mass_times_acceleration(direction: Any, dt: float) -> None:
    """In the mean of vibrations, which steps do not resolve, and with all coordinates alike."""
    steel, mass = pl.Material(E=2.1e11, nu=0.3, rho=7800.0), 7800.0 * np.pi * 1e-4 * 0.3
    forces = []
    for formulation in STIFF:
        robot = pl.Robot(gravity=(0, 0, 0))
        robot.add_rod("rod", 0.3, pl.Circle(0.01), steel, pl.along("x"))
        robot.add_base_motion("shake", "rod", translation=direction)
        motion = robot.simulate(0.1, dt, {"shake": lambda t: 0.5 * t * t}, formulation=formulation)
        pulls = np.einsum("i,ij->j", direction, motion.pose("rod", 0.0)[0, :3, :3])
        forces.append(motion.reactions["rod"][:, 3:] @ pulls / mass)
    for force in forces:
        assert force[5:].mean() == pytest.approx(1.0, abs=0.02)
    for force in forces[:2]:  # of the same theory; ANCF leaves out shear
        assert force == pytest.approx(forces[2], abs=3e-3)


def test_forces_tell_of_unresolved_modes_that_positions_do_not_show() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 0.05, 0))

    def motion(integrator: Any, dt: float) -> pl.Motion:
        return robot.simulate(
            0.27, dt, inputs={"push": pl.Sine(1.0, 3.0)}, start="statics",
            output_times=np.linspace(0.0, 0.27, 28), formulation=pl.Hermite(6), integrator=integrator,
        )  # fmt: skip

    with warnings.catch_warnings():
        warnings.simplefilter("error", EnergyWarning)
        truth = motion(pl.GeneralizedAlpha(), 1e-3)
        damped = motion(pl.GeneralizedAlpha(), 5e-3)
        assert gap(damped.reactions["arm"], truth.reactions["arm"]) < 0.006
    with pytest.warns(EnergyWarning, match="too long for this motion"):
        growing = motion(pl.Midpoint(), 5e-3)
    assert np.abs(growing.tip("arm") - truth.tip("arm")).max() < 1.5e-3
    told = r"0\.005 s does not resolve.*forces are off.*GeneralizedAlpha\(rho=0\.5\)"
    with pytest.warns(EnergyWarning, match=told):
        assert gap(growing.reactions["arm"], truth.reactions["arm"]) > 0.1
    with pytest.warns(EnergyWarning, match=told):
        growing.wrench("arm", 0.1)


@pytest.mark.parametrize("formulation", [SPLINE, pl.ANCF(4)])
def test_a_part_without_inertia_is_named(formulation: Any) -> None:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.2, pl.Circle(0.01), SOFT, pl.along("x"))
    robot.add_body("flag", 0.0, on=arm.tip, joint=pl.Revolute("y", stiffness=0.1))
    with pytest.raises(pl.DescriptionError, match=r"body 'flag': mass = 0.*more than zero"):
        robot.simulate(0.01, 1e-3, formulation=formulation)


def test_rounding_in_a_robot_at_rest_is_no_gain_of_energy() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    place = pl.pose((0.03, -0.02, 0.05), (0.4, -0.7, 0.3))
    robot.add_rod("arm", 0.3, pl.Circle(0.011), SOFT, place, mass_damping=1.1)
    cable = pl.ANCF(3, planar=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", EnergyWarning)
        still = robot.simulate(0.05, 2e-3, formulation=cable, integrator=pl.ImplicitEuler())
        assert still.energy["kinetic"].max() < 1e-25
        assert np.abs(still.reactions["arm"]).max() < 1e-10
