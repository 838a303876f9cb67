"""Work of loads, pressures and a moving base, and energy lost, of shapes on Chebyshev grids."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.bvp.arrays import LOAD
from pliant.bvp.collocation_grid import Grid
from pliant.bvp.collocation_kernels import Shape
from pliant.bvp.collocation_state import on_grid
from pliant.lie.tuples import Array


@dataclass
class Page:
    """What pushes and what moves at one instant; weight, which has a potential, is left out.

    push, move : (18, G) on the grid: load per length and twist in the world, the same in the body, and
    the wrench of chambers and strain rate.  point_push, point_move : (K,) of the base and point loads.
    """

    push: Array
    move: Array
    point_push: Array
    point_move: Array

    def regridded(self, old: Grid, new: Grid) -> Page:
        """The same on other grids."""
        push, move = (on_grid(old.orders, new.orders, field) for field in (self.push, self.move))
        return replace(self, push=push, move=move)

    def mean(self, other: Page) -> Page:
        """Mean forces and mean rates of two instants."""
        return Page(
            0.5 * (self.push + other.push),
            0.5 * (self.move + other.move),
            0.5 * (self.point_push + other.point_push),
            0.5 * (self.point_move + other.point_move),
        )

    def powers(self, grid: Grid) -> Array:
        """Power done on the chain and power lost (2,), W."""
        fields, w = grid.fields, grid.weights
        done = float(w @ np.sum(self.push * self.move, axis=0) + self.point_push @ self.point_move)
        velocity, strain_rate = self.move[6:12], self.move[12:]
        speed = np.abs(velocity[3:])
        lost = np.sum(grid.D * strain_rate**2, axis=0) + np.sum(fields.drag * speed**3, axis=0)
        kinetic = np.sum(fields.J * velocity[:3] ** 2, axis=0) + fields.A * np.sum(speed**2, axis=0)
        lost += fields.mass_damping * kinetic
        return np.array([done, float(w @ lost)])


def page(grid: Grid, shape: Shape, base: Array, strain_rate: Array, velocity: Array) -> Page:
    """The page of the present shape.

    base : (18,) section at the base.  strain_rate, velocity : (6, G) body frame.
    """
    fields = grid.fields
    dead = fields.force - fields.A * grid.events.gravity[:, None]
    push = [fields.moment, dead, fields.body_moment, fields.body_force, -grid.active]
    move = [shape.W, shape.V, velocity, strain_rate]
    point_push, point_move = [-shape.reaction], [base[12:18]]
    for e in np.flatnonzero(grid.events.kind == LOAD):
        load, section = grid.events.loads[grid.events.row[e]], shape.sections[e]
        R, turning = section[:9].reshape(3, 3), section[12:15]
        speed = section[15:18] + np.cross(turning, R @ load[:3])
        point_push.append(load[3:15])
        point_move += [turning, speed, R.T @ turning, R.T @ speed]
    parts = (push, move, point_push, point_move)
    return Page(*(np.concatenate(part) for part in parts))


def booked(grid: Grid, before: Page | None, now: Page, shares: tuple[float, float, float]) -> Array:
    """Work and loss (2,) of the step between two pages, J; shares : see `TimeRule.shares`.

    before : None where nothing moved.
    """
    start, end, mean = shares
    if before is None:
        parts = (now.push, now.move, now.point_push, now.point_move)
        before = Page(*(np.zeros_like(part) for part in parts))
    found = np.zeros(2)
    for share, at in ((start, before), (end, now), (mean, before.mean(now))):
        if share:
            found += share * at.powers(grid)
    return found
