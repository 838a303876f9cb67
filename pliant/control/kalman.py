"""An extended Kalman filter on the robot's time steps: shape and unknown inputs from tracked points.

The error state is (x, w, p): q = q_hat o x (n,), v = v_hat + w, unknown inputs u = u_hat + p. A step of
the integrator moves the estimate; its derivatives F are differences of the same step. Points
z = h(q) + noise correct it:

    P <- F P F^T + Q,   S = H P H^T + R,   K = P H^T S^-1,   (x, w, p) = K (z - h(q_hat)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.control.signals import inputs_of
from pliant.model import Array, Frame, checks
from pliant.model.checks import StepError
from pliant.results.equations import Equations
from pliant.results.equilibrium import Equilibrium
from pliant.results.stepper import StepState
from pliant.robot import Robot
from pliant.solve.integrators.contract import Integrator
from pliant.solve.integrators.midpoint import Midpoint
from pliant.solve.schedule import as_inputs, check_input, check_values

_SMALL = 1e-5
"""Displacement by which a step is differentiated, rad and m, and relative to what is unknown."""


_ALIEN = 10.0
"""Normalised squared innovation for each measured coordinate that tells of a wrong start."""
_HALVINGS = 40
"""By which the largest change is found that an unknown input can have."""


class KalmanFilter:
    """Estimates shape, velocities and unknown inputs of a robot from positions of a few points.

    robot : the model.  places : tracked points such as "arm.tip" or a Frame.
    noise : standard deviation of each measured coordinate, m.
    unknown : by input of one number, how much it may wander in a second: standard deviation per √s.
    Its estimate stays where the input can be, that of a tension at zero or above.
    dt : seconds between measurements, one step of the integrator.
    start : the equilibrium with which it begins; None for that under `inputs`.
    inputs : known values by name.  spread : standard deviations of displacements (rad and m),
    velocities, and by input of the unknown ones at the start.
    disturbance : standard deviation of unmodelled accelerations of all coordinates per √s, m/s and
    rad/s.  formulation : as for `statics`; few coordinates are quick.  integrator : Midpoint() if None.

    mean : unknown inputs by name.  covariance : (2 n + k, 2 n + k) of displacements, velocities and
    unknown inputs.  innovation, innovation_covariance : of the last measurement; `consistency` is the
    normalised squared innovation, on average the number of coordinates if noise and model are right.
    """

    def __init__(
        self,
        robot: Robot,
        places: Sequence[str | Frame],
        noise: float,
        unknown: Mapping[str, float],
        dt: float,
        start: Equilibrium | None = None,
        inputs: Mapping[str, Any] | None = None,
        spread: tuple[float, float, Mapping[str, float]] | None = None,
        disturbance: float = 1e-3,
        formulation: Any = None,
        integrator: Integrator | None = None,
    ) -> None:
        who = "KalmanFilter"
        self.dt = checks.positive(who, "dt", dt, "seconds", "give e.g. 0.01")
        self.noise = checks.positive(who, "noise", noise, "m", "give e.g. 1e-3")
        wander = checks.positive(who, "disturbance", disturbance, "", "give e.g. 1e-3")
        method = Midpoint() if integrator is None else integrator
        checks.refuse(method.chooses_steps, who, "integrator", method, "one with steps of dt",
                      "use Midpoint()")  # fmt: skip
        still = robot.statics(inputs, formulation) if start is None else start
        checks.instance(who, "start", still, Equilibrium, "an equilibrium", "give robot.statics()")
        self.places = [places] if isinstance(places, str | Frame) else list(places)
        checks.refuse(not self.places, who, "places", places, "at least one", "give ['arm.tip']")
        self.equations: Equations = robot.equations(still.inputs, at=still)
        problem: Any = self.equations._compiled
        self._values = check_values(problem.description, {**still.inputs, **as_inputs(inputs)})
        checks.instance(who, "unknown", unknown, Mapping, "sizes by input", "give {'load': 0.1}")  # type: ignore[type-abstract]
        self.unknown = inputs_of(who, list(unknown), self._values) if unknown else []
        for name in self.unknown:
            driven = name in problem.effects.prescribed.names
            checks.refuse(driven, who, "unknown", name, "an input that exerts forces",
                          "leave out base motions and prescribed joints")  # fmt: skip
        self.mean = {name: float(self._values[name]) for name in self.unknown}
        self._problem, self._stepper = problem, method.stepper(problem.effects, self.dt)
        self.q, self.v = self.equations.state(still)
        self.t = 0.0
        for place in self.places:
            self.equations.jacobian(place, self.q)
        rates = [
            checks.positive(who, f"unknown {name!r}", x, "", "give e.g. 1.0")
            for name, x in unknown.items()
        ]
        n = len(self.v)
        first = self._spread((1e-3, 1e-2, unknown) if spread is None else spread)
        self.covariance: Array = np.diag(np.repeat(first, [n, n] + [1] * len(rates)) ** 2)
        slow = np.concatenate([np.zeros(n), np.full(n, wander), rates])
        self._process = np.diag(slow**2 * self.dt)
        self.innovation: Array = np.zeros(3 * len(self.places))
        self.innovation_covariance: Array = np.eye(3 * len(self.places))

    def _spread(self, given: Any) -> list[float]:
        """Standard deviations at the start: of displacements, velocities and each unknown input."""
        try:
            listed = [given[0], given[1], *(given[2][name] for name in self.unknown)]
        except (TypeError, LookupError):
            listed = [None]
        return [
            checks.number("KalmanFilter", "spread", given if x is None else x,
                          "", "give e.g. (1e-3, 1e-2, {'load': 0.1})", "zero")
            for x in listed
        ]  # fmt: skip

    # -- one measurement -----------------------------------------------------------------------

    def update(self, measured: ArrayLike, inputs: Mapping[str, Any] | None = None) -> StepState:
        """Take one step and correct it by measured positions (P, 3), m; return the estimated state.

        measured : NaN where a point was not seen.  inputs : known values at the end of the step.
        """
        z = np.asarray(measured, dtype=float)
        expected = f"positions ({len(self.places)}, 3)"
        wrong = z.shape != (len(self.places), 3) or bool(np.isinf(z).any())
        checks.refuse(wrong, "KalmanFilter", "measured", z, expected, "give one row for each place")
        both = [name for name in self.unknown if name in as_inputs(inputs)]
        checks.refuse(both, "KalmanFilter", "inputs", both, "known ones, for these are estimated",
                      "leave them out")  # fmt: skip
        try:
            self._predict(inputs)
        except StepError as error:
            raise self._lost(error) from error
        self._correct(z.ravel())
        return self.state

    def _lost(self, error: StepError) -> StepError:
        """The error of a step that fails, with what the last measurement says of the estimate."""
        count, met = np.count_nonzero(np.isfinite(self.innovation)), self.consistency
        if met < _ALIEN * count:
            return error
        return StepError(
            f"KalmanFilter: {error.message}. The points were far from where the estimate had them: "
            f"the normalised squared innovation was {met:.3g} instead of about {count}, which gave the "
            "model velocities that it cannot have. Give start= an equilibrium near the first "
            "measurement, a larger spread= of what is unknown then, or a larger noise or disturbance"
        )

    @property
    def state(self) -> StepState:
        """The estimated state."""
        return StepState(self._problem, self, 0, "")

    @property
    def consistency(self) -> float:
        """Normalised squared innovation of the last measurement."""
        return float(self.innovation @ np.linalg.solve(self.innovation_covariance, self.innovation))

    @property
    def std(self) -> dict[str, float]:
        """Standard deviations of the unknown inputs, by name."""
        k = len(self.unknown)
        sizes = np.sqrt(np.diag(self.covariance)[len(self.covariance) - k :])
        return dict(zip(self.unknown, sizes.tolist(), strict=True))

    def _predict(self, inputs: Mapping[str, Any] | None) -> None:
        before = self._u(dict(self._values))
        known = {**self._values, **as_inputs(inputs)}
        self._values = check_values(self._problem.description, known)
        n, k = len(self.v), len(self.unknown)
        q, v = self._step(self.q, self.v, before, {})
        eq, F = self.equations, np.eye(2 * n + k)
        frame = eq.displacement_basis(q)
        for j in range(2 * n + k):
            x, more = np.zeros(2 * n), dict(self.mean)
            step = _SMALL
            if j < 2 * n:
                x[j] = step
            else:
                name = self.unknown[j - 2 * n]
                step = _SMALL * max(1.0, abs(more[name]))
                more[name] += step
            ends = self._step(eq.moved(self.q, x[:n]), self.v + x[n:], before, more)
            F[:n, j] = eq.displacement(q, ends[0], frame) / step
            F[n : 2 * n, j] = (ends[1] - v) / step
        self.q, self.v, self.t = q, v, self.t + self.dt
        self.covariance = F @ self.covariance @ F.T + self._process

    def _u(self, values: dict[str, Any]) -> Any:
        return self._problem.effects.at({**values, **self.mean})

    def _step(
        self, q: Array, v: Array, before: Any, mean: Mapping[str, float]
    ) -> tuple[Array, Array]:
        """Coordinates and velocities after a step under known inputs and unknown ones by name."""
        effects, stepper, system = self._problem.effects, self._stepper, self.equations._system
        after = effects.at({**self._values, **self.mean, **mean})
        now = before if not mean else type(before)(after.u, before.drive)
        stepper.start(q, system.spread(v), now)
        row = np.concatenate([after.u, effects.prescribed.row(after.drive)])
        stepper.take(row[None])
        return stepper.q.copy(), stepper.velocity()[system.numbers].copy()

    def _correct(self, z: Array) -> None:
        """Correct the estimate by positions z (3 P,)."""
        eq, n = self.equations, len(self.v)
        poses = [eq.place_motion(place, self.q, self.v)[0] for place in self.places]
        seen = np.isfinite(z)
        H = np.zeros((len(z), len(self.covariance)))
        H[:, :n] = np.concatenate([eq.jacobian(x, self.q, "world")[3:] for x in self.places])
        self.innovation = z[seen] - np.concatenate([g[:3, 3] for g in poses])[seen]
        H, P = H[seen], self.covariance
        self.innovation_covariance = H @ P @ H.T + self.noise**2 * np.eye(len(H))
        K = np.linalg.solve(self.innovation_covariance, H @ P).T
        x = K @ self.innovation
        self.q, self.v = eq.moved(self.q, x[:n]), self.v + x[n : 2 * n]
        for name, change in zip(self.unknown, x[2 * n :].tolist(), strict=True):
            self.mean[name] += self._possible(name, change)
        left = np.eye(len(P)) - K @ H
        self.covariance = left @ P @ left.T + self.noise**2 * (K @ K.T)

    def _possible(self, name: str, change: float) -> float:
        """The change of an unknown input, cut where its value could not be, as a negative tension."""

        def good(part: float) -> bool:
            value = self.mean[name] + part * change
            errors = checks.raised(lambda: check_input(self._problem.description, name, value))
            return next(errors, None) is None

        if good(1.0):
            return change
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if good(middle) else (low, middle)
        return low * change

    # -- what a state is made of ---------------------------------------------------------------

    @property
    def h(self) -> float:
        """Length of a step, s."""
        return self.dt

    def snapshot(self) -> tuple[Array, Array, Array]:
        """Coordinates, rates and an empty account."""
        rates = self.equations._system.spread(self.v)
        return self.q.copy(), rates, np.zeros_like(self._stepper.account)

    def acting(self) -> Any:
        """The inputs as they are now."""
        values = {name: np.array(x, float) for name, x in {**self._values, **self.mean}.items()}
        rates = np.zeros((len(self._problem.effects.prescribed.names), 2))
        return lambda: (values, rates)
