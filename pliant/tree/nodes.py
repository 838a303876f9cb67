"""The robot as rigid nodes: where all inertia is lumped, and what acts on each of them.

For explicit integrators. A node is a rigid body with mass, centre of mass and inertia; rods between
nodes are massless springs. What a node carries without a joint, bodies and the first nodes of other
rods, belongs to it. Nothing here is differentiated: strains act back on the nodes at once.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, copy
from pliant.engine.program import ask, run
from pliant.joints.fixed import Fixed
from pliant.joints.free import Free
from pliant.lie.quaternion_leaves import quaternion_from_matrix
from pliant.lie.tuples import read_block
from pliant.model import DescriptionError
from pliant.rods.contract import Array, Ints
from pliant.rods.lumped_kernels import set_quaternions
from pliant.tree import collect, joint_kernels
from pliant.tree.part import Part
from pliant.tree.state import PartState, State
from pliant.tree.tree import Tree
from pliant.tree.work import PartWork, Work

_STILL = np.zeros(6)


class PartNodes:
    """Nodes of one part, see `LumpedNodes`: those of a state, which follows them.

    moving (N,) : 1 for nodes that move by themselves, 0 for a base that is held, carried or guided.
    framed : whether frames are wanted, so that nodes are also set one by one.
    guided : whether inputs prescribe all that its joint can do.
    """

    def __init__(self, part: Part, at: PartState, framed: bool, guided: bool) -> None:
        nodes = part.map.lumped(at.c)
        held = guided or isinstance(part.joint, (Fixed, Free))
        if nodes is None or not held or part.rigid:
            raise _not_lumped(part)
        self.part, self.at, self.nodes = part, at, nodes
        self.poses, self.guided = nodes.poses, guided
        free = not guided and isinstance(part.joint, Free)
        self.carried = part.parent >= 0 and not (free or guided)
        points = bool(part.stations.size or part.inner_s or part.children)
        self.framed = framed or points or self.carried
        N = len(self.poses)
        self.torque, self.force = np.zeros((N, 3)), np.zeros((N, 3))
        """What acts at frames, node by node."""
        self.moving = np.ones(N, dtype=np.int64)
        self.moving[0] = free
        self.numbers = np.full((N, 6), -1, dtype=np.int64)
        """Numbers of the twists of the nodes that move."""
        self.numbers[1:] = part.x_index.reshape(-1, 6)
        if self.moving[0]:
            self.numbers[0] = part.joint_index
        inert = [self.node_at(s) for s in part.frames_s[: part.inertial].tolist()]
        self.of_inertia = np.array(inert, dtype=np.int64)
        """Nodes of the stations where inertia acts."""
        self.of_mass = self.of_inertia[: len(part.mass_s)].copy()
        self.of_entries = (part.map.elements // 6)[:, ::6].copy()
        """(E, k + 1): nodes of the elements."""
        self.twist = np.zeros(6)
        """Of a base that is carried or guided, as `Nodes.set_rates` has it."""

    @property
    def columns(self) -> Ints:
        """(N,): where the nodes stand."""
        return self.nodes.columns

    def node_at(self, s: float) -> int:
        """The node at an arclength where inertia acts."""
        first = self.part.map.pose_coordinate(s)
        if first is None:
            raise _between_nodes(self.part, s)
        return first // 6

    def inertia(self) -> Array:
        """Inertia (N, 6, 6) of what the nodes of the part carry, about the nodes, in their axes."""
        part, Q = self.part, len(self.part.mass_s)
        A = part.point_A[: part.inertial - Q]
        carried = part.M[:, :, None] * np.eye(6)
        carried[Q:] = A.transpose(0, 2, 1) @ carried[Q:] @ A
        found = np.zeros((len(self.poses), 6, 6))
        np.add.at(found, self.of_inertia, carried)
        return found


def _not_lumped(part: Part) -> DescriptionError:
    kind = "rod" if part.rod is not None else "body"
    joined = part.map.lumped(part.map.configuration()) is not None and not part.rigid
    given = part.joint if joined else type(part.map).__name__.removesuffix("Map")
    return DescriptionError(
        f"{kind} {part.name!r}",
        "joint" if joined else "formulation",
        given,
        "a clamp, Free(), or a joint of which inputs prescribe every coordinate"
        if joined
        else "one with lumped inertia and strains that are not held",
        "use Midpoint()" if joined else 'give formulation=Spectral() and theory="cosserat"',
    )


def _guided_on_moving(part: Part) -> DescriptionError:
    return DescriptionError(
        part.source.label,
        "joint",
        part.joint,
        "to hang on the world, or on a part that only moves as inputs tell",
        "use Midpoint()",
    )


def _between_nodes(part: Part, s: float) -> DescriptionError:
    return DescriptionError(
        f"rod {part.name!r}",
        "breaks",
        part.rod.breaks if part.rod else (),
        f"a node at s = {s:.6g} m, where the rod carries inertia",
        f"give breaks=({s:.6g},), or use Midpoint()",
    )


class Nodes:
    """All nodes of a robot at one state, which they move.

    framed : whether anything acts at frames of the mass rule.
    """

    def __init__(self, tree: Tree, state: State, work: Work, framed: bool) -> None:
        self.tree, self.state, self.work = tree, state, work
        self.parts: list[PartNodes] = []
        for i, (part, at) in enumerate(zip(tree.parts, state.parts, strict=True)):
            driver = tree.drivers.get(i)
            guided = driver is not None and len(driver.velocities) == part.joint.nv
            if guided and not self._holds(part.parent, part.mount):
                raise _guided_on_moving(part)
            self.parts.append(PartNodes(part, at, framed, guided))
        self.inertia = self._inertia()

    def _holds(self, i: int, station: int) -> bool:
        """Whether a frame station of part i, -1 for the world, only moves as inputs tell."""
        if i < 0:
            return True
        own = self.parts[i]
        if own.node_at(float(own.part.frames_s[station])) or own.moving[0]:
            return False
        return not own.carried or self._holds(own.part.parent, own.part.mount)

    def _inertia(self) -> list[Array]:
        """Per part, inertia (N, 6, 6) of the nodes with all that they carry."""
        found = [nodes.inertia() for nodes in self.parts]
        for i in range(len(self.parts) - 1, -1, -1):
            part = self.tree.parts[i]
            if not self.parts[i].carried:
                continue
            carrier = self.parts[part.parent]
            Q = len(carrier.part.mass_s)
            A = self.tree.rest.parts[i].inward
            if part.mount >= Q:
                A = A @ carrier.part.point_A[part.mount - Q]
            at = carrier.node_at(float(carrier.part.frames_s[part.mount]))
            found[part.parent][at] += A.T @ found[i][0] @ A
        return found

    def refill(self) -> None:
        """Take over the inertia of the parts, which was given anew."""
        self.inertia = self._inertia()

    def renew(self) -> None:
        """Set the columns of the nodes from the poses."""
        for own in self.parts:
            run(set_quaternions, own.poses, own.nodes.quaternions)
            own.nodes.read()

    def place_bases(self) -> None:
        """Set first nodes that other parts carry, and the frames that are wanted, from the nodes."""
        for own in self.parts:
            nodes = own.nodes
            if own.carried or own.guided:
                own.at.place_base()
                run(set_first, nodes.columns[:1], own.at.base, nodes.X, nodes.Q)
            if own.framed:
                self._place_frames(own)

    def tell_strains(self, moving: bool) -> None:
        """Set strains of the state from the nodes; moving : and their rates."""
        for own, w in zip(self.parts, self.work.parts, strict=True):
            own.nodes.tell_strain(own.at.strain.e)
            if moving:
                own.nodes.tell_strain_rate(w.rate)

    def _place_frames(self, own: PartNodes) -> None:
        """Set the nodes one by one, and the frames of all stations."""
        part, at = own.part, own.at
        own.nodes.write()
        if len(own.of_mass):
            run(take_poses, own.poses, own.of_mass, at.g)
        if part.inner_s:
            ask(part.map.strain, at.inner, at.c)
        if len(part.stations):
            points, moved = at.points, (at.point_g, at.point_J)
            ask(part.map.frame, points, at.c)
            run(collect.carry, points.g, points.J, part.point_X, part.point_A, *moved)

    def clear(self) -> None:
        """Begin anew with what acts."""
        clear(self.work.residual)
        for w in self.work.parts:
            w.clear(False)

    def set_rates(self, v: Array) -> None:
        """Set twists of all stations that are wanted, and of first nodes that are carried or guided, at
        rates v (total,).
        """
        for i, own in enumerate(self.parts):
            part, at, nodes, w = own.part, own.at, own.nodes, self.work.parts[i]
            if own.carried or own.guided:
                eta = self.work.parts[part.parent].eta[part.mount] if part.parent >= 0 else _STILL
                joint = (at.S, v, part.joint_index)
                run(joint_kernels.base_twist, at.inward, eta, *joint, own.twist)
                given = (nodes.columns[:1], own.twist, at.base)
                run(set_first_rates, *given, nodes.spin, nodes.velocity)
            if not own.framed:
                continue
            moving = (own.poses, nodes.columns, nodes.spin, nodes.velocity)
            if len(own.of_mass):
                run(take_twists, *moving, own.of_mass, w.eta)
            if len(part.stations):
                Q = len(part.mass_s)
                run(element_twists, *moving, own.of_entries, w.y)
                run(collect.station_values, 0, at.element[Q:], at.J[Q:], w.y, w.eta[Q:])

    def gather(self, i: int) -> None:
        """Add to torques and forces of the nodes of part i what acts at its frames; then hand over
        those on a first node that another part carries. Parts that it carries come before.
        """
        own, w = self.parts[i], self.work.parts[i]
        part, at, nodes = own.part, own.at, own.nodes
        if own.framed:
            self._collect(own, w)
        if own.carried:
            given = (nodes.columns[:1], own.poses, nodes.torque, nodes.force)
            run(first_wrench, *given, w.base)
            mounted = self.work.parts[part.parent].p[part.mount]
            run(joint_kernels.add_carried_wrench, at.inward, w.base, mounted)

    def _collect(self, own: PartNodes, w: PartWork) -> None:
        """Add what acts at frames and inner stations."""
        part, at, Q = own.part, own.at, len(own.part.mass_s)
        out = (own.torque, own.force)
        for array in out:
            clear(array)
        if Q and (w.mass or part.children):
            run(add_wrenches, own.poses, own.of_mass, w.p, *out)
        if len(part.stations):
            run(collect.add_vector, at.element[Q:], at.J[Q:], w.p[Q:], w.ry)
        if len(w.inner):
            run(collect.add_vector, at.inner.element, at.inner.B, w.inner, w.ry)
        if len(part.stations) or len(w.inner):
            run(add_elements, own.poses, own.of_entries, w.ry, *out)
        own.nodes.add(*out)

    def set_coordinates(self, q: Array) -> None:
        """Write the coordinates q (nq,) of the robot."""
        for own in self.parts:
            part, at = own.part, own.at
            if not own.framed:
                own.nodes.write()
            if own.moving[0]:
                relative = (at.carrier, part.pose, own.poses[0])
                run(free_coordinates, *relative, q[part.joint_slice])
            elif own.guided:
                copy(at.joint_q, q[part.joint_slice])
            ask(part.map.set_coordinates, at.c, q[part.q_slice])


@kernel
def set_first(columns, base, X, Q):  # type: ignore[no-untyped-def]
    """Let the node in columns_0 be at base (4, 4), its quaternion on the side of the one it had."""
    q, c, side = quaternion_from_matrix(read_block(base)), columns[0], 1.0
    if q[0] * Q[0, c] + q[1] * Q[1, c] + q[2] * Q[2, c] + q[3] * Q[3, c] < 0.0:
        side = -1.0
    for a in range(4):
        Q[a, c] = side * q[a]
    for a in range(3):
        X[a, c] = base[a, 3]


@kernel
def take_poses(poses, at, g):  # type: ignore[no-untyped-def]
    """g_s = poses[at_s] (4, 4) of the first stations, at (S,)."""
    for s in range(at.shape[0]):
        for a in range(3):
            for b in range(4):
                g[s, a, b] = poses[at[s], a, b]


@kernel
def take_twists(poses, columns, spin, V, at, eta):  # type: ignore[no-untyped-def]
    """eta_s (6,) : body twist of the node at_s, for the first stations, at (S,)."""
    for s in range(at.shape[0]):
        R, c = poses[at[s]], columns[at[s]]
        for a in range(3):
            eta[s, a] = spin[a, c]
            eta[s, 3 + a] = R[0, a] * V[0, c] + R[1, a] * V[1, c] + R[2, a] * V[2, c]


@kernel
def element_twists(poses, columns, spin, V, of, y):  # type: ignore[no-untyped-def]
    """y (E, m) : body twists of the nodes of each element, of (E, k + 1)."""
    for e in range(of.shape[0]):
        for i in range(of.shape[1]):
            R, c = poses[of[e, i]], columns[of[e, i]]
            for a in range(3):
                y[e, 6 * i + a] = spin[a, c]
                y[e, 6 * i + 3 + a] = R[0, a] * V[0, c] + R[1, a] * V[1, c] + R[2, a] * V[2, c]


@kernel
def set_first_rates(columns, twist, R, spin, velocity):  # type: ignore[no-untyped-def]
    """Spin and velocity (3, C) of the node in columns_0 from its body twist (6,) and pose R (4, 4)."""
    c = columns[0]
    for a in range(3):
        spin[a, c] = twist[a]
        velocity[a, c] = R[a, 0] * twist[3] + R[a, 1] * twist[4] + R[a, 2] * twist[5]


@kernel
def add_wrenches(poses, at, p, torque, force):  # type: ignore[no-untyped-def]
    """Add body wrenches p (S, 6) of the first stations to their nodes at (S,)."""
    for s in range(at.shape[0]):
        R, T, F = poses[at[s]], torque[at[s]], force[at[s]]
        for a in range(3):
            T[a] += p[s, a]
            F[a] += R[a, 0] * p[s, 3] + R[a, 1] * p[s, 4] + R[a, 2] * p[s, 5]


@kernel
def add_elements(poses, of, ry, torque, force):  # type: ignore[no-untyped-def]
    """Add covectors ry (E, m) of the body twists of nodes of (E, k + 1)."""
    for e in range(of.shape[0]):
        for i in range(of.shape[1]):
            R, T, F, r = poses[of[e, i]], torque[of[e, i]], force[of[e, i]], ry[e]
            for a in range(3):
                T[a] += r[6 * i + a]
                F[a] += R[a, 0] * r[6 * i + 3] + R[a, 1] * r[6 * i + 4] + R[a, 2] * r[6 * i + 5]


@kernel
def first_wrench(columns, poses, torque, force, base):  # type: ignore[no-untyped-def]
    """base (6,) : torque and force (3, C) on the node in columns_0 as a wrench in its axes."""
    R, c = poses[0], columns[0]
    for a in range(3):
        base[a] = torque[a, c]
        base[3 + a] = R[0, a] * force[0, c] + R[1, a] * force[1, c] + R[2, a] * force[2, c]


@kernel
def free_coordinates(carrier, X, pose, q):  # type: ignore[no-untyped-def]
    """q (16,) = (carrier X)^-1 pose, all (4, 4)."""
    out = q.reshape((4, 4))
    for i in range(3):
        for j in range(4):
            v = 0.0
            for a in range(3):
                # column i of carrier X, less its origin from the position
                c, o = 0.0, carrier[a, 3]
                for b in range(3):
                    c += carrier[a, b] * X[b, i]
                    o += carrier[a, b] * X[b, 3]
                v += c * (pose[a, j] - (o if j == 3 else 0.0))
            out[i, j] = v
    for j in range(4):
        out[3, j] = 1.0 if j == 3 else 0.0
