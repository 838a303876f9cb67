"""The formulations and integrators that come with Pliant, by the names that robot files use."""

from __future__ import annotations

from importlib import import_module

from pliant.model import Rod
from pliant.rods.contract import Formulation, RodModel
from pliant.solve.integrators.contract import Integrator

_FORMULATIONS = {
    "ANCF": "pliant.rods.ancf",
    "BSpline": "pliant.rods.bspline",
    "EBA": "pliant.rods.eba",
    "EBR": "pliant.rods.ebr",
    "Hermite": "pliant.rods.hermite",
    "ROM": "pliant.rods.rom",
    "SRL": "pliant.rods.srl",
    "Spectral": "pliant.rods.spectral",
    "Strain": "pliant.rods.strain",
    "Collocation": "pliant.bvp.collocation",
    "Shooting": "pliant.bvp.shooting",
    "MultipleShooting": "pliant.bvp.shooting",
}
_INTEGRATORS = {
    "Midpoint": "pliant.solve.integrators.midpoint",
    "Variational": "pliant.solve.integrators.variational",
    "Newmark": "pliant.solve.integrators.newmark",
    "GeneralizedAlpha": "pliant.solve.integrators.newmark",
    "ImplicitEuler": "pliant.solve.integrators.newmark",
    "BDFAlpha": "pliant.solve.integrators.bdf_alpha",
    "Explicit": "pliant.solve.integrators.explicit",
    "Radau": "pliant.solve.integrators.radau",
    "BDF": "pliant.solve.integrators.bdf",
}


def formulations() -> dict[str, type[RodModel]]:
    """Return every rod formulation that comes with Pliant, by name."""
    return {name: getattr(import_module(home), name) for name, home in _FORMULATIONS.items()}


def integrators() -> dict[str, type[Integrator]]:
    """Return every time integrator that comes with Pliant, by name."""
    return {name: getattr(import_module(home), name) for name, home in _INTEGRATORS.items()}


def strain_modes() -> Formulation:
    """Return the formulation that judges the stability of strong forms under loads without energy."""
    from pliant.rods.strain import Strain

    return Strain(order=3, segments=6)


def lumped_formulation(elements: int = 16) -> Formulation:
    """Return what a rod is solved with if nobody says and its inertia has to be lumped at nodes."""
    from pliant.rods.spectral import Spectral

    return Spectral(elements=elements)


def default_formulation(rod: Rod) -> Formulation:
    """Return what a rod is solved with if nobody says: a spline, or strain modes if Kirchhoff."""
    if rod.theory == "kirchhoff":
        from pliant.rods.strain import Strain

        return Strain(order=2, segments=6)
    from pliant.rods.bspline import BSpline

    return BSpline(degree=3, points=15)
