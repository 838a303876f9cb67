"""The whole robot as one system: coordinates, gradient of the potential, tangent, constraints.

Unknowns are z (n + m,): variations of the coordinates of all rods, with the stress modes of a rod
numbered among its coordinates (n in all), then the multipliers of the constraints (m). `q` (nq,) is
the configuration, one slice for each rod; `mult` (n + m,) holds stress modes and multipliers at their
places in z and nothing at the places of coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.lie import se3
from pliant.model import Description, Frame
from pliant.rods.contract import Array, Formulation, Ints
from pliant.system.block import Block, Level
from pliant.system.compiling import attach_chamber, attach_load, discretise, interleave


@dataclass
class Link:
    """A compiled constraint: frame `on` of a block held against frame `to` of a block or a pose."""

    name: str
    rows: Ints
    on: tuple[Block, int]
    to: tuple[Block, int] | None
    pose: Array | None
    at: slice
    """Its multipliers among lambda."""


class System:
    """A robot compiled for computing: constant data and scratch, no user-facing behaviour."""

    def __init__(self, description: Description, formulations: Mapping[str, Formulation]) -> None:
        description.validate()
        self.description = description
        self.blocks: list[Block] = []
        self.by_name: dict[str, Block] = {}
        for rod in description.rods_from_root():
            formulation = formulations[rod.name]
            rows = formulation.capabilities.frame_rows
            block = Block(rod, discretise(rod, formulation), rows)
            self.blocks.append(block)
            self.by_name[rod.name] = block
        self._attach_mounts()
        self.driven_blocks = [b for b in self.blocks if description.motions_of(b.rod.name)]
        """Rods whose base moves as inputs tell it, see `driving`."""
        for block in self.driven_blocks:
            block.driven = True
        self.load_points = {
            load.name: attach_load(self.by_name[load.part], load)
            for load in description.loads.values()
        }
        for body in description.bodies.values():
            self.by_name[body.part].attach_body(body)
        self.chambers = {
            chamber.name: attach_chamber(self.by_name[chamber.part], chamber)
            for chamber in description.chambers.values()
        }
        """By name, stresses per Pa at the strain rule (S, 6) and at inner stations (X, 6)."""
        self.links = self._compile_links()
        self.m = sum(len(link.rows) for link in self.links)
        bending = max(float(np.max(block.C[:, :3])) for block in self.blocks)
        length = max(block.rod.length for block in self.blocks)
        self.link_stiffness = np.repeat([bending / length, bending / length**3], 3)
        """(6,): what a gap of a constraint costs in N m/rad and N/m, see `balance`."""
        for block in self.blocks:
            block.close()
        self._number()
        self.q_rest = self._rest()
        self.place(self.q_rest, mass=True)
        self.rest_frames = [(b.level.points.g.copy(), b.level.mass.g.copy()) for b in self.blocks]
        """Per block, world poses of its points and mass stations in the undeformed robot."""
        self._resolve_links()

    # -- compiling ---------------------------------------------------------------------------

    def _attach_mounts(self) -> None:
        for block in self.blocks:
            base = block.rod.base
            if isinstance(base, Frame):
                parent = self.by_name[base.part]
                block.parent = parent
                plain = not np.any(base.pose_offset()[:3, 3]) and np.array_equal(
                    block.rod.pose, np.eye(4)
                )
                block.shared = plain and parent.map.pose_coordinate(base.s) is not None
                block.mount = parent.attach(base)
                parent.children.append(block)

    def _compile_links(self) -> list[Link]:
        links, at = [], 0
        for constraint in self.description.constraints.values():
            block = self.by_name[constraint.on.part]
            rows = np.array(constraint.rows, dtype=np.int64)
            to, pose = None, None
            if isinstance(constraint.to, Frame):
                other = self.by_name[constraint.to.part]
                to = (other, other.attach(constraint.to))
            elif constraint.to is not None:
                pose = np.asarray(constraint.to, dtype=float)
            on = (block, block.attach(constraint.on))
            links.append(Link(constraint.name, rows, on, to, pose, slice(at, at + len(rows))))
            at += len(rows)
        return links

    def _resolve_links(self) -> None:
        """Constraints without a target hold the frame where the undeformed robot has it."""
        for link in self.links:
            if link.to is None and link.pose is None:
                link.pose = link.on[0].anchor(link.on[0].level, link.on[1])[0]

    def _number(self) -> None:
        n = nq = 0
        for block in self.blocks:
            index = np.full(6 + block.map.nv, -1, dtype=np.int64)
            if block.rod.base is None or block.driven:
                index[:6] = n + np.arange(6)
                n += 6
                block.pose_slice = slice(nq, nq + 16)
                nq += 16
            elif block.shared and block.parent is not None:
                at = block.parent.map.pose_coordinate(block.parent.point_s[block.mount])
                assert at is not None
                index[:6] = block.parent.x_index[at : at + 6]
            n = interleave(block, index, n)
            block.q_slice = slice(nq, nq + block.map.nq)
            nq += block.map.nq
            block.x_index = index
            local = block.map.elements
            block.index = np.where(local >= 0, index[np.maximum(local, 0)], -1)
        self.n, self.nq = n, nq
        modes = [b.mode_index.ravel() for b in self.blocks]
        self.mode_unknowns = np.concatenate([*modes, np.zeros(0, dtype=np.int64)])
        bases = [b.x_index[:6] for b in self.driven_blocks]
        self.driven = np.concatenate([*bases, np.zeros(0, dtype=np.int64)])
        """(6 k,): unknowns that are the twists of driven bases."""
        known = np.concatenate([self.mode_unknowns, self.driven])
        self.coordinates = np.setdiff1d(np.arange(n), known)

    def _rest(self) -> Array:
        q = np.zeros(self.nq)
        for block in self.blocks:
            q[block.q_slice] = block.q_rest
            if block.pose_slice is not None:
                q[block.pose_slice] = block.rod.pose.ravel()
        return q

    # -- configurations ----------------------------------------------------------------------

    def levels(self) -> list[Level]:
        """Room for one more configuration of the whole robot, besides the blocks' own."""
        return [Level(block) for block in self.blocks]

    def base_pose(self, block: Block, q: Array, levels: list[Level] | None = None) -> Array:
        """World pose (4, 4) of a rod's base; the parent's points must be up to date."""
        if block.pose_slice is not None:
            return q[block.pose_slice].reshape(4, 4)
        if block.parent is None:
            return block.rod.pose
        parent = block.parent
        level = parent.level if levels is None else levels[self.blocks.index(parent)]
        return parent.anchor(level, block.mount)[0] @ block.rod.pose

    def place(
        self,
        q: Array,
        levels: list[Level] | None = None,
        mass: bool = False,
        points: bool = True,
    ) -> None:
        """Set all frames and strains to configuration q; frames of mass stations only if asked.

        `points` may be False for a single rod whose attached frames are not needed yet.
        """
        for i, block in enumerate(self.blocks):
            level = block.level if levels is None else levels[i]
            block.map.update(level.c, self.base_pose(block, q, levels), q[block.q_slice])
            if mass and block.one_rule:
                block.map.frame_and_strain(level.strain, level.c)
            else:
                block.map.strain(level.strain, level.c)
                if mass:
                    block.map.frame(level.mass, level.c)
            if points and len(block.point_s):
                block.map.frame(level.points, level.c)
                block.carry_bodies(level)
            if block.inner_s:
                block.map.strain(level.inner, level.c)

    def local_variation(self, block: Block, x: Array) -> Array:
        """x (6 + nv,) of one rod from the global variation (n,), at the placed configuration."""
        local = np.zeros(len(block.x_index))
        local[block.moving] = x[block.moving_index]
        if block.parent is not None and not block.shared:
            local[:6] = self._mount_twist(block, self._parent_twist(block, x))
        return local

    def _parent_twist(self, block: Block, x: Array) -> Array:
        assert block.parent is not None
        parent = block.parent
        level = parent.level
        e = level.points.element[block.mount]
        local = self.local_variation(parent, x)
        elements = parent.map.elements
        xe = np.where(elements >= 0, local[np.maximum(elements, 0)], 0.0)
        y = np.zeros((len(elements), parent.map.m))
        parent.map.lift_velocity(level.c, xe, y)
        return np.asarray(parent.anchor(level, block.mount)[1] @ y[e])

    @staticmethod
    def _mount_twist(block: Block, twist: Array) -> Array:
        return np.asarray(se3.Ad(se3.inverse(block.rod.pose)) @ twist)

    @contextmanager
    def using(self, levels: list[Level]) -> Iterator[None]:
        """Let the blocks' own level be one of `levels` for a while."""
        own = [block.level for block in self.blocks]
        for block, level in zip(self.blocks, levels, strict=True):
            block.level = level
        try:
            yield
        finally:
            for block, level in zip(self.blocks, own, strict=True):
                block.level = level

    def moved(
        self, q: Array, x: Array, newton: bool = True, levels: list[Level] | None = None
    ) -> Array:
        """q moved by x (n or more,): along the Newton chart, or along the second-order chart.

        The configuration must be placed at q, in `levels` if given.
        """
        if newton and len(self.blocks) == 1 and self.blocks[0].pose_slice is None:
            block = self.blocks[0]
            c = (block.level if levels is None else levels[0]).c
            return block.map.advance(c, c.base, self.local_variation(block, x))
        if levels is not None:
            with self.using(levels):
                return self.moved(q, x, newton)
        local = [self.local_variation(block, x) for block in self.blocks]
        out = np.empty_like(q)
        bases: dict[str, Array] = {}
        for block, xb in zip(self.blocks, local, strict=True):
            base = block.level.c.base
            if block.pose_slice is not None:
                base = se3.orthonormal(base @ se3.exp(xb[:6]))
                out[block.pose_slice] = base.ravel()
            elif block.parent is not None and not newton:
                base = self._carried_base(block, bases[block.parent.rod.name], out)
            bases[block.rod.name] = base
            move = block.map.advance if newton else block.map.retract
            out[block.q_slice] = move(block.level.c, base, xb)
        return out

    @staticmethod
    def _carried_base(block: Block, parent_base: Array, q: Array) -> Array:
        """Base pose of a mounted rod when its carrier has base `parent_base` and coordinates in q."""
        parent = block.parent
        assert parent is not None
        c = parent.map.configuration()
        parent.map.update(c, parent_base, q[parent.q_slice])
        plan = parent.map.frames(np.array([parent.point_s[block.mount]]))
        parent.map.frame(plan, c)
        g = plan.g[0].copy()
        g[:3, 3] += g[:3, :3] @ parent.offset[block.mount]
        return np.asarray(g @ block.rod.pose)

    # -- measures ----------------------------------------------------------------------------

    @cached_property
    def gap_weights(self) -> tuple[Ints, Array]:
        """Unknowns that are stress modes or multipliers, and the weights that make their gaps plain
        numbers: mean strain for modes, fraction of the longest rod for constraints.
        """
        links = np.arange(self.n, self.n + self.m)
        length = max(b.rod.length for b in self.blocks)
        mixed = [b for b in self.blocks if b.modes is not None]
        modes = [np.repeat(1.0 / b.mode_weight, len(b.mode_rows)) for b in mixed]
        weights = np.concatenate([*modes, np.full(self.m, 1.0 / length)])
        return np.concatenate([self.mode_unknowns, links]), weights

    @cached_property
    def stiffness(self) -> float:
        """A force that is large for this robot: its largest section stiffness over its length, N."""
        return max(float(np.max(b.C)) / b.rod.length for b in self.blocks)

    # -- who carries whom --------------------------------------------------------------------

    @cached_property
    def has_mounts(self) -> bool:
        """True if any rod is carried by a frame that is not itself a coordinate."""
        return bool(self.mounted())

    def mounted(self) -> list[Block]:
        """Rods whose base is carried by a frame that is not itself a coordinate."""
        return [b for b in self.blocks if b.parent is not None and not b.shared]

    def frame_index(self, block: Block, station: int) -> Ints:
        """Unknowns that move a frame attached to a rod: those of its element, then, if that hangs
        on the base of a mounted rod, those that move the section that carries the base.
        """
        e = block.level.points.element[station]
        own = block.index[e]
        if not self._hangs_on_carrier(block, e):
            return own
        assert block.parent is not None
        return np.concatenate([own, self.frame_index(block.parent, block.mount)])

    def frame_jacobian(self, block: Block, station: int, levels: list[Level]) -> Array:
        """Twist (6, len(frame_index)) of an attached frame in the unknowns of `frame_index`."""
        level = levels[self.blocks.index(block)]
        own = block.anchor_jacobian(level, station)
        if not self._hangs_on_carrier(block, level.points.element[station]):
            return own
        assert block.parent is not None
        carried = self.frame_jacobian(block.parent, block.mount, levels)
        turn = se3.Ad(se3.inverse(block.rod.pose))
        return np.concatenate([own, own[:, :6] @ turn @ carried], axis=1)

    @staticmethod
    def _hangs_on_carrier(block: Block, element: int) -> bool:
        return block.parent is not None and not block.shared and element in block.base_elements

    def link_frames(self, link: Link) -> Ints:
        """Unknowns (n1 + n2,) that move the frames of a constraint."""
        sides = [side for side in (link.to, link.on) if side is not None]
        return np.concatenate([self.frame_index(*side) for side in sides])

    def mount_adjoint(self, block: Block) -> Array:
        """(6, 6): base twist of a mounted rod from the twist of the section that carries it."""
        assert block.parent is not None
        A = se3.Ad(se3.inverse(block.rod.pose))
        return np.asarray(A @ block.parent.offset_twist()[block.mount])
