"""Every derivative of the spline rods, perturbed on the manifold."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.lie import se3
from pliant.rods.bspline import BSpline
from pliant.rods.eba import EBA
from pliant.rods.ebr import EBR
from pliant.rods.hermite import Hermite
from pliant.rods.rom import ROM
from pliant.rods.spectral import Spectral
from pliant.rods.srl import SRL
from tests.perturbed import KINKED, LENGTH, REPEATED, UNEVEN, Bent, rod_with, second_difference

MAPS = ("exp", "cayley")
ROTATIONS, SCHEMES = ("unit", "free"), ("midpoint", "one-sided")
KNOTS = {"uneven": UNEVEN, "repeated": REPEATED, "kinked": KINKED}
CASES = {
    **{f"{k}-{name}": BSpline(k, 7, map=name) for k in (1, 2, 3, 5) for name in MAPS},
    **{
        f"{kind}-{name}": BSpline(3, 8, map=name, knots=knots)
        for kind, knots in KNOTS.items()
        for name in MAPS
    },
    "power-exp": BSpline(3, 7, basis="power"),
    **{f"hermite-{name}": Hermite(3, map=name) for name in MAPS},
    **{f"spectral-{k}": Spectral(k, 3) for k in (1, 3, 4)},
    **{f"eba-{kind}": EBA(3, kind) for kind in ROTATIONS},
    **{f"rom-{kind}-{order}": ROM(order, kind) for kind in ROTATIONS for order in (1, 3)},
}
SEGMENTS = {
    **{f"eba-{kind}-one-sided": EBA(3, kind, "one-sided") for kind in ROTATIONS},
    **{f"ebr-{scheme}": EBR(3, scheme) for scheme in SCHEMES},
    **{f"srl-{scheme}": SRL(3, scheme) for scheme in SCHEMES},
}
"""Their strains are differences over a segment, not slopes."""
BROKEN = {f"broken-{name}": Hermite(3, map=name) for name in MAPS} | {
    "broken-spline": BSpline(3, 8)
}
"""On rods whose strains jump at two places."""


@pytest.fixture(scope="module", params=[*CASES, *SEGMENTS, *BROKEN])
def bent(request: pytest.FixtureRequest) -> Bent:
    name = request.param
    breaks = (0.31, 0.5) if name in BROKEN else ()
    return Bent((CASES | SEGMENTS | BROKEN)[name], rod_with(breaks=breaks))


@pytest.mark.parametrize("chart", ["retract", "advance"])
def test_frames_and_strains_follow_coordinates_to_first_order(bent: Bent, chart: str) -> None:
    step = 1e-6
    ahead = bent.moved(getattr(bent.map, chart), step * bent.x)
    behind = bent.moved(getattr(bent.map, chart), -step * bent.x)
    y = bent.velocity(bent.x)
    eta = np.einsum("sia,sa->si", bent.frames.J, y[bent.frames.element])
    rate = np.einsum("sia,sa->si", bent.strains.B, y[bent.strains.element])
    size = np.max(np.abs(rate))
    assert (ahead[0] - behind[0]) / (2 * step) == pytest.approx(eta, rel=1e-7, abs=1e-7)
    assert (ahead[1] - behind[1]) / (2 * step) == pytest.approx(rate, rel=1e-7, abs=1e-8 * size)


def test_covectors_do_the_same_work_on_variables_and_coordinates(bent: Bent) -> None:
    work = float((bent.covector() * bent.velocity(bent.x)).sum())
    assert bent.gradient() @ bent.x == pytest.approx(work, rel=1e-11)


def test_several_covectors_are_lifted_like_each_alone(bent: Bent) -> None:
    count, n = bent.map.elements.shape
    rows = np.random.default_rng(4).normal(size=(count, 3, bent.map.m))
    together, alone = np.empty((count, 3, n)), np.empty((count, n))
    bent.map.lift_rows(bent.c, rows, together)
    for p in range(3):
        bent.map.lift_vector(bent.c, np.ascontiguousarray(rows[:, p]), alone)
        assert together[:, p] == pytest.approx(alone, rel=1e-12, abs=1e-12)


def test_second_derivative_along_constant_rates(bent: Bent) -> None:
    K, base = bent.hessian(None)
    expected = second_difference(lambda x: bent.potential(bent.map.retract, x), bent.x)
    assert base is None
    assert bent.x @ K @ bent.x == pytest.approx(expected, rel=1e-6)
    assert np.max(np.abs(K - K.T)) < 1e-12 * np.max(np.abs(K))


def test_second_derivative_in_the_chart_of_newton_steps(bent: Bent) -> None:
    K, _ = bent.hessian(bent.gradient())
    for seed in range(2):
        x = np.random.default_rng(seed).normal(size=bent.size)
        expected = second_difference(lambda x: bent.potential(bent.map.advance, x), x)
        scale = np.linalg.norm(K) * (x @ x) / bent.size
        assert x @ K @ x == pytest.approx(expected, rel=1e-6, abs=1e-6 * scale)


def test_balance_reaching_the_base_is_the_wrench_of_a_rigid_motion(bent: Bent) -> None:
    _, base = bent.hessian(bent.gradient())
    assert base is not None
    step = 1e-6
    for a in range(6):
        x = step * np.eye(bent.size)[a]
        slope = bent.potential(lambda c, *_: c.q, x) - bent.potential(lambda c, *_: c.q, -x)
        assert base[a] == pytest.approx(slope / (2 * step), rel=1e-6, abs=1e-6)


def test_bias_is_the_acceleration_at_constant_rates(bent: Bent) -> None:
    y = bent.velocity(bent.x)
    ydd = np.empty_like(y)
    bent.map.lift_bias(bent.c, bent.x[bent.map.elements], ydd)
    bias = np.empty((len(bent.f), 6))
    bent.map.frame_bias(bent.frames, bent.c, y, bias)
    bias += np.einsum("sia,sa->si", bent.frames.J, ydd[bent.frames.element])
    expected = second_difference(lambda x: bent.moved(bent.map.retract, x)[0], bent.x)
    assert bias == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.max(np.abs(expected)))


def test_matrix_between_two_configurations_uses_the_tangent_of_each(bent: Bent) -> None:
    rng = np.random.default_rng(3)
    other = bent.map.configuration()
    bent.map.update(other, bent.base, bent.c.q + 0.1 * rng.normal(size=bent.map.nq))
    count, n = bent.map.elements.shape
    Ky = rng.normal(size=(count, n, n))
    K = np.empty_like(Ky)
    bent.map.lift_matrix(bent.c, other, Ky, K)
    tangents = []
    for c in (bent.c, other):
        T = np.empty((n, count, n))
        for a in range(n):
            bent.map.lift_velocity(c, np.tile(np.eye(n)[a], (count, 1)), T[a])
        tangents.append(np.moveaxis(T, 0, 2))
    expected = np.swapaxes(tangents[0], 1, 2) @ Ky @ tangents[1]
    assert expected == pytest.approx(K, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("bent", [*CASES, *BROKEN], indirect=True)
def test_strain_is_the_arclength_derivative_of_the_frame(bent: Bent) -> None:
    s, step = LENGTH * np.array([0.05, 0.33, 0.51, 0.95]), 1e-6
    plan = bent.map.strains(s)
    bent.map.strain(plan, bent.c)
    ends = [bent.map.frames(s + d) for d in (-step, step)]
    for end in ends:
        bent.map.frame(end, bent.c)
    numeric = se3.log(se3.inverse(ends[0].g) @ ends[1].g) / (2 * step)
    assert plan.e == pytest.approx(numeric, rel=1e-6, abs=1e-6)
