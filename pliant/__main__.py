"""Run the command line with ``python -m pliant``."""

from pliant.cli import main

if __name__ == "__main__":
    main(prog_name="pliant")
