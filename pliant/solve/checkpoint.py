"""Checkpoints of a simulation: all that its next step depends on, so that it can go on later.

A checkpoint holds the numbers of whatever takes the steps and the snapshots so far. A simulation that
goes on from it repeats the steps of an uninterrupted one to the last bit. A fingerprint of robot,
settings and inputs tells whether both are the same.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from pliant.model import DescriptionError, PliantError, Signal
from pliant.rods.contract import Array
from pliant.solve.fingerprint import text_of

EVERY = 5.0
"""Seconds between two checkpoints."""
_SHARE = 20.0
"""At least this many times as long as writing one takes."""


@dataclass(frozen=True)
class Checkpoint:
    """A simulation on its way.

    arrays : by name.  inputs : memories of inputs by name.  fingerprint : of all that it depends on.
    """

    arrays: Mapping[str, Array]
    inputs: Mapping[str, Any]
    fingerprint: Mapping[str, str]


class Checkpoints:
    """Where a simulation writes checkpoints, and the one that it continues.

    write : takes one.  last : to continue, None to begin at t = 0.  fingerprint : of the simulation.
    """

    def __init__(
        self,
        write: Callable[[Checkpoint], object] | None,
        last: Checkpoint | None,
        fingerprint: Mapping[str, str],
    ) -> None:
        self._write, self.last, self._fingerprint = write, last, fingerprint
        self._next, self._failed = 0.0, False

    def offer(self, arrays: Callable[[], Mapping[str, Array]], inputs: Mapping[str, Any]) -> None:
        """Write a checkpoint if it is time for one."""
        began = time.perf_counter()
        if self._write is None or self._failed or began < self._next:
            return
        memories = {name: plain(given.state()) for name, given in remembering(inputs).items()}
        try:
            self._write(Checkpoint(arrays(), memories, self._fingerprint))
        except (OSError, PliantError) as error:
            if self._next == 0.0:
                raise
            self._failed = True
            text = (
                f"the simulation goes on without checkpoints, for one could not be written: {error}"
            )
            warnings.warn(text, stacklevel=2)
        now = time.perf_counter()
        self._next = now + max(EVERY, _SHARE * (now - began))


def pack(arrays: Iterable[Any]) -> dict[str, Array]:
    """Return arrays of floats, integers and truths as three flat ones."""
    kinds: dict[str, list[Any]] = {"f": [], "i": [], "b": []}
    for array in arrays:
        kinds[array.dtype.kind].append(array.ravel())
    return {
        f"memory_{kind}": np.concatenate([np.zeros(0, dtype=first), *some]).astype(first)
        for (kind, some), first in zip(kinds.items(), (np.float64, np.int64, np.int8), strict=True)
    }


def unpack(arrays: Iterable[Any], packed: Mapping[str, Array]) -> None:
    """Give arrays the numbers that `pack` made one of; refuse other numbers of them."""
    filled, at = list(arrays), {"f": 0, "i": 0, "b": 0}
    wanted = {kind: sum(x.size for x in filled if x.dtype.kind == kind) for kind in at}
    found = {kind: len(packed[f"memory_{kind}"]) for kind in at}
    if found != wanted:
        expected = f"a checkpoint of {sum(wanted.values())} numbers, as this version writes it"
        remedy = "leave resume out to begin again"
        raise DescriptionError("simulate", "resume", sum(found.values()), expected, remedy)
    for array in filled:
        kind = array.dtype.kind
        end = at[kind] + array.size
        array[...] = packed[f"memory_{kind}"][at[kind] : end].reshape(array.shape)
        at[kind] = end


# -- inputs with a memory --------------------------------------------------------------------------


def remembering(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs that offer their memory by `state()` and take it back by `restore(state)`."""
    found = {}
    for name, given in inputs.items():
        owner = getattr(given, "__self__", given)
        if callable(getattr(owner, "state", None)) and callable(getattr(owner, "restore", None)):
            found[name] = owner
    return found


def changed_by(call: Callable[..., Any], *args: Any) -> tuple[Any, bool]:
    """Return what a call returns, and whether it changed what is called."""
    before = text_of(call)
    return call(*args), text_of(call) != before


def refuse_hidden_memories(inputs: Mapping[str, Any]) -> None:
    """Refuse functions that remember something between calls and do not offer it."""
    known = remembering(inputs)
    for name, given in inputs.items():
        if not callable(given) or isinstance(given, Signal) or name in known:
            continue
        changed = False
        with suppress(Exception):  # reported where it is needed
            first, changed = changed_by(given, 0.0)
            changed = changed or text_of(given(0.0)) != text_of(first)
        if changed:
            raise DescriptionError(
                f"input {name!r}",
                "value",
                given,
                "a function of time alone, or an object that tells its memory by state() and takes it "
                "back by restore(state), for a simulation with checkpoints",
                "add these two methods, or leave out save and resume",
            )


def plain(value: Any) -> Any:
    """Return a memory as numbers, texts, lists and dicts of them; refuse anything else."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    try:
        return json.load(StringIO(json.dumps(value, default=plain)))
    except (TypeError, ValueError, RecursionError):
        raise DescriptionError(
            "simulate",
            "state() of an input",
            value,
            "numbers, texts, arrays, lists or dicts of them",
            "return e.g. {'integral': 0.3}",
        ) from None


# -- fingerprints ----------------------------------------------------------------------------------


def fingerprint(inputs: Mapping[str, Any], items: Mapping[str, Any]) -> dict[str, str]:
    """Return a hash of each input and item by name: numbers by their bits, functions by their code.

    An input that tells its memory counts by its class: what it remembers changes.
    """
    known = remembering(inputs)
    bare = {**inputs, **{name: type(given) for name, given in known.items()}}
    named = {f"input {name!r}": given for name, given in bare.items()}
    texts = {name: text_of(item) for name, item in {**items, **named}.items()}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def require_same(path: object, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Refuse a checkpoint of another simulation, naming what differs."""
    names = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
    if names:
        raise DescriptionError(
            "simulate",
            "resume",
            str(path),
            f"a checkpoint of the same simulation (other than there: {', '.join(names)})",
            "give the same robot, settings and inputs, or leave resume out to begin again",
        )
