"""Pictures of robots: shapes, charts and animations, drawn from plain arrays with matplotlib.

Results call these functions; you can also call them with your own arrays. Inside ``with style():``
your own matplotlib drawings have the same look.
"""

from pliant.view.animation import animate
from pliant.view.charts import draw_convergence, draw_curves, draw_energy
from pliant.view.comparison import ErrorPanel, draw_comparison, draw_methods
from pliant.view.fit import draw_fits
from pliant.view.matrix_pattern import draw_band
from pliant.view.resolution import draw_resolution
from pliant.view.robot import draw_modes, draw_robot
from pliant.view.saving import save_figure, saved, show
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
    "saved",
    "show",
    "style",
]
