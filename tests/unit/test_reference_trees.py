"""The oracle for trees: its solvers agree with closed forms, with each other and with the numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.reference import (
    RodProblem,
    solve_cantilever,
    tree_cases,
    tree_values,
    values,
)
from tests.reference.euler_top import free_body, jacobi_spin
from tests.reference.planar_segments import PlanarSegments, extrapolated
from tests.reference.planar_spectral import PlanarSpectral
from tests.reference.rigid_chain import (
    chain_poses,
    energy,
    move_chain,
    planar_double_pendulum,
    spin_about,
)
from tests.reference.tree_frequencies import frequencies
from tests.reference.tree_problem import (
    FIXED,
    BodyPart,
    Joint,
    RodPart,
    TreeProblem,
    circular_rod,
    placed,
)
from tests.reference.tree_statics import solve_tree
from tests.reference.tree_statics_bvp import solve_tree_bvp

STATIC = {
    "ROD_BODY_ROD": tree_cases.rod_body_rod(),
    "ROD_HINGED_BODY_ROD": tree_cases.rod_body_rod(tree_cases.STATIC_HINGE),
    "BODY_ROD_BODY": tree_cases.body_rod_body(),
    "WELDED_RODS": tree_cases.welded_rods(),
    "STAR": tree_cases.star(),
}
TIMES = np.array([0.0, *tree_values.PENDULUM_T])


def end(part: RodPart | BodyPart) -> float:
    return part.length if isinstance(part, RodPart) else 0.0


def cut(tree: TreeProblem, name: str, s: float) -> TreeProblem:
    """The same tree with one rod as two, welded at arclength s; what hung at s hangs on the weld."""
    parts: list[RodPart | BodyPart] = []
    for part in tree.parts:
        if part.name == name:
            assert isinstance(part, RodPart)
            parts.append(replace(part, length=s, force=(0, 0, 0), moment=(0, 0, 0)))
            rest = {"name": f"{name}+", "on": name, "s": s, "pose": None, "joint": FIXED}
            parts.append(replace(part, length=part.length - s, **rest))
        elif part.on == name and part.s > s:
            parts.append(replace(part, on=f"{name}+", s=part.s - s))
        else:
            parts.append(part)
    return TreeProblem(tuple(parts), tree.gravity)


@pytest.mark.parametrize("name", STATIC)
def test_equilibria_are_the_stored_ones(name):
    tree = STATIC[name]
    solution = solve_tree(tree)
    assert solution.residual < 1e-13
    for part in tree.parts:
        stored = getattr(tree_values, name)[part.name]
        assert solution.pose(part.name, end(part))[:3] == pytest.approx(
            np.array(stored), abs=tree_values.STATIC_ACCURACY
        )
    assert solution.angles == pytest.approx(getattr(tree_values, f"{name}_ANGLES", {}), abs=1e-10)
    for rod, wrench in getattr(tree_values, f"{name}_BASE_WRENCH").items():
        assert solution.wrenches[rod] == pytest.approx(wrench, abs=1e-10)


@pytest.mark.parametrize("name", STATIC)
def test_solve_bvp_finds_the_same_equilibria(name):
    tree = cut(STATIC[name], "spine", 0.12) if name == "STAR" else STATIC[name]
    tips, angles = solve_tree_bvp(tree)
    stored = getattr(tree_values, name)
    if name == "STAR":
        tips["spine"] = tips.pop("spine+")
    for rod, tip in tips.items():
        assert tip[:3] == pytest.approx(np.array(stored[rod]), abs=tree_values.STATIC_ACCURACY)
    assert angles == pytest.approx(getattr(tree_values, f"{name}_ANGLES", {}), abs=1e-10)


@pytest.mark.parametrize("name", STATIC)
def test_the_world_carries_all_weights_and_loads(name):
    tree = STATIC[name]
    mass = sum(p.line_mass * p.length if isinstance(p, RodPart) else p.mass for p in tree.parts)
    total = mass * np.asarray(tree.gravity) + np.sum([part.force for part in tree.parts], axis=0)
    root = tree.parts[0]
    if isinstance(root, RodPart):
        assert getattr(tree_values, f"{name}_BASE_WRENCH")[root.name][3:] == pytest.approx(total)


def test_rods_welded_at_a_right_angle_rest_at_a_right_angle():
    solution = solve_tree(tree_cases.welded_rods(loaded=False))
    expected = np.array([[0, 0, 1, 0.25], [0, 1, 0, 0], [-1, 0, 0, 0.2], [0, 0, 0, 1]])
    assert solution.pose("beam", 0.25) == pytest.approx(expected, abs=1e-14)


def test_two_rods_in_line_are_one_rod():
    whole = replace(tree_cases.FIRST, force=(0.1, 0.05, 0.0), moment=(0.0, 0.0, 0.003))
    weight = whole.line_mass * np.array([0.0, 0.0, -9.81])
    problem = RodProblem(
        whole.length, lambda s: whole.stiffness, distributed=lambda s: weight,
        tip_force=whole.force, tip_moment=whole.moment,
    )  # fmt: skip
    tip = solve_cantilever(problem).tip
    for tree in (TreeProblem((whole,)), cut(TreeProblem((whole,)), "first", 0.11)):
        last = tree.parts[-1]
        assert solve_tree(tree).pose(last.name, last.length) == pytest.approx(tip, abs=1e-11)


@pytest.mark.parametrize("springs", [False, True])
@pytest.mark.parametrize("spatial", [False, True])
def test_double_pendulums_move_as_stored(spatial, springs):
    chain = tree_cases.pendulum(spatial, springs)
    motion = move_chain(chain, tree_cases.PENDULUM_ANGLES, tree_cases.PENDULUM_RATES, TIMES)
    stored = np.array(tree_values.PENDULUM_MOTION[spatial, springs])
    assert motion.angles[1:] == pytest.approx(stored, abs=tree_values.PENDULUM_ACCURACY)
    total = np.array(
        [energy(chain, *state) for state in zip(motion.angles, motion.rates, strict=True)]
    )
    assert total == pytest.approx(tree_values.PENDULUM_ENERGY[spatial, springs], abs=1e-11)
    assert total - motion.dissipated == pytest.approx(total[0], abs=1e-11)
    assert (motion.dissipated[-1] < -0.1) == springs


def test_a_skew_pendulum_on_a_vertical_axis_keeps_its_spin():
    chain = tree_cases.pendulum(True, False)
    motion = move_chain(chain, tree_cases.PENDULUM_ANGLES, tree_cases.PENDULUM_RATES, TIMES)
    states = zip(motion.angles, motion.rates, strict=True)
    spins = np.array([spin_about(chain, (0, 0, 1), *state) for state in states])
    assert spins == pytest.approx(spins[0], abs=1e-12)


def test_two_point_masses_are_the_textbook_pendulum():
    hinge = Joint((0.0, 1.0, 0.0))
    upper = BodyPart(name="upper", mass=0.7, centre=(0, 0, -0.3), joint=hinge)
    lower = BodyPart(name="lower", mass=0.4, centre=(0, 0, -0.25), on="upper",
                     pose=placed((0, 0, -0.3)), joint=hinge)  # fmt: skip
    motion = move_chain(TreeProblem((upper, lower)), (1.2, 0.5), (0.0, 1.0), TIMES)
    book = planar_double_pendulum((0.7, 0.4), (0.3, 0.25), 9.81, (1.2, 1.7), (0.0, 1.0), TIMES)
    assert np.cumsum(motion.angles, axis=1) == pytest.approx(book, abs=1e-10)


@pytest.mark.parametrize("spatial", [False, True])
def test_a_driven_pendulum_moves_as_stored(spatial):
    chain = tree_cases.pendulum(spatial, True)
    motion = move_chain(chain, (0.0, 0.5), (0.0, -3.0), TIMES, drive=tree_cases.drive)
    assert motion.angles[1:, 1] == pytest.approx(tree_values.DRIVEN_PENDULUM[spatial], abs=1e-10)
    driven = [tree_cases.drive(t)[0] for t in TIMES]
    assert motion.angles[:, 0] == pytest.approx(driven, abs=1e-10)


def test_a_rigid_chain_hangs_as_the_static_solver_says():
    """Damped for long enough, the pendulum comes to the equilibrium of the shooting recursion."""
    chain = tree_cases.pendulum(True, True)
    solution = solve_tree(chain)
    angles = list(solution.angles.values())
    motion = move_chain(chain, angles, (0.0, 0.0), [0.0, 1.0])
    assert motion.angles[-1] == pytest.approx(angles, abs=1e-10)
    for part, pose in zip(chain.parts, chain_poses(chain, angles), strict=True):
        assert solution.pose(part.name) == pytest.approx(pose, abs=1e-14)


def test_a_free_top_moves_as_jacobi_says():
    top = tree_cases.TOP
    times = np.array([0.0, *tree_values.TOP_T])
    poses, spins = free_body(**top, times=times)
    assert poses[1:, :3] == pytest.approx(np.array(tree_values.TOP_POSES), abs=1e-11)
    assert spins[1:] == pytest.approx(np.array(tree_values.TOP_SPINS), abs=1e-11)
    inertia = np.array(top["inertia"])
    for t, pose, spin in zip(times, poses, spins, strict=True):
        assert spin == pytest.approx(jacobi_spin(inertia, top["spin"], t), abs=1e-12)
        assert pose[:3, :3] @ (inertia * spin) == pytest.approx(inertia * top["spin"], abs=1e-15)
        centre = pose[:3, :3] @ top["centre"] + pose[:3, 3]
        drift = np.asarray(top["velocity"]) + np.cross(top["spin"], top["centre"])
        flight = np.asarray(top["centre"]) + t * drift + 0.5 * t**2 * np.asarray(top["gravity"])
        assert centre == pytest.approx(flight, abs=1e-14)


def test_one_rod_has_the_frequencies_of_a_beam():
    data = values.RUBBER_BEAM
    rod = circular_rod("beam", 1.0, data["radius"], data["E"], data["nu"], data["rho"])
    found = frequencies(TreeProblem((rod,)), 12.0, across=False, samples=120)
    bending = values.RUBBER_BEAM_HZ["clamped-free"][:3]
    axial = np.sqrt(data["E"] / data["rho"]) / 4.0
    assert found == pytest.approx([*bending, axial], rel=1e-12)


FREQUENCY = {
    "corner": tree_cases.planar_rods(),
    "straight": tree_cases.planar_rods(0.0),
    "hinge": tree_cases.planar_rods(joint=tree_cases.PLANAR_HINGE),
}


@pytest.mark.parametrize("name", FREQUENCY)
def test_frequencies_of_trees_by_two_methods(name):
    tree, stored = FREQUENCY[name], tree_values.TREE_HZ[name]
    for side, across in (("in-plane", False), ("across", True)):
        found = frequencies(cut(tree, "first", 0.13), 6.0, across, samples=80)
        assert found == pytest.approx(stored[side][: found.size], rel=tree_values.TREE_HZ_ACCURACY)
        assert found.size >= 3
    modes = PlanarSpectral(tree, 10)
    assert modes.linear(np.zeros(modes.size))[:4] == pytest.approx(stored["in-plane"][:4], rel=1e-9)


def test_stiff_rods_vibrate_as_a_rigid_pendulum_on_springs():
    hinge = Joint((0.0, 1.0, 0.0), 0.5)
    stiff = {"young": 1e14, "poisson": 0.3, "density": 1100.0, "joint": hinge}
    rods = (
        circular_rod("first", 0.3, 0.012, **stiff),
        circular_rod("second", 0.2, 0.01, **stiff, on="first", s=0.3),
    )
    found = frequencies(TreeProblem(rods, (0, 0, 0)), 30.0, across=False, samples=200)
    bodies = []
    for rod in rods:
        mass, half = rod.line_mass * rod.length, 0.5 * rod.length
        turning = mass * rod.length**2 / 12.0 + rod.inertia[1] * rod.length
        bodies.append((mass, half, turning))
    (m1, c1, i1), (m2, c2, i2) = bodies
    length = rods[0].length
    mass = np.array([[i1 + m1 * c1**2 + m2 * (length + c2) ** 2 + i2, m2 * c2 * (length + c2) + i2],
                     [m2 * c2 * (length + c2) + i2, m2 * c2**2 + i2]])  # fmt: skip
    squares = np.linalg.eigvals(np.linalg.solve(mass, 0.5 * np.eye(2)))
    assert found == pytest.approx(np.sort(np.sqrt(squares)) / (2 * np.pi), rel=1e-6)


def test_planar_model_rests_as_the_shooting_solution():
    first, body, second = tree_cases.planar_rods(joint=tree_cases.PLANAR_HINGE).parts
    first = replace(first, pose=placed(about="y", angle=np.pi / 2))
    tree = TreeProblem((first, body, replace(second, force=(0.05, 0.0, -0.02))))
    exact = solve_tree(tree)
    _, places = PlanarSpectral(tree, 9).equilibrium()
    for name, s in (("first", 0.3), ("second", 0.2)):
        assert places[f"{name}.tip"][1:] == pytest.approx(exact.pose(name, s)[[0, 2], 3], abs=1e-8)


def test_planar_models_move_alike_and_keep_the_energy_balance():
    """Short and coarse; `test_stored_motion_by_finite_differences` is the long one."""
    tree, times = tree_cases.pulsed(tree_cases.DAMPED_HINGE), np.array([0.0, 0.04, 0.08])
    motion = PlanarSpectral(tree, 5, tree_cases.pulse).move(times, rtol=1e-7)
    assert motion.energy + motion.lost == pytest.approx(motion.work, abs=1e-9)
    assert motion.lost[-1] > 1e-6
    runs = [PlanarSegments(tree, n, tree_cases.pulse).move(times, rtol=1e-7)[0] for n in (8, 16)]
    limit, error = extrapolated([run["second.tip"] for run in runs])
    assert error.max() < 1e-3
    assert motion.places["second.tip"][:, 1:] == pytest.approx(limit, abs=2e-5)


def test_stored_motion_by_finite_differences():
    """The first 0.3 s again, by the other method: the slow one of these tests."""
    times = np.array([0.0, *tree_values.MOTION_T[:3]])
    models = [PlanarSegments(tree_cases.pulsed(), n, tree_cases.pulse) for n in (6, 12, 24)]
    runs = [model.move(times, rtol=1e-8) for model in models]
    for model, (_, total) in zip(models, runs, strict=True):
        assert total[2] == pytest.approx(total[3], rel=1e-9), model.cells  # after the pulse
    limit, error = extrapolated([places["second.tip"] for places, _ in runs])
    assert error.max() < 1e-5
    assert limit[1:] == pytest.approx(np.array(tree_values.PULSED_TIP[:3]), abs=5e-6)
