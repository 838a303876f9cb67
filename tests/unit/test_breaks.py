"""Breaks of data along a rod: found in functions and tables, named by users, written in files."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pliant as pl
from pliant.model.breaks import Breaks, breaks_of
from pliant.rods.quadrature import line_rule

LENGTH = 0.4
SOFT = pl.Material(E=1e6, nu=0.45, rho=1000.0)


def rod(radius: Any = 0.01, **more: Any) -> pl.Rod:
    robot = pl.Robot()
    return robot.add_rod("arm", LENGTH, pl.Circle(radius), SOFT, **more)


def found(radius: Any, **more: Any) -> Breaks:
    return rod(radius, **more).breaks_along(LENGTH)


# -- functions ------------------------------------------------------------------------------------

coefficients = st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4)


@settings(max_examples=30)
@given(
    st.lists(st.integers(3, 97), max_size=5, unique=True),
    st.lists(coefficients, min_size=6, max_size=6),
    st.lists(st.sampled_from([-1.0, 1.0]), min_size=6, max_size=6),
    st.floats(0.0, 0.01),
    st.floats(0.05, 2.0),
)
def test_every_jump_between_smooth_pieces_is_found_and_nothing_else(
    places: list[int], pieces: list[list[float]], signs: list[float], shift: float, jump: float
) -> None:
    """Pieces are cubics of size one over the whole rod; each starts `jump` above or below the last."""
    edges = LENGTH * (np.sort(places) / 100 + shift)
    starts, level = [], 0.0
    for n, cubic in enumerate(pieces[: len(edges) + 1]):
        low = edges[n - 1] / LENGTH if n else 0.0
        starts.append(level - np.polyval(cubic, low))
        high = edges[n] / LENGTH if n < len(edges) else 1.0
        level = np.polyval(cubic, high) + starts[-1] + jump * signs[n]

    def radius(s: float) -> float:
        n = int(np.searchsorted(edges, s, side="right"))
        a, b, c, d = pieces[n]
        x = s / LENGTH
        return starts[n] + ((a * x + b) * x + c) * x + d

    breaks = breaks_of(radius, lambda s: np.array([[[radius(x)]] for x in s]), (0.0, LENGTH))
    assert breaks.missing < 1e-5
    assert len(breaks.jumps) == len(edges)
    assert breaks.jumps == pytest.approx(edges, abs=1e-9 * LENGTH)


def test_a_jump_is_found_wherever_it_is() -> None:
    """No place hides it from all rules of quadrature."""
    for place in np.linspace(0.003, 0.997, 701):

        def values(s: np.ndarray, place: float = place) -> np.ndarray:
            return np.where(s < place, 1.0, 1.2)[:, None, None]

        breaks = breaks_of(values, values, (0.0, 1.0))
        assert breaks.jumps == pytest.approx([place], abs=1e-9), place
        assert breaks.bends == ()


@given(coefficients, st.floats(0.3, 6.0), st.floats(0.0, 6.3))
def test_smooth_functions_have_no_breaks(cubic: list[float], waves: float, phase: float) -> None:
    def radius(s: float) -> float:
        x = s / LENGTH
        return 0.02 + 0.002 * np.polyval(cubic, x) + 0.002 * np.sin(2 * np.pi * waves * x + phase)

    assert found(radius) == Breaks()


@pytest.mark.parametrize(
    "radius",
    [0.01, (0.02, 0.005), lambda s: 0.02 - 0.04 * s, pl.Table([0.0, LENGTH], [0.02, 0.005])],
    ids=["number", "taper", "function", "table"],
)
@pytest.mark.parametrize(
    "form", [pl.BSpline(), pl.Hermite(), pl.Spectral(), pl.Strain(), pl.ANCF()], ids=repr
)
def test_smooth_rods_have_the_knots_of_their_settings(radius: Any, form: Any) -> None:
    assert form.discretise(rod(radius)).nq == form.discretise(rod()).nq


def test_a_kink_is_found_where_it_is() -> None:
    breaks = found(lambda s: 0.01 + 0.05 * abs(s - 0.1507))
    assert breaks.jumps == ()
    assert breaks.bends == pytest.approx([0.1507], abs=1e-6 * LENGTH)


def test_steps_of_tables_are_jumps_in_the_middle_of_their_ramp() -> None:
    table = pl.Table([0.0, 0.1, 0.1 + 1e-6, LENGTH], [0.02, 0.02, 0.01, 0.01])
    assert found(table).jumps == pytest.approx([0.1 + 0.5e-6], abs=1e-8)
    kinked = pl.Table([0.0, 0.13, LENGTH], [0.02, 0.012, 0.01])
    assert found(kinked).bends == pytest.approx([0.13], abs=1e-6)


@pytest.mark.parametrize("width", [0.05, 0.01, 0.003, 0.001])
def test_panels_around_a_peak_integrate_it(width: float) -> None:
    """Wherever it is: four Gauss points on each panel give its area."""
    for centre in np.linspace(0.15, 0.85, 29) + 0.00137:
        c, w = centre * LENGTH, width * LENGTH

        def force(s: float, c: float = c, w: float = w) -> tuple[float, float, float]:
            return 0.0, float(np.exp(-(((s - c) / w) ** 2))), 0.0

        load = pl.Load("peak", "arm", force)
        rod_map = pl.BSpline().discretise(rod())
        rule = line_rule(rod_map, None, load.breaks_along(LENGTH).places, load.density)
        s, weights = rod_map.mass_rule() if rule is None else rule
        total = weights @ load.density(s)[:, 4]
        assert total == pytest.approx(np.sqrt(np.pi) * w, rel=2e-5)


def test_functions_are_called_once_for_many_robots() -> None:
    calls = 0

    def radius(s: float) -> float:
        nonlocal calls
        calls += 1
        return 0.01 if s < 0.1 else 0.02

    first = rod(radius)
    first.breaks_along(LENGTH)
    assert calls < 3000
    before = calls
    other = replace(first, drag=0.1)
    assert other.breaks_along(LENGTH) == first.breaks_along(LENGTH)
    assert calls - before < 200  # the check of the new rod


def test_natural_strains_of_six_numbers_and_functions_that_fail_are_told() -> None:
    def natural(s: float) -> tuple[float, ...]:
        return (0.0, 1.0, 0.0, 0.0, 0.0, 1.0 if s < 0.1 else 1.1)

    assert rod(natural=natural).breaks_along(LENGTH).jumps == pytest.approx([0.1])

    def failing(s: float) -> tuple[float, ...]:
        return (0.0, 1.0, 0.0) if abs(s - 0.2063) > 0.003 else (0.0, np.nan, 0.0)

    robot = pl.Robot()
    robot.add_rod("arm", LENGTH, pl.Circle(0.01), SOFT, natural=failing)
    with pytest.raises(
        pl.DescriptionError, match=r"rod 'arm': natural = .*correct what it gives at"
    ):
        robot.statics()


def test_data_too_wild_for_quadrature_are_warned_of() -> None:
    def noisy() -> pl.Robot:
        robot = pl.Robot()
        robot.add_rod("arm", LENGTH, pl.Circle(0.01), SOFT)
        robot.add_load("noise", "arm", force=lambda s: (0.0, 1.0 + np.sin(3e5 * s), 0.0))
        return robot

    with pytest.warns(
        pl.ResolutionWarning, match=r"load 'noise': force .* % .*breaks=\(0\.1, 0\.2\)"
    ):
        noisy().statics()
    with pytest.warns(pl.ResolutionWarning, match="load 'noise': force"):
        noisy().statics(formulation=pl.Shooting())
    smooth = pl.Robot(gravity=(0.0, 0.0, 0.0))
    smooth.add_rod("arm", LENGTH, pl.Circle(lambda s: 0.01 if s < 0.1 else 0.008), SOFT)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.ResolutionWarning)
        smooth.statics()


# -- declared -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [pl.BSpline(), pl.BSpline(2, 9), pl.Hermite(5), pl.Spectral(3, 8), pl.Strain(2, 3), pl.ANCF(6)],
    ids=repr,
)
def test_a_named_break_of_smooth_data_changes_nothing(form: Any) -> None:
    """A knot more on a uniform rod: the same shape."""
    tips = []
    for breaks in ((), (0.1703,)):
        robot = pl.Robot()
        arm = robot.add_rod("arm", LENGTH, pl.Circle(0.01), SOFT, pl.along("x"), breaks=breaks)
        robot.add_load("tip", arm.tip, force=(0.0, 0.0, 0.02))
        tips.append(robot.statics(formulation=form).position("arm", LENGTH))
    assert tips[1] == pytest.approx(tips[0], abs=3e-4 * LENGTH)


@pytest.mark.parametrize(
    "form",
    [pl.BSpline(), pl.Hermite(), pl.Spectral(), pl.Strain(2, 4), pl.ANCF(8), pl.Shooting()],
    ids=repr,
)
@pytest.mark.parametrize("gap", [1.1e-5, 1e-7])
def test_breaks_may_lie_close_together(form: Any, gap: float) -> None:
    tips = []
    for breaks in ((), 0.1703 + gap * LENGTH * np.arange(3)):
        robot = pl.Robot()
        arm = robot.add_rod("arm", LENGTH, pl.Circle(0.01), SOFT, pl.along("x"), breaks=breaks)
        robot.add_load("tip", arm.tip, force=(0.0, 0.0, 0.02))
        tips.append(robot.statics(formulation=form).position("arm", LENGTH))
    assert tips[1] == pytest.approx(tips[0], abs=3e-6 * LENGTH)


def test_knots_repeat_where_strains_may_jump() -> None:
    spline = pl.BSpline(3, 15).discretise(rod(breaks=(0.1703,)))
    assert np.sum(spline.knots == 0.1703) == 3
    given = pl.BSpline(3, 6, knots=(0.25, 0.5)).discretise(rod(breaks=(0.1, 0.2703)))
    inner = given.knots[(given.knots > 0) & (given.knots < LENGTH)]
    assert inner == pytest.approx([0.1] * 3 + [0.2] + [0.2703] * 3)
    hermite = pl.Hermite(4).discretise(rod(breaks=(0.1703,)))
    assert 0.1703 in hermite.nodes
    assert hermite.nq == pl.Hermite(len(hermite.nodes) - 1).discretise(rod()).nq + 6


@pytest.mark.parametrize(
    ("breaks", "told"),
    [
        ((0.2, 0.1), r"breaks = \(0\.2, 0\.1\).*increasing"),
        ((0.1, 0.1), r"breaks = \(0\.1, 0\.1\).*increasing"),
        ((0.0, 0.1), r"breaks = .*above 0"),
        ((-0.1,), r"breaks = .*above 0"),
        ((0.1, 0.5), r"breaks = \(0\.1, 0\.5\).*between 0 and the length 0\.4"),
        ((LENGTH,), r"breaks = .*between 0 and the length 0\.4"),
        ("ab", r"breaks = .*increasing"),
        ((0.1, np.nan), r"breaks = .*increasing"),
        (np.linspace(0.01, 0.39, 90), r"breaks = 90.*at most 64"),
    ],
)
def test_bad_breaks_are_refused_with_what_is_wrong(breaks: Any, told: str) -> None:
    with pytest.raises(pl.DescriptionError, match=f"rod 'arm': {told}"):
        rod(breaks=breaks)
    robot = pl.Robot()
    robot.add_rod("arm", LENGTH, pl.Circle(0.01), SOFT)
    with pytest.raises(pl.DescriptionError, match=f"load 'wind': {told}"):
        robot.add_load("wind", "arm", force=(0.0, 1.0, 0.0), breaks=breaks)


def test_a_point_load_has_no_breaks() -> None:
    robot = pl.Robot()
    arm = robot.add_rod("arm", LENGTH, pl.Circle(0.01), SOFT)
    with pytest.raises(pl.DescriptionError, match=r"load 'push': breaks = .*left out"):
        robot.add_load("push", arm.tip, force=(0.0, 1.0, 0.0), breaks=(0.1,))


FILE = """
rods:
  arm:
    length: 0.4
    section:
      circle: {{radius: {{table: {{s: [0, 0.1, 0.1000001, 0.4], values: [0.02, 0.02, 0.01, 0.01]}}}}}}
    material: {{E: 1e6, nu: 0.45, rho: 1000}}
    breaks: {breaks}
loads:
  wind: {{on: arm, force: [0, 1, 0], breaks: [0.05, 0.3]}}
"""


def test_robot_files_name_breaks(tmp_path: Any) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(FILE.format(breaks="[0.2, 0.3]"), encoding="utf-8")
    description = pl.Robot.from_file(file).description
    assert description.rods["arm"].breaks == (0.2, 0.3)
    assert description.rods["arm"].breaks_along(LENGTH).jumps == pytest.approx([0.1, 0.2, 0.3])
    assert description.of(pl.Load)["wind"].breaks == (0.05, 0.3)
    for breaks, told in (
        ("[0.3, 0.2]", "increasing"),
        ("[0.5]", "length 0.4"),
        ("0.1", "increasing"),
    ):
        file.write_text(FILE.format(breaks=breaks), encoding="utf-8")
        with pytest.raises(pl.PliantError, match=f"breaks.*{told}") as caught:
            pl.Robot.from_file(file)
        assert "robot.yaml:8" in str(caught.value)


# -- studies --------------------------------------------------------------------------------------


def test_an_equilibrium_does_not_start_one_with_other_knots() -> None:
    """A chamber over part of a rod adds knots: its coordinates are no longer those of before."""
    robot = pl.Robot()
    robot.add_rod("arm", LENGTH, pl.Circle(0.01), SOFT)
    before = robot.statics()
    robot.add_chamber("air", "arm", area=1e-5, offset=(0.004, 0.0), over=(0.05, 0.23))
    with pytest.raises(pl.PliantError):
        robot.statics({"air": 1e4}, start=before)


@pytest.mark.parametrize("form", [pl.BSpline(), pl.Shooting()], ids=repr)
def test_parameters_of_a_stepped_rod_are_fitted(form: Any) -> None:
    def make(E: float, length: float) -> pl.Robot:
        robot = pl.Robot()
        material = pl.Material(E=E, nu=0.45, rho=1000.0)
        section = pl.Circle(lambda s: 0.012 if s < 0.1703 else 0.008)
        arm = robot.add_rod("arm", length, section, material, pl.along("x"))
        robot.add_load("lift", arm.tip, force=(0.0, 0.01, 0.04))
        return robot

    truth, factors = make(8e5, 0.4), [-1.0, 0.0, 1.0, 2.0]
    tips = [truth.statics({"lift": f}, form).tip("arm")[:3, 3] for f in factors]
    columns = {f"arm.tip.{axis}": np.array(tips)[:, k] for k, axis in enumerate("xyz")}
    data = pl.Measurement({"lift": factors, **columns})
    start = make(1.2e6, 0.43)
    fitted = pl.fit(start, data, ["arm.material.E", "arm.length"], formulation=form)
    assert fitted.values["arm.material.E"] == pytest.approx(8e5, rel=1e-5)
    assert fitted.values["arm.length"] == pytest.approx(0.4, rel=1e-6)


def test_the_arrow_of_a_line_load_shows_the_whole_of_a_peak() -> None:
    robot = pl.Robot()
    robot.add_rod("arm", LENGTH, pl.Circle(0.01), SOFT)
    w = 0.002 * LENGTH
    load = robot.add_load(
        "peak", "arm", force=lambda s: (0.0, float(np.exp(-(((s - 0.1703) / w) ** 2))), 0.0)
    )

    class Placed:
        def input(self, name: str) -> float:
            return 1.0

        def length(self, part: str) -> float:
            return LENGTH

        def frame(self, frame: pl.Frame) -> np.ndarray:
            return np.eye(4)

    moment, force = load.drawing(Placed())  # type: ignore[arg-type]
    assert force.vector == pytest.approx([0.0, np.sqrt(np.pi) * w, 0.0], rel=1e-4)
    assert not np.any(moment.vector)
