"""Equations of motion with symbols, by CasADi: `equations(robot)`, and C source of them.

CasADi is an extra of the package (``pip install pliant[symbolic]``) and is imported on first use.
"""

from pliant.symbolic.equations import SymbolicEquations, equations

__all__ = ["SymbolicEquations", "equations"]
