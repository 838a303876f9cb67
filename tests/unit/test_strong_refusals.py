"""What strong forms cannot do is refused by name; robot files know them by the same names."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

SOFT = pl.Material(E=2e5, nu=0.45, rho=1000.0)
FORMS = (pl.Shooting(), pl.MultipleShooting(), pl.Collocation())
REMEDY = r"BSpline\(\), Hermite\(\) or Strain\(\)"


def name(form: object) -> str:
    return type(form).__name__


def one() -> tuple[pl.Robot, pl.Rod]:
    robot = pl.Robot()
    return robot, robot.add_rod("arm", 0.3, pl.Circle(0.02), SOFT, pl.along("x"))


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_trees_are_refused(form):
    robot, arm = one()
    robot.add_rod("left", 0.2, pl.Circle(0.01), SOFT, base=arm.tip)
    robot.add_rod("right", 0.2, pl.Circle(0.01), SOFT, base=arm.tip)
    with pytest.raises(pl.DescriptionError, match=rf"'right'.*{name(form)}.*not trees.*") as caught:
        robot.statics(formulation=form)
    assert "BSpline()" in str(caught.value)


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_rods_on_the_middle_of_others_are_refused(form):
    robot, arm = one()
    robot.add_rod("branch", 0.2, pl.Circle(0.01), SOFT, base=arm.at(0.1))
    with pytest.raises(pl.DescriptionError, match=r"'branch'.*the tip of rod 'arm'"):
        robot.statics(formulation=form)


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_loops_are_refused(form):
    robot, arm = one()
    tail = robot.add_rod("tail", 0.2, pl.Circle(0.01), SOFT, base=arm.tip)
    robot.add_constraint("ring", tail.tip, to=arm.at(0.1), kind="articulated")
    with pytest.raises(pl.DescriptionError, match=rf"'ring'.*cannot solve closed loops.*{REMEDY}"):
        robot.statics(formulation=form)


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_supports_inside_a_rod_are_refused(form):
    robot, arm = one()
    robot.add_constraint("prop", arm.at(0.1), kind="articulated")
    with pytest.raises(pl.DescriptionError, match=r"'prop'.*the tip of the last rod"):
        robot.statics(formulation=form)


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_mixed_formulations_are_refused(form):
    robot, arm = one()
    robot.add_rod("second", 0.2, pl.Circle(0.01), SOFT, base=arm.tip)
    with pytest.raises(pl.DescriptionError, match="the same one for all rods"):
        robot.statics(formulation={"arm": form, "second": pl.BSpline()})


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_integrators_with_coordinates_are_refused(form):
    robot, _ = one()
    with pytest.raises(pl.DescriptionError, match=rf"BDFAlpha with {name(form)}"):
        robot.simulate(0.1, 0.01, formulation=form, integrator=pl.Newmark())
    with pytest.raises(pl.DescriptionError, match=r"BDFAlpha goes with Shooting"):
        robot.simulate(0.1, 0.01, formulation=pl.BSpline(), integrator=pl.BDFAlpha())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pl.Shooting(steps=0), "steps.*1 or more"),
        (lambda: pl.Shooting(steps=2.5), "steps.*whole number"),
        (lambda: pl.Shooting(scheme="rk45"), "scheme.*rk4"),
        (lambda: pl.Shooting(rotation="euler"), "rotation.*quaternion"),
        (lambda: pl.MultipleShooting(intervals=1), "intervals.*2 or more"),
        (lambda: pl.MultipleShooting(intervals=8, steps=4), "steps.*8 or more"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, message):
    with pytest.raises(pl.DescriptionError, match=message):
        make()


def test_robot_files_know_strong_forms(tmp_path):
    text = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: [0.02, 0.015]}}
    material: {E: 2.0e5, nu: 0.45, rho: 1000}
    pose: {along: x}
    formulation: FORM
statics:
"""
    forms = {
        "{shooting: {steps: 50, scheme: rk4, rotation: magnus}}": pl.Shooting(50, "rk4", "magnus"),
        "{multiple_shooting: {intervals: 3, steps: 60}}": pl.MultipleShooting(3, 60),
        "{collocation: {nodes: [3, 8]}}": pl.Collocation(nodes=(3, 8)),
    }
    tips = []
    for words, form in forms.items():
        path = tmp_path / "arm.yaml"
        path.write_text(text.replace("FORM", words))
        robot = pl.Robot.from_file(path)
        assert robot.description.rods["arm"].formulation == form
        tips.append(robot.statics().tip("arm"))
    assert np.ptp(tips, axis=0).max() < 1e-4
