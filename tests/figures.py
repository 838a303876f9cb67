"""What a reader would call wrong with a figure, found by drawing it and comparing boxes.

``faults(figure)`` returns sentences: text cut off by the edge of the picture, texts over each other,
a legend over data, a line through a label, axes without a unit in the style "quantity / unit", and
three-dimensional axes of unequal scale.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, Tick
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import TABLEAU_COLORS, to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D

from pliant.view.theme import INK

# labels without a unit: counts, ratios and names
PURE = re.compile(
    r"\b(number|coordinate|row|iteration|interval|point|element|section|ratio|relative|factor|input|"
    r"manifold|unknowns|fraction|modes?|steps|stretch)s?\b"
)
UNIT = re.compile(r" / \S")
BRACKETED = re.compile(
    r"[\[(](s|ms|m|mm|µm|N|mN|Pa|kPa|bar|Hz|J|mJ|kg|g|rad|deg|°|%)[\])]| in (mm|m|s|ms|N|Pa|kPa|Hz|J)\b"
)


def faults(figure: Figure) -> list[str]:
    """Everything wrong with the figure, one sentence each; empty for a good figure."""
    FigureCanvasAgg(figure).draw()
    texts = [(text.get_text().replace("\n", " "), box) for text, box in texts_of(figure)]
    return [
        *cut_off(figure, texts),
        *text_over_text(texts),
        *legends_over_data(figure),
        *lines_through_labels(figure),
        *labels_without_units(figure),
        *unequal_scales(figure),
        *other_styles(figure),
    ]


def other_styles(figure: Figure) -> Iterator[str]:
    """Axes drawn outside `pliant.view.style`, and lines in colours of matplotlib's own cycle."""
    for axes in figure.axes:
        plain = shown(axes) and axes.get_xlabel() and not isinstance(axes, Axes3D)
        if plain and to_hex(axes.xaxis.label.get_color()) != INK:
            yield f"axes of {axes.get_xlabel()!r} are not in the style of Pliant"
        for line in axes.lines if plain else ():
            if to_hex(line.get_color()) in TABLEAU_COLORS.values():
                yield f"a line over {axes.get_xlabel()!r} has a colour of matplotlib"


def texts_of(figure: Figure) -> list[tuple[Text, Bbox]]:
    """All texts that are drawn, with their boxes in pixels."""
    found: dict[int, Text] = {}
    for axes in figure.axes:
        if shown(axes):
            for axis in filter(lambda one: one.get_visible(), axes._axis_map.values()):
                drawn = [t for tick in ticks_of(axis) for t in (tick.label1, tick.label2)]
                found |= {id(t): t for t in [*drawn, axis.label, axis.offsetText]}
        if axes.get_visible():
            others = [*axes.texts, axes.title, axes._left_title, axes._right_title]
            found |= {id(t): t for t in others}
            found |= {id(t): t for legend in legends_of(axes) for t in legend.get_texts()}
    below = [text for legend in figure.legends for text in legend.get_texts()]
    found |= {id(text): text for text in [*figure.texts, *below]}
    return [
        (text, text.get_window_extent())
        for text in found.values()
        if text.get_text().strip() and text.get_visible()
    ]


def ticks_of(axis: Axis) -> list[Tick]:
    """The ticks drawn: matplotlib keeps others, outside the limits and from earlier layouts."""
    scale = axis.get_transform().transform  # logarithmic or not
    low, high = sorted(scale(np.array(axis.get_view_interval())))
    slack = 1e-6 * (high - low)
    major, minor = len(axis.get_majorticklocs()), len(axis.get_minorticklocs())
    both = [*axis.majorTicks[:major], *axis.minorTicks[:minor]]
    return [
        tick for tick in both if low - slack <= scale(np.array([tick.get_loc()]))[0] <= high + slack
    ]


def shown(axes: Axes) -> bool:
    """Whether the axes are drawn with numbers and labels."""
    return axes.get_visible() and (axes._axis3don if isinstance(axes, Axes3D) else axes.axison)


def legends_of(axes: Axes) -> list[Legend]:
    return [child for child in axes.get_children() if isinstance(child, Legend)]


def cut_off(figure: Figure, texts: list[tuple[str, Bbox]]) -> Iterator[str]:
    canvas = figure.bbox
    for text, box in texts:
        inside = (
            box.x0 >= canvas.x0 - 1
            and box.y0 >= canvas.y0 - 1
            and box.x1 <= canvas.x1 + 1
            and box.y1 <= canvas.y1 + 1
        )
        if not inside:
            yield f"{text!r} is cut off by the edge of the picture"


def text_over_text(texts: list[tuple[str, Bbox]]) -> Iterator[str]:
    for (one, box), (other, second) in combinations(texts, 2):
        if overlap(box, second, slack=1.0):
            yield f"{one!r} lies over {other!r}"


def overlap(one: Bbox, other: Bbox, slack: float) -> bool:
    """Whether two boxes share more than a border of ``slack`` pixels."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    tall = min(one.y1, other.y1) - max(one.y0, other.y0)
    return wide > slack and tall > slack


def data_points(axes: Axes) -> Iterator[np.ndarray]:
    """Points (N, 2) in pixels along all that is drawn in the axes, within their frame."""
    frame = axes.bbox
    for artist in axes.get_children():
        if not artist.get_visible():
            continue
        if isinstance(artist, Line2D) and artist.get_transform().contains_branch(axes.transData):
            path = artist.get_transform().transform(np.column_stack(artist.get_data(orig=False)))
            joined = artist.get_linestyle() not in ("None", "none", "", " ")
            points = densely(path) if joined else path
        elif isinstance(artist, PathCollection):
            points = artist.get_offset_transform().transform(artist.get_offsets())
        elif isinstance(artist, Poly3DCollection):
            vertices = [path.vertices for path in artist.get_paths()]
            points = (
                artist.get_transform().transform(np.concatenate(vertices))
                if vertices
                else np.zeros((0, 2))
            )
        else:
            continue
        points = points[np.isfinite(points).all(axis=1)]
        if artist.get_clip_on():
            points = points[
                (points >= frame.min - 1).all(axis=1) & (points <= frame.max + 1).all(axis=1)
            ]
        yield points


def densely(path: np.ndarray) -> np.ndarray:
    """Points two pixels apart along a line through pixels (N, 2)."""
    path = np.clip(path[np.isfinite(path).all(axis=1)], -1e4, 1e4)
    if len(path) < 2:
        return path
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.linspace(0, length[-1], int(length[-1] / 2) + 2)
    return np.column_stack([np.interp(at, length, path[:, k]) for k in (0, 1)])


def inside(points: np.ndarray, box: Bbox, slack: float) -> int:
    """How many points lie in the box, less a border of ``slack`` pixels."""
    return int(((points > box.min + slack) & (points < box.max - slack)).all(axis=1).sum())


def legends_over_data(figure: Figure) -> Iterator[str]:
    boxes = [(legend, axes) for axes in figure.axes for legend in legends_of(axes)]
    boxes += [(legend, None) for legend in figure.legends]
    for legend, _ in boxes:
        entries = ", ".join(t.get_text() for t in legend.get_texts())
        box = legend.get_window_extent()
        for axes in figure.axes:
            if axes.get_visible() and any(inside(p, box, 2.0) for p in data_points(axes)):
                yield f"the legend ({entries}) lies over data"
                break


def lines_through_labels(figure: Figure) -> Iterator[str]:
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        for text in axes.texts:
            if not text.get_text().strip() or not text.get_visible():
                continue
            box = text.get_window_extent()
            if any(inside(p, box, 2.0) for a in figure.axes for p in data_points(a)):
                yield f"a line runs through {text.get_text()!r}"


def labels_without_units(figure: Figure) -> Iterator[str]:
    for axes in figure.axes:
        if not shown(axes):
            continue
        for axis in filter(lambda one: one.get_visible(), axes._axis_map.values()):
            label = axis.label.get_text()
            if not label or not axis.label.get_visible():
                if shows_ticks(axis) and not shares_label(figure, axes, axis):
                    yield f"an axis {axis.axis_name} has numbers and no label"
            elif BRACKETED.search(label):
                yield f"{label!r} is not in the style 'quantity / unit'"
            elif not UNIT.search(label) and not PURE.search(label):
                yield f"{label!r} has no unit"


def shows_ticks(axis) -> bool:
    return any(t.get_text() and t.get_visible() for t in axis.get_ticklabels())


def shares_label(figure: Figure, axes: Axes, axis) -> bool:
    """Whether another panel in the row (y) or column (x) of this one carries the label."""
    name = axis.axis_name
    if isinstance(axes, Axes3D):
        return False
    for other in figure.axes:
        if other is axes or isinstance(other, Axes3D):
            continue
        mine, its = axes.get_position(), other.get_position()
        row = abs(mine.y0 - its.y0) < 0.05 and abs(mine.y1 - its.y1) < 0.05
        column = abs(mine.x0 - its.x0) < 0.05 and abs(mine.x1 - its.x1) < 0.05
        labelled = bool(other._axis_map[name].label.get_text())
        if labelled and ((name == "y" and row) or (name == "x" and column)):
            return True
    return False


def unequal_scales(figure: Figure) -> Iterator[str]:
    for axes in figure.axes:
        if isinstance(axes, Axes3D) and axes.get_visible():
            limits = np.array([axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d()])
            sides = np.abs(np.diff(limits, axis=1)[:, 0])
            scale = np.asarray(axes._box_aspect) / sides
            if scale.max() > 1.01 * scale.min():
                yield f"three-dimensional axes have scales {scale / scale.min()}"
