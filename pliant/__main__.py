"""Run the command line with ``python -m pliant``, or as the command ``pliant``."""

import sys


def run() -> None:
    """Run the command line; Ctrl-C ends it with one line, also while it starts."""
    try:
        from pliant.cli import main

        main(prog_name="pliant")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    run()
