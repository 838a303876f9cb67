"""Equations with symbols are derived independently of the numeric ones: both must agree everywhere."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model.registry import Joint
from pliant.physics.contract import Term
from pliant.physics.effects import BUILT_IN

pytest.importorskip("casadi")
from pliant.symbolic import SymbolicEquations, equations

EXACT = 1e-10
DIFFERENCES = 1e-7
"""Of the numeric side of `constraint_bias`, which takes differences of the gaps along the motion."""
RUBBER = pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=300.0)
MODELS = {"SRL": pl.SRL(2), "EBR": pl.EBR(2), "EBA": pl.EBA(2), "ROM": pl.ROM(2)}
VARIANTS = {
    "SRL one-sided": pl.SRL(3, "one-sided"),
    "EBR one-sided": pl.EBR(3, "one-sided"),
    "EBA one-sided": pl.EBA(3, scheme="one-sided"),
    "EBA free": pl.EBA(3, rotation="free"),
    "ROM free": pl.ROM(3, rotation="free"),
    "SRL many": pl.SRL(5),
    "ROM high": pl.ROM(5),
}


def apart(ours: Any, theirs: Any, least: float = 0.0) -> float:
    """Largest difference relative to the largest entry, or to a size `least` that is not small."""
    a, b = np.array(ours, dtype=float).reshape(np.shape(theirs)), np.asarray(theirs)
    assert np.isfinite(a).all()
    return float(np.abs(a - b).max(initial=0.0)) / max(float(np.abs(b).max(initial=0.0)), least)


def require_equal(
    robot: pl.Robot,
    formulation: Any = None,
    inputs: dict[str, Any] | None = None,
    size: float = 0.2,
    **options: Any,
) -> SymbolicEquations:
    """Compare mass, bias, forces and constraints at random states, and at rest."""
    numeric = robot.equations(formulation=formulation)
    ours = equations(robot, formulation=formulation, **options)
    assert ours.names == numeric.names and ours.free == numeric.free
    n, p, u = len(numeric.names), ours.p(), ours.u(inputs)
    rng = np.random.default_rng(7)
    for scale in (size, size, 0.0):
        q = numeric.moved(numeric.rest, scale * rng.normal(size=n))
        v, Q = rng.normal(size=n), ours.coordinates(q)
        M = numeric.mass(q)
        assert apart(ours.mass(Q, p), M) < EXACT
        assert apart(ours.bias(Q, v, p), numeric.bias(q, v), 0.1 * np.max(M)) < EXACT
        assert apart(ours.forces(Q, v, u, p), numeric.forces(q, v, inputs)) < EXACT
        if numeric.constraints:
            assert apart(ours.constraint_gaps(Q, p), numeric.constraint_gaps(q), 1e-2) < EXACT
            assert apart(ours.constraint_jacobian(Q, p), numeric.constraint_jacobian(q)) < EXACT
            c = numeric.constraint_bias(q, v)
            assert apart(ours.constraint_bias(Q, v, p), c, 1e-2) < DIFFERENCES
    return ours


# -- effects on rods and bodies ----------------------------------------------------------------


def rig() -> tuple[pl.Robot, Any, Any, Any]:
    """A rod on a ball joint and a cardan joint, with a body on a hinge at its tip."""
    robot = pl.Robot()
    hub = robot.add_body("hub", 0.3, (1e-3, 2e-3, 2.5e-3), joint=pl.Spherical(drive="torque"))
    arm = robot.add_rod(
        "arm", 0.3, pl.Circle((0.01, 0.006)), RUBBER, base=hub.at((0, 0, 0.05)),
        natural=(0.3, 0.5, 0.2),
        joint=pl.Universal("x", "y", stiffness=0.1, damping=0.01, power=(1.0, 2.0)),
    )  # fmt: skip
    swing = pl.Revolute("y", damping=0.02, power=1.5)
    hand = robot.add_body("hand", 0.05, (1e-4,) * 3, on=arm.tip, joint=swing)
    return robot, hub, arm, hand


CASES: dict[str, Callable[..., dict[str, Any] | None]] = {}


def case(build: Callable[..., Any]) -> Callable[..., Any]:
    CASES[build.__name__] = build
    return build


@case
def torques(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> dict[str, Any]:
    return {"hub rx": 0.3, "hub ry": -0.2, "hub rz": 0.1}


@case
def point_loads(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> dict[str, Any]:
    wrench = {"force": (0.1, 0.2, 0.3), "moment": (0.01, 0.02, 0.03)}
    robot.add_load("dead", arm.at(0.13, (0.01, 0.02), (0.1, 0.2, 0.3)), **wrench)
    robot.add_load("follower", hand.at((0.01, 0.02, 0.03)), **wrench, frame="body")
    robot.add_load("turned", hand.at((0.01, 0.02, 0.03)), **wrench, frame=arm.at(0.1))
    return {"dead": 2.0, "follower": -1.0, "turned": 1.5}


@case
def line_loads(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> dict[str, Any]:
    robot.add_load("wind", "arm", force=(0.1, 0.2, 0.3), moment=(0.01, 0.0, 0.0))
    robot.add_load("flow", "arm", force=lambda s: (s, 0.1, 0.0), over=(0.05, 0.2), frame="body")
    return {"wind": 0.5, "flow": 2.0}


@case
def damping(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    robot.add_rod(
        "whip", 0.2, pl.Annulus(0.006, 0.004), RUBBER, base=arm.at(0.2, (0.01, 0.0)),
        drag=(0.1, 0.2, 0.3), mass_damping=0.4,
        strain_damping=pl.Damping(bending=(1e-4, 2e-4), axial=0.1),
    )  # fmt: skip


@case
def springs(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    robot.add_spring("plain", arm.tip, (0.1, 0.2, 0.3), stiffness=20.0, rest=0.1, damping=0.3)
    ends = (arm.at(0.1, (0.01, 0)), hub.at((0, 0.1, 0)))
    law = {"rest": 0.1, "damping": 0.3, "power": 2.0}
    robot.add_spring("rope", *ends, stiffness=20.0, **law, kind="tension")
    ends = (arm.at(0.1), hand.at((0, 0.1, 0)))
    law = {"rest": 0.4, "damping": 0.3, "power": 0.5}
    robot.add_spring("bumper", *ends, stiffness=20.0, **law, kind="compression")


@case
def tendon(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> dict[str, Any]:
    path = [
        (0.0, 0.0, 0.0),
        *(arm.at(s, (0.008, 0)) for s in (0.0, 0.1, 0.2)),
        hand.at((0.01, 0, 0)),
    ]
    robot.add_tendon("pull", path=path)
    return {"pull": 3.0}


@case
def reel(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    path = [
        (0.0, 0.01, 0.0),
        *(arm.at(s, (0.008, 0)) for s in (0.0, 0.1, 0.2)),
        hand.at((0.01, 0, 0)),
    ]
    robot.add_tendon("wind", path=path, drive="length", stiffness=1e3)
    robot.add_tendon("stay", path=path, drive="none", stiffness=1e3, slack=0.01)


@case
def embedded_tendon(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> dict[str, Any]:
    robot.add_tendon(
        "bend", along=arm, offset=lambda s: (0.005 * np.cos(9 * s), 0.005 * np.sin(9 * s))
    )
    return {"bend": 3.0}


@case
def chambers(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> dict[str, Any]:
    robot.add_chamber("air", arm, (1e-4, 5e-5), (0.003, 0.004), line=pl.Lag(0.1))
    robot.add_chamber(
        "half", arm, 1e-4, lambda s: (0.003, s * 0.01), over=(0.03, 0.2), thrust=False
    )
    return {"air": 2e4, "half": 1e4}


@case
def strain_damper(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    given = pl.Damping(bending=1e-3, twist=2e-3, shear=0.1, axial=0.2)
    robot.add_strain_damper("skin", "arm", given, 0.5)


@case
def section_update(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    robot.add_section_update("softening", "arm")


@case
def links(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    robot.add_link(
        "net", arm.tip, (0.1, 0.2, 0.5), pl.Circle(0.003), RUBBER, rest=0.9, kind="tension"
    )
    ends = (arm.at(0.15), hand.at((0.1, 0, 0)))
    robot.add_link("beam", *ends, pl.Circle(0.003), RUBBER, power=0.7)
    robot.add_link("soft", *ends, pl.Circle(0.003), RUBBER, updated=True)


@case
def bushing(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    stiffness, damping = {"x": 20.0, "ry": 0.3, "z": 5.0}, {"x": 0.1, "rz": 0.02}
    laws = {"stiffness": stiffness, "damping": damping}
    robot.add_bushing("rubber", hand.at((0, 0, 0.1)), arm.at(0.2), **laws, power=2.0)
    robot.add_bushing(
        "pad", arm.at(0.1), stiffness={"y": 9.0}, kinds={"y": "tension"}, rest={"y": -0.1}
    )


@case
def constraint(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    robot.add_constraint("rail", hand.at((0, 0, 0.1)), hold=("x", "ry"))


@case
def loop(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    robot.connect("loop", hand.at((0, 0, 0.1)), arm.at(0.15), pl.Spherical())


@case
def gear(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    robot.add_body("wheel", 0.1, (1e-4,) * 3, on=arm.at(0.1), joint=pl.Revolute("z"))
    robot.add(pl.Gear("gear", "hand", {"wheel": 2.0}))


@case
def moving_base(robot: pl.Robot, hub: Any, arm: Any, hand: Any) -> None:
    shaken = robot.add_rod("shaken", 0.1, pl.Circle(0.01), RUBBER)
    robot.add_base_motion("shake", shaken, translation=(1.0, 0.0, 0.0))
    robot.add_body("crank", 0.1, (1e-4,) * 3, on=arm.tip, joint=pl.Revolute("z", drive="angle"))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("build", CASES)
def test_symbolic_and_numeric_equations_agree(build: str, model: str) -> None:
    robot, *parts = rig()
    require_equal(robot, MODELS[model], CASES[build](robot, *parts))


@pytest.mark.parametrize("theory", ["cosserat", "kirchhoff"])
@pytest.mark.parametrize("model", {**MODELS, **VARIANTS})
def test_variants_of_the_rod_models_agree(model: str, theory: str) -> None:
    formulation = {**MODELS, **VARIANTS}[model]
    if theory not in formulation.capabilities.theories:
        pytest.skip(f"{model} has no {theory} rods")
    robot = pl.Robot()
    arm = robot.add_rod(
        "arm", 0.3, pl.Rectangle(0.02, (0.01, 0.008)), RUBBER, base=None, theory=theory,
        natural=(0.3, 0.5, 0.2), rotary=False,
    )  # fmt: skip
    robot.add_body("bob", 0.02, (1e-5, 2e-5, 2.5e-5), on=arm.tip, centre=(0.01, 0.02, 0.03))
    given = pl.Stiffness(bending=(0.01, 0.02), twist=0.01, shear=50.0, axial=100.0, mass=0.1)
    robot.add_rod("branch", 0.1, given, base=arm.at(0.17, rotation=(0.5, 0.2, 0.1)), theory=theory)
    require_equal(robot, formulation)


def test_links_that_fold_beyond_half_a_turn_agree() -> None:
    robot = pl.Robot()
    bow = robot.add_body("bow", 0.1, (1e-4,) * 3, joint=pl.Universal("x", "y"))
    robot.add_link("wire", (0.0, 0.0, -0.1), bow.at((0.0, 0.0, 0.1)), pl.Circle(0.003), RUBBER)
    ours, numeric = equations(robot), robot.equations()
    for angle in (1.9, 2.5, 3.0, 3.3, 3.8, 4.2):
        for q in ([angle, 0.1], [-angle, 0.1]):
            told = numeric.forces(q, [0.3, 0.2])
            assert apart(ours.forces(q, [0.3, 0.2], [], []), told) < 1e-9  # ill-conditioned at pi


OPTIONS: dict[str, Any] = {"stiffness": 0.3, "damping": 0.02, "rest": 0.2}
STEPS = ("rx", "z", ("z", 0.1), ("turn", (1, 1, 0), 0.3), ("turn", (0, 1, 2)), "x")
JOINTS = {
    "fixed": pl.Fixed(),
    "revolute": pl.Revolute("x", **OPTIONS),
    "prismatic": pl.Prismatic((1, 1, 0), **OPTIONS),
    "cylindrical": pl.Cylindrical("y", **OPTIONS),
    "universal": pl.Universal("x", (0, 1, 1), **OPTIONS),
    "spherical": pl.Spherical(**OPTIONS),
    "planar": pl.Planar((1, 0, 2), **OPTIONS),
    "free directions": pl.FreeDirections(STEPS, **OPTIONS),
    "free": pl.Free(),
    "elastic stops": pl.Planar("z", limits=((-0.01, 0.02), None, (0.0, None)), limit_stiffness=5.0),
}


@pytest.mark.parametrize("name", JOINTS)
def test_every_joint_agrees(name: str) -> None:
    robot = pl.Robot()
    first = robot.add_body(
        "first", 0.3, (1e-3, 2e-3, 2.5e-3), centre=(0.01, 0.02, -0.1), joint=pl.Revolute((1, 2, 3))
    )
    place = first.at((0, 0.1, -0.2), rotation=(0.2, 0.3, 0.1))
    inertia = [[1e-3, 1e-4, 2e-4], [1e-4, 2e-3, 3e-4], [2e-4, 3e-4, 2.5e-3]]
    robot.add_body("second", 0.2, inertia, on=place, centre=(0.03, 0.02, -0.1), joint=JOINTS[name])
    require_equal(robot, size=0.5)


def test_every_joint_class_is_in_the_matrix() -> None:
    known = {type(joint) for joint in JOINTS.values()}
    classes = [cls for cls in Joint.__subclasses__() if cls.__module__.startswith("pliant.")]
    concrete: set[type] = set()
    while classes:
        cls = classes.pop()
        classes += cls.__subclasses__()
        if cls.__module__.startswith("pliant.joints.") and not getattr(
            cls, "__abstractmethods__", ()
        ):
            concrete.add(cls)
    concrete = {cls for cls in concrete if hasattr(pl, cls.__name__)} - {pl.MovingJoint}
    assert concrete == known


# -- refusals --------------------------------------------------------------------------------------

REFUSED: dict[str, Callable[..., Any]] = {
    "joint friction": lambda r, hub, arm, hand: r.add_body(
        "b", 0.1, (1e-4,) * 3, joint=pl.Revolute("x", friction=0.1)
    ),
    "joint stops": lambda r, hub, arm, hand: r.add_body(
        "b", 0.1, (1e-4,) * 3, joint=pl.Revolute("x", limits=(-1.0, 1.0))
    ),
    "contact": lambda r, hub, arm, hand: r.add_contact(
        "floor", arm, pl.Plane((0, 0, 1), (0, 0, -1)), stiffness=100.0
    ),
    "constraints": lambda r, hub, arm, hand: r.add_constraint("stop", arm.tip, hold=["z >= 0"]),
    "muscles": lambda r, hub, arm, hand: r.add_muscle(
        "m", [(0, 0, 0.1), arm.tip], 1.0, optimum=0.3
    ),
    "tendons": lambda r, hub, arm, hand: r.add_tendon(
        "t", path=[(0, 0, 0), arm.at(0.1), arm.tip], friction=0.1
    ),
    "embedded friction": lambda r, hub, arm, hand: r.add_tendon(
        "t", along=arm, offset=(0.005, 0), friction=0.1
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_effects_without_a_formula_are_refused_by_name(name: str) -> None:
    robot, *parts = rig()
    REFUSED[name](robot, *parts)
    with pytest.raises(pl.DescriptionError, match=name):
        equations(robot, formulation=pl.SRL(2))


def test_formulations_without_a_formula_are_refused_by_name() -> None:
    robot, *_ = rig()
    with pytest.raises(pl.DescriptionError, match=r"'arm'.*BSpline"):
        equations(robot, formulation=pl.BSpline(3, 6))


def test_every_effect_is_compared_or_refused() -> None:
    """Whatever acts in Pliant appears in the matrix above, or in the list of refusals."""
    compared: set[type] = set()
    for build in CASES.values():
        robot, *parts = rig()
        build(robot, *parts)
        compared |= {
            type(term) for term in robot.equations(formulation=pl.EBA(2))._compiled.effects.terms
        }
    homes = {name: import_module(f"pliant.physics.{name}") for name in BUILT_IN}
    for name, home in homes.items():
        own = [x for x in vars(home).values() if isinstance(x, type) and issubclass(x, Term)]
        own = [x for x in own if x.__module__ == home.__name__]
        written = [x for x in own if x.symbolic is not Term.symbolic and x not in compared]
        lacking = [x for x in own if x.symbolic is Term.symbolic]
        refused = name.replace("_", " ") in {*REFUSED, "tubes"}  # a nest is refused with its rods
        elsewhere = name in ("force_fields", "joint_limits")  # by the variants and the joints
        assert not written or elsewhere or refused, f"{name} has formulas that nothing compares"
        assert not lacking or refused, f"{name} is not among the refusals"
