"""The section update as an elastic law: it has an energy, and all solvers agree on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model.section_update import updated_stress
from pliant.physics.section_updates import add_update

C = np.array([2.0, 3.0, 1.5, 40.0, 50.0, 120.0])
NATURAL = np.array([0.3, -0.2, 0.1, 0.02, -0.01, 1.1])
STRAIN = np.array([1.3, 0.4, -0.6, 0.1, 0.05, 1.35])
E, RADIUS, LENGTH = 1e6, 0.01, 0.3
AXIAL = E * np.pi * RADIUS**2


def energy(e: Any) -> float:
    d, stretch = e - NATURAL, e[5] / NATURAL[5]
    soft = 0.5 * C[:5] * stretch ** -np.array([4, 4, 4, 3, 3]) * d[:5] ** 2
    return float(soft.sum() + 0.5 * C[5] * NATURAL[5] ** 2 * (1 - 1 / stretch) ** 2)


def test_stress_is_the_derivative_of_an_energy() -> None:
    stress, slope = updated_stress(C, NATURAL, STRAIN)
    step = 1e-5
    moves = step * np.eye(6)
    numeric = [(energy(STRAIN + x) - energy(STRAIN - x)) / (2 * step) for x in moves]
    assert stress == pytest.approx(numeric, rel=1e-7)
    ends = [
        (updated_stress(C, NATURAL, STRAIN + x)[0], updated_stress(C, NATURAL, STRAIN - x)[0])
        for x in moves
    ]
    numeric = np.array([(b - a) / (2 * step) for b, a in ends])
    assert slope == pytest.approx(numeric, rel=1e-6, abs=1e-6) and np.array_equal(slope, slope.T)


def test_kernel_adds_what_goes_beyond_the_linear_law() -> None:
    sigma, full = np.zeros((1, 6)), np.zeros((1, 6, 6))
    given = np.array([STRAIN])
    add_update(np.full((1, 6), 0.7), C[None], NATURAL[None], given, given, 2.0, 3.0, sigma, full)
    stress, slope = updated_stress(C, NATURAL, STRAIN)
    assert sigma[0] == pytest.approx(1.4 * (stress - C * (STRAIN - NATURAL)), rel=1e-12)
    assert full[0] == pytest.approx(2.1 * (slope - np.diag(C)), rel=1e-12)


def rod(pull: float = 0.0, side: float = 0.0, update: bool = True) -> pl.Robot:
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    arm = robot.add_rod("arm", LENGTH, pl.Circle(RADIUS), pl.Material(E=E, nu=0.45, rho=1100.0))
    robot.add_load("pull", arm.tip, force=(side, 0.0, pull))
    if update:
        robot.add_section_update("soft", arm)
    return robot


FORMULATIONS = [
    pl.BSpline(), pl.Hermite(), pl.Strain(), pl.Spectral(), pl.EBA(8), pl.EBR(8), pl.SRL(8),
    pl.ROM(3), pl.ANCF(planar=False), pl.Shooting(), pl.Collocation(12),
]  # fmt: skip


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_pull_stretches_a_rod_by_the_law(formulation: Any) -> None:
    """E A (l - 1) / l^3 = F with l = 1.1."""
    robot = rod(AXIAL * 0.1 / 1.1**3)
    tip = robot.statics(formulation=formulation).tip("arm")
    assert tip[2, 3] == pytest.approx(1.1 * LENGTH, rel=1e-7)


@pytest.mark.parametrize("formulation", [pl.EBA(64), pl.EBR(64), pl.SRL(64), pl.ROM(5)], ids=str)
def test_formulations_agree_on_a_rod_that_is_pulled_and_bent(formulation: Any) -> None:
    robot = rod(0.08 * AXIAL, 0.05)
    expected = robot.statics(formulation=pl.Strain(3, 4)).tip("arm")[:3, 3]
    tip = robot.statics(formulation=formulation).tip("arm")[:3, 3]
    assert tip == pytest.approx(expected, abs=2e-4 * LENGTH)
    strong = robot.statics(formulation=pl.Collocation(20)).tip("arm")[:3, 3]
    assert strong == pytest.approx(expected, abs=1e-6 * LENGTH)
    linear = rod(0.08 * AXIAL, 0.05, update=False).statics(formulation=pl.Strain(3, 4))
    assert np.abs(linear.tip("arm")[:3, 3] - expected).max() > 5e-3 * LENGTH


def test_no_equilibrium_beyond_the_peak_of_the_law() -> None:
    """(l - 1) / l^3 has its peak 4 / 27 at l = 1.5."""
    held = rod(0.999 * 4 / 27 * AXIAL).statics(formulation=pl.Strain())
    assert 1.45 < held.tip("arm")[2, 3] / LENGTH < 1.5
    with pytest.raises(pl.ConvergenceError):
        rod(1.01 * 4 / 27 * AXIAL).statics(formulation=pl.Strain())


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.Newmark()], ids=str)
def test_motion_keeps_its_energy(integrator: pl.Integrator) -> None:
    robot = rod(0.05 * AXIAL, 0.02)
    gaps = []
    for dt in (1e-3, 5e-4):
        energy = robot.simulate(0.02, dt, formulation=pl.EBA(4), integrator=integrator).energy
        gaps.append(np.abs(energy["balance"]).max() / energy["work"].max())
    assert gaps[1] < 0.35 * gaps[0] and gaps[1] < 1e-2


def test_robot_files_hold_it(tmp_path: Any) -> None:
    robot = rod(0.05 * AXIAL)
    robot.save(tmp_path / "soft.yaml")
    assert "section_updates" in (tmp_path / "soft.yaml").read_text()
    again = pl.Robot.from_file(tmp_path / "soft.yaml")
    expected = robot.statics(formulation=pl.EBA(4)).tip("arm")
    assert again.statics(formulation=pl.EBA(4)).tip("arm") == pytest.approx(expected, abs=1e-12)


def test_unknown_rod_is_refused_by_name() -> None:
    robot = rod(update=False)
    with pytest.raises(pl.DescriptionError, match=r"soft.*on = 'arn'.*did you mean 'arm'"):
        robot.add_section_update("soft", "arn")
