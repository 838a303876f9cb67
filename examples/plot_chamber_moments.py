"""
Chamber moments, exact and simplified
=====================================

Pressure in a chamber bends an actuator by a pair of moments at its ends. The generalised forces on the
slopes of ANCF nodes are proportional to the rotation of the slopes. The authors treat slopes as unit
vectors, which makes the forces linear in the coordinates: ``ANCF(elements, moments="simplified")``.
Both forms agree as long as the actuator keeps its length. If a constraint keeps the length, the
difference decreases with the third power of the number of elements. If a layer stretches under a
weight, the simplified moment grows with the square of the stretch, and the difference remains. The
default, ``moments="exact"``, follows from the work of the pressure on the curvature.

After Y. Rong and G. Gu (2024), equations 17 and 18.
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

LENGTH, PRESSURE = 0.175, {"chamber1": 5e4}
ELEMENTS = np.array([2, 4, 8, 16, 32])
AXIAL = np.geomspace(5.0, 5e4, 9)
EXPECTED = {
    "order, length held": (3.0, 0.15),
    "difference at 8 elements, length held": (3.0e-6, 2e-7),
    "order, layer that gives": (1.0, 0.05),
    "difference over stretch, layer that gives": (0.299, 0.005),
    "stretch of the softest layer": (0.117, 0.002),
}


def hanging(axial: float | None = None) -> pl.Robot:
    """The actuator upside down with 50 g at its tip; axial stiffness of its layer in N."""
    robot = pl.Robot()
    finger = pl.BendingActuator(
        LENGTH, 0.0186, chamber_radius=0.006, arm=0.009, mass=0.12, axial=axial
    )
    rod = robot.add_actuator("finger", finger, pl.along("-z"))
    robot.add_body("weight", 0.05, on=rod.tip)
    return robot


def difference(robot: pl.Robot, elements: int) -> float:
    """How far the tips of both models are apart, in lengths of the actuator."""
    tips = [
        robot.statics(PRESSURE, pl.ANCF(elements, moments=kind)).tip("finger")[:3, 3]
        for kind in ("exact", "simplified")
    ]
    return float(np.linalg.norm(tips[1] - tips[0])) / LENGTH


def slope(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def main() -> dict[str, float]:
    held = np.array([difference(hanging(), int(n)) for n in ELEMENTS])
    gives = np.array([difference(hanging(axial), 16) for axial in AXIAL])
    middle = [
        hanging(axial).statics(PRESSURE, pl.ANCF(16)).strain("finger", [LENGTH / 2])[0, 5]
        for axial in AXIAL
    ]
    stretch = np.array(middle) - 1.0
    with style():
        _, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.6), layout="constrained")
        left.loglog(ELEMENTS, held, "o-", label="difference")
        left.loglog(ELEMENTS, held[2] * (8.0 / ELEMENTS) ** 3, "k:", label="third power")
        left.set(xlabel="elements", title="length held by constraint")
        left.set(ylabel="difference of the tips / length", xticks=ELEMENTS, xticklabels=ELEMENTS)
        left.minorticks_off()
        left.legend()
        right.loglog(stretch, gives, "o-", label="difference")
        right.loglog(stretch, stretch * gives[0] / stretch[0], "k:", label="in proportion")
        right.set(xlabel="relative stretch in the middle", title="layer that gives, 16 elements")
        right.legend()
    return {
        "order, length held": -slope(ELEMENTS[1:], held[1:]),
        "difference at 8 elements, length held": held[2],
        "order, layer that gives": slope(stretch[:6], gives[:6]),
        "difference over stretch, layer that gives": gives[0] / stretch[0],
        "stretch of the softest layer": stretch[0],
    }


if __name__ == "__main__":
    main()
    plt.show()
