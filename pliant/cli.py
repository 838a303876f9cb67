"""The command line: ``pliant check``, ``run``, ``modes``, ``compare``, ``resolve`` and ``fit``.

Everything heavy is imported inside the commands, so that ``pliant --help`` answers at once and the
first result is not kept waiting for the libraries that draw and save.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pliant import __version__
from pliant.study.commands import compare, fit, resolve

if TYPE_CHECKING:
    from rich.progress import TaskID

    from pliant.files import RobotFile, SimulateRun
    from pliant.results.motion import Motion
    from pliant.robot import Robot

BUNDLED = Path(__file__).resolve().parent / "robots" / "arm.yaml"
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells expect it."""


class _Sentences(click.Group):
    """Commands whose errors are one sentence in red, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn what Pliant refuses or cannot write into a message."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            message = f"{where}{error.strerror or error}"
        except Exception as error:
            from pliant.model import PliantError

            if not isinstance(error, PliantError):
                raise
            message = str(error)
        click.secho(message, fg="red", err=True)
        ctx.exit(1)


@click.group(cls=_Sentences, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pliant", message="%(prog)s %(version)s")
def main() -> None:
    """Robots made of slender soft parts: describe once, solve with any rod formulation."""


main.add_command(compare)
main.add_command(resolve)
main.add_command(fit)


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Check a robot file and say everything that is wrong with it."""
    found, _ = _read(file)
    runs = ", ".join(type(run).__name__.removesuffix("Run").lower() for run in found.runs)
    click.echo(f"{file}: {_count_parts(found)}; {runs or 'nothing'} to compute. Nothing is wrong.")


@main.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("pliant-results"),
    show_default=True,
    help="Folder for pictures and results; made if needed.",
)
@click.option("--no-animation", is_flag=True, help="Leave out the animation of a motion.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def run(file: Path | None, output: Path, no_animation: bool, quiet: bool) -> None:
    """Compute what a robot file asks for, and leave pictures and results in a folder.

    Without FILE, a robot that comes with Pliant is solved.
    """
    found, robot = _read(file or BUNDLED)
    _check_folder(output)
    _Runner(found, robot, output, not no_animation, quiet).run()


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--count", type=int, default=None, help="Number of modes; else what the file says.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for a picture and results."
)
def modes(file: Path, count: int | None, output: Path | None) -> None:
    """Print the natural frequencies of a robot about its equilibrium."""
    found, robot = _read(file, needs_mass=True)
    asked = [run.count for run in found.runs if hasattr(run, "count")]
    if output is not None:
        _check_folder(output)
    runner = _Runner(found, robot, output or Path(), False, False)
    runner.modes(count if count is not None else (asked or [6])[0], save=output is not None)


def _read(file: Path, needs_mass: bool = False) -> tuple[RobotFile, Robot]:
    """Return what a file says, with all that can be refused before anything is computed refused."""
    from pliant.files import SimulateRun, load_robot_file
    from pliant.robot import Robot
    from pliant.solve.compiled import choose_formulations, require_mass
    from pliant.solve.registry import formulations, integrators

    found = load_robot_file(file, formulations(), integrators())
    chosen = choose_formulations(found.description, None)
    moving = [hasattr(run, "count") or isinstance(run, SimulateRun) for run in found.runs]
    if needs_mass or any(moving):
        simulated = any(isinstance(run, SimulateRun) for run in found.runs)
        require_mass(found.description, chosen if simulated else None)
    return found, Robot._from(found.description, found.inputs)


def _count_parts(found: RobotFile) -> str:
    from pliant.model.registry import headings

    words = headings()
    counts = {kind: len(parts) for kind, parts in found.description.kinds().items()}
    names = {kind: words[kind] if n == 1 else kind.replace("_", " ") for kind, n in counts.items()}
    return ", ".join(f"{n} {names[kind]}" for kind, n in counts.items() if n)


def _check_folder(output: Path) -> None:
    from pliant.model import DescriptionError

    if output.exists() and not output.is_dir():
        raise DescriptionError("run", "--output", str(output), "a folder", "choose another name")


class _Runner:
    """Does what a robot file asks for, telling what happens."""

    def __init__(
        self, found: RobotFile, robot: Robot, output: Path, animation: bool, quiet: bool
    ) -> None:
        from rich.console import Console

        self.found = found
        self.robot = robot
        self.output = output
        self.animation = animation
        self.console = Console(quiet=quiet, highlight=False, soft_wrap=True)
        self.written: list[Path] = []
        self.unsaved: tuple[Callable[[Path], object], str] | None = None
        self.still: Any = None

    def run(self) -> None:
        """Compute everything in the order of the file; Ctrl-C keeps what there is."""
        from pliant.files import ModesRun, SimulateRun, StaticsRun

        self.console.print(f"[bold]{self.found.path.name}[/]: {_count_parts(self.found)}")
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        whole = True
        try:
            for asked in self.found.runs or (StaticsRun(),):
                if isinstance(asked, SimulateRun):
                    whole = self.simulate(asked) and whole
                elif isinstance(asked, ModesRun):
                    self.modes(asked.count)
                else:
                    self.statics()
                if not whole:
                    break
        except KeyboardInterrupt:
            whole = False
            self._keep_unsaved()
        self._list_files()
        if not whole:
            kept = "what was computed so far is kept" if self.written else "nothing was written"
            click.secho(f"interrupted: {kept}", fg="red", err=True)
            sys.exit(INTERRUPTED)

    def statics(self) -> None:
        """Solve for the equilibrium, print it, then save and draw it."""
        with self._working("statics"):
            self.still = self.robot.statics()
            summary = self.still.summary()
        self.unsaved = (self.still.save, "statics.nc")
        self.console.print(summary, markup=False)
        self._keep(self.still.save, "statics.nc")
        self._keep(self.still.plot, "statics.png")

    def simulate(self, asked: SimulateRun) -> bool:
        """Simulate, print, save and draw; tell whether the motion is complete."""
        from pliant.model import ConvergenceError
        from pliant.results.motion import Motion

        start = self.still if asked.start == "statics" and self.still else asked.start
        try:
            with self._working("simulate", asked.duration) as bar:
                move = self.robot.simulate(
                    asked.duration,
                    asked.dt,
                    start=start,
                    integrator=asked.integrator,
                    output_every=asked.output_every,
                    progress=lambda t, _: bar(t),
                )
        except ConvergenceError as error:
            if isinstance(error.last, Motion) and len(error.last.t):
                self._keep_motion(error.last, False)
                self._list_files()
            raise
        self._keep_motion(move, self.animation and move.complete)
        return move.complete

    def _keep_motion(self, move: Motion, animation: bool) -> None:
        self.unsaved = (move.save, "motion.nc")
        self.console.print(move.summary(), markup=False)
        self._keep(move.save, "motion.nc")
        self._keep(move.plot, "motion.png")
        if animation and len(move.t) > 1:
            pictures = int(move.t[-1] * 25) + 1
            with self._working("animation", pictures) as bar:
                self._keep(
                    lambda path: move.animate(path, progress=lambda k, n: bar(k)), "motion.gif"
                )

    def modes(self, count: int, save: bool = True) -> None:
        """Compute modes about the equilibrium, print, save and draw them."""
        with self._working("modes"):
            found = self.robot.modes(count, at=self.still)
        self.console.print(found.summary(), markup=False)
        if save:
            self._keep(found.save, "modes.nc")
            self._keep(found.plot, "modes.png")

    def _keep(self, write: Callable[[Path], object], ending: str) -> None:
        path = self.output / f"{self.found.path.stem}-{ending}"
        self.unsaved = (write, ending) if path.suffix == ".nc" else None
        write(path)
        self.unsaved = None
        self.written.append(path)

    def _keep_unsaved(self) -> None:
        """Save the numbers that Ctrl-C found computed but not yet on disk."""
        if self.unsaved is not None:
            self._keep(*self.unsaved)

    def _list_files(self) -> None:
        if self.written:
            self.console.print("[bold]written:[/]")
            for path in self.written:
                self.console.print(f"  {path}", markup=False)

    @contextmanager
    def _working(self, what: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
        """Show a spinner or a bar during a computation, and every kernel that is compiled."""
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        from pliant._numba import CompileListener

        columns = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
        if total is not None:
            columns.insert(2, BarColumn(bar_width=30))
        quiet = not self.console.is_terminal
        progress = Progress(*columns, console=self.console, transient=True, disable=quiet)
        task = progress.add_task(what, total=total)
        tell = _Compilation(progress, task, what, self.console)
        with progress, CompileListener(tell):
            yield lambda done: progress.update(task, completed=done)
        tell.conclude()


class _Compilation:
    """Says which kernel is being compiled, and at the end how many were."""

    def __init__(self, progress: Any, task: TaskID, what: str, console: Any) -> None:
        self.progress = progress
        self.task = task
        self.what = what
        self.console = console
        self.count = 0
        self.began = 0.0

    def __call__(self, kernel: str, seconds: float | None) -> None:
        """Told the kernel's name before (seconds None) and after it was compiled."""
        if seconds is not None:
            self.progress.update(self.task, description=self.what)
            return
        if self.count == 0:
            self.began = time.perf_counter()
            if not self.console.is_terminal:
                self.console.print(f"{self.what}: compiling kernels, on first use only ...")
        self.count += 1
        name = kernel.removeprefix("pliant.")
        text = f"{self.what}: compiling kernel {name} ({self.count}), on first use only"
        self.progress.update(self.task, description=text, refresh=True)

    def conclude(self) -> None:
        """Say how many kernels were compiled, if any."""
        if self.count:
            took = time.perf_counter() - self.began
            self.console.print(
                f"[dim]{self.what}: {self.count} kernel{'s' * (self.count > 1)} compiled "
                f"within {took:.0f} s, kept for the next start[/]"
            )
