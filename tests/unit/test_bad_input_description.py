"""Impossible values are refused in words: the part, the field, the value and a remedy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pliant.model import (
    Annulus,
    Circle,
    Constant,
    Constraint,
    Description,
    DescriptionError,
    Frame,
    Load,
    Material,
    Ramp,
    Rectangle,
    Rod,
    Section,
    Sine,
    Step,
    Stiffness,
    Sweep,
    Table,
    TimeTable,
    along,
    pose,
)
from pliant.model.checks import show

SOFT = Material(E=1e6, nu=0.5, rho=1000.0)
TIP = Frame("arm", 0.3)


def rod(**changes):
    return Rod(
        **{"name": "arm", "length": 0.3, "section": Circle(0.01), "material": SOFT, **changes}
    )


def stiffness(**changes):
    return Stiffness(**{"bending": 1, "twist": 1, "shear": 1, "axial": 1, **changes})


not_positive = st.one_of(
    st.floats(max_value=0.0),
    st.just(math.nan),
    st.just(math.inf),
    st.integers(max_value=0),
    st.booleans(),
    st.none(),
    st.text(max_size=5),
)

POSITIVE_FIELDS = {
    "rod 'arm': length": lambda x: rod(length=x),
    "Circle: radius": Circle,
    "Circle: shear_factor": lambda x: Circle(0.01, shear_factor=x),
    "Annulus: outer": lambda x: Annulus(x, 0.01),
    "Annulus: inner": lambda x: Annulus(0.01, x),
    "Rectangle: width": lambda x: Rectangle(x, 0.01),
    "Rectangle: height": lambda x: Rectangle(0.01, x),
    "Section: area": lambda x: Section(x, 1, 1, 1),
    "Section: Ix": lambda x: Section(1, x, 1, 1),
    "Section: Iy": lambda x: Section(1, 1, x, 1),
    "Section: J": lambda x: Section(1, 1, 1, x),
    "Material: E": lambda x: Material(E=x, nu=0.5),
    "Stiffness: bending": lambda x: stiffness(bending=x),
    "Stiffness: twist": lambda x: stiffness(twist=x),
    "Stiffness: shear": lambda x: stiffness(shear=x),
    "Stiffness: axial": lambda x: stiffness(axial=x),
    "Sine: frequency": lambda x: Sine(1, x),
    "Sweep: duration": lambda x: Sweep(1, 1, 2, x),
}


@pytest.mark.parametrize("where", POSITIVE_FIELDS)
@settings(max_examples=40, deadline=None)
@given(value=not_positive)
def test_anything_but_a_positive_number_is_refused(where, value):
    with pytest.raises(DescriptionError) as caught:
        POSITIVE_FIELDS[where](value)
    message = str(caught.value)
    assert message.startswith(f"{where} = {show(value)}: must be a positive number")
    assert "; give " in message
    assert "\n" not in message


@pytest.mark.parametrize("taper", ["pair", "table", "function"])
@settings(max_examples=25, deadline=None)
@given(value=st.one_of(st.floats(max_value=0.0), st.just(math.nan), st.just(math.inf)))
def test_taper_to_a_bad_radius_is_refused(taper, value):
    forms = {
        "pair": lambda: Circle((0.01, value)),
        "table": lambda: Circle(Table([0, 0.3], [0.01, value])),
        "function": lambda: rod(section=Circle(lambda s: 0.01 if s < 0.2 else value)),
    }
    with pytest.raises(DescriptionError) as caught:
        forms[taper]()
    assert show(value) in str(caught.value) or "values" in str(caught.value)


CASES = [
    (lambda: rod(name=""), "rod: name = ''"),
    (lambda: rod(name=3), "rod: name = 3"),
    (lambda: rod(name="world"), "rod: name = 'world'.*reserved"),
    (lambda: rod(section=0.01), r"rod 'arm': section = 0\.01.*Circle\(0\.01\)"),
    (lambda: rod(material=None), r"rod 'arm': material = None.*Material\(E="),
    (lambda: rod(section=stiffness()), "rod 'arm': material = Material.*left out"),
    (lambda: rod(theory="kirchoff"), "theory = 'kirchoff'.*did you mean 'kirchhoff'"),
    (lambda: Description().add(rod(base="wrld")), "rod 'arm': base = 'wrld'.*mean 'world'"),
    (lambda: Description().add(rod(base=Frame("arm", 0.1))), "rod 'arm': base = .*another part"),
    (lambda: rod(pose=np.eye(3)), "rod 'arm': pose = .*4x4"),
    (lambda: rod(pose=2 * np.eye(4)), "rod 'arm': pose = "),
    (lambda: rod(pose=np.diag([1, 1, -1, 1])), "rod 'arm': pose = .*right-handed"),
    (lambda: rod(pose=np.full((4, 4), np.nan)), "rod 'arm': pose = .*finite"),
    (lambda: rod(natural=(1, 2)), r"rod 'arm': natural = \(1, 2\).*3 or 6"),
    (lambda: rod(natural=(0, 0, math.inf)), "rod 'arm': natural = .*inf"),
    (lambda: rod(natural=(0, 0, 0, 0, 0, 0)), "rod 'arm': natural = .*vz = 1"),
    (lambda: rod(natural=lambda s: (s, s)), "rod 'arm': natural = .*at s = 0 m"),
    (lambda: rod(natural=lambda s: (0, 0, math.nan)), "rod 'arm': natural = .*at s = 0 m"),
    (lambda: rod(natural=Table([0, 0.1], [[0] * 3] * 2)), r"natural\.s = .*end it at 0\.3"),
    (lambda: rod(section=Circle(lambda s: 0.2 - s)), r"rod 'arm': section\.radius = .*at s = 0\.2"),
    (lambda: rod(section=Circle(lambda s: "a")), r"rod 'arm': section\.radius = nan"),
    (lambda: rod(section=Circle(1e-90)), "rod 'arm': section = .*units"),
    (lambda: rod(section=Circle(1e90)), "rod 'arm': section = .*units"),
    (lambda: rod(section=stiffness(mass=lambda s: -1.0), material=None), r"section\.mass = -1\.0"),
    (lambda: rod().at("tip"), "rod 'arm': s = 'tip'"),
    (lambda: rod().at(math.nan), "rod 'arm': s = nan"),
    (lambda: rod().at(0.1, offset=(1,)), r"offset = \(1,?\).*2 or 3"),
    (lambda: Circle((1, 2, 3)), r"Circle: radius = \(1, 2, 3\).*pair"),
    (lambda: Circle([[1, 2]]), "Circle: radius = "),
    (lambda: Circle(Table([0, 1], [[1, 2], [1, 2]])), "Circle: radius = .*one value"),
    (lambda: Annulus(0.01, 0.02), r"Annulus: inner = 0\.02: .*outer radius 0\.01"),
    (lambda: Annulus((0.01, 0.005), 0.008), r"Annulus: inner = 0\.008: .*0\.005"),
    (lambda: Material(E=1e6), r"Material: nu, G = \(None, None\).*exactly one"),
    (lambda: Material(E=1e6, nu=0.5, G=1e5), r"Material: nu, G = \(0\.5, 100000\.0\)"),
    (lambda: Material(E=1e6, nu=0.6), r"Material: nu = 0\.6.*0\.5"),
    (lambda: Material(E=1e6, nu=-1), "Material: nu = -1"),
    (lambda: Material(E=1e6, nu=math.nan), "Material: nu = nan"),
    (lambda: Material(E=1e6, G=-1), "Material: G = -1"),
    (lambda: Material(E=1e6, nu=0.5, rho=-1), "Material: rho = -1"),
    (lambda: Material(E=1e6, nu=0.5, viscosity=math.inf), "Material: viscosity = inf"),
    (lambda: stiffness(bending=(1, -2)), "Stiffness: bending = -2"),
    (lambda: stiffness(twist=(1, 2)), r"Stiffness: twist = \(1, 2\)"),
    (lambda: stiffness(mass=-1), "Stiffness: mass = -1"),
    (lambda: stiffness(inertia=(1, 2)), "Stiffness: inertia = .*3 finite numbers in kg m"),
    (lambda: stiffness(inertia=(1, 2, -3)), "Stiffness: inertia = "),
    (lambda: stiffness(retardation=-0.1), r"Stiffness: retardation = -0\.1"),
    (lambda: Table([0], [1]), "Table: s = .*at least two"),
    (lambda: Table([1, 0], [1, 2]), "Table: s = .*strictly increasing"),
    (lambda: Table([0, 1], [1, 2, 3]), r"Table: values = .*\(2, not 3\)"),
    (lambda: Table([0, 1], ["a", "b"]), "Table: values = "),
    (lambda: TimeTable([0, 1], [[1, 2], [3, 4]]), "Table: values = .*one number"),
    (lambda: Frame("arm", math.nan), "frame on 'arm': s = nan"),
    (lambda: Frame("", 0.1), "Frame: name = ''"),
    (lambda: along("w"), "along: axis = 'w'"),
    (lambda: along(3), "along: axis = 3"),
    (lambda: along("x", (1, 2)), "along: origin = "),
    (lambda: pose((0, 0, math.inf)), "pose: position = "),
    (lambda: pose(rotation=(1, 2)), "pose: rotation = .*rotation vector"),
    (lambda: pose(rotation=np.ones((3, 3))), "pose: rotation = .*orthonormal"),
    (lambda: Load("p", 3), "load 'p': on = 3"),
    (lambda: Load("p", TIP, force=(1, 2)), "load 'p': force = .*3 finite numbers in N"),
    (lambda: Load("p", TIP, moment=(1, 2, math.nan)), "load 'p': moment = .*N m"),
    (lambda: Load("p", TIP, force=lambda s: (0, 0, 0)), "load 'p': force = .*point load"),
    (
        lambda: Description().add(Load("p", TIP, frame="wrld")),
        "load 'p': frame = 'wrld'.*did you mean 'world'",
    ),
    (lambda: Load("p", TIP, over=(0, 0.1)), "load 'p': over = .*left out"),
    (lambda: Load("p", "arm", over=(0.2, 0.1)), r"load 'p': over = \(0\.2, 0\.1\)"),
    (lambda: Load("p", "arm", over=(-0.1, 0.1)), "load 'p': over = "),
    (lambda: Load("p", TIP).wrench(math.nan), "load 'p': input = nan"),
    (lambda: Load("p", TIP).wrench((1, 2)), r"load 'p': input = \(1, 2\)"),
    (lambda: Load("p", TIP).wrench(True), "load 'p': input = True"),
    (lambda: Load("p", TIP).wrench("1"), "load 'p': input = '1'"),
    (lambda: Load("p", TIP).density([0.1]), "load 'p': on = .*wrench"),
    (lambda: Load("p", "arm", force=lambda s: (0, 0, 0)).wrench(), "load 'p': force = .*density"),
    (lambda: Constraint("c", 3), "constraint 'c': on = 3.*a Frame, or its name"),
    (lambda: Constraint("c", TIP, TIP), "constraint 'c': to = .*another"),
    (lambda: Constraint("c", TIP, np.eye(3)), "constraint 'c': to = .*4x4"),
    (lambda: Constraint("c", TIP, kind="fixd"), "constraint 'c': kind = 'fixd'.*'fixed'"),
    (lambda: Constraint("c", TIP, hold=("q",)), "constraint 'c': hold = 'q'"),
    (lambda: Constraint("c", TIP, hold=()), r"constraint 'c': hold = \(\)"),
    (lambda: Constraint("c", TIP, hold=("x", "x")), "constraint 'c': hold = .*different"),
    (lambda: Constraint("c", TIP, hold="xy"), "constraint 'c': hold = 'xy'"),
    (lambda: Constraint("c", TIP, kind="fixed", hold=("x",)), "constraint 'c': hold = .*kind"),
    (lambda: Constant(math.inf), "Constant: value = inf"),
    (lambda: Ramp(0, 1, 1, 1), r"Ramp: t1 = 1\.0: .*later than t0"),
    (lambda: Ramp(0, math.nan, 0, 1), "Ramp: end = nan"),
    (lambda: Sine("a", 1), "Sine: amplitude = 'a'"),
    (lambda: Step(0, 1, 0.5, -0.1), r"Step: rise = -0\.1"),
    (lambda: Step(0, math.nan), "Step: after = nan"),
    (lambda: Sweep(1, -1, 2, 3), "Sweep: f0 = -1"),
    (lambda: Description(gravity=(0, 0)), r"robot: gravity = \(0, 0\).*m/s\^2"),
    (lambda: Description(gravity=9.81), r"robot: gravity = 9\.81"),
]


@pytest.mark.parametrize(("make", "message"), CASES, ids=[message for _, message in CASES])
def test_impossible_description_is_refused_in_words(make, message):
    with pytest.raises(DescriptionError, match=message) as caught:
        make()
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


def test_long_values_are_shortened():
    with pytest.raises(DescriptionError) as caught:
        Description(gravity=tuple(range(1000)))
    assert len(str(caught.value)) < 250
