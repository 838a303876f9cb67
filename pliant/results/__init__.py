"""What solvers return: the same questions answered whatever formulation was used."""
