"""`pliant warm-up` uses every formulation, integrator, joint and effect that ships."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main
from pliant.files import load_robot_file
from pliant.joints.options import MovingJoint
from pliant.model.registry import sections
from pliant.solve.in_plane import Planes
from pliant.solve.registry import formulations, integrators
from pliant.study.warm_up import ROBOTS, _file_calls, compile_group, groups

FILES = sorted(ROBOTS.glob("*.yaml"))


def kinds(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_every_kind_of_part_and_effect_is_in_a_file() -> None:
    """Actuators are rods with chambers, meshes are bodies and links; parts and effects without a
    section are users' own classes.
    """
    held = set()
    for path in FILES:
        contents = load_robot_file(path, formulations(), integrators())
        held |= {kind for kind, named in contents.description.kinds().items() if named}
    ours = {name for name, cls in sections().items() if cls.__module__.startswith("pliant.")}
    assert ours - {"parts", "effects", "actuators", "meshes"} <= held


def test_every_joint_is_in_a_file() -> None:
    for module in pkgutil.iter_modules(import_module("pliant.joints").__path__, "pliant.joints."):
        import_module(module.name)
    text = "".join(path.read_text() for path in FILES)
    ours = [kind for kind in kinds(MovingJoint) if kind.__module__.startswith("pliant.joints")]
    concrete = [kind.__name__ for kind in ours if hasattr(pl, kind.__name__)]
    words = {"".join("_" + c.lower() if c.isupper() else c for c in name)[1:] for name in concrete}
    assert {
        word for word in words if f"joint: {word}" not in text and f"{word}:" not in text
    } == set()
    assert len(words) > 5


def test_groups_name_formulations_and_integrators() -> None:
    assert {*pl.formulations(), *pl.integrators()} < set(groups())


@pytest.mark.filterwarnings("ignore::pliant.NumericalDamping")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_are_solved(path) -> None:  # type: ignore[no-untyped-def]
    calls = list(_file_calls(path))
    assert calls
    for call in calls:
        call()


def test_a_group_that_is_compiled_compiles_nothing_more() -> None:
    compile_group("rod")
    assert compile_group("rod")[0] == 0


def test_command_answers_in_json_and_names_unknown_groups() -> None:
    found = CliRunner().invoke(main, ["warm-up", "rod", "--workers", "1", "--json"])
    answer = json.loads(found.stdout)
    assert answer["ok"] and set(answer["groups"]) == {"rod"}
    found = CliRunner().invoke(main, ["warm-up", "rods"])
    assert found.exit_code == 2 and "'rods' is none of rod, ANCF" in found.output


@pytest.mark.parametrize("name", ["Spectral", "Newmark"])
def test_kernels_of_planes_are_warmed_up(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, find = [], Planes.of_motion

    def watched(self: Planes, *args: object) -> object:
        found.append(find(self, *args) is not None)  # type: ignore[arg-type]
        return find(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Planes, "of_motion", watched)
    compile_group(name)
    assert any(found) and not all(found)
