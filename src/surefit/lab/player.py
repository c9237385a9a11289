"""The player: the current step of the run, and the buttons that change it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

PERIOD = 350  # milliseconds between two steps of a playing run


class Player:
    """Buttons and slider over the steps of a run. ``wanted`` is the step to show; None means the last one."""

    def __init__(self, changed: Callable[[], None]):
        self.changed = changed
        self.wanted: int | None = None
        self.count, self.index, self._own = 1, 0, False
        self._clock: Any = None
        self._due = False
        self.slider = pmui.IntSlider(
            label="Frame", start=1, end=2, value=1, size="small", sizing_mode="stretch_width", margin=(0, 16)
        )
        self.slider.param.watch(self._slid, "value")
        self.place = pn.Column(
            sizing_mode="stretch_width", margin=0, styles={"flex": "1 1 200px", "min-width": "0", "min-height": "46px"}
        )
        self.play_button = self._button("Play", "play_arrow", self.toggle, "contained")
        self.bar = pn.FlexBox(
            self._button("Rewind", "skip_previous", lambda: self.go(0)),
            self._button("Back", "chevron_left", lambda: self.go(self.index - 1)),
            self.play_button,
            self._button("Step", "chevron_right", lambda: self.go(self.index + 1)),
            self._button("End", "skip_next", self.finish),
            self.place,
            align_items="center",
            sizing_mode="stretch_width",
            margin=(2, 4),
        )

    def _button(self, label: str, icon: str, act: Callable[[], None], variant: str = "outlined") -> Any:
        return pmui.Button(
            label=label, icon=icon, size="small", variant=variant, margin=(4, 3), on_click=lambda event: act()
        )

    @property
    def playing(self) -> bool:
        """Whether the run advances automatically."""
        return self._clock is not None

    def go(self, index: int) -> None:
        """Stop, and show a step."""
        self.stop()
        self.wanted = min(max(index, 0), self.count - 1)
        self.changed()

    def finish(self) -> None:
        """Run to the end, and stay there when points or parameters change."""
        self.stop()
        self.wanted = None
        self.changed()

    def toggle(self) -> None:
        """Play from here (from the start if at the end), or pause."""
        if self.playing:
            self.stop()
            self.changed()
            return
        if self.index >= self.count - 1:
            self.wanted = 0
        else:
            self.wanted = self.index
        self._due = True
        self._clock = pn.state.add_periodic_callback(self._tick, PERIOD)
        self.play_button.param.update(label="Pause", icon="pause")
        self.changed()

    def stop(self) -> None:
        """Pause."""
        if self._clock is not None:
            self._clock.stop()
            self._clock = None
            self.play_button.param.update(label="Play", icon="play_arrow")

    def _tick(self) -> None:
        """Request the next step once the previous one is on the page, so that requests do not accumulate."""
        if self._due or not self.playing:
            return
        if self.index >= self.count - 1:
            self.finish()
            return
        self._due = True
        self.wanted = self.index + 1
        self.changed()

    def arrived(self, count: int, index: int) -> None:
        """Record the step that is now on the page."""
        self.count, self.index, self._due = count, index, False
        self._own = True
        self.slider.param.update(end=max(2, count), value=index + 1, disabled=count < 2)
        self._own = False
        if not len(self.place):  # deferred, because a slider misses changes while the browser draws it
            self.place.append(self.slider)

    def _slid(self, event: Any) -> None:
        if not self._own and event.new != self.index + 1:
            self.go(int(event.new) - 1)
