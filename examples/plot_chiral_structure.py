"""
A chiral structure that twists as it is pressed
===============================================

Three plates and eight soft rods (Xun et al., section 8.3, Figures 25 to 27): four rods between the
lower and the middle plate, four more up to the upper plate. A torque twists the middle plate, then
the upper plate is pressed down. The rods become helices. The more they were twisted before, the
softer the structure is. The same structure without twist buckles: its rods bend aside one by one.

From Table 8: rods of 0.8 m length and 4 cm radius, E = 0.1 MPa, Poisson's ratio 0.45. The prose
speaks of four rods and two plates; the figures, which are followed here, show eight and three.
Assumed: rods 0.2 m off the axis, clamped to the plates; a lower plate at rest, an upper plate that
only moves along the axis, a middle plate that turns about it and moves along it (free to sway, it
would sway before it turns); no weight; a density of 1000 kg/m^3. Strain counts from the height of
the twisted structure without force. Contact of the rods is left out; they do not meet up to the
strain shown.

The paper claims more stored energy than in common buckling. At the same compression the structure
stores less, for its force is lower. It stores more at the same strain of the material, which limits
what can be stored: 1.4 to 1.5 times as much at 10 % strain, for torsion and bending load all of the
rod.
"""

# sphinx_gallery_group = "mechanisms"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

LENGTH, RADIUS, OFFSET, E = 0.8, 0.04, 0.2, 1e5
TORQUES = (0.1, 0.5, 1.0, 2.0)
STRAINS = np.concatenate([np.linspace(0.0, 0.03, 7), np.linspace(0.04, 0.2, 9)])
LIMIT = 0.1
"""Strain of the material at which stored energies are compared."""
EXPECTED = {
    "force at 4 %, 0.1 N m": (22.995, 0.01),
    "force at 4 %, 2 N m": (9.796, 0.01),
    "ordered as in Figure 27": (1.0, 0.0),
    "force of buckling": (47.855, 0.02),
    "energy per mass against buckling, 0.1 N m": (1.492, 0.01),
    "energy per mass against buckling, 2 N m": (1.382, 0.01),
}


def structure(pressed: bool, twisted: bool = True) -> pl.Robot:
    """The structure, with an upper plate that is pressed or free, and a middle plate that may turn."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rubber = pl.Material(E=E, nu=0.45, rho=1000.0)
    turning = pl.Cylindrical("z", drive=("torque", None), input="twist")
    slider = pl.Prismatic(
        "z", drive="position" if pressed else None, input="press" if pressed else None
    )
    moments = (1e-2, 1e-2, 2e-2)
    middle = robot.add_body(
        "middle",
        1.0,
        moments,
        pose=pl.pose((0, 0, LENGTH)),
        joint=turning if twisted else pl.Prismatic("z"),
    )
    upper = robot.add_body("upper", 1.0, moments, pose=pl.pose((0, 0, 2 * LENGTH)), joint=slider)
    for k, angle in enumerate(np.radians([0, 90, 180, 270])):
        place = OFFSET * np.array([np.cos(angle), np.sin(angle), 0.0])
        form = pl.BSpline(3, 12)
        low = robot.add_rod(
            f"low{k}", LENGTH, pl.Circle(RADIUS), rubber, pl.pose(place), formulation=form
        )
        robot.connect(f"low{k} to middle", low.tip, middle.at(place))
        high = robot.add_rod(
            f"high{k}", LENGTH, pl.Circle(RADIUS), rubber, base=middle.at(place), formulation=form
        )
        robot.connect(f"high{k} to upper", high.tip, upper.at(place))
        if not twisted:  # a push of 1 mN, without which a perfect rod would stay straight
            for rod in (low, high):
                robot.add_load(
                    f"push {rod.name}", rod.at(0.5 * LENGTH), force=1e-3 * place / OFFSET
                )
    return robot


def material_strain(still: pl.Equilibrium) -> float:
    """The largest equivalent strain at the surface of the rods, of which two are enough by symmetry."""
    worst = 0.0
    for rod in ("low0", "high0"):
        e = still.strain(rod)
        bend = RADIUS * np.hypot(e[:, 0], e[:, 1]) + np.abs(e[:, 5] - 1.0)
        worst = max(worst, float(np.hypot(bend, RADIUS * np.abs(e[:, 2]) / np.sqrt(3.0)).max()))
    return worst


def press(
    free: pl.Robot, robot: pl.Robot, twist: dict[str, float]
) -> tuple[np.ndarray, pl.Equilibrium]:
    """Rows (strain, force, elastic energy, strain of the material), and the pressed structure."""
    height = 2 * LENGTH + free.statics(twist).joint("upper")[0]
    rows, still = [], None
    for strain in STRAINS:
        top = (1.0 - strain) * height - 2 * LENGTH
        still = robot.statics({**twist, "press": top}, start=still)
        force, energy = -still.reactions["upper"][5], still.energy["elastic"]
        rows.append((strain, force, energy, material_strain(still)))
    return np.array(rows), still


@style()
def main() -> dict[str, float]:
    robots = structure(pressed=False), structure(pressed=True)
    curves = {torque: press(*robots, {"twist": torque}) for torque in TORQUES}
    buckled, _ = press(structure(False, twisted=False), structure(True, twisted=False), {})
    mass = 8 * 1000.0 * np.pi * RADIUS**2 * LENGTH

    def stored(rows: np.ndarray) -> float:
        return float(np.interp(LIMIT, rows[:, 3], rows[:, 2])) / mass

    curves[0.5][1].plot(view=(16, -60))
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for torque, (rows, _) in curves.items():
        left.plot(100 * rows[:, 0], rows[:, 1], label=f"{torque:g} N m")
        right.plot(100 * rows[:, 3], rows[:, 2] / mass, label=f"{torque:g} N m")
    left.plot(100 * buckled[:, 0], buckled[:, 1], "k--", label="buckling")
    right.plot(100 * buckled[:, 3], buckled[:, 2] / mass, "k--", label="buckling")
    left.set(xlabel="compression / %", ylabel="force / N")
    right.set(
        xlabel="largest strain of the material / %",
        ylabel="stored energy / (J/kg)",
        xlim=(0, 16),
        ylim=(0, 0.4),
    )
    right.legend(title="twisted by", loc="center left", bbox_to_anchor=(1.02, 0.5))
    at = [np.interp(0.04, rows[:, 0], rows[:, 1]) for rows, _ in curves.values()]
    forces = np.array([rows[1:, 1] for rows, _ in curves.values()])
    return {
        "force at 4 %, 0.1 N m": float(at[0]),
        "force at 4 %, 2 N m": float(at[-1]),
        "ordered as in Figure 27": float((np.diff(forces, axis=0) < 0.0).all()),
        "force of buckling": float(np.interp(0.04, buckled[:, 0], buckled[:, 1])),
        "energy per mass against buckling, 0.1 N m": stored(curves[0.1][0]) / stored(buckled),
        "energy per mass against buckling, 2 N m": stored(curves[2.0][0]) / stored(buckled),
    }


if __name__ == "__main__":
    main()
