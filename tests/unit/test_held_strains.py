"""Strains that no force field feels: a share of the shear and stretch stiffness holds them."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model import Description, Load
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, effects_of
from pliant.physics.force_fields import ForceFields
from pliant.solve.balance import balance
from pliant.solve.energy import potential
from pliant.tree.state import State
from pliant.tree.work import Work

HELD = [pl.BSpline(4, 8), pl.BSpline(5, 9), pl.BSpline(5, 9, map="cayley")]
ALL = [pl.BSpline(2, 8), pl.BSpline(3, 8), pl.Hermite(3), *HELD]


def bent(formulation: pl.Formulation, theory: str = "cosserat") -> Effects:
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
    return effects_of(description, {"arm": formulation})


def moved(effects: Effects, seed: int) -> State:
    tree = effects.tree
    x = np.zeros(tree.total)
    x[tree.coordinates] = 0.05 * np.random.default_rng(seed).normal(size=len(tree.coordinates))
    return State(tree).place(tree.moved(tree.rest, x))


def fields_of(effects: Effects) -> ForceFields:
    (term,) = effects.of_kind(ForceFields)
    return term


def elastic_energy(effects: Effects, state: State) -> float:
    return potential(effects, state, effects.nothing)["elastic"]


def strained(effects: Effects, strain: np.ndarray) -> State:
    """A state whose strains (S, 6) beyond rest are given, whatever coordinates would have them."""
    state = State(effects.tree).place(effects.tree.q_rest)
    state.parts[0].strain.e += strain
    return state


@pytest.mark.parametrize("formulation", ALL, ids=str)
def test_both_shares_make_up_the_whole_stiffness(formulation: pl.Formulation) -> None:
    part = bent(formulation).tree.parts[0]
    whole = part.strain_w * part.C
    assert part.plain[:, :3] == pytest.approx(whole[:, :3], rel=1e-14)
    together = part.plain[:, 3:] + part.field_w * part.C[:, 3:]
    assert together == pytest.approx(whole[:, 3:], rel=1e-13)
    assert np.any(part.plain[:, 3:]) == (formulation in HELD)


@pytest.mark.parametrize("theory", ["cosserat", "kirchhoff"])
@pytest.mark.parametrize("formulation", HELD, ids=str)
def test_the_elastic_force_is_the_gradient_of_the_energy(
    formulation: pl.Formulation, theory: str
) -> None:
    """Where shear and stretch are held by constraint, without its multipliers."""
    effects = bent(formulation, theory)
    tree, state = effects.tree, moved(effects, 3)
    z = np.zeros(tree.total)
    if theory == "cosserat":
        z[tree.parts[0].field_index] = fields_of(effects).settled(state.parts[0].strain.e)
    residual = balance(effects, state, Work(tree), effects.at({"tip": 0.0}), z)
    if theory == "cosserat":
        assert residual[tree.fields] == pytest.approx(0.0, abs=1e-12)
    direction = np.zeros(tree.total)
    rng = np.random.default_rng(4)
    direction[tree.coordinates] = rng.normal(size=len(tree.coordinates))
    energies = []
    for step in (-2e-4, -1e-4, 1e-4, 2e-4):
        there = State(tree).place(tree.moved(state, step * direction, newton=False))
        energies.append(elastic_energy(effects, there))
    slope = (energies[0] - 8 * energies[1] + 8 * energies[2] - energies[3]) / 12e-4
    assert residual @ direction == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("formulation", HELD, ids=str)
def test_the_power_lost_is_twice_the_energy_of_the_lagging_rate(
    formulation: pl.Formulation,
) -> None:
    """P = sum D rate^2: with one retardation time t for all rows, t times twice the energy of the
    rate taken as a strain.
    """
    effects = bent(formulation)
    tree, part = effects.tree, effects.tree.parts[0]
    part.D[...] = 0.3 * part.C
    part.lag[...] = 0.3
    for term in effects.terms:
        term.refill(tree)
    work = Work(tree)
    work.parts[0].rate[...] = np.random.default_rng(5).normal(size=part.D.shape)
    moment = Moment(tree, tree.rest, work, effects.nothing.u, np.zeros(tree.total))
    lost = sum(term.power_lost(moment) for term in effects.terms)
    energy = elastic_energy(effects, strained(effects, work.parts[0].rate))
    assert lost == pytest.approx(0.3 * 2.0 * energy, rel=1e-12)


@pytest.mark.parametrize("formulation", HELD, ids=str)
def test_a_strain_orthogonal_to_all_force_fields_costs_energy(formulation: pl.Formulation) -> None:
    effects = bent(formulation)
    part, term = effects.tree.parts[0], fields_of(effects)
    rng = np.random.default_rng(6)
    strain = np.zeros_like(term.e0)
    strain[:, 3:] = rng.normal(size=(len(strain), 3))
    fields = term.settled(term.e0 + strain)
    force = np.einsum("sp,spr->sr", term.fields.values, fields[term.fields.index[term.element]])
    strain[:, 3:] -= force / part.C[:, 3:]
    assert term.strains(strain) == pytest.approx(0.0, abs=1e-13)
    held = 0.5 * np.sum(part.plain * strain**2)
    assert elastic_energy(effects, strained(effects, strain)) == pytest.approx(held, rel=1e-12)
    assert held > 0.0
