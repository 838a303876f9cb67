"""Results answer the same questions whatever was solved, and can be saved and drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl

SMALL = pl.BSpline(degree=3, points=6)
SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=100.0)


@pytest.fixture(scope="module")
def robot() -> pl.Robot:
    found = pl.Robot()
    arm = found.add_rod("arm", 0.2, pl.Circle(0.01), SOFT, pose=pl.along("x"), formulation=SMALL)
    found.add_rod("hand", 0.1, pl.Circle(0.008), SOFT, base=arm.tip, formulation=SMALL)
    found.add_load("push", on=pl.Frame("hand", 0.1, (0.0, 0.004)), force=(0, 0.02, 0))
    found.add_load("wind", on=arm, force=(0, 0.1, 0))
    return found


@pytest.fixture(scope="module")
def still(robot: pl.Robot) -> pl.Equilibrium:
    return robot.statics()


@pytest.fixture(scope="module")
def move(robot: pl.Robot, still: pl.Equilibrium) -> pl.Motion:
    return robot.simulate(0.04, dt=0.01, inputs={"push": 0.0}, start=still)


def test_shapes_follow_the_arclengths_asked_for(still: pl.Equilibrium, move: pl.Motion) -> None:
    assert still.pose("arm", 0.1).shape == (4, 4)
    assert still.position("arm", [0.0, 0.1]).shape == (2, 3)
    assert still.strain("arm", np.zeros((2, 3))).shape == (2, 3, 6)
    assert still.wrench("arm", []).shape == (0, 6)
    assert move.pose("arm", 0.1).shape == (5, 4, 4)
    assert move.velocity("arm", [0.0, 0.1]).shape == (5, 2, 6)
    assert move.wrench("hand", np.zeros((2, 3))).shape == (5, 2, 3, 6)
    np.testing.assert_array_equal(still.tip("arm"), still.pose("arm", 0.2))


def test_rods_meet_where_one_carries_the_other(still: pl.Equilibrium) -> None:
    np.testing.assert_allclose(still.pose("hand", 0.0), still.tip("arm"), atol=1e-12)


def test_wrench_balances_the_reaction_at_the_base(still: pl.Equilibrium) -> None:
    np.testing.assert_allclose(still.wrench("arm", 0.0), -still.reactions["arm"], atol=2e-6)


def test_wrench_at_the_tip_is_the_load_there(still: pl.Equilibrium) -> None:
    R = still.tip("hand")[:3, :3]
    force = R.T @ (0, 0.02, 0)
    expected = np.r_[np.cross((0.0, 0.004, 0.0), force), force]
    np.testing.assert_allclose(still.wrench("hand", 0.1), expected, atol=1e-12)


def test_moments_by_law_and_by_balance_agree(still: pl.Equilibrium) -> None:
    s = np.linspace(0.0, 0.2, 5)
    law, balance = still.wrench("arm", s, by="law"), still.wrench("arm", s)
    np.testing.assert_allclose(law[:, :3], balance[:, :3], atol=0.02 * np.abs(balance).max())


def test_wrench_of_a_kirchhoff_rod_has_its_force() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod(
        "wire", 0.3, pl.Circle(0.01), SOFT, theory="kirchhoff", formulation=pl.Strain(1, 2)
    )
    robot.add_load("pull", on=rod.tip, force=(0.05, 0, 0.1))
    still = robot.statics()
    R = still.pose("wire", 0.1)[:3, :3]
    np.testing.assert_allclose(still.wrench("wire", 0.1)[3:], R.T @ (0.05, 0, 0.1), atol=1e-12)
    assert still.wrench("wire", 0.1, by="law")[3:].tolist() == [0.0, 0.0, 0.0]


def test_wrench_sees_a_constraint_at_the_tip() -> None:
    robot = pl.Robot()
    rod = robot.add_rod("beam", 0.3, pl.Circle(0.01), SOFT, pose=pl.along("x"), formulation=SMALL)
    robot.add_constraint("pin", on=rod.tip, kind="articulated")
    still = robot.statics()
    np.testing.assert_allclose(still.wrench("beam", 0.0), -still.reactions["beam"], atol=2e-6)
    weight = 0.3 * np.pi * 0.01**2 * 1000 * 9.81
    base = rod.pose[:3, :3] @ still.reactions["beam"][3:]
    # the pin is held to the tip frame of the undeformed robot, whose local x points down
    assert base[2] - still.reactions["pin"][3] == pytest.approx(weight, rel=1e-6)


def test_energy_parts_add_up(still: pl.Equilibrium, move: pl.Motion) -> None:
    parts = still.energy
    assert parts["total"] == pytest.approx(parts["elastic"] + parts["gravity"] + parts["loads"])
    assert move.energy["elastic"][0] == pytest.approx(parts["elastic"])
    assert move.energy["dissipated"][-1] > 0


def test_velocity_is_the_rate_of_the_pose(robot: pl.Robot, still: pl.Equilibrium) -> None:
    move = robot.simulate(0.02, dt=0.001, inputs={"push": 0.0}, start=still)
    p = move.tip("hand")[:, :3, 3]
    rate = (p[12] - p[10]) / 0.002
    world = move.tip("hand")[11, :3, :3] @ move.velocity("hand", 0.1)[11, 3:]
    np.testing.assert_allclose(world, rate, atol=0.02 * np.linalg.norm(rate))


def test_wrench_in_motion_has_its_viscous_part(robot: pl.Robot, still: pl.Equilibrium) -> None:
    move = robot.simulate(0.042, dt=0.001, inputs={"push": 0.0}, start=still)
    strain = move.strain("arm", 0.05)[:, 0]
    rod = robot.description.rods["arm"]
    stiffness, damping = rod.stiffness([0.05])[0, 0], rod.damping([0.05])[0, 0]
    rate = (strain[41] - strain[39]) / 0.002
    viscous = move.wrench("arm", 0.05, by="law")[40, 0] - stiffness * strain[40]
    assert viscous == pytest.approx(damping * rate, rel=0.05)


def test_straight_column_is_unstable_beyond_eulers_load() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("column", 0.3, pl.Circle(0.003), SOFT, formulation=pl.BSpline(3, 8))
    euler = np.pi**2 * 1e6 * np.pi * 0.003**4 / 4 / (4 * 0.3**2)
    robot.add_load("press", on=rod.tip, force=(0, 0, -euler))
    assert robot.statics({"press": 0.98}).stable
    low = robot.modes(2, inputs={"press": 0.98})
    assert 0 < low.frequencies[0] < 0.2 * robot.modes(2, inputs={"press": 0.0}).frequencies[0]
    assert not low.growth.any()


def test_stability_under_follower_loads_comes_from_the_motion() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("column", 0.3, pl.Circle(0.003), SOFT, formulation=pl.BSpline(3, 8))
    # Beck's column flutters at 20.05 EI / L^2
    beck = 20.05 * 1e6 * np.pi * 0.003**4 / 4 / 0.3**2
    robot.add_load("jet", on=rod.tip, force=(0, 0, -beck), frame="body")
    assert robot.statics({"jet": 0.95}).stable is True
    above = robot.statics({"jet": 1.06})
    assert above.stable is False
    assert "grows" in above.stability_note


def test_stability_of_a_massless_rod_under_a_follower_load_is_unknown() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("a", 0.3, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5), formulation=SMALL)
    robot.add_load("jet", on=rod.tip, force=(0.01, 0, 0), frame="body")
    still = robot.statics()
    assert still.stable is None and "density" in still.stability_note


def test_modes_have_unit_mass_and_are_orthogonal(robot: pl.Robot, still: pl.Equilibrium) -> None:
    found = robot.modes(3, at=still)
    gram = np.zeros((3, 3))
    for part in still._compiled.effects.tree.parts:
        twists = np.array([found.shape(k, part.name, part.mass_s) for k in range(3)])
        gram += np.einsum("asi,si,bsi->ab", twists, part.M, twists)
    np.testing.assert_allclose(gram, np.eye(3), atol=1e-9)
    assert (np.diff(found.frequencies) >= 0).all()


def test_saved_results_come_back_with_labels(
    robot: pl.Robot, still: pl.Equilibrium, move: pl.Motion, tmp_path: Path
) -> None:
    back = pl.load(still.save(tmp_path / "deep" / "still.nc"))
    tip = back.position.sel(rod="hand").isel(station=-1)
    np.testing.assert_array_equal(tip, still.tip("hand")[:3, 3])
    assert back.s.sel(rod="arm").values[-1] == 0.2
    assert back.reaction.sel(support="arm", wrench_part="nz") == still.reactions["arm"][5]
    assert back.attrs["stable"] == "yes" and "BSpline" in back.attrs["formulation"]
    back = pl.load(move.save(tmp_path / "move.nc"))
    np.testing.assert_array_equal(back.time, move.t)
    np.testing.assert_array_equal(back.energy.sel(energy_part="kinetic"), move.energy["kinetic"])
    assert back.attrs["complete"] == "yes" and (back.input_push == 0.0).all()
    found = robot.modes(3, at=still)
    back = pl.load(found.save(tmp_path / "modes.nc"))
    np.testing.assert_array_equal(back.frequency, found.frequencies)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep", "modes.nc", "move.nc"]


def test_failed_save_leaves_the_old_file_and_no_other(
    still: pl.Equilibrium, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = still.save(tmp_path / "still.nc")
    before = file.read_bytes()

    def fail(*args: object, **more: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("xarray.Dataset.to_netcdf", fail)
    with pytest.raises(OSError, match="disk full"):
        still.save(file)
    assert file.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_results_draw_themselves(
    robot: pl.Robot, still: pl.Equilibrium, move: pl.Motion, tmp_path: Path
) -> None:
    found = robot.modes(2, at=still)
    for name, result in (("still", still), ("move", move), ("modes", found)):
        figure = result.plot(tmp_path / f"{name}.png")
        assert figure.axes and (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert move.animate(tmp_path / "move.gif").stat().st_size > 10_000


def test_summaries_say_what_was_found(
    robot: pl.Robot, still: pl.Equilibrium, move: pl.Motion
) -> None:
    text = still.summary()
    for word in ("tip of hand", "BSpline", "elastic", "iterations", "stable"):
        assert word in text
    assert "Midpoint" in move.summary() and "kinetic" in move.summary()
    assert "Hz" in robot.modes(2, at=still).summary()
    assert "arm" in repr(still) and "steps" in repr(move)
