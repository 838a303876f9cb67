"""Time integrators, one family in a file."""
