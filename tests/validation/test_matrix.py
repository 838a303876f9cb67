"""Every formulation with every effect, joint and solver: against a method that shares no code with it.

The axes are read from what Pliant has: formulations and integrators from the registry, effects from
the list that is compiled for a robot and from the classes that describe them, joints from their
folder. A new one fails here until it has a column. Cells that a formulation or solver refuses are
cells too: they must refuse with a sentence.

References are computed once for each effect and joint: by a fine rod of strain modes for splines,
Hermite and ANCF elements and the strong forms, by a fine spline for strain modes. These maps share
no code; where both are the same model an exact solution elsewhere holds them (test_exact_cases,
test_trees).
"""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
import pliant.joints
from pliant.joints.contract import JointMap
from pliant.joints.options import MovingJoint
from pliant.joints.screws import ScrewJoint
from pliant.model.registry import Effect
from pliant.physics.effects import BUILT_IN
from pliant.rods.contract import EFFECTS as CARRIED
from pliant.solve.registry import formulations, integrators

LENGTH, END, DT = 0.3, 0.04, 1e-3
RUBBER = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=2000.0)

FORMULATIONS: dict[str, Any] = {
    "ANCF": pl.ANCF(8),
    "BSpline": pl.BSpline(3, 9),
    "Hermite": pl.Hermite(6),
    "Strain": pl.Strain(order=3, segments=2),
    "Collocation": pl.Collocation(12),
    "Shooting": pl.Shooting(40),
    "MultipleShooting": pl.MultipleShooting(20),
    "Spectral": pl.Spectral(elements=4),
    "EBA": pl.EBA(24),
    "EBR": pl.EBR(24),
    "SRL": pl.SRL(24),
    "ROM": pl.ROM(8, "free"),
}
SECOND_ORDER = ("EBA", "EBR", "SRL")
"""Segments of constant strain, whose errors go with the inverse square of their number."""
LUMPED = ("Spectral", "EBA")
INTEGRATORS: dict[str, Any] = {
    "Midpoint": pl.Midpoint(),
    "Variational": pl.Variational(),
    "Newmark": pl.Newmark(),
    "GeneralizedAlpha": pl.GeneralizedAlpha(rho=0.8),
    "ImplicitEuler": pl.ImplicitEuler(),
    "BDFAlpha": pl.BDFAlpha(),
    "Explicit": pl.Explicit(),
    "Radau": pl.Radau(tolerance=1e-6),
    "BDF": pl.BDF(order=3),
}
STRONG = ("Collocation", "Shooting", "MultipleShooting")
COORDINATES = [name for name in FORMULATIONS if name not in STRONG]


@dataclass(frozen=True)
class Case:
    """An effect on the rod "arm": arguments of `add_rod`, what is added, inputs over time."""

    rod: dict[str, Any]
    add: Callable[[pl.Robot, pl.Rod], object] = lambda robot, arm: None
    inputs: dict[str, Any] | None = None
    weight: bool = False


def ramp(t: float) -> float:
    return 2.0 - float(np.cos(np.pi * t / END)) if t < END else 3.0


def tip_load(**more: Any) -> Callable[[pl.Robot, pl.Rod], object]:
    return lambda robot, arm: robot.add_load("push", arm.tip, **more)


def along_rod(robot: pl.Robot, arm: pl.Rod) -> object:
    return robot.add_load("push", arm, force=(0.15, 0.0, 0.0))


def chamber(robot: pl.Robot, arm: pl.Rod) -> object:
    return robot.add_chamber("air", arm, area=5e-5, offset=(0.004, 0.0), pressure=4e4)


def payload(robot: pl.Robot, arm: pl.Rod) -> object:
    return robot.add_body("bob", 0.005, (1e-6, 1e-6, 1e-6), on=arm.tip, centre=(0.01, 0.0, 0.0))


def slider(robot: pl.Robot, arm: pl.Rod) -> object:
    robot.add_load("push", arm.at(0.5 * LENGTH), force=(0.05, 0.0, 0.0))
    return robot.add_constraint("guide", arm.tip, hold=("x",))


def shaker(robot: pl.Robot, arm: pl.Rod) -> object:
    return robot.add_base_motion(
        "shake", arm, translation=(0.01, 0.0, 0.0), rotation=(0.0, 0.1, 0.0)
    )


def spring(robot: pl.Robot, arm: pl.Rod) -> object:
    robot.add_load("push", arm.tip, force=(0.03, 0.0, 0.0))
    return robot.add_spring("spring", arm.tip, (0.1, 0.0, LENGTH), stiffness=0.5)


def link(robot: pl.Robot, arm: pl.Rod) -> object:
    robot.add_load("push", arm.tip, force=(0.03, 0.0, 0.0))
    soft = pl.Stiffness(bending=2e-4, twist=2e-4, shear=0.5, axial=0.05, retardation=1e-3)
    return robot.add_link("link", arm.tip, (0.1, 0.0, LENGTH), soft)


def tendon(robot: pl.Robot, arm: pl.Rod) -> object:
    holes = [arm.at(s, offset=(0.008, 0.0)) for s in np.linspace(0.0, LENGTH, 5)]
    return robot.add_tendon("pull", path=holes)


def embedded(robot: pl.Robot, arm: pl.Rod) -> object:
    return robot.add_tendon("pull", along=arm, offset=(0.008, 0.0))


def rubbing(robot: pl.Robot, arm: pl.Rod) -> object:
    return robot.add_tendon("pull", along=arm, offset=(0.008, 0.0), friction=0.5, creep=0.02)


def softening(robot: pl.Robot, arm: pl.Rod) -> object:
    robot.add_load("push", arm.tip, force=(0.03, 0.0, 8.0))
    return robot.add_section_update("soft", arm)


def power_damping(robot: pl.Robot, arm: pl.Rod) -> object:
    robot.add_load("push", arm.tip, force=(0.03, 0.0, 0.0))
    return robot.add_strain_damper("skin", arm, pl.Damping(bending=1e-4, axial=0.1), 1.5)


PUSH = tip_load(force=(0.03, 0.0, 0.0))
PULL = {"pull": lambda t: 0.5 * (ramp(t) - 1.0)}
MORE_CASES: dict[str, Case] = {
    "spring": Case({}, spring),
    "link": Case({}, link),
    "tendon": Case({}, tendon, PULL),
    "embedded tendon": Case({}, embedded, PULL),
    "rubbing tendon": Case({}, rubbing, PULL),
    "section update": Case({}, softening),
    "strain damper": Case({}, power_damping),
}
"""Effects that meet every formulation on a clamp and on a hinge, integrators in turn."""
CASES: dict[str, Case] = {
    "gravity": Case({}, weight=True),
    "dead load": Case({}, PUSH),
    "follower load": Case({}, tip_load(force=(0.03, 0.0, 0.0), frame="body")),
    "line load": Case({}, along_rod),
    "strain damping": Case({"strain_damping": pl.Damping(bending=1e-5)}, PUSH, {"push": ramp}),
    "drag": Case({"drag": 2.0}, PUSH, {"push": ramp}),
    "mass damping": Case({"mass_damping": 5.0}, PUSH, {"push": ramp}),
    "chamber": Case({}, chamber),
    "constraint": Case({}, slider, {"push": ramp}),
    "body": Case({}, payload, weight=True),
    "base motion": Case({}, shaker, {"shake": lambda t: 5.0 * (1.0 - np.cos(40.0 * t))}),
}
COLUMN_OF = {
    "gravity": "gravity", "loads": "dead load", "viscosity": "strain damping", "drag": "drag",
    "mass_damping": "mass damping", "chambers": "chamber", "constraints": "constraint",
    "joint_springs": "sprung", "joint_drives": "sprung", "joint_limits": "sprung",
    "joint_stops": "sprung", "joint_friction": "sprung",
    "elasticity": "dead load", "force_fields": "dead load",
    "bodies": "body", "base_motions": "base motion", "springs": "spring", "tendons": "tendon",
    "links": "link",
    "muscles": "tendon", "embedded_tendons": "embedded tendon",
    "section_updates": "section update", "strain_dampers": "strain damper",
}  # fmt: skip
"""Where the matrix has each effect that is compiled, described or declared."""
ELSEWHERE = {
    "contact": "validation/test_contact.py",
    "contacts": "validation/test_contact.py",
    "connections": "unit/test_connections.py",
    "gears": "unit/test_gears.py",
    "bushings": "unit/test_elements.py",
    "tubes": "validation/test_concentric_tubes.py",
}
"""Effects that are no column, for they need more than one rod, and the tests that they have."""

JOINTS: dict[str, dict[str, Any]] = {
    "clamped": {},
    "Fixed": {"joint": pl.Fixed()},
    "Revolute": {"joint": pl.Revolute("y", stiffness=0.05, damping=1e-4)},
    "prescribed": {"joint": pl.Revolute("y", drive="angle", input="turn")},
    "Free": {"joint": pl.Free()},
}
SPRUNG = {"stiffness": 0.05, "damping": 1e-4}
MORE_JOINTS: dict[str, dict[str, Any]] = {
    "Prismatic": {"joint": pl.Prismatic("x", stiffness=5.0, damping=1e-2, friction=0.02)},
    "Cylindrical": {
        "joint": pl.Cylindrical(
            "y", stiffness=(0.05, 5.0), limits=((-0.02, 0.02), None), limit_stiffness=0.5
        )
    },
    "Universal": {"joint": pl.Universal("x", "y", **SPRUNG)},
    "Spherical": {"joint": pl.Spherical(**SPRUNG)},
    "Planar": {"joint": pl.Planar("y", stiffness=(5.0, 5.0, 0.05), damping=1e-4)},
    "FreeDirections": {"joint": pl.FreeDirections(("ry", "x"), stiffness=(0.05, 5.0))},
}
"""Joints that meet every formulation under gravity only, and every integrator with some of them."""
ALL_JOINTS = {**JOINTS, **MORE_JOINTS}


def test_matrix_has_a_place_for_all_there_is() -> None:
    assert set(FORMULATIONS) == set(formulations())
    assert set(INTEGRATORS) == set(integrators())
    described = {str(cls.heading) for cls in Effect.__subclasses__() if "model" in cls.__module__}
    assert {*BUILT_IN, *described, *CARRIED} <= {*COLUMN_OF, *ELSEWHERE}
    assert set(COLUMN_OF.values()) <= {*CASES, *MORE_CASES, "sprung"}
    assert all((Path(__file__).parents[1] / file).exists() for file in ELSEWHERE.values())
    for module in pkgutil.iter_modules(pliant.joints.__path__):
        import_module(f"pliant.joints.{module.name}")
    here = {cls for cls in JointMap.__subclasses__() if cls.__module__.startswith("pliant.joints.")}
    here |= {cls for base in (MovingJoint, ScrewJoint) for cls in base.__subclasses__()}
    own = {cls.__name__ for cls in here if cls.__module__.startswith("pliant.joints.")}
    assert own - {"MovingJoint", "ScrewJoint"} <= {*JOINTS, *MORE_JOINTS}


def make(effect: str, joint: str) -> pl.Robot:
    case = {**CASES, **MORE_CASES}[effect]
    robot = pl.Robot(gravity=(1.5, 0.0, -3.0) if case.weight else (0.0, 0.0, 0.0))
    arm = robot.add_rod("arm", LENGTH, pl.Circle(0.01), RUBBER, **case.rod, **ALL_JOINTS[joint])
    case.add(robot, arm)
    return robot


def inputs_of(effect: str, joint: str, moving: bool) -> dict[str, Any]:
    given = dict({**CASES, **MORE_CASES}[effect].inputs or {})
    if joint == "prescribed":
        given["turn"] = lambda t: 0.2 + 0.3 * np.sin(30.0 * t) ** 2
    return given if moving else {name: value(0.3 * END) for name, value in given.items()}


STATIONS = np.array([0.5, 1.0]) * LENGTH


def still(effect: str, joint: str, formulation: Any) -> Any:
    """Positions (2, 3) of middle and tip at rest."""
    robot = make(effect, joint)
    found = robot.statics(inputs_of(effect, joint, False), formulation=formulation)
    return found.position("arm", STATIONS)


def moved(effect: str, joint: str, formulation: Any, integrator: Any, dt: float) -> Any:
    """Displacements (2, 3) of middle and tip from the undeformed rod at the end of a short motion."""
    motion = make(effect, joint).simulate(
        END, dt, inputs_of(effect, joint, True), formulation=formulation, integrator=integrator,
        output_times=(END,), start="statics" if effect == "constraint" and joint != "Free" else "rest",
    )  # fmt: skip
    return motion.position("arm", STATIONS)[-1] - np.array([[0.0, 0.0, s] for s in STATIONS])


def reference_of(name: str) -> Any:
    """The formulation that a formulation is compared with; their maps share no code."""
    return pl.BSpline(4, 14) if name == "Strain" else pl.Strain(order=4, segments=2)


@cache
def still_reference(effect: str, joint: str, by: Any) -> Any:
    return still(effect, joint, by)


@cache
def moved_reference(effect: str, joint: str, by: Any) -> Any:
    return moved(effect, joint, by, pl.Midpoint(), 0.5 * DT)


def still_limit(name: str, effect: str) -> float:
    """Largest distance at rest, relative to the length; ANCF has no shear."""
    # the moment of the constrained rod has a kink at its middle, which a spline rounds off
    if name in SECOND_ORDER:
        return 1e-3
    return 3e-3 if name == "ANCF" else 1e-4 if effect == "constraint" else 5e-5


def moved_limit(name: str, effect: str, joint: str, integrator: str) -> float:
    """Largest distance in motion, relative to the way of the tip."""
    smooth = name in ("BSpline", "ROM") and effect == "constraint"
    limit = 3e-2 if name == "ANCF" else 2e-2 if smooth else 3e-3
    limit = 2e-2 if name in SECOND_ORDER else limit
    if joint == "Prismatic":  # when dry friction lets it slide is known to a step
        limit = max(limit, 6e-3)
    if effect == "base motion":  # the base takes up its acceleration at once
        limit = 3e-2 if name in SECOND_ORDER else {"ANCF": 7e-2, "Shooting": 4e-2}.get(name, 7e-3)
        if integrator == "ImplicitEuler":  # 0.25 with strain modes, too: it damps the first wave
            return 0.3
    if effect == "section update" and integrator == "ImplicitEuler":  # damps the wave of stretch
        return 0.15
    return max(limit, {"ImplicitEuler": 0.1, "Variational": 0.035}.get(integrator, 0.0))


def refused(name: str, effect: str, joint: str, solver: str) -> str:
    """Words of the sentence by which a cell is refused, "" for a cell that is answered."""
    if effect == "base motion" and joint not in ("clamped", "Fixed"):
        return "a rod clamped to the world"
    if name in STRONG and joint not in ("clamped", "Fixed"):
        return f"joint.*rigid connections only, with {name}"
    if name in STRONG and effect in ("spring", "link", "tendon", "rubbing tendon"):
        return "spring|link|tendon"
    if solver != "statics" and (name in STRONG) != (solver in ("BDFAlpha", "BDF")):
        return "integrator.*(BDFAlpha with|with coordinates)"
    if solver == "statics" and joint == "Free" and effect != "chamber":  # it balances itself
        return "no equilibrium was found"
    if solver == "Radau" and joint == "Prismatic":
        return "dry friction"
    return explicitly_refused(name, effect, joint) if solver == "Explicit" else ""


def explicitly_refused(name: str, effect: str, joint: str) -> str:
    """Words of refusals by explicit steps, which solve no equations."""
    if name not in LUMPED:
        return "lumped inertia"
    if joint not in ("clamped", "Fixed", "Free", "prescribed"):
        return "a clamp, Free"
    if effect == "constraint":
        return "solves for constraints"
    return ""


def check(name: str, effect: str, joint: str, solver: str) -> None:
    """One cell: the answer near that of the reference, or a sentence."""
    formulation, by = FORMULATIONS[name], reference_of(name)

    def answer() -> Any:
        if solver == "statics":
            return still(effect, joint, formulation)
        return moved(effect, joint, formulation, INTEGRATORS[solver], DT)

    words = refused(name, effect, joint, solver)
    if words:
        with pytest.raises(pl.PliantError, match=words):
            answer()
    elif solver == "statics":
        expected = still_reference(effect, joint, by)
        assert np.abs(answer() - expected).max() < still_limit(name, effect) * LENGTH
    else:
        expected = moved_reference(effect, joint, by)
        limit = moved_limit(name, effect, joint, solver) * np.abs(expected).max()
        assert np.abs(answer() - expected).max() < limit


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("effect", CASES)
@pytest.mark.parametrize("name", FORMULATIONS)
def test_equilibrium(name: str, effect: str, joint: str) -> None:
    check(name, effect, joint, "statics")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("joint", MORE_JOINTS)
@pytest.mark.parametrize("name", FORMULATIONS)
def test_equilibrium_and_motion_on_more_joints(name: str, joint: str) -> None:
    check(name, "gravity", joint, "statics")
    turn = list(FORMULATIONS).index(name) + list(MORE_JOINTS).index(joint)
    check(name, "gravity", joint, "BDFAlpha" if name in STRONG else list(INTEGRATORS)[turn % 5])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("joint", ["clamped", "Revolute"])
@pytest.mark.parametrize("effect", MORE_CASES)
@pytest.mark.parametrize("name", FORMULATIONS)
def test_equilibrium_and_motion_with_more_effects(name: str, effect: str, joint: str) -> None:
    check(name, effect, joint, "statics")
    if effect in ("section update", "strain damper") and "Shooting" in name:
        return  # a law in plain Python at every stage of every step takes half a minute and more
    turn = list(FORMULATIONS).index(name) + list(MORE_CASES).index(effect) + (joint == "clamped")
    check(name, effect, joint, "BDFAlpha" if name in STRONG else list(INTEGRATORS)[turn % 5])


def turns() -> list[tuple[str, str, str, str]]:
    """Formulation, effect, joint and integrator: each of the first three with all, integrators in turn.

    Every integrator meets every effect and every joint with some formulation; strong forms have
    their own one, and each formulation meets all of them once.
    """
    names, cells = list(INTEGRATORS), []
    for f, name in enumerate(FORMULATIONS):
        for e, effect in enumerate(CASES):
            for j, joint in enumerate(JOINTS):
                turn = "BDFAlpha" if name in STRONG else names[(f + e + 2 * j) % 5]
                cells.append((name, effect, joint, turn))
        cells += [(name, "dead load", "clamped", solver) for solver in names]
    for e, effect in enumerate({**CASES, **MORE_CASES}):
        for j, joint in enumerate(ALL_JOINTS if effect == "gravity" else JOINTS):
            name = COORDINATES[(e + j) % len(COORDINATES)]
            cells += [(name, effect, joint, "Radau")]
    cells += [(name, "constraint", "Revolute", "Radau") for name in COORDINATES]
    cells += [("Collocation", effect, "clamped", "BDF") for effect in CASES]
    for name in LUMPED:
        cells += [(name, effect, "clamped", "Explicit") for effect in CASES]
        cells += [(name, "follower load", joint, "Explicit") for joint in JOINTS]
    return sorted(set(cells))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "effect", "joint", "integrator"), turns())
def test_motion(name: str, effect: str, joint: str, integrator: str) -> None:
    check(name, effect, joint, integrator)


ACROSS: dict[str, Case] = {
    "gravity": Case({}, weight=True),
    "dead load": Case({}, tip_load(force=(0.0, 0.03, 0.0))),
    "follower load": Case({}, tip_load(force=(0.0, 0.03, 0.0), frame="body")),
    "line load": Case({}, lambda robot, arm: robot.add_load("push", arm, force=(0.0, 0.1, 0.0))),
    "chamber": Case(
        {}, lambda robot, arm: robot.add_chamber("air", arm, 5e-5, (0.0, 0.004), pressure=4e4)
    ),
    "constraint": Case(
        {},
        lambda robot, arm: robot.add_constraint(
            "guide", arm.tip, pl.pose((0.0, 0.01, LENGTH)), hold=("y",)
        ),
    ),
    "body": Case(
        {},
        lambda robot, arm: robot.add_body("bob", 0.005, on=arm.tip, centre=(0.0, 0.01, 0.0)),
        weight=True,
    ),
    "base motion": Case(
        {},
        lambda robot, arm: robot.add_base_motion("shake", arm, rotation=(1.0, 0.0, 0.0)),
        {"shake": 0.3},
        weight=True,
    ),
}
"""Effects that bend a rod out of its xz plane."""


@pytest.mark.parametrize("effect", ACROSS)
@pytest.mark.parametrize("name", FORMULATIONS)
def test_what_acts_across_a_plane_moves_a_rod_or_is_told(name: str, effect: str) -> None:
    """No formulation answers without a word that nothing happens: it bends, warns or refuses."""
    case, formulation = ACROSS[effect], FORMULATIONS[name]
    robot = pl.Robot(gravity=(0.0, 3.0, 0.0) if case.weight else (0.0, 0.0, 0.0))
    arm = robot.add_rod("arm", LENGTH, pl.Circle(0.01), RUBBER)
    case.add(robot, arm)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", pl.ResolutionWarning)
        try:
            tip = robot.statics(case.inputs, formulation=formulation).tip("arm")[:3, 3]
        except pl.DescriptionError as error:
            assert formulation.capabilities.planar and "'arm'" in str(error)
            return
    told = any("does not bend that way" in str(item.message) for item in caught)
    assert told == formulation.capabilities.planar
    assert told or abs(tip[1]) > 1e-2 * LENGTH


@cache
def frequencies(joint: str, formulation: Any) -> Any:
    return make("gravity", joint).modes(3, formulation=formulation).frequencies


@pytest.mark.parametrize("joint", [joint for joint in JOINTS if joint != "Free"])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_modes(name: str, joint: str) -> None:
    if name in STRONG:
        with pytest.raises(pl.DescriptionError, match=r"a formulation with coordinates"):
            frequencies(joint, FORMULATIONS[name])
        return
    # planar elements have the modes of their plane alone
    expected = frequencies(joint, reference_of(name))
    near = [np.abs(expected / f - 1.0).min() for f in frequencies(joint, FORMULATIONS[name])[:1]]
    assert max(near) < (2e-2 if name == "ANCF" else 1e-3 if name in SECOND_ORDER else 1e-4)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_stepper_goes_the_way_of_simulate(name: str) -> None:
    """With a load that is held, both take the same steps."""
    robot, formulation = make("dead load", "clamped"), FORMULATIONS[name]
    motion = robot.simulate(5 * DT, DT, formulation=formulation)
    stepper = robot.stepper(DT, formulation=formulation)
    for _ in range(5):
        assert stepper.advance()
    tip = stepper.state.tip("arm")
    assert tip == pytest.approx(motion.tip("arm")[-1], abs=1e-9 * LENGTH)
