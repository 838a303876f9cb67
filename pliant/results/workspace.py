"""What `pliant.workspace` found: the places that inputs bring a frame to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model import Array, check_suffix, known_name
from pliant.results.equilibrium import Equilibrium
from pliant.results.export import (
    dataset,
    describe_formulation,
    pose_variables,
    variable,
    write_rows,
)
from pliant.results.result import Saveable, Study

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class Workspace(Study, Saveable):
    """The poses of a place of a robot while inputs vary.

    of : the place.  inputs : by name, their values (N,).  poses : (N, 4, 4) in the world.
    stable : for each, whether it is stable; None where loads without potential leave it open.
    failed : combinations of inputs without an equilibrium that was found.
    last : the last equilibrium.  seconds : wall time.

    Made by `pliant.workspace` from these.
    """

    def __init__(
        self,
        last: Equilibrium,
        of: str,
        inputs: Mapping[str, Array],
        poses: Array,
        stable: Sequence[bool | None],
        failed: int,
        seconds: float,
    ) -> None:
        self.last, self.of, self.inputs = last, of, dict(inputs)
        self.poses, self.stable = poses, list(stable)
        self.failed, self.seconds = failed, seconds

    @property
    def positions(self) -> Array:
        """World positions (N, 3), metres."""
        return self.poses[:, :3, 3]

    def __len__(self) -> int:
        return len(self.poses)

    def __repr__(self) -> str:
        return f"<Workspace of {self.of}: {len(self)} poses>"

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        color: str | None = None,
        view: Any = None,
    ) -> Figure:
        """Draw the positions with the robot at rest; save the picture if a path is given.

        color : name of the input whose value colours the points; the first one if not given.
        view : (elevation, azimuth) in degrees, "iso", "front", "side", "top", or None to choose.
        """
        from pliant.results.shapes_and_arrows import rod_shapes
        from pliant.view import draw_workspace, saved

        chosen = next(iter(self.inputs)) if color is None else color
        known_name("workspace", "color", chosen, self.inputs, "an input that varies")
        problem = self.last._compiled
        shapes = rod_shapes(problem, [problem.rest])
        unstable = np.array([known is False for known in self.stable])
        values, label = self.inputs[chosen], problem.description.input_label(chosen)
        figure = draw_workspace(self.positions, values, label, unstable, shapes, view=view)
        return saved(figure, path)

    def to_xarray(self) -> xr.Dataset:
        """Return inputs and poses as labelled arrays."""
        variables = pose_variables(("point",), self.poses)
        for name, values in self.inputs.items():
            variables[f"input {name}"] = variable("value", ("point",), values)
        attributes = {**self.last._attributes(), "kind": "Workspace", "failed": self.failed}
        return dataset(variables, {}, {**attributes, "seconds": self.seconds})

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write a row of inputs and position x, y, z (m) for each pose as .csv; returns the path."""
        target = check_suffix("to_csv", path, (".csv",))
        table = np.column_stack([*self.inputs.values(), self.positions])
        return write_rows(target, [*self.inputs, "x", "y", "z"], table.tolist())

    def summary(self) -> str:
        """Return the extent of the reachable set in a few lines of text."""
        low, high = self.positions.min(axis=0), self.positions.max(axis=0)
        ends = ", ".join(
            f"{axis} {a:.4g} to {b:.4g}" for axis, a, b in zip("xyz", low, high, strict=True)
        )
        lines = [
            f"Workspace of {self.of}: {describe_formulation(self.last.formulation)}",
            f"  {len(self)} poses; extent / m: {ends}",
            f"  {self.failed} combinations without an equilibrium, "
            f"{sum(known is False for known in self.stable)} unstable, {self.seconds:.3g} s",
        ]
        return "\n".join(lines)
