"""The workloads of `house.py`, for whichever Pliant is first on the path.

`python _house_work.py NAME` prepares a workload, prints "ready", and for each line that it reads prints
the CPU seconds that one unit of it takes: a step, an iteration, a call. So other work of the machine
hardly counts. Only public names are used: commits far apart can run it.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

import pliant as pl

Work = Callable[[], float]


def rod(E: float = 1e6) -> pl.Robot:
    """Return a soft rod along x that sags under its weight."""
    robot = pl.Robot()
    material = pl.Material(E=E, nu=0.5, rho=1000.0, viscosity=2000.0)
    arm = robot.add_rod("arm", 0.5, pl.Circle(0.01), material, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0.0, 0.02, 0.0))
    return robot


def swaying(aside: float = 0.0) -> tuple[pl.Robot, dict[str, object]]:
    """Return the tapered rod of `scaling.py` and a sine force on its tip, with one of `aside` newtons
    across its plane.
    """
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=2e6, nu=0.45, rho=1000.0)
    arm = robot.add_rod("arm", 1.0, pl.Circle((0.05, 0.03)), material, pose=pl.along("x"))
    robot.add_load("pull", arm.tip, force=(0, 0, 10.0))
    if aside:
        robot.add_load("side", arm.tip, force=(0, aside, 0))
    return robot, {"pull": pl.Sine(amplitude=0.5, frequency=1.0)}


def star(arms: int) -> pl.Robot:
    """Return a rod with `arms` - 1 others on its tip, all round."""
    robot = pl.Robot()
    material = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    trunk = robot.add_rod("trunk", 0.2, pl.Circle(0.01), material, pose=pl.along("x"))
    for k in range(arms - 1):
        angle = 2 * np.pi * k / (arms - 1)
        turn = np.eye(4)
        turn[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        robot.add_rod(f"arm{k}", 0.1, pl.Circle(0.005), material, base=trunk.tip, pose=turn)
    return robot


def actuator() -> pl.Robot:
    """Return the pneumatic actuator of `streaming.py`."""
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12038, mass_damping=2.4)
    finger = robot.add_actuator("finger", part, pl.along("x"))
    robot.add_body("weight", 0.03, on=finger.tip)
    return robot


def steps(robot: pl.Robot, count: int, dt: float, **settings: object) -> Work:
    """CPU seconds a step: of `count` steps more than one, so that preparations do not count."""

    def motion(many: int) -> float:
        began = time.process_time()
        robot.simulate(many * dt, dt, output_times=[many * dt], **settings)
        return time.process_time() - began

    return lambda: (motion(count + 1) - motion(1)) / count


def midpoint() -> Work:
    robot, inputs = swaying()
    return steps(robot, 200, 0.002, inputs=inputs, formulation=pl.BSpline(3, 15))


def midpoint_space() -> Work:
    robot, inputs = swaying(0.5)
    return steps(robot, 200, 0.002, inputs=inputs, formulation=pl.BSpline(3, 15))


def newmark() -> Work:
    robot, inputs = swaying()
    settings = {"formulation": pl.BSpline(3, 15), "integrator": pl.Newmark()}
    return steps(robot, 50, 0.002, inputs=inputs, **settings)


def star32() -> Work:
    return steps(star(32), 6, 0.001, formulation=pl.BSpline(3, 8))


def star64() -> Work:
    return steps(star(64), 6, 0.001, formulation=pl.BSpline(3, 8))


def static() -> Work:
    """CPU seconds a Newton iteration of an equilibrium that takes many."""
    robot, formulation = rod(), pl.BSpline(3, 15)

    def work() -> float:
        began = time.process_time()
        still = robot.statics(formulation=formulation)
        return (time.process_time() - began) / still.iterations

    return work


PRESSURES = {"chamber1": pl.Sine(2e4, 0.7, offset=2e4), "chamber2": pl.Sine(1e4, 1.0, offset=1e4)}


def ancf() -> Work:
    return steps(
        actuator(), 2000, 1e-3, inputs=PRESSURES, formulation=pl.ANCF(4), integrator=pl.Newmark()
    )


def streaming() -> Work:
    """CPU seconds a call of the stepper."""
    robot = actuator()
    times = 1e-3 * np.arange(2000)
    inputs = [{name: ask(t) for name, ask in PRESSURES.items()} for t in times.tolist()]

    def work() -> float:
        with robot.stepper(
            1e-3, inputs[0], start="statics", formulation=pl.ANCF(4), integrator=pl.Newmark()
        ) as stepper:
            began = time.process_time()
            for now in inputs:
                stepper.step(now)
            return (time.process_time() - began) / len(inputs)

    return work


def cantilever() -> pl.Robot:
    """Return the steel cantilever of the collocation paper; 10 N act at once."""
    robot = pl.Robot(gravity=(0, 0, 0))
    steel = pl.Material(E=210e9, nu=0.2, rho=7800.0)
    rod = robot.add_rod("rod", 1.0, pl.Rectangle(0.01, 0.01), steel, pose=pl.along("x"))
    robot.add_load("push", rod.tip, force=(0, 0, -10.0))
    return robot


def shooting() -> Work:
    settings = {"formulation": pl.Shooting(steps=100), "integrator": pl.BDFAlpha(-0.5)}
    return steps(cantilever(), 100, 2e-3, **settings)


def collocation() -> Work:
    settings = {"formulation": pl.Collocation(nodes=16), "integrator": pl.BDFAlpha(-0.5)}
    return steps(cantilever(), 25, 2e-3, **settings)


def fit() -> Work:
    """CPU seconds of a fit of two parameters to a second of a shaken rod's tip."""
    warnings.simplefilter("ignore", pl.FitWarning)
    times = np.arange(0.0, 1.005, 0.01)
    push = pl.TimeTable(times, np.sin(2 * np.pi * times))
    spline = {"formulation": pl.BSpline(3, 6), "dt": 0.01}
    move = rod().simulate(1.0, inputs={"push": push}, start="statics", output_times=times, **spline)
    tip = move.tip("arm")[:, :3, 3] + np.random.default_rng(1).normal(0.0, 5e-4, (len(times), 3))
    columns = {f"arm.tip.{axis}": tip[:, k] for k, axis in enumerate("xyz")}
    data = pl.Measurement({"t": times, **columns}, "t", {"push": push}, start="statics")

    def work() -> float:
        began = time.process_time()
        pl.fit(rod(0.9e6), data, ["arm.E", "arm.viscosity"], [pl.Output("arm.tip")], **spline)
        return time.process_time() - began

    return work


def first_static() -> Work:
    """CPU seconds of the first equilibrium of a process, imports not counted."""

    def work() -> float:
        began = time.process_time()
        rod().statics(formulation=pl.BSpline(3, 15))
        return time.process_time() - began

    return work


def five_formulations() -> Work:
    """CPU seconds of the first statics and simulate of five formulations."""
    forms = (pl.BSpline(), pl.Hermite(), pl.Strain(), pl.ANCF(4), pl.Shooting())

    def work() -> float:
        began = time.process_time()
        for form in forms:
            robot = actuator() if isinstance(form, pl.ANCF) else rod()
            robot.statics(formulation=form)
            strong = {"integrator": pl.BDFAlpha()} if isinstance(form, pl.Shooting) else {}
            robot.simulate(0.02, 0.005, formulation=form, **strong)
        return time.process_time() - began

    return work


WORK = {
    made.__name__: made
    for made in (
        midpoint, midpoint_space, static, newmark, star32, star64, ancf, streaming, shooting,
        collocation, fit, first_static, five_formulations,
    )
}  # fmt: skip


def main() -> None:
    work = WORK[sys.argv[1]]()
    print("ready", pl.__file__, flush=True)
    for _ in sys.stdin:
        print(work(), flush=True)


if __name__ == "__main__":
    main()
