"""Strong forms on the cases of their papers, and against each other and splines."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pliant as pl
from pliant.lie import so3
from tests.reference import values

SHOOTING = {
    "shooting": pl.Shooting(steps=800),
    "multiple": pl.MultipleShooting(intervals=8, steps=800),
}
LOADS = np.arange(300.0, 3001.0, 300.0)


def helix() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=100.0, twist=100.0, shear=1e4, axial=1e4)
    rod = robot.add_rod("rod", 10.0, section, pose=pl.along("x"))
    robot.add_load("both", rod.tip, force=(0, 50, 0), moment=(0, 200 * np.pi, 0))
    return robot


def bend() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    pose = pl.along("y")
    natural = tuple(pose[:3, :3].T @ (0.0, 0.0, -0.01))
    section = pl.Section(1.0, 1 / 12, 1 / 12, 1 / 6)
    material = pl.Material(E=1e7, nu=0.0)
    rod = robot.add_rod("rod", 25 * np.pi, section, material, pose, natural=natural)
    robot.add_load("up", rod.tip, force=(0, 0, 1.0))
    return robot


@pytest.mark.parametrize(
    "form", [*SHOOTING.values(), pl.Collocation()], ids=lambda f: type(f).__name__
)
def test_end_moment_bends_rod_into_circle(form):
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=2.0, twist=1 / 2.6, shear=0.25 / 2.6, axial=0.25)
    rod = robot.add_rod("rod", 1.0, section, pose=pl.along("x"))
    robot.add_load("turn", rod.tip, moment=(0, 4 * np.pi, 0))
    assert robot.statics(formulation=form).tip("rod")[:3, 3] == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("method", SHOOTING)
def test_force_and_moment_wind_a_rod_into_a_helix(method):
    """Ten turns; 800 steps of Runge and Kutta are good to 2e-7 m of 10 m."""
    robot = helix()
    for lam, tip in values.HELIX_TIP.items():
        still = robot.statics({"both": lam}, formulation=SHOOTING[method])
        assert still.tip("rod")[:3, 3] == pytest.approx(tip, abs=3e-7)
        assert still.rescues["load steps"] > 0
        finer = pl.Shooting(steps=1600, rotation="magnus")
    last = robot.statics({"both": lam}, formulation=finer, start=still)
    assert last.tip("rod")[:3, 3] == pytest.approx(tip, abs=2e-9)


@pytest.mark.parametrize("method", SHOOTING)
def test_45_degree_bend_arrives_from_zero_and_from_the_last_load(method):
    """To 3000 N; what it takes is load steps, and the result says so."""
    robot, last = bend(), None
    for load in LOADS:
        cold = robot.statics({"up": load}, formulation=SHOOTING[method])
        last = robot.statics({"up": load}, formulation=SHOOTING[method], start=last)
        assert last.tip("rod") == pytest.approx(cold.tip("rod"), abs=1e-7)
        if load in values.BEND_TIP:
            assert cold.tip("rod")[:3, 3] == pytest.approx(values.BEND_TIP[load], abs=1e-8)
        if load > LOADS[0]:
            assert last.rescues == {}
    assert set(cold.rescues) == {"load steps"}
    exact = robot.statics({"up": 3000.0}, formulation=pl.Collocation())
    assert cold.tip("rod") == pytest.approx(exact.tip("rod"), abs=1e-8)


STEEL = {
    -10.0: (pl.Shooting(steps=100), pl.MultipleShooting(), pl.Collocation(nodes=16)),
    -100.0: (pl.Shooting(steps=100), pl.MultipleShooting(), pl.Collocation(nodes=32)),
}
TURN = so3.exp(np.array([0.7, 0.0, 0.0]))
"""The plane of the motion, turned about the beam so that no velocity is zero by its place in memory."""


def steel(force: float, turned: bool = False) -> pl.Robot:
    given = values.STEEL_BEAM
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=given["E"], nu=given["nu"], rho=given["rho"])
    section = pl.Rectangle(given["side"], given["side"])
    beam = robot.add_rod("beam", given["length"], section, material, pl.along("x"))
    push = np.array([0.0, 0.0, force])
    robot.add_load("tip", beam.tip, force=tuple(TURN @ push if turned else push))
    return robot


@pytest.mark.parametrize(("force", "form"), [(f, m) for f, some in STEEL.items() for m in some])
def test_steel_cantilever_follows_the_reference(force, form):
    """A sudden load wakes modes whose phase a step of 2 ms cannot keep: 0.7 mm of a swing of 38 mm for
    10 N and 5.6 mm of 0.34 m for 100 N at worst, the same for every form. Bounds are 1.3 times that.
    """
    move = steel(force, turned=True).simulate(
        0.5, 2e-3, formulation=form, integrator=pl.BDFAlpha(-0.5)
    )
    rows = np.searchsorted(move.t, np.array(values.STEEL_STEP_T) - 1e-9)
    tip = move.tip("beam")[rows, :3, 3] @ TURN
    known = np.column_stack([values.STEEL_STEP_X[force], values.STEEL_STEP_Z[force]])
    error = np.linalg.norm(tip[:, [0, 2]] - known, axis=1).max()
    assert error < (9e-4 if force == -10.0 else 7.3e-3)
    s = np.linspace(0.0, 1.0, 11)
    world = np.einsum(
        "tsij,tsj->tsi", move.pose("beam", s)[..., :3, :3], move.velocity("beam", s)[..., 3:]
    )
    assert np.abs(world @ TURN[:, 1]).max() < 1e-8
    assert np.abs(tip[:, 1]).max() < 1e-9


def phase_error(dt: float, t: np.ndarray) -> np.ndarray:
    """What the trapezoidal rule adds to the height of the tip after a sudden force of 10 N, m.

    By beam theory: the force gives mode n the swing a (1 - cos(w t)) with a = 4 P / (m L w^2), and the
    rule turns w into (2 / dt) atan(w dt / 2). At 2 ms it keeps only the first mode in phase.
    """
    given = values.STEEL_BEAM
    area, moment = given["side"] ** 2, given["side"] ** 4 / 12
    roots = np.array([1.8751041, 4.6940911, 7.8547574, 10.995541, 14.137168, 17.278760])
    mass = given["rho"] * area
    w = roots**2 * np.sqrt(given["E"] * moment / mass) / given["length"] ** 2
    slow = 2.0 / dt * np.arctan(0.5 * w * dt)
    a = -4.0 * 10.0 / (mass * given["length"] * w**2)
    return (np.cos(np.outer(t, w)) - np.cos(np.outer(t, slow))) @ a


@pytest.mark.parametrize("form", STEEL[-10.0], ids=lambda form: type(form).__name__)
def test_error_against_the_reference_is_the_phase_that_the_time_rule_loses(form):
    """Mode by mode: without it the reference is met to 0.15 mm, a fifth of the error."""
    times = np.array(values.STEEL_STEP_T)
    move = steel(-10.0).simulate(
        times[-1], 2e-3, formulation=form, integrator=pl.BDFAlpha(-0.5), output_times=times
    )
    error = move.tip("beam")[:, 2, 3] - np.array(values.STEEL_STEP_Z[-10.0])
    assert np.abs(error).max() > 6e-4
    assert error == pytest.approx(phase_error(2e-3, times), abs=1.5e-4)


@functools.cache
def quick(form: pl.Shooting | pl.MultipleShooting, dt: float) -> pl.Motion:
    return steel(-10.0).simulate(
        0.1, dt, formulation=form, integrator=pl.BDFAlpha(-0.5), output_times=[0.1]
    )


def test_steps_of_a_tenth_of_a_millisecond_work_and_say_by_whose_help():
    move = quick(pl.Shooting(steps=200), 1e-4)
    known = values.STEEL_STEP_X[-10.0][0], values.STEEL_STEP_Z[-10.0][0]
    assert move.tip("beam")[0, [0, 2], 3] == pytest.approx(known, abs=1e-5)
    assert move.rescues["multiple shooting"] > 900
    assert np.abs(move.velocity("beam", 1.0)[0, [0, 2, 4]]).max() < 1e-8


def test_longer_steps_need_no_help():
    assert quick(pl.Shooting(steps=200), 2e-3).rescues == {}


def test_help_can_be_refused():
    with pytest.raises(pl.ConvergenceError, match="did not converge"):
        steel(-10.0).simulate(0.1, 1e-4, formulation=pl.Shooting(steps=200, rescue=False))


def curved() -> pl.Robot:
    """Tapered, naturally curved, heavy, in a fluid; force and moment at the tip, follower half way."""
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=3000.0)
    arm = robot.add_rod(
        "arm", 0.4, pl.Circle((0.012, 0.008)), rubber, pl.along("x"), natural=(1, -3, 0.5), drag=5.0
    )
    robot.add_load("pull", arm.tip, force=(0, 0.05, 0.1))
    robot.add_load("turn", arm.tip, moment=(0.002, 0, -0.004))
    robot.add_load("follow", arm.at(0.2), force=(0.1, 0.05, 0), frame="body")
    return robot


FORMS = {
    "shooting": pl.Shooting(steps=400),
    "multiple": pl.MultipleShooting(intervals=8, steps=400),
    "spline": pl.BSpline(degree=3, points=240),
}


def test_all_forms_agree_at_rest():
    found = pl.compare(curved(), FORMS, pl.Collocation())
    for row in found.table[1:]:
        assert row.solved and row.position < (1e-6 if row.method == "spline" else 5e-9)


@functools.cache
def moved(method: str) -> np.ndarray:
    """Positions at 0.02 and 0.04 s with no step at all, by Richardson from 2 and 1 ms."""
    form = {**FORMS, "collocation": pl.Collocation()}[method]
    robot = curved()
    loads = {name: (lambda t: 1 + 0.5 * np.sin(20 * t) ** 2) for name in ("pull", "turn", "follow")}
    start = robot.statics(formulation=form)
    time = None if method == "spline" else pl.BDFAlpha(-0.5)
    coarse, fine = (
        robot.simulate(
            0.04, dt, loads, formulation=form, integrator=time, start=start,
            output_times=[0.02, 0.04],
        ).position("arm", np.linspace(0, 0.4, 9))
        for dt in (2e-3, 1e-3)
    )  # fmt: skip
    return fine + (fine - coarse) / 3.0


@pytest.mark.parametrize("method", FORMS)
def test_all_forms_agree_in_motion(method):
    change = np.abs(moved(method) - moved("collocation")).max() / 0.4
    assert change < (1e-6 if method == "spline" else 5e-8)


def test_runge_and_kutta_are_of_fourth_order_on_the_curved_rod():
    exact = curved().statics(formulation=pl.Collocation()).tip("arm")
    errors = [
        np.abs(curved().statics(formulation=pl.Shooting(steps=n)).tip("arm") - exact).max()
        for n in (20, 40, 80)
    ]
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(4.0, abs=0.3)


def test_collocation_converges_faster_than_any_power():
    exact = curved().statics(formulation=pl.Collocation()).tip("arm")
    errors = [
        np.abs(
            curved().statics(formulation=pl.Collocation(nodes=n, history_nodes=32)).tip("arm")
            - exact
        ).max()
        for n in (3, 5, 7, 9)
    ]
    assert (np.divide(errors[:-1], errors[1:]) > 5.0).all()
    assert errors[-1] < 1e-7
