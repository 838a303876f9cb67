"""Strains that no stress mode feels: a share of the shear and stretch stiffness holds them."""

from __future__ import annotations

import numpy as np
import pytest
from pliant.system.balance import balance
from pliant.system.loading import make_loading
from pliant.system.system import System

import pliant as pl
from pliant.model import Description, Load

HELD = [pl.BSpline(4, 8), pl.BSpline(5, 9), pl.BSpline(5, 9, map="cayley")]
ALL = [pl.BSpline(2, 8), pl.BSpline(3, 8), pl.Hermite(3), *HELD]


def bent(formulation: pl.Formulation, theory: str = "cosserat") -> System:
    description = Description(gravity=(0.0, 0.0, 0.0))
    material = pl.Material(E=2e5, nu=0.45, rho=1000.0, viscosity=50.0)
    rod = description.add(
        pl.Rod(
            "arm",
            0.7,
            pl.Circle((0.03, 0.02)),
            material,
            natural=(0.4, 0.0, 1.0),
            theory=theory,
        )
    )
    description.add(Load("tip", rod.tip, force=(0.1, 0.4, -0.2)))
    return System(description, {"arm": formulation})


def moved(system: System, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = np.zeros(system.n)
    x[system.coordinates] = 0.05 * rng.normal(size=len(system.coordinates))
    system.place(system.q_rest)
    return system.moved(system.q_rest, x)


@pytest.mark.parametrize("formulation", ALL, ids=str)
def test_both_shares_make_up_the_whole_stiffness(formulation: pl.Formulation) -> None:
    block = bent(formulation).blocks[0]
    whole = block.strain_w * block.C
    assert block.plain[:, :3] == pytest.approx(whole[:, :3], rel=1e-14)
    together = block.plain[:, 3:] + block.mode_w * block.C[:, 3:]
    assert together == pytest.approx(whole[:, 3:], rel=1e-13)
    assert np.any(block.plain[:, 3:]) == (formulation in HELD)


@pytest.mark.parametrize("theory", ["cosserat", "kirchhoff"])
@pytest.mark.parametrize("formulation", HELD, ids=str)
def test_the_elastic_force_is_the_gradient_of_the_energy(
    formulation: pl.Formulation, theory: str
) -> None:
    """Where shear and stretch are held by constraint, without its multipliers."""
    system = bent(formulation, theory)
    block = system.blocks[0]
    q = moved(system, 3)
    system.place(q)
    mult = np.zeros(system.n)
    if theory == "cosserat":
        mult[block.mode_index] = block.settled_modes(block.level.strain.e)
    nothing = make_loading(system, {"tip": 0.0})
    residual = balance(system, mult, nothing, False)
    if theory == "cosserat":
        assert residual[system.mode_unknowns] == pytest.approx(0.0, abs=1e-12)
    direction = np.zeros(system.n)
    rng = np.random.default_rng(4)
    direction[system.coordinates] = rng.normal(size=len(system.coordinates))
    energies = []
    for step in (-2e-4, -1e-4, 1e-4, 2e-4):
        system.place(q)
        system.place(system.moved(q, step * direction, newton=False))
        energies.append(block.elastic_energy(block.level))
    slope = (energies[0] - 8 * energies[1] + 8 * energies[2] - energies[3]) / 12e-4
    assert residual @ direction == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("formulation", HELD, ids=str)
def test_the_power_lost_is_twice_the_energy_of_the_lagging_rate(
    formulation: pl.Formulation,
) -> None:
    """P = sum D rate^2: with one retardation time t for all rows, t times twice the energy of the
    rate taken as a strain.
    """
    system = bent(formulation)
    block = system.blocks[0]
    block.D = 0.3 * block.C
    rate = np.random.default_rng(5).normal(size=block.e0.shape)
    block.level.strain.e[...] = block.e0 + rate
    assert block.dissipation(rate) == pytest.approx(
        0.3 * 2.0 * block.elastic_energy(block.level), rel=1e-12
    )


@pytest.mark.parametrize("formulation", HELD, ids=str)
def test_a_strain_orthogonal_to_all_modes_costs_energy(formulation: pl.Formulation) -> None:
    block = bent(formulation).blocks[0]
    rng = np.random.default_rng(6)
    strain = np.zeros_like(block.e0)
    strain[:, 3:] = rng.normal(size=(len(strain), 3))
    modes = block.settled_modes(block.e0 + strain)
    element = block.level.strain.element
    assert block.modes is not None
    force = np.einsum("sp,spr->sr", block.modes.values, modes[block.modes.index[element]])
    strain[:, 3:] -= force / block.C[:, 3:]
    assert block.mode_strains(strain) == pytest.approx(0.0, abs=1e-13)
    block.level.strain.e[...] = block.e0 + strain
    held = 0.5 * np.sum(block.plain * strain**2)
    assert block.elastic_energy(block.level) == pytest.approx(held, rel=1e-12)
    assert held > 0.0
