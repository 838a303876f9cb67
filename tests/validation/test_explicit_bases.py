"""Explicit steps of robots whose bases move as inputs tell, and of parts that hang between nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant as pl

Robot = Callable[..., tuple[pl.Robot, dict[str, Any]]]
S = np.linspace(0.0, 0.2, 7)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def rubber(viscosity: float) -> pl.Material:
    return pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=viscosity)


def shaken(viscosity: float = 0.0) -> tuple[pl.Robot, dict[str, Any]]:
    """A curved rod that carries a body beside its tip, on a base that is shaken and turned."""
    robot = pl.Robot(gravity=(1.0, 2.0, -9.81))
    section, natural = pl.Rectangle(0.01, 0.016), (3.0, 1.0, 2.0)
    arm = robot.add_rod("arm", 0.3, section, rubber(viscosity), pl.along("x"), natural=natural)
    centre = (0.004, 0.003, 0.006)
    robot.add_body("camera", 0.01, (2e-6, 3e-6, 4e-6), on=arm.tip, centre=centre)
    robot.add_base_motion("shake", "arm", (0, 0, 1))
    robot.add_base_motion("nod", "arm", rotation=(0, 1, 1))
    return robot, {
        "shake": lambda t: 0.01 * (1.0 - np.cos(60.0 * t)),
        "nod": lambda t: 0.3 * (1.0 - np.cos(20.0 * t)),
    }


def crank(viscosity: float = 0.0) -> tuple[pl.Robot, dict[str, Any]]:
    """A crank that carries a rod, and a slider with another one."""
    robot = pl.Robot()
    turns = pl.Revolute("z", drive="angle", input="turn")
    body = robot.add_body("crank", 0.1, (1e-4, 2e-4, 1e-4), centre=(0.01, 0, 0.02), joint=turns)
    place = body.at((0.05, 0.0, 0.0))
    section, soft = pl.Rectangle(0.01, 0.016), rubber(viscosity)
    robot.add_rod("arm", 0.3, section, soft, pl.along("x"), base=place)
    slides = pl.Prismatic("x", drive="position", input="slide")
    slide = robot.add_body("slider", 0.05, (1e-5,) * 3, on=body.at((0, 0, 0.1)), joint=slides)
    robot.add_rod("second", 0.2, pl.Circle(0.008), soft, pl.along("y"), base=slide.at((0, 0.01, 0)))
    return robot, {
        "turn": lambda t: 0.5 * (1.0 - np.cos(20.0 * t)),
        "slide": lambda t: 0.02 * (1.0 - np.cos(30.0 * t)),
    }


def actuated(viscosity: float = 0.0) -> tuple[pl.Robot, dict[str, Any]]:
    """A rod with tendon, chamber, changing loads and a body between nodes, on a moving base."""
    robot, inputs = shaken(viscosity)
    arm = robot.description.rods["arm"]
    robot.add_tendon("pull", path=[arm.at(s, (0.004, 0.0)) for s in np.linspace(0.0, 0.3, 4)])
    robot.add_chamber("air", arm, area=5e-5, offset=(0.0, 0.003))
    robot.add_load("push", arm.tip, force=(0.0, 0.1, 0.0), frame="body")
    robot.add_load("wind", arm, force=(0.0, 0.3, 0.0))
    robot.add_body("bead", 0.002, (1e-7,) * 3, on=arm.at(0.07))
    inputs["pull"] = lambda t: 1.0 - np.cos(50.0 * t)
    inputs["air"] = lambda t: 4e5 * t
    inputs["push"] = inputs["wind"] = lambda t: np.sin(60.0 * t)
    return robot, inputs


def moved(make: Robot, method: pl.Integrator, dt: float, *damped: float, **more: Any) -> pl.Motion:
    robot, inputs = make(*damped)
    form = pl.Spectral(3, 2)
    return robot.simulate(0.05, dt, inputs, formulation=form, integrator=method, **more)


def shapes(motion: pl.Motion) -> Any:
    return motion.pose("arm", S)[1:, :, :3, 3]


@pytest.mark.parametrize("make", [shaken, crank, actuated])
def test_motions_with_inputs_and_moving_bases_are_of_fourth_order(make: Robot) -> None:
    inside = {"output_times": np.array([0.0137, 0.0311, 0.05])}
    truth = shapes(moved(make, pl.Explicit(0.03), 0.01, **inside))
    errors = [
        np.abs(shapes(moved(make, pl.Explicit(safety), 0.01, **inside)) - truth).max()
        for safety in (0.24, 0.12)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)


@pytest.mark.parametrize("make", [shaken, crank])
@pytest.mark.parametrize("damped", [0.0, 30.0, 1e4])
def test_moving_bases_do_the_work_that_implicit_steps_find(make: Robot, damped: float) -> None:
    times = {"output_times": np.linspace(0.0, 0.05, 8)}
    fast = moved(make, pl.Explicit(), 2e-3, damped, **times)
    slow = moved(make, pl.Midpoint(), 2.5e-4, damped, **times)
    assert shapes(fast) == pytest.approx(shapes(slow), abs=1e-5)
    large = slow.energy["kinetic"].max()
    assert fast.energy["work"] == pytest.approx(slow.energy["work"], abs=0.01 * large)
    assert np.abs(fast.energy["balance"]).max() < 0.01 * large
    if make is crank:
        assert fast.velocity("slider") == pytest.approx(slow.velocity("slider"), abs=1e-6)


@pytest.mark.parametrize(
    "held",
    [
        {"stiffness": 1.0, "rest": 0.2},
        {"damping": 0.05},
        {"friction": 0.05},
        {"limits": (-0.1, 0.1), "limit_stiffness": 3.0},
    ],
    ids=lambda held: next(iter(held)),
)
@pytest.mark.parametrize("damped", [0.0, 100.0, 1e4])
def test_drives_work_against_what_is_in_their_joints(held: dict[str, Any], damped: float) -> None:
    def arm(**more: Any) -> pl.Robot:
        robot = pl.Robot()
        joint = pl.Revolute("y", drive="angle", input="turn", **more)
        section = pl.Circle(0.008)
        robot.add_rod("arm", 0.2, section, rubber(damped), pl.along("x"), joint=joint)
        return robot

    turn = {"turn": lambda t: 0.3 * np.sin(15.0 * t) ** 2}
    given: dict[str, Any] = {
        "output_times": np.linspace(0.0, 0.2, 21), "formulation": pl.Spectral(3, 3),
    }  # fmt: skip
    fast = arm(**held).simulate(0.2, 5e-3, turn, integrator=pl.Explicit(), **given)
    slow = arm(**held).simulate(0.2, 5e-4, turn, integrator=pl.Midpoint(), **given)
    free = arm().simulate(0.2, 5e-3, turn, integrator=pl.Explicit(), **given)
    assert fast.position("arm") == pytest.approx(free.position("arm"), abs=5e-5)
    large = np.abs(slow.energy["work"]).max()
    assert fast.energy["work"] == pytest.approx(slow.energy["work"], abs=1e-3 * large)
    assert fast.energy["dissipated"] == pytest.approx(slow.energy["dissipated"], abs=1e-3 * large)
    assert np.abs(fast.energy["balance"]).max() < 1e-3 * large


def test_bases_that_come_to_rest_are_watched_again() -> None:
    """Energy reaches the grid long after the base has stopped."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 1.0, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_base_motion("lift", "arm", (0, 0, 1))
    lift = {"lift": lambda t: 0.1 * min(t, 0.2) ** 2 * (0.6 - 2.0 * min(t, 0.2))}
    motion = robot.simulate(
        10.0, 0.1, lift, formulation=pl.Spectral(3, 8), integrator=pl.Explicit(0.95)
    )
    assert np.abs(motion.energy["balance"]).max() < 0.03 * motion.energy["kinetic"].max()


def test_steps_are_shortened_while_a_base_shakes_violently() -> None:
    """At 200 rad/s and 400 m/s^2 energy is at the grid within some swings of the base."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.5, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_base_motion("shake", "arm", (0, 0, 1))
    shake = {"shake": pl.Sine(0.01, 200.0 / (2.0 * np.pi), -0.5 * np.pi, 0.01)}
    with pytest.warns(pl.ResolutionWarning, match="depends on the mesh"):
        motion = robot.simulate(
            0.5, 2.5e-3, shake, formulation=pl.Spectral(3, 32), integrator=pl.Explicit()
        )
    assert np.abs(motion.energy["balance"]).max() < 0.1 * motion.energy["kinetic"].max()


def test_a_motion_on_a_moving_base_goes_on_from_where_it_stopped() -> None:
    robot, inputs = shaken()
    given: dict[str, Any] = {"formulation": pl.Spectral(3, 2), "integrator": pl.Explicit()}
    whole = robot.simulate(0.04, 2e-3, inputs, **given)
    first = robot.simulate(0.02, 2e-3, inputs, **given)
    later = {name: lambda t, f=f: f(t + 0.02) for name, f in inputs.items()}
    second = robot.simulate(0.02, 2e-3, later, start=first, **given)
    assert second.tip("arm")[-1] == pytest.approx(whole.tip("arm")[-1], abs=1e-7)


@pytest.mark.parametrize("form", [pl.Spectral(3, 1), pl.Spectral(2, 4), pl.EBA(6)])
def test_what_hangs_between_nodes_gets_a_node(form: Any) -> None:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), rubber(0.0), pl.along("x"))
    for k in range(6):
        robot.add_body(f"bead {k}", 0.01, (1e-6,) * 3, on=arm.at(0.03 + 0.045 * k))
    side = arm.at(0.137)
    robot.add_rod("side", 0.1, pl.Circle(0.005), rubber(0.0), pl.along("y"), base=side)
    ends = [
        robot.simulate(0.04, dt, formulation=form, integrator=method).tip("side")[-1, :3, 3]
        for method, dt in ((pl.Explicit(), 2e-3), (pl.Midpoint(), 2.5e-4))
    ]
    assert ends[0] == pytest.approx(ends[1], abs=2e-6)
