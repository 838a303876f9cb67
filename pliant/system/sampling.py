"""Frames, strains and velocities of a configuration at any arclength, for results."""

from __future__ import annotations

import numpy as np

from pliant.rods.contract import Array, Configuration, Plan
from pliant.system.block import Block
from pliant.system.system import System


class Sampler:
    """Answers questions about configurations q of one system, without touching its scratch."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._plans: dict[tuple[str, str, bytes], Plan] = {}

    def poses(self, q: Array, rod: str, s: Array) -> Array:
        """World poses (S, 4, 4) of a rod's sections at arclengths s (S,)."""
        return self._frames(q, self.system.by_name[rod], s).g.copy()

    def strains(self, q: Array, rod: str, s: Array) -> Array:
        """Strains (S, 6) at s, body frame.

        Where a rod carries its forces as stress modes, shear and stretch are those of the force:
        between the stations of the map the raw ones mean nothing.
        """
        block = self.system.by_name[rod]
        plan = self._plan(block, s, "strain")
        c = self._configuration(q, block)
        block.map.strain(plan, c)
        e = plan.e.copy()
        if block.rigid:
            e[:, block.mode_rows] = block.rod.natural_strain(s)[:, block.mode_rows]
        elif block.modes is not None:
            whole = self._plan(block, block.strain_s, "strain")
            block.map.strain(whole, c)
            a = block.settled_modes(whole.e)
            element, values = block.map.stress_values(np.asarray(s, dtype=float))
            force = np.einsum("sp,spr->sr", values, a[block.modes.index[element]])
            natural, C, rows = block.rod.natural_strain(s), block.rod.stiffness(s), block.mode_rows
            e[:, rows] = natural[:, rows] + force / C[:, rows]
        return e

    def velocities(self, q: Array, v: Array, rod: str, s: Array) -> Array:
        """Body twists (S, 6) at s when the coordinates move at rate v (n,)."""
        block = self.system.by_name[rod]
        plan = self._frames(q, block, s)
        c = self._configuration(q, block)
        local = self._local_rate(q, v, block)
        elements = block.map.elements
        y = np.zeros((len(elements), block.map.m))
        block.map.lift_velocity(c, np.where(elements >= 0, local[np.maximum(elements, 0)], 0.0), y)
        return np.einsum("sia,sa->si", plan.J, y[plan.element])

    def rest_strains(self, rod: str, s: Array) -> Array:
        """Strains (S, 6) of the stress-free rod through its own map."""
        return self.strains(self.system.q_rest, rod, s)

    def _plan(self, block: Block, s: Array, kind: str) -> Plan:
        s = np.ascontiguousarray(s, dtype=float)
        key = (block.rod.name, kind, s.tobytes())
        if key not in self._plans:
            if len(self._plans) > 64:
                self._plans.clear()
            make = block.map.frames if kind == "frame" else block.map.strains
            self._plans[key] = make(s)
        return self._plans[key]

    def _configuration(self, q: Array, block: Block) -> Configuration:
        c = block.map.configuration()
        block.map.update(c, self._base(q, block), q[block.q_slice])
        return c

    def _base(self, q: Array, block: Block) -> Array:
        if block.pose_slice is not None:
            return q[block.pose_slice].reshape(4, 4)
        if block.parent is None:
            return block.rod.pose
        parent = block.parent
        g = self._frames(q, parent, np.array([parent.point_s[block.mount]])).g[0].copy()
        g[:3, 3] += g[:3, :3] @ parent.offset[block.mount]
        return np.asarray(g @ block.rod.pose)

    def _frames(self, q: Array, block: Block, s: Array) -> Plan:
        plan = self._plan(block, s, "frame")
        block.map.frame(plan, self._configuration(q, block))
        return plan

    def _local_rate(self, q: Array, v: Array, block: Block) -> Array:
        index = block.x_index
        local = np.where(index >= 0, v[np.maximum(index, 0)], 0.0)
        if block.parent is not None and not block.shared:
            parent = block.parent
            s = np.array([parent.point_s[block.mount]])
            twist = self.velocities(q, v, parent.rod.name, s)[0]
            local[:6] = self.system.mount_adjoint(block) @ twist
        return local
