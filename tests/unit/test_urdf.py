"""URDF files: kinematics, mass matrix, limits, mimics, meshes, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pliant as pl

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="world"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0.02" rpy="0.3 -0.2 0.5"/>
      <mass value="2"/>
      <inertia ixx="0.01" iyy="0.02" izz="0.025" ixy="0.001" ixz="-0.002" iyz="0.0005"/>
    </inertial>
    <visual>
      <origin xyz="0.15 0 0"/>
      <geometry><box size="0.3 0.04 0.04"/></geometry>
    </visual>
    <visual><geometry><cylinder radius="0.03" length="0.08"/></geometry></visual>
  </link>
  <link name="fore">
    <inertial>
      <origin xyz="0.1 0 0"/>
      <mass value="1"/>
      <inertia ixx="0.001" iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <link name="slide">
    <inertial>
      <origin xyz="0 0.01 0"/><mass value="0.3"/>
      <inertia ixx="1e-4" iyy="2e-4" izz="1.5e-4" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual><geometry><sphere radius="0.02"/></geometry></visual>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="world"/><child link="upper"/>
    <origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0.2"/>
    <limit lower="-2" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.1" friction="0"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="fore"/>
    <origin xyz="0.3 0 0" rpy="0.4 0 -0.6"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="rail" type="prismatic">
    <parent link="fore"/><child link="slide"/>
    <origin xyz="0.2 0 0.01"/><axis xyz="1 0 0"/>
    <limit lower="-0.2" upper="0.2" effort="1" velocity="1"/>
  </joint>
  <transmission name="ignored"/>
</robot>
"""
MIMIC = """<link name="finger"><inertial><mass value="0.1"/>
<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="grip" type="revolute"><parent link="slide"/><child link="finger"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1"/><mimic joint="elbow" multiplier="-0.5" offset="0.1"/>
</joint></robot>"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def turned(axis: Any, angle: float) -> Any:
    """Rodrigues' formula, written out."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def placed(element: Any) -> tuple[Any, Any]:
    """Position and rotation of an <origin>: turns about the fixed axes x, y and z."""
    origin = element.find("origin")
    given = {} if origin is None else origin.attrib
    xyz, rpy = ([float(x) for x in given.get(key, "0 0 0").split()] for key in ("xyz", "rpy"))
    axes = np.eye(3)
    R = turned(axes[2], rpy[2]) @ turned(axes[1], rpy[1]) @ turned(axes[0], rpy[0])
    return np.array(xyz), R


def kinematics(q: Any) -> list[tuple[Any, Any, float, Any, Any]]:
    """Origin and rotation of each link, its mass, centre and inertia in the world, by hand."""
    root = ElementTree.fromstring(ARM)
    p, R, found = np.zeros(3), np.eye(3), []
    for joint, value in zip(root.findall("joint"), q, strict=True):
        x, Rj = placed(joint)
        p, R = p + R @ x, R @ Rj
        axis = np.array([float(c) for c in joint.find("axis").get("xyz").split()])  # type: ignore[union-attr,misc]
        if joint.get("type") == "prismatic":
            p = p + R @ axis * value
        else:
            R = R @ turned(axis, value)
        name = joint.find("child").get("link")  # type: ignore[union-attr]
        inertial = root.find(f"link[@name='{name}']/inertial")
        c, Rc = placed(inertial)
        I = inertial.find("inertia").attrib  # type: ignore[union-attr] # noqa: E741
        xx, yy, zz, xy, xz, yz = (float(I["i" + k]) for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
        moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        W = R @ Rc
        mass = float(inertial.find("mass").get("value"))  # type: ignore[union-attr]
        found.append((p, R, mass, p + R @ c, W @ moments @ W.T))
    return found


def mass_matrix(q: Any) -> Any:
    """Sum of m Jv^T Jv + Jw^T I Jw, with Jacobians by central differences."""
    M, h = np.zeros((3, 3)), 1e-5
    here = kinematics(q)
    ends = [[kinematics(q + s * h * np.eye(3)[k]) for s in (1, -1)] for k in range(3)]
    for i, (_, R, mass, _, inertia) in enumerate(here):
        Jv = np.array([(a[i][3] - b[i][3]) / (2 * h) for a, b in ends]).T
        spin = [(a[i][1] - b[i][1]) / (2 * h) @ R.T for a, b in ends]
        Jw = np.array([[S[2, 1], S[0, 2], S[1, 0]] for S in spin]).T
        M += mass * Jv.T @ Jv + Jw.T @ inertia @ Jw
    return M


def test_poses_and_mass_matrix_are_those_of_the_file(arm: Path) -> None:
    robot = pl.Robot()
    bodies = robot.add_urdf(arm)
    assert list(bodies) == ["world", "upper", "fore", "slide"] and bodies["world"] is None
    q = np.array([0.7, -1.1, 0.05])
    equations = robot.equations()
    np.testing.assert_allclose(equations.mass(q), mass_matrix(q), rtol=2e-9, atol=1e-10)
    motion = robot.simulate(
        1e-3, 1e-3, joints=dict(zip(["upper", "fore", "slide"], q, strict=True))
    )
    for name, (p, R, *_) in zip(["upper", "fore", "slide"], kinematics(q), strict=True):
        np.testing.assert_allclose(motion.pose(name)[0, :3, 3], p, atol=1e-12)
        np.testing.assert_allclose(motion.pose(name)[0, :3, :3], R, atol=1e-12)


def test_damping_limits_and_drives_are_those_of_the_file(arm: Path) -> None:
    robot = pl.Robot()
    bodies = robot.add_urdf(arm, "left ", drive={"elbow": "force", "rail": "motion"})
    joint: Any = bodies["upper"].joint  # type: ignore[union-attr]
    assert (joint.damping, joint.limits, joint.drive) == (0.1, (-2.0, 2.0), None)
    assert robot.description.inputs() == {"left elbow": 0.0, "left rail": 0.0}
    motion = robot.simulate(0.2, 2e-3, inputs={"left rail": 0.1})
    assert motion.joint("left slide")[-1] == pytest.approx([0.1])
    robot.add_urdf(arm, "right ", pose=pl.pose((0.0, 1.0, 0.0)), limits=False)
    assert len(robot.description.parts) == 6
    falls = robot.simulate(3.0, 5e-3, inputs={"left rail": 0.1}, output_every=0.01)
    assert falls.joint("left upper").max() < 2.0 + 1e-6
    assert falls.energy_gap.share_added < 0.01


def test_root_floats_or_hangs_on_a_rod(arm: Path) -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("stem", 0.2, pl.Circle(0.01), pl.Material(E=1e7, nu=0.4, rho=1100.0))
    bodies = robot.add_urdf(arm, on=rod.tip, limits=False)
    robot.add_tendon("wire", [rod.at(0.05, (0.01, 0.0)), bodies["upper"].at((0.1, 0.0, 0.0))])  # type: ignore[union-attr]
    motion = robot.simulate(0.05, 1e-3, inputs={"wire": 1.0})
    assert motion.energy_gap.share_added < 0.01
    free = pl.Robot()
    given = ARM.replace('<link name="world"/>', "").replace('<parent link="world"/>', "")
    start = given.index('<joint name="shoulder"')
    given = given[:start] + given[given.index('<joint name="elbow"') :]
    arm.write_text(given)
    free.add_urdf(arm, floating=True)
    fall = free.simulate(0.1, 1e-3)
    assert fall.position("upper")[-1, 2] == pytest.approx(-0.5 * 9.81 * 0.01, abs=5e-3)


def test_mimic_becomes_a_gear(arm: Path) -> None:
    arm.write_text(ARM.replace("</robot>", MIMIC))
    robot = pl.Robot()
    robot.add_urdf(arm, limits=False)
    start = {"fore": 0.4, "finger": -0.1}
    motion = robot.simulate(0.2, 1e-3, joints=start)
    follows = 0.1 - 0.5 * motion.joint("fore")[:, 0]
    np.testing.assert_allclose(motion.joint("finger")[:, 0], follows, atol=1e-8)
    assert np.ptp(follows) > 0.01


def test_meshes_are_drawn_where_they_can_be(arm: Path, tmp_path: Path) -> None:
    meshes = tmp_path / "arm_description" / "meshes"
    meshes.mkdir(parents=True)
    corners = "v 0 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 100\n"
    (meshes / "tip.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    mesh = '<mesh filename="package://arm_description/meshes/tip.obj" scale="1e-3 1e-3 1e-3"/>'
    arm.write_text(ARM.replace('<sphere radius="0.02"/>', mesh))
    shape: Any = pl.Robot().add_urdf(arm)["slide"].shape  # type: ignore[union-attr]
    assert np.asarray(shape.vertices).max() == pytest.approx(0.1)
    arm.write_text(ARM.replace('<sphere radius="0.02"/>', '<mesh filename="tip.dae"/>'))
    with pytest.warns(pl.PlausibilityWarning, match="link 'slide' is not drawn.*stl"):
        bodies = pl.Robot().add_urdf(arm)
    assert bodies["slide"].shape is None  # type: ignore[union-attr]


def test_robot_from_urdf_can_be_saved_and_drawn(arm: Path, tmp_path: Path) -> None:
    arm.write_text(ARM.replace("</robot>", MIMIC))
    robot = pl.Robot()
    robot.add_urdf(arm, drive="motion")
    again = pl.Robot.from_file(robot.save(tmp_path / "arm.yaml"))
    inputs = {"shoulder": 0.3, "elbow": -0.5, "rail": 0.1}
    still, other = robot.statics(inputs), again.statics(inputs)
    np.testing.assert_allclose(still.pose("finger"), other.pose("finger"), atol=1e-12)
    assert still.joint("finger") == pytest.approx([0.35])
    assert still.plot(tmp_path / "arm.png") is not None


BROKEN = {
    "not xml": ("<robot", "<robot", "not well-formed|well-formed XML"),
    "another root": ("<robot name", "<sdf name", "root = 'sdf': must be <robot>|mismatched"),
    "entities": ('<?xml version="1.0"?>', "<!DOCTYPE robot [<!ENTITY a 'b'>]>", "declarations"),
    "unknown link": ('<parent link="upper"/>', '<parent link="uper"/>', "joint 'elbow'.*parent"),
    "unknown type": ('type="continuous"', 'type="screw"', "type = 'screw'.*one of fixed"),
    "no limits": ('lower="-2" upper="2"', "", "joint 'shoulder'.*limit.*below the upper"),
    "letters": ('mass value="2"', 'mass value="two"', "link 'upper'.*mass value = 'two'"),
    "two numbers": ('xyz="0 0 0.5"', 'xyz="0 0"', "joint 'shoulder'.*three finite numbers"),
    "nan": ('xyz="0 0 0.5"', 'xyz="0 0 nan"', "three finite numbers"),
    "no axis": ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', "joint 'elbow'.*a direction"),
    "two roots": ('<link name="world"/>', '<link name="world"/><link name="lost"/>', "'lost'"),
    "twice": ('<link name="fore">', '<link name="upper">', "link.*'upper'.*a new one"),
    "inertia": ('ixx="0.001"', 'ixx="0.1"', "body 'fore'.*inertia.*exceeds the sum"),
    "mimic": ("</robot>", MIMIC.replace('joint="elbow" mul', 'joint="elbw" mul'), "mimic = 'elbw'"),
    "geometry": ('<sphere radius="0.02"/>', "<cone/>", "link 'slide'.*'cone'.*box, cylinder"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_bad_files_are_refused_with_a_sentence(case: str, arm: Path) -> None:
    """And nothing of the file is added."""
    old, new, expected = BROKEN[case]
    arm.write_text(ARM.replace(old, new, 1) if case != "not xml" else ARM[:300])
    robot = pl.Robot()
    with pytest.raises(pl.DescriptionError, match=expected):
        robot.add_urdf(arm)
    assert not robot.description.parts


def test_names_that_are_taken_leave_the_robot_as_it_was(arm: Path) -> None:
    robot = pl.Robot()
    robot.add_body("slide", 1.0)
    with pytest.raises(pl.DescriptionError, match="slide"):
        robot.add_urdf(arm)
    assert list(robot.description.parts) == ["slide"]
    with pytest.raises(pl.DescriptionError, match=r"drive.*elbo.*did you mean 'elbow'"):
        robot.add_urdf(arm, "a ", drive={"elbo": "force"})
    with pytest.raises(pl.DescriptionError, match="drive"):
        robot.add_urdf(arm, "a ", drive="torque")
    with pytest.raises(pl.DescriptionError, match="readable"):
        robot.add_urdf(arm.with_name("none.urdf"))


def test_packages_without_names_are_refused(arm: Path) -> None:
    with pytest.raises(pl.DescriptionError, match=r"packages = 3.*by name of the package"):
        pl.Robot().add_urdf(arm, packages=3)  # type: ignore[arg-type]
