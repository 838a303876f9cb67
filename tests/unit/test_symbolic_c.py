"""Generated C compiles without warnings and computes what the symbols say."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl

pytest.importorskip("casadi")
from pliant.symbolic import SymbolicEquations, equations
from pliant.symbolic.c_source import FUNCTIONS

COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here")
STRICT = ("-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")
MODELS = {"SRL": pl.SRL(1), "EBR": pl.EBR(2), "EBA": pl.EBA(2), "ROM": pl.ROM(1)}


def robot() -> pl.Robot:
    """A rod on a driven hinge, with a tendon and a ball on a rail at its tip."""
    made = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=300.0)
    crank = made.add_body("crank", 0.1, (1e-4,) * 3, joint=pl.Revolute("x", drive="angle"))
    arm = made.add_rod("arm", 0.3, pl.Circle(0.01), rubber, base=crank.at((0, 0, 0.1)))
    ball = made.add_body("ball", 0.1, (1e-4, 2e-4, 2e-4), on=arm.tip, joint=pl.Spherical())
    made.add_tendon("pull it", path=[arm.at(s, (0.008, 0)) for s in (0.0, 0.15, 0.3)], tension=2.0)
    made.add_constraint("rail", ball.at((0, 0, 0.1)), hold=("x", "ry"))
    return made


def compiled(eq: SymbolicEquations, folder: Path) -> Any:
    source = eq.export_c(folder, "bot", functions=FUNCTIONS, places={"the tip": "arm.tip"})
    library = folder / "bot.so"
    command = [str(COMPILER), *STRICT, "-shared", "-fPIC", str(source), "-lm", "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def pointer(values: Any) -> Any:
    return None if values is None else values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


@pytest.mark.parametrize("model", MODELS)
def test_compiled_functions_return_what_the_symbols_say(model: str, tmp_path: Path) -> None:
    eq = equations(robot(), parameters=["arm.material.E", "ball.mass"], formulation=MODELS[model])
    library, rng = compiled(eq, tmp_path), np.random.default_rng(2)
    given = {
        "q": eq.rest + 0.05 * rng.normal(size=len(eq.rest)),
        "v": rng.normal(size=len(eq.names)),
        "u": eq.u({"pull it": 3.0}),
        "c": np.array([2.0]),
        "p": eq.p({"arm.material.E": 1.3e6}),
    }
    for name in (*FUNCTIONS, "pose_the_tip"):
        ours = eq.pose("arm.tip") if name.startswith("pose") else getattr(eq, name)
        arguments = [given[ours.name_in(k)] for k in range(ours.n_in())]
        told = [np.array(x, dtype=float) for x in ours.call(arguments)]
        found = [np.full(x.shape, np.nan) for x in told]
        getattr(library, f"bot_{name}")(*map(pointer, [*arguments, *found]))
        for a, b in zip(found, told, strict=True):
            assert a == pytest.approx(b, abs=1e-12 * np.abs(b).max(initial=1e-9)), name


def test_results_may_be_left_out_and_header_names_everything(tmp_path: Path) -> None:
    eq = equations(robot(), parameters=["arm.material.E"], formulation=pl.SRL(1))
    library = compiled(eq, tmp_path)
    a, c = np.zeros(len(eq.names)), np.zeros(1)
    rest = (eq.rest, np.zeros(len(eq.names)), eq.u(), c, eq.p())
    library.bot_accelerations(*map(pointer, (*rest, a, None, None)))
    told = np.array(eq.accelerations(*rest)[0]).ravel()
    assert a == pytest.approx(told, rel=1e-12)
    header = (tmp_path / "bot.h").read_text(encoding="utf-8")
    for line in (
        f"#define BOT_NQ {len(eq.rest)}",
        "#define BOT_NL 2",
        "#define BOT_U_PULL_IT 0 /* pull it */",
        "#define BOT_P_ARM_MATERIAL_E 0 /* arm.material.E */",
        "#define BOT_C_CRANK_ANGLE 0 /* crank.angle */",
    ):
        assert line in header
    described = (ctypes.c_double * 1).in_dll(library, "bot_parameters")
    assert described[0] == 1e6


def test_names_that_are_alike_in_c_have_macros_of_their_own(tmp_path: Path) -> None:
    bot = pl.Robot()
    for name in ("pull.1", "pull_1"):
        joint = pl.Prismatic("z", drive="force", input=name)
        bot.add_body(f"cart {name[4]}", 1.0, joint=joint)
    eq = equations(bot)
    assert eq.inputs == ("pull.1", "pull_1")
    header = eq.export_c(tmp_path).with_suffix(".h").read_text()
    for line in ("ROBOT_U_PULL_1 0 /* pull.1 */", "ROBOT_U_PULL_1_AT_1 1 /* pull_1 */"):
        assert f"#define {line}" in header


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "my robot"}, "a C identifier"),
        ({"functions": ["masss"]}, "mass"),
        ({"places": {"tip": "arm.end"}}, "arm.end"),
        ({"places": ["arm.tip"]}, "places by name"),
        ({"places": {"a b": "arm.tip", "a.b": "arm.base"}}, "another name in C"),
    ],
)
def test_bad_exports_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    eq = equations(robot(), formulation=pl.ROM(1))
    with pytest.raises(pl.DescriptionError, match=message):
        eq.export_c(tmp_path, **options)
