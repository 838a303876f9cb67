"""
Stiffness and damping from video frames of a released rod
=========================================================

A dark rod with a white marker at its tip is let go and swings; a camera takes 100 frames per second.
`pliant.track_marker` finds the marker in each frame to a fraction of a pixel, and a ruler of 0.3 m in
the picture gives the scale. `pliant.fit` then compares four features of the swinging instead of all
rows: first peak, first valley, frequency and decay, as Till et al. (2019, III.A) do. They are what one
reads off the curve, whatever the camera missed in between. Their noise follows from that of the signal.
Here the frames are rendered, of a rod with known values, with grain as of a camera in the dark.
"""

# sphinx_gallery_group = "identification"

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import pliant as pl
from pliant.view import rod_color, style

TRUTH = {"arm.bending": 7e-3, "arm.retardation": 0.016}
METHOD = pl.Strain(order=1, segments=4)
FPS, PIXEL = 100.0, 1.5e-3  # frames per second, metres
CLAMP = (12.0, 20.0)  # column and row of the clamp in the picture
EXPECTED = {
    "bending stiffness": (7e-3, 1e-5),
    "retardation": (0.016, 1.6e-4),
    "largest error of the track in pixels": (0.0, 0.1),
}


def arm(bending: float, retardation: float) -> pl.Robot:
    section = pl.Stiffness(
        bending, 5e-3, 60.0, 200.0, 0.2, (6e-6, 6e-6, 1.2e-5), retardation=retardation
    )
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, section, pose=pl.along("x"))
    robot.add_load("thread", rod.tip, force=(0, 0, -0.05))
    return robot


def film(motion: pl.Motion, folder: Path) -> np.ndarray:
    """Render the centre line and a disc at the tip; return the true pixels (T, 2) of the tip."""
    rng = np.random.default_rng(1)
    rows, columns = np.indices((180, 220))
    pixels = motion.position()[..., [0, 2]] * (1 / PIXEL, -1 / PIXEL) + CLAMP
    for k, line in enumerate(pixels):
        picture = np.full(rows.shape, 70.0)
        for u, v in line:
            picture[(columns - u) ** 2 + (rows - v) ** 2 < 4.0] = 25.0
        away = np.hypot(columns - line[-1, 0], rows - line[-1, 1])
        share = np.clip(5.5 - away, 0.0, 1.0)  # of each pixel that the disc covers
        picture = (1 - share) * picture + share * 230.0 + rng.normal(0.0, 6.0, rows.shape)
        image = Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8))
        image.save(folder / f"frame{k}.png")
    return pixels[:, -1]


def main() -> dict[str, float]:
    robot = arm(*TRUTH.values())
    held = robot.statics(formulation=METHOD)
    motion = robot.simulate(3.0, 1 / FPS, {"thread": 0.0}, held, formulation=METHOD)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        true = film(motion, folder)
        ruler = CLAMP, (CLAMP[0] + 0.3 / PIXEL, CLAMP[1])
        track = pl.track_marker(
            folder, "arm.tip", FPS, length=0.3, between=ruler, marker=(230, 230, 230),
            inputs={"thread": 0.0}, start={"thread": 1.0},
        )  # fmt: skip
        frame = np.asarray(Image.open(folder / "frame30.png"))
    features = ["first_peak", "first_valley", "frequency", "decay"]
    outputs = [f"{name}(arm.tip.z)" for name in features]
    result = pl.fit(arm(6e-3, 0.01), track, list(TRUTH), outputs, formulation=METHOD, dt=1 / FPS)
    print(result)
    draw(frame, track, result)
    return {
        "bending stiffness": result["arm.bending"].value,
        "retardation": result["arm.retardation"].value,
        "largest error of the track in pixels": float(np.abs(track.pixels - true).max()),
    }


@style()
def draw(frame: np.ndarray, track: pl.Track, result: pl.Fit) -> None:
    robot = result.robot
    held = robot.statics(formulation=METHOD)
    fitted = robot.simulate(3.0, 1 / FPS, {"thread": 0.0}, held, formulation=METHOD)
    _, (left, right) = plt.subplots(
        1, 2, figsize=(9.0, 3.4), width_ratios=(1, 1.9), layout="constrained"
    )
    left.imshow(frame, cmap="gray")
    left.plot(*np.asarray(track.pixels).T, color=rod_color(1), lw=0.8)
    left.set(
        title="frame 30 and the path of the marker", xlabel="column / pixel", ylabel="row / pixel"
    )
    right.plot(track.t, 1e3 * track.column("arm.tip.z"), ".", ms=3, label="marker")
    right.plot(fitted.t, 1e3 * fitted.tip()[:, 2, 3], lw=1.2, label="fitted rod")
    right.set(xlabel="time / s", ylabel="tip height / mm")
    right.legend(loc="upper right", bbox_to_anchor=(1.0, 1.15), ncols=2)


if __name__ == "__main__":
    main()
    plt.show()
