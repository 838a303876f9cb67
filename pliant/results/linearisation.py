"""Small motions about an equilibrium as a linear system, the result of `Robot.linearise`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.model import Array, DescriptionError, check_suffix, choice, finite_array, instance
from pliant.model.checks import count
from pliant.results.equilibrium import Equilibrium
from pliant.results.export import describe_formulation, plain_data, write_rows
from pliant.results.responses import coordinates_of, frame_of, input_names, turned
from pliant.results.result import Drawable, Result
from pliant.solve.response import Response, response_at
from pliant.solve.state_space import LinearSystem, damped_modes, linear_system

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = ("rx", "ry", "rz", "x", "y", "z")
_SHOWN = 8
"""Modes in a summary."""
Complex = NDArray[np.complex128]


class Linearisation(Result, Drawable):
    """Small motions about an equilibrium: x' = A x + B u, y = C x + D u, and damped modes.

    A, B, C, D : arrays (2k, 2k), (2k, m), (p, 2k), (p, m). Inputs u and outputs y are deviations from
        the equilibrium; the state x has k generalised displacements and k rates.
    inputs, outputs : names of the columns of B and the rows of C, such as "push" and "arm.tip z".
    eigenvalues : (n,) complex, 1/s, those with an imaginary part >= 0, slowest first.
    frequencies : (n,) Hz, |eigenvalue| / 2 pi.  damping : (n,) ratios, 1 for a motion that does not
        swing, below 0 for one that grows.
    equilibrium : the state it is about.  seconds : wall time.

    Made by `Robot.linearise` from equilibrium, system, names and seconds.
    """

    def __init__(
        self,
        equilibrium: Equilibrium,
        system: LinearSystem,
        names: tuple[list[str], list[str]],
        seconds: float,
    ) -> None:
        super().__init__(equilibrium._compiled)
        self.equilibrium, self.seconds = equilibrium, seconds
        self.A, self.B, self.C, self.D = system.A, system.B, system.C, system.D
        self.inputs, self.outputs = names
        self._basis = system.basis
        modes = damped_modes(system)
        self.eigenvalues, self._shapes = modes.eigenvalues, modes.shapes
        size = np.abs(self.eigenvalues)
        self.frequencies = size / (2.0 * np.pi)
        self.damping = -self.eigenvalues.real / np.where(size > 0.0, size, 1.0)

    def __repr__(self) -> str:
        return f"<Linearisation of {self._names}: {len(self.A)} states>"

    @property
    def stable(self) -> bool:
        """Whether no small motion grows, damping included."""
        fast = float(np.abs(self.eigenvalues).max(initial=0.0))
        return bool((self.eigenvalues.real <= 1e-9 * fast).all())

    def shape(self, k: int, part: str | None = None, s: ArrayLike | None = None) -> Complex:
        """Return complex body twists (..., 6) of mode k at arclengths s (...) of a rod.

        part, s : as for `Equilibrium.pose`. The motion is the real part of shape exp(eigenvalue t); the
        angle of an entry is its phase. The largest coordinate is one.
        """
        count("linearisation", "k", k, 0, "count from 0", len(self.eigenvalues) - 1)
        vector = self._shapes[:, k]
        real, imaginary = (
            self.equilibrium._twists(part, s, [np.ascontiguousarray(half)])
            for half in (vector.real, vector.imag)
        )
        return np.asarray(real + 1j * imaginary)

    def response(self, frequencies: ArrayLike) -> Complex:
        """Return the complex gains (F, p, m) from inputs to outputs at frequencies (F,), Hz."""
        expected, remedy = "frequencies (F,) in Hz", "give e.g. np.logspace(-1, 2, 200)"
        f = finite_array("response", "frequencies", frequencies, expected, remedy)
        flat = np.atleast_1d(f).ravel()
        values, vectors = np.linalg.eig(self.A)
        left = np.linalg.solve(vectors, self.B.astype(complex))
        right = self.C @ vectors
        return np.array(
            [right @ (left / (2j * np.pi * one - values)[:, None]) + self.D for one in flat]
        )

    def to_control(self) -> Any:
        """Return the system as a `control.StateSpace`, with "_" for dots in names.

        It needs the package python-control: pip install 'pliant[control]'.
        """
        try:
            import control
        except ImportError as error:
            raise DescriptionError(
                "linearisation",
                "to_control",
                "control",
                "an installed package",
                "run: pip install 'pliant[control]'",
            ) from error
        inputs, outputs = (
            [name.replace(".", "_") for name in names] for names in (self.inputs, self.outputs)
        )
        return control.ss(self.A, self.B, self.C, self.D, inputs=inputs, outputs=outputs)

    def to_dict(self) -> dict[str, Any]:
        """Return matrices, names and modes as plain data."""
        data = {
            **super().to_dict(),
            **{name: getattr(self, name).tolist() for name in "ABCD"},
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "frequencies": self.frequencies.tolist(),
            "damping": self.damping.tolist(),
        }
        return plain_data(data)

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write mode, frequency (Hz) and damping ratio as .csv and return the path."""
        target = check_suffix("to_csv", path, (".csv",))
        columns = self.frequencies.tolist(), self.damping.tolist()
        rows = [[k + 1, *row] for k, row in enumerate(zip(*columns, strict=True))]
        return write_rows(target, ["mode", "frequency", "damping"], rows)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        frequencies: ArrayLike | None = None,
    ) -> Figure:
        """Draw gain and phase of all pairs of inputs and outputs over the frequency (Bode).

        path : of a picture to write.  frequencies : (F,) Hz; around the first modes if not given.
        """
        from pliant.view import draw_bode, saved

        if frequencies is None:
            swinging = self.frequencies[self.frequencies > 0.0]
            low, high = (
                (swinging[0], swinging[min(5, len(swinging) - 1)]) if len(swinging) else (1, 1)
            )
            frequencies = np.geomspace(0.1 * low, 3.0 * high, 600)
        gains = self.response(frequencies)
        curves = {
            f"{one} over {other}": gains[:, i, j]
            for i, one in enumerate(self.outputs)
            for j, other in enumerate(self.inputs)
            if np.abs(gains[:, i, j]).max() > 1e-9 * np.abs(gains[:, :, j]).max()
        }
        return saved(draw_bode(np.asarray(frequencies, dtype=float), curves), path)

    def summary(self) -> str:
        """Return the slowest damped modes in a few lines of text."""
        rows = zip(self.frequencies[:_SHOWN], self.damping[:_SHOWN], strict=True)
        listed = ", ".join(f"{f:.4g} Hz ({d:.2g})" for f, d in rows)
        return "\n".join(
            [
                f"Linearisation: {describe_formulation(self.formulation)}",
                f"  {len(self.A)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs",
                f"  frequency (damping ratio): {listed}",
                f"  {'stable' if self.stable else 'unstable'}, {self.seconds:.3g} s",
            ]
        )


def linearise(
    still: Equilibrium, inputs: object, outputs: object, modes: int | None
) -> Linearisation:
    """Linearise about an equilibrium; arguments as for `Robot.linearise`."""
    began = time.perf_counter()
    problem = coordinates_of(still._compiled, "linearise")
    names = input_names(still.inputs, "linearise", inputs)
    places = _places(still, outputs)
    with problem.solver() as solver:
        response = response_at(solver, still._solution)
        rows, labels = _output_rows(response, problem.description, places)
        given = (still._solution, still.inputs, names)
        system = linear_system(response, *given, rows, modes)
    columns = []
    for name in names:
        size = int(np.size(still.inputs[name]))
        columns += (
            [name] if np.ndim(still.inputs[name]) == 0 else [f"{name} {k}" for k in range(size)]
        )
    return Linearisation(still, system, (columns, labels), time.perf_counter() - began)


def _places(still: Equilibrium, outputs: object) -> list[tuple[Any, tuple[str, ...]]]:
    """Places and the coordinates of each that are outputs."""
    if outputs is None:
        return []
    given = [outputs] if isinstance(outputs, str) else outputs
    expected = "places such as 'arm.tip', or pairs such as ('arm.tip', 'z')"
    remedy = "give e.g. ['arm.tip', ('hand', 'rx')]"
    found: list[tuple[Any, tuple[str, ...]]] = []
    for item in instance("linearise", "outputs", given, Sequence, expected, remedy):  # type: ignore[type-abstract]
        if isinstance(item, tuple | list) and len(item) == 2 and not hasattr(item, "part"):
            axis = choice("linearise outputs", str(item[0]), item[1], AXES)
            found.append((item[0], (axis,)))
        else:
            found.append((item, ("x", "y", "z")))
    return found


def _output_rows(
    response: Response, description: Any, places: list[tuple[Any, tuple[str, ...]]]
) -> tuple[Array, list[str]]:
    """Rows (p, total) of outputs for displacements, in world axes, and their names."""
    rows, labels = [np.zeros((0, response.tree.total))], []
    for place, axes in places:
        frame = frame_of(description, "linearise", place)
        pose, twists = response.frame_rates(frame)
        world = turned(twists, pose)
        rows.append(world[[AXES.index(axis) for axis in axes]])
        name = place if isinstance(place, str) else f"{frame.part} at {frame.s:g} m"
        labels += [f"{name} {axis}" for axis in axes]
    return np.concatenate(rows), labels
