"""Estimated errors against true ones: equilibria and frequencies, formulations, joints, effects."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model.fields import holds, quantity
from pliant.model.places import OnRod
from tests.reference.random_robots import distance, random_robot

SOFT = pl.Material(E=5e5, nu=0.45, rho=1100.0)
FINE, FINE_CABLE = pl.BSpline(5, 60), pl.ANCF(60, planar=False)


def solved(robot: pl.Robot, formulation: Any) -> tuple[pl.Equilibrium, bool]:
    """An equilibrium, and whether its resolution was warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        still = robot.statics(formulation=formulation)
    return still, any(issubclass(item.category, pl.ResolutionWarning) for item in told)


# -- random robots -------------------------------------------------------------------------------

FORMULATIONS = {
    "default": None,
    "coarse spline": pl.BSpline(3, 8),
    "hermite": pl.Hermite(8),
    "spectral": pl.Spectral(3, 6),
    "strain": pl.Strain(order=2, segments=6),
    "coarse strain": pl.Strain(order=1, segments=4),
}


@pytest.fixture(scope="module")
def references() -> dict[int, pl.Equilibrium]:
    found = {}
    for seed in range(100, 110):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[seed] = random_robot(seed).statics(formulation=FINE)
            except pl.ConvergenceError:
                continue
    return found


@pytest.mark.parametrize("name", FORMULATIONS)
def test_estimates_of_random_robots_are_near_the_truth(
    name: str, references: dict[int, pl.Equilibrium]
) -> None:
    near, all_of_them, false_alarms, fine = 0, 0, 0, 0
    for seed, reference in references.items():
        try:
            still, told = solved(random_robot(seed), FORMULATIONS[name])
        except pl.ConvergenceError:
            continue
        true = distance(still, reference)
        assert still.error is not None
        estimate = still.error.relative
        if true > 1e-3:
            assert estimate > 0.1 * true, f"robot {seed}"
            assert told or estimate <= 1e-3, f"robot {seed}"
        if true < 2e-4:
            fine += 1
            false_alarms += told
        if true > 1e-7:
            all_of_them += 1
            near += 0.2 < estimate / true < 5.0
    assert all_of_them >= 8
    assert near >= 0.9 * all_of_them
    assert false_alarms <= 0.05 * max(fine, 20)


@pytest.mark.parametrize("seed", [5512103, 5512124])
def test_estimates_of_beams_that_are_too_long_for_a_bend_are_near_the_truth(seed: int) -> None:
    """At the clamp and at the weight these rods bend within less than a beam."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fine = random_robot(seed).statics(formulation=pl.BSpline(5, 40))
    still, warned = solved(random_robot(seed), pl.EBR(20))
    assert warned
    assert 0.5 < still.error.relative / distance(still, fine) < 2.0


# -- each thing that a robot can have --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Bed(pl.LineEffect):
    """An elastic bed."""

    on: str = holds(OnRod())
    stiffness: float = quantity("N/m^2", sign="positive", example="100")

    def density(self, s, g, u):
        return 0.5 * self.stiffness * g[:, 2, 3] ** 2


@dataclass(frozen=True, eq=False)
class Layer(pl.StrainEffect):
    """A layer that stiffens with curvature."""

    on: str = holds(OnRod())
    k: float = quantity("N m^2")

    def density(self, s, e, u):
        bent = np.sum(e[:, :2] ** 2, axis=1)
        return 0.5 * self.k * bent * (1.0 + 1e-3 * bent)


def held_tip() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.006), SOFT, pose=pl.along("x"))
    robot.add_constraint("pin", arm.tip, kind="articulated")
    return robot


def hinged_tree() -> pl.Robot:
    robot = pl.Robot()
    hinge = pl.Revolute("y", stiffness=0.1)
    crank = robot.add_body(
        "crank", 0.05, (1e-4,) * 3, centre=(0, 0, 0.05), pose=pl.along("x"), joint=hinge
    )
    arm = robot.add_rod("arm", 0.2, pl.Circle((0.008, 0.004)), SOFT, base=crank.at((0, 0, 0.1)))
    side = arm.at(0.12, rotation=(0, 1.0, 0))
    twig = robot.add_rod("twig", 0.15, pl.Circle(0.004), SOFT, base=side)
    robot.add_body("bob", 0.004, (1e-7,) * 3, on=arm.tip, joint=pl.Revolute("x", stiffness=5e-3))
    robot.add_load("pull", twig.tip, force=(0.01, 0.02, 0))
    return robot


def on_a_bed() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.008), SOFT, pose=pl.along("x"))
    robot.add(Bed("bed", "arm", 60.0))
    robot.add_load("side", arm.at(0.17), force=(0, 0.05, 0))
    return robot


def with_a_layer() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.008), SOFT, pose=pl.along("x"))
    robot.add(Layer("layer", "arm", 3e-3))
    robot.add_chamber("cell", arm, 2e-5, (0.004, 0), pressure=4e4)
    return robot


def line_loads() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.008), SOFT, pose=pl.along("x"))
    robot.add_load("wind", arm, force=(0, 0.5, 0), over=(0.07, 0.21))
    robot.add_load("jet", arm, force=(0, 0.1, 0.2), frame="body")
    return robot


def kirchhoff() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.008), SOFT, pose=pl.along("x"), theory="kirchhoff")
    robot.add_load("side", arm.tip, force=(0, 0.05, 0))
    return robot


ROBOTS = (held_tip, hinged_tree, on_a_bed, with_a_layer, line_loads, kirchhoff)
COARSE = {
    "spline": (pl.BSpline(3, 6), FINE),
    "hermite": (pl.Hermite(3), FINE),
    "strain": (pl.Strain(order=1, segments=3), FINE),
    "cable": (pl.ANCF(4, planar=False), FINE_CABLE),
    "links": (pl.SRL(10), FINE),
    "beams": (pl.EBR(10), FINE),
    "nodes": (pl.EBA(10), FINE),
    "polynomials": (pl.ROM(6), FINE),
}


@pytest.mark.parametrize("name", COARSE)
@pytest.mark.parametrize("make", ROBOTS, ids=lambda make: make.__name__)
def test_estimate_holds_for_joints_constraints_and_effects(
    make: Callable[[], pl.Robot], name: str
) -> None:
    coarse, fine = COARSE[name]
    if isinstance(coarse, pl.ROM) and make is kirchhoff:
        pytest.skip("ROM has shear and stretch")
    still, _ = solved(make(), coarse)
    reference, _ = solved(make(), fine)
    assert still.error is not None
    assert 0.5 < still.error.relative / distance(still, reference) < 2.0


@pytest.mark.parametrize("order", [8, 16])
def test_estimates_of_polynomials_of_high_order_are_near_the_truth(order: int) -> None:
    """A tip that hangs straight down feels no moment, whatever the order."""
    robot = pl.Robot()
    soft = pl.Material(E=2e5, nu=0.45, rho=1100.0)
    robot.add_rod("arm", 0.4, pl.Circle((0.004, 0.003)), soft, pose=pl.along("x"))
    still, _ = solved(robot, pl.ROM(order))
    true = distance(still, solved(robot, FINE)[0])
    assert 0.5 < still.error.relative / true < 3.0


@pytest.mark.parametrize(
    "form",
    [
        pl.Shooting(12),
        pl.Shooting(60, scheme="euler"),
        pl.MultipleShooting(steps=12),
        pl.Collocation(5),
    ],
    ids=lambda form: type(form).__name__,
)
def test_estimate_holds_for_strong_forms(form: Any) -> None:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle((0.008, 0.005)), SOFT, pose=pl.along("x"))
    robot.add_load("side", arm.at(0.2), force=(0, 0.03, 0))
    still, _ = solved(robot, form)
    reference, _ = solved(robot, pl.Collocation(24))
    assert still.error is not None
    assert 0.5 < still.error.relative / distance(still, reference) < 2.0


@pytest.mark.parametrize(
    "form",
    [
        pl.Shooting(24),
        pl.Shooting(60, scheme="euler"),
        pl.Shooting(40, rotation="magnus"),
        pl.Shooting(20, scheme="adaptive", tolerance=1e-3),
        pl.MultipleShooting(4, 30),
    ],
    ids=str,
)
def test_shooting_finds_its_error_on_its_own_mesh(form: Any) -> None:
    """Extrapolation from long steps agrees with a solution on intervals of half the length."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.5, pl.Circle((0.008, 0.005)), SOFT, pose=pl.along("x"))
    hand = robot.add_rod("hand", 0.2, pl.Circle(0.004), SOFT, base=arm.tip)
    robot.add_load("side", arm.at(0.31), force=(0, 0.04, 0))
    robot.add_load("pull", hand.tip, force=(0.01, 0, 0.02), frame="body")
    still, _ = solved(robot, form)
    finer = still._compiled.compared_error(still._still)
    assert 0.5 < still._solution.error.shape / finer.shape < 2.0
    again = robot.statics(formulation=form, start=still)
    assert 0.5 < again._solution.error.shape / finer.shape < 2.0


def test_a_mesh_without_pairs_of_intervals_is_compared_with_a_finer_one() -> None:
    robot = pl.Robot()
    robot.add_rod("arm", 0.1, pl.Circle(0.008), SOFT, pose=pl.along("x"))
    still, _ = solved(robot, pl.Shooting(1))
    true = distance(still, solved(robot, pl.Collocation())[0])
    assert still.error.relative == pytest.approx(true, rel=0.5)


def test_errors_of_collocation_are_found_when_asked_for_unless_in_doubt() -> None:
    robot = pl.Robot()
    robot.add_rod("arm", 0.3, pl.Circle(0.006), SOFT, pose=pl.along("x"))
    fine, warned = solved(robot, pl.Collocation())
    assert not warned and fine._solution.error is None and fine.error.relative < 1e-8
    rough, warned = solved(robot, pl.Collocation(3))
    assert warned and rough._solution.error.relative > 5e-4
    assert rough.error.relative == pytest.approx(distance(rough, fine), rel=0.5)


# -- what users see ----------------------------------------------------------------------------------


def test_coarse_shapes_are_warned_of_and_fine_ones_are_not() -> None:
    with pytest.warns(pl.ResolutionWarning, match=r"under-resolved.*BSpline\(points=12\)"):
        still = held_tip().statics(formulation=pl.BSpline(3, 6))
    assert "estimated error of the shape" in still.summary()
    assert not solved(held_tip(), None)[1]


def test_a_robot_without_rods_and_one_without_loads_have_no_error() -> None:
    robot = pl.Robot()
    robot.add_body(
        "bob", 1.0, (1e-3,) * 3, centre=(0, 0, 0.1), joint=pl.Revolute("x", stiffness=5.0)
    )
    assert robot.statics().error == pl.ShapeError(0.0, 0.0)
    quiet = pl.Robot(gravity=(0, 0, 0))
    quiet.add_rod("arm", 0.3, pl.Circle(0.01), SOFT)
    still = quiet.statics()
    assert still.error is not None and still.error.relative < 1e-12


def test_the_estimate_does_not_depend_on_where_the_robot_stands() -> None:
    errors = []
    for shift in ((0, 0, 0), (40.0, -30.0, 20.0)):
        robot = pl.Robot()
        robot.add_rod("arm", 0.3, pl.Circle(0.008), SOFT, pose=pl.along("x", shift))
        errors.append(solved(robot, pl.BSpline(3, 8))[0].error.shape)
    assert errors[1] == pytest.approx(errors[0], rel=1e-5)


@pytest.mark.parametrize("formulation", [pl.Spectral(), pl.Spectral(4, 4)], ids=str)
def test_errors_between_the_nodes_of_spectral_elements_count(formulation: Any) -> None:
    """At its nodes such a rod is far more accurate than between them."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.4, pl.Circle((0.01, 0.005)), SOFT, pose=pl.along("x"))
    robot.add_load("side", arm.tip, force=(0, 0.02, 0))
    still = robot.statics(formulation=formulation)
    true = distance(still, robot.statics(formulation=FINE))
    assert still.error.relative == pytest.approx(true, rel=0.4)


@pytest.mark.parametrize("seed", [910013, 910136])
def test_errors_of_shooting_are_found_on_the_same_branch(seed: int) -> None:
    """The finer solution of robots that need load steps and segments starts from what was found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = random_robot(seed)
        still = robot.statics(formulation=pl.Shooting())
        true = distance(still, robot.statics(formulation=pl.BSpline(5, 40)))
    assert still.error.relative == pytest.approx(true, rel=0.2)


@pytest.mark.parametrize(("seed", "steps"), [(770007, 100), (770002, 12)])
def test_steps_too_long_for_their_order_are_not_trusted(seed: int, steps: int) -> None:
    """Long steps seem accurate by chance; those over other pairs of intervals tell otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        still = random_robot(seed).statics(formulation=pl.Shooting(steps))
        true = distance(still, random_robot(seed).statics(formulation=pl.BSpline(5, 40)))
    assert still.error is not None
    assert 0.3 < still.error.relative / true < 3.0


# -- frequencies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMULATIONS)
def test_errors_of_frequencies_are_near_the_truth(name: str) -> None:
    ratios = []
    for make in (hinged_tree, on_a_bed, line_loads, kirchhoff):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            modes = make().modes(5, formulation=FORMULATIONS[name])
            true = np.abs(modes.frequencies / make().modes(5, formulation=FINE).frequencies - 1.0)
        big = true > 1e-7
        ratios.append(modes.error[big] / true[big])
        assert (modes.error > 0.1 * true)[true > 1e-3].all()
    found = np.concatenate(ratios)
    assert len(found) >= 8
    assert np.mean((found > 0.2) & (found < 5.0)) >= 0.9


@pytest.mark.parametrize("elements", [4, 8])
def test_frequencies_of_a_soft_sagging_rod_of_few_spectral_elements_are_not_trusted(
    elements: int,
) -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e5, nu=0.45, rho=1100.0)
    robot.add_rod("arm", 0.5, pl.Circle(0.008), soft, pose=pl.along("x"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        modes = robot.modes(6, formulation=pl.Spectral(2, elements))
        true = np.abs(modes.frequencies / robot.modes(6, formulation=FINE).frequencies - 1.0)
    large = true > 1e-3
    assert large.sum() >= 3
    assert (modes.error > 0.1 * true)[large].all() and (modes.error < 5.0 * true)[large].all()


def test_frequencies_about_an_equilibrium_of_another_branch_are_compared_on_that_branch() -> None:
    """A column that is buckled to one side, reached by a load that was taken off again."""
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.006), SOFT)
    load = 1.5 * np.pi**2 / 4 * SOFT.E * np.pi * 0.006**4 / 4 / 0.3**2
    robot.add_load("press", arm.tip, force=(0, 0, -load))
    robot.add_load("aside", arm.tip, force=(0.1 * load, 0, 0))
    bent = robot.statics({"press": 1.0, "aside": 1.0}, formulation=pl.Hermite(3))
    buckled = robot.statics({"press": 1.0, "aside": 0.0}, start=bent)
    assert buckled.tip("arm")[0, 3] > 0.05
    modes = robot.modes(4, at=buckled)
    fine = robot.statics({"press": 1.0, "aside": 1.0}, formulation=FINE)
    truth = robot.modes(4, at=robot.statics({"press": 1.0, "aside": 0.0}, start=fine))
    # it turns freely about the axis of the column
    assert modes.frequencies[0] == modes.error[0] == 0.0
    true = np.abs(modes.frequencies[1:] / truth.frequencies[1:] - 1.0)
    assert true.max() > 5e-5
    assert modes.error[1:] == pytest.approx(true, rel=0.5)


def test_rigid_motions_and_rigid_robots_have_no_error_of_frequencies() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, joint=pl.Free())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        free = robot.modes(8, formulation=pl.Hermite(4))
    assert (free.error[:6] == 0.0).all() and (free.error[6:] > 0.0).all()
    rigid = pl.Robot()
    rigid.add_body("bob", 1.0, (0.1,) * 3, centre=(0, 0, -0.5), joint=pl.Revolute("y"))
    assert rigid.modes(1).error.tolist() == [0.0]


def nested_tubes() -> pl.Robot:
    robot = pl.Robot()
    nitinol = pl.Material(E=6e10, nu=0.33, rho=6450.0)
    outer = robot.add_tube(
        *("outer", 0.15, pl.Annulus(2.2e-3, 1.7e-3), nitinol),
        natural=(0, 5, 0),
        start=-0.05,
        theory="kirchhoff",
    )
    robot.add_tube(
        *("inner", 0.3, pl.Annulus(1.5e-3, 1.2e-3), nitinol),
        inside=outer,
        natural=(0, 12, 0),
        start=-0.1,
        angle=1.0,
    )
    return robot


def test_frequencies_of_nested_tubes_have_an_error() -> None:
    coarse, fine = (nested_tubes().modes(3, formulation=pl.BSpline(3, n)) for n in (5, 24))
    true = np.abs(coarse.frequencies / fine.frequencies - 1.0)
    assert (coarse.error > 0.2 * true).all() and (coarse.error < 5.0 * true).all()


@pytest.mark.parametrize(
    "formulation", [pl.BSpline(3, 4), pl.BSpline(3, 6), pl.Shooting(4), pl.Shooting(8)], ids=str
)
def test_equilibria_of_nested_tubes_have_an_error(formulation: Any) -> None:
    robot = nested_tubes()
    still = robot.statics(formulation=formulation)
    true = distance(still, robot.statics(formulation=pl.Shooting(400)))
    assert true > 1e-8
    assert 0.2 * true < still.error.relative < 5.0 * true
    assert "estimated error" in still.summary()


def test_an_accuracy_of_nested_tubes_refines_their_mesh() -> None:
    robot = nested_tubes()
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.ResolutionWarning)
        still = robot.statics(formulation=pl.BSpline(3, 4), accuracy=1e-6)
    assert still.error.relative < 1e-6
    assert distance(still, robot.statics(formulation=pl.Shooting(400))) < 2e-6


def test_frequencies_of_a_straight_beam_are_estimated_to_be_as_wrong_as_they_are() -> None:
    """An Euler-Bernoulli cantilever has (beta L)^2 = 3.5160, 22.0345, 61.6972."""
    robot = pl.Robot(gravity=(0, 0, 0))
    length, radius, rod = 1.0, 1e-3, pl.Material(E=2e11, nu=0.3, rho=7800.0)
    robot.add_rod("beam", length, pl.Circle(radius), rod, theory="kirchhoff")
    modes = robot.modes(6, formulation=pl.Strain(order=1, segments=3))
    unit = np.sqrt(2e11 * radius**2 / 4.0 / 7800.0) / (2.0 * np.pi * length**2)
    exact = np.repeat([3.51601527, 22.03449157, 61.69721442], 2) * unit
    true = modes.frequencies / exact - 1.0
    assert (true > 0.0).all()
    assert modes.error == pytest.approx(true, rel=0.5)
