"""A guided tour of five screens for the first visit."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from surefit.lab.lane import html

COOKIE = "surefit_lab_tour"

SCREENS = (
    (
        "Draw",
        "Click in the plane to add points, drag them, undo. Pick the class on the left, "
        "generate a data set with sliders, or upload a CSV file.",
    ),
    (
        "Choose",
        "Pick an algorithm or an idea from the list. Its parameters are sliders; the figure is updated while you move them.",
    ),
    (
        "Step",
        "Play runs the real solver state by state. Pause, step back and forth, rewind, or run to the end. "
        "Compare puts a second algorithm beside the first.",
    ),
    (
        "See what is proved",
        "The panel beside the figure shows the certificate of this state, re-derived by an independent checker. "
        "Vacuous bounds are labeled.",
    ),
    (
        "Take away",
        "Copy the Python lines that reproduce the screen, download figure, data, model and report, "
        "or share the link. Ten lessons are in the menu above.",
    ),
)


class Tour:
    """The dialog with the five screens."""

    def __init__(self, first_visit: bool):
        self.page = 0
        self.dialog: Any = None
        self.text, self.seen = html(), html(height=1, margin=0)
        self.place = pn.Column(self.seen, margin=0)
        if first_visit:
            self.open()

    def _make(self) -> None:
        """Create the dialog, opened; it is created on demand because few users need it."""
        self.back = pmui.Button(label="Back", variant="text", on_click=lambda event: self.go(self.page - 1))
        self.next = pmui.Button(label="Next", variant="contained", on_click=lambda event: self.go(self.page + 1))
        self.skip = pmui.Button(label="Skip", variant="text", on_click=lambda event: self.close())
        row = pn.Row(self.skip, self.back, self.next)
        self.dialog = pmui.Dialog(
            self.text, row, open=True, title="Welcome to the lab", close_on_click=True, show_close_button=False
        )
        self._write()
        self.place.append(self.dialog)

    def go(self, page: int) -> None:
        """Show a screen; the dialog closes after the last screen."""
        if page >= len(SCREENS):
            return self.close()
        self.page = max(0, page)
        return self._write()

    def open(self) -> None:
        """Start from the first screen."""
        self.page = 0
        if self.dialog is None:
            return self._make()
        self._write()
        self.dialog.open = True
        return None

    def close(self) -> None:
        """End the tour; the browser fetches a small image that sets a cookie, so that the tour does not open again."""
        self.dialog.open = False
        self.seen.object = "<img src='seen.gif' alt='' width='1' height='1'>"

    def _write(self) -> None:
        title, text = SCREENS[self.page]
        self.text.object = f"<h2>{self.page + 1} of {len(SCREENS)}: {title}</h2><p>{text}</p>"
        self.back.disabled = self.page == 0
        self.next.label = "Start" if self.page == len(SCREENS) - 1 else "Next"
