"""The contract of a joint: coordinates between a part and the frame that carries it.

The base of a part is at G X j(q): G the frame that carries it, X its constant pose there, and j the
pose of the joint. With variations x (nv,) of the coordinates q (nq,),

    j(q o x) = j(q) exp(S(q) x + O(x^2)).

A joint is a frozen dataclass with `pose` and `axes`; the rest has a default, for coordinates that move
by addition, with derivatives by differences. What springs, limits, friction and drives see of a joint
are its *values* (nv,): the variation that leads from its origin to q, such as an angle or a rotation
vector.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from pliant.joints.consistency import check_map
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model.checks import DescriptionError, as_array
from pliant.model.plausible import angle_doubts
from pliant.model.registry import Joint

MOTIONS = ("angle", "position")
"""Words for a drive that prescribes a coordinate."""
FORCES = ("torque", "force")
"""Words for a drive that exerts a torque or a force along a coordinate."""
_UNITS = {"angle": "rad", "position": "m", "torque": "N m", "force": "N"}
STICKS = {"rad": 1e-4, "m": 1e-5}
"""How far a joint with dry friction gives way before it slides, rad and m."""
_STEP = 1e-5
"""Step of the default derivatives, radians and metres."""


class JointMap(Joint, ABC):
    """A joint with nq coordinates and nv velocities.

    The attributes below may be fields of a joint, see `MovingJoint`: a number for all coordinates or
    one for each.  initial : values in the undeformed robot, rad and m.  rest : values at which its
    spring is relaxed, None for the initial ones.  stiffness, damping : in N m/rad and N m s/rad, or N/m
    and N s/m.  power : of the velocities in the damping.  drive, input : see `MovingJoint`.
    """

    compiled: ClassVar[bool] = False
    """Whether the methods that the tree asks for only call kernels; said by each class for itself."""
    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0
    chart: ClassVar[str] = ""
    """How a variation moves it where not by addition: "pose", j exp(x) with a twist x (6,), or
    "rotation", with a rotation vector x (3,); "" if unknown."""
    units: ClassVar[tuple[str, ...]] = ()
    """Of its values, "rad" or "m"; () if unknown."""
    initial: Any = 0.0
    rest: Any = 0.0
    stiffness: Any = 0.0
    damping: Any = 0.0
    power: Any = 1.0
    friction: Any = 0.0
    limits: Any = None
    limit_stiffness: Any = None
    drive: Any = None
    input: Any = None

    def check(self) -> None:
        """Refuse a joint of one's own whose axes are not those of its pose."""
        if "compiled" not in vars(type(self)):
            check_map(self)

    @property
    def moves(self) -> bool:
        return self.nv > 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names (nv,) of its values, for inputs and messages."""
        return tuple(f"q{k + 1}" for k in range(self.nv))

    def each(self, field: str) -> Array:
        """One of its attributes for each coordinate (nv,)."""
        return np.array(np.broadcast_to(getattr(self, field), (self.nv,)), dtype=float)

    @property
    def relaxed(self) -> Array:
        """Values (nv,) at which its spring is relaxed, rad and m."""
        given = self.rest if isinstance(self.rest, (tuple, list)) else (self.rest,) * self.nv
        pairs = zip(given, self.each("initial"), strict=True)
        return np.array([at if x is None else x for x, at in pairs], dtype=float)

    @property
    def bounds(self) -> Array:
        """Limits (nv, 2) of its values, infinite where there are none."""
        given = self.limits
        several = given is not None and any(isinstance(x, (tuple, list)) for x in given)
        pairs = given if several else [given] * self.nv
        ends = [(None, None) if pair is None else pair for pair in pairs]
        found = [
            (-np.inf if low is None else low, np.inf if high is None else high)
            for low, high in ends
        ]
        return np.array(found, dtype=float).reshape(self.nv, 2)

    @property
    def sticks(self) -> Array:
        """How far (nv,) it gives way before dry friction lets it slide, rad and m."""
        units = self.units or ("rad",) * self.nv
        return np.array([STICKS[unit] for unit in units])

    @property
    def drives(self) -> tuple[str | None, ...]:
        """What drives each coordinate (nv,): one of MOTIONS, one of FORCES, or None."""
        given = self.drive
        return (given,) * self.nv if given is None or isinstance(given, str) else tuple(given)

    @property
    def prescribed(self) -> tuple[int, ...]:
        """The coordinates that inputs prescribe."""
        return tuple(k for k, word in enumerate(self.drives) if word in MOTIONS)

    def driven_inputs(self, part: str) -> dict[int, str]:
        """Name of the input of each driven coordinate, by its number."""
        driven = [k for k, word in enumerate(self.drives) if word is not None]
        if self.input is not None:
            given = (self.input,) if isinstance(self.input, str) else tuple(self.input)
            return dict(zip(driven, given, strict=True))
        if len(driven) == 1:
            return {driven[0]: part}
        return {k: f"{part} {self.names[k]}" for k in driven}

    def doubts(self, label: str) -> Iterator[str]:
        """Yield which of its angles were probably given in degrees."""
        turns = [k for k, unit in enumerate(self.units) if unit == "rad"]
        given = {"initial": self.each("initial")[:, None], "rest": self.relaxed[:, None]}
        for field, values in {**given, "limits": self.bounds}.items():
            found = {abs(angle): angle for angle in values[turns].ravel().tolist()}
            for angle in found.values():
                yield from angle_doubts(label, f"{field} of its joint", angle)

    def inputs(self, part: str) -> dict[str, float]:
        names = self.driven_inputs(part)
        known = dict.fromkeys(names.values(), 0.0)
        return known | {names[k]: float(self.each("initial")[k]) for k in self.prescribed}

    def input_unit(self, part: str, name: str) -> str:
        driven = self.driven_inputs(part)
        words = [self.drives[k] for k, given in driven.items() if given == name]
        return _UNITS[words[0]] if words and words[0] else ""

    def motion_inputs(self, part: str) -> list[str]:
        names = self.driven_inputs(part)
        return [names[k] for k in self.prescribed]

    def origin(self) -> Array:
        """Coordinates (nq,) at which its values are zero."""
        return np.zeros(self.nq)

    def start(self) -> Array:
        """Coordinates (nq,) in the undeformed robot."""
        return self.retract(self.origin(), self.each("initial"))

    def coordinates(self, part: str, field: str, value: object) -> Array:
        """Coordinates (nq,) from what a user gives; part, field : for error messages."""
        found = as_array(value)
        if found is None or found.size != self.nq or not np.isfinite(found).all():
            expected = f"{self.nq} finite number{'s' * (self.nq > 1)}, the coordinates of its joint"
            raise DescriptionError(part, field, value, expected, "give e.g. 0.1")
        return found.ravel()

    @abstractmethod
    def pose(self, q: Array) -> Array:
        """The pose j (4, 4) at coordinates q (nq,)."""

    @abstractmethod
    def axes(self, q: Array) -> Array:
        """S (6, nv): body twist of j for each velocity."""

    def retract(self, q: Array, x: Array) -> Array:
        """Coordinates (nq,) after a variation x (nv,)."""
        return q + x

    def difference(self, a: Array, b: Array) -> Array:
        """The variation (nv,) that leads from a to b (nq,)."""
        return b - a

    def values(self, q: Array) -> Array:
        """What springs, limits and drives see of it (nv,), zero at its origin."""
        return self.difference(self.origin(), q)

    def slope(self, q: Array) -> Array:
        """(nv, nv): derivative of the values in a variation of q."""
        if self.additive:
            return np.eye(self.nv)
        ends = [
            [self.values(self.retract(q, t * e)) for t in (_STEP, -_STEP)] for e in np.eye(self.nv)
        ]
        return np.array([(ahead - behind) / (2.0 * _STEP) for ahead, behind in ends]).T

    def curvature(self, q: Array, r: Array) -> Array:
        """(nv, nv): second derivative of r . values in a variation of q, r (nv,)."""
        if self.additive:
            return np.zeros((self.nv, self.nv))
        return _hessian(lambda x: float(r @ self.values(self.retract(q, x))), self.nv)

    @property
    def additive(self) -> bool:
        """Whether coordinates move by addition, so that the values are the coordinates."""
        return type(self).retract is JointMap.retract

    def motion(self, x: Array) -> tuple[Array, Array, Array]:
        """Coordinates (nq,), velocities and accelerations (nv,) of the motion of its values x (nv, 3):
        value, rate (1/s) and acceleration (1/s^2) of each.
        """
        if self.additive:
            return x[:, 0], x[:, 1], x[:, 2]
        q = self.retract(self.origin(), x[:, 0])
        T = self.slope(q)
        v = np.linalg.solve(T, x[:, 1])
        # x'' = T v' + v . curvature v, row by row
        bend = [v @ self.curvature(q, unit) @ v for unit in np.eye(self.nv)]
        return q, np.asarray(v), np.asarray(np.linalg.solve(T, x[:, 2] - np.array(bend)))

    def second(self, q: Array, r: Array) -> Array:
        """(nv, nv): second derivative of r . log(j(q)^-1 j(q o x)) at x = 0, r (6,)."""
        here = se3.inverse(self.pose(q))

        def value(x: Array) -> float:
            return float(r @ se3.log(here @ self.pose(self.retract(q, x))))

        return _hessian(value, self.nv)

    def bias(self, q: Array, v: Array) -> Array:
        """Rate (6,) of the twist S(q) v at constant velocities v (nv,)."""
        size = float(np.linalg.norm(v))
        if size == 0.0:
            return np.zeros(6)
        step = _STEP / size
        ahead, behind = (self.axes(self.retract(q, t * v)) @ v for t in (step, -step))
        return np.asarray((ahead - behind) / (2.0 * step))

    # -- equations with symbols ----------------------------------------------------------------

    def symbolic_coordinates(self, q: Array) -> Array:
        """The coordinates that equations with symbols have for q (nq,): the same by default."""
        return q

    def symbolic_pose(self, math: Any, q: Any) -> tuple[Any, Any]:
        """Rotation (3, 3) and position (3, 1) of j at the coordinates of `symbolic_coordinates`.

        math : computes with symbols, the module `casadi`. A joint without this method is refused.
        """
        raise DescriptionError(
            f"joint {type(self).__name__}",
            "symbolic_pose",
            None,
            "a method that writes its pose with symbols",
            "give the class symbolic_pose(self, math, q), which returns a rotation and a position",
        )

    def symbolic_values(self, math: Any, q: Any) -> Any:
        """`values` (nv, 1) with symbols; the coordinates where these move by addition."""
        return q

    def symbolic_rates(self, math: Any, q: Any, v: Any) -> Any:
        """Rates of the coordinates at velocities v (nv, 1); v where they move by addition."""
        return v

    # -- what the tree asks for ----------------------------------------------------------------

    def place(self, q: Array, pose: Array, axes: Array) -> None:
        """Write pose (4, 4) and axes (6, nv) at coordinates q (nq,)."""
        pose[...], axes[...] = self.pose(q), self.axes(q)

    def move(self, q: Array, x: Array, index: Array, out: Array) -> None:
        """Write coordinates out (nq,) after the variation x[index]."""
        out[...] = self.retract(q, x[index])

    def extrapolate(self, before: Array, now: Array, out: Array) -> None:
        """Write coordinates out (nq,) that go on from `now` as they came there from `before`."""
        out[...] = self.retract(now, self.difference(before, now))

    def set_difference(self, a: Array, b: Array, out: Array) -> None:
        """Write `difference` to out (nv,)."""
        out[...] = self.difference(a, b)

    def set_mean_force(
        self, q: Array, other: Array, index: Array, r: Array, far: Array, out: Array
    ) -> None:
        """Write to out[index] the mean of forces r[index] at q and far[index] at `other` (nq,), at q.

        out has (r + far) / 2, which is right where coordinates move by addition.
        """

    def add_second(self, q: Array, wrench: Array, H: Array) -> None:
        """Add `second` for a wrench (6,) to H (nv, nv)."""
        H += self.second(q, wrench)

    def set_bias(self, q: Array, v: Array, index: Array, bias: Array) -> None:
        """Write `bias` (6,) at the velocities v[index]."""
        bias[...] = self.bias(q, v[index])

    def set_values(self, q: Array, out: Array, slope: Array) -> None:
        """Write `values` to out (nv,) and `slope` (nv, nv)."""
        out[...], slope[...] = self.values(q), self.slope(q)

    def set_change(self, a: Array, b: Array, out: Array, slope: Array) -> None:
        """Write `difference` to out (nv,), and its derivative in a variation of b to slope (nv, nv)."""
        out[...] = self.difference(a, b)
        if self.additive:
            slope[...] = np.eye(self.nv)
            return
        for k, e in enumerate(_STEP * np.eye(self.nv)):
            ahead, behind = (self.difference(a, self.retract(b, x)) for x in (e, -e))
            slope[:, k] = (ahead - behind) / (2.0 * _STEP)

    def add_turning(self, force: Array, H: Array) -> None:
        """Add to H (nv, nv) the derivative of a force (nv,) that turns with the joint.

        In the chart q o x; nothing where coordinates move by addition.
        """

    def add_curvature(self, q: Array, r: Array, H: Array) -> None:
        """Add `curvature` for r (nv,) to H (nv, nv)."""
        H += self.curvature(q, r)


_CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def _hessian(value: Callable[[Array], float], n: int) -> Array:
    """Second derivative (n, n) of a function of x (n,) at zero, by differences."""
    H = np.empty((n, n))
    unit = 1e-4 * np.eye(n)
    for a in range(n):
        for b in range(a + 1):
            ends = [value(i * unit[a] + j * unit[b]) for i, j in _CORNERS]
            H[a, b] = H[b, a] = (ends[0] - ends[1] - ends[2] + ends[3]) / 4e-8
    return H
