"""A picture as data: marks in a box. The canvas draws it in the browser, the exporter in a file."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.lab.palette import INK


class Box(NamedTuple):
    """The part of the plane that a picture shows."""

    left: float
    right: float
    bottom: float
    top: float


class Region(NamedTuple):
    """A grid of colors: ``rgba`` of shape (height, width, 4), bottom row first, stretched over ``box``."""

    rgba: np.ndarray
    box: Box


class Curve(NamedTuple):
    """A line through points; NaN interrupts it."""

    x: Any
    y: Any
    color: str = INK
    width: float = 2.0
    dash: str = "solid"
    alpha: float = 1.0
    label: str = ""


class Area(NamedTuple):
    """A filled polygon."""

    x: Any
    y: Any
    color: str = INK
    alpha: float = 0.2
    label: str = ""


class Dots(NamedTuple):
    """Markers; hollow ones are rings."""

    x: Any
    y: Any
    color: Any = INK
    marker: Any = "circle"
    size: Any = 8.0
    hollow: bool = False
    alpha: float = 1.0
    label: str = ""


class Bars(NamedTuple):
    """Upright rectangles from zero to ``top``."""

    left: Any
    right: Any
    top: Any
    color: str = INK
    alpha: float = 0.6
    label: str = ""


class Note(NamedTuple):
    """A short text at a point."""

    x: float
    y: float
    text: str
    color: str = INK


class Picture(NamedTuple):
    """Marks, drawn in this order: regions, areas, bars, curves, dots, notes. ``box`` None: fit the marks."""

    title: str = ""
    x_label: str = ""
    y_label: str = ""
    marks: tuple[Any, ...] = ()
    box: Box | None = None
    show_points: bool = True

    def of(self, kind: type) -> list[Any]:
        """Return the marks of one kind."""
        return [mark for mark in self.marks if isinstance(mark, kind)]

    def legend(self) -> list[tuple[str, str, str]]:
        """Return (label, color, kind) of every mark that has a label, once each; kind: a line's dash, 'spot', 'ring' or a marker."""
        found: dict[str, tuple[str, str, str]] = {}
        for mark in self.marks:
            label = getattr(mark, "label", "")
            if label and label not in found:
                color = mark.color if isinstance(mark.color, str) else INK
                marker = getattr(mark, "marker", "circle")
                spot = "ring" if getattr(mark, "hollow", False) else "spot"
                spot = marker if isinstance(marker, str) and marker != "circle" else spot
                found[label] = (label, color, getattr(mark, "dash", spot))
        return list(found.values())


def bounds(picture: Picture) -> Box:
    """Return the box of a picture: its own, or the smallest one around its marks with a margin.

    Examples
    --------
    >>> from surefit.lab.picture import Curve, Picture, bounds
    >>> bounds(Picture(marks=(Curve([0.0, 10.0], [0.0, 1.0]),)))
    Box(left=-0.5, right=10.5, bottom=-0.05, top=1.05)
    """
    if picture.box is not None:
        return picture.box
    xs, ys = [], []
    for mark in picture.marks:
        if isinstance(mark, Bars):
            xs += [np.ravel(mark.left), np.ravel(mark.right)]
            ys += [np.ravel(mark.top), np.zeros(1)]
        elif not isinstance(mark, Region):
            xs.append(np.ravel(mark.x))
            ys.append(np.ravel(mark.y))
    return Box(*_padded(xs), *_padded(ys))


def _padded(parts: list[np.ndarray]) -> tuple[float, float]:
    values = np.concatenate([np.asarray(part, dtype=np.float64) for part in parts]) if parts else np.zeros(0)
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin
