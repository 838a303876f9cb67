"""The house keeps its walls: nobody names an effect or formulation but itself, and nothing grows."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import pliant as pl
from pliant.joints.contract import JointMap
from pliant.lie import se3
from pliant.model.registry import Effect
from pliant.physics.effects import BUILT_IN
from pliant.solve import registry

ROOT = Path(__file__).resolve().parents[1]
FACE = {"pliant/__init__.py", "pliant/model/__init__.py", "pliant/robot.py"}
"""Who names effects and formulations for users: what is public, and the typed ``add_`` methods."""


def names_in(path: Path) -> set[str]:
    """Every name, attribute and imported module in a file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.add(name)
            case ast.Import(names=modules):
                found |= {alias.name for alias in modules}
            case ast.ImportFrom(module=module, names=items):
                found |= {alias.name for alias in items}
                found |= {str(module), *(f"{module}.{alias.name}" for alias in items)}
    return found


def source_of(module: str) -> Path:
    return ROOT / f"{module.replace('.', '/')}.py"


def classes_in(module: str) -> set[str]:
    tree = ast.parse(source_of(module).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def strangers(homes: Mapping[str, set[str]], files: Callable[[str], bool]) -> dict[str, list[str]]:
    """By file or folder, the words of others that are used there.

    homes : by module, the words that belong to it; files : which files may use them all.
    """
    found: dict[str, set[str]] = {}
    owners = {word: module for module, words in homes.items() for word in (*words, module)}
    for path in sorted((ROOT / "pliant").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name in FACE or files(name):
            continue
        used = {word for word in names_in(path) & set(owners) if source_of(owners[word]) != path}
        if used:
            place = "pliant/bvp" if name.startswith("pliant/bvp/") else name
            found.setdefault(place, set()).update(used)
    return {place: sorted(used) for place, used in found.items()}


def described() -> dict[str, set[str]]:
    """By module, the classes that describe effects, and the headings that robots have them under."""
    known = [cls for cls in Effect.__subclasses__() if cls.__module__.startswith("pliant.model.")]
    return {cls.__module__: {cls.__name__, str(cls.heading)} for cls in known}


def test_effects_are_named_in_their_own_files_only() -> None:
    laws = {f"pliant.physics.{name}": classes_in(f"pliant.physics.{name}") for name in BUILT_IN}
    own = {f"pliant/physics/{name}.py" for name in BUILT_IN}
    assert strangers(laws | described(), own.__contains__) == {}


def test_formulations_are_named_in_their_own_files_only() -> None:
    homes: dict[str, set[str]] = {}
    for name, module in registry._FORMULATIONS.items():
        homes.setdefault(module, set()).add(name)
    assert strangers(homes, lambda name: name == "pliant/solve/registry.py") == {}


def test_reading_files_loads_neither_physics_nor_pictures() -> None:
    code = (
        "import sys, pliant.files\n"
        "bad = [m for m in sys.modules if m.startswith(('pliant.physics', 'pliant.view', 'numba'))]\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


# -- a user's own classes ------------------------------------------------------------------------


@dataclass(frozen=True)
class Helix(JointMap):
    """A screw about z: one turn advances by `pitch` metres."""

    pitch: float = 0.1
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def pose(self, q: Any) -> Any:
        return se3.exp(q[0] * self.axes(q)[:, 0])

    def axes(self, q: Any) -> Any:
        return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, self.pitch / (2.0 * np.pi)]]).T


@dataclass(frozen=True)
class Torsion(pl.FrameEffect):
    """A spring between a body's turn about z and the world: V = k (1 - cos angle), N m."""

    on: pl.Frame = pl.Frame("nut")
    k: float = 1.0

    def frames(self) -> tuple[pl.Frame, ...]:
        return (self.on,)

    def potential(self, g: Any, u: Any) -> float:
        return self.k * (1.0 - float(g[0][0, 0]))


def test_joint_and_effect_of_a_user_need_no_edit() -> None:
    """A nut on a screw sinks until its spring carries the weight; it swings about that place."""
    robot, mass, inertia, joint, k = pl.Robot(), 0.2, 1e-3, Helix(), 0.1
    nut = robot.add_body("nut", mass, (inertia, inertia, inertia), joint=joint)
    robot.add(Torsion("torsion", on=nut.at((0.0, 0.0, 0.0)), k=k))
    lead = joint.pitch / (2.0 * np.pi)
    still = robot.statics()
    angle = -np.arcsin(mass * 9.81 * lead / k)
    assert still.joint("nut") == pytest.approx([angle], rel=1e-7)
    slow = np.sqrt(k * np.cos(angle) / (inertia + mass * lead**2)) / (2.0 * np.pi)
    assert robot.modes(1).frequencies == pytest.approx([slow], rel=1e-4)
    motion = robot.simulate(0.25 / slow, 1e-3 / slow, joints={"nut": angle + 1e-3})
    assert motion.joint("nut")[-1] == pytest.approx([angle], abs=3e-5)


# -- growth --------------------------------------------------------------------------------------

FORMULATIONS = {
    "bspline": pl.BSpline(3, 8),
    "hermite": pl.Hermite(6),
    "strain": pl.Strain(order=3, segments=2),
    "ancf": pl.ANCF(6),
}


def soft_arm() -> pl.Robot:
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=500.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), rubber, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0.0, 0.0, 0.2))
    robot.add_body("bob", 0.01, (1e-6,) * 3, on=arm.tip, joint=pl.Revolute("y", stiffness=0.01))
    return robot


def growth(work: Callable[[], object], calls: int) -> int:
    """Blocks of memory that some calls hold, the least of three rounds: caches fill at first."""
    held = []
    for _ in range(4):
        gc.collect()
        held.append(sys.getallocatedblocks())
        for _ in range(calls):
            work()
    return int(np.diff(held).min())


@pytest.mark.parametrize("name", FORMULATIONS)
def test_iterations_and_steps_hold_no_memory(name: str) -> None:
    """Over 200 time steps and 100 equilibria, not one block of memory is kept for an iteration."""
    robot, formulation = soft_arm(), FORMULATIONS[name]
    assert growth(lambda: robot.statics({"push": 1.0}, formulation=formulation), 100) < 200
    stepper = robot.stepper(2e-3, {"push": 1.0}, formulation=formulation)
    assert growth(lambda: stepper.advance({"push": 1.0}), 200) < 200
