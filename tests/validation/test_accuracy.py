"""accuracy= : mesh, integrator and step are chosen, and the result is as near as it was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import pliant as pl

S = np.linspace(0.0, 0.4, 17)
SOFT = pl.Material(E=5e5, nu=0.45, rho=1000.0)


def arm(**more: Any) -> pl.Robot:
    robot = pl.Robot()
    robot.add_rod("arm", 0.4, pl.Circle(0.006), SOFT, pl.along("x"), **more)
    return robot


@pytest.mark.parametrize("accuracy", [1e-3, 1e-5])
def test_equilibria_are_as_accurate_as_asked_for(accuracy: float) -> None:
    truth = arm().statics(formulation=pl.Spectral(5, 40)).position("arm", S)
    found = arm().statics(accuracy=accuracy)
    assert np.abs(found.position("arm", S) - truth).max() < accuracy * 0.4
    assert found.error is not None and found.error.relative < accuracy


def test_frequencies_are_as_accurate_as_asked_for() -> None:
    truth = arm().modes(3, formulation=pl.Spectral(5, 30)).frequencies
    found = arm().modes(3, accuracy=1e-4)
    assert found.frequencies == pytest.approx(truth, rel=1e-4)


def test_motions_need_neither_step_nor_mesh() -> None:
    truth = arm().simulate(
        0.3, 0.01, formulation=pl.Spectral(3, 40), integrator=pl.Explicit(), output_every=0.03
    )
    found = arm().simulate(0.3, output_every=0.03)
    gap = np.linalg.norm(found.position("arm", S) - truth.position("arm", S), axis=-1).max()
    assert gap < 1e-3 * 0.4
    assert found.error is not None and found.error.relative < 1e-3
    assert gap < 5.0 * found.error.shape + 1e-6


@pytest.mark.parametrize("part", [0.0, 0.5, 0.95])
def test_ctrl_c_leaves_the_finest_motion_so_far(part: float) -> None:
    """In the first motion of a search and in later ones; comparing cut motions was a ValueError."""

    def search(most: float) -> tuple[pl.Motion, int]:
        calls = 0

        def count(_: float, __: float) -> None:
            nonlocal calls
            calls += 1
            if calls > most:
                raise KeyboardInterrupt

        return arm().simulate(0.1, output_every=0.01, progress=count), calls

    whole, calls = search(np.inf)
    assert whole.complete
    with pytest.warns(pl.ResolutionWarning, match="interrupted before the accuracy 0.001"):
        found, _ = search(part * calls)
    assert not found.complete
    assert found.error is None
    assert np.isfinite(found.position("arm", S)).all()
    assert (found.t[-1] == pytest.approx(0.1)) == (part > 0.0)


@pytest.mark.parametrize(
    "formulation", [pl.BSpline(points=5), pl.Strain(1, 1), pl.Hermite(1)], ids=lambda x: str(x)[:8]
)
def test_the_error_of_a_given_mesh_counts(formulation: Any) -> None:
    """By a coarser mesh or, of the coarsest, by a finer one; the error was that of the steps alone."""
    robot = pl.Robot()
    soft = pl.Material(E=2e5, nu=0.45, rho=1000.0, viscosity=200.0)
    robot.add_rod("arm", 0.3, pl.Circle((0.012, 0.006)), soft, pl.along("x"))
    s = np.linspace(0.0, 0.3, 17)
    truth = robot.simulate(0.4, 1e-3, formulation=pl.BSpline(points=24), output_every=0.04)
    with pytest.warns(pl.ResolutionWarning, match="the accuracy 0.001 was not reached"):
        found = robot.simulate(0.4, accuracy=1e-3, formulation=formulation, output_every=0.04)
    gap = np.linalg.norm(found.position("arm", s) - truth.position("arm", s), axis=-1).max()
    assert gap > 1e-3 * 0.3 and found.error is not None
    assert 0.3 * gap < found.error.shape < 5.0 * gap


def test_motions_with_constraints_take_implicit_steps() -> None:
    robots = [arm(), arm()]
    for robot in robots:
        robot.add_constraint("pin", "arm.tip", kind="articulated")
    truth = robots[0].simulate(0.1, 2e-4, formulation=pl.Spectral(3, 24), output_every=0.02)
    found = robots[1].simulate(0.1, accuracy=2e-3, output_every=0.02)
    gap = np.linalg.norm(found.position("arm", S) - truth.position("arm", S), axis=-1).max()
    assert gap < 2e-3 * 0.4
    assert "Radau" in str(found.integrator)
    assert found.error is not None and found.error.relative < 2e-3


def test_stiff_rods_take_few_long_steps() -> None:
    """Steel cantilever under a sudden force: explicit steps would be 100,000, those of Radau 100."""
    robot = pl.Robot(gravity=(0, 0, 0))
    steel = pl.Material(E=210e9, nu=0.2, rho=7800.0)
    beam = robot.add_rod("beam", 1.0, pl.Rectangle(0.01, 0.01), steel, pose=pl.along("x"))
    robot.add_load("push", beam.tip, force=(0, 0, -10.0))
    times = np.linspace(0.0, 0.5, 21)
    found = robot.simulate(0.5, accuracy=1e-3, output_times=times)
    fine = pl.BSpline(3, 10)
    truth = robot.simulate(
        0.5, 0.0125, formulation=fine, integrator=pl.Radau(1e-7), output_times=times
    )
    gap = np.linalg.norm(found.tip("beam")[:, :3, 3] - truth.tip("beam")[:, :3, 3], axis=1).max()
    assert gap < 1e-3 and found.error is not None and found.error.relative <= 1e-3
    assert "Radau" in found.integrator and found.steps < 150


def test_what_you_give_is_kept() -> None:
    mesh, step = pl.BSpline(3, 9), pl.Midpoint()
    found = arm().simulate(0.05, 1e-3, formulation=mesh, integrator=step, accuracy=0.05)
    assert "points=9" in str(found.formulation) and "Midpoint" in str(found.integrator)


@pytest.mark.parametrize("accuracy", [0.0, 1.0, "fine"])
def test_accuracies_that_mean_nothing_are_refused(accuracy: Any) -> None:
    with pytest.raises(pl.DescriptionError, match="a fraction of the length"):
        arm().statics(accuracy=accuracy)
    with pytest.raises(pl.DescriptionError, match="a fraction of the length"):
        arm().simulate(0.1, accuracy=accuracy)


def test_a_motion_with_an_accuracy_is_saved_at_its_end_and_not_resumed(tmp_path: Any) -> None:
    path = tmp_path / "motion.nc"
    motion = arm().simulate(0.05, save=path)
    assert pl.load(path)["position"].shape[0] == len(motion.t) == 101
    with pytest.raises(pl.DescriptionError, match=r"resume.*left out"):
        arm().simulate(0.05, resume=path)


def test_motions_with_events_are_as_accurate_as_asked_for() -> None:
    """A pendulum falls to its lowest point in a time that is known. Without rods, only steps count."""
    length, angle = 0.5, 1.0
    quarter = np.sqrt(length / 9.81) * ellipk(np.sin(0.5 * angle) ** 2)
    robot = pl.Robot()
    robot.add_body("bob", 1.0, (0, 0, 0), centre=(0, 0, -length), joint=pl.Revolute("y"))
    low = pl.Event(lambda state: state.joint("bob")[0], "low")
    given: dict[str, Any] = {"joints": {"bob": angle}, "events": low, "output_every": 0.1}
    for accuracy in (1e-2, 1e-4):
        found = robot.simulate(2.0, accuracy=accuracy, **given)
        name, time = found.event
        assert name == "low" and time == pytest.approx(quarter, rel=accuracy)
        assert found.t[-1] == time and len(found.t) == len(found.error.over_time)
        assert found.error.relative < accuracy


def test_rods_that_touch_something_earlier_on_finer_meshes_end_there() -> None:
    """The time of an event is part of what the meshes are compared for."""
    event = pl.Event(lambda state: state.tip("arm")[2, 3] + 0.05, "low")
    given: dict[str, Any] = {"events": event, "output_every": 0.02}
    found = arm().simulate(0.5, accuracy=1e-3, **given)
    fine = {"formulation": pl.BSpline(5, 16), "integrator": pl.Radau(1e-7)}
    true = arm().simulate(0.5, 0.01, **given, **fine)
    assert found.event[1] == pytest.approx(true.event[1], rel=1e-3)
    distance = np.abs(found.position("arm", S)[-1] - true.position("arm", S)[-1]).max()
    assert distance < 1e-3 * 0.4 and found.error.relative < 1e-3


def test_motions_with_controllers_are_as_accurate_as_asked_for() -> None:
    """Sampled spring and damper on a cart, whose motion is known: a force that is constant between
    samples. A second motion begins with what the controller remembered at the end of the first one.
    """
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_body("cart", 0.5, joint=pl.Prismatic("z", drive="force", input="push"))
    every, runs = 0.02, []
    for chosen in ({"accuracy": 1e-4}, {"dt": 0.01}):
        law = pl.PID("push", lambda s: s.joint("cart")[0], 1.0, every, kp=40.0, ki=30.0, kd=6.0)
        given: dict[str, Any] = {"controllers": law, "output_every": every, **chosen}
        first = robot.simulate(0.6, **given)
        runs.append([x.joint("cart") for x in (first, robot.simulate(0.6, start=first, **given))])
    assert np.abs(np.array(runs[0]) - np.array(runs[1])).max() < 1e-4


def test_controllers_need_their_own_rate_and_tell_their_memory_for_an_accuracy() -> None:
    seen: list[float] = []

    def law(state: pl.StepState) -> dict[str, float]:
        seen.append(state.t)
        return {"push": 0.1 * len(seen)}

    robot = arm()
    robot.add_load("push", "arm", force=(0, 0.1, 0))
    for given, message in (
        (law, r"controller 1: seconds between samples = None.*give e\.g\."),
        ((law, 0.01), r"state\(\).*give dt alone"),
    ):
        with pytest.raises(pl.DescriptionError, match=message):
            robot.simulate(0.1, controllers=given)


@pytest.mark.parametrize("sampled", [False, True])
def test_steps_of_second_order_count_in_the_error_of_damped_rods(sampled: bool) -> None:
    """Errors of the elements fall much faster than those of the steps; orders of both were mixed up."""
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e3)
    rod = robot.add_rod("arm", 0.2, pl.Circle(0.008), rubber, pl.along("-z"))
    robot.add_load("push", rod.tip, force=(1, 0, 0))
    given: dict[str, Any] = {"output_every": 0.02, "inputs": {"push": pl.Sine(0.5, 3.0)}}
    if sampled:
        law = (lambda state: {"push": 20.0 * (0.03 - state.tip("arm")[0, 3])}, 0.01)
        given = {"output_every": 0.02, "controllers": law}
    found = robot.simulate(0.5, accuracy=1e-3, **given)
    fine = {"formulation": pl.BSpline(5, 15), "integrator": pl.Radau(1e-8, largest=2e-3)}
    true = robot.simulate(0.5, 1e-3, **given, **fine)
    apart = (found.tip("arm") - true.tip("arm"))[:, :3, 3]
    distance = np.linalg.norm(apart, axis=-1).max() / 0.2
    assert distance < 1e-3 and distance < 3.0 * found.error.relative
