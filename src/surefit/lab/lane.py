"""A lane: one algorithm on the shared points, with its parameters, picture, chart and proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource

from surefit.core.errors import SurefitError
from surefit.lab.canvas import Canvas
from surefit.lab.proof import Verdict, legend_html, proof_html, verify
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene
from surefit.lab.scenes import SCENES, groups
from surefit.lab.state import LaneState, checked
from surefit.lab.style import SHEET

COMPUTING = "<p class='caption'>Computing ...</p>"


@dataclass(frozen=True)
class Shown:
    """The content of a lane: a frame of a run, or a message."""

    count: int = 1
    index: int = 0
    frame: Frame | None = None
    verdict: Verdict | None = None
    message: str = ""


def html(text: str = "", **options: Any) -> pn.pane.HTML:
    """Return a pane of HTML in the style of the page."""
    return pn.pane.HTML(text, stylesheets=[SHEET], **{"sizing_mode": "stretch_width", "margin": (2, 8), **options})


def folded(title: str, make: Callable[[], list[Any]]) -> pn.Column:
    """Return a button that shows and hides the result of ``make``, which is called when it is first shown."""
    inside = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
    button = pmui.Button(label=title, icon="expand_more", variant="text", size="small", margin=(8, 6, 2, 6))

    def toggle(event: Any) -> None:
        if not len(inside):
            inside[:] = make()
        inside.visible = not inside.visible
        button.icon = "expand_less" if inside.visible else "expand_more"

    button.on_click(toggle)
    return pn.Column(button, inside, sizing_mode="stretch_width", margin=0)


class Lane:
    """One algorithm on the points. ``compute`` may run in another thread and does not access widgets."""

    def __init__(self, source: ColumnDataSource, state: LaneState, changed: Callable[[bool], None], title: str):
        self.changed = changed
        options = {group: {scene.name: scene.key for scene in scenes} for group, scenes in groups().items()}
        self.select = pmui.Select(
            label=title,
            groups=options,
            value=state.scene,
            searchable=True,
            dropdown_height=420,
            sizing_mode="stretch_width",
            margin=(10, 10, 4, 10),
        )
        self.about = html()
        self.widgets: dict[str, Any] = {}
        self.parameters = pn.Column(sizing_mode="stretch_width", margin=0)
        self.canvas = Canvas(source, 500, "plane")
        self.chart = Canvas(None, 230, "chart")
        self.caption = html(COMPUTING)
        self.legend, self.chart_legend, self.proof = html(), html(), html()
        self._frames: tuple[Points, LaneState, Frames] | None = None
        self.shown = Shown()
        self._build(state.values)
        self.select.param.watch(self._scene_chosen, "value")

    @property
    def scene(self) -> Scene:
        """The scene of the lane."""
        return SCENES[self.select.value]

    def state(self) -> LaneState:
        """Return scene and parameters."""
        return LaneState(self.scene.key, {name: widget.value for name, widget in self.widgets.items()})

    def _scene_chosen(self, event: Any) -> None:
        self._build({})
        self.caption.object = COMPUTING  # the picture is still that of the previous scene
        self._clear()
        self.changed(True)

    def _build(self, values: dict[str, Any]) -> None:
        """Create the widgets of the scene's parameters."""
        values = {**self.scene.defaults(), **checked(self.scene, values)}
        self.widgets = {p.name: parameter_widget(p, values[p.name]) for p in self.scene.parameters}
        for widget in self.widgets.values():
            widget.param.watch(lambda event: self.changed(False), "value")
        self.parameters[:] = list(self.widgets.values())
        self.about.object = f"<p class='quiet'>{escape(self.scene.about)}</p>"

    # --- the part that may run in another thread ----------------------------------------------------------------------

    def compute(self, points: Points, index: int | None, state: LaneState, fresh: Points | None) -> Shown:
        """Return the content to show at a step (None: the last one) for these points."""
        try:
            frames = self._run(points, state)
            index = frames.count - 1 if index is None else min(max(index, 0), frames.count - 1)
            frame = _with_test_error(frames.at(index), fresh)
            return Shown(frames.count, index, frame, verify(frame))
        except SurefitError as error:
            return Shown(message=str(error))
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return Shown(message="This algorithm cannot work with these points and parameters; change one of them.")

    def _run(self, points: Points, state: LaneState) -> Frames:
        kept = self._frames
        if kept is None or kept[0] is not points or kept[1] != state:
            self._frames = kept = (points, state, SCENES[state.scene].run(points, state.values))
        return kept[2]

    # --- the part that draws ------------------------------------------------------------------------------------------

    def show(self, shown: Shown) -> None:
        """Show a frame, or a message instead, on the page."""
        self.shown = shown
        if shown.frame is None:
            self.caption.object = f"<p class='message' role='alert'>{escape(shown.message)}</p>"
            self._clear()
            return
        frame = shown.frame
        self.canvas.draw(frame.picture)
        if frame.chart is not None:
            self.chart.draw(frame.chart)
        self.chart.figure.visible = frame.chart is not None
        self.caption.object = f"<p class='caption' aria-live='polite'>{escape(frame.caption)}</p>"
        self.legend.object = legend_html(frame.picture.legend())
        self.chart_legend.object = legend_html(frame.chart.legend() if frame.chart else [])
        self.proof.object = proof_html(self.scene, frame, shown.verdict)

    def _clear(self) -> None:
        """Remove the texts of a figure."""
        self.legend.object = self.chart_legend.object = self.proof.object = ""

    def controls(self) -> list[Any]:
        """Return the widgets of the sidebar."""
        return [self.select, self.about, self.parameters]

    def view(self, wide: bool) -> Any:
        """Return the picture with chart and proof beside it (``wide``) or below it."""
        picture, chart = (
            pn.pane.Bokeh(canvas.figure, sizing_mode="stretch_width") for canvas in (self.canvas, self.chart)
        )
        parts = {"sizing_mode": "stretch_width", "margin": 0}
        if not wide:
            return pn.Column(
                self.caption, picture, self.legend, chart, self.chart_legend, self.proof, styles=flexible(420), **parts
            )
        left = pn.Column(self.caption, picture, self.legend, styles=flexible(520), **parts)
        right = pn.Column(chart, self.chart_legend, self.proof, styles=flexible(330), **parts)
        return pn.FlexBox(left, right, styles=flexible(420), **parts)


def flexible(width: int, grow: int = 1) -> dict[str, str]:
    """Return the style of an element with this preferred width that grows and shrinks with the page."""
    return {"flex": f"{grow} 1 {width}px", "min-width": "0", "max-width": "100%"}


def parameter_widget(parameter: Any, value: Any) -> Any:
    """Return the widget of a parameter."""
    if isinstance(parameter, Choice):
        return pmui.Select(
            label=parameter.label,
            options=parameter.options,
            value=value,
            size="small",
            sizing_mode="stretch_width",
            margin=(6, 10),
        )
    options = {format(v, ".4g"): v for v in parameter.values}
    return pmui.DiscreteSlider(
        label=parameter.label, options=options, value=value, size="small", sizing_mode="stretch_width", margin=(4, 14)
    )


def _with_test_error(frame: Frame, fresh: Points | None) -> Frame:
    """Return the frame with the error of its model on new points of the same distribution, if there are any."""
    if fresh is None or frame.model is None or frame.y is None or not hasattr(frame.model, "classes_"):
        return frame
    if np.shape(frame.X)[1:] != (2,):
        return frame
    error = float(np.mean(frame.model.predict(fresh.xy) != fresh.labels))
    text = f"Error of the certified model on {len(fresh.labels)} new points of the same distribution: {error:.3g}."
    return Frame(**{**frame.__dict__, "facts": (*frame.facts, Fact(text, "estimate"))})
