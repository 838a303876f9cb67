"""Contact against independent values: impacts, friction, touchdown, capstan, crossing rods, loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import pliant as pl
from pliant.solve.integrators.contract import Stepper

G = 9.81
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def ball_above(height, against=None, radius=0.05, mass=0.2, start=None, **law):
    """A ball whose surface is `height` above a floor, or that rests on something else."""
    robot = pl.Robot()
    place = (0.0, 0.0, radius + height) if start is None else start
    moments = (0.4 * mass * radius**2,) * 3
    robot.add_body("ball", mass, moments, pose=pl.pose(place), joint=pl.Free())
    robot.add_contact("floor", pl.Sphere(radius, on="ball"), against or pl.Plane(), **law)
    return robot


# -- bodies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.Variational(), pl.Newmark(), pl.GeneralizedAlpha(0.8)]
)
def test_falling_ball_stops_dead_and_loses_its_energy(integrator):
    motion = ball_above(0.1).simulate(0.25, 0.002, integrator=integrator)
    height = motion.position("ball")[:, 2] - 0.05
    assert height.min() > -1e-9
    assert height[-1] == pytest.approx(0.0, abs=1e-9)
    rough = 0.03 if integrator.order == 1 else 2e-3
    assert motion.energy["dissipated"][-1] == pytest.approx(0.2 * G * 0.1, rel=rough)
    assert abs(motion.energy["numerical"]).max() < rough * 0.2 * G * 0.1
    contacts = motion.contacts("floor")
    assert contacts.total[-1] == pytest.approx((0.0, 0.0, 0.2 * G), rel=2e-3)
    if type(integrator) in (pl.Midpoint, pl.Variational):
        impulse = np.sum(contacts.total[1:, 2]) * 0.002  # stops the fall, then carries the weight
        assert impulse == pytest.approx(0.2 * G * 0.25, rel=0.01)


def test_contact_runs_compiled(monkeypatch):
    tables, table = [], Stepper._table

    def watched(stepper, *ahead):
        found = table(stepper, *ahead)
        tables.append(type(found))
        return found

    monkeypatch.setattr(Stepper, "_table", watched)
    ball_above(0.01, friction=0.3).simulate(0.1, 0.005)
    assert tables[-1] is np.ndarray


@pytest.mark.parametrize("resolved", [2.0, 0.5])
def test_ball_on_a_spring_bounces_without_losing_energy(resolved):
    """At omega h = 2 the ball meets the spring in one or two steps."""
    k, mass = 2e4, 0.2
    step = resolved / np.sqrt(k / mass)
    motion = ball_above(0.1, stiffness=k).simulate(2.0, step)
    height = motion.position("ball")[:, 2] - 0.05
    assert height.min() < -0.9 * np.sqrt(2.0 * mass * G * 0.1 / k)
    assert abs(motion.energy["numerical"]).max() < 3e-4 * mass * G * 0.1


def test_damped_spring_dissipates_what_is_missing():
    """Hunt and Crossley's law: the first rebound from an independent integration."""
    from scipy.integrate import solve_ivp

    k, mass, damping = 2e4, 0.2, 0.3

    def fall(t, y):
        x = max(-y[0], 0.0)
        return [y[1], -G + max(k * x * (1.0 - damping * y[1]), 0.0) / mass]

    exact = solve_ivp(fall, (0.0, 0.4), (0.1, 0.0), rtol=1e-9, atol=1e-12, max_step=1e-3)
    motion = ball_above(0.1, stiffness=k, damping=damping).simulate(0.4, 2e-4)
    assert motion.position("ball")[-1, 2] - 0.05 == pytest.approx(exact.y[0, -1], abs=2e-4)
    energy = motion.energy
    assert energy["dissipated"][-1] > 0.05
    assert abs(energy["numerical"]).max() < 1e-3 * mass * G * 0.1


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.GeneralizedAlpha(0.8)])
@pytest.mark.parametrize(("mu", "angle"), [(0.5, 0.4), (0.1, 0.6)])
def test_ball_rolls_or_slides_down_a_hill(mu, angle, integrator):
    """It rolls if tan(angle) < 7 mu / 2, with 5/7 of the acceleration without friction."""
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    hill = pl.Plane((0, 0, 0), normal)
    robot = ball_above(0.0, hill, start=0.05 * normal, friction=mu)
    motion = robot.simulate(0.5, 2e-3, integrator=integrator)
    way = np.linalg.norm(motion.position("ball")[-1] - 0.05 * normal)
    rolls = np.tan(angle) < 3.5 * mu
    exact = G * (np.sin(angle) / 1.4 if rolls else np.sin(angle) - mu * np.cos(angle))
    assert 2.0 * way / 0.25 == pytest.approx(exact, rel=1e-3)
    assert abs(motion.energy["numerical"]).max() < 1e-3 * motion.energy["kinetic"][-1]
    assert np.diff(motion.energy["dissipated"]).min() > -1e-9


@pytest.mark.parametrize("slope", [0.9, 1.1])
def test_block_sticks_below_the_angle_of_friction_and_slips_above(slope):
    """A body that cannot turn; what sticks creeps at c x / sqrt(1 - x^2), x = tan(angle) / mu."""
    mu, creep = 0.4, 1e-3 if slope < 1.0 else 1e-5
    angle = np.arctan(slope * mu)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    robot = pl.Robot()
    joint = pl.FreeDirections(("x", "y", "z"))
    robot.add_body("block", 0.3, (1e-4,) * 3, pose=pl.pose(0.02 * normal), joint=joint)
    hill = pl.Plane((0, 0, 0), normal)
    robot.add_contact("hill", pl.Sphere(0.02, on="block"), hill, friction=mu, creep=creep)
    motion = robot.simulate(0.5, 2e-3 if slope < 1.0 else 2e-4)
    way = np.linalg.norm(motion.position("block") - motion.position("block")[0], axis=1)
    if slope < 1.0:
        speed = (way[-1] - way[125]) / (motion.t[-1] - motion.t[125])
        assert speed == pytest.approx(creep * slope / np.sqrt(1.0 - slope**2), rel=1e-3)
        force = motion.contacts("hill").total[-1]
        assert force == pytest.approx((0.0, 0.0, 0.3 * G), abs=2e-3)
    else:
        exact = 0.5 * G * (np.sin(angle) - mu * np.cos(angle)) * 0.25
        assert way[-1] == pytest.approx(exact, rel=1e-2)


# -- rods ------------------------------------------------------------------------------------------


def touchdown(length, EI, weight, drop):
    """Length that hangs free, force at its end, and the shape z(s) of a heavy elastica on a floor."""

    def slope(x, y, p):
        R, a = p
        beyond = R - weight * a * (1.0 - x)
        return a * np.array([np.sin(y[1]), y[2] / EI, -beyond * np.cos(y[1])])

    def ends(left, right, p):
        return np.array([left[0], left[1], right[0] + drop, right[1], right[2]])

    a = (72.0 * EI * drop / weight) ** 0.25  # of small slopes
    x = np.linspace(0.0, 1.0, 50)
    guess = np.array([-drop * x**2 * (3.0 - 2.0 * x), 0.0 * x, 0.0 * x])
    found = solve_bvp(slope, ends, x, guess, p=[0.5 * weight * a, a], tol=1e-9, max_nodes=20000)
    assert found.success
    R, a = found.p
    return a, R + weight * (length - a), lambda s: found.sol(s / a)[0]


@pytest.mark.parametrize("method", [pl.Hermite(16), pl.ANCF(16)])
def test_heavy_cantilever_lies_down_on_a_floor(method):
    length, r, drop = 0.8, 0.006, 0.06
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", length, pl.Circle(r), soft, pl.along("x"), theory="kirchhoff")
    robot.add_contact("floor", "arm", pl.Plane((0, 0, -drop - r)))
    EI, weight = 1e6 * np.pi / 4 * r**4, 1000.0 * np.pi * r**2 * G
    free, carried, shape = touchdown(length, EI, weight, drop)
    still = robot.statics(formulation=method)
    contacts = still.contacts("floor")
    assert contacts.total[2] == pytest.approx(carried, rel=1e-3)
    s = np.linspace(0.05, 0.95 * free, 9)
    assert still.position("arm", s)[:, 2] == pytest.approx(shape(s), abs=2e-4 * length)
    spacing = contacts.s[1] - contacts.s[0]
    assert contacts.s[contacts.touching].min() == pytest.approx(free, abs=spacing)
    assert still.stable
    assert still.reactions["arm"][3:] + still.tip("arm")[:3, :3].T @ (0, 0, 0) == pytest.approx(
        pl.along("x")[:3, :3].T @ (0, 0, weight * length - contacts.total[2]), abs=1e-6
    )


def test_rod_falls_on_a_floor_and_comes_to_rest_there():
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=2000.0)
    robot.add_rod("arm", 0.5, pl.Circle(0.01), soft, pl.along("x"), formulation=pl.BSpline(3, 8))
    robot.add_contact("floor", "arm", pl.Plane((0, 0, -0.05)))
    motion = robot.simulate(1.0, 0.004)
    still = robot.statics()
    assert motion.tip("arm")[-1, :3, 3] == pytest.approx(still.tip("arm")[:3, 3], abs=5e-4)
    assert motion.contacts("floor").gap.min() > -2e-4
    in_play = np.ptp(motion.energy["gravity"])
    assert abs(motion.energy["numerical"]).max() < 0.03 * in_play


def test_rod_around_a_peg_has_its_curvature_and_keeps_its_tension():
    R, r, pull = 0.05, 0.002, 2.0
    robot = pl.Robot(gravity=(0, 0, 0))
    thin = pl.Material(E=2e7, nu=0.5, rho=1000.0)
    start, method = pl.along("x", (-0.15, 0, R + r)), pl.BSpline(3, 40)
    arm = robot.add_rod("arm", 0.45, pl.Circle(r), thin, start, formulation=method)
    robot.add_load("pull", arm.tip, force=(0, 0, -1.0))
    robot.add_contact("peg", "arm", pl.Cylinder(R, (0, 0, 0), (0, 1, 0)))
    still = robot.statics({"pull": pull})
    contacts = still.contacts("peg")
    angle = np.arctan2(contacts.point[:, 0], contacts.point[:, 2])
    middle = (angle > 0.5) & (angle < 1.1)
    bent = np.linalg.norm(still.strain("arm", contacts.s[middle])[:, :2], axis=1)
    assert bent.mean() == pytest.approx(1.0 / (R + r), rel=0.01)
    # the rod arrives along x and leaves along -z, with the same tension without friction
    assert contacts.total == pytest.approx((pull, 0.0, pull), rel=0.02)
    # tension + EI curvature^2 / 2 is the same all along a rod that nothing pushes along its tangent
    tension = still.wrench("arm", contacts.s[middle])[:, 5]
    exact = pull - 0.5 * 2e7 * np.pi / 4 * r**4 / (R + r) ** 2
    assert tension.mean() == pytest.approx(exact, rel=2e-3)


def test_rods_that_cross_push_each_other_as_two_cantilevers_do():
    robot = pl.Robot(gravity=(0, 0, 0))
    stiff = pl.Material(E=1e7, nu=0.3, rho=1000.0)
    a = robot.add_rod("a", 0.2, pl.Circle(0.004), stiff, pl.along("x", (-0.1, 0, 0.009)))
    robot.add_rod("b", 0.2, pl.Circle(0.005), stiff, pl.along("y", (0.05, -0.12, 0.0)))
    robot.add_load("push", a.tip, force=(0, 0, -1.0))
    robot.add_contact("cross", "a", "b")
    P = 0.002
    still = robot.statics({"push": P}, formulation=pl.BSpline(3, 8))
    Ia, Ib, x, y = np.pi / 4 * 0.004**4, np.pi / 4 * 0.005**4, 0.15, 0.12
    sag = P * x**2 * (0.6 - x) / (6e7 * Ia)
    force = sag / (x**3 / (3e7 * Ia) + y**3 / (3e7 * Ib))
    contacts = still.contacts("cross")
    assert contacts.total[2] == pytest.approx(force, rel=5e-3)
    assert contacts.s[contacts.touching] == pytest.approx([0.15], abs=1e-3)
    # what clamp b carries is what rod b got, and clamp a carries the rest of the load
    turned = {name: pl.along(axis)[:3, :3] for name, axis in (("a", "x"), ("b", "y"))}
    held = {name: turned[name] @ still.reactions[name][3:] for name in turned}
    assert held["b"] == pytest.approx(contacts.total, abs=1e-9)
    assert held["a"] + held["b"] == pytest.approx((0.0, 0.0, P), abs=1e-9)


def curled(contact):
    """Smallest distance of pieces of a rod that is curled up into more than one turn, over time."""
    length, r = 0.4, 0.006
    robot = pl.Robot(gravity=(0, 0, 0))
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=3000.0)
    method = pl.BSpline(3, 10)
    rod = robot.add_rod("a", length, pl.Circle(r), soft, pl.along("x"), formulation=method)
    robot.add_load("curl", rod.tip, moment=(0, -1, 0), frame="body")
    if contact:
        robot.add_contact("self", rod, rod)
    most = 1e6 * np.pi / 4 * r**4 * 2.5 * np.pi / length
    motion = robot.simulate(3.0, 0.01, inputs={"curl": pl.Ramp(0.0, most, 0.0, 2.0)})
    s = np.linspace(0.0, length, 101)
    near = np.abs(s[:, None] - s) < 0.1
    x = motion.position("a", s)[::5]
    far = np.linalg.norm(x[:, :, None] - x[:, None], axis=-1)
    far[:, near] = np.inf
    return far.min(), motion


def test_rod_does_not_pass_through_itself():
    free, _ = curled(False)
    held, motion = curled(True)
    assert free < 0.002
    assert held > 0.95 * 0.012
    assert motion.contacts("self").touching[-1].any()
    forces = sum(motion.reactions[name][-1, 3:] for name in ("a",))
    assert np.abs(forces).max() < 0.05


# -- files, results, messages ----------------------------------------------------------------------


def test_robot_files_results_and_pictures(tmp_path):
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    small = pl.BSpline(3, 5)
    robot.add_rod("arm", 0.3, pl.Circle((0.01, 0.006)), soft, pl.along("x"), formulation=small)
    robot.add_body("ball", 0.01, (1e-6,) * 3, pose=pl.pose((0.2, 0, 0.05)), joint=pl.Free())
    pipe = pl.Cylinder(0.2, (0, 0, 0), (1, 0, 0), inside=True)
    robot.add_contact("ground", "arm", [pl.Plane((0, 0, -0.03)), pipe], friction=0.2, stations=9)
    robot.add_contact("sits", "arm", pl.Sphere(0.02, on="ball"), stiffness=1e4, damping=0.5)
    other = pl.Robot.from_file(robot.save(tmp_path / "robot.yaml"))
    motions = [x.simulate(0.1, 0.005) for x in (robot, other)]
    assert motions[0].tip("arm") == pytest.approx(motions[1].tip("arm"), abs=0.0)
    contacts = motions[0].contacts("ground")
    assert contacts.force.shape == (21, 16, 3)
    assert set(contacts.other) == {"plane", "cylinder"}
    kept = pl.load(motions[0].save(tmp_path / "motion.nc"))
    assert kept["force_ground"].values == pytest.approx(contacts.force)
    assert kept["gap_sits"].shape == (21, len(motions[0].contacts("sits").part))
    figure = ball_above(0.0, stiffness=1e4).plot()
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == ["ball", "floor"]


def test_equilibria_with_friction_are_told_to_depend_on_their_way():
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"), formulation=pl.BSpline(3, 6))
    robot.add_contact("ground", "arm", pl.Plane((0, 0, -0.03)), friction=0.2)
    with pytest.warns(pl.ResolutionWarning, match="friction holds .* depends on the way"):
        robot.statics()


def refused(match, **given):
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_rod("strip", 0.3, pl.Rectangle(0.01, 0.002), soft, pl.along("y"))
    robot.add_body("ball", 0.1, (1e-4,) * 3, joint=pl.Free(), pose=pl.pose((1, 0, 0)))
    given = {"of": "arm", "against": pl.Plane((0, 0, -1)), **given}
    with pytest.raises(pl.DescriptionError, match=match):
        robot.add_contact("touch", **given)


def test_messages():
    refused("a body has no shape of its own", of="ball")
    refused("the section of rod 'strip' is not round", of="strip")
    refused("damping", damping=0.1)
    refused("give the surface as against=", of=pl.Plane())
    refused(
        "give the rod as of= and the sphere as against=",
        of=pl.Sphere(0.1, on="ball"),
        against="arm",
    )
    refused("fixed to a part", of=pl.Sphere(0.1))
    refused("did you mean 'arm'", of="army")
    refused("on", of=pl.Sphere(0.1, on="bal"))
    with pytest.raises(pl.DescriptionError, match="direction that is not zero"):
        pl.Plane((0, 0, 0), (0, 0, 0))


def test_overlap_at_the_start_is_told_with_its_place():
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"), formulation=pl.BSpline(3, 6))
    robot.add_contact("post", "arm", pl.Sphere(0.05, (0.15, 0, -0.04)))
    expected = r"contact 'post'.*rod 'arm' at s = 0.15 m.*20 mm"
    for solve in (robot.statics, lambda: robot.simulate(0.1, 0.01)):
        with pytest.raises(pl.DescriptionError, match=expected):
            solve()


def test_strong_forms_and_fits_of_impacts_refuse_it_by_name():
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_contact("ground", "arm", pl.Plane((0, 0, -0.03)))
    with pytest.raises(pl.DescriptionError, match="ground"):
        robot.statics(formulation=pl.Shooting(50))


# -- moving obstacles ------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [{"friction": 0.4}, {"stiffness": 2e3, "friction": 0.4}])
def test_balls_that_hit_each_other_keep_momentum_and_angular_momentum(law):
    """Two free balls, off centre; hard ones lose the energy of their relative normal velocity."""
    robot, r = pl.Robot(gravity=(0, 0, 0)), 0.03
    masses = {"a": 0.1, "b": 0.25}
    start = {"a": np.array([0.0, 0.0, 0.0]), "b": np.array([0.2, 0.0, 0.02])}
    for name, mass in masses.items():
        moments = (0.4 * mass * r**2,) * 3
        robot.add_body(name, mass, moments, pose=pl.pose(start[name]), joint=pl.Free())
    robot.add_contact("hit", pl.Sphere(r, on="a"), pl.Sphere(r, on="b"), **law)
    velocity = {"a": (0, 0, 0, 1.0, 0, 0), "b": (0, 0, 0, 0, 0, 0)}
    motion = robot.simulate(0.3, 1e-3, velocity=velocity)
    total, turned = np.zeros((301, 3)), np.zeros((301, 3))
    for name, mass in masses.items():
        turn, twist = motion.pose(name)[:, :3, :3], motion.velocity(name)
        p = mass * np.einsum("tij,tj->ti", turn, twist[:, 3:])
        spin = 0.4 * mass * r**2 * np.einsum("tij,tj->ti", turn, twist[:, :3])
        total += p
        turned += np.cross(motion.position(name), p) + spin
    assert total == pytest.approx(np.tile(total[0], (301, 1)), abs=1e-9)
    assert turned == pytest.approx(np.tile(turned[0], (301, 1)), abs=1e-9)
    energy = motion.energy
    assert energy["dissipated"][-1] > 0.0
    assert abs(energy["numerical"]).max() < 0.02 * energy["kinetic"][0]
    apart = np.linalg.norm(motion.position("b") - motion.position("a"), axis=1)
    if "stiffness" not in law:
        assert apart.min() > 2.0 * r - 1e-9
        # what is left of the energy is at most that without the relative normal velocity
        n = np.array([np.sqrt((2 * r) ** 2 - 0.02**2), 0.0, 0.02]) / (2 * r)
        lost = 0.5 * 0.1 * 0.25 / 0.35 * n[0] ** 2
        assert energy["dissipated"][-1] > 0.99 * lost


def test_vibrations_of_a_rod_on_a_smooth_floor_are_sideways_first():
    """Across the floor's normal it is a free cantilever."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.4, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_contact("floor", "arm", pl.Plane((0, 0, -0.011)))
    free = 1.8751**2 / (2 * np.pi) * np.sqrt(1e6 * 0.01**2 / 4 / (1000 * 0.4**4))
    assert robot.modes(1).frequencies[0] == pytest.approx(free, rel=0.01)


def test_motion_starts_on_the_floor_and_stays_there():
    """But for what sections give way, some micrometres, under the half impulse of the first step."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.4, pl.Circle(0.01), soft, pl.along("x"), formulation=pl.BSpline(3, 8))
    robot.add_contact("floor", "arm", pl.Plane((0, 0, -0.03)))
    still = robot.statics()
    motion = robot.simulate(0.1, 0.002, start=still)
    assert motion.position("arm") == pytest.approx(
        np.tile(still.position("arm"), (51, 1, 1)), abs=5e-6
    )
    total = motion.contacts("floor").total[:, 2]
    assert total[-1] == pytest.approx(still.contacts("floor").total[2], rel=1e-3)


@pytest.mark.parametrize("radius", [0.03, 0.002])
@pytest.mark.parametrize("rules", [{}, {"friction": 0.01}, {"stiffness": 1e5}], ids=str)
def test_arms_do_not_sag_through_obstacles(radius: float, rules: dict[str, float]) -> None:
    """The equilibrium below the obstacle is one as well, but not on the way from the unloaded arm.

    The support is that of an arm on which a push of the same size acts at the same place.
    """
    soft = pl.Material(E=2e5, nu=0.45, rho=1000.0)

    def arm() -> tuple[pl.Robot, pl.Rod]:
        robot = pl.Robot()
        return robot, robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))

    robot, rod = arm()
    robot.add_contact(
        "touch", rod, pl.Cylinder(radius, (0.2, 0, -0.04 - radius), (0, 1, 0)), **rules
    )
    form = pl.BSpline(3, 40)
    found = robot.statics(formulation=form)
    touch = found.contacts("touch")
    held = np.flatnonzero(touch.force[:, 2] > 0.0)
    assert touch.force[:, 2].sum() > 0.3 and found.tip("arm")[2, 3] > -0.12
    pushed, rod = arm()
    for k in held:
        pushed.add_load(f"push{k}", rod.at(touch.s[k]), force=touch.force[k])
    same = pushed.statics(formulation=form)
    assert np.abs(same.tip("arm") - found.tip("arm"))[:3, 3].max() < 3e-3
