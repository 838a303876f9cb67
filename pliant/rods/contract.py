"""The contract of a formulation: a map from a rod's coordinates to frames and strains.

A *formulation* is a small settings object. `discretise(rod)` turns it into a *rod map*, the only
thing the rest of Pliant knows of it. A rod map sees its base pose as an argument, never as a
coordinate: whether the base is clamped, free, or carried by another part is the system's business.

Coordinates and variables
-------------------------
* `q` (nq,) are the rod's own coordinates; `x` (6 + nv,) is a variation: the body twist of the base
  (6) followed by the variation of the own coordinates (nv).
* The rod is cut into *elements*. `elements` (E, n) lists the entries of `x` an element depends on.
* Frames and strains are differentiated in an element's own *variables* `y` (m). Where y = x (the
  default) nothing more is needed; a formulation for which other variables are cheaper (increments
  between control poses) overrides `lift_*`, which carry vectors and matrices from y to x. The first
  six of y are always the twist of a pose, the one of the first six entries of the element.

A minimal formulation writes `rest`, `frame`, `strain`, `mass_rule` and `strain_rule`; all else has a
default, with second derivatives by differences.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from pliant.engine.arrays import clear, combine, copy
from pliant.lie.tuples import Array, Ints
from pliant.model import DescriptionError, Rod, refuse
from pliant.model.fields import check_fields
from pliant.rods.actuation import Actuation, OnStrains

if TYPE_CHECKING:
    from pliant.rods.lumped_nodes import LumpedNodes


NO_TWISTS: Ints = np.zeros((0, 6), dtype=np.int64)
NO_TURNS: Ints = np.zeros((0, 3), dtype=np.int64)
EFFECTS = ("drag", "mass_damping", "bodies", "base_motions")
"""What a description may ask of a rod beyond elasticity, weight and loads."""


@dataclass
class Capabilities:
    """What a formulation declares about itself; messages, test matrix and docs are made from it."""

    theories: tuple[str, ...] = ("cosserat",)
    strain_rows: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    frame_rows: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    planar: bool = False
    effects: tuple[str, ...] = EFFECTS
    """Which of EFFECTS it carries; a rod that needs another one is refused by name."""
    massless_rotation: bool = False
    rotary: bool = True
    """Whether sections can move without rotary inertia, and whether they keep it where a rod has it."""


_IDENTITY = np.eye(4)


def identities(count: int) -> Array:
    """Identity poses (count, 4, 4)."""
    found = np.empty((count, 4, 4))
    found[:] = _IDENTITY
    return found


class Plan:
    """Stations at which frames or strains are wanted, with room for the answers.

    s (S,) arclengths, m; element (S,) the element of each station. `g` (S, 4, 4) world poses and
    `J` (S, 6, m) for frames; `e` (S, 6) and `B` (S, 6, m) for strains. Formulations subclass it to
    keep what they need at each station.
    """

    grounded = False
    """Whether the base never moves, so that nobody asks for derivatives in its twist."""

    def __init__(self, s: Array, element: Ints, m: int) -> None:
        self.s = np.ascontiguousarray(s, dtype=float)
        self.element = np.ascontiguousarray(element, dtype=np.int64)
        count = len(self.s)
        self.g = identities(count)
        self.J = np.zeros((count, 6, m))
        self.e = np.zeros((count, 6))
        self.B = np.zeros((count, 6, m))


@dataclass
class ForceBasis:
    """Internal forces carried as unknowns of their own, for rows that would otherwise lock.

    The shear and stretch forces of a rod are n(s) = sum_i N_i(s) a_i with few functions N_i. They
    stand beside the coordinates as unknowns a (count, R), and strains v are matched to n / C in the
    mean against every N_i (Hellinger-Reissner), not point by point. Rows that cannot strain
    (`rigid`) are matched to no strain at all, whatever the force.

    values : (S, p) functions alive at each station of the strain rule.
    index : (E, p) their numbers in each element.
    before : (count,) entry of x in front of which field i is numbered, to keep matrices narrow.
    held : strains that are orthogonal to all N_i meet a stiffness of their own, `held` times the
        bending stiffness over the square of the rod's length; needed where the map makes them
        large, for else they cost nothing.
    """

    values: Array
    index: Ints
    count: int
    before: Ints
    rows: tuple[int, ...] = (3, 4, 5)
    """Strain rows (R) whose stress the fields carry, among 3 to 5."""
    rigid: bool = False
    held: float = 0.0


class Configuration:
    """One configuration of a rod: base pose (4, 4), coordinates q, and what a map derives from them."""

    def __init__(self, nq: int) -> None:
        self.base: Array = np.eye(4)
        self.q: Array = np.zeros(nq)


class SymbolicRod(ABC):
    """A rod as formulas. Rotations are (3, 3), positions (3, 1), both in the world."""

    @abstractmethod
    def frame(self, s: float) -> tuple[Any, Any]:
        """Rotation and position of the section at arclength s, m."""

    @abstractmethod
    def strain(self, s: float) -> Any:
        """The strain (6, 1) = (u, v) at arclength s, m."""

    def rates(self, v: Any) -> Any:
        """Rates of its coordinates at velocities v (nv, 1); v where they move by addition."""
        return v


OwnConfiguration = Any
"""The `Configuration` of the map: methods are given those that its `configuration` made."""
OwnPlan = Any
"""The `Plan` of the map: methods are given those that its `frames`, `strains` or `centres` made."""


class RodMap(ABC):
    """The compiled map of one rod. See the module docstring for coordinates and shapes."""

    compiled: ClassVar[bool] = False
    """Whether its methods only call kernels, see `engine.program`; said by each class for itself."""
    nq: int
    nv: int
    m: int
    """Number of element variables y."""
    shares_plans: ClassVar[bool] = False
    """True if one plan may serve frames and strains at once (see `frame_and_strain`)."""
    fuses: ClassVar[bool] = False
    """Whether `frame_tangent` makes at once what loads at sections add to a tangent."""
    bent: int = 6
    """How many of the first variables of an element the chart of `advance` bends: at least the six of a
    pose; all where coordinates themselves move along curves."""
    base_variables: int = 0
    """How many of the first element variables y are the twist of the base."""
    normal: int = -1
    """Axis of its sections that is normal to the plane in which they move, -1 if they move in space."""
    shortest_turn: bool = False
    """Whether sections turn from the tangent of the base to theirs by the shortest turn, so that a
    torque about a tangent passes to the base."""
    elements: Ints
    """(E, n): entries of x of each element, 0..5 the base twist, 6.. own coordinates; -1 unused."""
    estimates: ClassVar[bool] = True
    """Whether internal wrenches tell what its strains should be, so that errors can be estimated."""
    inputs: Sequence[str] = ()
    """Inputs that prescribe coordinates of the map, one each: the last ones of q."""
    prescribed: Ints = np.zeros(0, dtype=np.int64)
    """Own coordinates (K,) in x that these inputs prescribe, counted without the base."""

    refills: ClassVar[bool] = False
    """Whether nothing in it depends on stiffness, damping and inertia, see `refill`; said by each class
    for itself."""

    def __init__(self, rod: Rod, nv: int, nq: int | None = None) -> None:
        self.rod = rod
        self.nv = nv
        self.nq = nv if nq is None else nq
        self.m = 6 + nv
        self.base_variables = 6
        self.elements = np.arange(6 + nv, dtype=np.int64)[None, :]
        self.breaks: Array = np.array([0.0, rod.length])
        """Arclengths (N + 1,) between which strains and their derivatives are smooth, m."""
        self.actuation: Actuation = OnStrains(self)
        """How chambers act on the element variables."""

    def refill(self, rod: Rod) -> bool:
        """Be the map of a rod that differs from its own in plain numbers of section and material only;
        False if it cannot.
        """
        self.rod = rod
        return bool(vars(type(self)).get("refills", False))

    # -- configuration -----------------------------------------------------------------------

    @abstractmethod
    def rest(self) -> Array:
        """Coordinates (nq,) of the stress-free rod, natural curvature included."""

    def configuration(self) -> Configuration:
        """Room for one configuration."""
        return Configuration(self.nq)

    def update(self, c: OwnConfiguration, base: Array, q: Array) -> None:
        """Set configuration `c` to base pose (4, 4) and coordinates q (nq,)."""
        c.base[...] = base
        c.q[...] = q

    def retract(self, c: OwnConfiguration, base: Array, x: Array) -> Array:
        """Coordinates after moving by x (6 + nv,) along the second-order chart; base already moved."""
        return c.q + x[6:]

    def advance(self, c: OwnConfiguration, base: Array, x: Array) -> Array:
        """Coordinates after a Newton step x: any chart that agrees with `retract` to first order."""
        return self.retract(c, base, x)

    def pose_coordinate(self, s: float) -> int | None:
        """Index in x of six entries that are the body twist of the frame at s, if there are such."""
        return 0 if s == 0.0 else None

    def set_mean_force(  # noqa: B027
        self,
        c: OwnConfiguration,
        other: OwnConfiguration,
        index: Ints,
        r: Array,
        far: Array,
        out: Array,
    ) -> None:
        """Write to out[index] the mean of forces on the own coordinates: r[index] (nv,) at `c` and
        far[index] at another configuration, as it acts at `c`.

        out has (r + far) / 2, which is right where coordinates are numbers. Where they are poses, whose
        variations are body twists, forces are averaged in the world, see `lie.mean_forces`.
        """

    def retract_to(self, c: OwnConfiguration, base: Array, x: Array, out: Array) -> None:
        """Write `retract` to out (nq,)."""
        out[...] = self.retract(c, base, x)

    def advance_to(self, c: OwnConfiguration, base: Array, x: Array, out: Array) -> None:
        """Write `advance` to out (nq,)."""
        out[...] = self.advance(c, base, x)

    def chart_entries(self) -> tuple[Ints, Ints] | None:
        """Own entries of x that `retract` moves along exp: twists (P, 6) and rotation vectors (R, 3).
        Of twists in a plane, three are -1.

        All others move by addition. None if `retract` is another chart; integrators that need to know
        the chart then refuse the map.
        """
        return (NO_TWISTS, NO_TURNS) if type(self).retract is RodMap.retract else None

    def trouble(self, c: OwnConfiguration) -> str:
        """A sentence if the map is near its limits at `c`, else ""; asked after a solve only."""
        return ""

    # -- where things are collected ----------------------------------------------------------

    @abstractmethod
    def mass_rule(self) -> tuple[Array, Array]:
        """Stations s (S,) and weights w (S,) for inertia, gravity and distributed loads."""

    @abstractmethod
    def strain_rule(self) -> tuple[Array, Array]:
        """Stations s (S,) and weights w (S, 6), one for each strain row, for elasticity, damping."""

    def section_rule(self) -> tuple[Array, Array] | None:
        """Stations s (S,) and weights w (S,) at which errors are estimated, None for those above.

        Needed where strains at the stations of the strain rule are far better than elsewhere, and
        those of the mass rule are at breaks, where strains are worst.
        """
        return None

    def rigid_pieces(self, s: Array) -> tuple[Array, Array]:
        """What stations s (S,) of the mass rule stand for: places (S,) whose section they have, m, and
        lengths (S,) of rigid links with their middles there, m; sections alone by default.
        """
        return s, np.zeros(len(s))

    def inertia(self, s: Array) -> Array:
        """Diagonal inertia per length (S, 6) at s that this map moves with, body frame.

        A link resists turning across its axis with its own length as well: m l^2 / 12.
        """
        places, lengths = self.rigid_pieces(s)
        inertia = np.array(self.rod.inertia(places), dtype=float)
        inertia[:, :2] += (inertia[:, 3] * lengths**2 / 12.0)[:, None]
        return inertia

    def elastic_share(self, s: Array) -> Array | None:
        """Share (S, 6) of the stiffness at s that linear elasticity has; None for all of it.

        The rest is that of effects, such as tubes that bend in frames of their own.
        """
        return None

    def force_basis(self) -> ForceBasis | None:
        """Modes that carry forces (rows 3 to 5 of the stress), or None for a plain strain law."""
        return None

    def force_values(self, s: Array) -> tuple[Ints, Array]:
        """Element (S,) and mode functions (S, p) at s; only where there are force fields."""
        raise TypeError(f"{type(self).__name__} has no force fields")

    def frames(self, s: Array) -> Plan:
        """Plan for frames at arclengths s (S,)."""
        return Plan(s, np.zeros(len(s), dtype=np.int64), self.m)

    def strains(self, s: Array) -> Plan:
        """Plan for strains at arclengths s (S,)."""
        return Plan(s, np.zeros(len(s), dtype=np.int64), self.m)

    def centres(self, s: Array) -> Plan | None:
        """Plan for frames at the centres of sections with the axes of the base, or None.

        A map whose centres are linear in its coordinates evaluates them far faster than the frames of
        sections. They serve whatever does not depend on how sections turn: inertia without rotary
        terms, weight and dead forces.
        """
        return None

    # -- the map -----------------------------------------------------------------------------

    @abstractmethod
    def frame(self, plan: OwnPlan, c: OwnConfiguration) -> None:
        """Write plan.g and plan.J, the exact derivative of g in the body frame."""

    @abstractmethod
    def strain(self, plan: OwnPlan, c: OwnConfiguration) -> None:
        """Write plan.e (Cosserat strains) and plan.B, its exact derivative."""

    def section_strain(self, plan: OwnPlan, c: OwnConfiguration) -> None:
        """Write plan.e and plan.B as `strain` does, with the strains of the frames themselves.

        Override it where `strain` gives others: its law may see a segment as a joint between links.
        """
        self.strain(plan, c)

    def frame_and_strain(self, plan: OwnPlan, c: OwnConfiguration) -> None:
        """Both `frame` and `strain` at the stations of one plan, which may cost less than each."""
        self.frame(plan, c)
        self.strain(plan, c)

    def frame_second(self, plan: OwnPlan, c: OwnConfiguration, f: Array, K: Array) -> None:
        """Add to K (E, m, m) the second derivative of sum_s f_s . log(g_s^-1 g_s(x)) at x = 0.

        It is the symmetric part of the derivative of J^T f, here by central differences.
        """
        K[0] += self._second(plan, c, self.frame, lambda: np.einsum("sia,si->a", plan.J, f))

    def frame_tangent(
        self, plan: OwnPlan, c: OwnConfiguration, f: Array, k: Array, K: Array
    ) -> None:
        """Add `frame_second` of f (S, 6) and sum_s J_s^T k_s J_s to K; asked of maps that fuse both."""
        raise TypeError(f"{type(self).__name__} does not fuse second derivatives")

    def strain_second(self, plan: OwnPlan, c: OwnConfiguration, sigma: Array, K: Array) -> None:
        """Add to K (E, m, m) the second derivative of sum_s sigma_s . e_s(x) at x = 0."""
        K[0] += self._second(plan, c, self.strain, lambda: np.einsum("sia,si->a", plan.B, sigma))

    # -- plans of `centres` on a base at rest, which only translate ------------------------------

    def set_centre_values(self, plan: OwnPlan, y: Array, out: Array) -> None:
        """out_s (S, 6) = J_s y_e with y (E, m)."""
        raise TypeError(f"{type(self).__name__} has no frames at centres")

    def add_centre_vector(self, plan: OwnPlan, p: Array, r: Array) -> None:
        """r_e (E, m) += sum_s J_s^T p_s with p (S, 6)."""
        raise TypeError(f"{type(self).__name__} has no frames at centres")

    def add_centre_form(self, plan: OwnPlan, k: Array, K: Array) -> None:
        """K_e (E, m, m) += sum_s J_s^T k_s J_s with k (S, 6, 6)."""
        raise TypeError(f"{type(self).__name__} has no frames at centres")

    def frame_bias(self, plan: OwnPlan, c: OwnConfiguration, ydot: Array, bias: Array) -> None:
        """Write bias (S, 6): body acceleration of the stations when y moves at rate ydot (E, m)."""

        def velocity() -> Array:
            return np.asarray(plan.J @ ydot[0])

        bias[...] = self._directional(plan, c, self.frame, velocity, ydot[0])

    # -- equations with symbols ----------------------------------------------------------------

    def symbolic_coordinates(self, c: OwnConfiguration) -> Array:
        """The coordinates that equations with symbols have for a configuration: q by default."""
        return c.q

    def symbolic(self, math: Any, base: tuple[Any, Any], q: Any) -> SymbolicRod:
        """The rod as formulas of the coordinates of `symbolic_coordinates`.

        math : computes with symbols, the module `casadi`.  base : rotation (3, 3) and position (3, 1)
        of the base in the world. A map without this method is refused.
        """
        raise DescriptionError(
            self.rod.label,
            "formulation",
            type(self).__name__.removesuffix("Map"),
            "one whose equations can be written with symbols, such as SRL, EBR, EBA or ROM",
            "choose formulation=pl.SRL(5), or give its map a method symbolic(math, base, q)",
        )

    # -- rods that stay in a plane ---------------------------------------------------------------

    def in_plane(self, normal: int) -> RodMap | None:
        """The map with the same q and fewer entries of x, for motions in a plane; None if it has none.

        normal : which axis of its sections is normal to the plane, 0 to 2. Its x has three entries for
        each twist that x has in space: the turn about the normal, and the shifts along the next two
        axes in cyclic order.
        """
        return None

    # -- maps whose inertia is lumped at nodes, which an explicit integrator moves ---------------------

    def lumped(self, c: OwnConfiguration) -> LumpedNodes | None:
        """The nodes, the first of them the base; None if inertia is not lumped.

        They may be moved: strains and what acts by them follow their columns, see `LumpedNodes`;
        `frame`, `strain` and `set_coordinates` the nodes one by one. Node i > 0 has the entries 6 i to
        6 i + 5 of x.
        """
        return None

    def set_coordinates(self, c: OwnConfiguration, out: Array) -> None:
        """Write the coordinates out (nq,) of the nodes."""
        raise TypeError(f"{type(self).__name__} has no lumped inertia")

    # -- from element variables to coordinates -----------------------------------------------

    def lift_velocity(self, c: OwnConfiguration, x: Array, y: Array) -> None:
        """y (E, m) = T x with x given per element (E, n)."""
        y[...] = x

    def lift_bias(self, c: OwnConfiguration, x: Array, ydot: Array) -> None:
        """Write into ydot (E, m) the second time derivative of y when x moves at rate x (E, n)."""
        ydot[...] = 0.0

    def lift_vector(self, c: OwnConfiguration, ry: Array, r: Array) -> None:
        """r (E, n) = T^T ry with ry (E, m)."""
        r[...] = ry

    def lift_rows(self, c: OwnConfiguration, Cy: Array, C: Array) -> None:
        """C (E, p, n) = Cy T with Cy (E, p, m): several covectors of each element."""
        C[...] = Cy

    def lift_matrix(
        self, left: OwnConfiguration, right: OwnConfiguration, Ky: Array, K: Array
    ) -> None:
        """K (E, n, n) = T_left^T Ky T_right with Ky (E, m, m)."""
        K[...] = Ky

    def lift_second(
        self, c: OwnConfiguration, ry: Array, balance: Array | None, K: Array
    ) -> Array | None:
        """Add to K (E, n, n) the second derivative of ry . y(x).

        With `balance` (6 + nv,), the residual left on the rod's own coordinates, the second
        derivative is taken in the chart of `advance`; the wrench that its motion passes on to the
        base (6,) is returned.
        """
        return None if balance is None else np.asarray(balance[:6])

    def lift_tangent(
        self,
        c: OwnConfiguration,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        """K (E, n, n) = T^T Ky T + second derivative of ry . y(x); Ky may be overwritten.

        `lift_matrix` and `lift_second` in one, which may cost less than each. passed (6,) receives the
        wrench that `lift_second` returns.
        """
        self.lift_matrix(c, c, Ky, K)
        given = self.lift_second(c, ry, balance, K)
        if given is not None:
            passed[...] = given

    # -- helpers for the defaults ------------------------------------------------------------

    def _moved(self, c: OwnConfiguration, x: Array) -> Configuration:
        """A new configuration, `c` moved by x."""
        from pliant.lie import se3

        base = c.base @ se3.exp(x[:6])
        other = self.configuration()
        self.update(other, base, self.retract(c, base, x))
        return other

    def _second(self, plan: OwnPlan, c: OwnConfiguration, evaluate: Any, vector: Any) -> Array:
        step = 1e-5
        H = np.empty((self.m, self.m))
        for a in range(self.m):
            x = np.zeros(self.m)
            for sign in (1.0, -1.0):
                x[a] = sign * step
                evaluate(plan, self._moved(c, x))
                H[a] = vector() if sign > 0 else (H[a] - vector()) / (2 * step)
        evaluate(plan, c)
        return 0.5 * (H + H.T)

    def _directional(
        self, plan: OwnPlan, c: OwnConfiguration, evaluate: Any, value: Any, v: Array
    ) -> Array:
        size = float(np.linalg.norm(v))
        if size == 0.0:
            return np.zeros_like(value())
        step = 1e-5 / size
        evaluate(plan, self._moved(c, step * v))
        ahead = value()
        evaluate(plan, self._moved(c, -step * v))
        behind = value()
        evaluate(plan, c)
        return np.asarray((ahead - behind) / (2 * step))


class KernelMap(RodMap):
    """A map whose methods only call kernels. It writes `retract_to`, and `advance_to` if it differs."""

    def update(self, c: OwnConfiguration, base: Array, q: Array) -> None:
        copy(base, c.base)
        copy(q, c.q)

    def retract(self, c: OwnConfiguration, base: Array, x: Array) -> Array:
        out = np.empty(self.nq)
        self.retract_to(c, base, x, out)
        return out

    def retract_to(self, c: OwnConfiguration, base: Array, x: Array, out: Array) -> None:
        combine(1.0, c.q, 1.0, x[6:], out)

    def chart_entries(self) -> tuple[Ints, Ints] | None:
        return (NO_TWISTS, NO_TURNS) if type(self).retract_to is KernelMap.retract_to else None

    def advance(self, c: OwnConfiguration, base: Array, x: Array) -> Array:
        out = np.empty(self.nq)
        self.advance_to(c, base, x, out)
        return out

    def advance_to(self, c: OwnConfiguration, base: Array, x: Array, out: Array) -> None:
        self.retract_to(c, base, x, out)

    def lift_velocity(self, c: OwnConfiguration, x: Array, y: Array) -> None:
        copy(x, y)

    def lift_bias(self, c: OwnConfiguration, x: Array, ydot: Array) -> None:
        clear(ydot)

    def lift_vector(self, c: OwnConfiguration, ry: Array, r: Array) -> None:
        copy(ry, r)

    def lift_rows(self, c: OwnConfiguration, Cy: Array, C: Array) -> None:
        copy(Cy, C)

    def lift_matrix(
        self, left: OwnConfiguration, right: OwnConfiguration, Ky: Array, K: Array
    ) -> None:
        copy(Ky, K)

    def lift_tangent(
        self,
        c: OwnConfiguration,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        self.lift_matrix(c, c, Ky, K)
        if balance is not None:
            copy(balance[:6], passed)


SIZES = ("points", "elements", "segments", "nodes", "steps")
"""Names of settings that make a formulation finer; the first that it has is its size."""
_LARGEST_LEAST = 64
"""The smallest size of a formulation is sought below this."""
_MOST_KEPT = 256
"""Formulations whose least sizes are kept."""
_least_sizes: dict[Any, tuple[int | None, str]] = {}


class RodModel:
    """Settings of a way to solve rods. Subclasses are frozen dataclasses with declared capabilities."""

    capabilities: ClassVar[Capabilities] = Capabilities()
    solves_tubes: ClassVar[bool] = False
    """Whether it solves tubes in one another as a boundary-value problem, see `TubeProblem`."""

    def __post_init__(self) -> None:
        """Refuse settings that are not what their fields hold, see `pliant.model.fields`."""
        if is_dataclass(self):
            check_fields(self, self.label)

    @property
    def label(self) -> str:
        """How error messages call it."""
        return f"formulation {type(self).__name__}"

    @property
    def size(self) -> str | None:
        """Name of the setting that makes it finer the larger it is; None if there is none."""
        own = getattr(type(self), "__dataclass_fields__", {})
        return next((name for name in SIZES if name in own), None)

    def with_size(self, size: int) -> Self:
        """These settings with another size."""
        assert self.size is not None
        return replace(self, **{self.size: size})  # type: ignore[type-var]

    def least_size(self, rod: str) -> int:
        """The size that gives one interval; each increment adds one, also in a spline of any degree.

        rod : whose formulation it is, for the refusal where its size cannot be changed.
        """
        part, name = f"rod {rod!r}", self.size
        expected, remedy = "one with a size, such as a number of elements", "give e.g. BSpline()"
        refuse(
            name is None,
            part,
            "formulation",
            self,
            expected,
            f"{remedy} or ANCF(), or give your own formulation the attribute size",
        )
        least, why = self._least
        if least is None:
            expected, remedy = (
                f"one whose {name} can be changed",
                "leave out the settings that fix it",
            )
            raise DescriptionError(part, "formulation", self, expected, f"{remedy} ({why})")
        return least

    @property
    def _least(self) -> tuple[int | None, str]:
        """The least size, None with the refusal of others where there is none.

        It is sought once for all formulations whose other settings are the same.
        """
        settings: Any = fields(self) if is_dataclass(self) else ()
        own = [field.name for field in settings if field.name != self.size]
        key = (type(self), *(getattr(self, name) for name in own))
        try:
            known = _least_sizes.get(key)
        except TypeError:  # settings that cannot be keys
            return self._sought_least()
        if known is None:
            known = self._sought_least()
            if len(_least_sizes) < _MOST_KEPT:
                _least_sizes[key] = known
        return known

    def _sought_least(self) -> tuple[int | None, str]:
        refusal = ""
        for size in range(1, _LARGEST_LEAST):
            try:
                self.with_size(size)
                self.with_size(size + 1)
            except DescriptionError as error:
                refusal = str(error)
            else:
                return size, ""
        return None, refusal

    @property
    def intervals(self) -> int | None:
        """Number of intervals of a rod; None where it does not follow from a setting."""
        size = getattr(self, str(self.size), None)
        try:
            return size - self.least_size("") + 1 if isinstance(size, int) else None
        except DescriptionError:
            return None

    def coarser(self, rod: str, factor: int) -> RodModel:
        """These settings with `factor` times fewer intervals, for an estimate of their error.

        rod : whose formulation it is, for the refusal where it has one interval only.
        """
        least = self.least_size(rod)
        size = getattr(self, str(self.size))
        expected = f"at least {least + 1} to estimate an error, which needs a coarser solution"
        remedy = "give a larger number, or leave out error=True"
        field = f"formulation.{self.size}"
        refuse(size <= least, f"rod {rod!r}", field, size, expected, remedy)
        return self.with_size(least + -(-(size - least + 1) // factor) - 1)


class Formulation(RodModel, ABC):
    """Settings of a formulation: a map from coordinates to frames and strains."""

    @abstractmethod
    def discretise(self, rod: Rod) -> RodMap:
        """The map of `rod` under these settings."""
