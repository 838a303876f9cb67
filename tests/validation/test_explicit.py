"""Explicit steps on lumped nodes: their order, what they keep, and what they agree with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.solve.integrators.explicit import ExplicitStepper
from pliant.solve.integrators.lumped.chebyshev import coefficients, stages_for
from tests.reference.euler_top import free_body

FLOOR = pl.Plane((0.0, 0.0, -1.0), (0.0, 0.0, 1.0))
RUBBER = pl.Material(E=1e6, nu=0.4, rho=1000.0)
Robot = Callable[..., tuple[pl.Robot, dict[str, Any]]]


def cantilever(material: pl.Material = RUBBER) -> tuple[pl.Robot, dict[str, Any]]:
    """A curved, twisted rod of unequal stiffness that spins, with a body beside its tip."""
    robot = pl.Robot(gravity=(1.0, 2.0, -9.81))
    section = pl.Rectangle(0.01, 0.016)
    arm = robot.add_rod("arm", 0.3, section, material, pl.along("x"), natural=(3.0, 1.0, 2.0))
    inertia, centre = (2e-6, 3e-6, 4e-6), (0.004, 0.003, 0.006)
    robot.add_body("camera", 0.01, inertia, on=arm.tip, centre=centre)
    return robot, {"arm": lambda s: np.array([5.0 * s, 3.0 * s, 100.0 * s, 0.0, 0.0, 0.0])}


def free_parts() -> tuple[pl.Robot, dict[str, Any]]:
    """A spinning rod and a tumbling body in space."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    robot.add_rod("arm", 0.3, pl.Rectangle(0.01, 0.03), RUBBER, base=None)
    inertia, centre = (1e-4, 2e-4, 2.5e-4), (0.01, 0.0, 0.0)
    robot.add_body("top", 0.1, inertia, centre=centre, joint=pl.Free())
    twist = np.array([5.0, 3.0, 80.0, 0.1, 0.2, 0.3])
    return robot, {"arm": lambda s: twist, "top": np.array([30.0, 1.0, 20.0, 0.1, 0.0, 0.0])}


def moved(make: Robot, safety: float, duration: float = 0.05, **more: Any) -> pl.Motion:
    robot, velocity = make(**more)
    return robot.simulate(
        duration,
        0.2 * duration,
        formulation=pl.Spectral(3, 2),
        integrator=pl.Explicit(safety),
        velocity=velocity,
    )


def end_of(motion: pl.Motion) -> Any:
    s = np.linspace(0.0, 0.3, 7)
    return np.stack(
        [motion.pose("arm", s)[-1, :, :3, 3], 0.01 * motion.velocity("arm", s)[-1, :, :3]]
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("make", [cantilever, free_parts])
def test_positions_and_velocities_are_of_fourth_order_also_with_spin(make: Robot) -> None:
    truth = end_of(moved(make, 0.015))
    errors = [np.abs(end_of(moved(make, safety)) - truth).max() for safety in (0.12, 0.06)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.15)


INSIDE = np.array([0.0037, 0.0111, 0.01113, 0.0274, 0.0399999, 0.0481])
"""Output times inside steps of 0.01 s, two of them inside one short step."""


def at_outputs(make: Robot, safety: float, **more: Any) -> pl.Motion:
    robot, velocity = make(**more)
    return robot.simulate(
        0.05,
        0.01,
        formulation=pl.Spectral(3, 2),
        integrator=pl.Explicit(safety),
        velocity=velocity,
        output_times=INSIDE,
    )


def shapes_of(motion: pl.Motion) -> Any:
    s = np.linspace(0.0, 0.3, 7)
    return np.stack([motion.pose("arm", s)[:, :, :3, 3], 0.01 * motion.velocity("arm", s)[..., :3]])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("make", [cantilever, free_parts])
def test_outputs_inside_steps_are_of_the_order_of_the_steps(make: Robot) -> None:
    truth = shapes_of(at_outputs(make, 0.015))
    errors = [np.abs(shapes_of(at_outputs(make, safety)) - truth).max() for safety in (0.12, 0.06)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.25)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_outputs_inside_steps_are_those_of_steps_that_end_there() -> None:
    robot, velocity = cantilever()
    robot.add_load("push", "arm.tip", force=(0.0, 0.2, 0.0))
    given = {"formulation": pl.Spectral(3, 2), "integrator": pl.Explicit(0.3), "velocity": velocity}
    ramp = {"push": pl.Ramp(start=0.0, end=1.0, t0=0.0, t1=0.1)}
    whole = robot.simulate(0.03, 1e-3, ramp, output_times=[0.0043, 0.01315, 0.02507], **given)
    for k, t in enumerate(whole.t):
        ended = robot.simulate(float(t), float(t) / 30, ramp, **given)
        assert whole.tip("arm")[k] == pytest.approx(ended.tip("arm")[-1], abs=2e-6)
        assert whole.inputs["push"][k] == pytest.approx(10.0 * t)
        for name in ("kinetic", "work"):
            large = whole.energy["kinetic"].max()
            assert whole.energy[name][k] == pytest.approx(ended.energy[name][-1], abs=1e-3 * large)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_damped_motions_are_of_second_order() -> None:
    damped = {"material": pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=100.0)}
    truth = end_of(moved(cantilever, 0.02, **damped))
    errors = [
        np.abs(end_of(moved(cantilever, safety, **damped)) - truth).max() for safety in (0.32, 0.16)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.25)


def test_every_viscous_wave_dies_out_in_chebyshev_steps() -> None:
    """Amplification of both roots of a wave with frequency w and retardation time h in a step h."""
    for highest in (2.0, 8.0, 30.0, 100.0):
        w = np.geomspace(1e-4, highest, 2000)
        decay, s = 0.5 * w**2, stages_for(1.1 * highest**2)
        root = np.sqrt((decay**2 - w**2).astype(complex))
        for z in (-decay + root, -decay - root):
            y0 = last = now = np.ones_like(z)
            for mu, nu, more, less, _ in coefficients(s):
                terms = (1 - mu - nu) * y0 + mu * now + nu * last
                now, last = terms + more * z * now + less * z * y0, now
            assert np.abs(now).max() < 1.0
            small = np.abs(z) < 0.1
            assert np.abs(now - np.exp(z))[small].max() < np.abs(z[small] ** 3).max()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_strong_viscosity_is_stepped_by_stages_of_second_order() -> None:
    """From rest: velocities that viscosity stops at once are not resolved by such steps."""
    damped = {"material": pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=1e4)}

    def at_rest(**more: Any) -> tuple[pl.Robot, dict[str, Any]]:
        return cantilever(**more)[0], {}

    fine, *coarse = (moved(at_rest, safety, 0.1, **damped) for safety in (0.02, 0.32, 0.16))
    assert "Chebyshev" in fine.scheme and fine.scheme in fine.summary()
    errors = [np.abs(end_of(motion) - end_of(fine)).max() for motion in coarse]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    gaps = [np.abs(motion.energy["balance"]).max() for motion in (*coarse, fine)]
    assert gaps[0] < 1e-3 * fine.energy["dissipated"][-1] and gaps[2] < 0.1 * gaps[0]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_viscous_motions_agree_with_implicit_steps_and_outputs_inside() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=2e3)
    robot.add_rod("arm", 0.5, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_contact("floor", "arm", pl.Plane((0, 0, -0.1), (0, 0, 1)), stiffness=2e3)
    tips = []
    for method, dt in ((pl.Explicit(), 0.05), (pl.Midpoint(), 1e-3)):
        motion = robot.simulate(
            0.5, dt, formulation=pl.Spectral(3, 6), integrator=method,
            output_times=np.linspace(0.0, 0.5, 12),
        )  # fmt: skip
        tips.append(motion.tip("arm")[:, :3, 3])
    assert tips[0] == pytest.approx(tips[1], abs=5e-4)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_free_rod_keeps_its_momentum_and_its_energy() -> None:
    robot, velocity = free_parts()
    robot.remove("top")
    method, given = pl.Explicit(), {"arm": velocity["arm"]}
    motion = robot.simulate(
        0.5, 0.05, formulation=pl.Spectral(3, 3), integrator=method, velocity=given
    )
    s, weights = np.polynomial.legendre.leggauss(60)
    s, weights = 0.15 * (s + 1.0), 0.15 * weights * RUBBER.rho * 0.01 * 0.03
    linear = []
    for k in range(len(motion.t)):
        g, eta = motion.pose("arm", s)[k], motion.velocity("arm", s)[k]
        linear.append(weights @ np.einsum("sij,sj->si", g[:, :3, :3], eta[:, 3:]))
    assert np.abs(np.array(linear) - linear[0]).max() < 1e-5 * np.abs(linear[0]).max()
    assert motion.energy_gap.share_taken < 1e-4


def test_momenta_of_nodes_are_kept_to_rounding() -> None:
    robot, velocity = free_parts()
    method, effects = pl.Explicit(), None
    compiled = robot._compiler.compiled(pl.Spectral(3, 3))
    effects = compiled.effects
    stepper = method.stepper(effects, 0.01)
    assert isinstance(stepper, ExplicitStepper)
    from pliant.solve.initial_conditions import coordinate_rates

    inputs = effects.at({})
    v = coordinate_rates(effects, effects.tree.q_rest, velocity, inputs)
    stepper.start(effects.tree.q_rest, v, inputs)

    def momenta() -> Any:
        found = []
        for motion in stepper.system.motions:
            at, nodes = motion.nodes.columns, motion.nodes
            nodes.write()
            V, L = motion.rates[:, :, at].transpose(0, 2, 1)
            linear = V / motion.light[0, at, None]
            R = nodes.poses[:, :3, :3]
            centre = nodes.poses[:, :3, 3] + np.einsum("nij,nj->ni", R, motion.centre[:, at].T)
            angular = np.einsum("nij,nj->ni", R, L) + np.cross(centre, linear)
            found.append(np.concatenate([linear.sum(axis=0), angular.sum(axis=0)]))
        return np.array(found)

    first = momenta()
    stepper.take(np.tile(np.zeros(stepper.after.shape), (100, 1)))
    assert np.abs(momenta() - first).max() < 1e-10 * np.abs(first).max()


def test_a_tumbling_body_follows_euler() -> None:
    moments, spin = np.array([1e-4, 2e-4, 2.5e-4]), np.array([30.0, 1.0, 20.0])
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    robot.add_body("top", 0.1, moments, joint=pl.Free())
    velocity = {"top": np.concatenate([spin, np.zeros(3)])}
    motion = robot.simulate(0.5, 1e-3, integrator=pl.Explicit(), velocity=velocity)
    poses, _ = free_body(moments, spin, motion.t)
    assert motion.pose("top") == pytest.approx(poses, abs=2e-5)


def tree() -> pl.Robot:
    """Rods on rods, also beside the axis and in mid-span, and a body with a tail."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.2, pl.Circle(0.008), RUBBER, pl.along("x"))
    thin = pl.Circle(0.006)
    robot.add_rod("left", 0.15, thin, RUBBER, pl.along("y"), base=arm.at(0.2, (0.01, 0.0)))
    robot.add_rod("right", 0.1, thin, RUBBER, pl.along("x"), base=arm.at(0.1))
    block = robot.add_body("block", 0.05, (1e-5, 2e-5, 3e-5), joint=pl.Free())
    robot.add_rod("tail", 0.2, thin, RUBBER, pl.along("y"), base=block.at((0.0, 0.0, 0.02)))
    return robot


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_trees_move_as_with_implicit_steps() -> None:
    robot, ends = tree(), []
    for method, dt in ((pl.Explicit(), 2e-3), (pl.Midpoint(), 2.5e-4)):
        motion = robot.simulate(0.05, dt, formulation=pl.Spectral(3, 4), integrator=method)
        ends.append(np.array([motion.tip(name)[-1, :3, 3] for name in robot.description.rods]))
        assert motion.energy_gap.share_taken < 1e-3
    assert ends[0] == pytest.approx(ends[1], abs=2e-5)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_energy_balances_with_inputs_and_damping() -> None:
    damped = pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=300.0)
    robot, _ = cantilever(damped)
    arm = robot.description.rods["arm"]
    robot.add_load("push", arm.tip, force=(0.0, 0.3, 0.0), frame="body")
    robot.add_chamber("air", arm, area=5e-5, offset=(0.004, 0.0))
    inputs = {"push": lambda t: np.sin(20.0 * t), "air": lambda t: 2e4 * t}
    motion = robot.simulate(
        0.1, 1e-3, inputs, formulation=pl.Spectral(3, 3), integrator=pl.Explicit()
    )
    assert motion.energy["dissipated"][-1] > 5e-5
    assert abs(motion.energy["balance"]).max() < 1e-3 * motion.energy["kinetic"].max()


def test_steps_are_shortened_once_energy_has_reached_the_grid() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 1.0, pl.Circle(0.01), soft, pl.along("x"))
    with pytest.warns(pl.ResolutionWarning, match=r"from t = [\d.]+ s on.*depends on the mesh"):
        motion = robot.simulate(
            10.0, 0.1, formulation=pl.Spectral(3, 8), integrator=pl.Explicit(0.95), output_every=0.5
        )
    assert np.abs(motion.energy["balance"]).max() < 0.01 * motion.energy["kinetic"].max()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("many", [False, True])
def test_robots_at_rest_do_not_count_as_gained_energy(many: bool) -> None:
    """Rounding errors are all that moves before the push: they ended the motion."""
    robot = pl.Robot(gravity=(0, 0, 0))
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 0, 0))
    push = {"push": lambda t: (0.0, 0.0, 0.05 * float(t > 0.3))}
    given = {"formulation": pl.Spectral(3, 16), "integrator": pl.Explicit()}
    still = robot.simulate(0.3, 8e-4, push, **given)
    assert still.energy["kinetic"].max() < 1e-15 and "0.0002 s" in still.scheme
    if many:
        motions = pl.simulate_many([robot, robot], 0.3, 8e-4, **given)
        assert all("0.0002 s" in motion.scheme for motion in motions)
    else:
        moves = robot.simulate(0.4, 8e-4, push, **given)
        assert moves.energy["kinetic"].max() > 1e-5


def test_inputs_that_change_and_damping_do_not_count_as_gained_energy() -> None:
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1000.0)
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_tendon("pull", path=[arm.at(s, (0.007, 0.0)) for s in np.linspace(0.0, 0.3, 4)])
    pull = {"pull": pl.Ramp(start=0.0, end=3.0, t0=0.0, t1=0.1)}
    ends = []
    for method, dt in ((pl.Explicit(), 0.01), (pl.GeneralizedAlpha(), 1e-3)):
        motion = robot.simulate(0.15, dt, pull, formulation=pl.Spectral(2, 3), integrator=method)
        ends.append(motion.tip("arm")[-1, :3, 3])
    assert ends[0] == pytest.approx(ends[1], abs=3e-4)


def test_steps_are_one_compiled_call_and_spectral_rods_the_default() -> None:
    robot = tree()
    motion = robot.simulate(4e-3, 1e-3, integrator=pl.Explicit())
    assert "Spectral" in str(motion.formulation)
    compiled = robot._compiler.compiled(pl.Spectral(3, 2))
    stepper = pl.Explicit().stepper(compiled.effects, 1e-3)
    assert isinstance(stepper.prepare()[0], np.ndarray)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda robot: robot.add_body("b", 0.1, (1e-5,) * 3, joint=pl.Revolute("y")), "clamp, Free"),
        (lambda robot: robot.add_constraint("hold", "arm.tip"), "solves for constraints"),
        (lambda robot: robot.add_contact("floor", "arm", FLOOR, radius=0.01), "give it a stiffness"),
        (
            lambda robot: robot.add_rod("thin", 0.1, pl.Circle(0.01), RUBBER, theory="kirchhoff"),
            "strains that are not held",
        ),
        (
            lambda robot: robot.add_body(
                "b", 0.1, (1e-5,) * 3, on="arm.tip", joint=pl.Revolute("y", drive="angle")
            ),
            "world, or on a part that only moves as inputs tell",
        ),
    ],
)  # fmt: skip
def test_what_explicit_steps_cannot_carry_is_refused(change: Any, words: str) -> None:
    robot, _ = cantilever()
    change(robot)
    with pytest.raises(pl.DescriptionError, match=words):
        robot.simulate(0.01, 1e-3, integrator=pl.Explicit())


def test_a_safety_above_the_limit_is_refused() -> None:
    with pytest.raises(pl.DescriptionError, match="stability limit"):
        pl.Explicit(1.2)
