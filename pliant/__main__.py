"""Run the command line with ``python -m pliant``, or as the command ``pliant``."""

import sys


def run() -> None:
    """Run the command line; Ctrl-C ends it with one line, also while it starts."""
    try:
        from click import Abort, ClickException

        from pliant.cli import main

        try:
            sys.exit(main(prog_name="pliant", standalone_mode=False))
        except ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except Abort:  # Ctrl-C while Click reads the command line
            raise KeyboardInterrupt from None
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    run()
