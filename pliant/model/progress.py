"""Progress on the terminal or in a notebook: a bar with the remaining time, for ``progress=True``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pliant.model.checks import refuse

_WIDTH = 24
_OFTEN, _SELDOM = 0.1, 10.0
"""Seconds between lines where one overwrites the other, and where all of them stay."""

Told = Callable[..., tuple[float | None, str]]
"""From what a function tells of its progress: the part that is done, None if unknown, and a text."""


class Bar:
    """A line on standard error that is written again as the work proceeds."""

    def __init__(self, what: str) -> None:
        self.what, self.began, self._last, self._line = what, time.perf_counter(), 0.0, ""
        # a log file would keep every line; notebooks understand the carriage return
        self._live = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._told: tuple[float | None, str] = None, ""

    def show(self, done: float | None, text: str) -> None:
        """Write the line, if the last one is old enough."""
        now, self._told = time.perf_counter(), (done, text)
        if now - self._last >= (_OFTEN if self._live else _SELDOM) or done == 1.0:
            self._last = now
            self._write(line(self.what, done, text, now - self.began))

    def _write(self, text: str) -> None:
        blank = " " * max(len(self._line) - len(text), 0)
        sys.stderr.write(f"\r{text}{blank}" if self._live else f"{text}\n")
        sys.stderr.flush()
        self._line = text

    def finish(self) -> None:
        """Write that all is done, after what was told last."""
        done, text = self._told
        seconds = time.perf_counter() - self.began
        if done is None:
            self._write(f"{self.what}: {text}, done in {duration(seconds)}")
        elif done < 1.0:
            self._write(line(self.what, 1.0, text, seconds))

    def close(self) -> None:
        """End the line."""
        if self._line and self._live:
            sys.stderr.write("\n")
            sys.stderr.flush()


def line(what: str, done: float | None, text: str, seconds: float) -> str:
    """Return the line of a bar after some seconds of work."""
    if done is None:
        return f"{what}: {text}, {duration(seconds)}"
    part = min(max(done, 0.0), 1.0)
    full = int(_WIDTH * part)
    left = f"{duration(seconds * (1.0 - part) / part)} left" if part > 0 else "..."
    clock = f"done in {duration(seconds)}" if part == 1.0 else left
    return f"{what} [{'#' * full}{'-' * (_WIDTH - full)}] {100 * part:3.0f} %, {text}, {clock}"


def duration(seconds: float) -> str:
    """Return a time span as 0:07, 12:30 or 3:05:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def told(
    progress: Any, what: str, state: Told, whole: bool = False
) -> Iterator[Callable[..., Any] | None]:
    """Yield what a function calls with its progress: the user's function, that of a bar, or None.

    progress : as the user gave it: None or False, True for a bar, or a function.  what : the function
    that works.  state : what the bar shows of its arguments.  whole : the work only ends when all is
    done, and does not tell so.
    """
    refuse(
        progress is not None and not isinstance(progress, bool) and not callable(progress),
        what,
        "progress",
        progress,
        "True for a bar, or a function",
        "give progress=True",
    )
    if not isinstance(progress, bool) or not progress:
        yield progress or None
        return
    bar = Bar(what)

    def show(*told: Any) -> None:
        bar.show(*state(*told))

    show.seldom = True  # type: ignore[attr-defined]
    try:
        yield show
        if whole:
            bar.finish()
    finally:
        bar.close()


def time_reached(t: float, end: float) -> tuple[float, str]:
    """Return what a simulation tells of its progress at time t of `end`, s."""
    return t / end, f"{t:.4g} of {end:.4g} s"
