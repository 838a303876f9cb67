"""Robots saved to robot files: what is loaded again is equal, whatever was described."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model.fields import holds, quantity
from pliant.model.places import OnRod
from pliant.model.registry import Effect
from pliant.solve.compiled import Compiler

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))
SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0)


def differences(a: Any, b: Any, path: str = "") -> list[str]:
    """Every place at which two descriptions differ, by their dataclass fields.

    A function may have become a table, which has its values at the arclengths of the table.
    """
    if callable(a) and not is_dataclass(a) and isinstance(b, pl.model.Table):
        values = np.array([a(float(s)) for s in np.asarray(b.s)])
        return [] if np.array_equal(values, b.values) else [path]
    if type(a) is not type(b) and not np.isscalar(a):
        return [f"{path}: {type(a).__name__} became {type(b).__name__}"]
    if is_dataclass(a):
        pairs = [(item.name, getattr(a, item.name), getattr(b, item.name)) for item in fields(a)]
    elif isinstance(a, (tuple, list)):
        if len(a) != len(b):
            return [path]
        pairs = [(str(k), *pair) for k, pair in enumerate(zip(a, b, strict=True))]
    elif isinstance(a, np.ndarray) and a.shape == (4, 4):
        return [] if np.abs(a - b).max() < 2e-15 else [path]
    else:
        return [] if np.array_equal(a, b) else [path]
    return [line for name, x, y in pairs for line in differences(x, y, f"{path}.{name}")]


def saved(robot: pl.Robot, folder: Path, **more: Any) -> pl.Robot:
    """Save and load a robot; it must be equal, and its file the same when saved once more."""
    path = robot.save(folder / "robot.yaml", **more)
    again = pl.Robot.from_file(path)
    assert again.description.gravity == robot.description.gravity
    kinds = robot.description.kinds()
    assert {k: list(v) for k, v in again.description.kinds().items()} == {
        k: list(v) for k, v in kinds.items()
    }
    for name, part in robot.description.parts.items():
        assert differences(part, again.description.parts[name], name) == []
    assert list(again.inputs) == list(robot.inputs)
    assert path.read_text() == again.save(folder / "again.yaml").read_text()
    return again


class _SeenError(BaseException):
    """Stops an example when its first robot is to be compiled."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_robot_of_each_example_is_equal_after_saving(path, monkeypatch, tmp_path) -> None:
    seen = []

    def stop(self: Compiler, *given: object) -> None:
        seen.append(self.description)
        raise _SeenError

    monkeypatch.setattr(Compiler, "compiled", stop)
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        module.main()
    except _SeenError:
        pass
    for description in seen:
        if all(type(part).__module__.startswith("pliant.") for part in description.parts.values()):
            saved(pl.Robot._from(description, {}), tmp_path, tabulate=30)
    if not seen:
        pytest.skip("this example compiles no robot")


def _pose(r: np.random.Generator) -> Any:
    return [
        None,
        pl.along(str(r.choice(["x", "-y", "z"])), r.normal(size=3)),
        pl.pose(r.normal(size=3), r.normal(size=3)),
        pl.pose((0, 0, 0), np.round(r.normal(size=3), 3)),
    ][r.integers(4)]


def _profile(r: np.random.Generator, length: float) -> Any:
    value = r.uniform(0.5, 1.0) * 0.01
    s = np.array([0.0, 0.3, 1.0]) * length
    return [value, (value, 0.7 * value), pl.model.Table(s, value * r.uniform(0.5, 1.0, 3))][
        r.integers(3)
    ]


def _section(r: np.random.Generator, length: float) -> dict[str, Any]:
    made = SOFT if r.random() < 0.5 else pl.Material(E=r.uniform(1e5, 1e9), G=3e5, viscosity=7.0)
    table = pl.model.Table([0.0, length], [0.01, 0.02])
    shapes = [
        pl.Circle(_profile(r, length), shear_factor=0.9),
        pl.Annulus(0.02, _profile(r, length)),
        pl.Rectangle(_profile(r, length), 0.01),
        pl.Section(3e-4, 8e-9, 9e-9, 1.6e-8),
    ]
    if r.random() < 0.3:
        bending = [0.01, (0.01, 0.02), (table, 0.01), table][r.integers(4)]
        inertia = [None, (1e-6, 1e-6, 2e-6)][r.integers(2)]
        return {"section": pl.Stiffness(bending, 0.01, (100, 120), table, 0.1, inertia, 0.01)}
    return {"section": shapes[r.integers(4)], "material": made}


def _formulation(r: np.random.Generator) -> Any:
    return [None, pl.BSpline(degree=4, points=7), pl.Strain(), pl.Hermite(5), pl.Collocation(9)][
        r.integers(5)
    ]


def random_robot(seed: int) -> pl.Robot:
    """A robot with parts and effects of every kind, joined at random. It need not be solvable."""
    r = np.random.default_rng(seed)
    robot = pl.Robot(gravity=[(0, 0, -9.81), tuple(r.normal(size=3))][r.integers(2)])
    frames: list[Any] = []
    odd = ["arm", "on", "yes", "12", "a b: c", "näme", "null", "x.y", "#1", "it's", '"', "tip"]
    for k in range(int(r.integers(1, 5))):
        length = float(r.uniform(0.1, 1.0))
        base = frames[r.integers(len(frames))] if frames and r.random() < 0.7 else "world"
        joint = [None, pl.Revolute("x", 0.1, 0.2), pl.Revolute((0, 1, 1), drive="angle"), pl.Free()]
        free = r.random() < 0.2
        rod = robot.add_rod(
            f"{odd[r.integers(len(odd))]}{k}",
            length,
            **_section(r, length),
            pose=_pose(r),
            base=None if free else base,
            breaks=[(), (0.02, 0.05)][r.integers(2)],
            natural=[(0, 0, 0), tuple(r.normal(size=3)), (1, 2, 3, 0.1, 0, 1.1)][r.integers(3)],
            formulation=_formulation(r),
            theory=["cosserat", "kirchhoff"][r.integers(2)],
            drag=[0.0, 0.3, (0.1, 0.2, 0.3)][r.integers(3)],
            mass_damping=float(r.integers(2)),
            rotary=bool(r.integers(2)),
            strain_damping=[None, pl.Damping(bending=(1e-4, 2e-4), axial=0.1)][r.integers(2)],
            joint=None if free else joint[r.integers(4)],
        )
        frames += [rod.tip, rod.at(r.uniform(0, length), (0.01, 0.02, 0.03), (0.1, 0, 0.2))]
        if r.random() < 0.5:
            R = pl.pose(rotation=r.normal(size=3))[:3, :3]
            inertia = R @ np.diag([2e-5, 3e-5, 4e-5]) @ R.T
            body = robot.add_body(
                f"body{k}", 0.1, [inertia, (1e-5, 1e-5, 1e-5)][r.integers(2)],
                [None, rod.tip][r.integers(2)], r.normal(size=3), _pose(r), joint[r.integers(4)],
            )  # fmt: skip
            frames.append(body.at(r.normal(size=3), (0.1, 0.2, 0.3)))
        if r.random() < 0.5:
            line = [None, pl.Lag(0.05), pl.Flow(1e-4, dead_volume=1e-6)][r.integers(3)]
            robot.add_chamber(f"ch{k}", rod, _profile(r, length), (0.01, 0), None, 10.0, line=line)
        if base == "world" and not free and not rod.joint:
            robot.add_base_motion(f"move{k}", rod, r.normal(size=3), r.normal(size=3))
        robot.add_load(
            f"load{k}", [rod, rod.at(0.02)][k % 2], r.normal(size=3), over=[(0, 0.05), None][k % 2]
        )
        to = [None, frames[0], pl.pose(r.normal(size=3), r.normal(size=3))][r.integers(3)]
        how = [{}, {"kind": "sliding"}, {"hold": ("x", "rz")}][r.integers(3)]
        robot.add_constraint(f"hold{k}", frames[-1], to, **how)
    if r.random() < 0.3:
        robot.add_actuator("act", pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, axial=9.0))
    signals = [
        pl.Constant(2.0),
        pl.Ramp(0, 1, 0, 0.5),
        pl.Step(0, 1, 0.5, 0.1),
        pl.Sine(1, 2) + pl.Sweep(1, 1, 2, 3) + 4.0,
        pl.TimeTable([0, 1, 3], r.normal(size=3)),
    ]
    robot.inputs = {name: signals[r.integers(5)] for name in robot.description.inputs()}
    return robot


@pytest.mark.parametrize("block", range(4))
def test_random_robots_are_equal_after_saving(block, tmp_path) -> None:
    for seed in range(25 * block, 25 * block + 25):
        robot = random_robot(seed)
        again = saved(robot, tmp_path)
        for name, signal in robot.inputs.items():
            t = np.linspace(0.0, 4.0, 41)
            np.testing.assert_array_equal(again.inputs[name].over(t), signal.over(t))


def test_robot_with_parts_and_effects_of_all_kinds_is_equal_after_saving(tmp_path) -> None:
    """The robot of the fuzz study, which has all sections but those written as other ones."""
    text = (Path(__file__).parents[2] / "benchmarks" / "everything.yaml").read_text()
    text = text.partition("\nsimulate:")[0]
    given = {line.partition(":")[0] for line in text.splitlines() if not line.startswith(" ")}
    ours = {h for h, cls in pl.model.sections().items() if cls.__module__.startswith("pliant.")}
    assert given >= ours - {"actuators", "meshes", "parts", "effects"}
    file = tmp_path / "everything.yaml"
    file.write_text(text + "\n")
    saved(pl.Robot.from_file(file), tmp_path)


def arm(**more: Any) -> pl.Robot:
    robot = pl.Robot()
    options = {"length": 0.3, "section": pl.Circle(0.01), "material": SOFT, **more}
    robot.add_rod("arm", **options)
    return robot


def test_functions_of_s_are_refused_by_name_or_tabulated_on_request(tmp_path) -> None:
    robot = arm(section=pl.Circle(lambda s: 0.01 - 0.01 * s), natural=lambda s: (0.0, s, 0.0))
    robot.add_load("wind", "arm", force=lambda s: (0.0, s**2, 0.0))
    with pytest.raises(pl.DescriptionError, match=r"rod 'arm': section\.radius = .*tabulate=200"):
        robot.save(tmp_path / "robot.yaml")
    assert list(tmp_path.iterdir()) == []
    again = saved(robot, tmp_path, tabulate=10)
    wind = again.description.loads["wind"].density([0.0, 0.015, 0.3])
    np.testing.assert_allclose(wind[:, 4], [0.0, 0.5 * 0.03**2, 0.09], atol=1e-15)


def test_a_table_of_a_function_that_jumps_has_the_jump(tmp_path) -> None:
    def radius(s: float) -> float:
        return 0.01 if s < 0.1307 else 0.006

    robot = arm(section=pl.Circle(radius), pose=pl.along("x"))
    robot.add_load("wind", "arm", force=lambda s: (0, 0, -3.0 * (0.2 <= s <= 0.21)))
    again = saved(robot, tmp_path, tabulate=20)
    np.testing.assert_allclose(again.statics().tip(), robot.statics().tip(), atol=1e-6)
    assert len(again.description.rods["arm"].section.radius.s) < 40


def test_functions_of_time_and_own_formulations_are_refused_by_name(tmp_path) -> None:
    robot = arm()
    robot.add_load("push", robot.description.rods["arm"].tip, (0, 0, 1))
    for value in (lambda t: t, pl.Sine(1, 1) + (lambda t: t)):
        robot.inputs = {"push": value}
        with pytest.raises(pl.DescriptionError, match=r"input 'push': value = .*no Python code"):
            robot.save(tmp_path / "robot.yaml", tabulate=9)

    class Own(pl.BSpline):
        """A formulation that no file can name."""

    with pytest.raises(pl.DescriptionError, match=r"rod 'arm': formulation = .*comes with Pliant"):
        arm(formulation=Own()).save(tmp_path / "robot.yaml")
    strong = arm()
    strong.add_muscle("pull", [(0, 0, 0), "arm.tip"], law=lambda length, rate, a: a)
    with pytest.raises(pl.DescriptionError, match=r"muscle 'pull': law = .*hold no functions"):
        strong.save(tmp_path / "robot.yaml")
    with pytest.raises(pl.DescriptionError, match="at least one rod or body"):
        pl.Robot().save(tmp_path / "robot.yaml")
    with pytest.raises(pl.DescriptionError, match=r"ends in one of \.yaml, \.yml"):
        arm().save(tmp_path / "robot.txt")
    assert list(tmp_path.iterdir()) == []


@dataclass(frozen=True, eq=False)
class MossBed(Effect):
    """An effect of a user's own, with fields of several kinds."""

    on: str = holds(OnRod())
    stiffness: Any = quantity("N/m^2", sign="positive", along=True, example="100")
    mode: str = "soft"
    rows: Any = ((0.0, 1.0), (2.0, 3.0))


def test_own_classes_are_saved_by_their_fields(tmp_path) -> None:
    robot = arm()
    robot.add(MossBed("moss", "arm", lambda s: 1.0 + s, "hard", ((1.0, 2.0),)))
    assert "moss:\n    moss_bed: {on: arm" in saved_text(robot, tmp_path, tabulate=3)
    robot.add(MossBed("more", "arm", 3.0, rows=object()))
    with pytest.raises(pl.DescriptionError, match="moss bed 'more': rows = "):
        robot.save(tmp_path / "robot.yaml", tabulate=3)


def saved_text(robot: pl.Robot, folder: Path, **more: Any) -> str:
    saved(robot, folder, **more)
    return (folder / "robot.yaml").read_text()


def test_an_old_file_survives_a_robot_that_cannot_be_saved(tmp_path) -> None:
    path = arm().save(tmp_path / "robot.yaml")
    before = path.read_bytes()
    with pytest.raises(pl.DescriptionError):
        arm(section=pl.Circle(lambda s: 0.01)).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["robot.yaml"]


def test_statics_of_a_saved_robot_are_bit_identical(tmp_path) -> None:
    robot = arm(pose=pl.pose((0.1, 0, 0), (0.3, 0.2, 0.1)), formulation=pl.BSpline(3, 6))
    again = saved(robot, tmp_path)
    np.testing.assert_array_equal(again.statics().tip(), robot.statics().tip())
