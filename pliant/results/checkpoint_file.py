"""Checkpoints of simulations as files, with the checksum of all result files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from pliant.model import DescriptionError, check_suffix
from pliant.results.result_file import read, write
from pliant.solve.checkpoint import (
    Checkpoint,
    Checkpoints,
    fingerprint,
    refuse_hidden_memories,
    require_same,
)
from pliant.solve.clock import Clock
from pliant.solve.control import Control
from pliant.solve.integrators.contract import Integrator
from pliant.solve.problem import Problem

KIND = "Checkpoint"


def open_checkpoints(
    save: str | os.PathLike[str] | None,
    resume: str | os.PathLike[str] | None,
    problem: Problem,
    inputs: Mapping[str, Any],
    integrator: Integrator,
    clock: Clock,
    start: Any,
    control: Control | None,
) -> Checkpoints | None:
    """Return where a simulation keeps its checkpoints; None if it keeps none and continues none.

    save, resume : files.  start : where the motion begins, as it was asked for.  control : of a
    motion with controllers; what they remember is watched as they are asked.
    """
    if save is None and resume is None:
        return None
    refuse_hidden_memories(inputs)
    target = None if save is None else check_suffix("simulate", save, (".nc",))
    depends = {
        "robot": problem.description,
        "formulation": problem.formulations,
        "integrator": integrator,
        "times": clock,
        "start": start,
        "version of Pliant": sys.modules["pliant"].__version__,
    }
    controllers = {} if control is None else control.named()
    mine = fingerprint({**inputs, **controllers}, depends)
    last = None if resume is None else read_checkpoint(resume)
    if last is not None:
        require_same(resume, last.fingerprint, mine)
    write = None if target is None else partial(write_checkpoint, target)
    return Checkpoints(write, last, mine)


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; an old file is replaced only at the end."""
    import xarray as xr

    arrays = {
        name: (tuple(f"{name}_{k}" for k in range(values.ndim)), values)
        for name, values in checkpoint.arrays.items()
    }
    notes = {
        "kind": KIND,
        "pliant_version": sys.modules["pliant"].__version__,
        "fingerprint": json.dumps(dict(checkpoint.fingerprint)),
        "inputs": json.dumps(dict(checkpoint.inputs)),
    }
    write(xr.Dataset(arrays, attrs=notes), path)


def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Return the checkpoint in a file; refuse one that holds a finished motion."""
    data = read(path, "simulate")
    if data.attrs["kind"] != KIND:
        raise DescriptionError(
            "simulate",
            "resume",
            str(path),
            f"a checkpoint (the file holds a finished {data.attrs['kind']})",
            "read it with pliant.load, or leave resume out to begin again",
        )
    arrays = {str(name): np.array(item.values) for name, item in data.data_vars.items()}
    notes = {name: json.load(StringIO(data.attrs[name])) for name in ("inputs", "fingerprint")}
    return Checkpoint(arrays, **notes)
