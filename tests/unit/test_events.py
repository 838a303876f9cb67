"""Events in motions: their times at the order of the integrator, and motions that go on behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import pliant as pl

LENGTH, MASS = 0.5, 1.0
QUARTER = np.sqrt(LENGTH / 9.81) * ellipk(np.sin(0.5) ** 2)
"""Time from 1 rad at rest to the bottom, s."""


def pendulum() -> pl.Robot:
    robot = pl.Robot()
    robot.add_body("bob", MASS, (0, 0, 0), centre=(0, 0, -LENGTH), joint=pl.Revolute("y"))
    return robot


def angle(state: Any) -> float:
    return float(state.joint("bob")[0])


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.GeneralizedAlpha(1.0), pl.Newmark()], ids=repr
)
def test_the_time_of_an_event_has_the_order_of_the_steps(integrator: Any) -> None:
    errors = []
    for dt in (8e-3, 4e-3):
        given = {"joints": {"bob": 1.0}, "integrator": integrator, "events": pl.Event(angle)}
        motion = pendulum().simulate(2.0, dt, **given)
        name, time = motion.event
        assert name == "angle" and motion.t[-1] == time and motion.complete
        assert motion.joint("bob")[-1, 0] == pytest.approx(0.0, abs=1e-10)
        assert (np.diff(motion.t) > 0.0).all()
        errors.append(time - QUARTER)
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.1)
    assert abs(errors[1]) < 1e-5


def test_steps_that_choose_themselves_find_events_to_their_tolerance() -> None:
    given = {"joints": {"bob": 1.0}, "integrator": pl.Radau(1e-8), "events": pl.Event(angle)}
    assert pendulum().simulate(2.0, 0.05, **given).event[1] == pytest.approx(QUARTER, abs=2e-8)


def test_a_ball_bounces_by_motions_that_go_on_from_events() -> None:
    """Times between impacts 2 e^k sqrt(2 h / g), parabolas being exact."""
    robot = pl.Robot()
    robot.add_body("ball", 0.1, (1e-4,) * 3, joint=pl.Free())
    ground = pl.Event(lambda s: s.position("ball")[2], "ground", "falling")
    fall, bounce = np.sqrt(2.0 * 0.3 / 9.81), 0.8
    motion = robot.simulate(1.0, 5e-3, joints={"ball": pl.pose((0, 0, 0.3))}, events=ground)
    assert motion.event == ("ground", pytest.approx(fall, abs=1e-10))
    for k in range(1, 5):
        twist = motion.velocity("ball")[-1] * (1, 1, 1, 1, 1, -bounce)
        motion = robot.simulate(1.0, 5e-3, start=motion, velocity={"ball": twist}, events=ground)
        assert motion.event == ("ground", pytest.approx(2.0 * bounce**k * fall, abs=1e-9))


def test_a_spring_that_is_switched_at_an_event_adds_its_energy() -> None:
    """Both motions keep the balance; between them the switch does the work of the change."""
    before = pendulum()
    before.add_bushing("spring", "bob", stiffness={"ry": 1.0})
    after = before.copy()
    after.remove("spring")
    after.add_bushing("spring", "bob", stiffness={"ry": 3.0})
    half = pl.Event(lambda state: angle(state) - 0.4)
    one = before.simulate(1.0, 2e-3, joints={"bob": 1.0}, events=half)
    two = after.simulate(1.0, 2e-3, start=one)
    assert one.joint("bob")[-1] == pytest.approx([0.4], abs=1e-9)
    assert two.joint("bob")[0] == pytest.approx(one.joint("bob")[-1], abs=1e-12)
    assert two.joint_rate("bob")[0] == pytest.approx(one.joint_rate("bob")[-1], abs=1e-9)

    def total(motion: Any) -> Any:
        return sum(motion.energy[name] for name in ("kinetic", "gravity", "elastic"))

    for motion in (one, two):
        assert np.ptp(total(motion)) < 1e-4 * np.ptp(motion.energy["kinetic"])
    assert total(two)[0] - total(one)[-1] == pytest.approx(0.5 * 2.0 * 0.4**2, rel=1e-6)


def test_the_first_event_ends_the_motion_and_directions_are_kept() -> None:
    low = pl.Event(lambda s: angle(s) - 0.3, "low")
    rising = pl.Event(lambda s: angle(s) - 0.9, "up", "rising")
    motion = pendulum().simulate(3.0, 0.02, joints={"bob": 1.0}, events=[rising, low])
    assert motion.event[0] == "low"
    back = pendulum().simulate(3.0, 0.02, joints={"bob": 1.0}, events=rising)
    assert back.event[0] == "up" and 3.0 * QUARTER < back.event[1] < 4.0 * QUARTER
    never = pendulum().simulate(0.5, 0.02, events=pl.Event(lambda s: angle(s) - 2.0))
    assert never.event is None and never.t[-1] == 0.5
    outputs = pendulum().simulate(
        3.0, 0.02, joints={"bob": 1.0}, events=low, output_times=[0.0, 0.1, 0.203, 2.0]
    )
    assert outputs.t == pytest.approx([0.0, 0.1, 0.203, motion.event[1]], abs=1e-12)


def test_explicit_steps_of_a_rod_stop_at_an_event() -> None:
    times = []
    for integrator in (pl.Explicit(), pl.Radau(1e-7)):
        robot = pl.Robot()
        soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=500.0)
        robot.add_rod("arm", 0.2, pl.Circle(0.006), soft, pose=pl.along("x"))
        event = pl.Event(lambda s: s.tip("arm")[2, 3] + 0.05)
        mesh = pl.EBA(8)
        motion = robot.simulate(1.0, 5e-3, formulation=mesh, integrator=integrator, events=event)
        times.append(motion.event[1])
        assert motion.tip("arm")[-1, 2, 3] == pytest.approx(-0.05, abs=1e-8)
    assert times[0] == pytest.approx(times[1], rel=1e-3)


def test_a_resumed_motion_stops_at_the_same_event(tmp_path: Any) -> None:
    def interrupt(t: float, end: float) -> None:
        if t > 0.2:
            raise KeyboardInterrupt

    given: dict[str, Any] = {"joints": {"bob": 1.0}, "events": pl.Event(angle)}
    whole = pendulum().simulate(2.0, 4e-3, **given)
    path = tmp_path / "motion.nc"
    pendulum().simulate(2.0, 4e-3, **given, save=path, progress=interrupt)
    again = pendulum().simulate(2.0, 4e-3, **given, resume=path)
    assert again.event == whole.event and (again.t == whole.t).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pl.Event(3.0), "Event: function = 3.0"),
        (lambda: pl.Event(angle, direction="down"), "direction = 'down'.*falling"),
        (lambda: pendulum().simulate(1.0, 0.01, events=angle), "simulate: events.*an Event"),
        (
            lambda: pendulum().simulate(1.0, 0.01, events=pl.Event(lambda s: "low")),
            "event.*t = 0 s = 'low'.*finite number",
        ),
        (
            lambda: pendulum().simulate(1.0, 0.01, events=pl.Event(angle), error=True),
            "error = True.*left out with events",
        ),
    ],
)
def test_bad_events_are_refused(make: Any, words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        make()


@pytest.mark.parametrize("dt", [0.01, 0.005])
def test_an_event_between_samples_of_a_controller_is_where_the_held_force_brings_it(
    dt: float,
) -> None:
    every, mass, goal = 0.02, 0.5, 0.5
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_body("cart", mass, joint=pl.Prismatic("z", drive="force", input="push"))
    asked = []

    def law(state: Any) -> dict[str, float]:
        asked.append(state.t)
        return {"push": 40.0 * (1.0 - state.joint("cart")[0]) - 6.0 * state.joint_rate("cart")[0]}

    event = pl.Event(lambda state: state.joint("cart")[0] - goal, "there")
    motion = robot.simulate(2.0, dt, controllers=(law, every), events=event)
    z, v, start = 0.0, 0.0, 0.0
    while True:  # the acceleration is constant between samples
        push = 40.0 * (1.0 - z) - 6.0 * v
        a = push / mass
        after = (-v + np.sqrt(max(v * v - 2.0 * a * (z - goal), 0.0))) / a
        if 0.0 < after <= every:
            break
        z, v, start = z + v * every + 0.5 * a * every**2, v + a * every, start + every
    assert motion.event == ("there", pytest.approx(start + after, abs=1e-12))
    assert motion.inputs["push"][-1] == pytest.approx(push, abs=1e-9)
    assert max(asked) == pytest.approx(start)  # it is not asked beyond the event
    assert motion.energy_gap.share_taken < 1e-9
