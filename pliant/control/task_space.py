"""Task-space control of slow motions by the Jacobian of a place in the inputs.

Inputs change by the damped pseudo-inverse of the Jacobian J = dx/du of equilibria,

    u' = gain J^+ (x_d - x) + J^+ x_d',

with x measured and J of the model. So errors of a quasi-static robot decay as exp(-gain t), also where
the model is not quite the robot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.control.computed_torque import damped_solution
from pliant.control.signals import Goal, axes_of, bounds_of, inputs_of
from pliant.model import Array, checks
from pliant.robot import Robot


class TaskSpace:
    """Sets inputs so that a place goes to its target, as slowly as `gain` says.

    robot : the model whose Jacobian is taken.  place : such as "arm.tip".  target : its position (3,),
    constant or a function of time, m; of the world axes `axes`, such as "xz".
    inputs : names of those that it sets.  every : seconds between samples.
    gain : 1/s, by which errors decay; well below the slowest frequency of the robot.
    damping : of the pseudo-inverse, relative to its largest singular value.
    bounds : (lowest, highest) of all inputs, or a pair for each.
    values : of the other inputs in the model, and of these at the start.  formulation : of the model.
    """

    def __init__(
        self,
        robot: Robot,
        place: str,
        target: Any,
        inputs: Sequence[str] | str,
        every: float,
        gain: float,
        axes: str = "xyz",
        damping: float = 0.03,
        bounds: Any = None,
        values: Mapping[str, Any] | None = None,
        formulation: Any = None,
    ) -> None:
        who = f"TaskSpace of {place!r}"
        checks.instance(who, "robot", robot, Robot, "a Robot", "give the model")
        self.robot, self.place, self.target = robot, place, Goal(who, target)
        self.every = checks.positive(who, "every", every, "seconds", "give e.g. 0.05")
        self.gain = checks.positive(who, "gain", gain, "1/s", "give e.g. 2.0")
        fast = self.gain * self.every > 1.0
        checks.refuse(fast, who, "gain", gain, "at most 1 / every", "give a lower gain")
        self.damping = checks.number(who, "damping", damping, "", "give e.g. 0.03", "zero")
        self._axes = axes_of(who, axes)
        self._first = robot.statics(values, formulation)
        self.inputs = inputs_of(who, inputs, self._first.inputs)
        self.bounds = bounds_of(who, bounds, len(self.inputs))
        self.reset()

    def reset(self) -> None:
        """Go back to the inputs of the start."""
        self._still = self._first
        self.u: Array = np.array([float(self._still.inputs[name]) for name in self.inputs])
        self._past: list[list[float]] = []

    def __call__(self, state: Any) -> dict[str, float]:
        """Return the inputs for the state of the robot at a sample."""
        J = self._still.jacobian(self.place, self.inputs, frame="world")[3:][self._axes]
        x, rate, _ = (np.atleast_1d(y) for y in self.target.motion(state.t))
        checks.refuse(x.shape != (len(self._axes),), f"TaskSpace of {self.place!r}", "target", x,
                      f"{len(self._axes)} numbers", "give one for each axis")  # fmt: skip
        error = x - state.position(self.place)[self._axes]
        wanted = self.every * (self.gain * error + rate)
        self._go(np.clip(self.u + damped_solution(J, wanted, self.damping), *self.bounds.T))
        return dict(zip(self.inputs, self.u.tolist(), strict=True))

    def _go(self, u: Array) -> None:
        """Bring the model to the equilibrium under inputs u."""
        self.u = u
        self._past.append(u.tolist())
        values = {**self._still.inputs, **dict(zip(self.inputs, u.tolist(), strict=True))}
        self._still = self.robot.statics(values, start=self._still)

    def state(self) -> list[list[float]]:
        """Return what it remembers: the inputs so far."""
        return list(self._past)

    def restore(self, state: Sequence[Sequence[float]]) -> None:
        """Take back what `state` returned: the model goes the same way again, to the last bit."""
        self.reset()
        for u in state:
            self._go(np.array(u))
