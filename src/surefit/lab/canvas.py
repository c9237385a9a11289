"""The canvas: a Bokeh figure with one renderer per kind of mark; drawing a picture replaces their data."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, PointDrawTool, Range1d
from bokeh.plotting import figure

from surefit.lab.palette import CLASS_COLORS, INK, class_color, class_marker
from surefit.lab.picture import Area, Bars, Box, Curve, Dots, Note, Picture, Region, bounds

EMPTY: dict[str, dict[str, list[Any]]] = {
    "region": {"image": [], "x": [], "y": [], "dw": [], "dh": []},
    "area": {"xs": [], "ys": [], "color": [], "alpha": []},
    "bars": {"left": [], "right": [], "top": [], "color": [], "alpha": []},
    "curve": {"xs": [], "ys": [], "color": [], "width": [], "dash": [], "alpha": []},
    "dots": {"x": [], "y": [], "color": [], "fill": [], "marker": [], "size": [], "alpha": []},
    "note": {"x": [], "y": [], "text": [], "color": []},
}

#: A plane has one scale for both axes, so that a circle is one: as much border beside the frame as above and below it.
SQUARE = {
    "height": None,
    "aspect_ratio": 1.0,
    "max_width": 640,
    "min_border_left": 56,
    "min_border_right": 32,
    "min_border_bottom": 58,
}


class Canvas:
    """Figure for pictures; with a data source ``points``, it also shows the drawn points, which the mouse can edit."""

    def __init__(self, points: ColumnDataSource | None = None, height: int = 300, name: str = ""):
        self.ranges = Range1d(start=0.0, end=1.0), Range1d(start=0.0, end=1.0)
        self.figure: Any = figure(
            x_range=self.ranges[0],
            y_range=self.ranges[1],
            sizing_mode="stretch_width",
            tools="pan,wheel_zoom,reset",
            toolbar_location="above" if points is not None else None,
            **({"height": height, "min_height": height, "min_border": 6} if points is None else SQUARE),
            name=name,
            html_attributes={"role": "group", "aria-label": "Plane" if points is not None else "Chart"},
            background_fill_alpha=0.0,
            border_fill_alpha=0.0,
            outline_line_alpha=0.0,
        )
        self._quiet_axes()
        self.sources = {kind: ColumnDataSource({k: list(v) for k, v in data.items()}) for kind, data in EMPTY.items()}
        self._renderers()
        drawn: list[Any] = self.figure.renderers
        for renderer in drawn:  # only points can be selected; fewer models make the page load faster
            renderer.selection_glyph = renderer.nonselection_glyph = renderer.muted_glyph = None
        self.points_renderer: Any = None
        if points is not None:
            self._editable(points)
        self.box: Box | None = None

    def _quiet_axes(self) -> None:
        for axis in self.figure.axis:
            axis.axis_line_alpha, axis.major_tick_line_alpha, axis.minor_tick_line_alpha = 0.0, 0.5, 0.0
            axis.major_label_text_font_size = axis.axis_label_text_font_size = "12px"
            axis.axis_label_text_font_style = "normal"
        self.figure.grid.grid_line_alpha = 0.25
        self.figure.toolbar.logo = None
        self.figure.title.text_font_size = "13px"
        self.figure.title.text_font_style = "normal"

    def _renderers(self) -> None:
        s, f = self.sources, self.figure
        f.image_rgba("image", "x", "y", "dw", "dh", source=s["region"], level="image")
        f.patches("xs", "ys", fill_color="color", fill_alpha="alpha", line_alpha=0.0, source=s["area"])
        f.quad(
            "left", "right", "top", 0.0, fill_color="color", fill_alpha="alpha", line_color="color", source=s["bars"]
        )
        f.multi_line(
            "xs", "ys", line_color="color", line_width="width", line_dash="dash", line_alpha="alpha", source=s["curve"]
        )
        style = {
            "line_color": "color",
            "line_width": 2.0,
            "line_alpha": "alpha",
            "fill_color": "color",
            "fill_alpha": "fill",
        }
        f.scatter("x", "y", marker="marker", size="size", source=s["dots"], **style)
        f.text("x", "y", "text", text_color="color", text_font_size="13px", source=s["note"])

    def _editable(self, points: ColumnDataSource) -> None:
        self.points_renderer = self.figure.scatter(
            "x",
            "y",
            marker="marker",
            size=9,
            fill_color="color",
            fill_alpha=0.9,
            line_color="white",
            line_width=1.2,
            source=points,
            nonselection_alpha=0.9,
            selection_line_color=INK,
            selection_line_width=3.0,
        )
        tool = PointDrawTool(
            renderers=[self.points_renderer], description="Click: add. Drag: move. Select and Backspace: delete."
        )
        self.tool: Any = tool
        self.figure.add_tools(tool)
        self.figure.toolbar.active_tap = self.figure.toolbar.active_drag = tool

    def draw(self, picture: Picture) -> None:
        """Show a picture."""
        for kind, data in columns(picture).items():
            if any(data.values()) or any(len(v) for v in self.sources[kind].data.values()):
                self.sources[kind].data = data
        self.figure.title.text = picture.title
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = picture.x_label, picture.y_label
        if self.points_renderer is not None and self.points_renderer.visible != picture.show_points:
            self.points_renderer.visible = picture.show_points
            self.tool.update(add=picture.show_points, drag=picture.show_points)  # no editing if points are hidden
        box = bounds(picture)
        if box != self.box:
            self.box = box
            for axis, low, high in ((0, box.left, box.right), (1, box.bottom, box.top)):
                own = self.ranges[axis]
                own.update(start=low, end=high, reset_start=low, reset_end=high)

    def follow(self, other: Canvas | None) -> None:
        """Share the view of another canvas, so that zooming one zooms both; None restores a separate view."""
        source = self if other is None else other
        self.figure.x_range, self.figure.y_range = source.ranges


def columns(picture: Picture) -> dict[str, dict[str, list[Any]]]:
    """Return the data of every renderer for a picture."""
    data = {kind: {name: list(values) for name, values in empty.items()} for kind, empty in EMPTY.items()}
    for mark in picture.of(Region):
        rgba = np.ascontiguousarray(mark.rgba).view(np.uint32).reshape(mark.rgba.shape[:2])
        box = mark.box
        _append(data["region"], image=rgba, x=box.left, y=box.bottom, dw=box.right - box.left, dh=box.top - box.bottom)
    for mark in picture.of(Area):
        _append(data["area"], xs=_floats(mark.x), ys=_floats(mark.y), color=mark.color, alpha=mark.alpha)
    for mark in picture.of(Bars):
        for left, right, top in zip(np.ravel(mark.left), np.ravel(mark.right), np.ravel(mark.top), strict=True):
            _append(
                data["bars"], left=float(left), right=float(right), top=float(top), color=mark.color, alpha=mark.alpha
            )
    for mark in picture.of(Curve):
        _append(
            data["curve"],
            xs=_floats(mark.x),
            ys=_floats(mark.y),
            color=mark.color,
            width=mark.width,
            dash=mark.dash,
            alpha=mark.alpha,
        )
    for mark in picture.of(Dots):
        _append_dots(data["dots"], mark)
    for mark in picture.of(Note):
        _append(data["note"], x=mark.x, y=mark.y, text=mark.text, color=mark.color)
    return data


def _append(column: dict[str, list[Any]], **values: Any) -> None:
    for name, value in values.items():
        column[name].append(value)


def _append_dots(column: dict[str, list[Any]], mark: Dots) -> None:
    n = len(np.ravel(mark.x))
    column["x"] += _floats(mark.x).tolist()
    column["y"] += _floats(mark.y).tolist()
    for name, value in (("color", mark.color), ("marker", mark.marker), ("size", mark.size)):
        column[name] += (
            [value] * n
            if isinstance(value, (str, int, float))
            else [v if isinstance(v, str) else float(v) for v in value]
        )
    column["fill"] += [0.0 if mark.hollow else mark.alpha] * n
    column["alpha"] += [mark.alpha] * n


def _floats(values: Any) -> np.ndarray:
    return np.ravel(np.asarray(values, dtype=np.float64))


def point_columns(xy: np.ndarray, labels: np.ndarray, classes: bool) -> dict[str, list[Any]]:
    """Return the data source of the drawn points; without ``classes``, all points have the same color and marker."""
    return {
        "x": xy[:, 0].tolist(),
        "y": xy[:, 1].tolist(),
        "label": [int(c) for c in labels],
        "color": [class_color(c) if classes else CLASS_COLORS[0] for c in labels],
        "marker": [class_marker(c) if classes else "circle" for c in labels],
    }
