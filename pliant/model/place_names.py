"""Places by name: "arm.tip", "arm.base", "arm.0.12" (arclength in metres), or the name of a body."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from pliant.model.checks import DescriptionError, nearest_name, number_in

ENDS = ("tip", "base")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")
_LAST = re.compile(rf"\.({'|'.join(ENDS)}|at\([^)]*\)|{_NUMBER.pattern})$")


def find_place(
    text: str, rods: Mapping[str, float | None], bodies: Collection[str]
) -> tuple[str, float] | None:
    """Return the part and arclength (m) that a text names, None if it names no place.

    rods : their lengths by name, metres.  bodies : their names. Names may have dots: of several
    readings the one on its rod counts, and two of them are refused.
    """
    if text in bodies:
        return text, 0.0
    found = []
    for name, length in rods.items():
        s = _arclength(text.removeprefix(f"{name}."), length)
        if text.startswith(f"{name}.") and s is not None:
            found.append((name, s, length is None or s <= length * (1.0 + 1e-9)))
    inside = [reading for reading in found if reading[2]] or found
    if len(inside) > 1:
        listed = " or ".join(f"s = {s:g} m of rod {name!r}" for name, s, _ in inside)
        expected, remedy = f"one place, not {listed}", "give a Frame or {part: ..., at: ...}"
        raise DescriptionError("", "", text, expected, remedy)
    return inside[0][:2] if inside else None


def _arclength(place: str, length: float | None) -> float | None:
    """Return what a place on a rod means, metres; the tip is at 0 while the length is unknown."""
    if place in ENDS:
        return 0.0 if place == "base" else length or 0.0
    inner = place[3:-1] if place.startswith("at(") and place.endswith(")") else place
    return number_in(inner) if _NUMBER.fullmatch(inner) else None


def place_hint(
    text: str, rods: Collection[str], bodies: Collection[str], whole: bool = False
) -> str:
    """Return a hint for a text that names no place; it keeps what was asked for: an end, an arclength.

    whole : whether the bare name of a rod, for all of it, would do as well.
    """
    if text in rods:
        return f"give a place on it: '{text}.tip', '{text}.base', or '{text}.0.1' for s = 0.1 m"
    rod = max((name for name in rods if text.startswith(f"{name}.")), key=len, default=None)
    if rod is not None:
        near = nearest_name(text.removeprefix(f"{rod}."), ENDS)
        return f"did you mean '{rod}.{near}'?" if near else f"give e.g. '{rod}.tip' or '{rod}.0.1'"
    last = _LAST.search(text)
    if last is not None and rods:
        name, place = text[: last.start()], last[0]
        if name in bodies:
            return f"a body has no arclength: give {name!r}, or a Frame from its at(point)"
        near = nearest_name(name, rods)
        return f"did you mean '{near}{place}'?" if near else _all_places(rods, bodies, place)
    near = nearest_name(text, [*rods, *bodies])
    if near in rods and not whole:
        return f"did you mean a place on rod {near!r}, such as '{near}.tip'?"
    if near is not None:
        return f"did you mean {near!r}?"
    return _all_places(rods, bodies, "" if whole else ".tip")


def _all_places(rods: Collection[str], bodies: Collection[str], place: str) -> str:
    names = [f"{name}{place}" for name in rods] + list(bodies)
    if not names:
        return "there are none yet"
    return "choose from " + ", ".join(repr(name) for name in names)
