"""The contract of an effect: what the solvers ask of everything that acts on a robot.

A *term* is an effect compiled for one tree. Statics, integrators, modes, energies, reactions and
results work on the list of all terms and know nothing else of what acts.

A term acts at the stations of parts: it adds gradients of its potential (minus its wrench) in the body
frame of a frame station to `work.p` and their derivative in the chart g exp(x) to `work.k`, or weighted
stresses at strain stations to `work.sigma`. A term may have unknowns of its own (`rows`): force fields
of the mixed form and multipliers of constraints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.engine.program import run
from pliant.model import DescriptionError
from pliant.model.checks import as_array
from pliant.physics.between import set_middle
from pliant.physics.own_law import Law, Shapes
from pliant.physics.symbolic import Symbols, own_formula
from pliant.rods.contract import Array, Ints
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.work import Work

if TYPE_CHECKING:
    from pliant.tree.tree import Tree

_NONE = np.zeros(0, dtype=np.int64)
RATES = 1.0
"""Mobility of a solve for rates from momenta, s^2."""


@dataclass
class Moment:
    """The robot at one configuration, and what acts there.

    u (J,) numbers of the inputs, z (total,) force fields and multipliers.  v (total,) rates of the
    coordinates, None at rest; `work` has twists of the stations then.  speed : derivative of the rates
    in the coordinates that are sought, 1/s.  tangent : None if only the gradient is wanted.
    keep (total,) : gaps that constraints are to keep for now, None for none.  mobility : displacement
    for a unit of acceleration in a time step, s^2; None in statics.  ahead : time since the stations
    had the twists in `work`, s; half a step where these are the mean ones of a step that ends here.
    start : the state at the start of that step, for losses between two configurations.  recorded : what
    terms recorded of the step that ended here, see `Term.record`; None if there was none.
    memory : what terms remember of the start of the step, or of where an equilibrium is sought from,
    see `Term.memory_at`; None where nothing came before.
    """

    tree: Tree
    state: State
    work: Work
    u: Array
    z: Array
    v: Array | None = None
    speed: float = 0.0
    tangent: Tangent | None = None
    keep: Array | None = None
    mobility: float | None = None
    ahead: float = 0.0
    start: State | None = None
    recorded: Array | None = None
    memory: Array | None = None


@dataclass
class Step:
    """A step of h seconds of a variational integrator from state a to state b.

    Impulses that leave a are added to the work of a as gradients are, those that arrive at b to
    `work.pb`. first : part of an impulse that leaves a; the rest arrives at b.  implicit : False for
    the explicit rule.  u (J,) numbers of the inputs that act, z (total,) force fields and multipliers.
    memory : what terms remember of the start of the step, see `Term.memory_at`.
    """

    tree: Tree
    a: State
    b: State
    work: Work
    h: float
    first: float
    implicit: bool
    u: Array
    z: Array
    tangent: Tangent | None = None
    memory: Array = field(default_factory=lambda: np.zeros(0))
    _middles: dict[tuple[int, int], tuple[Array, Array]] = field(default_factory=dict)

    def middle(self, i: int, station: int) -> tuple[Array, Array]:
        """The frame (4, 4) of a station of part i in the middle of the step, at its start in an
        explicit one, and the shares (2, 6, 6) of both ends of the step in it, see `between`.

        What acts there shares them.
        """
        key = (i, station)
        if key not in self._middles:
            self._middles[key] = np.zeros((4, 4)), np.zeros((2, 6, 6))
            ends = (self.a.parts[i].g, self.b.parts[i].g)
            run(set_middle, *ends, station, self.implicit, *self._middles[key])
        return self._middles[key]


@dataclass
class Sections:
    """Sections of a rod at some arclengths: poses g (S, 4, 4), body twists (S, 6), None at rest."""

    g: Array
    twist: Array | None


class Term:
    """One effect, compiled. The defaults do nothing."""

    smooth: ClassVar[bool] = False
    """Whether what it does changes smoothly with configuration, rates and inputs, by Pliant's own laws:
    what it does at one configuration then tells in which directions it acts at others."""
    compiled: ClassVar[bool] = False
    """Whether `act`, `leave`, `go` and `arrive` only call kernels, see `engine.program`; said by each
    class for itself. What they decide must not depend on numbers that change, such as inputs."""
    input: str | None = None
    """Name of the input that it follows."""
    obstructs: bool = False
    """Whether it keeps things from going through each other, see `goes_through`."""
    always: Any = None
    """Value of an input without a name, which acts whatever is asked for."""
    size: int = 0
    """How many numbers its input becomes."""
    at: slice = slice(0, 0)
    """Where they stand among the inputs u (J,); set when the list of effects is made."""
    number: int = -1
    """Place in the list of effects."""
    column: str = "loads"
    """The energy that it stores: "elastic", "gravity", "potential", or "loads" for what inputs do."""
    at_strains: bool = False
    """Whether it acts at strain stations only, those of the strain rule or inner ones."""
    needs_twists: bool = False
    """Whether its loss of power needs the twists of stations without inertia."""
    squeezes: bool = False
    """Whether it keeps rods that shear under compression from within, as tendons and chambers do.
    `Midpoint` then takes mean forces."""
    squeezes_at_once: bool = False
    """Whether it may do so at once, as tendons do; `Midpoint` is then not the default."""
    whole: bool = False
    """Whether its impulse in a variational step stays where it acts: hard rows, and dry friction."""
    memory: int = 0
    """How many numbers it keeps from step to step, see `remember` and `keep`."""
    memory_at: slice = slice(0, 0)
    """Where they stand among those of all terms; set when the list of effects is made."""
    records: int = 0
    """How many numbers it records of each step, see `record`."""
    record_at: slice = slice(0, 0)
    """Where they stand among those of all terms; set when the list of effects is made."""
    depends_on_way: bool = False
    """Whether what it does depends on the way to a configuration, as dry friction does."""
    finest: float = 1.0
    """Part of the ways that count elsewhere on which its force at rest changes as much."""
    increments: int = 1
    """Load steps, at least, in which an equilibrium is sought that depends on the way there."""
    name: str = ""
    """Name of the effect for whose `readings` results ask it."""
    rows: Ints = _NONE
    """Numbers of the unknowns of its own."""
    row_weights: Array = np.zeros(0)
    """(len(rows),): what makes the gaps of these rows plain numbers: strains, parts of the length."""

    # -- compiling ---------------------------------------------------------------------------

    def close(self, tree: Tree) -> None:
        """Take over numbers once the tree is numbered."""

    def refill(self, tree: Tree) -> bool:
        """Take over the numbers of another robot of the same kind, which the tree has already; False if
        the effect has to be compiled anew.

        The robots differ in the numbers of `Entry.refilled` only, and in none that is zero in one of
        them. Give arrays other values, for programs know where they are.
        """
        return False

    def doubts(self, tree: Tree) -> Iterator[str]:
        """Yield sentences about what is probably not meant, once the tree is closed."""
        return iter(())

    def pairs(self) -> list[Pair]:
        """Numbers of the blocks that it adds to a tangent by itself."""
        return []

    def numbers(self, value: Any) -> Array:
        """The input as numbers (size,); refuses what cannot be carried."""
        return np.zeros(0)

    # -- what acts ---------------------------------------------------------------------------

    def active(self, u: Array) -> bool:
        """False if nothing acts under the inputs u."""
        return not self.size or bool(u[self.at].any())

    def conservative(self, u: Array) -> bool:
        """Whether it has a potential under the inputs u, so that its tangent is symmetric."""
        return True

    def goes_through(self, start: State, end: State) -> bool:
        """Whether things go through each other on straight ways from one configuration to another."""
        return False

    def act(self, m: Moment) -> None:
        """Add gradients and, with a tangent, their derivatives at one configuration."""

    def acceleration(self, u: Array) -> Array | None:
        """Numbers (3,) among the inputs u that are an acceleration of all masses, world frame, m/s^2.

        For a term that does nothing else; None for all others.
        """
        return None

    def strain_law(self) -> tuple[int, Array, Array] | None:
        """Part, stiffness k (S, 6) and rest strains e0 (S, 6) of a stress k (met - e0).

        For a term that does nothing else, with the energy k (e - e0)^2 / 2; None for all others.
        """
        return None

    def settle(self, state: State, work: Work, z: Array) -> None:
        """Set its rows of z as balance has them at the strains `work.met` of a state."""

    def add_section_stress(
        self, i: int, s: Array, e: Array, m: Moment, stress: Array, slope: Array
    ) -> None:
        """Add its stress (S, 6) at arclengths s (S,) of rod i with strains e (S, 6), N m and N, and to
        slope (S, 6, 6) its derivative, at a moment at rest; that of linear elasticity is known.
        """

    def add_held_stress(
        self, i: int, s: Array, e: Array, z: Array, stress: Array, slope: Array
    ) -> None:
        """The same of the unknowns of its own among z (total,), such as the tension of a tendon."""

    def correct_strains(self, i: int, state: State, s: Array, e: Array) -> None:
        """Correct strains e (S, 6) of part i at arclengths s (S,), where its map alone misleads."""

    def symbolic(self, x: Symbols) -> None:
        """Add what it does to equations of motion with symbols; refused by name without this method."""
        x.refuse(self)

    # -- memory, and inputs that lag behind what is asked for ------------------------------------

    def remember(self, m: Moment, memory: Array) -> None:
        """Set its memory (memory,) at the start of a motion, or of the way to an equilibrium.

        `m.work.residual` (total,) is minus the force of all effects on each coordinate there.
        """

    def come_to_rest(self, m: Moment, memory: Array) -> None:
        """Bring its memory (memory,) to an equilibrium on the way to another one."""

    def feed(self, h: float, memory: Array, u: Array) -> None:
        """Replace its numbers in u (J,), asked for at the end of a step, by those that will act."""

    def keep(self, h: float, state: State, memory: Array, u: Array) -> None:
        """Bring its memory to the end of a step, in `state`, and its numbers in u (J,) to what acts."""

    def jump(self, numbers: Array, memory: Array) -> None:
        """Remember that what is asked of its input becomes numbers (size,) at the start of a step."""

    # -- variational steps -------------------------------------------------------------------

    def leave(self, step: Step) -> None:
        """Add impulses at a that do not depend on b; asked once in a step."""

    def go(self, step: Step) -> None:
        """Add impulses that leave a and depend on b and, with a tangent, their derivatives in b."""

    def arrive(self, step: Step) -> None:
        """Add impulses that arrive at b."""

    # -- forces ------------------------------------------------------------------------------

    def reactions(self, m: Moment) -> dict[str, Array]:
        """Wrenches (6,) by which it holds the robot at a moment, by name."""
        return {}

    def line_wrench(self, i: int, s: Array, sections: Sections, u: Array) -> Array | None:
        """Minus its gradient per length at arclengths s (S,) of rod i: body wrenches (S, 6), N."""
        return None

    def stress(self, i: int, s: Array, e: Array, u: Array) -> Array | None:
        """What it adds to the internal wrench (S, 6) at arclengths s (S,) of rod i, body frame.

        Beside elasticity and viscosity, at strains e (S, 6): the stress of a muscle, also in rows of
        strain that the map of the rod does not have.
        """
        return None

    def line_ends(self, i: int) -> tuple[float, ...]:
        """Arclengths of rod i at which its line wrench jumps, m."""
        return ()

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        """What acts at single frames: part, frame station and body wrench (6,)."""
        return []

    def wrenches_at(self, m: Moment) -> list[tuple[int, int, Array]]:
        """The same at the rates of a moment, whose `work` has the twists of all stations."""
        return self.point_wrenches(m.state, m.u, m.z)

    def readings(self, m: Moment) -> dict[str, Any]:
        """What results tell of it by the name of its effect: tension, length and so on.

        Numbers or arrays; in a motion `work` has the twists of all stations.
        """
        return {}

    def record(self, work: Work, z: Array, out: Array) -> None:
        """Write to out (records,) what results are to know of a step that was accepted."""

    def told_at_rest(self, m: Moment) -> str:
        """A sentence on what is special about it in an equilibrium, "" if nothing is."""
        return ""

    # -- energy ------------------------------------------------------------------------------

    def energy(self, state: State, u: Array) -> float:
        """Energy stored at a configuration, J."""
        return 0.0

    def trouble(self, state: State) -> str:
        """A sentence if it no longer acts at a configuration as it is meant to, else ""."""
        return ""

    def measure(self, state: State) -> float:
        """What a line between its input and what acts depends on: the volume of a chamber, m^3."""
        return 0.0

    def work_done(self, a: State, b: State, u: Array) -> float:
        """Work that its input does between two configurations, J."""
        return 0.0

    def power_lost(self, m: Moment) -> float:
        """Power dissipated, at the rates in `work` of a moment, W."""
        return 0.0

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        """Add scale times `power_lost` to out (1,)."""
        out[0] += scale * self.power_lost(m)

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        """Add `work_done` to out (1,)."""
        out[0] += self.work_done(a, b, u)


class KernelTerm(Term):
    """A term whose methods only call kernels; loss and work are added, and nothing by default."""

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        """Add scale times the power dissipated to out (1,), W."""

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        """Add the work that its input does between two configurations to out (1,), J."""

    def power_lost(self, m: Moment) -> float:
        out = np.zeros(1)
        self.add_power_lost(m, 1.0, out)
        return float(out[0])

    def work_done(self, a: State, b: State, u: Array) -> float:
        out = np.zeros(1)
        self.add_work_done(a, b, u, out)
        return float(out[0])


def opposes(term: Term) -> bool:
    """Whether a term may oppose velocities."""
    own = type(term).add_power_lost not in (Term.add_power_lost, KernelTerm.add_power_lost)
    return bool(getattr(term, "resists", own))


class OwnTerm(Term):
    """A term with the input of an effect, if it has one; without, its law comes on with the loads.

    While an equilibrium is sought in steps, what acts without an input is scaled as all loads are.
    """

    label: str
    law: Law
    effect: Any

    def symbolic(self, x: Symbols) -> None:
        own_formula(self, self.effect, x)

    def take_input(self, effect: Any, shapes: Shapes) -> None:
        """Take over name and size of the input of an effect, and its law."""
        known = effect.inputs()
        if len(known) > 1:
            raise DescriptionError(
                effect.label,
                "inputs",
                ", ".join(known),
                "one input at most",
                "give one input with several numbers, or make several effects",
            )
        self.label, self.law = effect.label, Law(effect, shapes)
        self.input = next(iter(known), None)
        self.size = 1 if self.input is None else int(np.size(known[self.input]))
        self.always = 1.0

    def numbers(self, value: Any) -> Array:
        given = as_array(value)
        if given is None or given.size != self.size or not np.isfinite(given).all():
            numbers = "one finite number" if self.size == 1 else f"{self.size} finite numbers"
            remedy = f"give e.g. {', '.join(['1.0'] * self.size)}"
            raise DescriptionError(self.label, f"input {self.input!r}", value, numbers, remedy)
        return given.reshape(self.size)

    def factor(self, u: Array) -> float:
        """How much of the law acts."""
        return float(u[self.at][0]) if self.input is None else 1.0

    def values(self, u: Array) -> Array:
        """The numbers of the effect's own input, empty if it has none."""
        return u[self.at] if self.input is not None else u[:0]


class Rows(Term):
    """A term with unknowns of its own: gaps phi in its rows and forces A^T lambda, A = d phi.

    hard : whether phi = 0; else phi is a compliance times lambda.
    one_sided : whether its rows only push: 0 <= lambda, phi <= 0, and one of them is zero. They hold
    where lambda > 0, and impacts on them are inelastic.
    """

    hard: bool = True
    one_sided: bool = False
    rubs: bool = False
    """Whether forces beside its rows depend on its multipliers, as friction does."""
    eased: bool = False
    """Whether its tangent has a compliance that its rows do not have, see `add_excess`."""
    label: str = ""
    """How error messages call it."""
    source: Any = None
    """The description that it comes from, None if that is the rod itself."""

    @property
    def whole(self) -> bool:  # type: ignore[override]
        """True for hard rows: they hold at the end of a step by an impulse at its start."""
        return self.hard

    def gaps(self, state: State) -> Array:
        """Gaps (len(rows),) of hard rows at a configuration."""
        raise NotImplementedError

    def add_gaps(self, state: State, scale: float, out: Array) -> None:
        """Add scale times the gaps to its rows of out (total,)."""
        out[self.rows] += scale * self.gaps(state)

    def add_excess(self, x: Array, out: Array) -> None:
        """Add to out (total,) what only an `eased` tangent has, its compliance, times x (n,)."""
        raise NotImplementedError

    def violations(self, state: State) -> Array:
        """What of the gaps (len(rows),) has to be closed."""
        return self.gaps(state)

    def check_start(self, state: State) -> None:
        """Refuse a configuration from which nothing can begin."""

    def holding(self, z: Array | None) -> Array:
        """(len(rows),): 1 for rows that hold with multipliers z (total,), 0 for idle ones.

        Without multipliers one-sided rows are idle.
        """
        return np.ones(len(self.rows))

    def touch(self, state: State, v: Array, z: Array, rough: bool = False) -> None:
        """Let one-sided rows hold that touch and do not part at rates v (total,): set z > 0.

        rough : True for states of a motion, whose gaps and rates are those of a time step.
        """

    def release(self, x: Array, z: Array, pulled: Ints) -> None:
        """Let rows go idle that hold by a pull in x (size,); sets pulled (1,) if there were any."""

    def hold(self, state: State, tangent: Tangent, z: Array | None) -> None:
        """Add A and A^T of the rows that hold; the others stand alone."""
        raise NotImplementedError

    def add_gap_rates(
        self,
        state: State,
        v: Array,
        lifted: list[Array],
        z: Array | None,
        scale: float,
        out: Array,
    ) -> None:
        """Add scale times the rates of the gaps to its rows of out (total,), of rows that hold with z.

        v (total,) : rates of the coordinates; lifted : those of the element variables of each part.
        """
        raise NotImplementedError

    def add_forces(self, state: State, z: Array, work: Work, scale: float) -> None:
        """Add the forces A^T z times `scale` to the work of a state."""
        raise NotImplementedError

    def add_bends(self, state: State, z: Array, work: Work, scale: float) -> None:
        """Add scale times the derivatives of the forces A^T z of a row that squeezes rods."""
        raise NotImplementedError

    def augmented(self, gaps: Array) -> Array | float:
        """Forces that its gaps (len(rows),) add to the multipliers."""
        return 0.0

    def hold_rates(self, work: Work, h: float) -> None:
        """Hold phi + h/2 phi' instead of phi in steps of h, where the row can do so."""

    def rate_slope(self, work: Work, speed: float) -> Array | float:
        """Derivative of what is held in phi, for rates that grow by `speed` (1/s)."""
        return 1.0

    def add_compliance(self, tangent: Tangent, mobility: float | None) -> None:
        """Add the derivative of the gaps in its own unknowns.

        mobility : in a step, the displacement for a unit of acceleration, s^2; RATES where rates are
        sought for momenta; None in statics.
        """
