"""The drawn points: their data source in the browser, their history, and the controls that create and change them."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource

from surefit.core.errors import SurefitError
from surefit.lab.canvas import point_columns
from surefit.lab.generators import GENERATORS
from surefit.lab.lane import folded, html, parameter_widget
from surefit.lab.limits import MOST_BYTES, MOST_POINTS, MOST_ROWS, MOST_UNDO
from surefit.lab.palette import CLASS_NAMES, MOST_CLASSES
from surefit.lab.scene import Points
from surefit.lab.state import State
from surefit.lab.uploads import FIRST, SECOND, Upload, read_upload, uploaded_points

FRESH = 1000  # new points that test a model on generated data
FARTHEST = 1e9  # coordinates are below this
NONE = "(no classes)"


class Board:
    """Points of one session. ``changed()`` is called whenever they change.

    ``schedule`` defers a function until the document may be changed; it may not be changed while an event is handled.
    """

    def __init__(self, state: State, changed: Callable[[], None], schedule: Callable[[Any], Any]):
        self.changed, self.schedule, self._own, self._classes = changed, schedule, False, True
        self.source = ColumnDataSource(point_columns(np.zeros((0, 2)), np.zeros(0, dtype=int), True))
        self.source.on_change("data", self._edited)
        self.past: list[tuple[Points, bool]] = []
        self.generator = pmui.Select(
            label="Data set",
            options={g.name: key for key, g in GENERATORS.items()},
            value=state.generator,
            sizing_mode="stretch_width",
            margin=(10, 10, 4, 10),
        )
        self.sliders: dict[str, Any] = {}
        self.slider_column = pn.Column(sizing_mode="stretch_width", margin=0)
        self.pen = pmui.RadioButtonGroup(
            label="Class to draw",
            options={str(c): c for c in range(MOST_CLASSES)},
            value=0,
            size="small",
            margin=(2, 10),
            sizing_mode="stretch_width",
        )
        words = f"Click in the plane to add a point of this class, drag to move. Classes: {', '.join(CLASS_NAMES)}."
        self.pen_help, self.note = html(f"<p class='quiet'>{words}</p>"), html()
        self._build_buttons()
        self.upload: Upload | None = None
        self._build_sliders(state.settings)
        self.generated = state.points is None
        self.points = self._generate() if state.points is None else state.points
        self.generator.param.watch(self._generator_chosen, "value")
        self.pen.param.watch(lambda event: self.schedule(self._dip), "value")
        self._push()

    # --- controls -----------------------------------------------------------------------------------------------------

    def _build_buttons(self) -> None:
        def button(label: str, icon: str, act: Callable[[Any], None]) -> Any:
            made = pmui.Button(label=label, icon=icon, size="small", variant="outlined", margin=(4, 3))
            made.on_click(act)
            return made

        undo = button("Undo", "undo", lambda event: self.undo())
        delete = button("Delete", "delete", lambda event: self.delete_selected())
        clear = button("Clear", "clear", lambda event: self.replace(Points.of([]), False))
        self.buttons = pn.Row(undo, delete, clear, margin=(0, 6))

    def _more(self) -> list[Any]:
        """Create the less common controls: fields for a typed point and for a file."""
        self.place = pmui.TextInput(
            label="Point (x, y)", value="0, 0", size="small", sizing_mode="stretch_width", margin=(6, 10)
        )
        add = pmui.Button(label="Add point", icon="add", size="small", variant="outlined", margin=(4, 10))
        add.on_click(lambda event: self._add_typed())
        self.file = pmui.FileInput(
            label="Upload CSV",
            accept=".csv,text/csv",
            multiple=False,
            max_file_size=3 * MOST_BYTES,  # the browser rejects larger files; the server reports smaller ones
            size="small",
            variant="outlined",
            margin=(4, 10),
        )
        self.axes = [
            pmui.Select(
                label=label, options=[], size="small", sizing_mode="stretch_width", margin=(6, 10), visible=False
            )
            for label in ("Horizontal", "Vertical", "Classes")
        ]
        self.file.param.watch(self._uploaded, "value")
        self._choosing = False
        for select in self.axes:
            select.param.watch(lambda event: self._columns_chosen(), "value")
        limits = f"CSV of at most {MOST_BYTES // 10**6} MB and {MOST_ROWS} rows."
        return [
            self.place,
            add,
            self.file,
            html(f"<p class='quiet'>{limits}</p>"),
            *self.axes,
        ]

    def _build_sliders(self, values: dict[str, Any]) -> None:
        chosen = GENERATORS[self.generator.value]
        self.sliders = {s.name: parameter_widget(s, values.get(s.name, s.value)) for s in chosen.sliders}
        for slider in self.sliders.values():
            slider.param.watch(lambda event: self.replace(self._generate(), True), "value")
        self.slider_column[:] = list(self.sliders.values())

    def controls(self) -> list[Any]:
        """Return the widgets of the sidebar."""
        more = folded("Type or upload points", self._more)
        return [self.generator, self.slider_column, self.pen, self.pen_help, self.buttons, more, self.note]

    # --- changes ------------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Return the values of the generator's sliders."""
        return {name: slider.value for name, slider in self.sliders.items()}

    def fresh(self) -> Points | None:
        """Return new points from the distribution of the generated points, or None if the user drew the points."""
        chosen = GENERATORS[self.generator.value]
        if not self.generated or chosen.kind != "classes" or not chosen.sliders or "n" not in self.sliders:
            return None
        return chosen.sample(self.settings(), FRESH)

    def _generate(self) -> Points:
        return GENERATORS[self.generator.value].sample(self.settings())

    def _generator_chosen(self, event: Any) -> None:
        self._build_sliders({})
        self.replace(self._generate(), True)

    def choose(self, key: str) -> None:
        """Choose a generator, as a user would."""
        self.generator.value = key

    def replace(self, points: Points, generated: bool) -> None:
        """Replace the points; ``undo`` restores the previous points."""
        self.past = [*self.past[-MOST_UNDO + 1 :], (self.points, self.generated)]
        self.points, self.generated = points, generated
        self.schedule(self._push)
        self.changed()

    def undo(self) -> None:
        """Undo the last change. The button is never disabled: it would miss its release while the browser draws it."""
        if not self.past:
            return self.say("There is nothing to undo.")
        self.points, self.generated = self.past.pop()
        self.schedule(self._push)
        return self.changed()

    def delete_selected(self) -> None:
        """Delete the selected points, or the last one if none is selected."""
        chosen = [i for i in self.source.selected.indices if 0 <= i < len(self.points.xy)]
        if not len(self.points.xy):
            return
        keep = np.ones(len(self.points.xy), dtype=bool)
        keep[chosen or [-1]] = False
        self.source.selected.indices = []
        self.replace(Points(self.points.xy[keep], self.points.labels[keep]), False)

    def _add_typed(self) -> None:
        try:
            x, y = (float(part) for part in str(self.place.value).strip("() ").split(","))
        except ValueError:
            return self.say("A point is two numbers with a comma between them, such as 1.5, -2.")
        if not max(abs(x), abs(y)) < FARTHEST:  # neither NaN nor infinite
            return self.say(f"The coordinates of a point are smaller than {FARTHEST:g}.")
        self.say("")
        return self._add(np.array([[x, y]]))

    def _add(self, xy: np.ndarray) -> None:
        if len(self.points.xy) + len(xy) > MOST_POINTS:
            return self.say(f"The lab shows at most {MOST_POINTS} points; delete some first.")
        labels = np.append(self.points.labels, np.full(len(xy), self.pen.value))
        return self.replace(Points.of(np.vstack([self.points.xy, xy]), labels), False)

    def say(self, text: str) -> None:
        """Show a message below the controls."""
        self.note.object = f"<p class='message' role='status'>{escape(text)}</p>" if text else ""

    # --- the browser's side -------------------------------------------------------------------------------------------

    def show_classes(self, classes: bool) -> None:
        """Color the points by class, or all in one color."""
        if classes != self._classes:
            self._classes = self.pen.visible = self.pen_help.visible = classes
            self._push()

    def _push(self) -> None:
        self._own = True
        self.source.data = point_columns(self.points.xy, self.points.labels, self._classes)
        self._own = False
        self._dip()

    def _dip(self) -> None:
        """Set the color and marker of new points in the drawing tool."""
        look = point_columns(np.zeros((1, 2)), np.array([self.pen.value]), self._classes)
        self.source.default_values = {name: look[name][0] for name in ("label", "color", "marker")}

    def _edited(self, attr: str, old: Any, new: dict[str, Any]) -> None:
        """Update the points after an edit with the mouse."""
        if self._own:
            return
        xs, ys = np.asarray(new["x"], dtype=float), np.asarray(new["y"], dtype=float)
        sound = np.isfinite(xs) & np.isfinite(ys) & (np.abs(xs) < FARTHEST) & (np.abs(ys) < FARTHEST)
        labels = np.array([_label(value, self.pen.value) for value in new["label"]], dtype=int)
        labels[len(self.points.xy) :] = self.pen.value  # the browser may not have received the new class yet
        if len(xs) > MOST_POINTS:
            self.say(f"The lab shows at most {MOST_POINTS} points; delete some first.")
            return self.schedule(self._push)
        return self.replace(Points.of(np.column_stack([xs, ys])[sound], labels[sound]), False)

    # --- uploads ------------------------------------------------------------------------------------------------------

    def _uploaded(self, event: Any) -> None:
        content, name = self.file.value, self.file.filename
        if not content:
            return
        try:
            self.upload = read_upload(bytes(content), str(name))
        except SurefitError as error:
            self.upload = None
            self._offer([], None)
            self.say(str(error))
            return
        targets = [c for c, values in self.upload.targets.items() if len(np.unique(values)) <= MOST_CLASSES]
        self._offer(self.upload.choices(), targets[-1] if targets else NONE)
        self._columns_chosen()

    def _offer(self, choices: list[str], target: str | None) -> None:
        """Fill the three selects with the columns of the upload."""
        self._choosing = True
        free = [c for c in choices if c != target]
        pair = (FIRST, SECOND) if FIRST in choices and len(free) > 4 else tuple(free[:2])
        targets = [NONE, *(self.upload.targets if self.upload else ())]
        for select, options, value in zip(self.axes, (choices, choices, targets), (*pair, target), strict=False):
            select.param.update(options=options, value=value, visible=bool(choices))
        for select in self.axes:
            select.visible = bool(choices)
        self._choosing = False

    def _columns_chosen(self) -> None:
        if self._choosing or self.upload is None:
            return
        across, up, target = (select.value for select in self.axes)
        try:
            points, said = uploaded_points(self.upload, across, up, None if target == NONE else target)
        except SurefitError as error:
            self.say(str(error))
            return
        self.say(f"{self.upload.name}: {said}")
        self.replace(points, False)


def _label(value: Any, pen: int) -> int:
    """Return the class for a value sent by the browser."""
    try:
        code = int(value)
    except (TypeError, ValueError):
        return pen
    return code if 0 <= code < MOST_CLASSES else pen
