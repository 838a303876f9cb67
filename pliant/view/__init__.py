"""Pictures of robots: shapes, charts and animations, drawn from plain arrays with matplotlib.

Results call these functions; you can also call them with your own arrays. Inside ``with style():``
your own matplotlib drawings have the same look.
"""

from pliant.view.animation import animate
from pliant.view.charts import (
    draw_band,
    draw_convergence,
    draw_curves,
    draw_energy,
    legend_beside,
)
from pliant.view.mesh import Arrow, RodShape
from pliant.view.paths import draw_bode, draw_branches, draw_workspace
from pliant.view.robot import draw_modes, draw_robot
from pliant.view.studies import (
    ErrorPanel,
    draw_comparison,
    draw_fits,
    draw_methods,
    draw_resolution,
)
from pliant.view.theme import rod_color, save_figure, saved, show, style
from pliant.view.wireframe import draw_wireframe

__all__ = [
    "Arrow",
    "ErrorPanel",
    "RodShape",
    "animate",
    "draw_band",
    "draw_bode",
    "draw_branches",
    "draw_comparison",
    "draw_convergence",
    "draw_curves",
    "draw_energy",
    "draw_fits",
    "draw_methods",
    "draw_modes",
    "draw_resolution",
    "draw_robot",
    "draw_wireframe",
    "draw_workspace",
    "legend_beside",
    "rod_color",
    "save_figure",
    "saved",
    "show",
    "style",
]
