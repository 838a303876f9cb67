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
