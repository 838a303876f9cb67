"""Implicit steps of robots in a plane: found by themselves, and the same motions as in space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3
from pliant.model.fields import holds
from pliant.model.places import OnRod
from pliant.solve import in_plane
from pliant.solve.in_plane import Planes

SOFT = pl.Material(E=1e6, nu=0.4, rho=1000.0)
DAMPED = pl.Material(E=1e6, nu=0.4, rho=1000.0, viscosity=300.0)
MESHES = {"spectral": pl.Spectral(3, 3), "spline": pl.BSpline(3, 8)}
DOWN = (0.0, 0.0, -9.81)
TURNED = se3.exp(np.array([0.4, -0.7, 1.1, 0.3, 0.1, 0.2]))


def arm(robot: pl.Robot, pose: Any = None, material: pl.Material = SOFT, **more: Any) -> Any:
    """A rod of unequal stiffness along x, in the plane of x and z."""
    place = pl.along("x") if pose is None else pose
    return robot.add_rod("arm", 0.3, pl.Rectangle(0.01, 0.016), material, place, **more)


def hanging() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=DOWN)
    arm(robot, natural=(0.0, 3.0, 0.0))
    return robot, {}


def tilted() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=tuple(TURNED[:3, :3] @ DOWN))
    arm(robot, TURNED @ pl.along("x"), natural=(0.0, 3.0, 0.0))
    return robot, {"velocity": {"arm": lambda s: np.array([0.0, 0.7, 0.0, 0.2, 0.0, 0.1]) * s}}


def held() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=DOWN)
    arm(robot, theory="kirchhoff", natural=(0.0, 3.0, 0.0))
    return robot, {}


def loaded() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=DOWN)
    rod = arm(robot, material=DAMPED)
    robot.add_load("push", rod.tip, force=(0.05, 0.0, 0.1))
    robot.add_load("turn", rod.at(0.2), moment=(0.0, 0.01, 0.0), frame="body")
    robot.add_load("wind", rod, force=(0.2, 0.0, -0.1))
    return robot, {}


def dragged() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=DOWN)
    arm(robot, drag=(20.0, 10.0, 1.0), mass_damping=0.5)
    return robot, {}


def pulled() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=DOWN)
    rod = arm(robot)
    robot.add_tendon("inner", along=rod, offset=(0.004, 0.0))
    points = [rod.at(s, (-0.006, 0.0)) for s in (0.0, 0.1, 0.2, 0.3)]
    robot.add_tendon("outer", points)
    robot.add_spring("spring", rod.tip, (0.4, 0.0, -0.1), stiffness=5.0, rest=0.05)
    return robot, {"inputs": {"inner": pl.Ramp(0.0, 0.5, 0.0, 0.05), "outer": 0.2}}


def blown() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=DOWN)
    rod = arm(robot)
    robot.add_chamber("chamber", rod, 2e-5, offset=(0.004, 0.0))
    return robot, {"inputs": {"chamber": pl.Ramp(0.0, 1e4, 0.0, 0.05)}}


def hinged() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=DOWN)
    rod = arm(robot, joint=pl.Revolute("y", stiffness=0.01, damping=1e-3))
    body = robot.add_body(
        "weight", 0.01, (1e-6, 2e-6, 3e-6), on=rod.tip, joint=pl.Revolute("y", stiffness=0.01)
    )
    more = pl.pose((0.0, 0.0, 0.05))
    robot.add_rod("tail", 0.2, pl.Circle(0.006), SOFT, more, base=body.at((0.0, 0.0, 0.0)))
    robot.add_body("ball", 0.005, (1e-7, 1e-7, 1e-7), on="tail.tip")
    return robot, {}


def driven() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=DOWN)
    arm(robot, joint=pl.Revolute("y", drive="angle", input="swing"))
    return robot, {"inputs": {"swing": pl.Sine(0.4, 2.0)}}


def shaken() -> tuple[pl.Robot, dict[str, Any]]:
    robot = pl.Robot(gravity=DOWN)
    rod = arm(robot)
    robot.add_base_motion("slide", rod, translation=(1.0, 0.0, 1.0))
    robot.add_base_motion("tilt", rod, rotation=(0.0, 1.0, 0.0))
    return robot, {"inputs": {"slide": pl.Sine(0.02, 3.0), "tilt": pl.Sine(0.3, 2.0)}}


CASES = (hanging, tilted, held, loaded, dragged, pulled, blown, hinged, driven, shaken)
INTEGRATORS: dict[str, pl.Integrator] = {
    "midpoint": pl.Midpoint(),
    "newmark": pl.Newmark(),
    "alpha": pl.GeneralizedAlpha(0.8),
    "euler": pl.ImplicitEuler(),
    "variational": pl.Variational(),
    "radau": pl.Radau(1e-8),
}

METHODS = [("spectral", name) for name in INTEGRATORS] + [
    ("spline", name) for name in ("midpoint", "newmark", "radau")
]


@pytest.fixture
def flattened(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether motions were found to stay in planes."""
    told: list[bool] = []
    find = Planes.of_motion

    def watched(self: Planes, *args: Any) -> Any:
        found = find(self, *args)
        told.append(found is not None)
        return found

    monkeypatch.setattr(Planes, "of_motion", watched)
    monkeypatch.setattr(in_plane, "WORTH", 0)
    return told


def in_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Planes, "of_motion", lambda *args: None)


def moved(
    robot: pl.Robot, integrator: pl.Integrator, mesh: str = "spectral", **more: Any
) -> pl.Motion:
    times = np.linspace(0.0, 0.1, 7)
    step = 1e-4 if isinstance(integrator, pl.Variational) else 4e-3
    return robot.simulate(
        0.1, step, formulation=MESHES[mesh], integrator=integrator, output_times=times, **more
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("mesh", "integrator"), METHODS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_motions_in_a_plane_are_those_in_space(
    case: Callable[[], tuple[pl.Robot, dict[str, Any]]],
    mesh: str,
    integrator: str,
    flattened: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot, more = case()
    method = INTEGRATORS[integrator]
    found = moved(robot, method, mesh, **more)
    assert flattened == [True]
    in_space(monkeypatch)
    space = moved(robot, method, mesh, **more)
    assert np.ptp(space.tip("arm")[:, :3, 3], axis=0).max() > 1e-3
    for name in robot.description.rods:
        np.testing.assert_allclose(found.pose(name), space.pose(name), atol=1e-10)
        # spins differ by rounding of their own: the moments of inertia of thin rods are small
        size = np.abs(space.velocity(name)).max()
        np.testing.assert_allclose(found.velocity(name), space.velocity(name), atol=5e-6 * size)
    scale = max(np.abs(values).max() for values in space.energy.values())
    for name, values in space.energy.items():
        np.testing.assert_allclose(found.energy[name], values, atol=1e-9 * scale)
    for name, values in space.reactions.items():
        np.testing.assert_allclose(found.reactions[name], values, atol=1e-6 * np.abs(values).max())


@dataclass(frozen=True, eq=False)
class Breeze(pl.LineEffect):
    """Pushes a rod out of the plane, but only where it has fallen far enough."""

    on: str = holds(OnRod())

    def density(self, s, g, u):
        return np.where(g[:, 2, 3] < -0.01, -0.1 * g[:, 1, 3], 0.0)


def beside(change: str) -> tuple[pl.Robot, dict[str, Any]]:
    """A robot that looks as if it stayed in a plane, and does not."""
    robot, more = pl.Robot(gravity=(0.0, 1e-3, -9.81) if change == "gravity" else DOWN), {}
    turn = se3.exp(np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0]))
    given: dict[str, Any] = {
        "natural shape": {"natural": (0.01, 3.0, 0.0)},
        "turned section": {"pose": pl.along("x") @ turn},
        "hinge": {"joint": pl.Revolute("x", stiffness=0.1)},
    }
    rod = arm(robot, **given.get(change, {}))
    out = {
        "velocity": {"arm": lambda s: np.array([0.0, 0.0, 0.0, 0.0, 1e-6 * s, 0.0])},
        "twist": {"arm": lambda s: np.array([0.0, 0.0, 1e-3 * s, 0.0, 0.0, 0.0])},
    }
    if change in out:
        more = {"velocity": out[change]}
    elif change == "torque along the rod":
        robot.add_load("turn", rod.tip, moment=(1e-3, 0.0, 0.0))
    elif change == "force across":
        robot.add_load("push", rod.tip, force=(0.0, 1e-6, 0.0))
    elif change == "body beside":
        robot.add_body("ball", 0.01, (1e-6, 1e-6, 1e-6), on=rod.tip, centre=(0.0, 0.01, 0.0))
    elif change == "product of inertia":
        robot.add_body("disk", 0.01, (1e-6, 2e-6, 3e-6), on=rod.tip, pose=turn @ pl.along("x"))
    elif change == "tendon beside":
        robot.add_tendon("pull", along=rod, offset=(0.004, 1e-4))
        more = {"inputs": {"pull": pl.Ramp(0.0, 1.0, 0.0, 0.05)}}
    elif change == "changing force":
        robot.add_load("push", rod.tip, force=(0.0, 0.0, 0.0))
        more = {"inputs": {"push": lambda t: np.array([0.0, 0.1 * float(t > 0.05), 0.0])}}
    elif change == "floor":
        floor = pl.Plane((0, 0, 1), (0.0, 0.0, -0.02))
        robot.add_contact("floor", rod, floor, stiffness=1e3, radius=0.005)
    elif change == "base motion":
        robot.add_base_motion("slide", rod, translation=(1.0, 1e-3, 0.0))
        more = {"inputs": {"slide": pl.Sine(0.02, 3.0)}}
    elif change == "own effect":
        robot.add(Breeze("breeze", on="arm"))
    return robot, more


CHANGES = (
    "gravity", "natural shape", "turned section", "hinge", "velocity", "twist",
    "torque along the rod", "force across", "body beside", "product of inertia", "tendon beside",
    "changing force", "floor", "own effect", "base motion",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("change", CHANGES)
def test_robots_that_leave_their_plane_are_moved_in_space(
    change: str, flattened: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    robot, more = beside(change)
    found = moved(robot, pl.Newmark(), **more)
    assert flattened == [False]
    across = np.abs(found.pose("arm")[..., :3, :]).max(axis=(0, 1))[1, [0, 2, 3]]
    assert across.max() > 0.0 or change in ("floor", "hinge")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("integrator", ["midpoint", "alpha", "radau"])
def test_events_end_motions_in_a_plane_as_in_space(
    integrator: str, flattened: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    robot, _ = hanging()
    events = pl.Event(lambda state: float(state.position("arm.tip")[2]) + 0.14, "low")
    given: dict[str, Any] = {"events": events}
    found = moved(robot, INTEGRATORS[integrator], **given)
    assert flattened == [True]
    in_space(monkeypatch)
    space = moved(robot, INTEGRATORS[integrator], **given)
    assert found.event[0] == "low"
    assert found.event[1] == pytest.approx(space.event[1], abs=1e-10)
    np.testing.assert_allclose(found.tip("arm")[-1], space.tip("arm")[-1], atol=1e-10)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_motions_in_a_plane_go_on_from_checkpoints(tmp_path: Path, flattened: list[bool]) -> None:
    robot, _ = hanging()
    whole = moved(robot, pl.Newmark())

    def stop(t: float, duration: float) -> None:
        if t > 0.5 * duration:
            raise KeyboardInterrupt

    path = tmp_path / "kept.nc"
    assert not moved(robot, pl.Newmark(), save=path, progress=stop).complete
    again = moved(robot, pl.Newmark(), resume=path)
    assert flattened == [True] * 3
    np.testing.assert_array_equal(again.tip("arm"), whole.tip("arm"))
    np.testing.assert_array_equal(again.velocity("arm"), whole.velocity("arm"))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_short_motions_are_not_worth_a_second_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, _ = hanging()
    monkeypatch.setattr(Planes, "_flat", lambda *args: pytest.fail("compiled for a plane"))
    moved(robot, pl.Newmark())
    with pytest.raises(pytest.fail.Exception):
        robot.simulate(2.0, 4e-3, formulation=MESHES["spectral"], integrator=pl.Newmark())
