"""Tubes that are pushed during a motion, against equilibria, energy balance and convergence in time."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar

import pliant as pl
from pliant.lie import se3

STRAIN = pl.Strain(3, 3)


def two_tubes(viscosity: float, formulation: Any = STRAIN, theory: str = "kirchhoff") -> pl.Robot:
    """Two curved tubes that are pushed and turned, with a force at the tip."""
    nitinol = pl.Material(E=6e10, nu=0.33, rho=6450.0, viscosity=viscosity)
    robot = pl.Robot()
    outer = robot.add_tube(
        *("outer", 0.15, pl.Annulus(2.2e-3, 1.7e-3), nitinol),
        natural=(0, 5, 0),
        start=-0.05,
        insertion="push outer",
        formulation=formulation,
        theory=theory,
    )
    inner = robot.add_tube(
        *("inner", 0.3, pl.Annulus(1.5e-3, 1.2e-3), nitinol, outer),
        natural=(0, 12, 0),
        start=-0.1,
        insertion="push",
        rotation="turn",
    )
    robot.add_load("force", inner.tip, force=(0, 0, -0.2))
    return robot


@pytest.mark.parametrize(
    ("name", "formulation", "theory"),
    [("push", STRAIN, "kirchhoff"), ("push outer", pl.Hermite(5), "cosserat")],
)
def test_slow_push_follows_equilibria_and_loses_nothing(
    name: str, formulation: Any, theory: str
) -> None:
    robot, end = two_tubes(3e7, formulation, theory), 0.01
    inputs = {"turn": 1.0, name: pl.Ramp(0.0, end, 0.0, 0.4)}
    motion = robot.simulate(
        0.4, 8e-3, inputs, "statics", output_every=0.08, integrator=pl.Midpoint()
    )
    shift = np.linalg.norm(motion.tip("inner")[-1, :3, 3] - motion.tip("inner")[0, :3, 3])
    assert shift > 0.4 * end
    for k, push in enumerate(motion.inputs[name]):
        still = robot.statics({"turn": 1.0, name: float(push)}).tip("inner")[:3, 3]
        # it lags behind by viscosity / E times its velocity, and rings a little as the push begins
        assert np.linalg.norm(motion.tip("inner")[k, :3, 3] - still) < 4e-3 * shift
    energy = motion.energy
    kept = [robot.statics({"turn": 1.0, name: x}).energy for x in (0.0, end)]
    stored = [x["elastic"] + x["gravity"] for x in kept]
    # the work goes into the tubes; next to nothing is lost on the way
    assert energy["work"][-1] == pytest.approx(stored[1] - stored[0], rel=1e-3)
    assert energy["dissipated"][-1] < 2e-3 * abs(energy["work"][-1])
    assert np.ptp(energy["balance"]) < 2e-4 * abs(energy["work"][-1])


def test_formulations_agree_on_work_and_loss_of_a_push() -> None:
    found = []
    for formulation in (STRAIN, pl.Hermite(5), pl.BSpline(points=12)):
        robot = two_tubes(3e7, formulation)
        inputs = {"turn": 1.0, "push outer": pl.Ramp(0.0, 0.01, 0.0, 0.4)}
        energy = robot.simulate(0.4, 8e-3, inputs, "statics", output_every=0.4).energy
        found.append((energy["work"][-1], energy["dissipated"][-1]))
    works, losses = np.array(found).T
    assert works == pytest.approx(works[0], rel=1e-4)
    assert losses == pytest.approx(losses[0], rel=0.05)


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.GeneralizedAlpha(0.9)], ids=repr)
def test_motion_of_a_pushed_tube_is_of_second_order_in_time(integrator: Any) -> None:
    robot = two_tubes(3e6)
    inputs = {"turn": 1.0, "push": lambda t: 0.004 * np.sin(15 * t) ** 2}
    motions = [
        robot.simulate(0.06, dt, inputs, "statics", integrator=integrator, output_every=0.02)
        for dt in (1e-3, 5e-4, 2.5e-4)
    ]
    a, b, c = (motion.tip("inner")[:, :3, 3] for motion in motions)
    assert np.log2(np.abs(b - a).max() / np.abs(c - b).max()) == pytest.approx(2.0, abs=0.35)


def test_tube_comes_out_of_another_and_goes_back(tmp_path: Path) -> None:
    """Breaks come and go; a motion that starts where another ended goes on there."""
    robot = two_tubes(1e8)
    first = {"turn": 0.5, "push": pl.Ramp(-0.05, -0.12, 0.0, 0.3)}
    motion = robot.simulate(0.3, 5e-3, first, "statics", output_every=0.1)
    assert motion.tip("inner")[-1, 2, 3] < motion.tip("outer")[-1, 2, 3]  # it is inside
    hold = {"turn": 0.5, "push": -0.12}
    rest = robot.simulate(0.2, 5e-3, hold, motion, integrator=pl.ImplicitEuler())
    still = robot.statics(hold)
    assert rest.tip("outer")[-1, :3, 3] == pytest.approx(still.tip("outer")[:3, 3], abs=2e-5)
    saved = motion.save(tmp_path / "tubes.nc")
    assert Path(saved).exists()
    assert copy.deepcopy(motion).tip("outer") == pytest.approx(motion.tip("outer"))


PASSED = {
    "outer beyond inner": ({"push": -0.12}, -0.03, 0.05),
    "out from nothing": ({}, -0.13, 0.0),
    "withdrawn to nothing": ({}, 0.0, -0.13),
}


@pytest.mark.parametrize(
    ("formulation", "theory"), [(STRAIN, "kirchhoff"), (pl.Hermite(5), "cosserat")]
)
@pytest.mark.parametrize("kind", PASSED)
def test_outer_tube_is_pushed_past_the_ends_of_the_inner_one(
    kind: str, formulation: Any, theory: str
) -> None:
    """Spans as short as a step of the push make no energy: it arrives at the equilibrium there."""
    robot, (more, begin, end) = two_tubes(3e7, formulation, theory), PASSED[kind]
    held = {"turn": 1.0, **more}
    inputs = {**held, "push outer": pl.Ramp(begin, end, 0.0, 0.4)}
    motion = robot.simulate(0.4, 4e-3, inputs, "statics", output_every=0.2)
    stills = [robot.statics({**held, "push outer": push}) for push in (begin, end)]
    tip = "outer.tip" if end > begin else "inner.tip"
    far = np.linalg.norm(stills[1].position(tip) - motion.position(tip)[-1])
    way = np.linalg.norm(np.subtract(*(still.position(tip) for still in stills)))
    assert far < 0.02 * way
    first, last = (still.energy["elastic"] + still.energy["gravity"] for still in stills)
    assert motion.energy["work"][-1] == pytest.approx(last - first, rel=0.15)


def test_stepper_pushes_as_a_simulation_does() -> None:
    robot = two_tubes(3e7)
    stepper = robot.stepper(5e-3, {"turn": 1.0}, start="statics")
    for k in range(8):
        state = stepper.step({"push": 1e-3 * (k + 1)})
        assert state.converged
    inputs = {"turn": 1.0, "push": pl.Ramp(0.0, 8e-3, 0.0, 0.04)}
    motion = robot.simulate(0.04, 5e-3, inputs, "statics")
    assert state.tip("inner") == pytest.approx(motion.tip("inner")[-1], abs=1e-9)
    assert state.energy["work"] == pytest.approx(motion.energy["work"][-1], rel=1e-6)


# -- equilibria: derivatives, inverse statics and continuation in the insertion ---------------------

PLACED = {"turn": 1.0, "push": 0.003, "push outer": 0.002, "force": 1.0}


@pytest.mark.parametrize(
    ("formulation", "theory"),
    [(STRAIN, "kirchhoff"), (pl.Hermite(5), "cosserat"), (pl.BSpline(points=12), "cosserat")],
    ids=lambda x: type(x).__name__,
)
def test_jacobian_in_insertions_is_the_difference_of_equilibria(
    formulation: Any, theory: str
) -> None:
    robot = two_tubes(0.0, formulation, theory)
    still = robot.statics(PLACED, tolerance=1e-13)
    here = se3.inverse(still.pose("inner.tip"))
    found = still.jacobian("inner.tip", list(PLACED))
    for k, name in enumerate(PLACED):
        step = 1e-4
        sides = [{**PLACED, name: PLACED[name] + x} for x in (step, -step)]
        ends = [se3.log(here @ robot.statics(x, tolerance=1e-13).pose("inner.tip")) for x in sides]
        truth = (ends[0] - ends[1]) / (2 * step)
        assert found[:, k] == pytest.approx(truth, abs=1e-6 * np.abs(truth).max())


def test_jacobian_is_refused_where_a_tube_cannot_be_pushed_farther() -> None:
    """Close to the entry plane the short straight part is stiff; at it there is no derivative."""
    robot = two_tubes(0.0)
    values = {**PLACED, "push outer": 0.0499}
    ends = [robot.statics({**values, "push outer": 0.0499 + x}) for x in (5e-5, -5e-5)]
    truth = (ends[0].position("inner.tip") - ends[1].position("inner.tip")) / 1e-4
    found = robot.statics(values).jacobian("inner.tip", "push outer", frame="world")[3:, 0]
    assert found == pytest.approx(truth, abs=3e-4 * np.abs(truth).max())
    at_the_plane = robot.statics({**values, "push outer": 0.05})
    with pytest.raises(pl.ConvergenceError, match="its base is at the entry plane"):
        at_the_plane.jacobian("inner.tip", "push outer")


def test_reach_finds_insertions_and_angle_of_a_tip() -> None:
    robot = two_tubes(0.0)
    values = {"turn": 1.0, "push": -0.013, "push outer": 0.012}
    target = robot.statics({**values, "force": 1.0}).position("inner.tip")
    found = robot.reach({"inner.tip": target}, list(values), values={"force": 1.0})
    assert found.reached and found.stable
    assert found.found == pytest.approx(values, abs=1e-5)
    again = robot.statics({**found.found, "force": 1.0})
    assert again.position("inner.tip") == pytest.approx(target, abs=3e-7)


def test_reach_keeps_the_base_of_a_tube_behind_the_entry_plane() -> None:
    robot = two_tubes(0.0)
    far = robot.statics({"push outer": 0.05, "force": 0.0}).position("outer.tip")
    far[2] += 0.02
    with pytest.warns(pl.ReachWarning, match="'push outer' at their bounds"):
        found = robot.reach({"outer.tip": far}, "push outer", values={"force": 0.0}, tries=1)
    assert found.inputs["push outer"] == pytest.approx(0.05, abs=5e-5)


def test_equilibrium_starts_from_one_with_another_insertion() -> None:
    robot = two_tubes(0.0)
    first = robot.statics(PLACED)
    values = {**PLACED, "push": -0.14}  # the inner tube ends in the outer one
    found = robot.statics(values, start=first)
    assert found.tip("outer") == pytest.approx(robot.statics(values).tip("outer"), abs=1e-9)


def test_follow_pushes_through_changes_of_the_mesh(tmp_path: Path) -> None:
    """The inner tube is withdrawn into the outer one; every point is an equilibrium of its own."""
    robot = two_tubes(0.0)
    path = robot.follow("push", 0.0, -0.14, {"turn": 1.0}, points=10)
    assert path.ended == "the input arrived at -0.14" and all(path.stable)
    for k in (3, len(path) // 2, -1):
        still = robot.statics({"turn": 1.0, "push": float(path.values[k])})
        assert path[k].tip("inner") == pytest.approx(still.tip("inner"), abs=1e-9)
        assert path.tip("inner")[k] == pytest.approx(still.tip("inner"), abs=1e-9)
    assert path.to_csv(tmp_path / "path.csv").exists()
    assert len(path.energy["elastic"]) == len(path)


def test_fold_in_the_insertion_is_that_of_two_twisted_tubes() -> None:
    """theta'' = lambda sin(theta) along the overlap; the straight parts of both tubes twist, that of
    the inner one the less the farther it is pushed. The angle at which they snap falls to that held.
    """
    robot, product, overlap, behind = pl.Robot(gravity=(0, 0, 0)), 34.8, 0.23, 0.21
    stiff = pl.Material(E=2e9, nu=0.45, rho=1200.0)
    outer = robot.add_tube(
        *("outer", behind + overlap, pl.Annulus(5e-3, 3e-3), stiff),
        natural=(0, product / (1.45 * 6.0), 0),
        start=-behind,
        formulation=STRAIN,
        theory="kirchhoff",
    )
    robot.add_tube(
        *("inner", 0.6, pl.Annulus(2.5e-3, 2e-3), stiff, outer),
        natural=(0, 6, 0),
        start=-behind,
        insertion="push",
        rotation="turn",
    )
    J = [a**4 - b**4 for a, b in ((5.0, 3.0), (2.5, 2.0))]

    def base_angle(tip: float, push: float) -> float:
        slope = lambda s, y: [y[1], product * np.sin(y[0])]  # noqa: E731
        y = solve_ivp(slope, (overlap, 0.0), [tip, 0.0], rtol=1e-11, atol=1e-13).y[:, -1]
        return float(y[0] - y[1] * ((behind - push) * J[0] + behind * J[1]) / sum(J))

    def snap(push: float) -> float:
        top = minimize_scalar(
            lambda tip: -base_angle(tip, push), bounds=(0.5, 3.1), method="bounded"
        )
        return -float(top.fun)

    truth = brentq(lambda push: snap(push) - 4.0, 0.0, 0.1)
    path = robot.follow("push", 0.0, 0.1, {"turn": 4.0}, points=10)
    assert [fold.value for fold in path.folds] == pytest.approx([truth], rel=1e-5)
    assert path.stable[0] and path.stable[-1] is False


def test_midpoint_pushes_outer_tubes_and_refuses_to_pass_ends() -> None:
    """What the mesh does not pass on would alternate in spans as short as a push; the order is 1.3."""
    robot = two_tubes(3e6)
    inputs = {"turn": 1.0, "push outer": lambda t: 0.004 * np.sin(15 * t) ** 2}
    given = {"output_every": 0.02, "integrator": pl.Midpoint()}
    motions = [robot.simulate(0.06, dt, inputs, "statics", **given) for dt in (1e-3, 5e-4, 2.5e-4)]
    a, b, c = (motion.tip("inner")[:, :3, 3] for motion in motions)
    assert np.log2(np.abs(b - a).max() / np.abs(c - b).max()) > 1.2
    assert max(np.ptp(motion.energy["balance"]) for motion in motions) < 1e-9
    more, begin, end = PASSED["outer beyond inner"]
    passing = {"turn": 1.0, **more, "push outer": pl.Ramp(begin, end, 0.0, 0.4)}
    with pytest.raises(pl.DescriptionError, match=r"tubes pass each other's ends.*Newmark"):
        robot.simulate(0.4, 4e-3, passing, "statics", **given)
    still = robot.statics({**passing, "push outer": end}).tip("inner")[:3, 3]
    moved = robot.simulate(0.4, 4e-3, passing, "statics", integrator=pl.Newmark()).tip("inner")
    way = np.linalg.norm(moved[-1, :3, 3] - moved[0, :3, 3])
    assert np.linalg.norm(moved[-1, :3, 3] - still) < 0.02 * way
