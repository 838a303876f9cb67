"""Run the command line with ``python -m pliant``, or as the command ``pliant``."""

import sys

from pliant import _starting


def run() -> None:
    """Run the command line; Ctrl-C ends it with one line, also while it starts."""
    _starting.hold()
    from click import Abort, ClickException

    from pliant.cli import main

    try:
        _starting.release()
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
    finally:
        # Python would end by a signal after Ctrl-C inside exec, as dataclasses call it, until the next
        exec("")


if __name__ == "__main__":
    run()
