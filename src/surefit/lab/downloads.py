"""Downloads of a session: files, link and program for the current screen. Widgets are created on first use."""

from __future__ import annotations

import io
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

import panel as pn
import panel_material_ui as pmui

from surefit.core.errors import SurefitError
from surefit.lab.lane import folded, html
from surefit.lab.scene import Frame, Points, Scene
from surefit.lab.takeaway import csv_text, figure_of, model_file, program, report_file


class Moment(NamedTuple):
    """The content of the screen: scene, frame (None: a message), points, and the link that restores it (None: too long)."""

    scene: Scene
    frame: Frame | None
    points: Points
    link: str | None


class Downloads:
    """Downloads for the current screen, which ``moment()`` returns."""

    def __init__(self, moment: Callable[[], Moment]):
        self.moment = moment
        self.code: Any = None
        self.view = folded("Take away", self._make)

    def _make(self) -> list[Any]:
        self.code, self.warning = html(), html()
        self.link = pmui.TextInput(
            label="Link to this screen", value="", sizing_mode="stretch_width", size="small", margin=(8, 10)
        )
        files = (
            ("PNG", "figure.png", lambda: figure_of("png", *self._shown())),
            ("SVG", "figure.svg", lambda: figure_of("svg", *self._shown())),
            ("CSV", "points.csv", lambda: io.BytesIO(csv_text(self.moment().points).encode("utf-8"))),
            ("Model", "model.surefit", lambda: model_file(self._shown()[1])),
            ("Report", "report.html", lambda: report_file(*self._shown())),
        )
        buttons = [
            pmui.FileDownload(
                label=label,
                filename=filename,
                callback=self._safely(make),
                size="small",
                variant="outlined",
                margin=(4, 4),
                icon="download",
            )
            for label, filename, make in files
        ]
        self.write()
        return [pn.FlexBox(*buttons, margin=(4, 6)), self.warning, self.link, self.code]

    def _shown(self) -> tuple[Scene, Frame, Points]:
        scene, frame, points, _ = self.moment()
        if frame is None:
            raise SurefitError("There is nothing to download: the algorithm has no result on these points.")
        return scene, frame, points

    def _safely(self, make: Callable[[], Any]) -> Callable[[], Any]:
        """Return ``make`` wrapped so that errors are shown on the page instead of in the file."""

        def made() -> Any:
            try:
                return make()
            except SurefitError as error:
                self.warning.object = f"<p class='message' role='alert'>{escape(str(error))}</p>"
                return io.BytesIO(f"surefit lab: {error}\n".encode())

        return made

    def write(self) -> None:
        """Update link and program if the section is open."""
        if self.code is None:
            return
        scene, frame, points, link = self.moment()
        self.link.value = link or "Too many points for a link; download the CSV."
        self.code.object = f"<pre>{escape(program(scene, frame, points))}</pre>" if frame else ""
        self.warning.object = ""
