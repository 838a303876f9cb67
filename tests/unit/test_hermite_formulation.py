"""The cubic Hermite rod: derivatives on the manifold, interpolation, rest shape."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.lie import se3
from pliant.model import DescriptionError
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array
from pliant.rods.hermite import Hermite, HermiteMap
from tests.perturbed import LENGTH, Bent, rod_with


@pytest.fixture(scope="module", params=["exp", "cayley"])
def bent(request: pytest.FixtureRequest) -> Bent:
    return Bent(Hermite(3, map=request.param))


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
        xi[-1] = se3.dcayley(rod_map.third[-1] * xi[-1]) @ xi[-1]
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
    with pytest.raises(DescriptionError, match="one of 'exp', 'cayley'"):
        Hermite(map="quaternion")
