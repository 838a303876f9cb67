"""Matrices of a robot: storage chosen by the work it takes, factorisation, scattering."""
