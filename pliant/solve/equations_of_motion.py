"""The equations of motion of any robot, term by term:

    M(q) a + b(q, v) = f(q, v, u) + J(q)^T lambda,      J a + c(q, v) = 0.

Velocities v and accelerations a = v' have one entry for each unknown coordinate, then one for each
coordinate that an input prescribes. Force fields and compliant rows are not among them: they follow
from the strains and are part of f. Hard rows phi(q) = 0 are constraints with J = d phi; rows that only
push, phi <= 0, count as long as they touch, with multipliers lambda <= 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, solve_triangular
from scipy.sparse import bmat, csc_matrix
from scipy.sparse.linalg import splu

from pliant.engine.program import ask, run
from pliant.lie import se3
from pliant.linalg.matrices import Sparse
from pliant.model import DescriptionError, Frame
from pliant.physics.contract import RATES, Moment, Term
from pliant.physics.effects import Effects
from pliant.physics.inertia import add_inertia
from pliant.physics.met_strains import meet_moving
from pliant.rods.contract import Array, Plan
from pliant.solve.integrators.hard_rows import gap_accelerations
from pliant.solve.mass import Mass, fill_mass
from pliant.solve.modes import DENSE
from pliant.solve.response import set_twist_rows
from pliant.tree.backward import gather
from pliant.tree.collect import station_values
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work

_DEPENDENT = 1e-10
"""Part of the largest singular value of J M^(-1/2) below which rows depend on others."""
_ROUNDS = 50
"""How often rows that would pull are released."""
_STEP = 1e-5
"""Relative difference of an input. The effects that come with Pliant are linear in theirs."""


@dataclass
class Place:
    """A frame in motion: pose (4, 4), Jacobian (6, n), body twist and its rate (6,)."""

    pose: Array
    jacobian: Array
    twist: Array
    acceleration: Array


class EquationsOfMotion:
    """The terms of the equations at configurations q (nq,), which belong to one thread.

    numbers (n,) : of the velocities among all numbers of the tree, the first `free` of them unknown.
    rows (m,) : of the hard rows.
    """

    def __init__(self, effects: Effects) -> None:
        self.effects, self.tree = effects, effects.tree
        tree = effects.tree
        self.numbers = np.concatenate([tree.coordinates, tree.prescribed])
        self.free = len(tree.coordinates)
        none = np.zeros(0, dtype=np.int64)
        self.rows = np.concatenate([none, *(term.rows for term in effects.hard)])
        self.state, self.work, self._moved = State(tree), Work(tree), State(tree)
        self._tangent = Tangent(tree, Sparse, effects.pairs(), prescribed=True)
        self._soft = [term for term in effects.terms if term not in effects.hard]
        self._touching = np.ones(tree.total)
        self._plans: dict[Frame, tuple[int, Plan, Array]] = {}

    def spread(self, x: Array) -> Array:
        """A vector (n,) of velocities in the numbers of the tree (total,)."""
        out = np.zeros(self.tree.total)
        out[self.numbers] = x
        return out

    def moved(self, q: Array, x: Array) -> Array:
        """Coordinates (nq,) after a variation x (n,)."""
        self.tree.retract(self.state.place(q), self.spread(x), self._moved)
        return self._moved.q.copy()

    def names(self) -> list[str]:
        """Names (n,) of the velocities: ``crank.angle`` of joints, ``arm[3]`` of rods."""
        named: dict[int, str] = {}
        for part in self.tree.parts:
            for k, word in enumerate(part.joint.names):
                named[int(part.joint_index[k])] = f"{part.name}.{word}"
            for k, number in enumerate(part.x_index.tolist()):
                named[number] = f"{part.name}[{k}]"
        return [named[number] for number in self.numbers.tolist()]

    # -- terms ---------------------------------------------------------------------------------

    def mass(self, q: Array) -> csc_matrix:
        """M (n, n)."""
        self._tangent.clear()
        fill_mass(self.tree, self.state.place(q), self.work, self._tangent)
        return self._block(self.numbers)

    def _block(self, rows: Array) -> csc_matrix:
        """The rows of the matrix that was filled, in the columns of the velocities."""
        matrix = self._tangent.matrix
        assert isinstance(matrix, Sparse)
        return csc_matrix(matrix.matrix.tocsr()[rows][:, self.numbers])

    def inertia(self, q: Array, v: Array, a: Array) -> Array:
        """M a + b (n,)."""
        tree, state, work = self.tree, self.state.place(q), self.work
        set_rates(tree, state, work, self.spread(v), self.spread(a))
        work.clear(False)
        for part, w in zip(tree.parts, work.parts, strict=True):
            run(add_inertia, part.M, w.eta, w.acceleration, 0.0, 0.0, False, w.p, w.k)
            w.mass = True
        gather(tree, state, work, work.residual)
        return work.residual[self.numbers]

    def forces(self, q: Array, v: Array, u: Array) -> Array:
        """f (n,) of all that acts under the numbers u (J,) of the inputs."""
        return self._acting(self._soft, q, v, u)

    def _acting(self, terms: list[Term], q: Array, v: Array, u: Array) -> Array:
        """Forces (n,) of some terms; a joint with dry friction that is at rest has none."""
        tree, state, work, rates = self.tree, self.state.place(q), self.work, self.spread(v)
        set_rates(tree, state, work, rates)
        meet_moving(work, state, 0.0)
        z = np.zeros(tree.total)
        for row in self.effects.rows:
            if not row.hard:
                row.settle(state, work, z)
        work.clear(False)
        moment = Moment(tree, state, work, u, z, rates, mobility=RATES)
        for term in terms:
            ask(term.act, moment)
        gather(tree, state, work, work.residual)
        return -work.residual[self.numbers]

    def input_forces(
        self, q: Array, v: Array, u: Array, name: str, value: Array, unit: Array
    ) -> Array:
        """Derivative (n,) of the forces when an input changes along `unit`, shaped as its value."""
        terms = [term for term in self.effects.terms if term.input == name]
        h = _STEP * max(1.0, float(np.abs(value).max(initial=0.0)))
        ends = []
        for step in (h, -h):
            moved = u.copy()
            for term in terms:
                moved[term.at] = term.numbers(value + step * unit)
            ends.append(self._acting(terms, q, v, moved))
        return (ends[0] - ends[1]) / (2.0 * h)

    # -- constraints ---------------------------------------------------------------------------

    def gaps(self, q: Array) -> Array:
        """phi (m,) of all hard rows."""
        state = self.state.place(q)
        return np.concatenate([np.zeros(0), *(term.gaps(state) for term in self.effects.hard)])

    def jacobian(self, q: Array) -> csc_matrix:
        """J (m, n) of all hard rows, touching or not."""
        state = self.state.place(q)
        self._tangent.clear()
        for term in self.effects.hard:
            term.hold(state, self._tangent, self._touching)
        return self._block(self.rows)

    def constraint_bias(self, q: Array, v: Array) -> Array:
        """c (m,): second time derivative of the gaps at constant rates."""
        state, still = self.state.place(q), np.zeros(self.tree.total)
        found = gap_accelerations(self.effects, state, self.spread(v), still, self._touching)
        return found[self.rows]

    # -- accelerations -------------------------------------------------------------------------

    def accelerations(self, q: Array, v: Array, u: Array, known: Array) -> tuple[Array, Array]:
        """a (n,) and lambda (m,), for accelerations `known` (n - free,) of what is prescribed."""
        free, a = self.free, np.zeros(len(self.numbers))
        a[free:] = known
        right = (self.forces(q, v, u) - self.inertia(q, v, a))[:free]
        M = csc_matrix(self.mass(q)[:free, :free])
        if not len(self.rows):
            a[:free] = self._solved(M, csc_matrix((0, free)), right, np.zeros(0))[0]
            return a, np.zeros(0)
        J = self.jacobian(q)
        closing = -(self.constraint_bias(q, v) + J[:, free:] @ known)
        z = np.zeros(self.tree.total)
        state = self.state.place(q)
        for term in self.effects.one_sided:
            term.touch(state, self.spread(v), z)
        multipliers, pulled = np.zeros(len(self.rows)), np.ones(1, dtype=np.int64)
        for _ in range(_ROUNDS):
            held = np.concatenate([term.holding(z) for term in self.effects.hard]) > 0.0
            Jf = csc_matrix(J[np.flatnonzero(held)][:, :free])
            multipliers[:] = 0.0
            a[:free], multipliers[held] = self._solved(M, Jf, right, closing[held])
            found = np.zeros(self.tree.total)
            found[self.rows] = -multipliers
            pulled[0] = 0
            for term in self.effects.one_sided:
                term.release(found, z, pulled)
            if not pulled[0]:
                break
        return a, multipliers

    def driven_accelerations(self, q: Array, B: Array) -> Array:
        """Accelerations (n, k) under forces B (n, k) alone, with two-sided constraints."""
        free, out = self.free, np.zeros(B.shape)
        M = csc_matrix(self.mass(q)[:free, :free])
        held = [np.zeros(0), *(term.holding(None) for term in self.effects.hard)]
        J = csc_matrix(self.jacobian(q)[np.flatnonzero(np.concatenate(held))][:, :free])
        for k in range(B.shape[1]):
            out[:free, k] = self._solved(M, J, B[:free, k], np.zeros(J.shape[0]))[0]
        return out

    def _solved(
        self, M: csc_matrix, J: csc_matrix, forces: Array, closing: Array
    ) -> tuple[Array, Array]:
        """x, lambda with M x = forces + J^T lambda and J x = closing.

        Where rows depend on each other the smallest multipliers of a small robot are returned.
        """
        try:
            if M.shape[0] > DENSE:
                whole = bmat([[M, -J.T], [J, None]], format="csc") if J.shape[0] else M
                x = splu(whole).solve(np.concatenate([forces, closing]))
                return x[: len(forces)], x[len(forces) :]
            return _dense(M.toarray(), J.toarray(), forces, closing)
        except (LinAlgError, RuntimeError):
            raise Mass(self.effects).without_mass() from None

    # -- places --------------------------------------------------------------------------------

    def place(self, frame: Frame, q: Array, v: Array, a: Array) -> Place:
        """A frame at configuration q with rates v and accelerations a (n,)."""
        tree, state, work = self.tree, self.state.place(q), self.work
        if frame not in self._plans:
            i, s, inner = tree.place_of(frame)
            self._plans[frame] = (i, tree.parts[i].map.frames(np.array([s])), inner)
        i, plan, inner = self._plans[frame]
        rows = np.zeros((6, tree.total))
        set_twist_rows(tree, state, work, i, plan, rows)
        set_rates(tree, state, work, self.spread(v), self.spread(a))
        part, w = tree.parts[i], work.parts[i]
        twist, rate, bias = (np.zeros((1, 6)) for _ in range(3))
        where = (part.first_variable, plan.element, plan.J)
        run(station_values, *where, w.y, twist)
        run(station_values, *where, w.ydd, rate)
        ask(part.map.frame_bias, plan, state.parts[i].c, w.y, bias)
        inward = se3.Ad(se3.inverse(inner))
        turned = [inward @ x for x in (rows[:, self.numbers], twist[0], (rate + bias)[0])]
        return Place(plan.g[0] @ inner, *turned)


def _dense(M: Array, J: Array, forces: Array, closing: Array) -> tuple[Array, Array]:
    """x, lambda of a small robot, by the singular values of J M^(-1/2).

    M alone may be singular: hidden joints of connections have no mass. M + k J^T J, with forces
    + k J^T closing, has the same x and lambda.
    """
    if not len(J):
        return np.asarray(np.linalg.solve(M, forces)), np.zeros(0)
    unit = 1.0 / np.maximum(np.linalg.norm(J, axis=1), 1e-300)
    J, closing, k = unit[:, None] * J, unit * closing, float(np.diag(M).max(initial=0.0))
    L = cho_factor(0.5 * (M + M.T) + k * (J.T @ J), lower=True)[0]
    free = solve_triangular(L, forces + k * (J.T @ closing), lower=True)
    U, sizes, Vt = np.linalg.svd(solve_triangular(L, J.T, lower=True), full_matrices=False)
    kept = sizes > _DEPENDENT * sizes[0]
    U, sizes, Vt = U[:, kept], sizes[kept], Vt[kept]
    pushed = (Vt @ closing) / sizes - U.T @ free
    x = solve_triangular(L, free + U @ pushed, lower=True, trans="T")
    return x, unit * (Vt.T @ (pushed / sizes))


def require_determined(effects: Effects) -> None:
    """Refuse a robot whose forces are not functions of configuration, rates and inputs."""
    for term in effects.hard:
        if term.rubs:
            raise DescriptionError(
                term.label, "friction", True,
                "none in hard contact: it depends on multipliers, while equations of motion have "
                "forces f(q, v, u)",
                "give the contact a stiffness",
            )  # fmt: skip
