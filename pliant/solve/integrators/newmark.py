"""Integrators in acceleration form: settings of Newmark, generalised-alpha and implicit Euler.

Their steps are in `acceleration`. Generalised-alpha follows Arnold and Bruels (2007) on Lie groups:
the acceleration-like vector a obeys (1 - am) a1 + am a0 = (1 - af) v1' + af v0'.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from pliant.model.fields import Number, holds
from pliant.physics.effects import Effects
from pliant.solve.integrators.acceleration import AccelerationStepper
from pliant.solve.integrators.coefficients import Coefficients
from pliant.solve.integrators.contract import Integrator, Stepper
from pliant.solve.integrators.midpoint import Midpoint


class _AccelerationForm(Integrator):
    """Integrators that differ only in their coefficients."""

    tolerance: float

    @abstractmethod
    def coefficients(self) -> Coefficients | None:
        """Newmark-like coefficients, or None for implicit Euler."""

    @property
    def damps(self) -> bool:
        """True unless gamma is 1/2 and rho is 1, which take nothing from any vibration."""
        rule = self.coefficients()
        return rule is None or rule.gamma > 0.5

    def stepper(self, effects: Effects, h: float) -> Stepper:
        """A stepper with step length h, s."""
        return AccelerationStepper(effects, h, self.coefficients(), self.tolerance)

    def damped_stepper(self, effects: Effects, h: float) -> Stepper:
        """That of `Midpoint`: it balances momenta, and no acceleration of a rough motion is needed."""
        return Midpoint().damped_stepper(effects, h)


@dataclass(frozen=True)
class Newmark(_AccelerationForm):
    """Newmark's method.

    beta, gamma : 1/4 and 1/2 (average acceleration, second order) by default.
    tolerance : residual of a step relative to the forces in play.
    """

    beta: float = holds(Number(sign="positive", limits=(0.0, 0.5), example="0.25"), 0.25)
    gamma: float = holds(Number(limits=(0.5, 1.0), example="0.5"), 0.5)
    tolerance: float = holds(Number(sign="positive", example="1e-8"), 1e-8)

    @property
    def order(self) -> int:
        """Two without numerical damping, else one."""
        return 2 if self.gamma == 0.5 else 1

    def coefficients(self) -> Coefficients:
        """Newmark: am = af = 0."""
        return Coefficients(self.beta, self.gamma, 0.0, 0.0)


@dataclass(frozen=True)
class GeneralizedAlpha(_AccelerationForm):
    """Generalised-alpha: second order, damps what the step cannot resolve.

    rho : spectral radius at infinite frequency, 1 (no damping) to 0 (annihilation).
    tolerance : residual of a step relative to the forces in play.
    """

    rho: float = holds(Number(limits=(0.0, 1.0), example="0.8"), 0.8)
    tolerance: float = holds(Number(sign="positive", example="1e-8"), 1e-8)

    def coefficients(self) -> Coefficients:
        """The optimal choice of Chung and Hulbert for `rho`."""
        am = (2.0 * self.rho - 1.0) / (self.rho + 1.0)
        af = self.rho / (self.rho + 1.0)
        gamma = 0.5 + af - am
        return Coefficients(0.25 * (gamma + 0.5) ** 2, gamma, am, af)


@dataclass(frozen=True)
class ImplicitEuler(_AccelerationForm):
    """Implicit Euler: first order, very robust, strongly damping.

    tolerance : residual of a step relative to the forces in play.
    """

    tolerance: float = holds(Number(sign="positive", example="1e-8"), 1e-8)

    @property
    def order(self) -> int:
        """One."""
        return 1

    def coefficients(self) -> None:
        """No Newmark coefficients."""
        return None
