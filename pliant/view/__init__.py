"""Pictures of robots: shapes, charts and animations, drawn from plain arrays with matplotlib.

Results call these functions; they can also be called with arrays of your own. Inside
``with style():`` other matplotlib drawings take the same look.
"""

from pliant.view.animation import animate
from pliant.view.charts import draw_convergence, draw_curves, draw_energy
from pliant.view.fits import draw_fits
from pliant.view.methods import ErrorPanel, draw_methods
from pliant.view.patterns import draw_band, draw_comparison
from pliant.view.picture import draw_modes, draw_robot
from pliant.view.resolutions import draw_resolution
from pliant.view.saving import save_figure, show
from pliant.view.shapes import Arrow, RodShape
from pliant.view.theme import style

__all__ = [
    "Arrow",
    "ErrorPanel",
    "RodShape",
    "animate",
    "draw_band",
    "draw_comparison",
    "draw_convergence",
    "draw_curves",
    "draw_energy",
    "draw_fits",
    "draw_methods",
    "draw_modes",
    "draw_resolution",
    "draw_robot",
    "save_figure",
    "show",
    "style",
]
