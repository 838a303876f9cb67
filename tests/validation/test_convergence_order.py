"""Orders of convergence of spline rods, on the tapered rod of section 7.3 under 1 N and 0.25 N.

Theory. A cumulative spline of degree k matches a smooth motion with an error of order k + 1 in the
pose. But twists about different axes do not commute, and the product of exponentials leaves a term
of order h^2 [xi, xi'] in the strain (h the length of a span), hence order 3 in the pose whatever
the degree: the pose along the rod has order min(k + 1, 3). Higher degrees start from much smaller
errors, with a term of order 4 that fades late where the load is small: under 0.25 N degrees 4 and 5
come down to order 3 only at errors of 1e-11. The tip converges faster where the errors of the spans
cancel: orders 2 and 4 for k = 1, 2.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pliant as pl
from pliant.model import Array
from tests.validation.cases import only, pose_errors, tapered_references, tapered_robot

# a prime number of places, so that they fall on all parts of the spans
S = (np.arange(331) + 0.5) / 331
SPANS = {
    1: (16, 64, 256, 1024, 2048, 4096, 8192, 16384),
    2: (16, 32, 64, 128, 256, 512),
    3: (32, 64, 128, 256, 512),
    4: (32, 64, 128, 256, 512),
    5: (64, 128, 256, 512),
}


@functools.cache
def truth(force: float) -> Array:
    return tapered_references()["force", force].pose(S)


@functools.cache
def errors(formulation: pl.Formulation, force: float = 1.0) -> tuple[float, float]:
    """Mean square pose error along the rod (per length), and pose error of the tip."""
    found = tapered_robot().statics(only("force", force), formulation, tolerance=1e-12)
    along = pose_errors(found.pose("arm", S), truth(force))
    tip = pose_errors(found.tip("arm")[None], tapered_references()["force", force].tip[None])
    return float(np.sqrt(np.mean(along**2))), float(tip[0])


def orders(values: list[float], spans: tuple[int, ...]) -> Array:
    """Falls of the error from each number of spans to the next, as powers of the length of a span."""
    return np.diff(np.log(values)) / -np.diff(np.log(spans))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_poses_along_the_rod_converge_at_the_order_of_theory(degree: int) -> None:
    found = [errors(pl.BSpline(degree, n + degree))[0] for n in SPANS[degree]]
    assert len(found) >= 4
    assert orders(found, SPANS[degree]) == pytest.approx(min(degree + 1, 3), abs=0.3)
    assert found[-1] < 1e-9


@pytest.mark.parametrize("degree", [4, 5])
def test_a_term_of_order_4_fades_late_under_a_small_load(degree: int) -> None:
    spans = (64, 128, 256, 512)
    found = [errors(pl.BSpline(degree, n + degree), 0.25)[0] for n in spans]
    order = orders(found, spans)
    assert np.all(order > 2.9) and np.all(order < 4.0)
    assert order[-1] == pytest.approx(3.0, abs=0.3)


@pytest.mark.parametrize(("degree", "order"), [(1, 2), (2, 4)])
def test_the_tip_converges_faster_where_errors_cancel(degree: int, order: int) -> None:
    found = [errors(pl.BSpline(degree, n + degree), 0.25)[1] for n in SPANS[degree][:5]]
    assert orders(found, SPANS[degree][:5]) == pytest.approx(order, abs=0.1)


def test_hermite_converges_with_order_3() -> None:
    spans = (32, 64, 128, 256)
    found = [errors(pl.Hermite(n))[0] for n in spans]
    assert orders(found, spans) == pytest.approx(3.0, abs=0.3)
    assert found[-1] < 1e-9


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_spectral_elements_converge_between_nodes_and_faster_at_nodes(order: int) -> None:
    spans = {1: (64, 128, 256), 2: (16, 32, 64), 3: (8, 16, 32), 4: (4, 8, 16)}[order]
    found = [errors(pl.Spectral(order, n), 0.25) for n in spans]
    along, tip = ([pair[i] for pair in found] for i in (0, 1))
    assert orders(along, spans)[-1] == pytest.approx(order + 1, abs=0.3)
    assert orders(tip, spans)[-1] == pytest.approx(2 * order, abs=0.5)


def test_a_higher_degree_is_better_with_the_same_number_of_points() -> None:
    found = [errors(pl.BSpline(degree, 20))[0] for degree in (1, 2, 3, 4, 5)]
    assert np.all(np.diff(found) < 0.0)
