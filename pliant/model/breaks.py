"""Breaks: places along a rod where data jump, bend sharply or peak.

Knots of formulations, pieces of strong forms and panels of quadrature are cut there, so that what lies
between is smooth. Breaks are declared by the user, or found in functions and tables by adaptive
quadrature: wherever four Gauss points on a sixteenth of the rod do not give the integral that a dense
sample gives, the stretch is cut at a jump, else at a kink, else in its middle, until they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from pliant.model.checks import Array, DescriptionError, finite_array, refuse
from pliant.model.fields import NUMBER, Kind, Schema

if TYPE_CHECKING:
    from pliant.model.description import Description

_BASE = 16
"""Stretches of a rod on which data are looked at."""
_DENSE = 40
"""Pairs of samples in each of them: none is farther than 0.001 of the length from the next."""
_SHIFT = 0.2137
"""Of the stretches against equal ones, in their length: no round number falls between two."""
_UNEVEN = 0.37
"""Where a stretch is parted to be integrated once more, in its length."""
_TOLERANCE = 1e-5
"""Part of an integral along the rod that panels may leave out."""
_STEEP = 1e-4
"""A change within this part of the length is a jump."""
_EXACT = 1e-14
"""Part of the length to which a jump is located."""
_NARROW = 1e-7
"""Part of the length below which no stretch is cut."""
_MOST = 64
"""Cuts in one function beyond which it is left as it is, and the rest is reported."""
_TELL = 1e-3
"""Part of an integral that may be left out without a warning."""
_PAIR = np.array([-0.5, 0.5]) / np.sqrt(3.0)
_FOUR = np.polynomial.legendre.leggauss(4)

Values = Callable[[Array], Array]
"""From arclengths (S,) in metres to values (S, r, k): r quantities of k components. All of them are
resolved, each as a part of its own total."""


class Breaks(NamedTuple):
    """Arclengths strictly inside a rod, metres, increasing.

    jumps : where values jump, and strains with them.  bends : where slopes jump, and the borders of
    panels that resolve a peak.  missing : part of the integral that panels between them leave out.
    """

    jumps: tuple[float, ...] = ()
    bends: tuple[float, ...] = ()
    missing: float = 0.0

    @property
    def places(self) -> tuple[float, ...]:
        """All of them."""
        return tuple(sorted({*self.jumps, *self.bends}))


def gauss_panels(edges: Sequence[float]) -> tuple[Array, Array]:
    """Return four Gauss points and weights (S,) on each panel, as long as those that are looked at."""
    parts = np.linspace(edges[0], edges[-1], _BASE + 1)
    borders = np.unique([*edges, *parts[(parts > edges[0]) & (parts < edges[-1])]])
    half = 0.5 * np.diff(borders)[:, None]
    s = borders[:-1, None] + half * (_FOUR[0] + 1.0)
    return s.ravel(), (half * _FOUR[1]).ravel()


def join(many: Sequence[Breaks], length: float, gap: float) -> Breaks:
    """Return the breaks of several functions on a rod; those within `gap` lengths of it are one."""
    near, jumps, bends = gap * length, [0.0], list[float]()
    for s in sorted(s for item in many for s in item.jumps):
        if s - jumps[-1] > near and length - s > near:
            jumps.append(s)
    for s in sorted(s for item in many for s in item.bends):
        if min(abs(s - other) for other in [*jumps, *bends[-1:], length]) > near:
            bends.append(s)
    missing = max((item.missing for item in many), default=0.0)
    return Breaks(tuple(jumps[1:]), tuple(bends), missing)


# -- in descriptions ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Places(Kind):
    """Arclengths on a rod, increasing."""

    meaning: str = "where data along s jump"
    unit: str = "metres"
    example: str = "[0.1, 0.2]"
    json: ClassVar[Schema] = {"type": "array", "items": NUMBER, "maxItems": _MOST}

    def check(self, part: str, field: str, value: Any) -> tuple[float, ...]:
        listed, remedy = (
            f"increasing arclengths above 0 in {self.unit}",
            f"give e.g. {self.example}",
        )
        array = finite_array(
            part,
            field,
            () if value is None else value,
            listed,
            remedy,
            lambda x: x.ndim == 1 and bool((np.diff(x, prepend=0.0) > 0).all()),
        )
        remedy = "name only jumps and the borders of narrow peaks"
        refuse(len(array) > _MOST, part, field, len(array), f"at most {_MOST} places", remedy)
        return tuple(float(s) for s in array)

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        rod = part if hasattr(part, "length") else description.rods.get(part.part)
        if rod is not None and value and value[-1] >= rod.length * (1 - 1e-9):
            expected = f"arclengths between 0 and the length {rod.length:g} in metres"
            yield DescriptionError(
                part.label, field, value, expected, "leave out those beyond the tip"
            )


# -- in functions ---------------------------------------------------------------------------------

_known: WeakKeyDictionary[Any, dict[Any, Breaks]] = WeakKeyDictionary()


def breaks_of(
    source: Any, values: Values, span: tuple[float, float], declared: tuple[float, ...] = ()
) -> Breaks:
    """Return the breaks of a function of s between two arclengths, metres.

    source : the function, or a Table; what was found in it is kept as long as it lives.  values : of
    it, for many places at once.  declared : breaks that are known.
    """
    try:
        kept = _known.setdefault(source, {})
    except TypeError:  # no weak reference to it, or no hash
        kept = {}
    start, end = span
    inside = tuple(s - start for s in declared if start < s < end)
    key = (span, inside)
    if key not in kept:
        found = _Search(lambda s: values(s + start), end - start, inside).breaks()
        shifted = [tuple(s + start for s in places) for places in found[:2]]
        kept[key] = Breaks(shifted[0], shifted[1], found.missing)
    return kept[key]


class _Search:
    """Cuts a rod until four Gauss points on each panel give the integral of a function."""

    def __init__(self, values: Values, length: float, declared: tuple[float, ...]) -> None:
        self.values, self.length, self.declared = values, length, declared
        self.jumps: list[float] = []
        self.kinks: list[float] = []
        self.cuts: set[float] = set()
        inner = (np.arange(_BASE) + _SHIFT) * length / _BASE
        apart = np.abs(inner[:, None] - np.array([*declared, -length])).min(axis=1)
        inner = inner[apart > 0.01 * length / _BASE]
        self.walls = [float(s) for s in np.sort([0.0, *inner, *declared, length])]
        halves = [(a, 0.5 * (a + b), b) for a, b in pairwise(self.walls)]
        dense = [(self._dense(a, m), self._dense(m, b)) for a, m, b in halves]
        self.stretches = [
            (a, b, p[0] + q[0]) for (a, _, b), (p, q) in zip(halves, dense, strict=True)
        ]
        """Start, end and integral (r, k)."""
        self.across = [
            (one[1], other[1], p[0] + q[0])
            for (one, (_, p)), (other, (q, _)) in pairwise(zip(halves, dense, strict=True))
            if one[2] not in declared
        ]
        """The same of stretches from the middle of one to that of the next."""
        size = np.sum([p[1] + q[1] for p, q in dense], axis=0).max(axis=-1)
        self.total = np.where(size > 0.0, size, 1.0)

    def breaks(self) -> Breaks:
        """Return where the function must be cut; nowhere else than declared if it is too wild."""
        missing = sum(self._cut(*stretch) for stretch in self.stretches)
        for (
            a,
            b,
            fine,
        ) in self.across:  # what lies close to a wall hardly shows on either side of it
            if not any(a < s < b for s in (*self.jumps, *self.kinks, *self.cuts)):
                self._cut(a, b, fine)
        if self._many():
            missing = sum(self._error(*stretch) for stretch in self.stretches)
            return Breaks(self.declared, (), missing)
        bends = tuple(sorted([*self.kinks, *self._needed()]))
        return Breaks(tuple(sorted([*self.declared, *self.jumps])), bends, missing)

    def _many(self) -> bool:
        return len(self.jumps) + len(self.kinks) + len(self.cuts) >= _MOST

    # -- integrals ---------------------------------------------------------------------------

    def _dense(self, a: float, b: float) -> tuple[Array, Array]:
        """Integral (r, k) from a to b, and that of the absolute values."""
        count = max(4, int(np.ceil(_DENSE * _BASE * (b - a) / self.length)))
        h = (b - a) / count
        s = a + h * (np.arange(count)[:, None] + 0.5 + _PAIR).ravel()
        y = self.values(s)
        return 0.5 * h * y.sum(axis=0), 0.5 * h * np.abs(y).sum(axis=0)

    def _error(self, a: float, b: float, fine: Array) -> float:
        """Part of the total that four Gauss points from a to b, or on two parts, leave out of `fine`.

        A jump may lie where one of the two rules happens to be right, not where both are.
        """
        errors = []
        for edges in ((a, b), (a, a + _UNEVEN * (b - a), b)):
            half = 0.5 * np.diff(edges)[:, None]
            s = (np.array(edges[:-1])[:, None] + half * (_FOUR[0] + 1.0)).ravel()
            gap = np.tensordot((half * _FOUR[1]).ravel(), self.values(s), 1) - fine
            errors.append(np.abs(gap).max(axis=-1) / self.total)
        return float(np.max(errors))

    # -- cutting -----------------------------------------------------------------------------

    def _cut(self, a: float, b: float, fine: Array) -> float:
        """Cut the stretch from a to b where needed; return what is left out of the integral."""
        error = self._error(a, b, fine)
        if error <= _TOLERANCE:
            return 0.0
        if b - a < _NARROW * self.length or self._many():
            return error
        jump = self._jump(a, b)
        kink = self._kink(a, b) if jump is None else None
        if jump is not None:
            self.jumps.append(jump)
        elif kink is not None:
            self.kinks.append(kink)
        else:
            self.cuts |= {a, 0.5 * (a + b), b}
        at = jump or kink or 0.5 * (a + b)
        return sum(self._cut(p, q, self._dense(p, q)[0]) for p, q in ((a, at), (at, b)))

    def _needed(self) -> list[float]:
        """The cuts in the middle of stretches without which an integral would be off."""
        firm = {*self.walls, *self.declared, *self.jumps, *self.kinks}
        firm -= self.cuts - {*self.declared, *self.jumps, *self.kinks}
        places = sorted({*firm, *self.cuts, self.length} - {0.0})
        kept, last = [], 0.0
        for s, after in pairwise(places):
            firmly = s in firm
            if not firmly:
                error = self._error(last, after, self._dense(last, after)[0])
                firmly = error > _TOLERANCE
                kept += [s] if firmly else []
            last = s if firmly else last
        return kept

    # -- jumps and kinks ---------------------------------------------------------------------

    def _samples(self, a: float, b: float) -> tuple[Array, Array]:
        """Arclengths (S,) inside a stretch at equal distances, and values there."""
        count = max(33, int(np.ceil(2 * _DENSE * _BASE * (b - a) / self.length)))
        edge = min(10 * _EXACT * self.length, 1e-3 * (b - a))
        s = np.linspace(a + edge, b - edge, count)
        return s, self._first(s)

    def _first(self, s: Array) -> Array:
        """Components (S, k) of the first quantity, in which jumps and kinks are sought."""
        return self.values(s)[:, 0]

    def _jump(self, a: float, b: float) -> float | None:
        """Where the function jumps most in a stretch, None if it does not."""
        s, y = self._samples(a, b)
        change = np.abs(np.diff(y, axis=0)).max(axis=1)
        i = int(np.argmax(change))
        low, high, size = float(s[i]), float(s[i + 1]), float(change[i])
        start, way, ends = y[i], y[i + 1] - y[i], [y[i], y[i + 1]]
        limit = min(_STEEP * self.length, 0.1 * (high - low))
        while size > 0.0 and high - low > _EXACT * self.length:
            middle = 0.5 * (low + high)
            value = self._first(np.array([middle]))[0]
            if (value - start) @ way < 0.5 * way @ way:
                low, ends[0] = middle, value
            else:
                high, ends[1] = middle, value
            if high - low > 0.5 * limit and np.abs(ends[1] - ends[0]).max() < 0.2 * size:
                return None
        return 0.5 * (low + high) if size > 0.0 else None

    def _kink(self, a: float, b: float) -> float | None:
        """Where the slope jumps most in a stretch, None if it does not.

        Second differences at steps h fall as h at a kink, as its square elsewhere.
        """
        s, y = self._samples(a, b)
        second = np.abs(np.diff(y, 2, axis=0)).max(axis=1)
        i = int(np.argmax(second)) + 1
        at, h, size = float(s[i]), float(s[1] - s[0]), float(second[i - 1])
        noise = 1e-13 * float(np.abs(y).max())
        for halving in range(1, 25):
            h *= 0.5
            places = at + h * np.arange(-2.0, 3.0)
            if at - a < 0.01 * (b - a) or b - at < 0.01 * (b - a):
                return None
            D = np.abs(np.diff(self._first(places), 2, axis=0)).max(axis=1)
            if halving == 8 and D.max() < 0.1 * size / 256.0:
                return None
            if D.max() < 100 * noise:
                return float(at) if halving > 8 else None
            at = float(places[1 + int(np.argmax(D))])
        return at


def told(label: str, field: str, breaks: Breaks) -> Iterator[str]:
    """Yield a sentence about data that no panels resolve."""
    if breaks.missing > _TELL:
        yield (
            f"{label}: {field} changes so quickly along s that about {100 * breaks.missing:.2g} % of "
            f"its integral may be missing or in excess; give smoother data, or name the places where "
            f"it jumps and the borders of its peaks, e.g. breaks=(0.1, 0.2)"
        )
