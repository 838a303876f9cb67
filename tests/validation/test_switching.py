"""Switches: motions in phases, as one trajectory whose energy balance has a column for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.solve.coordinates import CoordinateProblem


def pendulum() -> pl.Robot:
    robot = pl.Robot()
    robot.add_body("bob", 1.0, (0, 0, 0), centre=(0, 0, -0.5), joint=pl.Revolute("y"))
    robot.add_bushing("spring", "bob", stiffness={"ry": 1.0})
    return robot


def angle(state: Any) -> float:
    return float(state.joint("bob")[0])


def gap(motion: pl.SwitchedMotion) -> float:
    """Largest part of the energy that is in no column but the integrator's, over that in play."""
    e = motion.energy
    kept = e["total"] + e["dissipated"] - e["work"] - e["switched"]
    return float(np.ptp(kept) / np.ptp(e["kinetic"]))


def test_a_ball_bounces_in_one_trajectory() -> None:
    """Times between impacts 2 e^k sqrt(2 h / g), parabolas being exact; impacts take energy."""
    robot, bounce = pl.Robot(), np.array([1, 1, 1, 1, 1, -0.8])
    robot.add_body("ball", 0.1, (1e-4,) * 3, joint=pl.Free())
    ground = pl.Switch(
        lambda s: s.position("ball")[2], "ground", "falling",
        change=lambda phase: {"ball": phase.velocity("ball")[-1] * bounce},
    )  # fmt: skip
    start = {"joints": {"ball": pl.pose((0, 0, 0.3))}}
    motion = pl.simulate_switched(robot, 1.2, 5e-3, ground, output_every=0.05, **start)
    fall = np.sqrt(0.6 / 9.81)
    times = fall * np.cumsum([1.0, 1.6, 1.28])
    assert [x[1] for x in motion.switches] == pytest.approx(times, abs=1e-9)
    lost = 0.1 * 9.81 * 0.3 * (0.8**6 - 1.0)
    assert motion.energy["switched"][-1] == pytest.approx(lost, rel=1e-9)
    assert gap(motion) < 1e-12 and len(motion.t) == len(motion.position("ball"))
    assert (np.diff(motion.t) >= 0.0).all() and motion.t[-1] == pytest.approx(1.2)
    assert np.count_nonzero(np.diff(motion.t) == 0.0) == 3


@pytest.mark.parametrize("kept", [0.8, 0.2, 0.01])
def test_a_ball_does_not_fall_through_the_floor(kept: float) -> None:
    """Bounces that are shorter than a step are met; where they accumulate, the motion ends in words."""
    robot, bounce = pl.Robot(), np.array([1, 1, 1, 1, 1, -kept])
    robot.add_body("ball", 0.1, (1e-4,) * 3, joint=pl.Free())
    ground = pl.Switch(
        lambda s: s.position("ball")[2], "ground", "falling",
        change=lambda phase: {"ball": phase.velocity("ball")[-1] * bounce},
    )  # fmt: skip
    with pytest.raises(pl.ConvergenceError, match="'ground' takes place ever faster") as told:
        pl.simulate_switched(robot, 5.0, 0.02, ground, joints={"ball": pl.pose((0, 0, 0.3))})
    motion = told.value.last
    end = np.sqrt(0.6 / 9.81) * (1.0 + 2.0 * kept / (1.0 - kept))
    assert motion.t[-1] == pytest.approx(end, abs=2e-3)
    assert motion.position("ball")[:, 2].min() > -1e-9
    times = np.diff([time for _, time, _ in motion.switches])
    assert times[1:] / times[:-1] == pytest.approx(kept, rel=1e-3)


def test_a_spring_changes_at_an_event_with_the_order_of_the_steps() -> None:
    """Against an integration in phases by SciPy to 1e-12; the change adds 1/2 dk x^2."""

    def swing(k: float) -> Any:
        return lambda t, y: [y[1], -(9.81 * 0.5 * np.sin(y[0]) + k * y[0]) / 0.25]

    def meet(t: float, y: Any) -> float:
        return float(y[0] - 0.4)

    meet.terminal = True  # type: ignore[attr-defined]
    exact: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
    one = solve_ivp(swing(1.0), (0, 1), [1.0, 0.0], events=meet, **exact)
    two = solve_ivp(swing(3.0), (one.t[-1], 0.7), one.y[:, -1], **exact)
    harder = pl.Switch(
        lambda s: angle(s) - 0.4, "harder", "falling", change={"spring.stiffness.ry": 3.0}
    )
    errors, steps = [], (8e-3, 4e-3, 2e-3, 1e-3)
    for dt in steps:
        motion = pl.simulate_switched(pendulum(), 0.7, dt, harder, joints={"bob": 1.0})
        errors.append(motion.joint("bob")[-1, 0] - two.y[0, -1])
        assert motion.energy["switched"][-1] == pytest.approx(0.16, abs=1e-8)
        assert gap(motion) < 20.0 * dt**2
    assert np.polyfit(np.log(steps), np.log(np.abs(errors)), 1)[0] == pytest.approx(2.0, abs=0.2)
    assert abs(errors[-1]) < 1e-5


@pytest.mark.parametrize("every", [0.05, 0.03])
def test_a_stiffness_set_by_the_state_in_even_intervals(every: float) -> None:
    """Against SciPy, from sample to sample, with saturation; each change is in the energy balance."""

    def stiffness(x: float) -> float:
        return min(1.0 + 10.0 * abs(x), 3.0)

    def swing(t: float, y: Any, k: float) -> Any:
        return [y[1], -(9.81 * 0.5 * np.sin(y[0]) + k * y[0]) / 0.25]

    y, k, t = np.array([0.6, 0.0]), 1.0, 0.0
    while t < 0.4 - 1e-9:
        last, t = t, min(t + every, 0.4)
        y = solve_ivp(swing, (0, t - last), y, args=(k,), rtol=1e-11, atol=1e-12).y[:, -1]
        k = stiffness(y[0])
    update = pl.Periodic(
        every, lambda phase: {"spring.stiffness.ry": stiffness(phase.joint("bob")[-1, 0])}, "update"
    )
    found = [
        pl.simulate_switched(pendulum(), 0.4, h, update, joints={"bob": 0.6}, output_every=0.02)
        for h in (5e-3, 2.5e-3)
    ]
    coarse, fine = (abs(motion.joint("bob")[-1, 0] - y[0]) for motion in found)
    assert fine < 1e-5 and coarse / fine == pytest.approx(4.0, rel=0.1)
    assert gap(found[1]) < 3e-5
    count = int(np.ceil(0.4 / every - 1e-9)) - 1
    assert [x[:2] for x in found[0].switches] == [
        ("update", pytest.approx(every * (n + 1))) for n in range(count)
    ]
    assert np.count_nonzero(np.diff(found[0].t) == 0.0) == count


def test_periodic_changes_and_events_in_one_motion() -> None:
    """A motion ends where a periodic function says so; events between are met as before."""
    seen = []

    def look(phase: pl.Motion) -> dict[str, Any] | None:
        seen.append(phase.joint("bob")[-1, 0])
        return None if len(seen) == 4 else {}

    meet = pl.Switch(lambda s: angle(s) - 0.5, "meet", change={"spring.stiffness.ry": 2.0})
    motion = pl.simulate_switched(
        pendulum(), 1.0, 5e-3, [meet, pl.Periodic(0.05, look)], joints={"bob": 0.6}
    )
    assert motion.t[-1] == pytest.approx(0.2) and len(seen) == 4
    assert [name for name, *_ in motion.switches] == ["meet"]
    assert motion.joint("bob")[-1, 0] == pytest.approx(seen[-1])
    for given, words in (((0.0, look), "every"), ((0.1, 3.0), "function of the phase")):
        with pytest.raises(pl.DescriptionError, match=words):
            pl.Periodic(*given)


def test_a_constraint_is_released_and_closed() -> None:
    """Two carts: the first rolls free of its latch, meets the second and couples, inelastically."""
    robot = pl.Robot(gravity=(0, 0, 0))
    for name, at in (("a", 0.0), ("b", 0.1)):
        mass = 1.0 if name == "a" else 3.0
        robot.add_body(name, mass, joint=pl.Prismatic("x"), pose=pl.pose((at, 0, 0)))
    robot.add_load("push", "a", force=(0.0, 0.0, 0.0))
    robot.add_constraint("latch", "a", hold=("x",))
    ahead = robot.description.bodies["a"].at((0.05, 0.0, 0.0))
    robot.add_constraint("hook", "b", to=ahead, hold=("x",))
    listed = [
        pl.Switch(lambda s: s.t - 0.1, "go", change={"latch": "off"}),
        pl.Switch(
            lambda s: s.position("a")[0] - 0.05, "meet", "rising",
            change={"hook": "on", "push": (0.0, 0.0, 0.0)},
        ),
    ]  # fmt: skip
    motion = pl.simulate_switched(
        robot, 1.0, 0.01, listed, inputs={"push": (0.4, 0.0, 0.0)}, off=["hook"]
    )
    assert [x[0] for x in motion.switches] == ["go", "meet"]
    assert [x[1] for x in motion.switches] == pytest.approx([0.1, 0.6], abs=1e-9)
    speed = motion.joint_rate("a")[:, 0]
    assert motion.joint_rate("b")[-1, 0] == pytest.approx(0.05, abs=1e-9)
    assert speed[-1] == pytest.approx(0.05, abs=1e-9)
    e = motion.energy
    assert e["work"][-1] == pytest.approx(0.02, abs=1e-9)
    assert e["switched"][-1] == pytest.approx(0.5 * 4.0 * 0.05**2 - 0.02, abs=1e-9)


def test_functions_of_time_go_on() -> None:
    """A push that is a function of time is the same with and without a switch that changes nothing."""
    robot = pendulum()
    robot.add_load("push", "bob", force=(0.0, 0.0, 0.0))
    given = {"push": lambda t: (np.sin(8.0 * t), 0.0, 0.0)}
    nothing = pl.Switch(lambda s: s.t - 0.2, "clock", change={"spring.stiffness.ry": 1.0})
    motion = pl.simulate_switched(robot, 0.6, 0.01, nothing, inputs=given)
    whole = robot.simulate(0.6, 0.01, given)
    assert motion.joint("bob")[-1] == pytest.approx(whole.joint("bob")[-1], abs=1e-9)
    assert motion.energy["work"][-1] == pytest.approx(whole.energy["work"][-1], rel=1e-6)


def test_a_change_may_end_the_motion() -> None:
    done = pl.Switch(lambda s: angle(s) - 0.4, "low", change=lambda phase: None)
    motion = pl.simulate_switched(pendulum(), 2.0, 0.01, done, joints={"bob": 1.0})
    assert len(motion.phases) == 1 and motion.switches == []
    assert motion.joint("bob")[-1, 0] == pytest.approx(0.4, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (3.0, "change = 3.0.*dictionary"),
        ({"sprong": "off"}, "sprong"),
        ({"bob": "off"}, "bob.*effect"),
        ({"spring.stiffness.rz": 3.0}, "spring.stiffness"),
        ({"spring.stiffness.ry": "three"}, "number"),
        (lambda phase: 3.0, "low.*change = 3.0"),
    ],
)
def test_bad_changes_are_refused(change: Any, words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        switch = pl.Switch(lambda s: angle(s) - 0.4, "low", change=change)
        pl.simulate_switched(pendulum(), 2.0, 0.01, switch, joints={"bob": 1.0})


def test_connections_that_move_are_not_switched() -> None:
    robot = pendulum()
    robot.connect("hinge", "bob", None, pl.Revolute("y"))
    nothing = pl.Switch(lambda s: s.t - 0.2, "clock", change={"hinge": "off"})
    with pytest.raises(pl.DescriptionError, match=r"hinge.*without parts of its own"):
        pl.simulate_switched(robot, 1.0, 0.01, nothing, off=["hinge"])


def test_unknown_inputs_are_refused() -> None:
    nothing = pl.Switch(lambda s: s.t - 0.2, "clock", change={})
    with pytest.raises(pl.DescriptionError, match="puhs"):
        pl.simulate_switched(pendulum(), 1.0, 0.01, nothing, inputs={"puhs": 1.0})


def test_switches_without_end_are_refused() -> None:
    back = pl.Switch(lambda s: angle(s) - 0.4, "low", change={"spring.stiffness.ry": 1.0})
    with pytest.raises(pl.DescriptionError, match="at most 2"):
        pl.simulate_switched(pendulum(), 9.0, 0.01, back, joints={"bob": 1.0}, most=2)


def cart() -> pl.Robot:
    """1 kg on a slide, with a push that is zero."""
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_body("cart", 1.0, joint=pl.Prismatic("x"))
    robot.add_load("push", "cart", force=(0.0, 0.0, 0.0))
    return robot


def clock(time: float, name: str | None, change: Any) -> pl.Switch:
    return pl.Switch(lambda s: s.t - time, name, change=change)


def test_switches_at_the_same_time_all_take_place() -> None:
    """A push begins in the instant of a blow, which another function of the state tells."""
    blow = pl.Switch(lambda s: np.sin(s.t - 0.205), "blow", change={"cart": (0, 0, 0, 1.0, 0, 0)})
    listed = [
        clock(0.205, "push", {"push": (1.0, 0, 0)}),
        blow,
        clock(0.6, "end", {"push": (0.0, 0, 0)}),
    ]
    motion = pl.simulate_switched(cart(), 1.0, 0.01, listed)
    assert [name for name, _, _ in motion.switches] == ["push", "blow", "end"]
    assert motion.phases[0].met == ["push", "blow"] and motion.phases[1].met == ["end"]
    way = 0.795 + 0.5 * 0.395**2 + 0.395 * 0.4
    assert motion.joint("cart")[-1, 0] == pytest.approx(way, abs=1e-9)
    listed[1] = clock(0.205, "stop", lambda phase: None)
    assert pl.simulate_switched(cart(), 1.0, 0.01, listed).t[-1] == pytest.approx(0.205)


@pytest.mark.parametrize("left", [3e-3, 1e-9])
def test_a_switch_less_than_a_step_before_the_end(left: float) -> None:
    last = clock(0.1 - left, "last", {"cart": (0, 0, 0, 2.0, 0, 0)})
    motion = pl.simulate_switched(cart(), 0.1, 0.01, last)
    assert motion.t[-1] == pytest.approx(0.1) and len(motion.switches) == 1
    assert motion.joint("cart")[-1, 0] == pytest.approx(2.0 * left, rel=1e-5)


def test_switches_have_different_names() -> None:
    """Two functions without names would share the changes of the first."""
    listed = [clock(0.2, None, {"push": (1.0, 0, 0)}), clock(0.6, None, {"push": (0.0, 0, 0)})]
    with pytest.raises(pl.DescriptionError, match=r"different names.*name="):
        pl.simulate_switched(cart(), 1.0, 0.01, listed)


@pytest.mark.parametrize("every", [0.0, -1.0, np.nan])
def test_wrong_output_intervals_are_refused(every: float) -> None:
    with pytest.raises(pl.DescriptionError, match="output_every"):
        pl.simulate_switched(cart(), 1.0, 0.01, clock(0.2, "a", {}), output_every=every)


def test_a_load_falls_off_a_cart_and_velocities_stay() -> None:
    """The push moves what is left; the switch takes the kinetic energy of what fell off."""
    robot = cart()
    drop = clock(0.2, "drop", {"cart.mass": 0.25})
    motion = pl.simulate_switched(robot, 0.5, 0.01, drop, inputs={"push": (1.0, 0, 0)})
    assert motion.joint_rate("cart")[-1, 0] == pytest.approx(0.2 + 4.0 * 0.3, abs=1e-9)
    assert motion.energy["switched"][-1] == pytest.approx(-0.5 * 0.75 * 0.2**2, abs=1e-9)
    assert gap(motion) < 1e-9


@pytest.mark.parametrize(
    "change",
    [{"arm.length": 0.31}, {"arm.natural[0]": 0.1}, {"arm.pose[0,3]": 0.1}, {"bob.pose[2,3]": 0.1}],
)
def test_numbers_that_move_the_undeformed_robot_do_not_change(change: dict[str, float]) -> None:
    robot = soft_arm()
    robot.add_body("bob", 0.1, (1e-4,) * 3, on="arm.tip", joint=pl.Revolute("y", stiffness=0.1))
    path = next(iter(change)).replace("[", r"\[")
    with pytest.raises(pl.DescriptionError, match=f"{path}.*undeformed robot as it is"):
        pl.simulate_switched(robot, 0.1, 0.01, clock(0.05, "a", change), formulation=pl.SRL(3))


def soft_arm(E: float = 1e6) -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    rubber = pl.Material(E=E, nu=0.45, rho=1100.0, viscosity=1e3)
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), rubber, natural=(0.0, 0.0, 0.0))
    robot.add_load("push", rod.tip, force=(0.05, 0.0, 0.0))
    return robot


MODELS = [pl.SRL(4), pl.EBR(4), pl.EBA(4), pl.ROM(3), pl.BSpline(), pl.Hermite(), pl.ANCF(6)]


@pytest.mark.parametrize("formulation", MODELS, ids=lambda x: type(x).__name__)
def test_a_rod_moves_on_when_a_constraint_elsewhere_is_released(formulation: Any) -> None:
    """Its rates stay, whatever force fields its formulation has beside the coordinates."""
    robot = soft_arm()
    robot.add_body("block", 0.01, (1e-6,) * 3, joint=pl.Free(), pose=pl.pose((1.0, 0, 0)))
    robot.add_constraint("latch", "block", hold=("x", "y", "z"))
    release = clock(0.1, "release", {"latch": "off"})
    motion = pl.simulate_switched(robot, 0.15, 5e-3, release, formulation=formulation)
    whole = robot.simulate(0.15, 5e-3, formulation=formulation)
    assert motion.position("arm.tip")[-1] == pytest.approx(whole.tip("arm")[-1, :3, 3], abs=1e-6)


@pytest.mark.parametrize("formulation", MODELS, ids=lambda x: type(x).__name__)
def test_a_rod_that_softens_as_it_bends_is_as_one_that_was_soft(formulation: Any) -> None:
    """From the switch on, the motion is that of a soft rod which begins with its shape and velocity."""
    soften = clock(0.1, "soften", {"arm.E": 0.5e6})
    motion = pl.simulate_switched(soft_arm(), 0.2, 2e-3, soften, formulation=formulation)
    hard = soft_arm().simulate(0.1, 2e-3, formulation=formulation)
    soft = soft_arm(0.5e6).simulate(0.1, 2e-3, start=hard)
    tip = motion.position("arm.tip")
    assert tip[-1] == pytest.approx(soft.tip("arm")[-1, :3, 3], abs=1e-9)
    half = 0.5 * (hard.energy["elastic"][-1])
    assert motion.energy["switched"][-1] == pytest.approx(-half, rel=1e-9)
    assert gap(motion) < 5e-3


FILE = """
gravity: [0, 0, 0]
parameters: {radius: 0.01, modulus: 1.0e6}
rods:
  arm:
    length: 0.3
    section: {circle: {radius: radius}}
    material: {E: modulus, nu: 0.45, rho: 1100, viscosity: 1000}
loads: {push: {on: arm.tip, force: [0.05, 0, 0]}}
"""


def test_named_parameters_follow_the_state_and_are_saturated(tmp_path: Any) -> None:
    """The modulus falls with the deflection, asked every 10 ms, down to a bound."""
    (tmp_path / "arm.yaml").write_text(FILE)
    robot, asked = pl.Robot.from_file(tmp_path / "arm.yaml"), []

    def softer(phase: pl.Motion) -> dict[str, float]:
        asked.append(max(1e6 * (1.0 - 40.0 * phase.position("arm.tip")[-1, 0]), 0.7e6))
        return {"modulus": asked[-1]}

    given: dict[str, Any] = {"formulation": pl.EBR(3)}
    motion = pl.simulate_switched(robot, 0.1, 5e-3, pl.Periodic(0.01, softer), **given)
    assert min(asked) == 0.7e6 < asked[1] < asked[0] < 1e6
    phase, first = None, {"start": "rest", **given}
    for E in [1e6, *asked[:9]]:
        phase = soft_arm(E).simulate(0.01, 5e-3, **first)
        first = {"start": phase}
    assert phase is not None
    assert motion.position("arm.tip")[-1] == pytest.approx(phase.tip("arm")[-1, :3, 3], abs=1e-9)
    assert gap(motion) < 2e-2


def test_motions_go_on_from_switched_ones() -> None:
    twist, push = pl.Switch(lambda s: s.t - 0.1, "push", change={"twist": 1.0}), {"twist": 0.0}
    robot = pendulum()
    robot.add_load("twist", "bob", moment=(0.0, 0.5, 0.0))
    whole = pl.simulate_switched(robot, 0.3, 5e-3, twist, push)
    first = pl.simulate_switched(robot, 0.2, 5e-3, twist, push)
    rest = robot.simulate(0.1, 5e-3, {"twist": 1.0}, start=first)
    assert rest.joint("bob")[-1] == pytest.approx(whole.joint("bob")[-1], abs=1e-6)
    stepper = robot.stepper(5e-3, start=first)
    assert stepper.step({"twist": 1.0}).joint("bob") == pytest.approx(rest.joint("bob")[1])


def test_a_number_that_was_not_given_is_set() -> None:
    """rest=None relaxes the spring where the joint begins."""
    robot, given = pl.Robot(), {"stiffness": 2.0, "initial": 0.5, "rest": None}
    robot.add_body("bob", 1.0, (0, 0, 0), centre=(0, 0, -0.5), joint=pl.Revolute("y", **given))
    move = pl.Switch(lambda s: s.t - 0.05, "move", change={"bob.joint.rest": 0.1})
    motion = pl.simulate_switched(robot, 0.1, 5e-3, move)
    angle = motion.phases[0].joint("bob")[-1, 0]
    added = (angle - 0.1) ** 2 - (angle - 0.5) ** 2
    assert motion.energy["switched"][-1] == pytest.approx(added, rel=1e-9)


def test_arguments_that_switched_motions_do_not_take_are_refused_by_name() -> None:
    move = pl.Switch(lambda s: s.t - 0.05, "move", change={"spring.stiffness.ry": 0.1})
    with pytest.raises(pl.DescriptionError, match=r"simulate_switched: accuracy = 0\.001"):
        pl.simulate_switched(pendulum(), 0.1, 5e-3, move, accuracy=1e-3)  # type: ignore[call-arg]


def test_robots_are_compiled_once_for_what_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A latch that goes on and off, and a push that changes every step, make two robots in all."""
    compiled, plain = [], CoordinateProblem.__init__

    def counted(self: Any, *given: Any) -> None:
        compiled.append(given)
        plain(self, *given)

    monkeypatch.setattr(CoordinateProblem, "__init__", counted)
    robot = cart()
    robot.add_constraint("latch", "cart", hold=("x",))

    def push(phase: pl.Motion) -> dict[str, Any]:
        return {"push": (1.0 - phase.joint("cart")[-1, 0], 0.0, 0.0)}

    turns = [clock(0.1 * k + 0.005, f"turn {k}", {"latch": ("on", "off")[k % 2]}) for k in range(5)]
    listed = [*turns, pl.Periodic(0.01, push, "push")]
    motion = pl.simulate_switched(robot, 0.5, 0.01, listed, off="latch")
    assert len(motion.phases) > 50 and len(compiled) == 2


def test_one_name_is_off() -> None:
    robot = cart()
    robot.add_load("pull", "cart", force=(3.0, 0.0, 0.0))
    motion = pl.simulate_switched(robot, 1.0, 0.01, clock(0.2, "a", {}), off="pull")
    assert motion.joint("cart")[-1, 0] == 0.0


def rod_and_weight() -> tuple[pl.Robot, pl.Switch]:
    """A rod that lets go of a ball at its tip when it has sunk."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=500.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))
    robot.add_body("ball", 0.01, (1e-6,) * 3, joint=pl.Free(), pose=pl.pose((0.3, 0, 0)))
    robot.connect("grip", "arm.tip", "ball")
    robot.add_tendon("cable", along=["arm"], offset=(0, 0.007))
    robot.add_load("push", "arm.tip", force=(0, 0.02, 0))
    low = pl.Switch(
        lambda s: s.position("arm.tip")[2] + 0.03, "low", change={"grip": "off", "push": "off"}
    )
    return robot, low


def test_switched_motions_have_files_pictures_and_progress(tmp_path: Path) -> None:
    robot, low = rod_and_weight()
    told: list[tuple[float, float]] = []
    motion = pl.simulate_switched(
        robot, 0.3, 5e-3, low, inputs={"cable": pl.Ramp(0, 1, 0, 0.2)},
        formulation=pl.Strain(2), output_every=0.02, progress=lambda t, end: told.append((t, end)),
    )  # fmt: skip
    when = motion.switches[0][1]
    assert [name for name, *_ in motion.switches] == ["low"] and 0.0 < when < 0.3
    times = np.array(told)
    assert (np.diff(times[:, 0]) > 0.0).all() and times[-1, 0] == pytest.approx(0.3)
    assert (times[:, 1] == 0.3).all()
    assert set(motion.inputs) == {"cable"}, "the push is in the first phase only"
    tips = motion.tip("arm")[:, :3, 3]
    np.testing.assert_array_equal(tips, motion.position("arm", 0.3))
    assert motion.strain("arm", [0.1]).shape == (len(motion.t), 1, 6)

    kept = pl.load(motion.save(tmp_path / "switched.nc"))
    np.testing.assert_array_equal(kept.time, motion.t)
    np.testing.assert_allclose(kept.position.sel(rod="arm")[:, -1], tips, atol=1e-15)
    assert "switched" in kept.energy_part and list(np.atleast_1d(kept.switches)) == ["low"]
    rows = pl.read_measurement(motion.to_csv(tmp_path / "switched.csv"))
    after = np.append(np.diff(motion.t) > 0.0, True)
    assert np.count_nonzero(~after) == 1
    np.testing.assert_array_equal(rows.column("arm.tip.z"), tips[after, 2])
    np.testing.assert_array_equal(rows.column("energy.switched"), motion.energy["switched"][after])
    np.testing.assert_array_equal(rows.column("cable"), motion.inputs["cable"][after])

    figure = motion.plot(tmp_path / "switched.png")
    lines = [
        line for ax in figure.axes for line in ax.lines if list(line.get_xdata()) == [when] * 2
    ]
    assert len(lines) == 2
    motion.plot_at(0.5 * when, tmp_path / "before.png")
    motion.plot_at(when, tmp_path / "after.png")
    assert motion.animate(tmp_path / "switched.gif", fps=10).stat().st_size > 1000
    assert f"{when:.6g} s: low" in motion.summary() and "2 phases" in motion._repr_html_()


def test_a_step_that_fails_leaves_all_phases_so_far() -> None:
    robot, low = rod_and_weight()
    given = {"cable": lambda t: 1e9 if t > 0.25 else 0.0}
    with pytest.raises(pl.ConvergenceError) as caught:
        pl.simulate_switched(robot, 0.3, 5e-3, low, inputs=given, formulation=pl.Strain(2))
    last = caught.value.last
    assert isinstance(last, pl.SwitchedMotion) and not last.complete
    assert len(last.phases) == 2 and 0.2 < last.t[-1] < 0.27
    assert np.isfinite(last.tip("arm")).all()
