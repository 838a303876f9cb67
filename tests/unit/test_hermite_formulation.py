"""The cubic Hermite rod: derivatives on the manifold, interpolation, rest shape."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.lie import se3
from pliant.model import DescriptionError
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array
from pliant.rods.hermite import Hermite, HermiteMap
from tests.perturbed import LENGTH, Bent, rod_with, second_difference


@pytest.fixture(scope="module", params=["exp", "cayley"])
def bent(request: pytest.FixtureRequest) -> Bent:
    return Bent(Hermite(3, map=request.param))


@pytest.mark.parametrize("chart", ["retract", "advance"])
def test_frames_and_strains_follow_coordinates_to_first_order(bent: Bent, chart: str) -> None:
    step = 1e-6
    ahead = bent.moved(getattr(bent.map, chart), step * bent.x)
    behind = bent.moved(getattr(bent.map, chart), -step * bent.x)
    y = bent.velocity(bent.x)
    eta = np.einsum("sia,sa->si", bent.frames.J, y[bent.frames.element])
    rate = np.einsum("sia,sa->si", bent.strains.B, y[bent.strains.element])
    assert (ahead[0] - behind[0]) / (2 * step) == pytest.approx(eta, rel=1e-7, abs=1e-7)
    assert (ahead[1] - behind[1]) / (2 * step) == pytest.approx(rate, rel=1e-7, abs=1e-6)


def test_covectors_do_the_same_work_on_variables_and_coordinates(bent: Bent) -> None:
    work = float((bent.covector() * bent.velocity(bent.x)).sum())
    assert bent.gradient() @ bent.x == pytest.approx(work, rel=1e-12)


def test_second_derivative_along_constant_node_twists(bent: Bent) -> None:
    K, base = bent.hessian(None)
    expected = second_difference(lambda x: bent.potential(bent.map.retract, x), bent.x)
    assert base is None
    assert bent.x @ K @ bent.x == pytest.approx(expected, rel=2e-6)
    assert np.max(np.abs(K - K.T)) < 1e-12 * np.max(np.abs(K))


def test_second_derivative_in_the_chart_of_newton_steps(bent: Bent) -> None:
    K, _ = bent.hessian(bent.gradient())
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=bent.size)
        expected = second_difference(lambda x: bent.potential(bent.map.advance, x), x)
        assert x @ K @ x == pytest.approx(expected, rel=2e-6)


def test_balance_reaching_the_base_is_the_wrench_of_a_rigid_motion(bent: Bent) -> None:
    _, base = bent.hessian(bent.gradient())
    stays = lambda c, base, x: c.q  # noqa: E731
    step = 1e-6
    for a in range(6):
        x = step * np.eye(bent.size)[a]
        slope = (bent.potential(stays, x) - bent.potential(stays, -x)) / (2 * step)
        assert base is not None
        assert base[a] == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_bias_is_the_acceleration_at_constant_rates(bent: Bent) -> None:
    y = bent.velocity(bent.x)
    ydd = np.empty_like(y)
    bent.map.lift_bias(bent.c, bent.x[bent.map.elements], ydd)
    bias = np.empty((len(bent.f), 6))
    bent.map.frame_bias(bent.frames, bent.c, y, bias)
    bias += np.einsum("sia,sa->si", bent.frames.J, ydd[bent.frames.element])
    expected = second_difference(lambda x: bent.moved(bent.map.retract, x)[0], bent.x)
    assert bias == pytest.approx(expected, rel=1e-5, abs=1e-5 * np.max(np.abs(expected)))


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


def test_nodes_go_where_their_twists_say_and_take_their_strains(bent: Bent) -> None:
    rod_map, move = bent.map, 0.2 * bent.x.reshape(-1, 2, 6)
    base = bent.base @ se3.exp(move[0, 0])
    other = rod_map.configuration()
    rod_map.update(other, base, rod_map.retract(bent.c, base, 0.2 * bent.x))
    plan = rod_map.frames(rod_map.nodes)
    rod_map.frame(plan, other)
    rod_map.strain(plan, other)
    assert plan.g == pytest.approx(bent.c.controls[::3] @ se3.exp(move[:, 0]), abs=1e-12)
    xi = bent.c.q.reshape(-1, 6)[::2] + move[:, 1]
    if rod_map.kind != 0:  # the tip is seen from before its node, where dtau(Psi) Psi is not Psi
        xi[-1] = se3.dcayley(rod_map.third * xi[-1]) @ xi[-1]
    assert plan.e == pytest.approx(xi, rel=1e-11, abs=1e-11)
    assert [rod_map.pose_coordinate(s) for s in rod_map.nodes] == [0, 12, 24, 36]
    assert rod_map.pose_coordinate(0.4 * LENGTH) is None


def test_strain_is_continuous_at_nodes_of_exponential_elements() -> None:
    bent = Bent(Hermite(3))
    inner = bent.map.nodes[1:-1]
    before, after = bent.map.strains(inner * (1 - 1e-10)), bent.map.strains(inner)
    bent.map.strain(before, bent.c)
    bent.map.strain(after, bent.c)
    assert before.element.tolist() != after.element.tolist()
    assert before.e == pytest.approx(after.e, abs=1e-7)


@pytest.mark.parametrize("kind", ["exp", "cayley"])
def test_one_element_is_the_cubic_spline_through_its_control_poses(kind: str) -> None:
    bent = Bent(Hermite(1, map=kind))
    spline = BSpline(degree=3, points=4, map=kind).discretise(bent.map.rod)
    c = spline.configuration()
    spline.update(c, bent.base, bent.c.psi.ravel())
    plan = spline.frames(bent.frames.s)
    spline.frame(plan, c)
    spline.strain(plan, c)
    assert plan.g == pytest.approx(bent.frames.g, abs=1e-12)
    assert plan.e == pytest.approx(bent.strains.e, abs=1e-12)
    assert bent.map.strain_rule()[0] == pytest.approx(spline.strain_rule()[0], abs=1e-12)


@pytest.mark.parametrize("elements", [1, 2, 5, 12])
def test_constant_natural_strain_is_represented_exactly(elements: int) -> None:
    rod_map = Hermite(elements).discretise(rod_with((2.0, -1.0, 3.0, 0.02, 0.01, 1.1)))
    s = np.linspace(0, LENGTH, 31)
    strains = rest_strains(rod_map, s)
    assert strains == pytest.approx(rod_map.rod.natural_strain(s), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", ["exp", "cayley"])
def test_rest_is_the_best_fit_of_a_varying_natural_strain(kind: str) -> None:
    rod = rod_with(lambda s: (3.0 * np.sin(4 * s), -2.0 * s, 1.0 + s**2))
    rod_map = Hermite(4, map=kind).discretise(rod)
    s, w = rod_map.strain_rule()
    assert w.sum(axis=0) == pytest.approx(np.full(6, LENGTH), rel=1e-12)

    def misfit(q: Array) -> float:
        c = rod_map.configuration()
        rod_map.update(c, np.eye(4), q)
        plan = rod_map.strains(s)
        rod_map.strain(plan, c)
        return float(np.sum(w * (plan.e - rod.natural_strain(s)) ** 2))

    q = rod_map.rest()
    best = misfit(q)
    for direction in np.random.default_rng(3).normal(size=(6, q.size)):
        assert misfit(q + 1e-4 * direction) > best
        assert misfit(q - 1e-4 * direction) > best


@pytest.mark.parametrize(
    ("natural", "rows", "order"),
    [
        # Plane bending: rotations commute and the curvature is a piecewise quadratic.
        (lambda s: (3.0 * np.sin(4 * s), 0.0, 0.0), slice(0, 3), 3),
        # In space the bracket [xi, xi'] h^2 is left between the stations.
        (lambda s: (3.0 * np.sin(4 * s), -2.0 * s, 1.0 + s**2), slice(0, 6), 2),
    ],
    ids=["plane-curvature", "space-strain"],
)
def test_rest_strain_between_stations_converges(natural: object, rows: slice, order: int) -> None:
    rod = rod_with(natural)
    s = np.linspace(0, LENGTH, 201)
    error = []
    for elements in (8, 16, 32):
        strains = rest_strains(Hermite(elements).discretise(rod), s)
        error.append(np.max(np.abs(strains - rod.natural_strain(s))[:, rows]))
    assert np.log2(error[:-1] / np.array(error[1:])) == pytest.approx([order, order], abs=0.15)


def rest_strains(rod_map: HermiteMap, s: Array) -> Array:
    """Strains (S, 6) at s of the rod at rest."""
    c = rod_map.configuration()
    rod_map.update(c, np.eye(4), rod_map.rest())
    plan = rod_map.strains(s)
    rod_map.strain(plan, c)
    return plan.e


@pytest.mark.parametrize("elements", [0, -2, 2.5, True])
def test_refuses_a_number_of_elements_that_is_not_a_count(elements: object) -> None:
    with pytest.raises(DescriptionError, match="elements"):
        Hermite(elements)  # type: ignore[arg-type]


def test_refuses_an_unknown_map() -> None:
    with pytest.raises(DescriptionError, match="'exp' or 'cayley'"):
        Hermite(map="quaternion")
