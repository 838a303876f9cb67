"""Orders of convergence of spline rods, on the tapered rod of section 7.3 under 0.25 N.

Theory. A cumulative spline of degree k matches a smooth motion with an error of order k + 1 in the
pose. But twists about different axes do not commute, and the product of exponentials leaves a term
of order h^2 [xi, xi'] in the strain (h the length of a span), hence order 3 in the pose whatever
the degree: the pose along the rod has order min(k + 1, 3). Higher degrees start from much smaller
errors. The tip converges faster where the errors of the spans cancel: orders 2 and 4 for k = 1, 2.

Degree 1 reaches 1e-6 with 512 spans; all others pass 1e-9.
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
    1: (16, 32, 64, 128, 256, 512),
    2: (16, 32, 64, 128, 256, 512),
    3: (64, 128, 256, 512),
    4: (32, 64, 128, 256),
    5: (32, 64, 128, 256),
}
REACHED = {1: 1e-6, 2: 1e-9, 3: 1e-9, 4: 1e-9, 5: 1e-9}


@functools.cache
def truth() -> Array:
    return tapered_references()["force", 0.25].pose(S)


@functools.cache
def errors(formulation: pl.Formulation) -> tuple[float, float]:
    """Mean square pose error along the rod (per length), and pose error of the tip."""
    found = tapered_robot().statics(only("force", 0.25), formulation, tolerance=1e-12)
    along = pose_errors(found.pose("arm", S), truth())
    tip = pose_errors(found.tip("arm")[None], tapered_references()["force", 0.25].tip[None])
    return float(np.sqrt(np.mean(along**2))), float(tip[0])


def orders(values: list[float]) -> Array:
    return np.log2(np.array(values[:-1]) / values[1:])


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_poses_along_the_rod_converge_at_the_order_of_theory(degree: int) -> None:
    found = [errors(pl.BSpline(degree, n + degree))[0] for n in SPANS[degree]]
    assert len(found) >= 4
    # the strains that degrees 4 and 5 hold point by point add an error that falls faster
    more = 0.8 if degree > 3 else 0.3
    order = min(degree + 1, 3)
    assert np.all(orders(found) > order - 0.3) and np.all(orders(found) < order + more)
    assert abs(orders(found)[-1] - order) < 0.4
    assert found[-1] < REACHED[degree]


@pytest.mark.parametrize(("degree", "order"), [(1, 2), (2, 4)])
def test_the_tip_converges_faster_where_errors_cancel(degree: int, order: int) -> None:
    found = [errors(pl.BSpline(degree, n + degree))[1] for n in SPANS[degree][:5]]
    assert orders(found) == pytest.approx(order, abs=0.1)


def test_hermite_converges_with_order_3() -> None:
    found = [errors(pl.Hermite(n))[0] for n in (32, 64, 128, 256)]
    assert orders(found) == pytest.approx(3.0, abs=0.3)
    assert found[-1] < 1e-9


def test_a_higher_degree_is_better_with_the_same_number_of_points() -> None:
    found = [errors(pl.BSpline(degree, 20))[0] for degree in (1, 2, 3, 4, 5)]
    assert np.all(np.diff(found) < 0.0)
