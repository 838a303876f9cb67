"""
Four rod models of one appendage
================================

A STIFF-FLOP appendage: a silicone rod of 50 mm with three pairs of braided chambers and a force sensor
at its tip, after S. M. H. Sadati et al., "TMTDyn" (Table 2). One pair is inflated and a force pushes
the sensor to the side. Rigid links (``SRL``), beams with relative and with absolute states (``EBR``,
``EBA``) and polynomials (``ROM``) with 1 to 5 segments or orders are compared with a converged rod.

The upper row shows the error of the tip at rest and in motion, the lower row the time for one simulated
second, and the appendage with and without update of its section from the stretch.
"""

# sphinx_gallery_group = "validation"

import time
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

FILE = Path(pl.__file__).parent / "robots" / "stiff_flop.yaml"
MODELS = {"SRL": pl.SRL, "EBR": pl.EBR, "EBA": pl.EBA, "ROM": pl.ROM}
SIZES = range(1, 6)
REFERENCE = pl.Spectral(3, 8)
LENGTH, DURATION, DT = 0.05, 0.4, 5e-3
PRESSED = {"air 1a": 6e4, "air 1b": 6e4, "push": (0.1, 0.0, 0.0)}
SWELL = pl.Sine(3e4, 2.5, phase=-np.pi / 2, offset=3e4)
SWELLING = {"air 1a": SWELL, "air 1b": SWELL, "push": (0.1, 0.0, 0.0)}
EXPECTED = {
    "bend of the tip / degrees": (20.191, 0.005),
    "bend with section update / degrees": (24.357, 0.005),
    "SRL(5): error at rest / % of length": (0.0522, 0.001),
    "EBR(5): error at rest / % of length": (0.0555, 0.001),
    "EBA(5): error at rest / % of length": (0.0493, 0.001),
    "one-sided EBA(5): error at rest / % of length": (3.94, 0.01),
}


def tip(robot: pl.Robot, formulation: Any) -> Any:
    return robot.statics(PRESSED, formulation=formulation).tip("arm")


def moved(robot: pl.Robot, formulation: Any) -> tuple[Any, float]:
    """Positions of the tip over time, and the CPU seconds for one simulated second."""

    def run() -> pl.Motion:
        return robot.simulate(DURATION, DT, SWELLING, formulation=formulation)

    run()
    begin = time.process_time()
    motion = run()
    return motion.tip("arm")[:, :3, 3], (time.process_time() - begin) / DURATION


def study(robot: pl.Robot) -> dict[str, Any]:
    """For each model: errors (5,) of the tip at rest and in motion, m, and times (5,)."""
    still, motion = tip(robot, REFERENCE)[:3, 3], moved(robot, REFERENCE)[0]
    found = {}
    for name, model in MODELS.items():
        rows = []
        for size in SIZES:
            way, cost = moved(robot, model(size))
            rest = np.linalg.norm(tip(robot, model(size))[:3, 3] - still)
            rows.append((rest, np.linalg.norm(way - motion, axis=1).max(), cost))
        found[name] = np.array(rows).T
    return found


def bend(pose: Any) -> float:
    """Angle of the tip to the vertical, degrees."""
    return float(np.degrees(np.arccos(pose[2, 2])))


def updated() -> pl.Robot:
    robot = pl.Robot.from_file(FILE)
    robot.add_section_update("softening", "arm")
    return robot


def draw(found: dict[str, Any], shapes: dict[str, Any]) -> None:
    with style():
        _, axes = plt.subplots(2, 2, figsize=(9.6, 6.8), layout="constrained")
        rest, motion, cost, picture = axes.ravel()
        for name, (static, dynamic, seconds) in found.items():
            rest.semilogy(SIZES, 1e3 * static, "o-", label=name)
            motion.semilogy(SIZES, 1e3 * dynamic, "o-", label=name)
            cost.plot(SIZES, 1e3 * seconds, "o-", label=name)
        rest.set(title="at rest", ylabel="error of the tip / mm")
        motion.set(title="in motion", ylabel="error of the tip / mm")
        cost.set(title="CPU time for 1 s of motion", ylabel="time / ms", ylim=(0.0, None))
        for ax in (rest, motion, cost):
            ax.set(xlabel="number of segments, or order", xticks=list(SIZES))
        rest.legend()
        for label, shape in shapes.items():
            picture.plot(1e3 * shape[:, 1], 1e3 * shape[:, 2], label=label)
        picture.set(title="the rod at 60 kPa", xlabel="y / mm", ylabel="z / mm", aspect="equal")
        picture.set(xlim=(-30.0, 40.0), ylim=(0.0, 55.0))
        picture.legend(loc="lower right")


def main() -> dict[str, float]:
    warnings.simplefilter("ignore", pl.ResolutionWarning)
    robot, s = pl.Robot.from_file(FILE), np.linspace(0.0, LENGTH, 41)
    found = study(robot)
    still = robot.statics(PRESSED, formulation=REFERENCE)
    soft = updated().statics(PRESSED, formulation=REFERENCE)
    shapes = {"constant section": still, "section update": soft}
    draw(found, {label: shape.position("arm", s) for label, shape in shapes.items()})
    end = still.tip("arm")
    sided = np.linalg.norm(tip(robot, pl.EBA(5, scheme="one-sided"))[:3, 3] - end[:3, 3])
    return {
        "bend of the tip / degrees": bend(end),
        "bend with section update / degrees": bend(soft.tip("arm")),
        **{f"{n}(5): error at rest / % of length": 100 * found[n][0, -1] / LENGTH for n in MODELS},
        "one-sided EBA(5): error at rest / % of length": 100 * sided / LENGTH,
    }


if __name__ == "__main__":
    for line in main().items():
        print(*line)
    plt.show()
