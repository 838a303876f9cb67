"""The tasks by PyElastica (https://docs.cosseratrods.org): rods by explicit steps (position Verlet).

There is no static solver: T1 is the rest of a damped motion. Traps avoided: the rod is circular
with a shear factor of 27/28, so that the stiffness matrices are set here, also for the square
section; forces are added to compiled functions of our own, for those of the library cost Python
time in each step; callbacks only at outputs; the analytical damper, which does not limit the step.
The tendon is the wrench -T along the channel between neighbouring elements, as an internal force
and couple of each of them.
"""

from __future__ import annotations

import warnings

warnings.simplefilter("ignore")

import elastica as ea  # noqa: E402
import numpy as np  # noqa: E402
from numba import njit  # noqa: E402
from tasks import Task  # noqa: E402

TASKS = ("T1", "T2", "T3", "T4")


def settings(task: Task, spatial: bool) -> list[dict]:
    """Settings that are swept: elements, step over its stability limit, for T1 damped seconds."""
    sizes = {"T1": (20, 40, 80), "T2": (20, 40, 80, 120), "T3": (10, 20, 40), "T4": (10, 20, 40)}
    swept = [{"n": n, "courant": 0.8} for n in sizes[task.name]]
    if task.duration:
        return swept
    return [{**one, "rest": rest} for one in swept for rest in (3.0, 5.0)]


@njit(cache=True)
def add_tendon(points, force, torque, position, frames, offset, tension):
    """Add the forces of a tendon that is straight between points above base, elements and tip."""
    n = frames.shape[2]
    for k in range(n + 2):
        element = min(max(k - 1, 0), n - 1)
        for i in range(3):
            middle = 0.5 * (position[i, element] + position[i, element + 1])
            on_axis = position[i, 0] if k == 0 else position[i, n] if k == n + 1 else middle
            points[i, k] = on_axis + frames[0, i, element] * offset
    along = np.empty(3)
    before = np.zeros(3)
    for k in range(n + 1, -1, -1):
        if k:
            along[:] = points[:, k - 1] - points[:, k]
            along *= tension / np.sqrt(np.sum(along**2))
        else:
            along[:] = 0.0
        pull = along + before
        before[:] = -along
        element = min(max(k - 1, 0), n - 1)
        first = 0.0 if k == n + 1 else 1.0 if k == 0 else 0.5
        for i in range(3):
            force[i, element] += first * pull[i]
            force[i, element + 1] += (1.0 - first) * pull[i]
        local = frames[:, :, element] @ pull
        torque[1, element] += -offset * local[2]  # (offset, 0, 0) x local
        torque[2, element] += offset * local[1]


@njit(cache=True)
def add_forces(force, mass, gravity, tip_force, lateral, place):
    for k in range(mass.shape[0]):
        force[2, k] -= gravity * mass[k]
    force[2, mass.shape[0] - 1] += tip_force
    force[1, place] += lateral


class Loads(ea.NoForces):
    """All loads of a task in one call a step."""

    def __init__(self, task: Task, n: int) -> None:
        super().__init__()
        self.task, self.place = task, round(task.lateral_at * n)
        self.points = np.empty((3, n + 2))

    def apply_forces(self, system, time=0.0):
        task = self.task
        force = system.external_forces
        add_forces(force, system.mass, task.gravity, task.tip_force, task.lateral, self.place)
        if task.tension:
            tension = task.tension * min(time / task.ramp, 1.0)
            frames, position = system.director_collection, system.position_collection
            add_tendon(
                self.points, force, system.external_torques, position, frames, task.offset, tension
            )


class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.Damping):
    """What the tasks need of the library."""


def make_rod(task: Task, n: int) -> ea.CosseratRod:
    """The rod with the section and the stiffness of the task; its first director points up."""
    rod = task.rod
    made = ea.CosseratRod.straight_rod(
        n, np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), rod.length,
        np.sqrt(rod.area / np.pi), rod.rho, youngs_modulus=rod.E, shear_modulus=rod.shear_modulus,
    )  # fmt: skip
    made.shear_matrix[:] = np.diag([rod.shear, rod.shear, rod.axial])[:, :, None]
    made.bend_matrix[:] = np.diag([rod.bending, rod.bending, rod.torsion])[:, :, None]
    made.bend_matrix[:, :, 0] /= 1.5  # the clamp holds the middle of the first element, not its end
    turn = rod.rho * rod.second_moment * rod.length / n
    made.mass_second_moment_of_inertia[:] = np.diag([turn, turn, 2 * turn])[:, :, None]
    inverse = np.diag([1 / turn, 1 / turn, 0.5 / turn])[:, :, None]
    made.inv_mass_second_moment_of_inertia[:] = inverse
    return made


def stable_step(task: Task, n: int) -> float:
    """Seconds: 2 / omega of the fastest wave, by stretch and by shear against rotation."""
    rod = task.rod
    stretch = np.sqrt(rod.E / rod.rho) * n / rod.length
    gyration = np.sqrt(rod.second_moment / rod.area)
    shear = 0.5 * np.sqrt(rod.shear_modulus / rod.rho) / gyration
    return 1.0 / float(np.hypot(stretch, shear))


def solve(task: Task, spatial: bool, n: int, courant: float, rest: float = 0.0) -> np.ndarray:
    """The tip (T, 3) at the times of the task; ``rest`` : seconds of damped motion."""
    simulator, rod = Simulator(), make_rod(task, n)
    simulator.append(rod)
    simulator.constrain(rod).using(
        ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
    )
    simulator.add_forcing_to(rod).using(Loads, task=task, n=n)
    period = rest or task.times[1]
    steps = int(np.ceil(period / (courant * stable_step(task, n))))
    dt = period / steps
    if rest:
        simulator.dampen(rod).using(
            ea.AnalyticalLinearDamper, uniform_damping_constant=6.0, time_step=dt
        )
    simulator.finalize()
    stepper, time = ea.PositionVerlet(), np.float64(0.0)
    path = [rod.position_collection[:, -1].copy()]
    for _ in range(1 if rest else len(task.times) - 1):
        for _ in range(steps):
            time = stepper.step(simulator, time, dt)
        path.append(rod.position_collection[:, -1].copy())
    return np.array(path[-1:] if rest else path)
