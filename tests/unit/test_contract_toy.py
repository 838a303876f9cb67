"""The contract is real: a formulation written here, naively, is solved like any other.

It knows nothing of Pliant but the five methods a formulation must write: piecewise constant strain,
poses by the series of the matrix exponential, every derivative by differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.linalg import expm

import pliant as pl
from pliant.model import Circle, Constraint, Description, Load, Material, Rod, along, pose
from pliant.physics.effects import Effects, Inputs, effects_of
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array, Configuration, Formulation, Plan, RodMap
from pliant.rods.strain import Strain
from pliant.solve.energy import reactions
from pliant.solve.integrators.midpoint import Midpoint
from pliant.solve.integrators.newmark import Newmark
from pliant.solve.load_steps import StaticSolver
from pliant.solve.modes import modal_analysis
from pliant.solve.sampling import Sampler
from pliant.solve.statics import StaticSolution
from tests.test_house import Helix, Torsion

SEGMENTS = 2
STEP = 3e-5


def hat(x: Array) -> Array:
    """Matrices (..., 4, 4) of twists (..., 6), angular part first."""
    out = np.zeros((*x.shape[:-1], 4, 4))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -x[..., 2], x[..., 1], -x[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = x[..., 2], -x[..., 1], x[..., 0]
    out[..., :3, 3] = x[..., 3:]
    return out


def unhat(m: Array) -> Array:
    return np.stack(
        [m[..., 2, 1], m[..., 0, 2], m[..., 1, 0], *np.moveaxis(m[..., :3, 3], -1, 0)], -1
    )


def exponential(x: Array) -> Array:
    """Poses (..., 4, 4) of twists (..., 6) by the plain series."""
    m = hat(x)
    term = total = np.eye(4) + 0 * m
    for k in range(1, 15):
        term = term @ m / k
        total = total + term
    return total


@dataclass(frozen=True)
class Toy(Formulation):
    """Constant strain on each of `segments` equal pieces."""

    segments: int = SEGMENTS

    def discretise(self, rod: Rod) -> ToyMap:
        return ToyMap(rod, self.segments)


class ToyMap(RodMap):
    """q (segments, 6), flat: what the strain of each piece adds to the natural strain."""

    def __init__(self, rod: Rod, segments: int) -> None:
        super().__init__(rod, 6 * segments)
        self.segments = segments
        self.piece = rod.length / segments
        self.natural = rod.natural_strain(self.piece * (np.arange(segments) + 0.5))

    def rest(self) -> Array:
        return np.zeros(self.nq)

    def _strains(self, q: Array) -> Array:
        """Strain of every piece (..., segments, 6) for coordinates q (..., nq)."""
        return self.natural + q.reshape(*q.shape[:-1], -1, 6)

    def _poses(self, base: Array, q: Array, s: Array) -> Array:
        """Poses (X, S, 4, 4) at s (S,) for base poses (X, 4, 4) and coordinates (X, nq)."""
        lengths = np.clip(s[:, None] - self.piece * np.arange(self.segments), 0.0, self.piece)
        steps = exponential(lengths[:, :, None] * self._strains(q)[:, None])
        g = base[:, None]
        for at in range(self.segments):
            g = g @ steps[:, :, at]
        return g

    def frame(self, plan: Plan, c: Configuration) -> None:
        x = STEP * np.concatenate([np.zeros((1, self.m)), np.eye(self.m), -np.eye(self.m)])
        g = self._poses(c.base @ exponential(x[:, :6]), c.q + x[:, 6:], plan.s)
        plan.g[...] = g[0]
        around = np.linalg.inv(g[0]) @ (g[1 : self.m + 1] - g[self.m + 1 :])
        plan.J[...] = np.moveaxis(unhat(around), 0, -1) / (2 * STEP)

    def strain(self, plan: Plan, c: Configuration) -> None:
        x = STEP * np.concatenate([np.eye(self.nv), -np.eye(self.nv)])
        around = self._strains(c.q + x)
        at = np.minimum((plan.s / self.piece).astype(int), self.segments - 1)
        plan.e[...] = self._strains(c.q)[at]
        slope = (around[: self.nv] - around[self.nv :])[:, at] / (2 * STEP)
        plan.B[:, :, 6:] = np.moveaxis(slope, 0, -1)

    def mass_rule(self) -> tuple[Array, Array]:
        """Three Gauss points in every piece."""
        x, w = np.polynomial.legendre.leggauss(3)
        starts = self.piece * np.arange(self.segments)[:, None]
        return (starts + 0.5 * self.piece * (x + 1)).ravel(), np.tile(
            0.5 * self.piece * w, self.segments
        )

    def strain_rule(self) -> tuple[Array, Array]:
        """The middle of every piece."""
        s = self.piece * (np.arange(self.segments) + 0.5)
        return s, np.full((self.segments, 6), self.piece)


def arm(**more: object) -> Rod:
    more = {"pose": along("x"), "natural": (0.5, 0.0, 1.0), **more}
    return Rod("arm", 0.4, Circle(0.02), Material(E=1e6, nu=0.45, rho=1000.0), **more)


def built(description: Description, formulation: Formulation) -> Effects:
    return effects_of(description, dict.fromkeys(description.rods, formulation))


def loaded() -> Description:
    """A heavy arm with a dead force at the tip and a follower wrench on the way."""
    description = Description()
    rod = description.add(arm())
    description.add(Load("tip", rod.tip, force=(0.1, 0.25, 0.15)))
    description.add(
        Load(
            "way",
            rod.at(0.2, offset=(0.01, 0)),
            force=(0.02, 0, 0),
            moment=(0, 2e-3, 0),
            frame="body",
        )
    )
    return description


def solved(effects: Effects) -> tuple[Inputs, StaticSolution]:
    inputs = effects.at({})
    return inputs, StaticSolver(effects).solve(inputs)


def poses(effects: Effects, q: Array, rod: str = "arm") -> Array:
    return Sampler(effects).poses(q, rod, np.array([0.1, 0.2, 0.4]))


def test_it_writes_nothing_but_the_five_methods_of_the_contract() -> None:
    written = {name for name in vars(ToyMap) if not name.startswith("_")}
    required = {"rest", "frame", "strain", "mass_rule", "strain_rule"}
    assert written == required
    assert set(RodMap.__abstractmethods__) == required


# -- statics --------------------------------------------------------------------------------------


def test_statics_agree_with_piecewise_constant_strain() -> None:
    toy, strain = (built(loaded(), f) for f in (Toy(), Strain(order=0, segments=SEGMENTS)))
    results = [solved(effects) for effects in (toy, strain)]
    assert poses(toy, results[0][1].q) == pytest.approx(poses(strain, results[1][1].q), abs=1e-8)
    assert np.linalg.norm(poses(toy, results[0][1].q)[-1, :3, 3] - (0.4, 0, 0)) > 0.1
    clamps = [
        reactions(effects, found)["arm"]
        for effects, (_, found) in zip((toy, strain), results, strict=True)
    ]
    assert clamps[0] == pytest.approx(clamps[1], abs=1e-8)


def test_statics_agree_with_the_linear_spline() -> None:
    description = Description(gravity=(0, 0, 0))
    rod = description.add(arm())
    description.add(Load("tip", rod.tip, force=(0.1, 0.25, 0.15)))
    toy, spline = built(description, Toy()), built(description, BSpline(1, SEGMENTS + 1))
    ends = [poses(effects, solved(effects)[1].q) for effects in (toy, spline)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-8)


def test_it_carries_rods_and_is_carried() -> None:
    """Chained to, mounted on, free and held by a constraint: the tree does not ask what it is."""

    def tree() -> Description:
        description = Description()
        root = description.add(arm(base=None))
        description.add(Constraint("clamp", root.base_frame))
        thin = Rod("thin", 0.4, Circle(0.01), root.material, base=root.tip)
        side = Rod(
            "side",
            0.4,
            Circle(0.01),
            root.material,
            base=root.at(0.2),
            pose=pose(rotation=(1, 0, 0)),
        )
        description.add(thin)
        description.add(side)
        description.add(Load("tip", thin.tip, force=(0, 0.002, 0.01)))
        return description

    ends = []
    for root, rest in (
        (Toy(2), Strain(0, 2)),
        (Strain(0, 2), Toy(2)),
        (Strain(0, 2), Strain(0, 2)),
    ):
        effects = effects_of(tree(), {"arm": root, "thin": rest, "side": rest})
        found = solved(effects)[1]
        ends.append(np.stack([poses(effects, found.q, name) for name in ("arm", "thin", "side")]))
    assert ends[0] == pytest.approx(ends[2], abs=1e-7)
    assert ends[1] == pytest.approx(ends[2], abs=1e-7)


# -- dynamics -------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", [Midpoint(), Newmark()], ids=repr)
def test_a_swing_agrees_with_piecewise_constant_strain(integrator: object) -> None:
    ends = []
    for formulation in (Toy(2), Strain(order=0, segments=2)):
        effects = built(loaded(), formulation)
        inputs = effects.at({})
        stepper = integrator.stepper(effects, 5e-3)
        rate = np.tile([1.0, -0.5, 0.3, 0.05, 0.0, 0.02], 2)
        stepper.start(effects.tree.q_rest, rate, inputs)
        for _ in range(6):
            stepper.take(inputs.u[None])
        ends.append((poses(effects, stepper.q), stepper.velocity()))
    # second derivatives by differences, and a step of a given tolerance
    assert ends[0][0] == pytest.approx(ends[1][0], abs=1e-5)
    assert ends[0][1] == pytest.approx(ends[1][1], rel=1e-3, abs=1e-3)
    assert np.linalg.norm(ends[0][0][-1, :3, 3] - (0.4, 0, 0)) > 5e-3


# -- modes ----------------------------------------------------------------------------------------


def test_modes_about_a_bent_equilibrium_agree_with_piecewise_constant_strain() -> None:
    found = []
    for formulation in (Toy(), Strain(order=0, segments=SEGMENTS)):
        description = Description()
        rod = description.add(arm())
        description.add(Load("tip", rod.tip, force=(0.1, 0.25, 0.15)))
        effects = built(description, formulation)
        inputs, state = solved(effects)
        found.append(modal_analysis(effects, state.q, state.z, inputs, 6).frequencies)
    assert found[0] == pytest.approx(found[1], rel=1e-5)
    assert np.all(found[0] > 0.1)


# -- through the public face ----------------------------------------------------------------------


def test_a_robot_takes_it_like_any_other_formulation() -> None:
    answers = []
    for formulation in (Toy(2), pl.Strain(order=0, segments=2)):
        robot = pl.Robot()
        rod = robot.add_rod(
            "arm", 0.4, pl.Circle(0.02), pl.Material(E=2e5, nu=0.45, rho=1000.0), pose=pl.along("x")
        )
        robot.add_load("tip", rod.tip, force=(0, 0.05, 0.03))
        bent = robot.statics(formulation=formulation)
        motion = robot.simulate(
            0.02, 5e-3, inputs={"tip": 0.0}, start=bent, formulation=formulation
        )
        modes = robot.modes(3, formulation=formulation)
        answers.append((bent.tip("arm"), motion.tip("arm"), modes.frequencies))
    for toy, strain in zip(*answers, strict=True):
        # differences of differences in the stiffness leave 2e-5 in the frequencies
        assert np.asarray(toy) == pytest.approx(np.asarray(strain), rel=1e-4, abs=1e-6)


def test_the_series_of_the_toy_is_the_matrix_exponential() -> None:
    x = np.array([0.3, -0.2, 0.5, 0.1, 0.7, -0.4])
    assert exponential(x) == pytest.approx(expm(hat(x)), abs=1e-14)
    assert np.array_equal(unhat(hat(x)), x)


def test_it_hangs_on_a_joint_of_ones_own_and_carries_it() -> None:
    """A screw between two rods, held by a spring that a user wrote: all three in plain Python."""
    tips = []
    for formulation in (Toy(), Strain(order=0, segments=SEGMENTS)):
        robot = pl.Robot()
        soft = Material(E=1e6, nu=0.5, rho=1000.0, viscosity=100.0)
        shape, lies = Circle(0.01), along("x")
        base = robot.add_rod("arm", 0.2, shape, soft, lies, formulation=formulation)
        nut = robot.add_body("nut", 0.01, (1e-5, 1e-5, 1e-5), on=base.tip, joint=Helix(0.05))
        robot.add_rod("fore", 0.1, shape, soft, lies, base=nut.origin, formulation=formulation)
        robot.add(Torsion("spring", nut.origin, 0.05))
        motion = robot.simulate(0.02, 1e-3, integrator=Midpoint())
        tips.append(motion.tip("fore"))
        assert abs(motion.energy["balance"]).max() < 1e-3 * motion.energy["kinetic"].max()
    assert np.abs(tips[0] - tips[0][0]).max() > 1e-3
    assert tips[0] == pytest.approx(tips[1], abs=1e-5)
