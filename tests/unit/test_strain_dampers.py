"""Dampers along rods by a power of the strain rates: closed forms, energy, all formulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.model.strain_damper import DampingStress

LENGTH, AXIAL, MASS = 0.3, 40.0, 0.5
STEPS = [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.95)]
MAPS = [pl.BSpline(), pl.Hermite(2), pl.Strain(), pl.Spectral(), pl.EBA(4), pl.EBR(4), pl.SRL(4),
        pl.ROM(3), pl.ANCF(4)]  # fmt: skip


def pulled(damping: Any, power: float | None) -> pl.Robot:
    """A light elastic rod with a mass at its tip, which is let go under a constant pull."""
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(
        bending=1e-2, twist=1e-2, shear=30.0, axial=AXIAL, mass=1e-4, inertia=(1e-8, 1e-8, 2e-8)
    )
    rod = robot.add_rod("rod", LENGTH, section, strain_damping=None if power else damping)
    robot.add_body("tip", MASS, (1e-4,) * 3, on=rod.tip)
    robot.add_load("pull", rod.tip, force=(0, 0, 2.0))
    if power is not None:
        robot.add_strain_damper("skin", rod, damping, power)
    return robot


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("formulation", MAPS, ids=repr)
def test_a_mass_on_a_rod_is_damped_by_the_power_law(formulation: Any, power: float) -> None:
    """m x'' = F - EA x / l - D |x'/l|^(p-1) x'/l, by an integrator of SciPy."""
    damping = 1.5
    robot = pulled(pl.Damping(axial=damping), power)
    motion = robot.simulate(0.6, 2e-3, formulation=formulation, integrator=pl.Midpoint())

    def slope(t: float, y: Any) -> Any:
        rate = y[1] / LENGTH
        smooth = np.hypot(rate, 1e-3 if power < 1.0 else 0.0)
        damper = damping * smooth ** (power - 1.0) * rate if power != 1.0 else damping * rate
        return [y[1], (2.0 - AXIAL * y[0] / LENGTH - damper) / (MASS + 1e-4 * LENGTH / 3)]

    exact = solve_ivp(slope, (0, 0.6), [0, 0], t_eval=motion.t, rtol=1e-9, atol=1e-12).y[0]
    assert motion.position("tip")[:, 2] - LENGTH == pytest.approx(exact, abs=1e-3 * np.ptp(exact))


@pytest.mark.parametrize("integrator", STEPS, ids=repr)
def test_energy_is_balanced(integrator: Any) -> None:
    motion = bent(0.5).simulate(0.3, 1e-3, integrator=integrator)
    energy = motion.energy
    assert energy["dissipated"][-1] > 0.1 * energy["kinetic"].max()
    assert np.abs(energy["balance"]).max() < 2e-3 * energy["kinetic"].max()


def bent(power: float, share: float = 1.0) -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5, rho=1000))
    robot.add_load("push", arm.tip, force=(0.2, 0, 0))
    robot.add_strain_damper("skin", arm, pl.Damping(bending=2e-3 * share, twist=1e-3), power)
    return robot


@pytest.mark.parametrize("formulation", [pl.BSpline(), pl.EBA(24), pl.Collocation(6)], ids=repr)
def test_formulations_agree_in_bending(formulation: Any) -> None:
    """A strong form among them; without the damper the tip is elsewhere."""
    given = {"duration": 0.02, "dt": 5e-3}
    fine = bent(0.6).simulate(**given, formulation=pl.Spectral(3, 8)).position("arm.tip")[-1]
    other = bent(0.6).simulate(**given, formulation=formulation).position("arm.tip")[-1]
    free = bent(0.6, 0.0).simulate(**given, formulation=pl.Spectral(3, 8)).position("arm.tip")[-1]
    assert np.linalg.norm(other - fine) < 0.05 * np.linalg.norm(free - fine)


def test_power_one_is_strain_damping() -> None:
    damping, ends = pl.Damping(axial=1.5, bending=1e-3), []
    for power in (None, 1.0):
        ends.append(pulled(damping, power).simulate(0.3, 2e-3, formulation=pl.Strain()))
    ways = [motion.position("tip") for motion in ends]
    assert ways[1] == pytest.approx(ways[0], abs=1e-9)
    lost = [motion.energy["dissipated"][-1] for motion in ends]
    assert lost[1] == pytest.approx(lost[0], rel=1e-6)


@pytest.mark.parametrize("power", [0.5, 1.0, 1.7, 3.0])
def test_stress_of_strong_forms_has_its_slope(power: float) -> None:
    form = DampingStress("rod", lambda s: np.arange(1.0, 7.0), power)
    rate = np.array([0.3, -2.0, 0.1, 1e-3, -0.4, 0.7])
    stress, bent, slope = form.stress(0.1, np.zeros(6), rate, None)
    ends = [form.stress(0.1, np.zeros(6), rate + x, None)[0] for x in 1e-7 * np.eye(6)]
    assert slope == pytest.approx((np.array(ends).T - stress[:, None]) / 1e-7, rel=1e-3, abs=1e-5)
    assert not bent.any() and (stress * rate > 0).all()


def test_a_file_has_it(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text("""
rods: {arm: {length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1.0e6, nu: 0.5, rho: 1000}}}
loads: {push: {on: arm.tip, force: [0.2, 0, 0]}}
strain_dampers: {skin: {on: arm, damping: {bending: 2.0e-3, twist: 1.0e-3}, power: 0.5}}
simulate: {duration: 0.1, dt: 0.005}
""")
    given = pl.Robot.from_file(file).simulate(0.1, 5e-3).position("arm.tip")
    assert given == pytest.approx(bent(0.5).simulate(0.1, 5e-3).position("arm.tip"), abs=1e-12)
