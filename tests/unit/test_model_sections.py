"""Sections, materials and profiles give the numbers of the textbooks."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.model import (
    Annulus,
    Circle,
    Damping,
    DescriptionError,
    Material,
    Profile,
    Rectangle,
    Rod,
    Section,
    Stiffness,
    Table,
)

S = np.linspace(0.0, 0.3, 7)
LENGTH = 0.3


def test_circle_has_the_moments_of_a_disc():
    r = 0.01
    found = Circle(r).geometry(S, LENGTH)
    np.testing.assert_allclose(found.area, np.pi * r**2, rtol=1e-15)
    np.testing.assert_allclose(found.Ix, np.pi * r**4 / 4, rtol=1e-15)
    np.testing.assert_allclose(found.Iy, found.Ix, rtol=0)
    np.testing.assert_allclose(found.J, np.pi * r**4 / 2, rtol=1e-15)
    assert found.area.shape == S.shape


def test_annulus_is_a_disc_less_a_disc():
    tube = Annulus(outer=0.01, inner=0.008).geometry(S, LENGTH)
    outer, inner = Circle(0.01).geometry(S, LENGTH), Circle(0.008).geometry(S, LENGTH)
    for whole, large, small in zip(tube, outer, inner, strict=True):
        np.testing.assert_allclose(whole, large - small, rtol=1e-14)


def test_rectangle_bends_easily_about_its_long_side():
    found = Rectangle(width=0.02, height=0.01).geometry(S, LENGTH)
    np.testing.assert_allclose(found.Ix, 0.02 * 0.01**3 / 12, rtol=1e-15)
    np.testing.assert_allclose(found.Iy, 0.01 * 0.02**3 / 12, rtol=1e-15)


@pytest.mark.parametrize(
    ("ratio", "coefficient"),
    # J / (a b^3) for a / b: Timoshenko and Goodier, Theory of Elasticity, table of torsion of bars
    [(1.0, 0.1406), (1.2, 0.166), (1.5, 0.196), (2.0, 0.229), (3.0, 0.263), (10.0, 0.312)],
)
def test_rectangle_torsion_agrees_with_the_published_table(ratio, coefficient):
    found = Rectangle(ratio, 1.0).geometry(S, LENGTH).J / ratio
    np.testing.assert_allclose(found, coefficient, atol=5.1e-4 if ratio > 1 else 5e-5)


def test_unit_square_torsion_to_seven_digits():
    np.testing.assert_allclose(Rectangle(1.0, 1.0).geometry(S, LENGTH).J, 0.1405770, atol=5e-8)


def test_rectangle_torsion_equals_its_slow_series():
    a, b = 0.03, 0.02
    n = np.arange(1, 4001, 2)
    slow = (
        a
        * b**3
        / 3
        * (1 - 192 * b / (np.pi**5 * a) * (np.tanh(n * np.pi * a / 2 / b) / n**5).sum())
    )
    for section in (Rectangle(a, b), Rectangle(b, a)):
        np.testing.assert_allclose(section.geometry(S, LENGTH).J, slow, rtol=1e-13)


def test_thin_strip_twists_as_a_strip():
    np.testing.assert_allclose(Rectangle(1e4, 1.0).geometry(S, LENGTH).J, 1e4 / 3, rtol=1e-4)


def test_section_returns_its_numbers_and_draws_the_equal_ellipse():
    circle = Circle(0.01).geometry(S, LENGTH)
    section = Section(*(float(item[0]) for item in circle))
    for given, found in zip(circle, section.geometry(S, LENGTH), strict=True):
        np.testing.assert_allclose(found, given, rtol=1e-15)
    np.testing.assert_allclose(section.outline(S, LENGTH), 0.01, rtol=1e-14)


@pytest.mark.parametrize(
    ("section", "half"),
    [
        (Circle(0.01), (0.01, 0.01)),
        (Annulus(0.01, 0.005), (0.01, 0.01)),
        (Rectangle(0.02, 0.01), (0.01, 0.005)),
        (Stiffness(1, 1, 1, 1), (0.003, 0.003)),
    ],
)
def test_outline_gives_half_widths(section, half):
    x, y = section.outline(S, LENGTH)
    np.testing.assert_allclose(x, np.full(7, half[0]))
    np.testing.assert_allclose(y, np.full(7, half[1]))


@pytest.mark.parametrize(
    "radius",
    [
        (0.01, 0.004),
        lambda s: 0.01 - 0.02 * s,
        Table([0.0, 0.1, 0.3], [0.01, 0.008, 0.004]),
    ],
    ids=["pair", "function", "table"],
)
def test_linear_taper_in_each_form(radius):
    found = Circle(radius).geometry(S, LENGTH)
    expected = np.pi * (0.01 - 0.02 * S) ** 4 / 4
    np.testing.assert_allclose(found.Ix, expected, rtol=1e-13)


def test_profile_keeps_the_shape_of_s():
    assert Profile(2.0).at(0.1, LENGTH).shape == ()
    assert Profile((1.0, 2.0)).at(np.zeros((2, 3)), LENGTH).shape == (2, 3)
    assert Profile(lambda s: s).at(np.zeros((2, 3)), LENGTH).shape == (2, 3)


def test_profile_function_may_return_a_small_array():
    np.testing.assert_allclose(Profile(lambda s: np.array([s])).at(S, LENGTH), S)


def test_table_must_cover_the_rod():
    section = Circle(Table([0.0, 0.2], [0.01, 0.01]))
    with pytest.raises(DescriptionError, match=r"radius\.s.*0 to 0\.3 m.*end it at 0\.3"):
        section.geometry(S, LENGTH)


def test_table_with_columns_interpolates_each():
    table = Table([0.0, 1.0], [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    np.testing.assert_allclose(table(0.5), [1.0, 1.0, 1.0])
    np.testing.assert_allclose(table(np.array([0.0, 0.25])), [[0, 1, 2], [0.5, 1, 1.5]])


def test_material_derives_the_shear_modulus():
    assert Material(E=3e6, nu=0.5).shear_modulus == pytest.approx(1e6, rel=1e-15)
    assert Material(E=3e6, nu=0.0).shear_modulus == pytest.approx(1.5e6, rel=1e-15)
    assert Material(E=3e6, G=7e5).shear_modulus == 7e5


def test_material_stays_consistent_when_a_field_is_replaced():
    assert replace(Material(E=3e6, nu=0.5), E=6e6).shear_modulus == pytest.approx(2e6, rel=1e-15)


def test_retardation_is_viscosity_over_modulus():
    assert Material(E=1e6, nu=0.5, viscosity=10.0).retardation == 1e-5


def test_stiffness_pair_means_the_two_directions():
    found = Stiffness(bending=(1, 2), twist=3, shear=(4, 5), axial=6).stiffness(S, LENGTH)
    np.testing.assert_array_equal(found, np.tile([1.0, 2, 3, 4, 5, 6], (7, 1)))


def test_stiffness_takes_functions_and_tables_per_direction():
    section = Stiffness(
        bending=(lambda s: 1 + s, Table([0, 0.3], [1, 2])), twist=lambda s: 2 + s, shear=4, axial=6
    )
    found = section.stiffness(S, LENGTH)
    np.testing.assert_allclose(found[:, 0], 1 + S)
    np.testing.assert_allclose(found[:, 1], 1 + S / 0.3)
    np.testing.assert_allclose(found[:, 2], 2 + S)


def test_descriptions_are_frozen():
    with pytest.raises(AttributeError):
        Circle(0.01).radius = 0.02


def test_damping_has_one_value_per_strain():
    found = Damping(bending=(1, 2), twist=lambda s: 3.0, shear=(4, 5), axial=6).damping(S, LENGTH)
    np.testing.assert_array_equal(found, np.tile([1.0, 2, 3, 4, 5, 6], (7, 1)))
    np.testing.assert_array_equal(Damping().damping(S, LENGTH), np.zeros((7, 6)))


def test_damping_of_a_rod_adds_to_the_viscosity_of_its_material():
    material = Material(E=1e6, nu=0.5, viscosity=10.0)
    plain = Rod("arm", LENGTH, Circle(0.01), material)
    table = Table([0.0, LENGTH], [0.0, 2.0])
    damped = Rod("arm", LENGTH, Circle(0.01), material, strain_damping=Damping(axial=table))
    more = damped.damping(S) - plain.damping(S)
    np.testing.assert_allclose(more[:, 5], 2.0 * S / LENGTH, atol=1e-12)
    np.testing.assert_array_equal(more[:, :5], 0.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"twist": -1.0}, r"Damping: twist = -1.0: must be zero or a positive number in N m\^2 s"),
        ({"bending": (1.0, -2.0)}, r"Damping: bending = -2.0"),
        ({"axial": (1.0, 2.0)}, "axial = .*a number, a function or a Table"),
    ],
)
def test_wrong_damping_is_refused(given, words):
    with pytest.raises(DescriptionError, match=words):
        Damping(**given)


def test_rod_refuses_damping_that_is_wrong_somewhere():
    material = Material(E=1e6, nu=0.5)
    with pytest.raises(DescriptionError, match=r"rod 'arm': strain_damping\.shear = -"):
        Rod("arm", LENGTH, Circle(0.01), material, strain_damping=Damping(shear=lambda s: 0.1 - s))
    with pytest.raises(
        DescriptionError, match=r"rod 'arm': strain_damping = 0.1: must be a Damping"
    ):
        Rod("arm", LENGTH, Circle(0.01), material, strain_damping=0.1)
