"""Estimated errors of motions: near the true ones, split into space and time, kept in files."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main
from pliant.solve.motion_error import FEWEST_STEPS
from pliant.solve.transfer import transferred
from tests.reference.random_motions import distance, random_motion

ROBOTS = (2, 8, 10, 13, 17, 20, 24, 25, 40, 88, 113)
"""Seeds of robots that take little time, with each formulation and integrator among them."""


def arm(**options: object) -> pl.Robot:
    robot = pl.Robot()
    material = pl.Material(E=2e6, nu=0.45, rho=1000.0)
    rod = robot.add_rod("arm", 0.5, pl.Circle(0.01), material, pl.along("x"), **options)
    robot.add_load("push", rod.tip, (0.0, 0.0, 0.05))
    return robot


def pendulum() -> pl.Robot:
    robot = pl.Robot()
    robot.add_body("bob", 1.0, (1e-2, 1e-2, 1e-2), centre=(0.0, 0.0, -0.5), joint=pl.Revolute("x"))
    return robot


@pytest.mark.filterwarnings("ignore")
def test_estimates_are_near_the_true_errors_of_random_robots() -> None:
    ratios = []
    for seed in ROBOTS:
        case = random_motion(seed)
        motion = case.simulate(error=True)
        true = distance(case.shapes(motion), case.shapes(case.simulate(2.0, 4)))
        assert motion.error is not None
        ratios.append(motion.error.shape / true)
    assert min(ratios) > 0.1
    assert np.sum((np.array(ratios) > 0.2) & (np.array(ratios) < 5.0)) >= len(ROBOTS) - 1


@pytest.mark.parametrize(
    ("integrator", "order"),
    [
        (pl.Midpoint(), 2),
        (pl.Newmark(), 2),
        (pl.Newmark(0.3025, 0.6), 1),
        (pl.GeneralizedAlpha(0.5), 2),
        (pl.ImplicitEuler(), 1),
        (pl.Variational(), 1),
    ],
    ids=str,
)
def test_integrators_declare_the_order_that_a_pendulum_shows(
    integrator: pl.Integrator, order: int
) -> None:
    def end(steps: int) -> np.ndarray:
        options = {"joints": {"bob": 0.5}, "output_times": [0.4], "integrator": integrator}
        return pendulum().simulate(0.4, 0.4 / steps, **options).joint("bob")[-1]

    before, after = (np.abs(end(n) - end(2 * n)).max() for n in (80, 160))
    assert integrator.order == order
    assert np.log2(before / after) == pytest.approx(order, abs=0.15)


def test_errors_of_rigid_bodies_are_all_due_to_the_step() -> None:
    def angle(steps: int, **options: bool) -> pl.Motion:
        return pendulum().simulate(
            1.0, 1.0 / steps, joints={"bob": 1.0}, output_every=0.1, **options
        )

    motion = angle(100, error=True)
    turned = np.abs(motion.joint("bob") - angle(3000).joint("bob")).max()
    radius = np.hypot(0.5, np.sqrt(1e-2))  # of the farthest point that is compared
    assert motion.error is not None and motion.error.space == 0.0
    assert motion.error.time == motion.error.shape
    assert 0.2 < motion.error.shape / (radius * turned) < 5.0


def test_a_motion_at_rest_has_an_error_of_space_only() -> None:
    error = arm().simulate(0.1, 2e-3, start="statics", error=True).error
    assert error is not None
    assert 0.0 < error.relative < 1e-3
    assert error.time < 1e-3 * error.space
    assert np.ptp(error.over_time) < 1e-3 * error.shape


def test_a_straight_rod_at_rest_has_no_error() -> None:
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    robot.add_rod("arm", 0.5, pl.Circle(0.01), pl.Material(E=2e6, nu=0.45, rho=1000.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = robot.simulate(0.1, 1e-2, error=True).error
    assert error is not None and error.shape < 1e-12


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "form", [pl.MultipleShooting(), pl.Collocation()], ids=lambda f: type(f).__name__
)
def test_errors_of_strong_forms_with_many_intervals_are_due_to_the_step(form: object) -> None:
    error = arm().simulate(0.2, 8e-3, formulation=form, error=True).error
    assert error is not None and error.time > 0.95 * error.shape


@pytest.mark.filterwarnings("ignore")
def test_the_larger_share_is_the_one_whose_refinement_helps() -> None:
    coarse, fine = pl.Strain(0, 3), pl.Strain(2, 12)
    few = arm().simulate(0.2, 1e-3, formulation=coarse, error=True).error
    long = arm().simulate(0.2, 1e-2, formulation=fine, error=True).error
    assert few is not None and few.space > 0.8 * few.shape
    assert long is not None and long.time > 0.8 * long.shape


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", ["equilibrium", "motion"])
def test_companions_start_where_the_motion_does(start: str) -> None:
    robot = arm()
    begin = (
        robot.statics({"push": 1.0})
        if start == "equilibrium"
        else robot.simulate(0.1, 2e-3, {"push": 1.0})
    )
    options = {"start": begin, "output_every": 0.02}
    motion = robot.simulate(0.16, 2e-3, {"push": 0.0}, error=True, **options)
    truth = robot.simulate(0.16, 5e-4, {"push": 0.0}, **options)  # elements contribute little here
    s = np.linspace(0.0, 0.5, 21)
    true = distance(motion.position("arm", s), truth.position("arm", s))
    assert motion.error is not None and 0.2 * true < motion.error.shape < 1e-3
    assert motion.error.over_time[0] < motion.error.shape


@pytest.mark.parametrize(
    ("fine", "coarse"),
    [
        (pl.BSpline(3, 15), pl.BSpline(3, 9)),
        (pl.Hermite(8), pl.Hermite(4)),
        (pl.Strain(2, 6), pl.Strain(2, 3)),
        (pl.ANCF(12, planar=False), pl.ANCF(6, planar=False)),
    ],
    ids=lambda f: type(f).__name__,
)
def test_a_strongly_bent_shape_is_carried_over_to_fewer_elements(
    fine: pl.Formulation, coarse: pl.Formulation
) -> None:
    robot = pl.Robot()
    rod = robot.add_rod(
        "arm", 0.5, pl.Circle(0.01), pl.Material(E=2e6, nu=0.45, rho=1.0), pl.along("x")
    )
    robot.add_load("bend", rod.tip, moment=(0.0, 0.07, 0.0))
    still = robot.statics({"bend": 1.0}, fine)
    to, source = robot._compiler.compiled(coarse), robot._compiler.compiled(fine)
    q = transferred(to.sampler, source.sampler, still._solution.q)
    s = np.linspace(0.0, 0.5, 31)
    gap = to.sampler.poses(q, "arm", s)[:, :3, 3] - still.position("arm", s)
    turned = still.tip("arm")[:3, 2]
    assert turned @ (1.0, 0.0, 0.0) < 0.0  # by more than a right angle
    assert np.abs(gap).max() < 2e-3 * 0.5


def test_a_closed_loop_is_carried_over_closed() -> None:
    robot = arm()
    robot.add_constraint("hold", robot.description.rods["arm"].tip, kind="articulated")
    move = robot.simulate(0.05, 2.5e-3, {"push": 0.0}, start="statics")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motion = robot.simulate(0.05, 2.5e-3, {"push": 0.0}, start=move, error=True)
    assert motion.error is not None and motion.error.relative < 1e-2


def test_a_large_estimate_is_a_warning_and_a_small_one_is_not() -> None:
    with pytest.warns(
        pl.ResolutionWarning, match=r"% of the length\): .* mm by the step\. Use a smaller dt"
    ):
        arm().simulate(0.2, 2e-2, error=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.ResolutionWarning)
        arm().simulate(0.1, 1e-3, error=True)


def test_a_motion_that_looks_under_resolved_says_so_once_and_names_the_remedy() -> None:
    with pytest.warns(pl.ResolutionWarning, match=r"under-resolved\. Try a smaller dt") as caught:
        arm().simulate(0.4, 2e-2)
    (hint,) = [item for item in caught if issubclass(item.category, pl.ResolutionHint)]
    assert hint.filename == __file__
    with pytest.warns(pl.ResolutionWarning, match=r"under-resolved\. Try Hermite\(elements=12\)"):
        robot = arm(natural=lambda s: (0.0, 60.0 * np.sin(120.0 * s), 0.0))
        robot.simulate(0.4, 2e-3, formulation=pl.Hermite(6))
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.ResolutionWarning)
        arm().simulate(0.4, 1e-3)


def test_a_study_of_resolutions_does_not_hint_at_the_resolution_that_was_asked_for() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.ResolutionWarning)
        with pytest.warns(pl.ResolutionHint):
            arm().simulate(0.2, 1e-2, formulation=pl.ANCF(4))
        warnings.simplefilter("error", UserWarning)
        found = pl.resolve(arm(), 0.05, pl.ANCF(), duration=0.2, dt=1e-2)
    assert found.error < 0.05


def test_a_long_steady_vibration_is_not_called_under_resolved() -> None:
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    material = pl.Material(E=2e6, nu=0.45, rho=1000.0, viscosity=2e3)
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), material)
    robot.add_load("push", rod.tip, (0.02, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.ResolutionWarning)
        robot.simulate(8.0, 4e-3, {"push": pl.Sine(1.0, 2.0)}, formulation=pl.ANCF(8))


def test_a_failed_companion_leaves_the_error_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    from pliant.solve import motion_error

    def fail(*_: object) -> None:
        raise pl.ConvergenceError("no")

    robot = arm()
    monkeypatch.setattr(motion_error.Companions, "_start", fail)
    with pytest.warns(pl.ResolutionWarning, match="unknown, as a coarser motion failed"):
        motion = robot.simulate(0.05, 2e-3, error=True)
    assert motion.complete and motion.error is not None and np.isinf(motion.error.shape)


def test_what_has_no_companion_is_refused() -> None:
    with pytest.raises(pl.DescriptionError, match=f"{FEWEST_STEPS} steps or more"):
        arm().simulate(0.1, 0.02, error=True)
    with pytest.raises(
        pl.DescriptionError, match=r"rod 'arm': formulation\.elements = 1: must be at"
    ):
        arm().simulate(0.1, 1e-3, formulation=pl.Hermite(1), error=True)
    with pytest.raises(pl.DescriptionError, match="error"):
        arm().simulate(0.1, 1e-3, error="yes")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore")
def test_result_files_keep_the_estimate(tmp_path: Path) -> None:
    motion = arm().simulate(0.1, 2e-3, error=True)
    data = pl.load(motion.save(tmp_path / "motion.nc"))
    assert motion.error is not None
    assert data.attrs["error"] == motion.error.shape
    assert data.attrs["error_by_elements"] + data.attrs["error_by_step"] == pytest.approx(
        motion.error.shape
    )
    assert np.array_equal(data["error"], motion.error.over_time)
    assert np.array_equal(data["error_time"], motion.error.t)
    assert "error" not in arm().simulate(0.1, 2e-3).to_xarray()
    assert str(motion.error) in motion.summary()


FILE = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1e6, nu: 0.5, rho: 1000}
    pose: {along: x}
    formulation: {bspline: {points: 9}}
simulate: {duration: 0.1, dt: 0.005, error: true}
"""


@pytest.mark.filterwarnings("ignore")
def test_a_robot_file_asks_for_the_estimate_and_run_prints_and_saves_it(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text(FILE)
    found = CliRunner().invoke(main, ["run", str(file), "-o", str(tmp_path), "--no-animation"])
    assert found.exit_code == 0, found.output
    assert "estimated error" in found.output and "by the step" in found.output
    assert pl.load(tmp_path / "arm-motion.nc").attrs["error_relative"] > 0.0


def test_the_explicit_integrator_drifts_by_its_second_order() -> None:
    robot = pl.Robot()
    robot.add_rod(
        "arm", 0.2, pl.Circle(0.01), pl.Material(E=2e6, nu=0.45, rho=1000.0), pl.along("x")
    )
    options = {"formulation": pl.Hermite(3), "integrator": pl.Variational()}
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.ResolutionWarning)
        robot.simulate(0.1, 1e-4, **options)
        error = robot.simulate(0.1, 1e-4, output_every=0.01, error=True, **options).error
    s, ends = np.linspace(0.0, 0.2, 21), []
    for dt in (1e-4, 2.5e-5):
        ends.append(robot.simulate(0.1, dt, output_every=0.01, **options).position("arm", s))
    assert error is not None and error.shape > 0.2 * distance(*ends)


@pytest.mark.filterwarnings("ignore")
def test_a_motion_that_implicit_euler_damps_away_has_a_large_error() -> None:
    case = random_motion(33080)
    motion = case.simulate(error=True)
    true = distance(case.shapes(motion), case.shapes(case.simulate(1.0, 4)))
    assert motion.error is not None and true > 0.1 * case.length
    assert 0.2 * true < motion.error.shape < 5.0 * true
    assert motion.error.shape == pytest.approx(motion.error.space + motion.error.time)
    assert motion.error.over_time.max() == pytest.approx(motion.error.shape)
