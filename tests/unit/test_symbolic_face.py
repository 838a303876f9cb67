"""Equations with symbols as users call them: parameters, inputs, controls, results, own classes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import pliant as pl
from pliant.model import with_values
from pliant.model.fields import holds, quantity
from pliant.model.places import OnFrame
from pliant.rods.contract import SymbolicRod

pytest.importorskip("casadi")
from pliant.symbolic import equations

RUBBER = pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=300.0)


def finger(section: Any = None) -> pl.Robot:
    """A rod with a tendon, a spring, a load and a chamber, and a body on a hinge at its tip."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, section or pl.Circle(0.01), RUBBER, pose=pl.along("x"))
    hinge = pl.Universal("x", "y", stiffness=(0.1, 0.2), damping=0.01, rest=0.1, drive="torque")
    hand = robot.add_body(
        "hand", 0.05, (1e-4,) * 3, on=arm.tip, centre=(0.01, 0, 0.02), joint=hinge
    )
    robot.add_tendon("pull", path=[arm.at(s, (0.008, 0)) for s in (0.0, 0.15, 0.3)], tension=1.5)
    robot.add_spring("stay", hand.at((0, 0, 0.05)), (0.1, 0.0, 0.3), stiffness=20.0, rest=0.1)
    robot.add_load("push", arm.tip, force=(0.1, 0.2, 0.3))
    robot.add_chamber("air", arm, 1e-4, (0.003, 0.004), pressure=1e4)
    return robot


def numbers(found: Any) -> Any:
    return np.array(found, dtype=float).squeeze()


# -- parameters ------------------------------------------------------------------------------------

PATHS = {
    "arm.material.E": 2e6, "arm.material.nu": 0.2, "arm.material.rho": 1500.0,
    "arm.material.viscosity": 500.0, "arm.section.radius": 0.012, "arm.section.shear_factor": 0.8,
    "hand.mass": 0.08, "hand.centre[2]": 0.05, "hand.inertia": 1.5, "hand.joint.stiffness[1]": 0.4,
    "hand.joint.damping": 0.03, "hand.joint.rest": -0.2, "stay.stiffness": 30.0, "stay.rest": 0.2,
    "push.force[1]": 0.7, "push.force": 2.0, "air.area": 2e-4, "air.offset[0]": 0.001,
    "gravity[2]": -3.0,
}  # fmt: skip


def require_same(robot: pl.Robot, paths: dict[str, float]) -> None:
    """A parameter does what another number in the description does."""
    ours = equations(robot, parameters=list(paths), formulation=pl.EBR(2))
    rng = np.random.default_rng(3)
    x, v = 0.1 * rng.normal(size=len(ours.names)), rng.normal(size=len(ours.names))
    for path, value in paths.items():
        other = pl.Robot._from(with_values(robot.description, {path: value}), {})
        numeric = other.equations(formulation=pl.EBR(2))
        q, p = numeric.moved(numeric.rest, x), ours.p({path: value})
        assert numbers(ours.mass(q, p)) == pytest.approx(numeric.mass(q), rel=1e-10, abs=1e-13)
        forces = numeric.forces(q, v)
        close = pytest.approx(forces, abs=1e-10 * float(np.abs(forces).max()))
        assert numbers(ours.forces(q, v, ours.u(), p)) == close, path


def test_parameters_do_what_other_numbers_in_the_description_do() -> None:
    # named together, a vector and one of its entries are both symbols
    for left_out in ("push.force", "push.force[1]"):
        require_same(finger(), {path: x for path, x in PATHS.items() if path != left_out})


@pytest.mark.parametrize(
    ("section", "paths"),
    [
        (pl.Annulus(0.012, 0.008), {"arm.section.outer": 0.014, "arm.section.inner": 0.006}),
        (pl.Rectangle(0.02, 0.01), {"arm.section.width": 0.008, "arm.section.height": 0.03}),
        (pl.Circle((0.012, 0.008)), {"arm.section.radius": 1.3}),
        (pl.Section(3e-4, 8e-9, 9e-9, 2e-8), {"arm.section.area": 4e-4, "arm.section.J": 1e-8}),
    ],
)
def test_dimensions_of_sections_are_parameters(section: Any, paths: dict[str, float]) -> None:
    require_same(finger(section), paths)


def test_parameters_share_a_value_under_a_name_of_their_own() -> None:
    shared = {"k": ("hand.joint.stiffness[0]", "hand.joint.stiffness[1]"), "m": "hand.mass"}
    ours = equations(finger(), parameters=shared, formulation=pl.SRL(1))
    assert ours.parameters == ("k", "m") and ours.p({"m": 2.0}).tolist() == [0.1, 2.0]


@pytest.mark.parametrize("path", ["arm.length", "arm.natural[0]", "arm.drag", "stay.damping"])
def test_parameters_that_enter_nowhere_are_refused(path: str) -> None:
    with pytest.raises(pl.DescriptionError, match=r"parameters.*" + path.split("[")[0]):
        parameters = [path]
        if path == "stay.damping":  # a damper of zero is none, but its law is there
            assert len(equations(finger(), parameters, formulation=pl.SRL(1)).parameters) == 1
            parameters = ["stay.damping", "stay.damping"]
        equations(finger(), parameters, formulation=pl.SRL(1))


# -- inputs and controls ---------------------------------------------------------------------------


def test_inputs_have_sizes_and_values_of_the_robot() -> None:
    robot = finger()
    whole = equations(robot, formulation=pl.SRL(1))
    assert whole.inputs == ("hand first", "hand second", "pull", "push", "air")
    assert whole.u({"air": 0.0}).tolist() == [0.0, 0.0, 1.5, 1.0, 0.0]
    numeric = robot.equations(formulation=pl.SRL(1))
    for value in ((0.3, 0.1, 0.2), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)):
        ours = equations(robot, inputs={"push": len(value)}, formulation=pl.SRL(1))
        found = ours.forces(ours.rest, 0, ours.u({"push": value}), [])
        told = numeric.forces(numeric.rest, inputs={"push": value})
        assert numbers(found) == pytest.approx(told, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": ["pul"]}, "did you mean 'pull'"),
        ({"inputs": {"push": 2}}, "one of 1, 3, 6 numbers"),
        ({"inputs": ["push", "push"]}, "each once"),
        ({"inputs": 3}, "names of inputs"),
        ({"parameters": "arm.E"}, "a list of paths"),
        ({"parameters": {"E": []}}, "a path or several"),
        ({"controls": 3}, "names of parts"),
        ({"parameters": ["arm.material.F"]}, "a path into this robot"),
        ({"controls": ["foot"]}, "controls"),
        ({"controls": ["arm"]}, "controls"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(pl.DescriptionError, match=message):
        equations(finger(), formulation=pl.SRL(1), **options)


def test_values_that_do_not_fit_are_refused() -> None:
    ours = equations(finger(), parameters=["hand.mass"], formulation=pl.SRL(1))
    for call in (
        lambda: ours.u({"push": (1, 2, 3)}),
        lambda: ours.u({"pull": np.nan}),
        lambda: ours.u({"pull": -1.0}),
        lambda: ours.u({"pul": 1.0}),
        lambda: ours.p({"hand": 1.0}),
        lambda: ours.p({"hand.mass": np.nan}),
        lambda: ours.p({"hand.mass": -0.1}),
        lambda: ours.u({"pull": "strong"}),
        lambda: ours.coordinates([0.0]),
    ):
        with pytest.raises(pl.DescriptionError):
            call()


def test_accelerations_agree_with_constraints_and_prescribed_motions() -> None:
    robot = finger()
    robot.add_body("crank", 0.1, (1e-4,) * 3, joint=pl.Revolute("x", drive="angle"))
    robot.add_constraint("rail", pl.Frame("arm", 0.3), hold=("x", "z"))
    numeric, ours = (x(robot, formulation=pl.SRL(2)) for x in (pl.Robot.equations, equations))
    rng = np.random.default_rng(5)
    q = numeric.moved(numeric.rest, 0.1 * rng.normal(size=len(numeric.names)))
    v = rng.normal(size=len(numeric.names))
    found = numeric.accelerations(q, v, prescribed=[2.0])
    a, multipliers, drives = map(numbers, ours.accelerations(q, v, ours.u(), [2.0], []))
    assert ours.controls == ("crank.angle",)
    assert a == pytest.approx(found.a, abs=1e-6 * np.abs(found.a).max())
    assert multipliers == pytest.approx(found.multipliers, rel=1e-6)
    assert float(drives) == pytest.approx(found.drives["crank"], rel=1e-6)


def test_controls_tell_the_torque_of_a_given_acceleration() -> None:
    robot = finger()
    ours = equations(robot, controls="hand", formulation=pl.SRL(1))
    free = equations(robot, formulation=pl.SRL(1))
    v, wanted = np.zeros(len(ours.names)), np.array([3.0, -2.0])
    _, _, torque = ours.accelerations(ours.rest, v, ours.u(), wanted, [])
    u = free.u({"hand first": torque[0], "hand second": torque[1]})
    a = numbers(free.accelerations(free.rest, v, u, [], [])[0])
    assert a[[ours.names.index(name) for name in ours.controls]] == pytest.approx(wanted)


def test_energies_and_poses_are_those_of_results() -> None:
    robot, model = finger(), pl.EBA(3)
    motion = robot.simulate(0.02, 1e-3, formulation=model)
    ours = equations(robot, formulation=model)
    q, v = ours.state(motion)
    kinetic = float(ours.kinetic_energy(q, v, []))
    assert kinetic == pytest.approx(motion.energy["kinetic"][-1], rel=1e-8)
    assert kinetic == pytest.approx(0.5 * v @ numbers(ours.mass(q, [])) @ v, rel=1e-12)
    for place in ("arm.tip", "hand"):
        assert numbers(ours.pose(place)(q, [])) == pytest.approx(motion.pose(place)[-1], abs=1e-12)
    step = 1e-6 * numbers(ours.rates(q, v))
    u = ours.u({"push": 0.0})
    ends = [float(ours.potential_energy(q + sign * step, u, [])) for sign in (1.0, -1.0)]
    still = numbers(ours.forces(q, 0.0 * v, u, []))
    assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(-still @ v, rel=1e-5)


def test_masses_that_nothing_moves_are_named() -> None:
    robot = finger()
    robot.connect("loop", pl.Frame("hand"), pl.Frame("arm", 0.3), pl.Spherical())
    with pytest.raises(pl.DescriptionError, match="a velocity that moves some mass"):
        equations(robot, formulation=pl.SRL(1)).accelerations


def test_package_imports_without_casadi() -> None:
    code = (
        "import sys; sys.modules['casadi'] = None\n"
        "import pliant as pl, pliant.symbolic\n"
        "robot = pl.Robot(); robot.add_body('b', 1.0, (1, 1, 1), joint=pl.Revolute('x'))\n"
        "try:\n    pliant.symbolic.equations(robot)\n"
        "except ImportError as error:\n    assert 'pip install pliant[symbolic]' in str(error)\n"
        "else:\n    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# -- own classes -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Screw(pl.MovingJoint):
    """Turns about z and moves along it."""

    lead: float = 0.0
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def axes(self, q: Any) -> Any:
        return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, self.lead]]).T

    def pose(self, q: Any) -> Any:
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, self.lead * q[0]], [0, 0, 0, 1]])


class WrittenScrew(Screw):
    def symbolic_pose(self, math: Any, q: Any) -> Any:
        c, s = math.cos(q), math.sin(q)
        R = math.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        return R, math.vertcat(0, 0, self.lead * q)


@dataclass(frozen=True, eq=False)
class Magnet(pl.FrameEffect):
    """Attracts a frame to the origin."""

    on: pl.Frame = holds(OnFrame())
    strength: float = quantity("N m^2")

    def frames(self) -> Any:
        return [self.on]

    def potential(self, g: Any, u: Any) -> float:
        return float(0.5 * self.strength * g[0, :3, 3] @ g[0, :3, 3])


class WrittenMagnet(Magnet):
    def symbolic(self, x: Any) -> None:
        p = x.frame(self.on).p
        x.store(0.5 * x.number(self, "strength") * x.math.dot(p, p))


def own(joint: Any, effect: Any) -> pl.Robot:
    robot = pl.Robot()
    nut = robot.add_body(
        "nut", 0.2, (1e-4, 2e-4, 3e-4), centre=(0.1, 0.0, 0.0), joint=joint(lead=0.1)
    )
    robot.add(effect("magnet", nut.at((0.1, 0.2, 0.3)), 2.0))
    return robot


def test_joint_and_effect_of_a_user_join_in() -> None:
    robot = own(WrittenScrew, WrittenMagnet)
    ours, numeric = equations(robot, parameters=["magnet.strength"]), robot.equations()
    q, v = np.array([0.7]), np.array([2.0])
    assert float(ours.mass(q, [2.0])) == pytest.approx(float(numeric.mass(q)[0, 0]), rel=1e-12)
    assert float(ours.forces(q, v, [], [2.0])) == pytest.approx(
        float(numeric.forces(q, v)[0]), rel=1e-6
    )
    a, told = ours.accelerations(q, v, [], [], [2.0])[0], numeric.accelerations(q, v).a
    assert float(a) == pytest.approx(float(told[0]), rel=1e-6)


def test_joint_and_effect_of_a_user_without_formulas_are_refused() -> None:
    with pytest.raises(pl.DescriptionError, match=r"Screw.*symbolic_pose"):
        equations(own(Screw, WrittenMagnet))
    with pytest.raises(pl.DescriptionError, match=r"magnet.*symbolic"):
        equations(own(WrittenScrew, Magnet))


def test_rod_formulas_are_a_small_contract() -> None:
    assert SymbolicRod.__abstractmethods__ == {"frame", "strain"}
