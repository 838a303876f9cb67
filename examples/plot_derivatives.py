"""
Derivatives and finite differences
==================================

The map of a rod gives frames and strains and their exact derivatives. First derivatives determine the
solution of Newton's method, second derivatives its speed. Here a strongly deformed rod is moved along
its manifold by small steps, and the derivatives are compared with central differences. The differences
converge with the square of the step until rounding dominates, for first derivatives (frames J, strains
B) and second ones. Do this check first if you write your own formulation.
"""

# sphinx_gallery_group = "methods"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.lie import se3
from pliant.view import style

FORMULATIONS = {
    "BSpline(3, 9)": pl.BSpline(3, 9),
    "BSpline(5, 9, 'cayley')": pl.BSpline(5, 9, "cayley"),
    "Hermite(5)": pl.Hermite(5),
    "Strain(2, 3)": pl.Strain(2, 3),
}
STEPS = np.logspace(-1, -6, 21)
EXPECTED = {
    "best agreement of first derivatives": (0.0, 1e-9),
    "best agreement of second derivatives": (0.0, 1e-6),
    "order of the differences": (2.0, 0.05),
    "asymmetry of second derivatives": (0.0, 1e-12),
}


class Bent:
    """A rod bent at random, with random covectors at some of its sections."""

    def __init__(self, formulation: pl.Formulation) -> None:
        rng = np.random.default_rng(3)
        rod = pl.Rod(
            "arm", 0.8, pl.Circle(0.02), pl.Material(E=2e5, nu=0.45), natural=(0.3, -0.2, 0.5)
        )
        self.map = formulation.discretise(rod)
        self.base = se3.exp(rng.normal(size=6))
        rest = self.map.rest()
        self.here = self.at(self.base, rest + 0.2 * rng.normal(size=rest.shape))
        s = 0.8 * np.array([0.13, 0.4, 0.45, 0.6, 0.77, 1.0])
        self.frames, self.strains = self.map.frames(s), self.map.strains(s)
        self.force, self.stress = rng.normal(size=(2, len(s), 6))
        self.x = rng.normal(size=6 + self.map.nv)
        self.evaluate(self.here)
        self.start = self.frames.g.copy()

    def at(self, base, q):
        configuration = self.map.configuration()
        self.map.update(configuration, base, q)
        return configuration

    def evaluate(self, configuration) -> None:
        self.map.frame(self.frames, configuration)
        self.map.strain(self.strains, configuration)

    def potential(self, step: float) -> float:
        """Random covectors paired with the motion of frames and strains after a step along x."""
        x = step * self.x
        base = self.base @ se3.exp(x[:6])
        self.evaluate(self.at(base, self.map.retract(self.here, base, x)))
        moved = se3.log(se3.inverse(self.start) @ self.frames.g)
        value = np.sum(self.force * moved) + np.sum(self.stress * self.strains.e)
        self.evaluate(self.here)
        return float(value)

    def covectors(self):
        """J^T f + B^T sigma in the variables of each element, (E, m)."""
        out = np.zeros((len(self.map.elements), self.map.m))
        np.add.at(out, self.frames.element, np.einsum("sia,si->sa", self.frames.J, self.force))
        np.add.at(out, self.strains.element, np.einsum("sia,si->sa", self.strains.B, self.stress))
        return out

    def first(self) -> float:
        y = np.empty((len(self.map.elements), self.map.m))
        self.map.lift_velocity(self.here, self.x[self.map.elements], y)
        return float(np.sum(self.covectors() * y))

    def second(self) -> np.ndarray:
        """Second derivatives of the potential, element by element, (E, n, n)."""
        count, width = self.map.elements.shape
        inner = np.zeros((count, self.map.m, self.map.m))
        self.map.frame_second(self.frames, self.here, self.force, inner)
        self.map.strain_second(self.strains, self.here, self.stress, inner)
        K = np.empty((count, width, width))
        self.map.lift_tangent(self.here, self.covectors(), None, inner, K, np.empty(6))
        return K


def asymmetry(K: np.ndarray) -> float:
    return float(np.abs(K - K.swapaxes(1, 2)).max() / np.abs(K).max())


def differences(bent: Bent) -> tuple[np.ndarray, np.ndarray]:
    """Relative errors of central differences, first and second, for all STEPS."""
    ahead, behind = (np.array([bent.potential(sign * h) for h in STEPS]) for sign in (1, -1))
    here = bent.potential(0.0)
    x = bent.x[bent.map.elements]
    first, second = bent.first(), np.einsum("ea,eab,eb->", x, bent.second(), x)
    one = (ahead - behind) / (2 * STEPS)
    two = (ahead - 2 * here + behind) / STEPS**2
    return np.abs(one / first - 1), np.abs(two / second - 1)


def main() -> dict[str, float]:
    bent = {name: Bent(formulation) for name, formulation in FORMULATIONS.items()}
    by_rod = {name: differences(rod) for name, rod in bent.items()}
    with style():
        _, axes = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained", sharey=True)
        for ax, order, title in zip(axes, (0, 1), ("first", "second"), strict=True):
            for name, errors in by_rod.items():
                ax.loglog(STEPS, np.maximum(errors[order], 1e-16), label=name)
            ax.loglog(STEPS, STEPS**2, color="0.6", linestyle="--", label="order 2")
            ax.set(title=f"{title} derivatives", xlabel="step along the manifold")
        axes[0].set(ylabel="relative difference", ylim=(1e-12, 1e1))
        axes[0].legend()
    coarse = slice(4, 9)
    orders = [
        np.polyfit(np.log(STEPS[coarse]), np.log(one[coarse]), 1)[0] for one, _ in by_rod.values()
    ]
    return {
        "best agreement of first derivatives": max(one.min() for one, _ in by_rod.values()),
        "best agreement of second derivatives": max(two.min() for _, two in by_rod.values()),
        "order of the differences": float(np.mean(orders)),
        "asymmetry of second derivatives": max(asymmetry(rod.second()) for rod in bent.values()),
    }


if __name__ == "__main__":
    print(main())
    plt.show()
