"""Effects that a user defines in a script: they get all that built-in effects get."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import solve_bvp

import pliant as pl
from pliant.cli import main
from pliant.model import Frame
from pliant.model.fields import holds, quantity
from pliant.model.places import OnFrame, OnRod

SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0)
EI, EA, RHO_A = 1e6 * np.pi / 4 * 1e-8, 1e6 * np.pi * 1e-4, 1000.0 * np.pi * 1e-4
SPLINE = pl.BSpline(3, 5)
SECOND_ORDER = [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.9)]


@dataclass(frozen=True, eq=False)
class Bed(pl.LineEffect):
    """An elastic bed under a rod along x."""

    on: str = holds(OnRod())
    stiffness: float = quantity("N/m^2", sign="positive", example="100")

    def density(self, s, g, u):
        return 0.5 * self.stiffness * g[:, 2, 3] ** 2


@dataclass(frozen=True, eq=False)
class Magnet(pl.FrameEffect):
    """Attracts a frame to a point in the world."""

    on: Frame = holds(OnFrame())
    strength: float = quantity("N m^2", example="0.01")
    at: tuple = quantity("m", shape=3, default=(0.0, 0.0, 0.0))

    def frames(self):
        return [self.on]

    def potential(self, g, u):
        return -self.strength / (0.05 + np.linalg.norm(g[0, :3, 3] - np.array(self.at)))


@dataclass(frozen=True, eq=False)
class Muscle(pl.StrainEffect):
    """Bends a rod, the less the more it is bent; its input is the activation."""

    on: str = holds(OnRod())
    gain: float = quantity("N m", example="0.1")

    def inputs(self):
        return {self.name: 0.0}

    def density(self, s, e, u):
        return -u[0] * self.gain * (e[:, 1] - 0.1 * e[:, 1] ** 2)


@dataclass(frozen=True, eq=False)
class Dashpot(pl.FrameEffect):
    """Resists the change of distance of two frames."""

    a: Frame = holds(OnFrame())
    b: Frame = holds(OnFrame())
    c: float = quantity("N s/m", sign="positive", example="0.1")

    def frames(self):
        return [self.a, self.b]

    def resistance(self, g, eta, u):
        va, vb = (g[k, :3, :3] @ eta[k, 3:] for k in (0, 1))
        way = g[1, :3, 3] - g[0, :3, 3]
        n = way / np.linalg.norm(way)
        force = self.c * (n @ (vb - va)) * n
        sides = [-g[0, :3, :3].T @ force, g[1, :3, :3].T @ force]
        return np.array([[0.0, 0.0, 0.0, *side] for side in sides])


@dataclass(frozen=True, eq=False)
class Floor(pl.ConstraintEffect):
    """A floor under a frame."""

    on: Frame = holds(OnFrame())
    height: float = quantity("m", default=0.0)
    compliance: float = quantity("m/N", sign="zero", default=0.0)
    unilateral = True

    def frames(self):
        return [self.on]

    def gap(self, g):
        return self.height - g[0, 2, 3]


def arm_with(make=None, gravity=(0, 0, -9.81), viscosity=0.0):
    robot = pl.Robot(gravity=gravity)
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=viscosity)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))
    if make is not None:
        robot.add(make(arm))
    return robot


def with_dashpot(c=0.5):
    robot = arm_with()
    arm = robot.description.rods["arm"]
    fore = robot.add_rod(
        "fore", 0.2, pl.Circle(0.008), SOFT, base=Frame("arm", 0.3), pose=pl.along("-x")
    )
    robot.add(Dashpot("toy", Frame(arm.name, 0.1), fore.tip, c))
    return robot


def with_magnet(strength=0.004):
    robot = arm_with()
    weight = robot.add_body("weight", 0.005, on=Frame("arm", 0.3))
    robot.add(Magnet("toy", weight.origin, strength, (0.25, 0.05, -0.2)))
    return robot


TOYS = {
    "bed": (lambda x=30.0: arm_with(lambda arm: Bed("toy", "arm", x)), {}),
    "magnet": (with_magnet, {}),
    "muscle": (lambda x=0.02: arm_with(lambda arm: Muscle("toy", "arm", x)), {"toy": 1.0}),
    "dashpot": (with_dashpot, {}),
    "floor": (lambda x=-0.05: arm_with(lambda arm: Floor("toy", arm.tip, x), viscosity=300.0), {}),
}
SMOOTH = ["bed", "magnet", "muscle", "dashpot"]


# -- statics --------------------------------------------------------------------------------------


def rod_on_bed(k):
    """Tip (x, z) of the rod on a bed, as a boundary-value problem in its plane."""
    GA = EA / 3.0

    def slope(s, y):
        _, z, turn, M, Nx, Nz = y
        c, d = np.cos(turn), np.sin(turn)
        stretch, shear = 1.0 + (Nx * c + Nz * d) / EA, (-Nx * d + Nz * c) / GA
        dx, dz = stretch * c - shear * d, stretch * d + shear * c
        return np.array([dx, dz, M / EI, -(dx * Nz - dz * Nx), 0 * s, RHO_A * 9.81 + k * z])

    def ends(a, b):
        return np.array([a[0], a[1], a[2], b[3], b[4], b[5]])

    s = np.linspace(0.0, 0.3, 60)
    guess = np.zeros((6, 60))
    guess[0] = s
    found = solve_bvp(slope, ends, s, guess, tol=1e-9, max_nodes=20000)
    assert found.success
    return found.y[:2, -1]


@pytest.mark.parametrize("method", [pl.BSpline(3, 10), pl.Strain(3, 4), pl.Hermite(8)])
def test_rod_on_a_bed_sinks_as_the_boundary_value_problem_says(method):
    still = TOYS["bed"][0]().statics(formulation=method)
    assert still.tip("arm")[[0, 2], 3] == pytest.approx(rod_on_bed(30.0), abs=2e-5)
    assert still.stable


def test_bed_over_a_stretch_carries_only_there():
    @dataclass(frozen=True, eq=False)
    class PartOfABed(Bed):
        over: tuple = (0.2, 0.3)

    whole, part, none = (
        arm_with(make).statics().tip("arm")[2, 3]
        for make in (
            lambda arm: Bed("toy", "arm", 30.0),
            lambda arm: PartOfABed("toy", "arm", 30.0),
            None,
        )
    )
    assert none < part < whole
    assert part == pytest.approx(whole, rel=0.15)


def test_magnet_pulls_as_a_dead_load_of_its_force_does():
    still = with_magnet().statics(formulation=SPLINE)
    tip = still.tip("arm")[:3, 3]
    away = np.array((0.25, 0.05, -0.2)) - tip
    r = np.linalg.norm(away)
    robot = arm_with()
    weight = robot.add_body("weight", 0.005, on=Frame("arm", 0.3))
    robot.add_load("pull", weight.origin, force=tuple(0.004 / (0.05 + r) ** 2 * away / r))
    other = robot.statics(formulation=SPLINE)
    assert tip == pytest.approx(other.tip("arm")[:3, 3], abs=1e-8)
    wrenches = (x.wrench("arm", 0.1) for x in (still, other))
    assert next(wrenches) == pytest.approx(next(wrenches), abs=1e-8)
    assert still.energy["potential"] == pytest.approx(-0.004 / (0.05 + r), rel=1e-9)


@pytest.mark.parametrize("method", [SPLINE, pl.Strain(0, 1), pl.Hermite(3)])
def test_muscle_bends_the_rod_into_a_circle(method):
    """EI k = u gain (1 - 0.2 k)."""
    robot = arm_with(lambda arm: Muscle("toy", "arm", 0.02), gravity=(0, 0, 0))
    still = robot.statics({"toy": 2.0}, formulation=method)
    k = 0.04 / (EI + 0.2 * 0.04)
    assert still.strain("arm", 0.15)[1] == pytest.approx(k, rel=1e-4)
    turned = np.arccos(still.tip("arm")[0, 2])
    assert turned == pytest.approx(0.3 * k, rel=1e-4)


def test_floor_holds_as_a_constraint_does_or_not_at_all():
    free = arm_with().statics(formulation=SPLINE)
    deep = TOYS["floor"][0](-0.25).statics(formulation=SPLINE)
    assert deep.tip("arm") == pytest.approx(free.tip("arm"), abs=1e-9)
    assert not deep.reactions["toy"].any()
    robot_held = arm_with()
    height = pl.pose((0.0, 0.0, -0.05))
    robot_held.add_constraint("held", Frame("arm", 0.3), to=height, hold=("z",))
    held = robot_held.statics(formulation=SPLINE)
    robot = TOYS["floor"][0](-0.05)
    still = robot.statics(formulation=SPLINE)
    assert still.tip("arm") == pytest.approx(held.tip("arm"), abs=1e-8)
    force = still.tip("arm")[:3, :3] @ still.reactions["toy"][3:]
    assert force == pytest.approx((0.0, 0.0, held.reactions["held"][5]), abs=1e-7)
    other = robot_held.modes(3, at=held).frequencies
    assert robot.modes(3, at=still).frequencies == pytest.approx(other, rel=1e-5)


def test_compliant_floor_gives_way_by_its_compliance():
    hard, soft = (
        arm_with(lambda arm, C=C: Floor("toy", arm.tip, -0.05, C)).statics(formulation=SPLINE)
        for C in (0.0, 0.01)
    )
    sunk = -0.05 - soft.tip("arm")[2, 3]
    force = np.linalg.norm(hard.reactions["toy"][3:])
    assert 0.001 < sunk < 0.01 * force
    assert np.linalg.norm(soft.reactions["toy"][3:]) == pytest.approx(sunk / 0.01, rel=1e-6)
    assert soft.energy["potential"] == pytest.approx(sunk**2 / 0.02, rel=1e-6)


# -- motion ---------------------------------------------------------------------------------------


def imbalance(name, integrator, dt, duration=0.06):
    make, inputs = TOYS[name]
    inputs = {key: lambda t: np.sin(20.0 * t) ** 2 for key in inputs}
    motion = make().simulate(duration, dt, inputs=inputs, formulation=SPLINE, integrator=integrator)
    energy = motion.energy
    scale = max(np.abs(energy[key]).max() for key in ("kinetic", "gravity", "work"))
    return float(np.abs(energy["balance"]).max()) / scale


@pytest.mark.parametrize("integrator", SECOND_ORDER, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("name", SMOOTH)
def test_energy_balance_closes_at_second_order(name, integrator):
    coarse, fine = (imbalance(name, integrator, dt) for dt in (4e-3, 1e-3))
    assert fine < 3e-3
    assert fine < coarse / 8.0 or fine < 1e-7


@pytest.mark.parametrize("name", SMOOTH)
def test_first_order_integrators_close_the_balance_too(name):
    explicit, euler = pl.Variational(), pl.ImplicitEuler()
    assert imbalance(name, explicit, 1e-4, 0.02) < 5e-3
    coarse, fine = (imbalance(name, euler, dt) for dt in (4e-3, 1e-3))
    assert fine < coarse / 2.0


def along(motion, frame):
    """Positions (T, 3) of a frame."""
    return np.array([motion._compiled.frame(q, frame)[:3, 3] for q in motion._trajectory.q])


def test_dashpot_between_free_bodies_brakes_as_computed():
    """m1 v1' = F - c (v1 - v2), m2 v2' = c (v1 - v2)."""
    m1, m2, c, F, t = 0.2, 0.3, 0.8, 0.5, 0.4
    robot = pl.Robot(gravity=(0, 0, 0))
    inertia = (1e-4, 1e-4, 1e-4)
    ends = [
        robot.add_body(name, m, inertia, pose=pl.pose((x, 0, 0)), joint=pl.Free())
        for name, m, x in (("one", m1, 0.0), ("two", m2, 1.0))
    ]
    robot.add(Dashpot("toy", ends[0].origin, ends[1].origin, c))
    robot.add_load("push", ends[0].origin, force=(F, 0, 0))
    rate = c * (1 / m1 + 1 / m2)
    apart = F / m1 / rate * (t - (1 - np.exp(-rate * t)) / rate)
    centre = 0.5 * F / (m1 + m2) * t**2
    for integrator in (pl.Midpoint(), pl.Newmark()):
        motion = robot.simulate(t, 2e-3, integrator=integrator)
        one, two = (along(motion, end.origin)[-1, 0] for end in ends)
        assert (one - two + 1.0) == pytest.approx(apart, rel=2e-5)
        assert (m1 * one + m2 * (two - 1.0)) / (m1 + m2) == pytest.approx(centre, rel=1e-5)
        assert np.abs(motion.energy["balance"]).max() < 1e-5 * motion.energy["work"][-1]


EVERY = [
    pl.Midpoint(),
    pl.Variational(),
    pl.Newmark(),
    pl.GeneralizedAlpha(0.8),
    pl.ImplicitEuler(),
]


@pytest.mark.parametrize("integrator", EVERY, ids=lambda x: type(x).__name__)
def test_falling_body_stays_on_the_floor_and_loses_its_energy(integrator):
    """An inelastic impact after a fall of 0.1 m takes m g d."""
    robot = pl.Robot()
    body = robot.add_body("ball", 0.2, (1e-4,) * 3, pose=pl.pose((0, 0, 0.1)), joint=pl.Free())
    robot.add(Floor("toy", body.origin))
    motion = robot.simulate(0.3, 1e-3, integrator=integrator)
    z = along(motion, body.origin)[:, 2]
    fall = np.maximum(0.1 - 0.5 * 9.81 * motion.t**2, 0.0)
    first = type(integrator) in (pl.ImplicitEuler, pl.Variational)
    assert np.abs(z - fall).max() < (3e-3 if first else 2e-5)
    assert z.min() > -1e-10
    assert abs(z[-1]) < 1e-10
    energy = motion.energy
    allowed = (2e-2 if first else 2e-3) * 0.2 * 9.81 * 0.1
    assert energy["dissipated"][-1] == pytest.approx(0.2 * 9.81 * 0.1, abs=allowed)
    assert np.abs(energy["balance"]).max() < allowed
    assert motion.reactions["toy"][-1, 5] == pytest.approx(0.2 * 9.81, rel=1e-6)


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.GeneralizedAlpha(0.8)], ids=lambda x: type(x).__name__
)
def test_rod_that_hits_the_floor_balances_its_energy(integrator):
    """Impacts are of first order in the step; what they take is counted as they happen."""
    coarse, fine = (imbalance("floor", integrator, dt, 0.25) for dt in (2e-3, 5e-4))
    assert coarse < 5e-3
    assert fine < min(coarse, 3e-3)


def test_motion_on_a_compliant_floor_closes_its_balance():
    def make(arm):
        return Floor("toy", arm.tip, -0.05, 0.01)

    off = []
    for dt in (2e-3, 5e-4):
        motion = arm_with(make).simulate(0.3, dt, formulation=SPLINE)
        assert motion.tip("arm")[:, 2, 3].min() < -0.051
        off.append(np.abs(motion.energy["balance"]).max())
    assert off[1] < 0.3 * off[0]


@pytest.mark.parametrize("name", TOYS)
def test_stepper_and_modes_know_them(name):
    make, inputs = TOYS[name]
    robot = make()
    motion = robot.simulate(0.02, 2e-3, inputs=inputs, formulation=SPLINE)
    stepper = robot.stepper(2e-3, inputs=inputs, formulation=SPLINE)
    for _ in range(10):
        state = stepper.step()
    assert state.tip("arm") == pytest.approx(motion.tip("arm")[-1], abs=1e-9)
    still = robot.statics(inputs, formulation=SPLINE)
    assert still.stable
    assert (robot.modes(2, at=still).frequencies > 0.5).all()


# -- fit, files, pictures -------------------------------------------------------------------------

TRUE = {"bed": 30.0, "magnet": 0.004, "muscle": 0.02, "floor": -0.05}
FIELDS = {"bed": "stiffness", "magnet": "strength", "muscle": "gain", "floor": "height"}


@pytest.mark.parametrize("name", TRUE)
def test_fit_finds_the_parameter_from_equilibria(name):
    make, inputs = TOYS[name]
    tips = [make().statics(inputs, formulation=SPLINE).tip("arm")[:3, 3]] * 2
    columns = {f"arm.tip.{axis}": np.array(tips)[:, k] for k, axis in enumerate("xyz")}
    data = pl.Measurement({**columns, **{key: [1.0, 1.0] for key in inputs}})
    found = pl.fit(make(1.2 * TRUE[name]), data, [f"toy.{FIELDS[name]}"], formulation=SPLINE)
    assert found[f"toy.{FIELDS[name]}"].value == pytest.approx(TRUE[name], rel=1e-5)


def fall_of(robot):
    motion = robot.simulate(0.2, 4e-3, formulation=SPLINE)
    columns = {"arm.tip.x": motion.tip("arm")[:, 0, 3], "arm.tip.z": motion.tip("arm")[:, 2, 3]}
    return pl.Measurement({"t": motion.t, **columns}, time="t")


def test_fit_finds_the_dashpot_from_a_motion():
    data = fall_of(with_dashpot(0.5))
    found = pl.fit(with_dashpot(0.8), data, ["toy.c"], formulation=SPLINE, dt=4e-3)
    assert found["toy.c"].value == pytest.approx(0.5, rel=1e-4)


def test_fit_through_impacts_is_refused_by_name():
    make = TOYS["floor"][0]
    with pytest.raises(pl.DescriptionError, match=r"floor 'toy': unilateral .* impacts have no"):
        pl.fit(make(), fall_of(make()), ["toy.height"], formulation=SPLINE, dt=4e-3)


FORMS = [pl.Shooting(steps=40), pl.MultipleShooting(4, 40), pl.Collocation()]


@pytest.mark.parametrize("name", ["magnet", "dashpot", "floor"])
@pytest.mark.parametrize("form", FORMS, ids=lambda x: type(x).__name__)
def test_strong_forms_refuse_effects_on_frames_by_name(name, form):
    if name == "dashpot":
        robot = arm_with(lambda arm: Dashpot("toy", arm.tip, arm.at(0.1), 0.5))
    else:
        robot = TOYS[name][0]()
    with pytest.raises(pl.DescriptionError, match="'toy'"):
        robot.statics(formulation=form)


def test_strong_forms_integrate_effects_along_rods():
    still = TOYS["bed"][0]().statics(formulation=pl.Collocation(12))
    assert still.tip("arm")[[0, 2], 3] == pytest.approx(rod_on_bed(30.0), abs=2e-7)


ROD = "rods:\n  arm: {length: 0.3, section: {circle: {radius: 0.01}}, pose: {along: x}, material: "
ROD += "{E: 1e6, nu: 0.5, rho: 1000}}\n"
ENTRIES = {
    "bed": "{on: arm, stiffness: 30}",
    "magnet": "{on: {part: arm, at: tip}, strength: 0.004, at: [0.2, 0, -0.1]}",
    "muscle": "{on: arm, gain: 0.02}",
    "dashpot": "{a: {part: arm, at: 0.1}, b: {part: arm, at: tip}, c: 0.5}",
    "floor": "{on: {part: arm, at: tip}, height: -0.05}",
}


@pytest.mark.parametrize("name", ENTRIES)
def test_robot_file_holds_them(name, tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text(ROD + f"effects: {{toy: {{{name}: {ENTRIES[name]}}}}}\n", encoding="utf-8")
    still = pl.Robot.from_file(file).statics(formulation=SPLINE)
    assert still.residual < 1e-9
    with pytest.raises(SystemExit) as left:
        main(["check", str(file)])
    assert left.value.code == 0


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{bed: {on: arm, stifness: 30}}", "3:32: bed 'toy': stifness .* did you mean 'stiffness'"),
        ("{bad: {on: arm, stiffness: 30}}", "did you mean 'bed'"),
        ("{bed: {on: arm, stiffness: -3}}", "3:32: bed 'toy': stiffness = -3"),
        ("{bed: {on: amr, stiffness: 3}}", "3:23: .*did you mean 'arm'"),
        ("{magnet: {on: {part: arm, at: 0.5}, strength: 1}}", "magnet 'toy': on.* 0.5"),
        ("{muscle: {on: arm}}", "muscle 'toy': gain is missing"),
        ("{dashpot: {a: {part: arm, at: tip}, b: tip, c: 1}}", "dashpot 'toy': b"),
        ("{floor: {on: {part: arm, at: tip}, compliance: -1}}", "floor 'toy': compliance = -1"),
        ("{frame_effect: {}}", "there is no such class"),
    ],
)
def test_wrong_entries_get_their_place_and_a_remedy(entry, words, tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text(ROD + f"effects: {{toy: {entry}}}\n", encoding="utf-8")
    with pytest.raises(pl.PliantError, match=words):
        pl.Robot.from_file(file)


@pytest.mark.parametrize("name", TOYS)
def test_pictures_show_them_by_name(name):
    make, inputs = TOYS[name]
    still = make().statics(inputs, formulation=SPLINE)
    figure = still.plot()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend.count("toy") == 1
    plt.close(figure)


def test_own_drawing_is_shown(tmp_path):
    from pliant.model import drawing

    @dataclass(frozen=True, eq=False)
    class DrawnMagnet(Magnet):
        def drawing(self, at):
            here, there = at.frame(self.on)[:3, 3], np.array(self.at)
            return [
                drawing.Line("field", np.array([here, there])),
                drawing.Tube(
                    "pole", np.array([pl.pose(there), pl.pose(there + 0.02)]), (0.01, 0.01)
                ),
                drawing.Arrow("pull", here, there - here),
                drawing.Value("distance", here, float(np.linalg.norm(there - here)), "m"),
            ]

    robot = arm_with(lambda arm: DrawnMagnet("toy", arm.tip, 0.004, (0.25, 0.05, -0.2)))
    still = robot.statics(formulation=SPLINE)
    figure = still.plot()
    legend = " ".join(text.get_text() for text in figure.legends[0].get_texts())
    distance = np.linalg.norm(still.tip("arm")[:3, 3] - (0.25, 0.05, -0.2))
    for words in ("field", "pole", "pull", f"distance: {distance:.3g} m"):
        assert words in legend
    plt.close(figure)
    robot.simulate(0.02, 2e-3, formulation=SPLINE).animate(tmp_path / "film.gif", fps=10)


# -- attacks --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Wild(pl.FrameEffect):
    """A law that does not behave."""

    on: Frame = holds(OnFrame())
    what: str = "nan"

    def frames(self):
        return [self.on]

    def potential(self, g, u):
        z = g[0, 2, 3]
        if self.what == "root":
            return 1e-6 * np.sqrt(z + 0.02)
        if self.what == "divide":
            return 1e-4 / float(0.0 * z)
        if self.what == "raise":
            raise KeyError("no such magnet")
        if self.what == "shape":
            return np.ones(3)
        return np.nan


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("nan", "law of wild 'toy' has no finite value"),
        ("root", "law of wild 'toy' has no finite value"),
        ("divide", "law of wild 'toy' has no finite value .*ZeroDivisionError"),
        ("raise", "wild 'toy': .*no such magnet"),
        ("shape", "wild 'toy': .*"),
    ],
)
def test_laws_that_fail_end_in_a_sentence_that_names_them(what, words):
    robot = arm_with(lambda arm: Wild("toy", arm.tip, what))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for solve in (
            lambda: robot.statics(formulation=SPLINE),
            lambda: robot.simulate(0.3, 5e-3, formulation=SPLINE),
            lambda: robot.simulate(0.3, 5e-3, formulation=SPLINE, integrator=pl.Newmark()),
        ):
            with pytest.raises(pl.PliantError, match=words):
                solve()


def test_two_effects_share_one_input():
    @dataclass(frozen=True, eq=False)
    class Shared(Muscle):
        def inputs(self):
            return {"activation": 0.0}

    robot = arm_with(lambda arm: Shared("a", "arm", 0.01), gravity=(0, 0, 0))
    robot.add(Shared("b", "arm", 0.01))
    one = arm_with(lambda arm: Muscle("toy", "arm", 0.02), gravity=(0, 0, 0))
    both = robot.statics({"activation": 1.0}, formulation=SPLINE)
    assert both.tip("arm") == pytest.approx(
        one.statics({"toy": 1.0}, formulation=SPLINE).tip("arm"), abs=1e-9
    )


@pytest.mark.parametrize("value", [(1.0, 2.0), "much", np.nan, None])
def test_inputs_of_the_wrong_size_are_refused(value):
    robot = TOYS["muscle"][0]()
    for solve in (
        lambda: robot.statics({"toy": value}, formulation=SPLINE),
        lambda: robot.simulate(0.01, 1e-3, inputs={"toy": value}, formulation=SPLINE),
    ):
        with pytest.raises(pl.DescriptionError, match="toy"):
            solve()


def test_input_of_several_numbers_reaches_the_law():
    @dataclass(frozen=True, eq=False)
    class Three(pl.FrameEffect):
        on: Frame = holds(OnFrame())
        input_sizes = (3,)

        def frames(self):
            return [self.on]

        def inputs(self):
            return {self.name: (0.0, 0.0, 0.0)}

        def potential(self, g, u):
            return -float(u @ g[0, :3, 3])

    robot = arm_with(lambda arm: Three("toy", arm.tip), gravity=(0, 0, 0))
    other = arm_with(gravity=(0, 0, 0))
    other.add_load("push", Frame("arm", 0.3), force=(0.0, 0.01, 0.02))
    still = robot.statics({"toy": (0.0, 0.01, 0.02)}, formulation=SPLINE)
    assert still.tip("arm") == pytest.approx(other.statics(formulation=SPLINE).tip("arm"), abs=1e-8)
    with pytest.raises(pl.DescriptionError, match="toy"):
        robot.statics({"toy": 1.0}, formulation=SPLINE)


def test_effects_with_two_inputs_are_refused():
    @dataclass(frozen=True, eq=False)
    class Two(Muscle):
        def inputs(self):
            return {"a": 0.0, "b": 0.0}

    with pytest.raises(pl.DescriptionError, match=r"two 'toy': inputs .* one input at most"):
        arm_with(lambda arm: Two("toy", "arm", 0.01)).statics(formulation=SPLINE)


def test_bilateral_constraint_of_ones_own_is_a_constraint():
    @dataclass(frozen=True, eq=False)
    class Wire(pl.ConstraintEffect):
        """Keeps a frame at a distance from the origin."""

        on: Frame = holds(OnFrame())
        length: float = quantity("m")

        def frames(self):
            return [self.on]

        def gap(self, g):
            return np.linalg.norm(g[0, :3, 3]) - self.length

    robot = arm_with(lambda arm: Wire("toy", arm.tip, 0.28))
    still = robot.statics(formulation=SPLINE)
    assert np.linalg.norm(still.tip("arm")[:3, 3]) == pytest.approx(0.28, abs=1e-9)
    with pytest.raises(pl.DescriptionError, match="wire 'toy': gap at the start"):
        robot.simulate(0.1, 2e-3, formulation=SPLINE)
    off = []
    for dt in (2e-3, 1e-3):
        motion = robot.simulate(0.1, dt, start="statics", inputs={}, formulation=SPLINE)
        off.append(np.abs(np.linalg.norm(motion.tip("arm")[:, :3, 3], axis=1) - 0.28).max())
    assert max(off) < 1e-9
