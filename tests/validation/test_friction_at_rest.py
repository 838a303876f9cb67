"""Coulomb friction of contacts in equilibria, which depend on the way to them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import pliant as pl
from pliant.linalg.matrices import Sparse
from pliant.physics.effects import Inputs
from pliant.solve.balance import balance
from pliant.solve.uncarried import missed_at_rest
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work

pytestmark = pytest.mark.filterwarnings("ignore::pliant.ResolutionWarning")
G = 9.81
LAWS = pytest.mark.parametrize("law", [{}, {"stiffness": 1e4}], ids=["hard", "spring"])


def on_a_hill(slope, mu, **law):
    """A free block of 0.5 kg on three feet on a slope."""
    robot = pl.Robot()
    tilt = pl.pose((0, 0, 0), (0, slope, 0))
    pose = tilt @ pl.pose((0, 0, 0.02))
    robot.add_body("block", mass=0.5, inertia=(1e-3,) * 3, pose=pose, joint=pl.Free())
    hill = pl.Plane((0, 0, 0), (np.sin(slope), 0, np.cos(slope)))
    for k, (x, y) in enumerate([(0.1, 0.1), (-0.1, 0.1), (0.0, -0.1)]):
        foot = pl.Sphere(0.02, (x, y, 0), on="block")
        robot.add_contact(f"foot{k}", foot, hill, friction=mu, **law)
    return robot


def forces(still, name, count=3):
    return np.array([np.asarray(still.reading(f"{name}{k}", "force")).sum(0) for k in range(count)])


@LAWS
@pytest.mark.parametrize("angle", [0.2, 0.29], ids=["gentle", "steep"])
def test_block_rests_on_a_slope_below_the_angle_of_friction(angle, law):
    """The angle of friction is atan(0.3) = 0.2915 rad."""
    still = on_a_hill(angle, 0.3, **law).statics()
    held = forces(still, "foot")
    assert held.sum(axis=0) == pytest.approx([0, 0, 0.5 * G], abs=1e-8)
    n = np.array([np.sin(angle), 0, np.cos(angle)])
    along = np.linalg.norm(held - np.outer(held @ n, n), axis=1)
    assert np.all(along <= 0.3 * (held @ n) * (1.0 + 1e-6))
    where = still.position("block") - 0.02 * n
    assert np.abs(where - n * (where @ n)).max() < 1e-4


@LAWS
def test_block_slips_on_a_slope_above_the_angle_of_friction(law):
    with pytest.raises(pl.ConvergenceError):
        on_a_hill(0.3, 0.3, **law).statics()


def sledge(**law):
    """A guided block of 0.5 kg on a floor between a spring of 50 N/m and a force."""
    robot = pl.Robot()
    guide = pl.FreeDirections(("x", "z"))
    robot.add_body("block", 0.5, (1e-3,) * 3, pose=pl.pose((0, 0, 0.02)), joint=guide)
    robot.add_contact("floor", pl.Sphere(0.02, on="block"), pl.Plane(), friction=0.4, **law)
    robot.add_spring("spring", (-0.2, 0, 0.02), "block", stiffness=50.0)
    robot.add_load("pull", "block", force=(1.0, 0, 0))
    return robot


@LAWS
def test_sledge_remembers_its_way(law):
    """It slides while the pull is above spring and friction, and comes back when the spring wins."""
    robot, hold = sledge(**law), 0.4 * 0.5 * G
    still, x = None, 0.0
    for pull in (1.5, 4.0, 2.0, 0.5, -1.0, 0.0):
        still = robot.statics({"pull": pull}, start=still)
        x = np.clip(x, (pull - hold) / 50.0, (pull + hold) / 50.0)
        assert still.position("block")[0] == pytest.approx(x, abs=4e-4 if law else 3e-6)
        force = forces_on_floor(still)
        assert force[0] == pytest.approx(50.0 * still.position("block")[0] - pull, abs=1e-4)
        assert abs(force[0]) <= hold * (1.0 + 1e-9)


@LAWS
def test_belt_that_an_input_moves_drags_a_block(law):
    """The block goes with the belt until its spring wins, and with it again where the belt turns."""
    robot, hold, x, before = pl.Robot(), 0.4 * 0.5 * G, 0.0, 0.0
    robot.add_body("belt", 1.0, (1e-3,) * 3, joint=pl.Prismatic("x", drive="position"))
    pose, guide = pl.pose((0, 0, 0.02)), pl.FreeDirections(("x", "z"))
    robot.add_body("block", 0.5, (1e-3,) * 3, pose=pose, joint=guide)
    ball, surface = pl.Sphere(0.02, on="block"), pl.Plane(on="belt")
    robot.add_contact("rub", ball, surface, friction=0.4, **law)
    robot.add_spring("spring", (-0.2, 0, 0.02), "block", stiffness=50.0)
    still = None
    for belt in (0.03, 0.2, 0.19, 0.0):
        still = robot.statics({"belt": belt}, start=still)
        x, before = np.clip(x + belt - before, -hold / 50.0, hold / 50.0), belt
        assert still.position("block")[0] == pytest.approx(x, abs=3e-4 if law else 3e-7)
        assert still.drive_forces["belt"] == pytest.approx(50.0 * x, abs=2e-2 if law else 1e-4)


def forces_on_floor(still):
    return np.asarray(still.reading("floor", "force")).sum(axis=0)


def test_branch_and_new_effects_keep_the_friction():
    """`follow` carries friction all along; what another robot knows nothing of begins anew."""
    robot, hold = sledge(), 0.4 * 0.5 * G
    path = robot.follow("pull", 0.0, 4.0)
    end = path[-1]
    assert end.position("block")[0] == pytest.approx((4.0 - hold) / 50.0, abs=3e-6)
    assert forces_on_floor(end)[0] == pytest.approx(-hold, rel=1e-6)
    robot.add_contact(
        "wall", pl.Sphere(0.02, on="block"), pl.Plane((0.2, 0, 0), (-1, 0, 0)), friction=0.1,
        stiffness=1e4,
    )  # fmt: skip
    again = robot.statics({"pull": 4.0}, start=end)
    assert again.position("block")[0] < 4.0 / 50.0


def test_slow_damped_motion_comes_to_the_same_rest():
    robot = sledge(creep=1e-4)
    robot.add_spring("damper", (-0.2, 0, 0.02), "block", damping=1.0)
    pull = {"pull": lambda t: 4.0 * np.sin(min(t, 3.0) * np.pi / 4.0)}
    motion = robot.simulate(3.2, 1e-2, pull, integrator=pl.ImplicitEuler())
    top = robot.statics({"pull": 4.0})
    rest = robot.statics({"pull": 4.0 * np.sin(0.75 * np.pi)}, start=top)
    # what sticks creeps, by less than 0.1 mm/s
    assert motion.position("block")[-1, 0] == pytest.approx(rest.position("block")[0], abs=1.2e-3)
    assert rest.position("block")[0] == pytest.approx((4.0 - 0.4 * 0.5 * G) / 50.0, abs=1e-5)


def test_rod_pulled_over_a_floor_slides_where_the_pull_reaches():
    """A pull F reaches F / (mu w): the end moves by F^2 / (2 EA mu w), half of which stays."""
    length, radius, young, mu = 0.5, 0.005, 1e6, 0.5
    robot = pl.Robot()
    soft = pl.Material(E=young, nu=0.45, rho=1000.0)
    rod = robot.add_rod(
        "rod", length, pl.Circle(radius), soft, base=None, pose=pl.along("x"),
        formulation=pl.Strain(1, 10),
    )  # fmt: skip
    robot.add_contact("floor", rod, pl.Plane((0, 0, -radius)), friction=mu, stations=41)
    robot.add_load("pull", rod.tip, force=(1.0, 0, 0))
    area = np.pi * radius**2
    w, EA = 1000.0 * area * G, young * area
    F = 0.6 * mu * w * length
    lying = robot.statics({"pull": 0.0})
    pulled = robot.statics({"pull": F}, start=lying)
    force = np.asarray(pulled.reading("floor", "force"))
    assert np.all(np.abs(force[:, 0]) <= mu * force[:, 2] * (1.0 + 1e-9))
    assert force[:, 0].sum() == pytest.approx(-F, rel=1e-8)
    sliding = np.abs(force[:, 0]) > (1.0 - 1e-6) * mu * force[:, 2]
    s = np.linspace(0.0, length, 41)
    assert s[sliding].min() == pytest.approx(length - F / (mu * w), abs=0.03)
    ends = [x.tip("rod")[0, 3] for x in (lying, pulled)]
    wanted = F**2 / (2.0 * EA * mu * w)
    assert ends[1] - ends[0] == pytest.approx(wanted, rel=0.02)
    left = robot.statics({"pull": 0.0}, start=pulled).tip("rod")[0, 3] - ends[0]
    assert left / (ends[1] - ends[0]) == pytest.approx(0.5, abs=0.02)
    with pytest.raises(pl.ConvergenceError, match=r"beyond (99|100).* % of the load"):
        robot.statics({"pull": 1.002 * mu * w * length}, start=lying)


RADIUS, HEAVY = 0.02, 0.02


def gripper(mu):
    """Three elastic fingers hang around a free ball that they touch."""
    robot = pl.Robot()
    stiff = pl.Material(E=2e7, nu=0.45, rho=1000.0)
    moments = (0.4 * HEAVY * RADIUS**2,) * 3
    robot.add_body("ball", mass=HEAVY, inertia=moments, joint=pl.Free())
    for k in range(3):
        out = np.array([np.cos(2.0 * np.pi * k / 3.0), np.sin(2.0 * np.pi * k / 3.0), 0])
        pose = np.eye(4)
        pose[:3, :3] = np.column_stack([np.cross(out, [0, 0, -1.0]), out, [0, 0, -1.0]])
        pose[:3, 3] = out * (RADIUS + 0.004) + [0, 0, 0.08]
        finger = robot.add_rod(f"finger{k}", 0.1, pl.Circle(0.004), stiff, pose=pose)
        robot.add_load(f"close{k}", finger.tip, force=tuple(-out))
        ball = pl.Sphere(RADIUS, on="ball")
        robot.add_contact(f"grip{k}", finger, ball, friction=mu, stations=11)
    return robot


def test_gripper_of_three_fingers_holds_a_ball():
    robot = gripper(0.6)
    still = robot.statics(dict.fromkeys(("close0", "close1", "close2"), 0.3))
    assert still.stable
    grips = forces(still, "grip")
    assert -grips.sum(axis=0) == pytest.approx([0, 0, HEAVY * G], abs=1e-8)
    # each finger carries a third, for all are alike
    assert -grips[:, 2] == pytest.approx([HEAVY * G / 3.0] * 3, rel=1e-5)
    for k in range(3):
        touching = robot_places(still, f"grip{k}")
        for force, normal in touching:
            along = np.linalg.norm(force - normal * (force @ normal))
            assert along <= 0.6 * (force @ normal) * (1.0 + 1e-9)
    assert abs(still.position("ball")[2]) < 2e-3


def robot_places(still, name):
    force, normal = (np.asarray(still.reading(name, what)) for what in ("force", "normal"))
    return [(f, n) for f, n in zip(force, normal, strict=True) if f.any()]


def test_ball_is_turned_by_a_moment_and_comes_back_part_of_the_way():
    """A ball that sticks turns with the fingers; the state of friction is kept in the result."""
    robot = gripper(0.6)
    robot.add_load("turn", "ball", moment=(0, 0, 1.0))
    closed = {"close0": 0.3, "close1": 0.3, "close2": 0.3, "turn": 0.0}
    held = robot.statics(closed)
    turned = robot.statics({**closed, "turn": 1e-4}, start=held)
    back = robot.statics(closed, start=turned)
    angle = [np.arctan2(x.pose("ball")[1, 0], x.pose("ball")[0, 0]) for x in (held, turned, back)]
    assert angle[1] - angle[0] > 1e-4
    assert angle[2] == pytest.approx(angle[0], abs=1e-2 * (angle[1] - angle[0]))


@LAWS
@pytest.mark.parametrize("pull", [1.0, 4.0], ids=["sticks", "slides"])
def test_tangent_is_the_derivative_of_the_residual(pull, law):
    robot = sledge(**law)
    still = robot.statics({"pull": pull})
    effects, found = still._compiled.effects, still._solution
    tree, inputs = effects.tree, Inputs(found.inputs.u, found.inputs.drive)
    tangent = Tangent(tree, Sparse, effects.pairs())
    state, work = State(tree).place(found.q), Work(tree)
    balance(effects, state, work, inputs, found.z, tangent, False, memory=found.memory)
    K: csr_matrix = tangent.matrix.matrix
    for i in range(tree.size):
        sides = []
        for h in (1e-7, -1e-7):
            x = np.zeros(tree.total)
            x[i] = h
            q = tree.moved(State(tree).place(found.q), x, newton=False)
            z = found.z + np.where(np.arange(tree.total) < tree.n, 0.0, x)
            other = State(tree).place(q)
            sides.append(
                balance(effects, other, work, inputs, z, memory=found.memory)[: tree.size].copy()
            )
        slope = (sides[0] - sides[1]) / 2e-7
        scale = np.abs(K).max()
        assert K[:, [i]].toarray().ravel() == pytest.approx(slope, abs=1e-6 * scale)


def test_a_sentence_tells_that_the_equilibrium_depends_on_its_way():
    with pytest.warns(pl.ResolutionWarning, match="friction holds .* depends on the way to it"):
        on_a_hill(0.2, 0.3).statics()


def on_four_feet(mu):
    """A free block of 1 kg on four feet on a floor, one more than a rigid body needs."""
    robot = pl.Robot()
    robot.add_body("block", 1.0, (0.01,) * 3, pose=pl.pose((0, 0, 0.05)), joint=pl.Free())
    feet = [pl.Sphere(0.05, (x, y, 0), on="block") for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    robot.add_contact("floor", feet, pl.Plane(), friction=mu)
    robot.add_load("push", "block", force=(1.0, 0, 0))
    return robot


def test_feet_that_come_to_slide_in_a_step_leave_no_stiffness_behind():
    """Newton's method keeps its order, and friction balances the push to rounding error."""
    still = on_four_feet(0.5).statics({"push": 3.0})
    assert forces_on_floor(still) == pytest.approx([-3.0, 0.0, G], abs=1e-7)
    assert still.residual < 1e-7
    assert still.iterations < 100


def test_block_is_pushed_exactly_as_far_as_friction_holds_it():
    robot = on_four_feet(0.5)
    lies = robot.statics({"push": 0.0})
    held = robot.statics({"push": 4.904}, start=lies)
    assert forces_on_floor(held) == pytest.approx([-4.904, 0.0, G], abs=1e-6)
    for push in (4.906, 4.95, 6.0):
        with pytest.raises(pl.ConvergenceError) as told:
            robot.statics({"push": push}, start=lies)
        assert told.value.last.level == pytest.approx(0.5 * G / push, abs=1e-3)


def rod_on_a_floor(normal=(0, 0, 1), **more):
    """A clamped rod that lies on a floor and is pulled by 2 N at its end; its friction is 0.5."""
    robot = pl.Robot(**more)
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.5, pl.Circle(0.01), soft, pose=pl.along("x"))
    n = np.array(normal) / np.linalg.norm(normal)
    robot.add_contact("floor", "arm", pl.Plane(tuple(-0.01 * n), tuple(n)), friction=0.5)
    robot.add_load("pull", "arm.tip", force=(2.0, 0, 0))
    return robot


def test_reactions_and_internal_wrenches_have_the_friction():
    robot = rod_on_a_floor()
    pulled = robot.statics()
    let_go = robot.statics({"pull": 0.0}, start=pulled)
    weight = 1000.0 * np.pi * 0.01**2 * 0.5 * G
    for still, pull in ((pulled, 2.0), (let_go, 0.0)):
        rubs = forces_on_floor(still)
        assert abs(rubs[0]) > 0.4
        assert still.reactions["floor"][3:] == pytest.approx(rubs, abs=1e-12)
        clamp = pl.along("x")[:3, :3] @ still.reactions["arm"][3:]
        assert clamp == pytest.approx(-rubs - (pull, 0, -weight), abs=1e-8)
        s = np.linspace(0.05, 0.45, 5)
        by_law = still.wrench("arm", s, by="law")
        assert still.wrench("arm", s)[:, 5] == pytest.approx(by_law[:, 5], abs=0.02)


def test_what_a_planar_rod_leaves_out_has_the_friction():
    """A floor that leans sideways rubs beside the axis, and bends the rod out of its plane."""
    still = rod_on_a_floor((0, -0.5, 1)).statics(formulation={"arm": pl.ANCF(8)})
    effects = still._compiled.effects
    (found,) = [x for x in missed_at_rest(effects, still._solution) if x.row == 0]
    s = np.linspace(0.0, 0.5, 2001)
    strain = still.wrench("arm", s)[:, 0] / found.part.C[0, 0]
    moved = abs(np.trapezoid((1.0 - s / 0.5) * strain, s))
    assert found.size == pytest.approx(moved, rel=2e-3)


def test_pads_that_let_go_hold_a_ball_until_it_slips():
    """Two pads on sliders hold 0.2 kg by friction 0.3: 3.27 N each, and with less it falls."""
    robot = pl.Robot()
    robot.add_body("ball", 0.2, (1e-4,) * 3, joint=pl.Free())
    for name, side in (("left", -1), ("right", 1)):
        slider = pl.FreeDirections(("x",))
        robot.add_body(name, 0.1, (1e-4,) * 3, pose=pl.pose((0.05 * side, 0, 0)), joint=slider)
        robot.add_spring(f"spring {name}", (0.25 * side, 0, 0), name, stiffness=50.0)
        robot.add_load(f"squeeze {name}", name, force=(-side, 0, 0))
        pad = pl.Plane((0, 0, 0), (-side, 0, 0), on=name)
        robot.add_contact(f"at {name}", pl.Sphere(0.03, on="ball"), pad, friction=0.3)
    robot.add_load("lift", "ball", force=(0, 0, 0.2 * G))

    def squeezed(force):
        return {"squeeze left": force, "squeeze right": force}

    held = robot.statics({"lift": 0.0, **squeezed(6.0)}, start=robot.statics(squeezed(6.0)))
    still = robot.statics({"lift": 0.0, **squeezed(4.28)}, start=held)
    assert still.contacts("at left").total == pytest.approx([3.28, 0.0, 0.1 * G])
    assert np.abs(still.position("ball")).max() < 1e-5
    for force in (4.26, 4.2):
        with pytest.raises(pl.ConvergenceError) as told:
            robot.statics({"lift": 0.0, **squeezed(force)}, start=held)
        assert told.value.last.level == pytest.approx(
            (5.0 - 0.1 * G / 0.3) / (6.0 - force), rel=1e-4
        )
