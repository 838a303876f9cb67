"""Radau IIA: orders, steps by their error, outputs inside steps, constraints, energy, checkpoints."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.solve.adaptive_steps import AdaptiveSteps

TIGHT = pl.Radau(tolerance=1e-12)


def orders(errors: list[float]) -> list[float]:
    return [float(np.log2(a / b)) for a, b in pairwise(errors)]


def fixed(robot: pl.Robot, duration: float, steps: int, **more: Any) -> Any:
    """The state after steps of equal length."""
    stepper = robot.stepper(duration / steps, integrator=TIGHT, **more)
    for _ in range(steps):
        stepper.step()
    return stepper


def differences(found: list[Any]) -> list[float]:
    return [float(np.abs(a - b).max()) for a, b in pairwise(found)]


def bending() -> pl.Robot:
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.4, rho=1000.0)
    robot.add_rod(
        "arm", 0.5, pl.Circle(0.02), rubber, theory="kirchhoff", pose=pl.along("x"),
        formulation=pl.Strain(order=1, segments=1),
    )  # fmt: skip
    return robot


def test_fifth_order_in_bending() -> None:
    found = [
        fixed(bending(), 0.5, n).state.position("arm", [0.25, 0.5]) for n in (25, 50, 100, 200)
    ]
    errors = differences(found)
    assert orders(errors)[1:] == pytest.approx([5.0], abs=0.2)
    assert errors[-1] < 2e-7


@pytest.mark.parametrize("joint", [pl.Free(), pl.Spherical()], ids=lambda x: type(x).__name__)
def test_fifth_order_of_a_body_that_tumbles(joint: Any) -> None:
    """Rotations move along exp: charts of SE(3) and SO(3)."""
    robot = pl.Robot()
    robot.add_body(
        "top", 1.0, (0.02, 0.05, 0.06), centre=(0.1, 0.02, 0.3), joint=joint,
    )  # fmt: skip
    spin = (4.0, 3.0, 8.0, 0.0, 0.0, 0.0) if isinstance(joint, pl.Free) else (4.0, 3.0, 8.0)
    found = [fixed(robot, 0.5, n, velocity={"top": spin}).state.pose("top") for n in (12, 24, 48)]
    assert orders(differences(found)) == pytest.approx([5.0], abs=0.15)


@pytest.mark.parametrize("formulation", [pl.Spectral(elements=1), pl.BSpline(3, 4), pl.Hermite(1)])
def test_fifth_order_of_a_soft_rod_that_spins(formulation: Any) -> None:
    """Bending, twist, stretch and large rotations at once, on poses that move along exp."""
    robot = pl.Robot(gravity=(0, 0, 0))
    foam = pl.Material(E=3e3, nu=0.4, rho=1000.0)
    robot.add_rod("arm", 0.5, pl.Circle(0.1), foam, base=None, formulation=formulation)
    start = {"arm": (3.0, 1.0, 6.0, 0.0, 0.3, 0.1)}
    found = [
        fixed(robot, 0.4, n, velocity=start).state.position("arm", [0.0, 0.2, 0.5])
        for n in (20, 40, 80)
    ]
    assert orders(differences(found)) == pytest.approx([5.0], abs=0.2)


@pytest.mark.parametrize("steps", [50, 1000])
def test_steps_in_which_less_happens_than_the_tolerance(steps: int) -> None:
    """The angle of a pendulum after a second by quadrature of SciPy; coarse tolerances, short steps."""
    robot = pl.Robot()
    robot.add_body("bob", 1.0, (0.01,) * 3, centre=(0, 0, -0.5), joint=pl.Revolute("y"))

    def fall(t: float, y: Any) -> Any:
        return [y[1], -9.81 * 0.5 * np.sin(y[0]) / 0.26]

    exact = solve_ivp(fall, (0.0, 1.0), [1.0, 0.0], rtol=1e-12, atol=1e-13).y[0, -1]
    stepper = robot.stepper(1.0 / steps, integrator=pl.Radau(1e-2), joints={"bob": 1.0})
    for _ in range(steps):
        state = stepper.step()
    assert state.joint("bob")[0] == pytest.approx(exact, abs=1e-7)
    quick = robot.simulate(
        1.0, 0.1, integrator=pl.Radau(1e-2, largest=1.0 / steps), joints={"bob": 1.0}
    )
    assert quick.joint("bob")[-1, 0] == pytest.approx(exact, abs=1e-7)


def linkage() -> pl.Robot:
    """Three bars in a plane, the last of which ends in a point of the world."""
    robot = pl.Robot()
    first = robot.add_body(
        "a", 1.0, (0.01, 0.01, 0.01), centre=(0.15, 0, 0), joint=pl.Revolute("y")
    )
    second = robot.add_body(
        "b", 0.7, (0.01, 0.02, 0.02), centre=(0.2, 0, 0.05), on=first.at((0.3, 0, 0)),
        joint=pl.Revolute("y"),
    )  # fmt: skip
    third = robot.add_body(
        "c", 0.5, (0.01, 0.01, 0.02), centre=(0.1, 0, 0), on=second.at((0.4, 0, 0)),
        joint=pl.Revolute("y"),
    )  # fmt: skip
    robot.add_constraint("pin", third.at((0.35, 0, 0)), pl.pose((0.7, 0, 0)), hold=("x", "z"))
    return robot


START = {"a": 0.5, "b": -0.8, "c": 0.9}


def test_orders_with_constraints() -> None:
    """Index 3: positions and, projected, velocities of order 5, multipliers of order 2 or more."""
    found = [fixed(linkage(), 0.4, n, joints=START) for n in (20, 40, 80, 160)]
    poses = [np.stack([x.state.pose(name) for name in "abc"]) for x in found]
    rates = [x._stream.motion.stepper.velocity().copy() for x in found]
    forces = [x._stream.motion.stepper.z.copy() for x in found]
    assert orders(differences(poses))[-1] > 4.5
    assert orders(differences(rates))[-1] > 4.0
    assert orders(differences(forces))[-1] > 1.7


def test_constraints_hold_at_outputs_inside_steps() -> None:
    robot = linkage()
    motion = robot.simulate(0.5, 0.011, integrator=pl.Radau(1e-4), joints=START)
    tip = motion.pose("c") @ pl.pose((0.35, 0, 0))
    assert len(motion.t) > 1.5 * motion.steps
    assert np.abs(tip[:, [0, 2], 3] - [0.7, 0.0]).max() < 1e-9
    assert motion.energy_gap.share_added < 1e-3


def falling() -> pl.Robot:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=300.0)
    robot.add_rod("rod", 1.0, pl.Circle(0.01), soft, pose=pl.along("x"))
    return robot


TIMES = np.linspace(0.0, 0.5, 41)


@cache
def fell(tolerance: float) -> pl.Motion:
    return falling().simulate(
        0.5, 0.01, integrator=pl.Radau(tolerance), output_times=TIMES, formulation=pl.BSpline(3, 8)
    )


def test_steps_follow_the_tolerance_and_outputs_are_as_good() -> None:
    """Errors at 40 instants, all but few of them inside steps, fall with the tolerance."""
    best = fell(1e-8).tip("rod")[:, :3, 3]
    errors = [np.abs(fell(x).tip("rod")[:, :3, 3] - best).max() for x in (1e-3, 1e-4, 1e-5)]
    assert errors[0] < 5e-3
    assert errors[1] < 1e-3
    assert errors[2] < 1e-4
    assert fell(1e-5).steps > fell(1e-3).steps
    assert len(TIMES) > fell(1e-3).steps
    ends = fell(1e-4).step_times
    assert ends[0] == 0.0 and ends[-1] == 0.5 and (np.diff(ends) > 0.0).all()
    assert len(ends) == fell(1e-4).steps + 1


def test_velocities_and_account_inside_steps() -> None:
    motion = fell(1e-6)
    flow = np.gradient(motion.tip("rod")[:, :3, 3], motion.t, axis=0, edge_order=2)
    twist = motion.velocity("rod", 1.0)
    speed = np.einsum("tij,tj->ti", motion.tip("rod")[:, :3, :3], twist[:, 3:])
    assert np.abs(flow - speed)[2:-2].max() < 0.05 * np.abs(speed).max()
    energy = motion.energy
    stored = energy["kinetic"] + energy["elastic"] + energy["gravity"] + energy["dissipated"]
    assert np.abs(stored - stored[0]).max() < 2e-3 * energy["kinetic"].max()


def test_work_of_inputs_is_as_accurate_as_the_steps() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rubber = pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=500.0)
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), rubber)
    robot.add_load("push", rod.tip, force=(0.0, 0.0, 0.0), frame="body")
    robot.add_load("side", rod.tip, force=(0.0, 0.0, 0.0))
    motion = robot.simulate(
        0.5, 0.01, {"push": lambda t: (0.1 * np.sin(9 * t), 0, 0), "side": lambda t: (0, 0.1 * t, 0)},
        integrator=pl.Radau(1e-5), formulation=pl.BSpline(3, 8),
    )  # fmt: skip
    assert motion.energy["work"].max() > 1e-3
    assert np.abs(motion.energy["balance"]).max() < 2e-3 * motion.energy["work"].max()


def test_work_of_a_prescribed_joint() -> None:
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=500.0)
    robot.add_rod(
        "arm", 0.3, pl.Circle(0.01), rubber, joint=pl.Revolute("y", drive="angle", input="turn")
    )
    motion = robot.simulate(
        0.4, 0.01, {"turn": lambda t: 0.3 * np.sin(8 * t) ** 2}, integrator=pl.Radau(1e-5)
    )
    assert motion.energy["work"].max() > 1e-3
    assert np.abs(motion.energy["balance"]).max() < 5e-3 * motion.energy["work"].max()


def test_momentum_of_a_free_rod() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    rod = robot.add_rod("rod", 0.5, pl.Circle(0.01), soft, base=None)
    motion = robot.simulate(
        0.5, 0.01, integrator=pl.Radau(1e-6), formulation=pl.Spectral(elements=4),
        velocity={"rod": lambda s: (0.0, 6.0, 2.0, 0.5 * s, 0.1, 0.2)},
    )  # fmt: skip
    s = np.linspace(0.0, rod.length, 201)
    centre = np.trapezoid(motion.position("rod", s), s, axis=1) / rod.length
    steady = centre[0] + np.outer(motion.t, (centre[-1] - centre[0]) / 0.5)
    assert np.abs(centre - steady).max() < 1e-5


def steel() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=210e9, nu=0.2, rho=7800.0)
    rod = robot.add_rod("rod", 1.0, pl.Rectangle(0.01, 0.01), material, pose=pl.along("x"))
    robot.add_load("push", rod.tip, force=(0, 0, -10.0))
    return robot


def test_steel_cantilever_within_a_twentieth_of_a_per_cent() -> None:
    """The stiff rod of the collocation paper, against Newmark's method with far shorter steps."""
    times = np.linspace(0.0, 0.5, 101)
    form = pl.BSpline(3, 8)
    best = steel().simulate(
        0.5, 1e-4, integrator=pl.Newmark(), output_times=times, formulation=form
    )
    quick = steel().simulate(0.5, 0.01, integrator=pl.Radau(), output_times=times, formulation=form)
    error = np.abs(quick.tip("rod")[:, :3, 3] - best.tip("rod")[:, :3, 3]).max()
    assert error < 5e-4
    assert quick.steps < 120


def test_checkpoints_go_on_bit_by_bit(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "fall.nc"
    monkeypatch.setattr("pliant.solve.checkpoint.EVERY", 0.0)
    monkeypatch.setattr("pliant.solve.dynamics._SHOWN", (10, 10))

    def run(**more: Any) -> pl.Motion:
        return falling().simulate(
            0.3, 0.01, integrator=pl.Radau(1e-4), formulation=pl.BSpline(3, 6), **more
        )

    whole, taken = run(), AdaptiveSteps._advance

    def interrupted(self: AdaptiveSteps, goal: float) -> None:
        if self.t > whole.step_times[-4]:  # beyond the first outputs
            raise KeyboardInterrupt
        taken(self, goal)

    monkeypatch.setattr(AdaptiveSteps, "_advance", interrupted)
    assert not run(save=file).complete
    monkeypatch.setattr(AdaptiveSteps, "_advance", taken)
    resumed = run(resume=file)
    assert np.array_equal(resumed.tip("rod"), whole.tip("rod"))
    assert np.array_equal(resumed.step_times, whole.step_times)


@pytest.mark.parametrize("value", [0.0, -1.0, 1.0, "small", np.nan])
def test_odd_tolerances_are_refused(value: Any) -> None:
    with pytest.raises(pl.DescriptionError, match="tolerance"):
        pl.Radau(tolerance=value)


def test_refusals_name_what_steps_cannot_carry() -> None:
    robot = pl.Robot()
    robot.add_body("cart", 1.0, (1.0, 1.0, 1.0), joint=pl.Prismatic("x", friction=0.1))
    with pytest.raises(pl.DescriptionError, match=r"cart.*Radau.*dry friction.*Midpoint"):
        robot.simulate(0.1, 0.01, integrator=pl.Radau())
    with pytest.raises(pl.DescriptionError, match=r"error.*Radau.*tolerance"):
        falling().simulate(0.5, 0.01, integrator=pl.Radau(), error=True)
    with pytest.raises(pl.DescriptionError, match="integrator"):
        falling().simulate(0.5, 0.01, integrator=pl.Radau(), formulation=pl.Shooting(20))


def test_a_step_that_never_converges_ends_with_a_sentence() -> None:
    robot = falling()
    robot.add_load("push", robot.description.rods["rod"].tip, force=(0, 0, 0))
    inputs = {"push": lambda t: (0.0, 0.0, 1e9 * t if t > 0.1 else 0.0)}
    with pytest.raises(pl.ConvergenceError, match=r"stopped at t = 0\.\d+ s.*tolerance"):
        robot.simulate(0.5, 0.01, inputs, integrator=pl.Radau(), formulation=pl.BSpline(3, 6))


def test_fit_solves_neighbours_from_their_start() -> None:
    """Steps that depend on the robot have no neighbours to correct: each one is a motion of its own."""

    def arm(E: float) -> pl.Robot:
        robot = pl.Robot()
        soft = pl.Material(E=E, nu=0.5, rho=1000.0, viscosity=500.0)
        robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))
        return robot

    motion = arm(1e6).simulate(0.1, 1e-3, output_every=0.01)
    columns = {"t": motion.t, "arm.tip.z": motion.tip("arm")[:, 2, 3]}
    integrator = pl.Radau(tolerance=1e-6)
    measured = pl.Measurement(columns, time="t")
    found = pl.fit(arm(8e5), measured, ["arm.material.E"], integrator=integrator)
    assert found["arm.material.E"].value == pytest.approx(1e6, rel=1e-3)


def test_a_motion_of_too_many_steps_is_given_up() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))
    mesh = pl.BSpline(3, 8)
    with pytest.raises(pl.ConvergenceError, match="more than 5 steps") as caught:
        robot.simulate(0.5, 0.05, formulation=mesh, integrator=pl.Radau(1e-5, most=5))
    assert not caught.value.last.complete
    with pytest.raises(pl.DescriptionError, match="most"):
        pl.Radau(most=0)


def test_a_stepper_serves_another_tolerance() -> None:
    """Motions with other tolerances share programs and differ as they would alone."""

    def tips(*tolerances: float) -> list[np.ndarray]:
        robot = pl.Robot()
        soft = pl.Material(E=1e7, nu=0.5, rho=1000.0)
        robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))
        settings = {"formulation": pl.BSpline(3, 6)}
        motions = [
            robot.simulate(0.1, 0.01, integrator=pl.Radau(tolerance), **settings)
            for tolerance in tolerances
        ]
        return [motion.tip("arm")[:, :3, 3] for motion in motions]

    first, second = tips(1e-3, 1e-6)
    assert np.array_equal(first, tips(1e-3)[0])
    assert np.array_equal(second, tips(1e-6)[0])
    assert not np.array_equal(first, second)
