"""Power of loads, pressures and a moving base, and power lost, of a shape on Chebyshev grids."""

from __future__ import annotations

import numpy as np

from pliant.bvp.arrays import LOAD
from pliant.bvp.collocation_grid import Grid
from pliant.bvp.collocation_kernels import Shape
from pliant.lie.tuples import Array


def powers(grid: Grid, shape: Shape, base: Array, strain_rate: Array, velocity: Array) -> Array:
    """Power done on the chain and power lost (2,), W; weight, which has a potential, is left out.

    base : (18,) section at the base.  strain_rate, velocity : (6, G) body frame.
    """
    fields, w = grid.fields, grid.weights
    gravity = grid.events.gravity[:, None]
    density = np.sum(
        (fields.force - fields.A * gravity) * shape.V + fields.moment * shape.W, axis=0
    )
    density += np.sum(fields.body_moment * velocity[:3] + fields.body_force * velocity[3:], axis=0)
    density -= np.sum(grid.active * strain_rate, axis=0)
    done = float(w @ density)
    done -= float(shape.reaction[:3] @ base[12:15] + shape.reaction[3:] @ base[15:18])
    for e in np.flatnonzero(grid.events.kind == LOAD):
        load, section = grid.events.loads[grid.events.row[e]], shape.sections[e]
        R = section[:9].reshape(3, 3)
        force, moment = load[6:9] + R @ load[12:15], load[3:6] + R @ load[9:12]
        speed = section[15:18] + np.cross(section[12:15], R @ load[:3])
        done += float(force @ speed + moment @ section[12:15])
    speed = np.abs(velocity[3:])
    lost = np.sum(grid.D * strain_rate**2, axis=0) + np.sum(fields.drag * speed**3, axis=0)
    kinetic = np.sum(fields.J * velocity[:3] ** 2, axis=0) + fields.A * np.sum(speed**2, axis=0)
    lost += fields.mass_damping * kinetic
    return np.array([done, float(w @ lost)])
