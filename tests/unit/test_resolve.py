"""The choice of resolution: accurate enough, no finer than needed, with a reason."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main
from pliant.study.resolve import richardson
from pliant.study.solutions import Refinement

LENGTH, BENDING, PRESSURE = 0.175, 0.0186, 1.5e5
MOMENT = np.pi * 0.006**2 * 0.009 * PRESSURE


def finger(gravity: float = 0.0) -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, -gravity))
    part = pl.BendingActuator(LENGTH, BENDING, 0.006, 0.009, mass=0.12, mass_damping=2.4)
    robot.add_actuator("finger", part, pl.along("z"))
    return robot


def distance_from_arc(still: pl.Equilibrium, sections: int = 21) -> float:
    """The largest distance from the exact circle of curvature M / EI, over the length."""
    s = np.linspace(0.0, LENGTH, sections)
    u = MOMENT / BENDING
    arc = np.stack([(1 - np.cos(u * s)) / u, 0 * s, np.sin(u * s) / u], axis=1)
    found = still.position("finger", s)
    arc[:, 0] *= np.sign(found[-1, 0])
    return float(np.linalg.norm(found - arc, axis=1).max()) / LENGTH


@pytest.mark.parametrize("accuracy", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("kind", [pl.ANCF(), pl.Hermite(), pl.Shooting()], ids=str)
def test_the_choice_meets_the_exact_arc_and_one_interval_less_does_not(
    kind: pl.Formulation, accuracy: float
) -> None:
    robot, inputs = finger(), {"chamber1": PRESSURE}
    found = pl.resolve(robot, accuracy, kind, inputs)
    assert type(found.formulation) is type(kind) and found.dt is None
    error = distance_from_arc(found.result)
    assert error <= 1.02 * found.error and max(error, found.error) <= accuracy
    assert abs(found.error - error) < 0.3 * accuracy + 1e-9
    size = found.formulation.size
    count = getattr(found.formulation, size)
    if count > 1:
        less = dataclasses.replace(found.formulation, **{size: count - 1})
        # what the reference may be off by counts against a choice
        assert distance_from_arc(robot.statics(inputs, less)) > 0.6 * accuracy


def test_shape_that_a_spline_represents_exactly_needs_one_span() -> None:
    found = pl.resolve(finger(), 1e-6, pl.BSpline(), {"chamber1": PRESSURE})
    assert found.formulation == pl.BSpline(points=4) and found.error < 1e-9
    assert len(found.table) == 3


def test_observed_orders_are_those_of_theory() -> None:
    found = pl.resolve(finger(), 1e-8, pl.ANCF(), {"chamber1": PRESSURE})
    assert found.orders["intervals"] == pytest.approx(4.0, abs=0.1)


def test_richardson_is_exact_for_one_power() -> None:
    for order in (1.0, 2.0, 3.5):
        u = [1.0 + 0.3 * h**order for h in (0.4, 0.2, 0.1)]
        observed, left = richardson(abs(u[0] - u[1]), abs(u[1] - u[2]), 4.0)
        assert observed == pytest.approx(order, rel=1e-10)
        assert left == pytest.approx(abs(u[2] - 1.0), rel=1e-10)
    assert richardson(1e-3, 0.0, 4.0)[1] == 0.0
    order, left = richardson(1e-4, 2e-4, 4.0)
    assert order == pytest.approx(-1.0) and left == pytest.approx(2e-4)
    order, left = richardson(0.64, 0.01, 2.0)
    assert order == pytest.approx(6.0) and left == pytest.approx(0.01 / 3)


@pytest.mark.parametrize("integrator", [pl.Newmark(), pl.ImplicitEuler()], ids=str)
def test_a_motion_has_the_requested_accuracy(integrator: pl.Integrator) -> None:
    """Against a solution four times finer in time and twice in space than any that was used."""
    robot, accuracy = finger(9.81), 4e-3 if isinstance(integrator, pl.Newmark) else 1e-2
    inputs = {"chamber1": pl.Sine(2e4, 2.0, phase=-np.pi / 2, offset=2e4)}
    first = 0.02 if isinstance(integrator, pl.Newmark) else 0.002
    found = pl.resolve(
        robot, accuracy, pl.ANCF(), inputs, duration=0.3, dt=first, integrator=integrator
    )
    order = 2.0 if isinstance(integrator, pl.Newmark) else 1.0
    assert found.orders["dt"] == pytest.approx(order, abs=0.35)
    reference = found.reference
    assert reference.dt is not None and found.dt is not None
    times = found.result.t
    truth = robot.simulate(
        0.3, min(reference.dt / 4, 1e-3), inputs, formulation=pl.ANCF(2 * reference.intervals),
        integrator=pl.Newmark(), output_times=times,
    )  # fmt: skip
    s = np.linspace(0.0, LENGTH, 21)
    gap = found.result.position("finger", s) - truth.position("finger", s)
    error = np.linalg.norm(gap, axis=-1).max() / LENGTH
    assert 0.05 * accuracy < error <= accuracy
    assert error == pytest.approx(found.error, abs=0.4 * accuracy)
    coarser = [row for row in found.table if row.solved and row.dt and row.dt > 2.1 * found.dt]
    assert all(row.error > 0.9 * accuracy for row in coarser if row.error is not None)


def test_a_motion_may_start_from_another_equilibrium() -> None:
    robot = finger(9.81)
    found = pl.resolve(
        robot, 5e-3, pl.ANCF(), {"chamber1": 0.0}, 0.1, 0.01, pl.Midpoint(), {"chamber1": 1e4}
    )
    tip = found.result.tip("finger")[0, 0, 3]
    still = robot.statics({"chamber1": 1e4}, found.formulation).tip("finger")[0, 3]
    assert tip == pytest.approx(still, abs=1e-12) and abs(tip) > 0.005


def test_rods_may_have_formulations_of_their_own() -> None:
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    upper = robot.add_rod("upper", 0.2, pl.Circle(0.01), rubber, pose=pl.along("x"))
    robot.add_rod("lower", 0.1, pl.Circle(0.008), rubber, base=upper.tip)
    told: list[str] = []
    found = pl.resolve(
        robot, 1e-4, {"upper": pl.BSpline(), "lower": pl.Strain(order=2)},
        progress=lambda text, k: told.append(f"{k} {text}"),
    )  # fmt: skip
    assert set(found.formulation) == {"upper", "lower"}
    assert "upper: BSpline(points=" in told[0] and told[0].startswith("0 ")
    assert len(told) == len(found.table)
    fine = robot.statics(formulation=pl.Strain(order=5, segments=8)).tip("lower")[:3, 3]
    mine = robot.statics(formulation=found.formulation).tip("lower")[:3, 3]
    assert np.linalg.norm(fine - mine) < 1e-4 * 0.1


def test_the_choice_is_printed_saved_and_drawn(tmp_path: Path) -> None:
    found = pl.resolve(finger(9.81), 1e-5, pl.ANCF(), {"chamber1": 5e4})
    text = str(found)
    assert "> ANCF(elements=" in text and "reference" in text and "requested accuracy" in text
    assert found.reason.startswith(found.chosen.method) and found.chosen.method in repr(found)
    rows = list(csv.DictReader(found.save(tmp_path / "table.csv").open()))
    assert len(rows) == len(found.table)
    assert [row["chosen"] for row in rows].count("True") == 1
    found.plot(tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 5000
    with pytest.raises(pl.DescriptionError, match=r"\.csv"):
        found.save(tmp_path / "table.txt")


def test_unreachable_accuracy_reports_the_error_reached() -> None:
    with pytest.raises(pl.ConvergenceError, match=r"ANCF\(elements=4\).*largest=") as caught:
        pl.resolve(finger(), 1e-8, pl.ANCF(), {"chamber1": PRESSURE}, largest=4)
    assert "falls with order" in str(caught.value)


def test_motion_that_fails_with_few_intervals_gets_more() -> None:
    """Shooting over four steps along the arm does not converge in motion; over more it does."""
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=500.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), rubber, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 0.1, 0.05))
    inputs = {"push": lambda t: min(1.0, t / 0.1)}
    found = pl.resolve(
        robot, 0.02, pl.Shooting(), inputs, 0.12, 0.01, pl.BDFAlpha(-0.3), largest=64
    )
    assert any(not row.solved and row.note for row in found.table)
    assert found.error <= 0.02 and found.formulation.steps > 4
    assert "failed" in str(found)
    with pytest.raises(pl.ConvergenceError, match=r"Shooting\(steps=4\).*: .*larger range"):
        pl.resolve(robot, 0.02, pl.Shooting(), inputs, 0.12, 0.01, pl.BDFAlpha(-0.3), largest=4)


class Rough(pl.Formulation):
    """A formulation without a size."""

    def discretise(self, rod: pl.Rod) -> object:
        raise AssertionError


def test_a_formulation_without_a_size_is_refused() -> None:
    with pytest.raises(pl.DescriptionError, match="size"):
        Refinement.of({"arm": Rough()})
    with pytest.raises(pl.DescriptionError, match=r"points can be changed.*knots"):
        Refinement.of({"arm": pl.BSpline(3, 6, knots=(0.2, 0.6))})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"robot": "arm"}, "Robot"),
        ({"accuracy": 0.0}, "fraction of the length"),
        ({"accuracy": 2.0}, "fraction of the length"),
        ({"accuracy": "fine"}, "fraction of the length"),
        ({"dt": 0.1}, "no duration"),
        ({"shortest": 0.1}, "no duration"),
        ({"start": "statics"}, "no duration"),
        ({"duration": -1.0}, "duration"),
        ({"duration": 1.0, "dt": 2.0}, "at most the duration"),
        ({"duration": 1.0, "dt": 0.01, "shortest": 0.01}, "quarter"),
        ({"duration": 1.0, "start": "sitting"}, "rest"),
        ({"sections": 1}, "2 or more"),
        ({"largest": 2}, "4 or more"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"inputs": {"chamber3": 1.0}}, "chamber"),
    ],
)
def test_bad_arguments_get_a_message(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        pl.resolve(**{"robot": finger(), **arguments})


ARM = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1e6, nu: 0.5, rho: 1000, viscosity: 500}
    pose: {along: x}
"""


def test_command_prints_the_choice_and_writes_files(tmp_path: Path) -> None:
    file, out = tmp_path / "arm.yaml", tmp_path / "out"
    file.write_text(ARM)
    call = CliRunner().invoke(
        main, ["resolve", str(file), "--accuracy", "1e-4", "--with", "Strain(order=2)"]
    )
    assert call.exit_code == 0 and "is chosen" in call.output and "equilibria" in call.output
    file.write_text(ARM + "simulate: {duration: 0.1, dt: 0.01}\n")
    method = "Strain(order=1), Newmark()"
    call = CliRunner().invoke(
        main, ["resolve", str(file), "--with", method, "--accuracy", "0.02", "-o", str(out)]
    )
    assert call.exit_code == 0 and "motions of 0.1 s" in call.output
    assert {item.name for item in out.iterdir()} == {"arm-resolution.csv", "arm-resolution.png"}
    call = CliRunner().invoke(main, ["resolve", str(file), "--accuracy", "7"])
    assert call.exit_code == 1 and "fraction of the length" in call.output
