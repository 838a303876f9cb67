"""
A model-predictive controller for a tendon finger
=================================================

A soft finger with three tendons draws a circle with its tip. The controller knows the finger by
equations that Pliant derives with symbols (``pliant.symbolic``): two inextensible beams, ``EBR(2)``.
Every 30 ms it looks 180 ms ahead, by multiple shooting: implicit midpoint steps are constraints of a
nonlinear program in states and tensions, which IPOPT solves from the last solution.

The finger that ``stepper`` moves is another one: it is stiffer by 15 % and carries 2 g at its tip of
which the controller does not know. Feedback of the state makes up for it.

Needs CasADi.
"""

# sphinx_gallery_group = "actuators"

from typing import Any

import casadi as cs
import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.symbolic import SymbolicEquations, equations
from pliant.view import style

MODEL = pl.EBR(2)
PERIOD, AHEAD, SUBSTEPS, END = 0.03, 6, 6, 1.05
STRONGEST, RADIUS, ROUND, SLEW = 12.0, 0.025, 0.75, 2e-7
NAMES = ("pull a", "pull b", "pull c")
EXPECTED = {
    "largest error of the tip / mm": (2.557, 0.05),
    "mean error in the second half / mm": (0.222, 0.02),
    "largest tension / N": (1.091, 0.02),
}


def finger(E: float, load: float) -> pl.Robot:
    robot = pl.Robot()
    silicone = pl.Material(E=E, nu=0.45, rho=1100.0, viscosity=5000.0)
    rod = robot.add_rod("finger", 0.12, pl.Circle(0.006), silicone, theory="kirchhoff")
    for k, name in enumerate(NAMES):
        way = 0.005 * np.array([np.cos(2.0 * k * np.pi / 3.0), np.sin(2.0 * k * np.pi / 3.0)])
        robot.add_tendon(name, path=[rod.at(s, way) for s in np.linspace(0.0, 0.12, 5)])
    robot.add_body("tip", 0.002 + load, (1e-7,) * 3, on=rod.tip)
    return robot


def circle(t: Any) -> Any:
    """Where the tip should be at times t (T,), x and y, m: out along x, then round."""
    grown = RADIUS * np.minimum(t / 0.3, 1.0)
    angle = 2.0 * np.pi * np.maximum(t - 0.3, 0.0) / ROUND
    return np.stack([grown * np.cos(angle), grown * np.sin(angle)], axis=-1)


class Controller:
    """Tensions that bring the tip along a path, from a state of the finger."""

    def __init__(self, eq: SymbolicEquations) -> None:
        self.eq, self.n = eq, len(eq.names)
        self.tip = eq.pose("finger.tip")
        step, n, size = self._step(), self.n, 2 * self.n
        X, U = cs.MX.sym("X", size, AHEAD + 1), cs.MX.sym("U", 3, AHEAD)
        given = cs.MX.sym("given", size + 3 + 2 * AHEAD)
        start, before = given[:size], given[size : size + 3]
        path = cs.reshape(given[size + 3 :], 2, AHEAD)
        gaps = cs.vec(step.map(AHEAD)(X[:, :-1], X[:, 1:], U))
        cost = 0.0
        for k in range(AHEAD):
            off = self.tip(X[:n, k + 1], [])[:2, 3] - path[:, k]
            slew = U[:, k] - (before if k == 0 else U[:, k - 1])
            cost += cs.sumsqr(off) + SLEW * cs.sumsqr(slew) + 0.1 * SLEW * cs.sumsqr(U[:, k])
        unknown = cs.vertcat(cs.vec(X), cs.vec(U))
        rows = cs.vertcat(X[:, 0] - start, gaps)
        problem = {"x": unknown, "p": given, "f": 1e4 * cost, "g": rows}
        quiet = {"print_level": 0, "sb": "yes", "tol": 1e-5, "max_iter": 30}
        quiet |= {"warm_start_init_point": "yes", "mu_init": 1e-4}
        self.solver = cs.nlpsol("mpc", "ipopt", problem, {"ipopt": quiet, "print_time": False})
        states = size * (AHEAD + 1)
        self.low = np.concatenate([np.full(states, -np.inf), np.zeros(3 * AHEAD)])
        self.high = np.concatenate([np.full(states, np.inf), np.full(3 * AHEAD, STRONGEST)])
        self.guess = np.concatenate(
            [np.tile(np.append(eq.rest, np.zeros(n)), AHEAD + 1), np.ones(3 * AHEAD)]
        )
        self.tensions, self.multipliers = np.zeros(3), {"lam_x0": 0.0, "lam_g0": 0.0}

    def _step(self) -> Any:
        """What is left of the equations of an implicit midpoint step from a to b, (2 n,)."""
        eq, n = self.eq, self.n
        a, b, u = cs.SX.sym("a", 2 * n), cs.SX.sym("b", 2 * n), cs.SX.sym("u", 3)
        q, v = 0.5 * (a[:n] + b[:n]), 0.5 * (a[n:] + b[n:])
        change = (b[n:] - a[n:]) / PERIOD
        balance = eq.mass(q, []) @ change + eq.bias(q, v, []) - eq.forces(q, v, u, [])
        left = cs.vertcat(b[:n] - a[:n] - PERIOD * v, 1e3 * balance)
        return cs.Function("step", [a, b, u], [left], {"cse": True})

    def __call__(self, t: float, q: Any, v: Any) -> Any:
        """Tensions (3,) from time t on, where the finger is in a state q, v."""
        path = circle(t + PERIOD * np.arange(1, AHEAD + 1)).ravel()
        given = np.concatenate([q, v, self.tensions, path])
        bounds = {"lbx": self.low, "ubx": self.high, "lbg": 0.0, "ubg": 0.0}
        found = self.solver(x0=self.guess, p=given, **bounds, **self.multipliers)
        self.multipliers = {"lam_x0": found["lam_x"], "lam_g0": found["lam_g"]}
        self.guess = np.array(found["x"]).ravel()
        if not self.solver.stats()["success"]:
            raise RuntimeError(f"no tensions found at {t:.3g} s")
        self.tensions = np.clip(self.guess[2 * self.n * (AHEAD + 1) :][:3], 0.0, STRONGEST)
        return self.tensions


def run() -> Any:
    """Times, positions x and y of the tip, and tensions, (T, 6)."""
    eq = equations(finger(1e6, 0.0), formulation=MODEL)
    controller = Controller(eq)
    real = finger(1.15e6, 0.002)
    plant, measured = (
        real.stepper(PERIOD / SUBSTEPS, formulation=MODEL),
        real.equations(formulation=MODEL),
    )
    rows = []
    for k in range(round(END / PERIOD)):
        state = plant.state
        tensions = controller(k * PERIOD, *measured.state(state))
        rows.append(np.concatenate([[k * PERIOD], state.tip("finger")[:2, 3], tensions]))
        for _ in range(SUBSTEPS):
            plant.step(dict(zip(NAMES, tensions, strict=True)))
    return np.array(rows)


def draw(t: Any, tip: Any, tensions: Any, error: Any) -> None:
    with style():
        _, (way, pull, off) = plt.subplots(1, 3, figsize=(11.0, 3.8), layout="constrained")
        fine = circle(np.linspace(0.0, END, 300))
        way.plot(*(1e3 * fine.T), label="wanted")
        way.plot(*(1e3 * tip.T), "o", ms=4, label="tip")
        way.set(xlabel="x / mm", ylabel="y / mm", aspect="equal")
        way.legend(loc="center", bbox_to_anchor=(0.45, 0.33))
        for name, tension in zip(NAMES, tensions.T, strict=True):
            pull.step(t, tension, where="post", label=name)
        pull.set(xlabel="time / s", ylabel="tension / N")
        pull.legend()
        off.plot(t, 1e3 * error)
        off.set(xlabel="time / s", ylabel="error of the tip / mm")


def main() -> dict[str, float]:
    rows = run()
    t, tip, tensions = rows[:, 0], rows[:, 1:3], rows[:, 3:]
    error = np.linalg.norm(tip - circle(t), axis=1)
    draw(t, tip, tensions, error)
    return {
        "largest error of the tip / mm": float(1e3 * error.max()),
        "mean error in the second half / mm": float(1e3 * error[len(t) // 2 :].mean()),
        "largest tension / N": float(tensions.max()),
    }


if __name__ == "__main__":
    print(main())
    plt.show()
