"""Rods, frames and poses."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.model import (
    Circle,
    DescriptionError,
    Frame,
    Material,
    Rectangle,
    Rod,
    Stiffness,
    Table,
    along,
    pose,
)

SOFT = Material(E=1e6, nu=0.5, rho=1000.0, viscosity=10.0)


def rod(**changes):
    return Rod(
        **{"name": "arm", "length": 0.3, "section": Circle(0.01), "material": SOFT, **changes}
    )


def test_stiffness_rows_are_bending_twist_shear_axial():
    arm = rod(section=Rectangle(0.02, 0.01, shear_factor=5 / 6))
    area, ix, iy = 2e-4, 0.02 * 0.01**3 / 12, 0.01 * 0.02**3 / 12
    G = 1e6 / 3
    J = arm.section.geometry([0.0], 0.3).J[0]
    expected = [1e6 * ix, 1e6 * iy, G * J, 5 / 6 * G * area, 5 / 6 * G * area, 1e6 * area]
    np.testing.assert_allclose(arm.stiffness([0.0, 0.2]), [expected] * 2, rtol=1e-14)


def test_inertia_rows_are_rotary_then_mass():
    arm = rod(section=Rectangle(0.02, 0.01))
    ix, iy = 0.02 * 0.01**3 / 12, 0.01 * 0.02**3 / 12
    expected = 1000 * np.array([ix, iy, ix + iy, 2e-4, 2e-4, 2e-4])
    np.testing.assert_allclose(arm.inertia([0.1]), [expected], rtol=1e-14)
    np.testing.assert_allclose(arm.mass_per_length([0.1]), [0.2], rtol=1e-14)


def test_damping_is_stiffness_times_one_retardation_time():
    arm = rod()
    np.testing.assert_allclose(arm.damping([0.1]), arm.stiffness([0.1]) * 10.0 / 1e6, rtol=1e-15)


def test_rod_by_stiffness_needs_no_material():
    section = Stiffness(1, 2, 3, 4, mass=0.5, inertia=(1e-6, 2e-6, 3e-6), retardation=0.1)
    arm = rod(section=section, material=None)
    np.testing.assert_array_equal(arm.stiffness([0.1]), [[1, 1, 2, 3, 3, 4]])
    np.testing.assert_array_equal(arm.inertia([0.1]), [[1e-6, 2e-6, 3e-6, 0.5, 0.5, 0.5]])
    np.testing.assert_allclose(arm.damping([0.1]), arm.stiffness([0.1]) * 0.1)


@pytest.mark.parametrize(
    ("natural", "expected"),
    [
        ((0, 0, 0), [0, 0, 0, 0, 0, 1]),
        ((1, 2, 3), [1, 2, 3, 0, 0, 1]),
        ((1, 2, 3, 0, 0, 1.1), [1, 2, 3, 0, 0, 1.1]),
        (lambda s: (s, 0, 0), [0.15, 0, 0, 0, 0, 1]),
        (lambda s: np.array([s, 0, 0, 0, 0, 2]), [0.15, 0, 0, 0, 0, 2]),
        (Table([0, 0.3], [[0, 0, 0], [2, 4, 6]]), [1, 2, 3, 0, 0, 1]),
    ],
    ids=["straight", "curved", "all six", "function", "function of six", "table"],
)
def test_natural_strain_in_each_form(natural, expected):
    np.testing.assert_allclose(rod(natural=natural).natural_strain([0.15]), [expected])


def test_frames_of_a_rod():
    arm = rod()
    assert arm.tip == Frame("arm", 0.3)
    assert arm.base_frame == Frame("arm", 0.0)
    assert arm.at(0.1, offset=(0.007, 0)) == Frame("arm", 0.1, (0.007, 0.0, 0.0))
    assert arm.at(np.linspace(0, 0.3, 11)[-1]) == arm.tip
    assert len({arm.tip, arm.at(0.3)}) == 1


def test_rounding_beyond_the_tip_is_forgiven_and_more_is_not():
    arm = rod()
    assert arm.at(0.3 * (1 + 1e-12)).s == 0.3
    with pytest.raises(DescriptionError, match=r"rod 'arm': s = 0\.31: .*0\.3"):
        arm.at(0.31)


def test_frame_offset_is_a_pure_shift():
    expected = np.eye(4)
    expected[:3, 3] = (0.1, 0.2, 0.0)
    np.testing.assert_array_equal(Frame("arm", 0.1, (0.1, 0.2)).pose_offset(), expected)


@pytest.mark.parametrize("axis", ["x", "-x", "y", "-y", "z", "-z", "+y"])
def test_along_points_local_z_along_the_axis(axis):
    g = along(axis, origin=(1, 2, 3))
    expected = np.zeros(3)
    expected["xyz".index(axis[-1])] = -1 if axis[0] == "-" else 1
    np.testing.assert_array_equal(g[:3, 2], expected)
    np.testing.assert_array_equal(g[:3, :3] @ g[:3, :3].T, np.eye(3))
    assert np.linalg.det(g[:3, :3]) == pytest.approx(1.0)
    np.testing.assert_array_equal(g[:3, 3], (1, 2, 3))


def test_along_x_turns_about_world_y():
    g = along("x")
    np.testing.assert_array_equal(g[:3, 0], (0, 0, -1))
    np.testing.assert_array_equal(g[:3, 1], (0, 1, 0))


def test_pose_by_rotation_vector_equals_along():
    np.testing.assert_allclose(pose(rotation=(0, np.pi / 2, 0)), along("x"), atol=1e-15)
    np.testing.assert_allclose(pose((1, 2, 3), np.eye(3))[:3, 3], (1, 2, 3))
    np.testing.assert_array_equal(pose(rotation=(0, 0, 0)), np.eye(4))
    half_turn = pose(rotation=(np.pi, 0, 0))[:3, :3]
    np.testing.assert_allclose(half_turn, np.diag([1, -1, -1]), atol=1e-15)


def test_small_rotation_vector_keeps_its_digits():
    g = pose(rotation=(0, 0, 1e-9))
    assert g[1, 0] == pytest.approx(1e-9, rel=1e-12)


def test_rod_owns_its_pose():
    given = np.eye(4)
    arm = rod(pose=given)
    given[0, 3] = 5.0
    assert arm.pose[0, 3] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        arm.pose[0, 3] = 1.0


def test_nearly_orthonormal_rotation_is_cleaned():
    given = np.eye(4)
    given[0, 1] = 1e-8
    R = rod(pose=given).pose[:3, :3]
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-15)


def test_rod_can_be_replaced_with_another_formulation():
    marker = object()
    assert replace(rod(), formulation=marker).formulation is marker
