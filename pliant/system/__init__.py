"""The whole robot: coordinates, assembly, constraints, linear solvers."""
