"""Ctrl-C while the command line is being loaded: one line and exit code 130, without a traceback.

Nothing has been computed yet, so the process ends at once. This module is imported before all others,
and imports nothing that takes time.
"""

import _signal as signal  # type: ignore[import-not-found]  # the public module imports enum first
import os


def hold() -> None:
    """Let Ctrl-C end the process, if nobody else handles it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def release() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)
