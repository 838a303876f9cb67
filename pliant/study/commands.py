"""The commands ``compare``, ``resolve`` and ``fit``; what is heavy is imported inside them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click


def _folder(option: str, output: Path | None) -> None:
    from pliant.model import DescriptionError

    if output is not None and output.exists() and not output.is_dir():
        raise DescriptionError(option, "--output", str(output), "a folder", "choose another name")


def _robot(file: Path) -> tuple[Any, Any]:
    """Return what a robot file says, and the robot."""
    from pliant.files import load_robot_file
    from pliant.robot import Robot
    from pliant.solve.registry import formulations, integrators

    found = load_robot_file(file, formulations(), integrators())
    return found, Robot._from(found.description, found.inputs)


def _keep(files: list[tuple[Any, Path]]) -> None:
    for write, path in files:
        write(path)
    click.echo("written:")
    for _, path in files:
        click.echo(f"  {path}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--with",
    "entries",
    multiple=True,
    help="A formulation as in Python, e.g. 'Strain(order=3)', or with an integrator: "
    "'BSpline(), Newmark()'. May be repeated; without it, all formulations by default.",
)
@click.option("--reference", help="What the others are measured against; else the first.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for a picture and the table."
)
def compare(
    file: Path, entries: tuple[str, ...], reference: str | None, output: Path | None
) -> None:
    """Solve a robot with several formulations and print how much they differ.

    Motions are compared if FILE asks for one under 'simulate:', equilibria otherwise.
    """
    from pliant.files import SimulateRun
    from pliant.solve.registry import formulations, integrators
    from pliant.study.compare import compare as compare_formulations
    from pliant.study.words import settings_from_text

    _folder("compare", output)
    known = {**formulations(), **integrators()}
    methods = [settings_from_text("--with", text, known) for text in entries]
    truth = None if reference is None else settings_from_text("--reference", reference, known)
    found, robot = _robot(file)
    run = next((item for item in found.runs if isinstance(item, SimulateRun)), None)
    result = compare_formulations(
        robot,
        methods or [cls() for cls in formulations().values()],
        truth,
        inputs=found.inputs_at(0.0) if run is None else None,
        duration=None if run is None else run.duration,
        dt=None if run is None else run.dt,
        integrator=None if run is None else run.integrator,
        start="rest" if run is None else run.start,
        output_times=None if run is None else _times(run),
        progress=lambda label, k, n: click.echo(f"{k + 1} of {n}: {label}", err=True),
    )
    click.echo(result.summary())
    if output is not None:
        stem = output / f"{file.stem}-comparison"
        _keep([(result.save, stem.with_suffix(".csv")), (result.plot, stem.with_suffix(".png"))])


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--accuracy",
    type=float,
    default=1e-3,
    show_default=True,
    help="Largest distance from the exact solution, as a fraction of the length of a rod.",
)
@click.option("--with", "method", help="Formulation, or with an integrator, as for compare.")
@click.option("--dt", type=float, help="Longest step to try, s; else a fiftieth of the duration.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for a picture and the table."
)
def resolve(
    file: Path, accuracy: float, method: str | None, dt: float | None, output: Path | None
) -> None:
    """Find the number of elements, and the step, that a robot needs for an accuracy.

    A motion is resolved if FILE asks for one under 'simulate:', an equilibrium otherwise.
    """
    from pliant.files import SimulateRun
    from pliant.study.resolve import resolve as choose

    _folder("resolve", output)
    formulation, integrator = _method(method)
    found, robot = _robot(file)
    run = next((item for item in found.runs if isinstance(item, SimulateRun)), None)
    result = choose(
        robot,
        accuracy,
        formulation,
        inputs=found.inputs_at(0.0) if run is None else None,
        duration=None if run is None else run.duration,
        dt=dt,
        integrator=integrator or (None if run is None else run.integrator),
        start="rest" if run is None else run.start,
        progress=lambda text, k: click.echo(f"{k + 1}: {text}", err=True),
    )
    click.echo(result.summary())
    if output is not None:
        stem = output / f"{file.stem}-resolution"
        _keep([(result.save, stem.with_suffix(".csv")), (result.plot, stem.with_suffix(".png"))])


def _method(text: str | None) -> tuple[Any, Any]:
    """The formulation and the integrator that an option --with names; None where it does not."""
    from pliant.solve.registry import formulations, integrators
    from pliant.study.words import settings_from_text

    known = {**formulations(), **integrators()}
    chosen = None if text is None else settings_from_text("--with", text, known)
    return (*chosen, None)[:2] if isinstance(chosen, tuple) else (chosen, None)


def _times(run: Any) -> Any:
    from pliant.solve.clock import make_clock

    return make_clock(run.duration, run.dt, run.output_every).outputs


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("data", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-p",
    "--parameter",
    "parameters",
    multiple=True,
    help="A path such as arm.material.E, with a start and bounds if wanted: 'arm.drag=0.5[0,2]', and "
    "with a prior, mean and standard deviation: 'arm.drag=0.5[0,2]~0.6+-0.1' or 'arm.drag~0.6+-0.1'. "
    "Paths that share one value have commas between them. "
    "Without any, those that FILE has are listed.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    help="A path such as arm.tip.z, or arm.tip.z=COLUMN, with the standard deviation of its noise if "
    "known: arm.tip.z=COLUMN+-1e-3; else every column named so.",
)
@click.option("--hold-out", type=click.Path(path_type=Path), multiple=True, help="Data to predict.")
@click.option("--dt", type=float, help="Step of motions, s.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    help="An input that is not a column: 'chamber1=2e4', or 'push=0,0,1' for a vector.",
)
@click.option(
    "--start",
    multiple=True,
    help="Where motions begin: rest (the default), statics, or in equilibrium with other inputs, "
    "which are let go: 'thread=1'.",
)
@click.option("--with", "method", help="Formulation, or with an integrator, as for compare.")
@click.option(
    "-o",
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("pliant-results"),
    show_default=True,
    help="Folder for the report and the picture.",
)
@click.option(
    "--write-robot",
    type=click.Path(path_type=Path),
    help="Write FILE with the values found to this robot file; comments stay.",
)
def fit(
    file: Path,
    data: tuple[Path, ...],
    parameters: tuple[str, ...],
    outputs: tuple[str, ...],
    hold_out: tuple[Path, ...],
    dt: float | None,
    inputs: tuple[str, ...],
    start: tuple[str, ...],
    method: str | None,
    folder: Path,
    write_robot: Path | None,
) -> None:
    """Find parameters of the robot in FILE from measurements in CSV files DATA.

    A file with a column t or time holds a motion, any other one equilibria, one in each row. A column
    with the name of an input (a load, a chamber) is that input, one with the path of an output
    (arm.tip.z) was measured.
    """
    from pliant.files.measurement import read_measurement
    from pliant.results.fit import FitWarning
    from pliant.study import words
    from pliant.study.fit import fit as identify

    _folder("fit", folder)
    formulation, integrator = _method(method)
    wanted = [words.parameter_from_text(text) for text in parameters]
    asked = [words.output_from_text(text) for text in outputs]
    given = words.inputs_from_text("--input", inputs)
    begun = words.start_from_text(start)
    _, robot = _robot(file)
    _require_some(wanted, robot)
    paths = [path for parameter in wanted for path in parameter.paths]
    if write_robot is not None:
        _check_writing(file, robot, wanted, paths, write_robot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # the summary has them
        found = identify(
            robot,
            [read_measurement(path, start=begun) for path in data],
            wanted,
            asked or None,
            validation=[read_measurement(path, start=begun) for path in hold_out] or None,
            inputs=given,
            formulation=formulation,
            integrator=integrator,
            dt=dt,
            progress=_tell,
        )
    click.echo(found.summary())
    stem = folder / f"{file.stem}-fit"
    endings = {".md": found.save, ".json": found.save, ".nc": found.save, ".png": found.plot}
    written = [(write, stem.with_suffix(ending)) for ending, write in endings.items()]
    if write_robot is not None:
        new = found.robot.description
        written.append((lambda path: _write_robot(file, new, paths, path), write_robot))
    _keep(written)


def _write_robot(file: Path, new: Any, paths: list[str], path: Path) -> None:
    """Write a robot file with the numbers of a description at some paths, if that gives it again."""
    from pliant.view.saving import whole_file

    with whole_file(path) as partial:
        _rewrite(file, new, paths, partial)


def _rewrite(file: Path, new: Any, paths: list[str], partial: Path) -> None:
    from pliant.files.rewrite import check_rewritten, rewritten

    partial.write_text(rewritten(file, new, paths), encoding="utf-8")
    check_rewritten(file, _robot(partial)[0].description, new)


def _check_writing(file: Path, robot: Any, wanted: list[Any], paths: list[str], path: Path) -> None:
    """Refuse to fit what cannot be written in the end: other numbers near the start are tried."""
    import os
    import tempfile

    import numpy as np

    from pliant.study.parameters import variables

    unknowns = variables(robot.description, wanted)
    nudged = [
        item.start + (1e-3 if item.start + 1e-3 <= item.high else -1e-3) for item in unknowns.items
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=path.suffix, dir=path.parent)
    os.close(handle)
    try:
        _rewrite(file, unknowns.described(np.array(nudged)), paths, Path(name))
    finally:
        Path(name).unlink()


def _tell(k: int, cost: float, values: dict[str, float]) -> None:
    listed = ", ".join(f"{name} {value:.5g}" for name, value in values.items())
    click.echo(f"{k}: {cost:.6g}  {listed}", err=True)


def _require_some(parameters: list[Any], robot: Any) -> None:
    from pliant.model import DescriptionError
    from pliant.model.paths import number_paths

    if not parameters:
        listed = ", ".join(number_paths(robot.description))
        raise DescriptionError(
            "fit", "--parameter", "none", "one or more, such as -p PATH", f"choose from {listed}"
        )
