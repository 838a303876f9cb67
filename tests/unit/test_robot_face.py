"""The public face: a robot described in a few lines, solved, moved, and shaken."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

SMALL = pl.BSpline(degree=3, points=6)
SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0)


def cantilever(**more: object) -> tuple[pl.Robot, pl.Rod]:
    robot = pl.Robot()
    options = {
        "length": 0.3,
        "section": pl.Circle(0.01),
        "material": SOFT,
        "pose": pl.along("x"),
        "formulation": SMALL,
        **more,
    }
    return robot, robot.add_rod("arm", **options)


@pytest.fixture(scope="module")
def arm() -> pl.Robot:
    robot, rod = cantilever()
    robot.add_load("push", on=rod.tip, force=(0, 0, -0.1))
    return robot


def test_cantilever_sags_and_names_how_it_was_solved(arm: pl.Robot) -> None:
    still = arm.statics()
    assert still.tip("arm")[2, 3] == pytest.approx(-0.22885, abs=2e-4)
    assert still.formulation == {"arm": repr(SMALL)}
    assert still.stable and still.residual < 1e-10 and still.iterations < 9


def test_defaults_are_splines_and_for_kirchhoff_rods_strain_modes() -> None:
    robot = pl.Robot()
    first = robot.add_rod("a", 0.3, pl.Circle(0.01), SOFT)
    robot.add_rod("b", 0.3, pl.Circle(0.01), SOFT, base=first.tip, theory="kirchhoff")
    from pliant.solve.compiled import choose_formulations

    chosen = choose_formulations(robot.description, None)
    assert chosen == {"a": pl.BSpline(3, 15), "b": pl.Strain(2, 6)}
    given = choose_formulations(robot.description, {"a": SMALL})
    assert given["a"] == SMALL and given["b"] == pl.Strain(2, 6)


def test_inputs_scale_replace_and_default(arm: pl.Robot) -> None:
    half = arm.statics({"push": 0.5}).tip("arm")
    same = arm.statics({"push": (0, 0, -0.05)}).tip("arm")
    also = arm.statics({"push": (0, 0, 0, 0, 0, -0.05)}).tip("arm")
    np.testing.assert_allclose(half, same, atol=1e-12)
    np.testing.assert_allclose(half, also, atol=1e-12)


def test_what_was_compiled_is_kept_until_a_part_is_added() -> None:
    robot, rod = cantilever()
    first = robot.statics()._compiled
    assert robot.statics()._compiled is first
    robot.add_load("wind", on=rod, force=(0, 0.2, 0))
    second = robot.statics()
    assert second._compiled is not first
    assert second.tip("arm")[1, 3] > 0.01
    assert list(first.description.loads) == []


def test_statics_follows_the_branch_from_an_equilibrium(arm: pl.Robot) -> None:
    half = arm.statics({"push": 0.5})
    whole = arm.statics(start=half)
    np.testing.assert_allclose(whole.tip("arm"), arm.statics().tip("arm"), atol=1e-9)
    assert arm.statics(start=whole).iterations <= 1


def test_an_equilibrium_survives_a_load_added_later() -> None:
    robot, rod = cantilever()
    sag = robot.statics()
    robot.add_load("push", on=rod.tip, force=(0, 0.05, 0))
    found = robot.statics(start=sag)
    np.testing.assert_allclose(found.tip("arm"), robot.statics().tip("arm"), atol=1e-9)


def test_progress_of_statics_ends_at_the_full_load(arm: pl.Robot) -> None:
    seen: list[float] = []
    arm.statics(progress=lambda level, count, residual: seen.append(level))
    assert seen[-1] == 1.0


def test_robot_at_its_equilibrium_stays_there(arm: pl.Robot) -> None:
    move = arm.simulate(0.1, dt=0.02, start="statics")
    tips = move.tip("arm")
    np.testing.assert_allclose(tips, np.broadcast_to(tips[0], tips.shape), atol=1e-7)
    assert move.t.tolist() == pytest.approx([0, 0.02, 0.04, 0.06, 0.08, 0.1])
    assert move.complete and move.steps == 5


def test_released_arm_swings_and_keeps_its_energy(arm: pl.Robot) -> None:
    move = arm.simulate(0.2, dt=0.002, inputs={"push": 0.0}, start=arm.statics())
    parts = move.energy
    assert parts["kinetic"].max() > 1e-4
    assert np.abs(parts["work"]).max() == 0.0
    assert np.abs(parts["balance"]).max() < 2e-3 * parts["kinetic"].max()
    np.testing.assert_allclose(
        parts["total"], parts["kinetic"] + parts["elastic"] + parts["gravity"]
    )


def test_work_of_a_moving_input_is_booked(arm: pl.Robot) -> None:
    move = arm.simulate(
        0.2, dt=0.002, inputs={"push": pl.Ramp(0.0, 5.0, 0.0, 0.1)}, start="statics"
    )
    assert move.inputs["push"][[0, -1]].tolist() == [0.0, 5.0]
    parts = move.energy
    assert parts["work"][-1] > 1e-3
    assert abs(parts["balance"][-1]) < 5e-3 * parts["work"][-1]


def test_motion_continues_from_a_motion(arm: pl.Robot) -> None:
    whole = arm.simulate(0.1, dt=0.005, inputs={"push": 0.0}, start="rest")
    first = arm.simulate(0.05, dt=0.005, inputs={"push": 0.0}, start="rest", output_times=[0.02])
    second = arm.simulate(0.05, dt=0.005, inputs={"push": 0.0}, start=first)
    np.testing.assert_allclose(second.tip("arm")[-1], whole.tip("arm")[-1], atol=1e-5)


def test_outputs_at_chosen_times_lie_on_the_motion(arm: pl.Robot) -> None:
    options = {"duration": 0.1, "dt": 0.005, "inputs": {"push": 0.0}, "start": "rest"}
    fine = arm.simulate(**options)
    some = arm.simulate(**options, output_times=[0.0, 0.0325, 0.0975])
    assert some.t.tolist() == [0.0, 0.0325, 0.0975]
    track = fine.tip("arm")[:, 2, 3]
    for t, z in zip(some.t[1:], some.tip("arm")[1:, 2, 3], strict=True):
        k = round(t / 0.005 - 0.5)
        low, high = sorted((track[k], track[k + 1]))
        assert low - 1e-6 < z < high + 1e-6
    every = arm.simulate(**options, output_every=0.03)
    assert every.t.tolist() == pytest.approx([0.0, 0.03, 0.06, 0.09, 0.1])
    np.testing.assert_allclose(every.tip("arm")[-1], fine.tip("arm")[-1], atol=1e-12)


def test_velocity_given_along_the_rod_is_the_velocity_at_the_start() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_rod("stick", 0.3, pl.Circle(0.01), SOFT, base=None, formulation=SMALL)
    twist = (0.0, 0.0, 0.0, 0.1, 0.0, 0.2)
    move = robot.simulate(0.1, dt=0.05, velocity={"stick": twist})
    np.testing.assert_allclose(move.velocity("stick", [0.0, 0.3])[0], [twist, twist], atol=1e-9)
    np.testing.assert_allclose(move.tip("stick")[-1, :3, 3], (0.01, 0.0, 0.32), atol=1e-7)


def test_clamped_rod_follows_a_velocity_that_vanishes_at_its_base(arm: pl.Robot) -> None:
    move = arm.simulate(0.01, dt=0.01, velocity={"arm": lambda s: (0, 0, 0, 0, 10 * s**2, 0)})
    assert move.velocity("arm", 0.3)[0, 4] == pytest.approx(0.9, rel=0.02)


def test_free_rod_has_six_rigid_modes() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_rod("stick", 0.5, pl.Circle(0.005), SOFT, base=None, formulation=pl.BSpline(3, 8))
    found = robot.modes(count=8)
    assert found.frequencies[:6].tolist() == [0.0] * 6
    beam = 22.3733 / (2 * np.pi) * np.sqrt(1e6 * 0.005**2 / 4 / 1000.0) / 0.5**2
    assert found.frequencies[6:] == pytest.approx([beam, beam], rel=0.01)


def test_clamping_the_tip_raises_the_frequency_as_beam_theory_says() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("beam", 0.5, pl.Circle(0.005), SOFT, formulation=pl.BSpline(3, 8))
    free = robot.modes(count=2).frequencies
    robot.add_constraint("end", on=rod.tip)
    held = robot.modes(count=2).frequencies
    assert held / free == pytest.approx([22.3733 / 3.51602] * 2, rel=0.01)


def test_few_and_many_coordinates_give_the_same_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, rod = cantilever()
    robot.add_constraint("end", on=rod.tip, kind="articulated")
    still = robot.statics()
    dense = robot.modes(4, at=still)
    monkeypatch.setattr("pliant.solve.modes.DENSE", 0)
    sparse = robot.modes(4, at=still)
    np.testing.assert_allclose(sparse.frequencies, dense.frequencies, rtol=1e-7)


def test_ctrl_c_returns_the_motion_so_far(arm: pl.Robot) -> None:
    def stop(t: float, duration: float) -> None:
        if t > 0.045:
            raise KeyboardInterrupt

    move = arm.simulate(1.0, dt=0.01, progress=stop)
    assert not move.complete
    assert move.t[-1] == pytest.approx(0.05) and len(move.tip("arm")) == 6
    assert "incomplete" in move.summary()


def test_ctrl_c_before_the_first_output_returns_a_motion_without_states(arm: pl.Robot) -> None:
    def stop(t: float, duration: float) -> None:
        raise KeyboardInterrupt

    move = arm.simulate(1.0, dt=0.01, progress=stop, output_times=[1.0])
    assert not move.complete and len(move.t) == 0
    assert move.tip("arm").shape == (0, 4, 4) and "incomplete" in move.summary()


def test_a_step_that_fails_hands_over_the_motion_so_far(arm: pl.Robot) -> None:
    from pliant.solve.integrators.contract import StepError, Stepper
    from pliant.solve.integrators.variational import OwnEndsStepper

    class Tired(OwnEndsStepper):
        """After three steps of its kind none succeeds, however short."""

        strength = 3

        def take(self, rows: np.ndarray, wanted: object = None) -> int:
            some = slice(0, Tired.strength)
            Tired.strength -= super().take(rows[some], None if wanted is None else wanted[some])
            if self.done < len(rows):
                raise StepError("a time step of 0.01 s failed: too tired; try a smaller dt")
            return self.done

    class Lazy(pl.Integrator):
        def stepper(self, effects: object, h: float) -> Stepper:
            return Tired(effects, h, 1e-9, 0.5)  # type: ignore[arg-type]

    with pytest.raises(
        pl.ConvergenceError, match=r"stopped at t = 0\.03 s of 1 s.*tired"
    ) as caught:
        arm.simulate(1.0, dt=0.01, integrator=Lazy())
    last = caught.value.last
    assert isinstance(last, pl.Motion) and not last.complete
    assert last.t.tolist() == pytest.approx([0.0, 0.01, 0.02, 0.03])


def test_load_beyond_every_equilibrium_hands_over_the_last_good_one() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("wire", 0.3, pl.Circle(0.01), SOFT, formulation=SMALL)
    robot.add_load("crush", on=rod.tip, force=(0, 0, 300), frame="body")
    robot.add_load("wind", on=rod, force=(1e4, 0, 0), frame="body")
    try:
        robot.statics()
    except pl.ConvergenceError as error:
        assert isinstance(error.last, pl.Equilibrium)
        assert 0.0 <= error.last.level < 1.0
        assert np.isfinite(error.last.tip("wire")).all()


def test_robot_file_and_python_agree(tmp_path: object) -> None:
    from pathlib import Path

    file = Path(str(tmp_path)) / "arm.yaml"
    file.write_text(
        "rods: {arm: {length: 0.3, section: {circle: {radius: 0.01}}, pose: {along: x},"
        " material: {E: 1e6, nu: 0.5, rho: 1000}, formulation: {bspline: {points: 6}}}}\n"
        "loads: {push: {on: {part: arm, at: tip}, force: [0, 0, -0.2]}}\n"
        "inputs: {push: {ramp: {start: 0.5, end: 1.0, t0: 0, t1: 1}}}\n"
    )
    robot, rod = cantilever()
    robot.add_load("push", on=rod.tip, force=(0, 0, -0.1))
    loaded = pl.Robot.from_file(file)
    np.testing.assert_allclose(loaded.statics().tip("arm"), robot.statics().tip("arm"), atol=1e-12)


def test_registries_hold_what_files_may_name() -> None:
    maps = {"ANCF", "BSpline", "EBA", "EBR", "Hermite", "ROM", "SRL", "Spectral", "Strain"}
    assert set(pl.formulations()) == maps | {"Collocation", "MultipleShooting", "Shooting"}
    names = {"BDFAlpha", "Midpoint", "Variational", "Newmark", "GeneralizedAlpha", "ImplicitEuler"}
    assert set(pl.integrators()) == names | {"BDF", "Explicit", "Radau"}
    assert "Robot" in dir(pl) and "Robot" in pl.__all__
