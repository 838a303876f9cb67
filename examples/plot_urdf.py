"""
A soft finger on an arm from a URDF file
========================================

The rigid arm comes from a URDF file: two links, a shoulder and an elbow that follow prescribed angles.
On its last link hangs a soft rod with a tendon, which the file knows nothing of. The arm swings the
finger from one side to the other within a second while the tendon curls it. What the motors have to
exert comes with the result, and that of the shoulder is compared with the torque for an arm without
its finger.

Assumed: aluminium-like links, a finger of silicone of 120 mm with E = 300 kPa.
"""

# sphinx_gallery_group = "mechanisms"

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import legend_beside, style

EXPECTED = {
    "links": (3, 0),
    "largest torque of the shoulder / N m": (0.187, 0.002),
    "without the finger / N m": (0.1493, 0.0003),
    "finger bent at the end / degrees": (66.8, 0.5),
    "largest change of energy by the integrator": (0.0, 1e-4),
}
URDF = """<robot name="arm">
  <link name="world"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0"/><mass value="0.3"/>
      <inertia ixx="5e-5" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual>
      <origin xyz="0.1 0 0"/><geometry><box size="0.2 0.03 0.03"/></geometry>
    </visual>
  </link>
  <link name="fore">
    <inertial>
      <origin xyz="0.075 0 0"/><mass value="0.2"/>
      <inertia ixx="3e-5" iyy="4e-4" izz="4e-4" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual>
      <origin xyz="0.075 0 0" rpy="0 1.5708 0"/>
      <geometry><cylinder radius="0.012" length="0.15"/></geometry>
    </visual>
  </link>
  <joint name="shoulder" type="continuous">
    <parent link="world"/><child link="upper"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="fore"/><origin xyz="0.2 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2.5" upper="2.5" effort="2" velocity="10"/>
  </joint>
</robot>
"""
DURATION = 1.0


def arm() -> tuple[pl.Robot, dict[str, pl.Body | None]]:
    """The rigid arm, with an input for the angle of each joint."""
    robot = pl.Robot()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arm.urdf"
        file.write_text(URDF)
        return robot, robot.add_urdf(file, drive="motion", limits=False)


def arm_with_finger() -> pl.Robot:
    """The same with a silicone finger and its tendon, whose tension is an input too."""
    robot, links = arm()
    tip = links["fore"].at((0.15, 0.0, 0.0), (0.0, 0.5 * np.pi, 0.0))
    silicone = pl.Material(E=3e5, nu=0.45, rho=1100.0, viscosity=2e3)
    fine = pl.BSpline(3, 30)
    finger = robot.add_rod("finger", 0.12, pl.Circle(0.008), silicone, base=tip, formulation=fine)
    disks = [finger.at(s, (0.0, 0.006)) for s in np.linspace(0.0, 0.12, 7)]
    robot.add_tendon("tendon", disks)
    return robot


def swing(t: float) -> float:
    """From 0 to 1 in a second, at rest at both ends."""
    return float(6 * t**5 - 15 * t**4 + 10 * t**3)


def moved(robot: pl.Robot, **inputs: object) -> pl.Motion:
    """A second in which the shoulder turns by 90 degrees, the elbow by -60."""
    joints = {
        "shoulder": lambda t: 0.5 * np.pi * swing(t),
        "elbow": lambda t: -np.pi / 3 * swing(t),
    }
    return robot.simulate(DURATION, 2e-3, inputs={**joints, **inputs}, output_every=0.01)


def main() -> dict[str, float]:
    """Swing the arm with and without its finger, and draw both."""
    robot = arm_with_finger()
    motion = moved(robot, tendon=lambda t: 1.5 * swing(t))
    bare = moved(arm()[0])
    torques = [m.drive_forces["shoulder"] for m in (motion, bare)]
    tangent = motion.tip("finger")[-1, :3, 2]
    along = motion.pose("fore")[-1, :3, 0]
    bent = np.degrees(np.arccos(np.clip(tangent @ along, -1, 1)))

    motion.plot_at(DURATION, view=(60, -80))
    with style():
        _, chart = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        for torque, label in zip(torques, ("with the finger", "without"), strict=True):
            chart.plot(motion.t, torque, label=label)
        chart.set(xlabel="time / s", ylabel="torque of the shoulder / N m")
        legend_beside(chart)

    return {
        "links": len(arm()[1]),
        "largest torque of the shoulder / N m": float(torques[0].max()),
        "without the finger / N m": float(torques[1].max()),
        "finger bent at the end / degrees": float(bent),
        "largest change of energy by the integrator": motion.energy_gap.share_added,
    }


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:45s} {value:10.4g}")
    plt.show()
