"""Results of solvers, with the same methods for every formulation."""
