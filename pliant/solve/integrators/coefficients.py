"""How rates and accelerations at the end of a step follow from its increment."""

from __future__ import annotations

from dataclasses import dataclass


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
