"""How rates and accelerations at the end of a step follow from its increment."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.rods.contract import Array


@dataclass(frozen=True)
class Coefficients:
    """Newmark's coefficients beta and gamma, and am and af of generalised-alpha.

    v1 = v_D D + known, v1' = a_D D + known; the knowns combine v0, v0' and the acceleration-like a0.
    """

    beta: float
    gamma: float
    am: float
    af: float

    def slopes(self, h: float) -> tuple[float, float]:
        """v_D (1/s) and a_D (1/s^2) of a step of h seconds."""
        c = self
        return c.gamma / (c.beta * h), (1 - c.am) / ((1 - c.af) * c.beta * h**2)

    def kinematics(
        self, h: float, D: Array, v: Array, acc: Array, like: Array
    ) -> tuple[Array, Array, Array]:
        """Rates v1, accelerations v1' and a1 after an increment D, from those before it; all (n,)."""
        c = self
        after = (D - h * v - h * h * (0.5 - c.beta) * like) / (c.beta * h * h)
        v1 = v + h * ((1 - c.gamma) * like + c.gamma * after)
        acc1 = ((1 - c.am) * after + c.am * like - c.af * acc) / (1 - c.af)
        return v1, acc1, after
