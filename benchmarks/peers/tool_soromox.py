"""T1 in the plane by SoRoMoX (https://github.com/tud-phi/soromox): strain polynomials in JAX.

`GVS` with segments whose bending, stretch and shear are Legendre polynomials. There is no static
solver:
Newton's method on its forces with JAX's derivatives, in load steps. Traps avoided: double precision,
without which nothing converges; compiled once for each setting and kept, so that describing the robot
and compiling it (a minute) are NOT part of its CPU time, unlike for all other tools. Motions and forces
at points are left out: each setting of them compiles for minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from soromox.systems.components import JointSpec, LinkSpec  # noqa: E402
from soromox.systems.gvs import GVS, GVSSegment, StrainBasisSpec  # noqa: E402
from tasks import TASKS as ALL, Task  # noqa: E402

TASKS = ("T1",)
LEVELS = jnp.array([0.003, 0.01, 0.03, 0.1, 0.3, 1.0])
"""Load steps of an equilibrium."""


def settings(task: Task, spatial: bool) -> list[dict]:
    """The settings that are swept: segments, order of their polynomials."""
    if spatial:
        return []
    return [{"segments": k, "order": 4} for k in (1, 2)]


def robot_of(task: Task, segments: int, order: int) -> GVS:
    """The rod in the x-z plane, clamped along x."""
    rod = task.rod
    link = LinkSpec.circular(
        length=rod.length / segments, radius=rod.radius, density=rod.rho, young_modulus=rod.E,
        shear_modulus=rod.shear_modulus, material_damping_coefficient=0.0,
        reference_strain=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    )  # fmt: skip
    basis = StrainBasisSpec("legendre", ("kappa_y", "sigma_x", "sigma_z"), order)
    parts = [GVSSegment(link, JointSpec("fixed"), basis, order + 3)] * segments
    gravity = jnp.array([0.0, 0.0, -task.gravity])
    upright = jnp.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    return GVS.from_segments(parts, gravity=gravity, base_pose=upright)


@cache
def compiled(name: str, segments: int, order: int) -> Callable[[], jax.Array]:
    """A compiled function of nothing that returns the tips (T, 3)."""
    task = ALL[name].variant(False)
    robot = robot_of(task, segments, order)
    zero = jnp.zeros(robot.num_velocities)

    def residual(q: jax.Array, level: jax.Array) -> jax.Array:
        return robot.elastic_force(q) + level * robot.gravitational_force(q)

    def equilibrium() -> jax.Array:
        def improve(q: jax.Array, level: jax.Array) -> tuple[jax.Array, None]:
            for _ in range(8):
                q = q - jnp.linalg.solve(jax.jacfwd(residual)(q, level), residual(q, level))
            return q, None

        q = jax.lax.scan(improve, zero, LEVELS)[0]
        return robot.forward_kinematics(q, jnp.asarray(task.rod.length))[None, :3, 3]

    return jax.jit(equilibrium)


def solve(task: Task, spatial: bool, segments: int, order: int) -> np.ndarray:
    """The tip (T, 3) at the times of the task."""
    return np.asarray(compiled(task.name, segments, order)())
