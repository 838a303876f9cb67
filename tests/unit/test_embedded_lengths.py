"""Tendons embedded in rods and driven by their length: taut, slack, stretched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.physics.effects import effects_of
from pliant.physics.embedded_rows import ChannelRow
from pliant.tree.state import State

SILICONE = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e3)
LENGTH, X, PULL = 0.3, 0.007, 5.0
FORMULATIONS: dict[str, Any] = {
    "bspline": pl.BSpline(3, 8),
    "hermite": pl.Hermite(4),
    "strain": pl.Strain(2, 3),
    "planar": pl.ANCF(8),
}


def helix(s: float) -> tuple[float, float]:
    return X * np.cos(20.0 * s), X * np.sin(20.0 * s)


def arm(
    offset: Any = (X, 0.0), gravity: tuple[float, float, float] = (0, 0, 0), **tendon: Any
) -> tuple[pl.Robot, pl.Rod]:
    robot = pl.Robot(gravity=gravity)
    rod = robot.add_rod("arm", LENGTH, pl.Circle(0.01), SILICONE, pose=pl.along("x"))
    if tendon:
        robot.add_tendon("pull", along=rod, offset=offset, **tendon)
    return robot, rod


@pytest.mark.parametrize("stiffness", [None, 200.0])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_pulled_length_has_the_tension_that_pulls_as_much(
    name: str, stiffness: float | None
) -> None:
    offset = (X, 0.0) if name == "planar" else helix
    by_force = arm(offset, drive="tension")[0].statics({"pull": PULL}, FORMULATIONS[name])
    robot, _ = arm(offset, drive="length", stiffness=stiffness)
    rest = robot.statics({"pull": 0.0}, FORMULATIONS[name]).tendon_length("pull")
    stretch = 0.0 if stiffness is None else PULL / stiffness * rest
    pulled = float(rest - by_force.tendon_length("pull") + stretch)
    still = robot.statics({"pull": pulled}, FORMULATIONS[name])
    assert still.tension("pull") == pytest.approx(PULL, rel=1e-6)
    assert still.tip("arm") == pytest.approx(by_force.tip("arm"), abs=1e-7)
    assert still.slack("pull") == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("stiffness", [None, 1e4])
def test_slack_tendon_does_nothing(stiffness: float | None) -> None:
    """Paid out, it leaves the arm to its weight; above the rod it would carry part of it."""
    weight = (0.0, 0.0, -2.0)
    sagging = arm(gravity=weight)[0].statics().tip("arm")
    above, _ = arm((-X, 0.0), gravity=weight, drive="length", stiffness=stiffness)
    loose = above.statics({"pull": -0.02})
    assert loose.tension("pull") == 0.0
    assert loose.slack("pull") > 0.01
    assert loose.tip("arm") == pytest.approx(sagging, abs=1e-9)
    taut = above.statics({"pull": 0.0})
    assert taut.tension("pull") > 0.8
    assert taut.tip("arm")[2, 3] > 0.8 * sagging[2, 3]
    longer, _ = arm((-X, 0.0), weight, drive="length", stiffness=stiffness, slack=0.02)
    near = 1e-7 if stiffness is None else 1e-3  # a longer tendon stretches more
    assert longer.statics({"pull": 0.02}).tip("arm") == pytest.approx(taut.tip("arm"), abs=near)


@pytest.mark.parametrize("name", [*FORMULATIONS, "joined"])
def test_row_is_the_derivative_of_the_length(name: str) -> None:
    robot, rod = arm(**({} if name == "joined" else {"drive": "length"}))
    kind, along, offset = FORMULATIONS.get(name, pl.BSpline(3, 6)), [rod], (X, 0.0)
    if name == "joined":
        plate = robot.add_body("plate", 0.01, (1e-6, 1e-6, 1e-6), on=rod.tip)
        place = plate.at((0.002, 0, 0.01))
        along.append(robot.add_rod("upper", 0.1, pl.Circle(0.01), SILICONE, base=place))
        robot.add_tendon("pull", along=along, offset=offset, drive="length")
    effects = effects_of(robot.description, {rod.name: kind for rod in along})
    tree, rng = effects.tree, np.random.default_rng(3)
    x = np.zeros(tree.total)
    x[tree.coordinates] = rng.normal(size=len(tree.coordinates))
    x[tree.prescribed] = 0.3
    size = 0.002 if name == "planar" else 0.02
    state = State(tree).place(tree.moved(tree.rest, size * x))
    (row,) = effects.of_kind(ChannelRow)
    h = 1e-6
    gaps = [row.gaps(State(tree).place(tree.moved(state, k * h * x)))[0] for k in (-1, 1)]
    slope = float((row.jacobian(state) @ x[row.columns])[0])
    assert slope == pytest.approx((gaps[1] - gaps[0]) / (2 * h), rel=1e-5)


@pytest.mark.parametrize(
    ("integrator", "stiffness", "gap"),
    [
        (pl.Midpoint(), None, 1.5e-3),
        (pl.Newmark(), None, 2e-5),
        (pl.Midpoint(), 200.0, 1e-6),
        (pl.GeneralizedAlpha(0.8), 200.0, 1e-5),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_work_of_the_reel_balances_in_motion(
    integrator: Any, stiffness: float | None, gap: float
) -> None:
    robot, _ = arm(drive="length", stiffness=stiffness)

    def pulled(t: float) -> float:
        x = min(t / 0.1, 1.0)
        return 0.0143 * (3 * x**2 - 2 * x**3)

    motion = robot.simulate(
        0.15, 1e-3, {"pull": pulled}, integrator=integrator, formulation=pl.BSpline(3, 8)
    )
    assert motion.energy_gap.share_taken < gap
    if stiffness is None:
        lengths = LENGTH - np.array([pulled(t) for t in motion.t])
        assert motion.tendon_length("pull") == pytest.approx(lengths, abs=1e-8)


def test_via_points_converge_to_the_embedded_tendon() -> None:
    """Chords of an arc: the length, and with it the tip, are off by the square of their spacing."""
    truth = arm(drive="tension")[0].statics({"pull": PULL}, pl.BSpline(4, 30)).tip("arm")[:3, 3]
    gaps = []
    for spans in (8, 16, 32):
        robot, rod = arm()
        path = [rod.at(s, (X, 0)) for s in np.linspace(0, LENGTH, spans + 1)]
        robot.add_tendon("pull", path=path)
        still = robot.statics({"pull": PULL}, pl.Strain(1, 32))
        gaps.append(np.linalg.norm(still.tip("arm")[:3, 3] - truth))
    orders = np.log2(np.array(gaps[:-1]) / gaps[1:])
    assert orders == pytest.approx([2.0, 2.0], abs=0.15)
    assert gaps[-1] < 4e-3 * LENGTH


def test_file_keeps_the_drive(tmp_path: Path) -> None:
    robot, _ = arm(drive="length", stiffness=1e3, slack=0.001)
    robot.save(tmp_path / "arm.yaml")
    again = pl.Robot.from_file(tmp_path / "arm.yaml")
    both = [one.statics({"pull": 0.01}).tip("arm") for one in (robot, again)]
    assert both[0] == pytest.approx(both[1], abs=1e-12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stiffness": 1e3}, "stiffness.*left out for drive='tension'"),
        ({"slack": 0.1}, "slack.*left out for drive='tension'"),
        ({"drive": "length", "tension": 1.0}, "tension.*left out for drive='length'"),
        ({"drive": "length", "friction": 0.1}, "stiffness.*friction and drive='length'"),
        ({"drive": "none"}, "drive.*tension"),
    ],
)
def test_drives_and_fields_that_contradict_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        arm(**given)
    strong, _ = arm(drive="length")
    with pytest.raises(pl.DescriptionError, match="strong forms do not carry"):
        strong.statics({}, pl.Shooting())


@pytest.mark.parametrize("drive", ["tension", "length"])
@pytest.mark.filterwarnings("ignore::pliant.ResolutionWarning")
def test_estimated_error_is_that_of_the_shape(drive: str) -> None:
    robot, _ = arm(lambda s: helix(2.0 * s), drive=drive)
    pull = {"pull": 0.01 if drive == "length" else PULL}
    still = robot.statics(pull, pl.BSpline(3, 8))
    truth = robot.statics(pull, pl.BSpline(4, 40)).position("arm")
    off = np.linalg.norm(still.position("arm") - truth, axis=1).max()
    assert off > 1e-4
    assert 0.5 < still.error.shape / off < 3.0


@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_reel_on_a_rod_that_swings_takes_few_iterations(friction: float) -> None:
    """The reel is far away: its pull must not turn the rod on which it stands within a step."""
    soft = pl.Material(E=1e7, nu=0.45, rho=1000.0, viscosity=1e3)
    robot = pl.Robot()
    lower = robot.add_rod("lower", 0.2, pl.Circle(0.01), soft, pl.along("x"))
    ball = pl.Spherical(stiffness=0.1, damping=1e-4)
    upper = robot.add_rod("upper", 0.12, pl.Circle(0.005), soft, base=lower.tip, joint=ball)
    more = {"drive": "length", "stiffness": 200.0, "friction": friction, "creep": 0.02}
    robot.add_tendon("pull", along=upper, offset=(0.003, 0.002), **more)
    pull = {"pull": lambda t: 0.15 * min(t, 0.02)}
    form = pl.BSpline(3, 8)
    motion = robot.simulate(0.02, 5e-4, pull, formulation=form, integrator=pl.Midpoint())
    assert motion.iterations < 8 * motion.steps
    assert motion.energy_gap.share_taken < 1e-3 and motion.energy_gap.share_added < 1e-3
