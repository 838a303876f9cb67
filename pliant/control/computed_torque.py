"""Inverse dynamics in the loop: inputs that give joints and places prescribed accelerations.

With the accelerations a = a_0 + A u that inputs u cause, constraints included (`Equations`), and the
task x'' = T a + d of joints or places, inputs follow from

    T A u = x_d'' + kd (x_d' - x') + kp (x_d - x) - d - T a_0,

equation 41 of Sadati et al. (TMTDyn) with the inputs in place of its multipliers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.control.signals import Goal, axes_of, bounds_of, inputs_of
from pliant.model import Array, Frame, checks
from pliant.results.equations import Equations


class ComputedTorque:
    """Sets inputs so that joints and places follow their targets.

    equations : of the robot, `Robot.equations`, with the formulations of the motion.
    inputs : names of those that it sets, each of one number: torques, forces, tensions, pressures.
    targets : by name of a velocity such as "crank.angle", a value, a function of time or a signal; by
    place such as "arm.tip" or a Frame, a position (3,), constant or a function of time, or with
    `axes` as many numbers.
    every : seconds between samples.  kp : 1/s², kd : 1/s; errors decay as e'' + kd e' + kp e = 0.
    axes : by place, the world axes that count, such as "xz"; else all three.
    damping : of the least-squares solution, relative to the largest singular value of T A.
    bounds : (lowest, highest) of all inputs, or a pair for each.

    Where there are more inputs than targets the smallest ones are taken, where there are fewer the
    nearest accelerations.
    """

    def __init__(
        self,
        equations: Equations,
        inputs: Sequence[str] | str,
        targets: Mapping[str | Frame, Any],
        every: float,
        kp: float,
        kd: float,
        axes: Mapping[str | Frame, str] | None = None,
        damping: float = 1e-6,
        bounds: Any = None,
    ) -> None:
        who = "ComputedTorque"
        remedy = "give robot.equations()"
        checks.instance(who, "equations", equations, Equations, "equations of motion", remedy)
        self.equations = equations
        self.inputs = inputs_of(who, inputs, equations._values)
        few = not isinstance(targets, Mapping) or not targets
        expected = "at least one, by name or place"
        checks.refuse(few, who, "targets", targets, expected, "give e.g. {'arm.tip': p}")
        self.targets = {name: Goal(f"{who} of {name!r}", x) for name, x in targets.items()}
        self.every = checks.positive(who, "every", every, "seconds", "give e.g. 0.01")
        self.kp = checks.number(who, "kp", kp, "1/s^2", "give e.g. 100.0", "zero")
        self.kd = checks.number(who, "kd", kd, "1/s", "give e.g. 20.0", "zero")
        self.damping = checks.number(who, "damping", damping, "", "give e.g. 1e-6", "zero")
        places = [name for name in targets if name not in equations.names]
        given = {} if axes is None else axes
        wrong = not isinstance(given, Mapping) or any(name not in places for name in given)
        expected = "axes by place, of places among the targets"
        checks.refuse(wrong, who, "axes", axes, expected, "give e.g. {'arm.tip': 'xz'}")
        self._axes = {name: axes_of(who, given.get(name, "xyz")) for name in places}
        self.bounds = bounds_of(who, bounds, len(self.inputs))

    def __call__(self, state: Any) -> dict[str, float]:
        """Return the inputs for the state of the robot at a sample."""
        eq = self.equations
        q, v = eq.state(state)
        still = {**state.inputs, **dict.fromkeys(self.inputs, 0.0)}
        free = eq.accelerations(q, v, still).a
        A = eq.input_accelerations(q, self.inputs, still, v)
        rows = [self._task(name, goal, state.t, q, v) for name, goal in self.targets.items()]
        T = np.concatenate([row[0] for row in rows])
        wanted = np.concatenate([row[1] for row in rows]) - T @ free
        u = damped_solution(T @ A, wanted, self.damping)
        u = np.clip(u, self.bounds[:, 0], self.bounds[:, 1])
        return dict(zip(self.inputs, u.tolist(), strict=True))

    def _task(
        self, name: str | Frame, goal: Goal, t: float, q: Array, v: Array
    ) -> tuple[Array, Array]:
        """Rows T (r, n) of one target, and its accelerations (r,) less what velocities cause."""
        eq = self.equations
        x, rate, bend = goal.motion(t)
        if isinstance(name, str) and name in eq.names:
            k = eq.names.index(name)
            now, speed, bias = self._joint_value(name, q), v[[k]], np.zeros(1)
            T = np.eye(len(eq.names))[[k]]
        else:
            axes = self._axes[name]
            pose, velocity, acceleration = eq.place_motion(name, q, v)
            now, speed, bias = (y[axes] for y in (pose[:3, 3], velocity[3:], acceleration[3:]))
            T = eq.jacobian(name, q, "world")[3:][axes]
        values = [np.atleast_1d(y) for y in (x, rate, bend)]
        expected = f"{len(now)} numbers"
        checks.refuse(values[0].shape != now.shape, f"target {name!r}", "value", x, expected,
                      "give as many as there are axes")  # fmt: skip
        wanted = values[2] + self.kd * (values[1] - speed) + self.kp * (values[0] - now)
        return T, wanted - bias

    def _joint_value(self, name: str, q: Array) -> Array:
        """Value (1,) of the joint coordinate that a velocity is of."""
        part, _, coordinate = name.rpartition(".")
        problem: Any = self.equations._compiled
        joint = problem.tree.part(part).joint
        return np.asarray(problem.joint_values(q, part))[[joint.names.index(coordinate)]]

    def state(self) -> None:
        """It remembers nothing."""

    def restore(self, state: None) -> None:
        """It remembers nothing."""


def damped_solution(A: Array, b: Array, damping: float) -> Array:
    """Smallest x with A x near b; singular values s act as s / (s² + (damping max s)²)."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    if not len(s) or s[0] == 0.0:
        return np.zeros(A.shape[1])
    return np.asarray(Vt.T @ (s / (s**2 + (damping * s[0]) ** 2) * (U.T @ b)))
