"""The commands ``pliant compare`` and ``pliant fit``; what is heavy is imported inside them."""

from __future__ import annotations

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


def _times(run: Any) -> Any:
    from pliant.solve.dynamics import make_clock

    return make_clock(run.duration, run.dt, run.output_every).outputs
