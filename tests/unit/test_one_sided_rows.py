"""One-sided rows in compiled programs: which rows hold is chosen inside the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import pliant as pl
from pliant.engine.arrays import combine
from pliant.engine.program import record, when
from pliant.model import Constraint, Frame
from pliant.model.fields import holds
from pliant.model.places import OnFrame
from pliant.physics.constraints import FrameConstraint
from pliant.solve.integrators.contract import Stepper

SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=300.0)
BELOW = pl.pose((0.0, 0.0, -0.02), (np.pi, 0.0, 0.0))
INTEGRATORS = [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.9), pl.ImplicitEuler()]


class Stop(FrameConstraint):
    """A frame stays above a height."""

    compiled = True
    one_sided = True


class PlainStop(Stop):
    """The same, uncompiled: subclasses do not inherit the promise."""


@dataclass(frozen=True, eq=False)
class Ground(pl.ConstraintEffect):
    """A floor of one kind of rows."""

    on: Frame = holds(OnFrame())
    unilateral = True
    rows = Stop

    def frames(self):
        return [self.on]

    def compile(self, tree):
        return self.rows(tree, Constraint(self.name, self.on, to=BELOW, hold=("z",)))


class PlainGround(Ground):
    rows = PlainStop


def arm(floor):
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pose=pl.along("x"))
    fore = robot.add_rod("fore", 0.1, pl.Circle(0.01), SOFT, base=rod.tip)
    robot.add(floor("floor", fore.tip))
    return robot


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
def test_stops_run_compiled_and_as_uncompiled_ones_do(integrator, monkeypatch):
    tables = []
    table = Stepper._table

    def watched(stepper, *ahead):
        found = table(stepper, *ahead)
        tables.append(type(found))
        return found

    monkeypatch.setattr(Stepper, "_table", watched)
    settings = {"formulation": pl.BSpline(3, 5), "integrator": integrator}
    motion = arm(Ground).simulate(0.12, 0.002, **settings)
    assert tables[-1] is np.ndarray
    tables.clear()
    plain = arm(PlainGround).simulate(0.12, 0.002, **settings)
    assert np.ndarray not in tables
    assert motion.tip("fore") == pytest.approx(plain.tip("fore"), abs=1e-9)
    for key in ("kinetic", "dissipated"):
        assert motion.energy[key] == pytest.approx(plain.energy[key], abs=1e-9)
    height = motion.tip("fore")[:, 2, 3]
    assert height.min() == pytest.approx(-0.02, abs=1e-9)
    assert np.count_nonzero(height < -0.02 + 1e-9) > 10


def test_part_of_a_program_runs_where_its_flag_says_so():
    flag, x, y = np.zeros(1, dtype=np.int64), np.ones(2), np.zeros(2)
    program = record(when, flag, combine, 1.0, x, 1.0, y, y)
    outer = record(program)
    del program
    assert outer.compiled
    outer()
    assert not y.any()
    flag[0] = 1
    outer()
    outer()
    assert y == pytest.approx([2.0, 2.0])


# -- one-sided rows that are exactly met ------------------------------------------------------------

TABLE = [(0.1, 0.1), (-0.1, 0.1), (0.0, -0.1)]


def on_three_feet(joint, **law):
    """A block of 0.5 kg whose feet touch a floor, neither above it nor inside of it."""
    robot = pl.Robot()
    block = pl.pose((0, 0, 0.02))
    robot.add_body("block", mass=0.5, inertia=(1e-3,) * 3, pose=block, joint=joint)
    for k, (x, y) in enumerate(TABLE):
        robot.add_contact(f"foot{k}", pl.Sphere(0.02, (x, y, 0), on="block"), pl.Plane(), **law)
    return robot


@pytest.mark.parametrize("law", [{}, {"stiffness": 1e4}], ids=["hard", "spring"])
@pytest.mark.parametrize("free", [False, True], ids=["guided", "free"])
def test_block_stands_on_the_floor_that_it_touches(free, law, recwarn):
    """The feet carry a quarter, a quarter and a half of the weight, by moments about the centre."""
    joint = pl.Free() if free else pl.FreeDirections(("z", "rx", "ry"))
    still = on_three_feet(joint, **law).statics()
    pushes = [still.reactions[f"foot{k}"][5] for k in range(3)]
    assert pushes == pytest.approx(0.5 * 9.81 * np.array([0.25, 0.25, 0.5]), rel=1e-7)
    assert still.position("block")[:2] == pytest.approx([0.0, 0.0], abs=1e-4)
    told = [str(item.message) for item in recwarn]
    assert any("nothing holds body 'block'" in text for text in told) is free


def test_load_along_a_smooth_floor_has_no_equilibrium():
    robot = on_three_feet(pl.Free())
    robot.add_load("push", "block", force=(0.1, 0, 0))
    with pytest.raises(pl.ConvergenceError, match="singular"):
        robot.statics({"push": 1.0})


def hung(joint, **given):
    robot = pl.Robot()
    ball = {"mass": 0.5, "inertia": (1e-3,) * 3, "pose": pl.pose((0, 0, -0.3))}
    robot.add_body("ball", **ball, joint=joint)
    robot.add_tendon("rope", [(0, 0, 0), "ball"], drive="none", **given)
    return robot


@pytest.mark.parametrize("stiffness", [None, 1e4])
@pytest.mark.parametrize("joint", [pl.Prismatic("z"), pl.Free()], ids=["guided", "free"])
def test_rope_that_is_just_taut_carries_the_ball(joint, stiffness):
    still = hung(joint, stiffness=stiffness).statics()
    assert still.tension("rope") == pytest.approx(0.5 * 9.81, rel=1e-9)
    stretch = 0.0 if stiffness is None else 0.5 * 9.81 * 0.3 / stiffness
    assert still.position("ball")[2] == pytest.approx(-0.3 - stretch, abs=1e-10)


def test_ball_bounces_on_a_rope_that_stretches_and_not_on_one_that_does_not():
    still = hung(pl.Prismatic("z"), stiffness=1e4)
    wanted = np.sqrt(1e4 / 0.3 / 0.5) / (2.0 * np.pi)
    assert still.modes(1).frequencies == pytest.approx([wanted], rel=1e-6)
    assert len(hung(pl.Prismatic("z")).modes(1)) == 0


@pytest.mark.parametrize("stiffness", [None, 100.0])
def test_bar_rests_on_the_limit_at_which_it_begins(stiffness):
    robot = pl.Robot()
    stop = pl.Revolute("y", limits=(-1.0, 0.0), limit_stiffness=stiffness)
    robot.add_body("bar", 0.5, (1e-3,) * 3, centre=(0.1, 0, 0), joint=stop)
    turn = robot.statics().joint("bar")[0]
    # 100 N m/rad x = m g cos(x) 0.1 m
    wanted = 0.0 if stiffness is None else 0.0049049
    assert turn == pytest.approx(wanted, abs=1e-6)


def test_plate_rests_on_a_one_way_constraint():
    robot = pl.Robot()
    robot.add_body("plate", mass=0.5, inertia=(1e-3,) * 3, joint=pl.Prismatic("z"))
    robot.add_constraint("floor", "plate", hold=("z >= 0",))
    assert robot.statics().reactions["floor"][5] == pytest.approx(0.5 * 9.81)
