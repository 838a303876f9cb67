"""The simple example of the TMTDyn paper (Sadati et al., equations 3 to 42), term by term.

A planar beam of length l0 and radius r1 along z, of one segment or of polynomials of first order, that
moves in x and z and turns by theta about y. Each test states what the equation should say; the table in
docs/theory/tmt.md lists where the print differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

import pliant as pl
from pliant.lie import se3, so3
from pliant.rods.contract import RodMap

L0, R1, E1, G1, RHO = 0.05, 0.0125, 2.05e5, 0.7e5, 1820.0
AREA, J1 = np.pi * R1**2, np.pi * R1**4 / 4
MASS = RHO * AREA * L0
INERTIA = MASS * (3 * R1**2 + L0**2) / 12
STIFF = np.diag([G1 * AREA, E1 * AREA, E1 * J1])
MODELS = {name: getattr(pl, name)(1, scheme="one-sided") for name in ("SRL", "EBR", "EBA")}
PLANE = [9, 11, 7]
"""Entries of x = (base, turn, shift) that are x, z and theta; `EBA` has its node in the same place."""


def robot(damping: float = 0.0) -> pl.Robot:
    found = pl.Robot(gravity=(0.0, 0.0, 0.0))
    material = pl.Material(E=E1, nu=E1 / (2 * G1) - 1.0, rho=RHO, viscosity=damping)
    found.add_rod("beam", L0, pl.Circle(R1), material)
    return found


def map_of(formulation: Any) -> RodMap:
    (rod,) = robot().description.rods.values()
    found: RodMap = formulation.discretise(rod)
    return found


def at(beam: RodMap, q: Any) -> Any:
    """The configuration of a beam on a fixed base at coordinates q."""
    c = beam.configuration()
    beam.update(c, np.eye(4), np.asarray(q, dtype=float))
    return c


def planar(beam: RodMap, x: float, z: float, theta: float) -> Any:
    """Coordinates q at which the end is at (x, 0, z) and turned by theta about y."""
    if "EBA" in type(beam).__name__:
        return se3.log(se3.pose(so3.exp([0.0, theta, 0.0]), [x, 0.0, z]))
    alpha = theta if "SRL" in type(beam).__name__ else 2 * np.tan(theta / 2)
    return np.array([0.0, alpha, 0.0, x, 0.0, z - L0])


def mass_matrix(beam: RodMap, q: Any) -> Any:
    s, w = beam.mass_rule()
    plan = beam.frames(s)
    beam.frame(plan, at(beam, q))
    M = w[:, None] * beam.inertia(s)
    return np.einsum("sia,si,sib->ab", plan.J, M, plan.J)


def elastic_force(beam: RodMap, q: Any) -> Any:
    """Gradient (m,) of the elastic energy in the variables of the beam."""
    s, w = beam.strain_rule()
    plan = beam.strains(s)
    beam.strain(plan, at(beam, q))
    stress = w * beam.rod.stiffness(s) * (plan.e - beam.rod.natural_strain(s))
    return np.einsum("sia,si->a", plan.B, stress)


# -- kinematics -------------------------------------------------------------------------------------


def quaternion_product(a: Any, b: Any) -> Any:
    scalar = a[0] * b[0] - np.dot(a[1:], b[1:])
    vector = a[0] * np.asarray(b[1:]) + b[0] * np.asarray(a[1:]) + np.cross(a[1:], b[1:])
    return np.array([scalar, *vector])


def about_y(theta: float) -> Any:
    return np.array([np.cos(theta / 2), 0.0, np.sin(theta / 2), 0.0])


def test_equation_3_slope_of_the_quaternion() -> None:
    """Q' = Q (0, zeta) / 2 with zeta = (0, theta', 0): the third entry is positive."""
    theta, slope, step = 0.7, 3.0, 1e-6
    numeric = (about_y(theta + slope * step) - about_y(theta - slope * step)) / (2 * step)
    expected = quaternion_product(about_y(theta), (0.0, 0.0, slope, 0.0)) / 2
    assert numeric == pytest.approx(expected, abs=1e-8)
    assert expected == pytest.approx(
        [-np.sin(theta / 2) * slope / 2, 0.0, np.cos(theta / 2) * slope / 2, 0.0]
    )


@pytest.mark.parametrize("name", MODELS)
def test_equations_5_and_8_pose_of_the_end(name: str) -> None:
    """rho = (eps1, 0, l0 + eps3) and a turn by theta, for EBR with alpha = 2 tan(theta / 2)."""
    beam, theta = map_of(MODELS[name]), 0.4
    plan = beam.frames(np.array([L0]))
    beam.frame(plan, at(beam, planar(beam, 0.003, 0.055, theta)))
    expected = se3.pose(so3.exp([0.0, theta, 0.0]), [0.003, 0.0, 0.055])
    assert plan.g[0] == pytest.approx(expected, abs=1e-14)


def test_equation_9_strain_of_absolute_states() -> None:
    """2 Q0* (Q1 - Q0) = (2 (cos(theta / 2) - 1), 2 sin(theta / 2) e2); eps = (x1, 0, z1 - l0)."""
    beam, theta = map_of(MODELS["EBA"]), 0.4
    whole = 2 * quaternion_product((1.0, 0.0, 0.0, 0.0), about_y(theta) - about_y(0.0))
    assert whole[0] == pytest.approx(2 * (np.cos(theta / 2) - 1))
    plan = beam.strains(np.array([L0 / 2]))
    beam.strain(plan, at(beam, planar(beam, 0.003, 0.055, theta)))
    assert L0 * plan.e[0, :3] == pytest.approx([0.0, whole[2], 0.0])
    assert L0 * (plan.e[0, 3:] - [0, 0, 1]) == pytest.approx([0.003, 0.0, 0.005])


def polynomial(C: Any, rotation: str = "unit") -> tuple[RodMap, Any, Any]:
    """The beam of equation 14, x = C1 s^2, z = s + C2 s^2, Q2 = C3 s, and dq / dC (9, 3)."""
    beam = map_of(pl.ROM(1, rotation))
    # integrals of Legendre polynomials on [0, L]: s = phi_0, s^2 = L phi_0 + L phi_1, s = L psi_0
    dq = np.zeros((9, 3))
    dq[1, 2] = L0
    dq[3, 0] = dq[6, 0] = dq[5, 1] = dq[8, 1] = L0
    return beam, dq @ np.asarray(C), dq


COEFFICIENTS = np.array([3.0, -2.0, 5.0])


def test_equation_14_polynomials_span_those_of_the_paper() -> None:
    C1, C2, C3 = COEFFICIENTS
    beam, q, _ = polynomial(COEFFICIENTS)
    s = np.linspace(0.0, L0, 7)
    plan = beam.frames(s)
    beam.frame(plan, at(beam, q))
    assert plan.g[:, 0, 3] == pytest.approx(C1 * s**2, abs=1e-15)
    assert plan.g[:, 2, 3] == pytest.approx(s + C2 * s**2, abs=1e-15)
    turn = np.arctan2(plan.g[:, 0, 2], plan.g[:, 2, 2])
    assert np.sin(turn / 2) == pytest.approx(C3 * s, abs=1e-14)


def strain_16(C: Any, s: Any) -> Any:
    """Shear, stretch and curvature (S, 3): rho' seen by the inverse of Q, not by Q."""
    C1, C2, C3 = C
    C0 = np.sqrt(1 - C3**2 * s**2)
    shear = 2 * s * (C1 - C3 * C0 - 2 * C1 * C3**2 * s**2 - 2 * C2 * C3 * s * C0)
    stretch = 2 * s * (-(C3**2) * s + C2 - 2 * C2 * C3**2 * s**2 + 2 * C1 * C3 * s * C0)
    return np.stack([shear, stretch, 2 * C3 / C0], axis=1)


def test_equation_16_strains_of_the_polynomials() -> None:
    beam, q, _ = polynomial(COEFFICIENTS)
    s = np.linspace(0.0, L0, 7)
    plan = beam.strains(s)
    beam.strain(plan, at(beam, q))
    strains = plan.e[:, [3, 5, 1]] - [0.0, 1.0, 0.0]
    assert strains == pytest.approx(strain_16(COEFFICIENTS, s), abs=1e-13)


def test_equation_16_has_no_shear_where_the_tangent_is_the_normal_of_the_section() -> None:
    """x = C1 s^2 has the slope 2 C1 s, and theta = 2 C3 s: no shear to first order if C1 = C3."""
    assert strain_16((1e-4, 0.0, 1e-4), np.array([L0]))[0, 0] == pytest.approx(0.0, abs=1e-9)


def test_equation_38_derivative_of_the_strains() -> None:
    """Tb is the derivative of equation 16 with its factor 2 s; its last entry is 2 / Cr0^3."""
    C1, C2, C3 = COEFFICIENTS
    beam, q, dq = polynomial(COEFFICIENTS)
    s = np.linspace(0.01, L0, 5)
    plan = beam.strains(s)
    beam.strain(plan, at(beam, q))
    found = plan.B[:, [3, 5, 1], 6:] @ dq
    C0 = np.sqrt(1 - C3**2 * s**2)
    step, zero = 1 - 2 * C3**2 * s**2, np.zeros_like(s)
    expected = [
        [2 * s * step, -4 * C3 * s**2 * C0,
         -2 * s * (step / C0 + 4 * C1 * C3 * s**2 + 2 * C2 * s * step / C0)],
        [4 * C3 * s**2 * C0, 2 * s * step,
         4 * s**2 * (-C3 - 2 * C2 * C3 * s + C1 * step / C0)],
        [zero, zero, 2 / C0**3],
    ]  # fmt: skip
    assert found == pytest.approx(np.moveaxis(np.array(expected), 2, 0), abs=1e-12)


# -- dynamics ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_equations_18_and_20_mass_of_one_segment(name: str) -> None:
    beam = map_of(MODELS[name])
    M = mass_matrix(beam, beam.rest())[np.ix_(PLANE, PLANE)]
    assert pytest.approx(np.diag([MASS, MASS, INERTIA]), rel=1e-12) == M


@pytest.mark.parametrize("name", MODELS)
def test_equations_35_and_37_elastic_forces(name: str) -> None:
    """Diagonal in the states; for EBA to first order in theta, exactly with sin(theta) in its place."""
    beam, (x, z, theta) = map_of(MODELS[name]), (0.002, 0.004, 0.3)
    force = elastic_force(beam, planar(beam, x, L0 + z, theta))[PLANE]
    states = np.array([x, z, 2 * np.tan(theta / 2) if name == "EBR" else theta])
    expected = STIFF @ states / L0
    if name == "EBA":
        turn = so3.exp([0.0, theta, 0.0])
        force[:2] = (turn @ [force[0], 0.0, force[1]])[[0, 2]]
        expected[2] = E1 * J1 / L0 * np.sin(theta)
    assert force == pytest.approx(expected, rel=1e-12)


def test_equation_30_and_38_mass_and_forces_of_the_polynomials() -> None:
    """Integrals over the rod, with rho A and rho J for each unit of length."""
    beam, q, dq = polynomial(COEFFICIENTS)
    s, w = np.polynomial.legendre.leggauss(20)
    s, w = L0 / 2 * (s + 1), L0 / 2 * w
    plan = beam.frames(s)
    beam.frame(plan, at(beam, q))
    J = plan.J[:, :, 6:] @ dq
    C0 = np.sqrt(1 - (COEFFICIENTS[2] * s) ** 2)
    M = np.diag([RHO * AREA * (w @ s**4)] * 2 + [RHO * J1 * (w @ (2 * s / C0) ** 2)])
    found = np.einsum("sia,s,si,sib->ab", J, w, beam.rod.inertia(s), J)
    assert found == pytest.approx(M, rel=1e-9, abs=1e-12 * M.max())
    rule = mass_matrix(beam, q)[6:, 6:]
    assert (dq.T @ rule @ dq)[0, 0] == pytest.approx(M[0, 0], rel=1e-12)


def test_equation_38_forces_are_the_gradient_of_the_energy() -> None:
    beam, q, dq = polynomial(COEFFICIENTS)
    s, w = beam.strain_rule()

    def energy(C: Any) -> float:
        e = strain_16(C, s)
        return 0.5 * float(w[:, 0] @ np.einsum("sa,ab,sb->s", e, STIFF, e))

    step = 1e-4
    slopes = [
        (energy(COEFFICIENTS + step * unit) - energy(COEFFICIENTS - step * unit)) / (2 * step)
        for unit in np.eye(3)
    ]
    found = elastic_force(beam, q)[6:] @ dq
    assert found == pytest.approx(slopes, rel=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_equations_39_and_40_frequencies(name: str) -> None:
    """The eigenvalues of M^-1 K are squares of frequencies, twice for the two planes; M is diagonal."""
    found = robot().modes(6, formulation=MODELS[name]).frequencies
    shear, stretch, bending = np.sqrt(np.diag(STIFF) / L0 / [MASS, MASS, INERTIA])
    twist = np.sqrt(2 * G1 * J1 / L0 / (MASS * R1**2 / 2))
    expected = np.sort([shear, shear, stretch, bending, bending, twist]) / (2 * np.pi)
    assert found == pytest.approx(expected, rel=1e-9)


def test_equation_39_frequencies_of_the_polynomials() -> None:
    """Of the mass of equation 30 and the slope of the forces of equation 38 at rest."""
    beam, step = map_of(pl.ROM(1)), 1e-6
    M = mass_matrix(beam, beam.rest())[6:, 6:]
    K = [elastic_force(beam, step * unit)[6:] / step for unit in np.eye(9)]
    expected = np.sqrt(eigh(np.array(K), M, eigvals_only=True)) / (2 * np.pi)
    assert robot().modes(9, formulation=pl.ROM(1)).frequencies == pytest.approx(expected, rel=1e-4)
    # a quadratic and a linear turn are too stiff for the first mode of a clamped beam
    fine = robot().modes(1, formulation=pl.ROM(8)).frequencies[0]
    assert 1.1 < expected[0] / fine < 1.3


@pytest.mark.parametrize("name", MODELS)
def test_equation_39_damping_ratios(name: str) -> None:
    """eta = V / (2 omega M) is omega times half the retardation time of the strain."""
    beam, formulation = robot(damping=100.0), MODELS[name]
    eigenvalues = np.linalg.eigvals(beam.linearise(formulation=formulation).A)
    eigenvalues = eigenvalues[eigenvalues.imag > 0]
    omega, ratio = np.abs(eigenvalues), -eigenvalues.real / np.abs(eigenvalues)
    frequencies = beam.modes(6, formulation=formulation).frequencies
    assert np.sort(omega) / (2 * np.pi) == pytest.approx(frequencies, rel=1e-6)
    rod = beam.description.rods["beam"]
    times = np.unique(np.round(rod.damping(0.0) / rod.stiffness(0.0), 12))
    assert np.unique(np.round(2 * ratio / omega, 12)) == pytest.approx(times, rel=1e-6)


def test_orders_of_turns_in_equation_4_and_table_3_differ_off_the_plane() -> None:
    """x-y-z of equation 4 and z-x-y of Table 3 agree in a plane and differ by a product of angles."""
    beam, angles = map_of(MODELS["SRL"]), np.array([0.2, 0.1, 0.3])
    plan = beam.frames(np.array([L0]))
    beam.frame(plan, at(beam, [*angles, 0.0, 0.0, 0.0]))
    x, y, z = (so3.exp(a * axis) for a, axis in zip(angles, np.eye(3), strict=True))
    assert plan.g[0, :3, :3] == pytest.approx(z @ x @ y, abs=1e-14)
    gap = so3.log((x @ y @ z).T @ (z @ x @ y))
    assert 0.5 < np.linalg.norm(gap) / (angles[2] * np.hypot(angles[0], angles[1])) < 1.5


def test_equation_42_derivative_of_the_constraint() -> None:
    """chi = (z_c - z1, theta_c - theta1) falls with the states: Tc = -((0, 1, 0), (0, 0, 1))."""

    def chi(q: Any) -> Any:
        return np.array([0.06 - q[1], 0.1 - q[2]])

    slopes = np.stack([chi(unit) - chi(np.zeros(3)) for unit in np.eye(3)], axis=1)
    assert slopes == pytest.approx(-np.array([[0, 1, 0], [0, 0, 1]]))
