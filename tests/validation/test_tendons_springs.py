"""Tendons and springs against exact solutions and ordinary differential equations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import pliant as pl
from pliant.results.shapes_and_arrows import tension_color

LENGTH, RADIUS, OFFSET, E = 0.3, 0.01, 0.007, 1e6
EI, EA = E * np.pi / 4 * RADIUS**4, E * np.pi * RADIUS**2
SOFT = pl.Material(E=E, nu=0.5, rho=1000.0, viscosity=1e3)
INTEGRATORS = [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.9), pl.ImplicitEuler()]


def tendon_arm(spans: int, gravity: Any = (0.0, 0.0, 0.0)) -> pl.Robot:
    robot = pl.Robot(gravity=gravity)
    arm = robot.add_rod("arm", LENGTH, pl.Circle(RADIUS), SOFT)
    holes = [arm.at(s, (OFFSET, 0.0)) for s in np.linspace(0.0, LENGTH, spans + 1)]
    robot.add_tendon("pull", holes)
    return robot


def constant_curvature(tension: float) -> np.ndarray:
    """Tip (x, z) of a rod with an embedded parallel tendon: u = T r / EI, v = 1 - T / EA."""
    u, v = tension * OFFSET / EI, 1.0 - tension / EA
    return v / u * np.array([1.0 - np.cos(u * LENGTH), np.sin(u * LENGTH)])


def test_via_points_converge_to_the_embedded_tendon_at_second_order() -> None:
    """Spans of d are chords: on average u (1 - u r) d^2 / 12 further from the rod than the tendon.

    So curvature is too large by T / EI times this, of which the tip is off by as much as it moves.
    """
    errors, force = [], 1.0
    for spans in (4, 8, 16):
        robot = tendon_arm(spans)
        still = robot.statics({"pull": force}, formulation=pl.Strain(order=2, segments=spans))
        tip = still.tip("arm")[[0, 2], 3]
        errors.append(float(np.linalg.norm(tip - constant_curvature(force))))
        assert still.tension("pull") == pytest.approx(force)
    np.testing.assert_allclose(np.array(errors[:-1]) / errors[1:], 4.0, rtol=0.07)
    u, d = force * OFFSET / EI, LENGTH / 16
    more = u * (1.0 - u * OFFSET) * d**2 / 12.0 / OFFSET
    beside = (constant_curvature(force * (1.0 + more)) - constant_curvature(force)) / errors[-1]
    assert np.linalg.norm(beside) == pytest.approx(1.0, rel=0.02)


def test_tension_of_a_stationary_length_is_the_derivative_of_energy() -> None:
    """dU/dT = T dL/dT at no other load: what the tendon takes in is stored in the rod."""
    robot, step = tendon_arm(10), 0.01
    low, high = (robot.statics({"pull": 3.0 + x}) for x in (-step, step))
    stored = high.energy["elastic"] - low.energy["elastic"]
    taken = low.tendon_length("pull") - high.tendon_length("pull")
    assert stored == pytest.approx(3.0 * taken, rel=1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
def test_work_of_a_tendon_is_stored_or_dissipated(integrator: Any) -> None:
    robot = tendon_arm(10, (0.0, 0.0, -9.81))
    ramp = pl.Ramp(0.0, 3.0, 0.0, 0.3)
    motion = robot.simulate(0.4, 2e-3, inputs={"pull": ramp}, integrator=integrator)
    gap = np.abs(motion.energy["balance"]).max()
    limit = 0.05 if isinstance(integrator, pl.ImplicitEuler) else 0.005
    assert gap < limit * motion.energy["work"].max()
    assert motion.tension("pull") == pytest.approx(motion.inputs["pull"])
    # the input does the work of the tension along the change of length
    L, T = motion.tendon_length("pull"), motion.tension("pull")
    work = -np.sum(0.5 * (T[1:] + T[:-1]) * np.diff(L))
    assert motion.energy["work"][-1] == pytest.approx(work, rel=1e-9)


# -- springs ----------------------------------------------------------------------------------------


def pendulum(**spring: Any) -> pl.Robot:
    """A bob on a hinge, 0.5 m below it, and a spring from it to a point in the world."""
    robot = pl.Robot()
    rod = robot.add_body(
        "bob", 0.4, (0.01, 0.01, 0.01), centre=(0, 0, -0.5), joint=pl.Revolute("y")
    )
    robot.add_spring("spring", rod.at((0.0, 0.0, -0.4)), (0.3, 0.0, -0.1), **spring)
    return robot


def swing(angle: float, rate: float, k: float, rest: float, c: float, power: float) -> float:
    """Angular acceleration of the pendulum: positive angles about y move the bob to -x."""
    arm, lever = np.array([-0.4 * np.sin(angle), -0.4 * np.cos(angle)]), 0.4
    way = np.array([0.3, -0.1]) - arm
    L = float(np.linalg.norm(way))
    move = lever * np.array([-np.cos(angle), np.sin(angle)])
    dL = -float(way @ move) / L * rate
    force = (k * (L - rest) + c * abs(dL) ** power * np.sign(dL)) / L * way
    weight = -0.4 * 9.81 * 0.5 * np.sin(angle)
    return float((force @ move + weight) / (0.01 + 0.4 * 0.25))


def test_spring_holds_a_pendulum_where_moments_balance() -> None:
    still = pendulum(stiffness=30.0, rest=0.2).statics()
    angle = brentq(lambda x: swing(x, 0.0, 30.0, 0.2, 0.0, 1.0), -1.5, 0.0)
    assert still.joint("bob")[0] == pytest.approx(angle, abs=1e-9)
    stretch = still.tendon_length("spring") - 0.2
    assert still.tension("spring") == pytest.approx(30.0 * stretch, rel=1e-12)
    assert still.energy["elastic"] == pytest.approx(15.0 * stretch**2, rel=1e-12)


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("integrator", INTEGRATORS[:3], ids=lambda x: type(x).__name__)
def test_damped_spring_swings_as_its_differential_equation(integrator: Any, power: float) -> None:
    k, rest, c = 30.0, 0.2, 0.8
    robot = pendulum(stiffness=k, rest=rest, damping=c, power=power)
    motion = robot.simulate(1.0, 1e-3, integrator=integrator)
    rule = solve_ivp(
        lambda t, y: [y[1], swing(y[0], y[1], k, rest, c, power)],
        (0.0, 1.0),
        [0.0, 0.0],
        t_eval=motion.t,
        rtol=1e-10,
        atol=1e-12,
    )
    np.testing.assert_allclose(motion.joint("bob")[:, 0], rule.y[0], atol=3e-5)
    assert np.abs(motion.energy["balance"]).max() < 2e-5 * motion.energy["elastic"].max()
    assert np.all(np.diff(motion.energy["dissipated"]) >= 0.0)


@pytest.mark.parametrize("kind", ["tension", "compression"])
def test_rope_goes_taut_and_bumper_is_met(kind: str) -> None:
    """Free fall, then half a swing on the spring, then flight: times and heights are known."""
    k, mass, g = 400.0, 0.5, 9.81
    robot = pl.Robot(gravity=(0.0, 0.0, -g))
    ball = robot.add_body("ball", mass, (1e-3,) * 3, joint=pl.Free())
    height = 0.3 if kind == "tension" else -0.5
    robot.add_spring("stop", ball.at((0, 0, 0)), (0.0, 0.0, height), k, rest=0.4, kind=kind)
    motion = robot.simulate(0.5, 1e-3)
    fall, w = 0.1, np.sqrt(k / mass)
    meet = np.sqrt(2.0 * fall / g)
    sag = mass * g / k
    swing = np.hypot(sag, g * meet / w)
    lowest = -fall - sag - swing
    depth = motion.position("ball")[:, 2]
    assert depth.min() == pytest.approx(lowest, rel=1e-4)
    touch = 2.0 * (np.pi - np.arctan2(g * meet / w, sag)) / w
    away = meet + touch
    force = np.asarray(motion.tension("stop"))
    acting = motion.t[np.abs(force) > 0.0]
    assert acting[0] == pytest.approx(meet, abs=2e-3)
    assert acting[-1] == pytest.approx(away, abs=3e-3)
    assert np.all(force >= 0.0 if kind == "tension" else force <= 0.0)
    top = depth[motion.t > away].max()
    assert top == pytest.approx(0.0, abs=2e-3)
    assert np.abs(motion.energy["balance"]).max() < 1e-3 * mass * g * 0.3


def test_stiff_spring_does_not_limit_the_step() -> None:
    """omega h = 170: the secant of the potential keeps the energy of what the step cannot resolve."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    a = robot.add_body("a", 1.0, (1e-2,) * 3, joint=pl.Free())
    b = robot.add_body("b", 1.0, (1e-2,) * 3, pose=pl.pose((0.2, 0, 0)), joint=pl.Free())
    robot.add_spring("link", a.at((0.0, 0.05, 0.0)), b.at((0.0, 0.05, 0.0)), 1.5e8)
    start = {"a": (0, 0, 1.0, 0, 0.1, 0), "b": (0, 0, 1.0, 0, 0.3, 0)}
    motion = robot.simulate(1.0, 0.01, velocity=start)
    kinetic = motion.energy["kinetic"]
    assert kinetic.max() < 1.02 * kinetic[0]
    speed = motion.velocity("a")[:, 3:] + motion.velocity("b")[:, 3:]
    assert np.linalg.norm(speed[-1]) > 0.0


def test_zero_length_spring_is_linear() -> None:
    """With no rest length the force is -k d in each direction: a body hangs by m g / k below."""
    robot = pl.Robot()
    ball = robot.add_body("ball", 0.2, (1e-4,) * 3, joint=pl.Free())
    for k, (x, y) in enumerate(((0.1, 0.0), (-0.1, 0.0), (0.0, 0.1))):
        robot.add_spring(f"string {k}", ball.at((x, y, 0)), (x, y, 0.0), 50.0, rest=0.0)
    robot.add_spring("string", ball.at((0, -0.1, 0)), (0.0, -0.1, 0.0), 50.0, rest=0.0)
    still = robot.statics()
    assert still.position("ball") == pytest.approx((0, 0, -0.2 * 9.81 / 200), abs=1e-9)
    slow = np.sqrt(200.0 / 0.2) / (2.0 * np.pi)
    assert np.abs(robot.modes(6, at=still).frequencies - slow).min() < 1e-3 * slow


def test_robot_file_gives_tendons_and_springs_back(tmp_path: Path) -> None:
    robot = tendon_arm(3, (0.0, 0.0, -9.81))
    robot.add_spring("rope", "arm.tip", (0.0, 0.1, 0.3), 5.0, kind="tension", damping=0.1)
    again = pl.Robot.from_file(robot.save(tmp_path / "arm.yaml"))
    one, two = (x.statics({"pull": 2.0}) for x in (robot, again))
    np.testing.assert_array_equal(one.tip("arm"), two.tip("arm"))
    assert "pull" in (tmp_path / "arm.yaml").read_text()
    saved = pl.load(one.save(tmp_path / "still.nc"))
    assert float(saved["tension_pull"]) == 2.0
    assert float(saved["length_rope"]) == pytest.approx(one.tendon_length("rope"))


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (lambda r: r.add_tendon("t", ["arm.tip"]), ("tendon 't'", "path", "two via-points")),
        (lambda r: r.add_tendon("t"), ("tendon 't'", "path", "two via-points")),
        (lambda r: r.add_tendon("t", [(0, 0, 0), (0, 0, 1)]), ("path", "points in the world")),
        (lambda r: r.add_tendon("t", ["arm.tip", "arms.base"]), ("path[1]", "arm")),
        (lambda r: r.add_spring("s", "arm.tip", (0, 0, 1)), ("stiffness", "damping=0.1")),
        (lambda r: r.add_spring("s", "arm.tip", "arm.tip", 1.0), ("'s'", "another point")),
        (
            lambda r: r.add_spring("s", (0, 0, 0), (0, 0, 1), 1.0),
            ("a = (0.0, 0.0, 0.0)", "arm.tip"),
        ),
        (lambda r: r.statics({"pull": -1.0}), ("pull", "cannot push")),
        (lambda r: r.statics().tension("push"), ("tension", "pull")),
        (lambda r: r.statics(formulation=pl.Shooting()), ("pull",)),
    ],
)
def test_bad_tendons_and_springs_are_refused_in_a_sentence(add: Any, words: Any) -> None:
    with pytest.raises(pl.PliantError) as error:
        add(tendon_arm(3))
    for word in words:
        assert word in str(error.value)


# -- tendons of a given length ----------------------------------------------------------------------


def reel_arm(**options: Any) -> pl.Robot:
    robot = pl.Robot(gravity=(0.0, 0.0, -9.81))
    arm = robot.add_rod("arm", LENGTH, pl.Circle(RADIUS), SOFT, pose=pl.along("x"))
    holes = [arm.at(s, (-OFFSET, 0.0)) for s in np.linspace(0.0, LENGTH, 11)]
    robot.add_tendon("pull", holes, **options)
    return robot


@pytest.mark.parametrize("EA", [None, 1e3])
def test_tendon_driven_by_length_is_the_one_driven_by_the_tension_it_has(EA: float | None) -> None:
    """Also the pulled length is that of the path and the stretch T L / EA, L = 0.3 m at rest."""
    by_tension = reel_arm().statics({"pull": 2.0})
    stretch = 0.0 if EA is None else 2.0 * LENGTH / EA
    pulled = LENGTH - by_tension.tendon_length("pull") + stretch
    still = reel_arm(drive="length", stiffness=EA).statics({"pull": pulled})
    np.testing.assert_allclose(still.tip("arm"), by_tension.tip("arm"), atol=1e-9)
    assert still.tension("pull") == pytest.approx(2.0, rel=1e-8)
    assert still.tendon_length("pull") == pytest.approx(by_tension.tendon_length("pull"), rel=1e-9)
    assert still.stable


def test_slack_tendon_does_nothing_until_it_is_pulled_in() -> None:
    """The arm sags as without it; the tendon goes taut where it has the length of the sagging path."""
    bare = reel_arm().statics({"pull": 0.0})
    sag = bare.tendon_length("pull") - LENGTH
    assert sag > 0.0  # it runs above the rod
    robot = reel_arm(drive="length", slack=2.0 * sag)
    still = robot.statics({"pull": 0.9 * sag})
    assert still.tension("pull") == 0.0
    assert still.slack("pull") == pytest.approx(0.1 * sag, rel=1e-6)
    np.testing.assert_allclose(still.tip("arm"), bare.tip("arm"), atol=1e-9)
    step = 1e-3 * sag
    taut = robot.statics({"pull": sag + step})
    assert taut.slack("pull") < 1e-12
    # near there the tension grows by the stiffness of the arm against the tendon
    soft = reel_arm().statics({"pull": 1e-3})
    give = (bare.tendon_length("pull") - soft.tendon_length("pull")) / 1e-3
    assert taut.tension("pull") == pytest.approx(step / give, rel=2e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("EA", [None, 500.0])
def test_work_of_a_reel_is_stored_or_dissipated(integrator: Any, EA: float | None) -> None:
    robot = reel_arm(drive="length", stiffness=EA)
    still = robot.statics({"pull": 0.001})
    ramp = pl.Ramp(0.001, 0.004, 0.05, 0.25)
    given = {"inputs": {"pull": ramp}, "integrator": integrator, "start": still}
    motion = robot.simulate(0.3, 2e-3, output_every=4e-3, **given)
    work = motion.energy["work"]
    damped = isinstance(integrator, pl.ImplicitEuler)
    assert np.abs(motion.energy["balance"]).max() < (0.1 if damped else 0.01) * work.max()
    # what the reel does is its tension times the length that it takes in
    done = np.trapezoid(motion.tension("pull"), motion.inputs["pull"])
    assert work[-1] == pytest.approx(done, rel=0.02)
    taken = motion.inputs["pull"] - motion.inputs["pull"][0]
    stretch = (
        0.0 if EA is None else np.diff(motion.tension("pull"), prepend=0.0).cumsum() * LENGTH / EA
    )
    length = motion.tendon_length("pull") - stretch
    np.testing.assert_allclose(length, length[0] - taken, atol=1e-8)


def test_rope_that_cannot_stretch_stops_what_falls() -> None:
    """It takes all kinetic energy in the impact, m g times the slack, and holds the weight then."""
    mass, g, slack = 0.5, 9.81, 0.2
    robot = pl.Robot(gravity=(0.0, 0.0, -g))
    ball = robot.add_body("ball", mass, (1e-3,) * 3, joint=pl.Free())
    robot.add_tendon("rope", [(0, 0, 0.3), ball.at((0, 0, 0))], drive="none", slack=slack)
    motion = robot.simulate(0.4, 1e-3)
    meet = np.sqrt(2.0 * slack / g)
    depth = motion.position("ball")[:, 2]
    before, after = motion.t < meet - 2e-3, motion.t > meet + 2e-3
    np.testing.assert_allclose(depth[before], -0.5 * g * motion.t[before] ** 2, atol=1e-6)
    np.testing.assert_allclose(depth[after], -slack, atol=1e-8)
    tension = np.asarray(motion.tension("rope"))
    assert not tension[before].any()
    np.testing.assert_allclose(tension[after], mass * g, rtol=1e-6)
    lost = motion.energy["dissipated"][-1]
    assert lost == pytest.approx(mass * g * slack, rel=0.01)


# -- friction ---------------------------------------------------------------------------------------


def round_bollards(turns: list[float], **options: Any) -> pl.Robot:
    """A tendon that turns by an angle at each of some points in the world, to a slider on a spring."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    way, points = 0.0, [np.zeros(3)]
    for turn in [0.0, *turns]:
        way += turn
        points.append(points[-1] + 0.1 * np.array([np.cos(way), np.sin(way), 0.0]))
    last = points.pop()
    place = np.eye(4)
    place[:3, 2], place[:3, 0] = (last - points[-1]) / 0.1, (0.0, 0.0, 1.0)
    place[:3, 1], place[:3, 3] = np.cross(place[:3, 2], place[:3, 0]), last
    slider = pl.Prismatic("z", stiffness=200.0, damping=2.0)
    block = robot.add_body("block", 0.2, (1e-4,) * 3, pose=place, joint=slider)
    robot.add_tendon("pull", [*points, block.at((0, 0, 0))], **options)
    return robot


@pytest.mark.parametrize("sliding", ["pull", "release"])
def test_tension_falls_as_the_capstan_formula_says(sliding: str) -> None:
    turns, mu = [0.3, 0.8, 0.5], 0.25
    robot = round_bollards(turns, friction=mu, sliding=sliding)
    still = robot.statics({"pull": 4.0})
    sign = -1.0 if sliding == "pull" else 1.0
    expected = 4.0 * np.exp(sign * mu * np.array([0.0, *np.cumsum(turns)]))
    np.testing.assert_allclose(still.tension("pull"), expected, rtol=1e-12)
    assert still.joint("block")[0] == pytest.approx(-expected[-1] / 200.0, rel=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
def test_friction_dissipates_and_the_balance_closes(integrator: Any) -> None:
    """Pulled and released slowly, the block follows both branches of the capstan formula."""
    turns, mu = [0.6, 0.9], 0.2
    robot = round_bollards(turns, friction=mu, creep=1e-4)
    pull = pl.Table([0.0, 1.0, 2.0], [1.0, 5.0, 2.0])
    motion = robot.simulate(2.0, 2e-3, inputs={"pull": pull}, integrator=integrator)
    energy = motion.energy
    assert np.all(np.diff(energy["dissipated"]) > -1e-12)
    damped = isinstance(integrator, pl.ImplicitEuler)
    assert np.abs(energy["balance"]).max() < (0.05 if damped else 0.01) * energy["work"].max()
    tip, first = np.asarray(motion.tension("pull"))[:, -1], motion.inputs["pull"]
    fall = np.exp(-mu * sum(turns))
    pulling, back = (motion.t > 0.5) & (motion.t < 0.95), motion.t > 1.9
    np.testing.assert_allclose(tip[pulling], fall * first[pulling], rtol=2e-3)
    np.testing.assert_allclose(tip[back], first[back] / fall, rtol=2e-3)


def test_friction_of_a_reel_needs_and_uses_stretch() -> None:
    """The reel takes in what the block moves and what the tendon stretches at the pulled end."""
    turns, mu, EA = [0.6, 0.9], 0.2, 200.0
    robot = round_bollards(turns, drive="length", stiffness=EA, friction=mu)
    still = robot.statics({"pull": 0.01})
    tension, length = np.asarray(still.tension("pull")), 0.1 * (len(turns) + 1)
    fall = np.exp(-mu * sum(turns))
    # T L / EA + fall T / 200 = 0.01
    pulled = 0.01 / (length / EA + fall / 200.0)
    assert tension[0] == pytest.approx(pulled, rel=1e-9)
    assert tension[-1] == pytest.approx(fall * pulled, rel=1e-9)
    with pytest.raises(pl.PliantError, match=r"stiffness .* with friction and drive='length'"):
        round_bollards(turns, drive="length", friction=mu)


# -- muscles ----------------------------------------------------------------------------------------


def hill(L: float, V: float, a: float) -> float:
    """A Hill muscle of 40 N, 0.4 m, 1 m/s, written anew."""
    f, over, v = np.exp(-(((L / 0.4 - 1.0) / 0.5) ** 2)), max(L / 0.4 - 1.0, 0.0), V / 1.0
    g = 1.0 + 0.5 * v / (v + 0.1) if v >= 0.0 else max((1.0 + v) / (1.0 - 4.0 * v), 0.0)
    return float(40.0 * (a * f * g + over**2))


@pytest.mark.parametrize("own", [False, True], ids=["built in", "own law"])
def test_muscle_moves_a_pendulum_as_its_differential_equation(own: bool) -> None:
    robot = pl.Robot()
    bob = robot.add_body("bob", 0.4, (0.01,) * 3, centre=(0, 0, -0.5), joint=pl.Revolute("y"))
    given = {"law": hill} if own else {"strength": 40.0, "optimum": 0.4}
    robot.add_muscle("muscle", [bob.at((0.0, 0.0, -0.4)), (0.3, 0.0, -0.1)], **given)

    def rule(angle: float, rate: float, a: float) -> float:
        arm = 0.4 * np.array([-np.sin(angle), -np.cos(angle)])
        way = np.array([0.3, -0.1]) - arm
        L = float(np.linalg.norm(way))
        move = 0.4 * np.array([-np.cos(angle), np.sin(angle)])
        pull = hill(L, -float(way @ move) / L * rate, a) * float(way @ move) / L
        return (pull - 0.4 * 9.81 * 0.5 * np.sin(angle)) / 0.11

    still = robot.statics({"muscle": 0.2})
    angle = brentq(lambda x: rule(x, 0.0, 0.2), -1.2, 0.0)
    assert still.joint("bob")[0] == pytest.approx(angle, abs=1e-7)
    motion = robot.simulate(0.6, 1e-3, inputs={"muscle": lambda t: 0.2 + 0.5 * t})
    known = solve_ivp(
        lambda t, y: [y[1], rule(*y, 0.2 + 0.5 * t)],
        *((0.0, 0.6), [0.0, 0.0]),
        t_eval=motion.t,
        rtol=1e-10,
        atol=1e-12,
    )
    np.testing.assert_allclose(motion.joint("bob")[:, 0], known.y[0], atol=2e-5)
    energy = motion.energy
    assert np.abs(energy["balance"]).max() < 1e-4 * np.abs(energy["work"]).max()
    assert np.all(np.diff(energy["dissipated"]) >= 0.0)
    with pytest.raises(pl.PliantError, match="from 0 to 1"):
        robot.statics({"muscle": 2.0})


def test_pictures_colour_tendons_by_tension() -> None:
    robot = tendon_arm(4)
    robot.add_tendon("rubbing", [f"arm.{s:g}" for s in (0.1, 0.2, 0.3)], friction=0.5)
    robot.add_spring("coil", "arm.tip", (0.1, 0.0, 0.3), 1.0)
    figure = robot.statics({"pull": 2.0, "rubbing": 1.0}).plot()
    shown = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    shown += [t.get_text() for ax in figure.axes if ax.get_legend() for t in ax.get_legend().texts]
    assert "pull: 2 N" in shown
    dark, light = (np.array(to_rgb(tension_color(x))) for x in (1.0, 0.0))
    assert dark[1] < light[1]
    plt.close(figure)


def test_robot_file_that_comes_with_pliant_is_a_tendon_arm() -> None:
    path = Path(pl.__file__).parent / "robots" / "tendon_arm.yaml"
    still = pl.Robot.from_file(path).statics()
    assert still.tip("arm")[0, 3] == pytest.approx(0.03615, abs=1e-4)
    assert still.slack("extend") > 0.0
    assert still.tension("return") == pytest.approx(2.0 * (still.tendon_length("return") - 0.1))


@pytest.mark.parametrize("viscosity", [10.0, 1e3])
def test_arm_with_disks_moves_in_long_steps_without_a_choice(viscosity: float) -> None:
    """5 N in steps of 10 ms, far from resolving shear and stretch, against steps of 0.5 ms."""
    robot = pl.Robot()
    soft = pl.Material(E=E, nu=0.5, rho=1000.0, viscosity=viscosity)
    arm = robot.add_rod("arm", LENGTH, pl.Circle(RADIUS), soft, pose=pl.along("-z"))
    robot.add_tendon("pull", [arm.at(s, (OFFSET, 0.0)) for s in np.linspace(0.0, LENGTH, 11)])
    given = {"inputs": {"pull": pl.Ramp(0.0, 5.0, 0.0, 0.5)}, "formulation": pl.BSpline(3, 6)}
    motion = robot.simulate(1.0, 0.01, **given)
    fine = robot.simulate(1.0, 5e-4, integrator=pl.Newmark(), output_every=0.01, **given)
    assert motion.integrator.startswith("GeneralizedAlpha")
    gap = np.abs(motion.tip("arm") - fine.tip("arm"))[:, :3, 3].max()
    assert gap < 0.015 * LENGTH
    assert np.abs(motion.energy["balance"]).max() < 0.01 * motion.energy["work"].max()


def test_modes_know_what_a_reel_holds() -> None:
    """Out of the plane of the tendon an arm vibrates as under a given tension; in it the reel holds."""
    still = reel_arm(drive="length").statics({"pull": 0.003})
    held = reel_arm(drive="length").modes(5, at=None, inputs={"pull": 0.003}).frequencies
    stiff = reel_arm(drive="length", stiffness=5e6).modes(5, inputs={"pull": 0.003}).frequencies
    free = reel_arm().modes(5, inputs={"pull": still.tension("pull")}).frequencies
    np.testing.assert_allclose(stiff, held, rtol=2e-5)
    np.testing.assert_allclose(held[[0, 2, 4]], free[[0, 2, 4]], rtol=1e-6)
    assert np.all(held[[1, 3]] > 1.1 * free[[1, 3]])


def test_fit_finds_a_spring_and_its_damper_from_its_length(tmp_path: Path) -> None:
    """The column spring.length is an output by its name."""
    motion = pendulum(stiffness=30.0, rest=0.2, damping=0.5).simulate(0.3, 2e-3)
    rows = np.column_stack([motion.t, motion.tendon_length("spring")])
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header="t,spring.length", comments="")
    guess = pendulum(stiffness=20.0, rest=0.2, damping=0.3)
    found = pl.fit(guess, tmp_path / "a.csv", ["spring.stiffness", "spring.damping"]).values
    assert found["spring.stiffness"] == pytest.approx(30.0, rel=1e-4)
    assert found["spring.damping"] == pytest.approx(0.5, rel=1e-3)


def test_stepper_pulls_a_reel_in() -> None:
    robot = reel_arm(drive="length", slack=0.001)
    stepper = robot.stepper(5e-3, {"pull": 0.0})
    for k in range(40):
        state = stepper.step({"pull": 1e-4 * k})
        assert state.converged
    assert state.slack("pull") < 1e-9
    assert state.tension("pull") > 0.0
    assert state.joint("pull")[0] == pytest.approx(39e-4)
