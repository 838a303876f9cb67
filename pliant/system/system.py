"""The whole robot as one system: coordinates, gradient of the potential, tangent, constraints.

Unknowns are z = (x, lambda): variations of the coordinates of all rods (n) and the multipliers of the
constraints (m). `q` (nq,) is the configuration, one slice for each rod.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.lie import se3
from pliant.model import Description, DescriptionError, Frame, did_you_mean
from pliant.physics import loads
from pliant.rods.contract import Array, Formulation, Ints
from pliant.system import constraints
from pliant.system.block import Block, Level
from pliant.system.linear import Matrix, make_matrix, scatter, scatter_vector
from pliant.system.loading import Loading


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
            block = Block(rod, _discretise(rod, formulations[rod.name]))
            self.blocks.append(block)
            self.by_name[rod.name] = block
        self._attach_mounts()
        self.load_points = {
            load.name: self.by_name[load.part].attach(load.on)
            for load in description.loads.values()
            if isinstance(load.on, Frame)
        }
        self.links = self._compile_links()
        self.m = sum(len(link.rows) for link in self.links)
        for block in self.blocks:
            block.close()
        self._number()
        self._matrices: dict[bool, tuple[Matrix, list[Ints], list[Ints], list[Ints]]] = {}
        self.q_rest = self._rest()
        self.place(self.q_rest)
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
            if block.rod.base is None:
                index[:6] = n + np.arange(6)
                n += 6
                block.pose_slice = slice(nq, nq + 16)
                nq += 16
            elif block.shared and block.parent is not None:
                at = block.parent.map.pose_coordinate(block.parent.point_s[block.mount])
                assert at is not None
                index[:6] = block.parent.x_index[at : at + 6]
            index[6:] = n + np.arange(block.map.nv)
            n += block.map.nv
            block.q_slice = slice(nq, nq + block.map.nq)
            nq += block.map.nq
            block.x_index = index
            local = block.map.elements
            block.index = np.where(local >= 0, index[np.maximum(local, 0)], -1)
        self.n, self.nq = n, nq

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

    def place(self, q: Array, levels: list[Level] | None = None, mass: bool = False) -> None:
        """Set all frames and strains to configuration q; frames of mass stations only if asked."""
        for i, block in enumerate(self.blocks):
            level = block.level if levels is None else levels[i]
            block.map.update(level.c, self.base_pose(block, q, levels), q[block.q_slice])
            block.map.strain(level.strain, level.c)
            if len(block.point_s):
                block.map.frame(level.points, level.c)
            if mass:
                block.map.frame(level.mass, level.c)

    def local_variation(self, block: Block, x: Array) -> Array:
        """x (6 + nv,) of one rod from the global variation (n,), at the placed configuration."""
        local = np.where(block.x_index >= 0, x[np.maximum(block.x_index, 0)], 0.0)
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

    def moved(self, q: Array, x: Array, newton: bool = True) -> Array:
        """q moved by x (n,): along the Newton chart, or the second-order chart of the integrators.

        The configuration must be placed at q.
        """
        local = [self.local_variation(block, x) for block in self.blocks]
        out = np.empty_like(q)
        for block, xb in zip(self.blocks, local, strict=True):
            if block.pose_slice is not None:
                base = q[block.pose_slice].reshape(4, 4) @ se3.exp(xb[:6])
                out[block.pose_slice] = base.ravel()
            else:
                base = block.level.c.base if newton else block.level.c.base @ se3.exp(xb[:6])
            move = block.map.advance if newton else block.map.retract
            out[block.q_slice] = move(block.level.c, base, xb)
        return out

    # -- loads -------------------------------------------------------------------------------

    def loading(self, inputs: Mapping[str, Any]) -> Loading:
        """Gravity and all loads for input values by name (those not named keep their default)."""
        known = self.description.inputs()
        for name in inputs:
            if name not in known:
                raise DescriptionError(
                    part="inputs",
                    field=name,
                    value=inputs[name],
                    expected="the name of a load of this robot",
                    remedy=did_you_mean(name, list(known)),
                )
        out = Loading(
            [np.zeros((len(b.point_s), 6)) for b in self.blocks],
            [np.zeros((len(b.point_s), 6)) for b in self.blocks],
            [np.zeros((len(b.mass_s), 6)) for b in self.blocks],
            [np.zeros((len(b.mass_s), 6)) for b in self.blocks],
        )
        gravity = np.asarray(self.description.gravity)
        for i, block in enumerate(self.blocks):
            out.line_dead[i][:, 3:] = block.line_mass[:, None] * gravity
        for load in self.description.loads.values():
            value = inputs.get(load.name, known[load.name])
            i = self.blocks.index(self.by_name[load.part])
            if isinstance(load.on, Frame):
                kind = out.point_dead if load.frame == "world" else out.point_follower
                kind[i][self.load_points[load.name]] += load.wrench(value)
            else:
                block = self.blocks[i]
                kind = out.line_dead if load.frame == "world" else out.line_follower
                kind[i] += load.density(block.mass_s, value) * block.mass_w[:, None]
        return out

    # -- statics -----------------------------------------------------------------------------

    def matrix(self, symmetric: bool) -> tuple[Matrix, list[Ints], list[Ints], list[Ints]]:
        """Tangent storage with the slots of rod elements, mount cross blocks and links."""
        if symmetric not in self._matrices:
            elements = [_pairs(b.index, b.index) for b in self.blocks]
            mounts = [_pairs(*self._mount_index(b)) for b in self._mounted()]
            mounts += [(c, r) for r, c in mounts]
            links = [_pairs(*self._link_index(link)) for link in self.links]
            links += [_pairs(self._link_frames(link)[None], self._link_frames(link)[None]) for link in self.links]
            pairs = elements + mounts + links + [(c, r) for r, c in links]
            matrix = make_matrix(self.n + self.m, pairs, self.m, symmetric)
            self._matrices[symmetric] = (
                matrix,
                [matrix.slots(*p) for p in elements],
                [matrix.slots(*p) for p in mounts],
                [matrix.slots(*p) for p in links + [(c, r) for r, c in links[: len(self.links)]]],
            )
        return self._matrices[symmetric]

    def _mounted(self) -> list[Block]:
        return [b for b in self.blocks if b.parent is not None and not b.shared]

    def _mount_index(self, block: Block) -> tuple[Ints, Ints]:
        """Coordinates of the parent's element (rows) and of the child's base elements (columns)."""
        assert block.parent is not None
        parent = block.parent
        e = parent.level.points.element[block.mount]
        columns = block.index[block.base_elements][:, 6:]
        return np.repeat(parent.index[e][None], len(columns), axis=0), columns

    def _link_frames(self, link: Link) -> Ints:
        parts = []
        for side in (link.to, link.on):
            if side is not None:
                block, station = side
                parts.append(block.index[block.level.points.element[station]])
        return np.concatenate(parts)

    def _link_index(self, link: Link) -> tuple[Ints, Ints]:
        rows = self.n + np.arange(link.at.start, link.at.stop)
        return rows[None], self._link_frames(link)[None]

    def evaluate(
        self, lam: Array, loading: Loading, tangent: bool, symmetric: bool = True
    ) -> Array:
        """Residual (n + m,) at the placed configuration: gradient of the potential, constraint gap.

        With `tangent` the matrix of `matrix(symmetric)` is filled in the chart of `moved`.
        """
        residual = np.zeros(self.n + self.m)
        filled = self.matrix(symmetric) if tangent else None
        if filled is not None:
            filled[0].data[...] = 0.0
        for block in self.blocks:
            block.point_p[...] = 0.0
            block.point_k[...] = 0.0
        excess: dict[str, Array] = {}
        self._add_links(residual, lam, filled)
        for i in range(len(self.blocks) - 1, -1, -1):
            self._evaluate_block(i, loading, residual, filled, excess)
        return residual

    def _evaluate_block(
        self, i: int, loading: Loading, residual: Array, filled: Any, excess: dict[str, Array]
    ) -> None:
        block = self.blocks[i]
        level = block.level
        tangent = filled is not None
        block.ry[...] = 0.0
        if tangent:
            block.Ky[...] = 0.0
        block.add_elastic(level, tangent)
        if len(block.point_s):
            block.add_point_loads(level, loading.point_dead[i], loading.point_follower[i])
            block.add_points(level, tangent)
        if np.any(loading.line_dead[i]) or np.any(loading.line_follower[i]):
            block.map.frame(level.mass, level.c)
            block.mass_p[...] = 0.0
            block.mass_k[...] = 0.0
            loads.add_dead(level.mass.g, loading.line_dead[i], block.mass_p, block.mass_k)
            loads.add_follower(loading.line_follower[i], block.mass_p, block.mass_k)
            block.add_mass_stations(level, tangent)
        block.map.lift_vector(level.c, block.ry, block.r)
        scatter_vector(block.index, block.r, residual)
        base = block.r[block.base_elements, :6].sum(axis=0)
        if block.parent is not None and not block.shared:
            A = self._mount_adjoint(block)
            block.parent.point_p[block.mount] += A.T @ base
        if tangent:
            self._fill_block(i, residual, base, filled, excess)

    def _fill_block(
        self, i: int, residual: Array, base: Array, filled: Any, excess: dict[str, Array]
    ) -> None:
        block = self.blocks[i]
        level = block.level
        balance = np.empty(6 + block.map.nv)
        balance[:6] = base
        balance[6:] = residual[block.x_index[6:]]
        extra = np.zeros_like(block.point_p)
        for child in block.children:
            more = excess[child.rod.name]
            if child.shared:
                at = block.map.pose_coordinate(block.point_s[child.mount])
                assert at is not None
                balance[at : at + 6] += more
            else:
                extra[child.mount] += self._mount_adjoint(child).T @ more
        if np.any(extra):
            block.map.frame_second(level.points, level.c, extra, block.Ky)
        block.map.lift_matrix(level.c, level.c, block.Ky, block.K)
        passed = block.map.lift_second(level.c, block.ry, balance, block.K)
        excess[block.rod.name] = np.zeros(6) if passed is None else passed - base
        matrix, elements, mounts, _ = filled
        scatter(elements[i], block.K, matrix.data)
        if block.parent is not None and not block.shared:
            self._fill_mount(block, matrix, mounts)

    def _mount_adjoint(self, block: Block) -> Array:
        """(6, 6): base twist of a mounted rod from the twist of the section that carries it."""
        assert block.parent is not None
        A = se3.Ad(se3.inverse(block.rod.pose))
        offset = block.parent.offset_twist()[block.mount]
        return np.asarray(A @ offset)

    def _fill_mount(self, block: Block, matrix: Matrix, mounts: list[Ints]) -> None:
        assert block.parent is not None
        parent = block.parent
        K = block.K[block.base_elements]
        A = self._mount_adjoint(block)
        parent.point_k[block.mount] += A.T @ K[:, :6, :6].sum(axis=0) @ A
        _, J = parent.anchor_jacobian(parent.level, block.mount)
        twist = se3.Ad(se3.inverse(block.rod.pose)) @ J
        k = self._mounted().index(block)
        down = np.ascontiguousarray(np.einsum("ia,eib->eab", twist, K[:, :6, 6:]))
        up = np.ascontiguousarray(np.einsum("eai,ib->eab", K[:, 6:, :6], twist))
        scatter(mounts[k], down, matrix.data)
        scatter(mounts[k + len(self._mounted())], up, matrix.data)

    def _add_links(self, residual: Array, lam: Array, filled: Any) -> None:
        """Constraint gaps, their multipliers as forces on the points, and their tangent blocks."""
        for k, link in enumerate(self.links):
            block, station = link.on
            g2 = block.anchor(block.level, station)[0]
            g1 = link.pose if link.to is None else link.to[0].anchor(link.to[0].level, link.to[1])[0]
            assert g1 is not None
            force = np.zeros(6)
            force[link.rows] = lam[link.at]
            residual[self.n + link.at.start : self.n + link.at.stop] = constraints.residual(g1, g2)[
                link.rows
            ]
            A1, A2 = constraints.jacobian(g1, g2)
            sides = [(link.on, A2)] if link.to is None else [(link.to, A1), (link.on, A2)]
            for (side, at), A in sides:
                side.point_p[at] += side.offset_twist()[at].T @ (A.T @ force)
            if filled is None:
                continue
            H = constraints.second(g1, g2, force)
            H = H[6:, 6:] if link.to is None else H
            J = [side.anchor_jacobian(side.level, at)[1] for (side, at), _ in sides]
            rows = np.concatenate([A @ j for (_, A), j in zip(sides, J, strict=True)], axis=1)
            stack = np.zeros((6 * len(J), sum(j.shape[1] for j in J)))
            col = 0
            for a, j in enumerate(J):
                stack[6 * a : 6 * a + 6, col : col + j.shape[1]] = j
                col += j.shape[1]
            matrix, _, _, slots = filled
            A_held = np.ascontiguousarray(rows[link.rows][None])
            count = len(self.links)
            scatter(slots[k], A_held, matrix.data)
            scatter(slots[count + k], np.ascontiguousarray((stack.T @ H @ stack)[None]), matrix.data)
            scatter(slots[2 * count + k], np.ascontiguousarray(A_held.transpose(0, 2, 1)), matrix.data)


def _discretise(rod: Any, formulation: Formulation) -> Any:
    theories = formulation.capabilities.theories
    if rod.theory not in theories:
        raise DescriptionError(
            part=f"rod {rod.name!r}",
            field="theory",
            value=rod.theory,
            expected=f"{' or '.join(theories)} with {type(formulation).__name__}",
            remedy="choose a formulation that can carry it, such as Strain",
        )
    return formulation.discretise(rod)


def _pairs(rows: Ints, cols: Ints) -> tuple[Ints, Ints]:
    """Row and column numbers (E, a, b) of element blocks with indices rows (E, a), cols (E, b)."""
    shape = (len(rows), rows.shape[1], cols.shape[1])
    return (
        np.broadcast_to(rows[:, :, None], shape).copy(),
        np.broadcast_to(cols[:, None, :], shape).copy(),
    )
