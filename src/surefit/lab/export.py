"""The picture of a lane as a file, drawn by matplotlib from the same marks."""

from __future__ import annotations

import io

import numpy as np

from surefit.lab.palette import MARKER_CODES, class_color, class_marker
from surefit.lab.picture import Area, Bars, Curve, Dots, Note, Picture, Region, bounds
from surefit.lab.scene import Points

DASHES = {"solid": "-", "dashed": "--", "dotted": ":"}
INCHES = 5.0
LINES = ("x", "cross")  # markers that cannot be filled


def figure_file(
    kind: str, pictures: list[Picture], points: Points, caption: str, classes: bool, ink: str | None = None
) -> io.BytesIO:
    """Return the pictures side by side as 'png' or 'svg'; ``ink`` sets the color of the axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(INCHES * len(pictures), INCHES), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, picture in zip(figure.subplots(1, len(pictures), squeeze=False)[0], pictures, strict=True):
        _draw(axes, picture)
        if picture.show_points and picture is pictures[0]:
            _draw_points(axes, points, classes)
        if ink:
            _ink(axes, ink)
    if caption:
        figure.suptitle(caption, fontsize=11)
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=110 if ink else 130, transparent=ink is not None)
    file.seek(0)
    return file


def _ink(axes, color: str) -> None:
    axes.tick_params(colors=color)
    axes.spines[:].set_edgecolor(color)
    for text in (
        axes.xaxis.label,
        axes.yaxis.label,
        axes.title,
        *(axes.get_legend().texts if axes.get_legend() else ()),
    ):
        text.set_color(color)


def _draw(axes, picture: Picture) -> None:
    for mark in picture.of(Region):
        axes.imshow(mark.rgba, extent=mark.box, origin="lower", aspect="auto", interpolation="nearest", zorder=0)
    for mark in picture.of(Area):
        axes.fill(mark.x, mark.y, color=mark.color, alpha=mark.alpha, linewidth=0)
    for mark in picture.of(Bars):
        left, right = np.ravel(mark.left), np.ravel(mark.right)
        axes.bar(left, np.ravel(mark.top), right - left, align="edge", color=mark.color, alpha=mark.alpha)
    for mark in picture.of(Curve):
        axes.plot(mark.x, mark.y, color=mark.color, linewidth=mark.width, linestyle=DASHES[mark.dash], alpha=mark.alpha)
    for mark in picture.of(Dots):
        _draw_dots(axes, mark)
    for mark in picture.of(Note):
        axes.text(mark.x, mark.y, mark.text, color=mark.color)
    box = bounds(picture)
    axes.set_xlim(box.left, box.right)
    axes.set_ylim(box.bottom, box.top)
    axes.set_xlabel(picture.x_label)
    axes.set_ylabel(picture.y_label)
    axes.set_title(picture.title, fontsize=10)
    for text, color, kind in picture.legend():
        if kind in DASHES:
            axes.plot([], [], color=color, linestyle=DASHES[kind], label=text)
        else:
            fill = "none" if kind == "ring" else "full"
            axes.plot([], [], MARKER_CODES.get(kind, "o"), color=color, fillstyle=fill, label=text)
    if picture.legend():
        axes.legend(fontsize=8, frameon=False)


def _draw_dots(axes, mark: Dots) -> None:
    n = len(np.ravel(mark.x))
    x, y, size = (np.broadcast_to(np.ravel(values), (n,)) for values in (mark.x, mark.y, mark.size))
    colors = np.array([mark.color] * n if isinstance(mark.color, str) else list(mark.color))
    markers = np.array([mark.marker] * n if isinstance(mark.marker, str) else list(mark.marker))
    for marker in np.unique(markers):
        chosen = markers == marker
        face = (
            {"facecolors": "none", "edgecolors": colors[chosen]}
            if mark.hollow and marker not in LINES
            else {"c": colors[chosen]}
        )
        code = MARKER_CODES.get(marker, "o")
        axes.scatter(x[chosen], y[chosen], s=0.5 * size[chosen] ** 2, marker=code, alpha=mark.alpha, **face)


def _draw_points(axes, points: Points, classes: bool) -> None:
    for c in points.classes:
        chosen = points.xy[points.labels == c]
        code = c if classes else 0
        axes.scatter(
            chosen[:, 0],
            chosen[:, 1],
            c=class_color(code),
            marker=MARKER_CODES[class_marker(code)],
            s=26,
            edgecolors="white",
            linewidths=0.6,
        )
