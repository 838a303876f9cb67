"""LQR and the Kalman filter: closed-loop eigenvalues, displacements, consistency with a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl

RUBBER = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=2e4)


def inverted() -> pl.Robot:
    """A cart on a slide with a pole that stands on it."""
    robot = pl.Robot(gravity=(0, 0, -9.81))
    slide = pl.Prismatic("x", drive="force", input="push", stiffness=1.0)
    cart = robot.add_body("cart", 0.5, joint=slide)
    pole = pl.Revolute("y", damping=1e-3)
    robot.add_body("pole", 0.2, (1e-3,) * 3, cart.at((0, 0, 0)), (0, 0, 0.3), joint=pole)
    return robot


def test_lqr_has_the_eigenvalues_of_the_simulated_loop() -> None:
    """The map of a sample, by differences of simulations, is A - B K to the error of the step."""
    pytest.importorskip("control")
    robot, every = inverted(), 0.02
    with pytest.warns(pl.StabilityWarning):
        at = robot.statics({"push": 0.0})
    law = pl.LQR(robot, at, "push", every, Q=(10, 10, 1, 1), R=0.1)
    assert np.abs(law.eigenvalues).max() < 1.0
    eq, small = robot.equations(), 1e-5
    columns = []
    for k in range(4):
        x = np.zeros(4)
        x[k] = small
        motion = robot.simulate(
            every, every / 20, controllers=law, integrator=pl.Newmark(),
            joints={"cart": x[0], "pole": x[1]}, velocity={"cart": x[2], "pole": x[3]},
        )  # fmt: skip
        columns.append(np.concatenate(eq.state(motion)) / small)
    values = np.sort_complex(np.linalg.eigvals(np.array(columns).T))
    assert values == pytest.approx(np.sort_complex(law.eigenvalues), abs=2e-4)
    motion = robot.simulate(4.0, 5e-3, controllers=law, joints={"pole": 0.2})
    assert np.abs(motion.joint("pole")[-1]).max() < 1e-3


def test_lqr_on_a_few_modes_damps_a_soft_arm() -> None:
    pytest.importorskip("control")
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e3)
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_load("push", rod.tip, force=(0, 0, 1))
    robot.add_load("side", rod.tip, force=(0, 1, 0))
    model = pl.Strain(1, 2)
    at = robot.statics({"push": 0.0, "side": 0.0}, model)
    law = pl.LQR(robot, at, ["push", "side"], 0.01, Q=np.repeat([1e3, 10.0], 4), R=1.0, modes=4)
    bent = robot.statics({"push": 0.05, "side": 0.05}, model, at)
    free = robot.simulate(1.5, 5e-3, at.inputs, start=bent, formulation=model)
    held = robot.simulate(1.5, 5e-3, at.inputs, start=bent, formulation=model, controllers=law)
    rest = at.position("arm.tip")
    late = free.t > 1.0
    swings = [np.abs(x.position("arm.tip")[late] - rest).max() for x in (free, held)]
    assert swings[1] < 0.2 * swings[0]


@pytest.mark.parametrize(
    "formulation", [pl.Strain(1, 2), pl.BSpline(3, 5), pl.EBA(2), pl.ROM(3)], ids=repr
)
def test_displacement_undoes_moved(formulation: Any) -> None:
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), RUBBER, pl.along("x"))
    robot.add_body("ball", 0.1, (1e-4,) * 3, rod.tip, joint=pl.Spherical())
    eq = robot.equations(formulation=formulation)
    x = 0.05 * np.random.default_rng(0).normal(size=len(eq.names))
    assert eq.displacement(eq.rest, eq.moved(eq.rest, x)) == pytest.approx(x, abs=1e-9)


def tracked() -> tuple[pl.Robot, list[Any]]:
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), RUBBER, pl.along("x"))
    robot.add_load("side", rod.tip, force=(0, 1, 0))
    robot.add_load("lift", rod.tip, force=(0, 0, 1))
    return robot, ["arm.0.15", "arm.tip"]


def test_filter_finds_shape_and_tip_load_and_knows_how_well() -> None:
    """Points with 1 mm of noise: load and untracked sections are found, innovations as claimed."""
    robot, places = tracked()
    model, dt, noise, rng = pl.Strain(0, 2), 0.02, 1e-3, np.random.default_rng(3)
    none = {"side": 0.0, "lift": 0.0}
    at = robot.statics(none, model)
    truth = robot.simulate(
        2.0, dt, {"side": lambda t: 0.03 * (t > 0.3), "lift": 0.02}, at, formulation=model
    )
    kalman = pl.KalmanFilter(
        robot, places, noise, {"side": 0.03, "lift": 0.03}, dt, at, formulation=model,
        spread=(1e-4, 1e-3, {"side": 0.02, "lift": 0.02}),
    )  # fmt: skip
    points = np.stack([truth.position(place) for place in places], axis=1)
    squares, loads = [], []
    for k in range(1, len(truth.t)):
        state = kalman.update(points[k] + noise * rng.normal(size=(2, 3)))
        squares.append(kalman.consistency)
        loads.append([kalman.mean["side"], kalman.mean["lift"]])
    assert state.t == pytest.approx(2.0)
    late = np.array(loads[60:])
    assert late.mean(axis=0) == pytest.approx([0.03, 0.02], abs=4e-3)
    assert np.abs(late - [0.03, 0.02]).max() < 5 * max(kalman.std.values())
    middle = truth.position("arm", 0.225)[-1]
    assert state.position("arm", 0.225) == pytest.approx(middle, abs=1.5e-3)
    assert max(kalman.std.values()) < 0.012
    # six coordinates: the mean of 100 has a standard deviation of sqrt(12 / 100)
    assert np.mean(squares) == pytest.approx(6.0, abs=4 * np.sqrt(12 / len(squares)))
    kalman.update(np.full((2, 3), np.nan))
    assert np.isfinite(kalman.covariance).all()


def test_points_far_from_the_start_are_told() -> None:
    """An arm on a soft hinge is seen where a load has brought it, of which the filter does not know."""
    robot, model = pl.Robot(), pl.SRL(3)
    hinge = pl.Revolute("y", stiffness=0.5, damping=0.01)
    hub = robot.add_body("hub", 0.1, (1e-4,) * 3, joint=hinge)
    rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=2000.0)
    rod = robot.add_rod(
        "arm", 0.2, pl.Circle(0.006), rubber, base=hub.at((0, 0, -0.02)), pose=pl.along("-z")
    )
    robot.add_load("side", rod.tip, force=(1, 0, 0))
    pushed = robot.statics({"side": 0.05}, model)
    given: dict[str, Any] = {"noise": 1e-3, "unknown": {"side": 0.1}, "dt": 0.02}
    seen = [pushed.position("arm.tip")]
    kalman = pl.KalmanFilter(robot, ["arm.tip"], inputs={"side": 0.0}, formulation=model, **given)
    with pytest.raises(
        pl.ConvergenceError, match=r"instead of about 3.*start= an equilibrium near"
    ):
        for _ in range(5):
            kalman.update(seen)
    near = pl.KalmanFilter(robot, ["arm.tip"], start=pushed, **given)
    for _ in range(5):
        near.update(seen)
    assert near.mean["side"] == pytest.approx(0.05, abs=1e-3)


def test_bad_settings_are_told() -> None:
    robot, places = tracked()
    model = pl.Strain(0, 1)
    for given, message in (
        ((places, -1.0, {"side": 0.1}, 0.01), "noise"),
        (([], 1e-3, {"side": 0.1}, 0.01), "places"),
        ((places, 1e-3, {"sde": 0.1}, 0.01), "side"),
        ((places, 1e-3, ["side"], 0.01), "unknown"),
        ((["arm.tp"], 1e-3, {"side": 0.1}, 0.01), "place"),
    ):
        with pytest.raises(pl.DescriptionError, match=message):
            pl.KalmanFilter(robot, *given, formulation=model)
    more: Any
    for more, message in (
        ({"spread": (1e-3, 1e-2)}, "spread"),
        ({"spread": (1e-3, 1e-2, {})}, "spread"),
        ({"spread": (-1e-3, 1e-2, {"side": 0.1})}, "spread"),
        ({"spread": (np.nan, 1e-2, {"side": 0.1})}, "spread"),
        ({"integrator": pl.Radau()}, "integrator"),
        ({"start": robot.simulate(0.01, 0.01, formulation=model)}, "start"),
    ):
        with pytest.raises(pl.DescriptionError, match=message):
            pl.KalmanFilter(robot, places, 1e-3, {"side": 0.1}, 0.01, formulation=model, **more)
    kalman = pl.KalmanFilter(robot, places, 1e-3, {"side": 0.1}, 0.01, formulation=model)
    with pytest.raises(pl.DescriptionError, match="measured"):
        kalman.update(np.zeros(3))
    with pytest.raises(pl.DescriptionError, match=r"\['side'\].*estimated"):
        kalman.update(np.zeros((2, 3)), {"side": 1.0})
    pytest.importorskip("control")
    with pytest.raises(pl.DescriptionError, match="R"):
        pl.LQR(robot, robot.statics(formulation=model), "side", 0.01, R=-1.0)
    with pytest.raises(pl.DescriptionError, match="inputs"):
        pl.LQR(robot, robot.statics(formulation=model), [], 0.01)
    with pytest.raises(pl.DescriptionError, match="at ="):
        pl.LQR(robot, None, "side", 0.01)  # type: ignore[arg-type]


def test_estimated_tension_never_pushes() -> None:
    """Points of an arm that hangs lower than without tension: the estimate stays at zero."""
    rubber, model = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=2e4), pl.Strain(0, 2)
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), rubber, pl.along("x"))
    robot.add_tendon("pull", along=rod, offset=(0.008, 0))
    kalman = pl.KalmanFilter(
        robot, ["arm.tip"], 1e-3, {"pull": 1.0}, 0.02, inputs={"pull": 0.3}, formulation=model
    )
    pulled, slack = (robot.statics({"pull": x}, model).position("arm.tip") for x in (0.3, 0.0))
    for _ in range(20):
        kalman.update([slack + 0.3 * (slack - pulled)])
        assert kalman.mean["pull"] >= 0.0
    assert kalman.mean["pull"] < 0.02


def test_lqr_keeps_to_its_bounds() -> None:
    pytest.importorskip("control")
    robot, _ = tracked()
    model = pl.Strain(0, 1)
    still, bent = (robot.statics({"side": x}, model) for x in (0.0, 0.05))
    law = pl.LQR(robot, still, "side", 0.01, Q=1e4, R=1e-3, modes=2, bounds=(-0.01, 0.01))
    motion = robot.simulate(0.2, 0.01, start=bent, controllers=law, formulation=model)
    assert np.abs(motion.inputs["side"][1:]).max() == 0.01
