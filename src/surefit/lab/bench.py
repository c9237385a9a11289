"""The workbench of one session: points, one or two lanes, the player, and downloads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, wait
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from surefit.lab.board import Board
from surefit.lab.downloads import Downloads, Moment
from surefit.lab.lane import Lane, Shown, flexible, html
from surefit.lab.lessons import Lesson
from surefit.lab.limits import LONGEST_STEP
from surefit.lab.player import Player
from surefit.lab.state import LaneState, State, packed
from surefit.lab.style import LAST_IF_NARROW
from surefit.lab.takeaway import shows_classes

FIRST = 1.0  # seconds that the page waits for its first step
PULSE = 1000  # milliseconds between two invisible changes
LATE = f"This step takes longer than {LONGEST_STEP:.0f} seconds; use fewer points or smaller parameters."


class Bench:
    """State and widgets of one session; nothing is shared between sessions."""

    def __init__(
        self,
        state: State,
        workers: Executor,
        schedule: Callable[[Any], Any],
        address: str,
        lesson: Lesson | None = None,
    ):
        self.workers, self.schedule, self.address, self.lesson = workers, schedule, address, lesson
        self._waiting = self._late = False
        self._begun = self._finished = 0  # turns of computing
        self._beats, self.pulse = 0, html(visible=False)
        self.board = Board(state, self.refresh, schedule)
        self.lanes = [self._lane(0, state.lanes[0])]
        self.player = Player(self.refresh)
        self.player.wanted = state.step if state.step is not None or self.lanes[0].scene.starts_at_end else 0
        self.compare = pmui.Switch(label="Compare with a second one", value=len(state.lanes) > 1, margin=(8, 10))
        self.second = pn.Column(sizing_mode="stretch_width", margin=0)
        self.main = pn.Column(sizing_mode="stretch_width", margin=0)
        self.data = pn.Column(sizing_mode="stretch_width", margin=0)
        self.downloads = Downloads(self._moment)
        self.side = pn.Column(sizing_mode="stretch_width", margin=0, styles=flexible(270), stylesheets=[LAST_IF_NARROW])
        if self.compare.value:
            self.lanes.append(self._lane(1, state.lanes[1]))
        self._arrange()
        self.compare.param.watch(self._compare_switched, "value")
        self._begin()

    def _lane(self, number: int, state: LaneState) -> Lane:
        return Lane(
            self.board.source, state, self._lane_changed, ("Algorithm or idea", "Second algorithm or idea")[number]
        )

    # --- events -------------------------------------------------------------------------------------------------------

    def _lane_changed(self, other_scene: bool) -> None:
        if other_scene:
            scene = self.lanes[0].scene
            self.player.stop()
            self.player.wanted = None if scene.starts_at_end else 0
            self._suit_data()
        self.refresh()

    def _suit_data(self) -> None:
        """Choose a data set that suits a newly chosen scene, unless the user drew or uploaded points."""
        scene = self.lanes[0].scene
        if self.board.generated and scene.data and len(self.lanes) == 1:
            self.board.choose(scene.data)

    def _compare_switched(self, event: Any) -> None:
        if event.new and len(self.lanes) == 1:
            self.lanes.append(self._lane(1, self.lanes[0].state()))
        elif not event.new:
            self.lanes = self.lanes[:1]
        self._arrange()
        self.refresh()

    def _arrange(self) -> None:
        views = [lane.view(wide=len(self.lanes) == 1) for lane in self.lanes]
        self.main[:] = [pn.FlexBox(*views, sizing_mode="stretch_width", margin=0)]
        self.second[:] = self.lanes[1].controls() if len(self.lanes) > 1 else []

    # --- computing and showing ----------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Show the first step with the page or, if the computation is slow, after the page has loaded.

        Nothing may change in between, because a widget misses changes while the browser draws it.
        """
        jobs = [self.workers.submit(self._job(lane)) for lane in self.lanes]
        if wait(jobs, FIRST).not_done:
            pn.state.onload(self.refresh)
        else:
            self._show([job.result() for job in jobs])

    def refresh(self) -> None:
        """Schedule the computation and display of the current step; consecutive requests are merged."""
        if not self._waiting:
            self._waiting = True
            self.schedule(self._refresh)

    async def _refresh(self) -> None:
        self._waiting = False
        self._begun += 1
        turn = self._begun
        results = [await self._computed(lane) for lane in self.lanes]
        if turn > self._finished:  # a slow computation for earlier points must not replace a newer picture
            self._finished = turn
            self._show(results)

    def _beat(self) -> None:
        """Make an invisible change, which makes Panel send a message that was left behind during another write.

        Panel sends such a message, of whatever change, only with the next one: a note or an unfolded field would not appear.
        """
        self._beats += 1
        self.pulse.object = f"<!-- {self._beats} -->"

    async def _computed(self, lane: Lane) -> Shown:
        """Compute in a worker. A step that is too slow (the first one compiles loops) is shown once it is done."""
        future = asyncio.get_running_loop().run_in_executor(self.workers, self._job(lane))
        try:
            shown = await asyncio.wait_for(asyncio.shield(future), LONGEST_STEP)
        except TimeoutError:
            if not self._late:
                self._late = True
                future.add_done_callback(lambda done: self.refresh())
            return Shown(message=LATE)
        self._late = False
        return shown

    def _job(self, lane: Lane) -> Callable[[], Shown]:
        points, wanted, state = self.board.points, self.player.wanted, lane.state()
        fresh = self.board.fresh() if shows_classes(lane.scene) else None
        return lambda: lane.compute(points, wanted, state, fresh)

    def _show(self, results: list[Shown]) -> None:
        self.board.show_classes(any(shows_classes(lane.scene) for lane in self.lanes))
        self.data.visible = any(lane.scene.data for lane in self.lanes)
        for lane, shown in zip(self.lanes, results, strict=False):
            lane.show(shown)
        if len(self.lanes) == 2:
            same = self.lanes[0].canvas.box == self.lanes[1].canvas.box
            self.lanes[1].canvas.follow(self.lanes[0].canvas if same else None)
        self.player.arrived(max(shown.count for shown in results), max(shown.index for shown in results))
        if not self.player.playing:
            self.downloads.write()

    # --- downloads and links ------------------------------------------------------------------------------------------

    def _moment(self) -> Moment:
        lane, text = self.lanes[0], packed(self.state())
        return Moment(
            lane.scene, lane.shown.frame, self.board.points, f"{self.address}/?state={text}" if text else None
        )

    def state(self) -> State:
        """Return the state that a link to this screen restores."""
        step = None if self.player.wanted is None else self.player.index
        points = None if self.board.generated else self.board.points
        return State(
            [lane.state() for lane in self.lanes], self.board.generator.value, self.board.settings(), points, step
        )

    # --- the page -----------------------------------------------------------------------------------------------------

    def view(self) -> Any:
        """Return controls and body side by side; on a narrow page the body comes first.

        The controls are added after the page has loaded, so that they do not delay the figure.
        """
        pn.state.onload(self._fill_side)
        return pn.FlexBox(self.side, self._body(), sizing_mode="stretch_width", margin=0)

    def _fill_side(self) -> None:
        """Create the controls: first the algorithm, then the data."""
        self.data[:] = [pmui.Divider(margin=(6, 0)), *self.board.controls()]
        self.side[:] = [*self.lanes[0].controls(), self.compare, self.second, self.data]
        pn.state.add_periodic_callback(self._beat, PULSE)

    def _body(self) -> Any:
        """Return lesson, player, lanes and downloads."""
        lesson = [html(lesson_html(self.lesson))] if self.lesson else []
        parts = [*lesson, self.player.bar, self.main, self.downloads.view, self.pulse]
        return pn.Column(*parts, sizing_mode="stretch_width", margin=0, styles=flexible(600, 1000))


def lesson_html(lesson: Lesson) -> str:
    """Return the text of a lesson."""
    tries = "".join(f"<li>{escape(text)}</li>" for text in lesson.tries)
    return f"<div class='lesson'><h2>{escape(lesson.title)}</h2><p>{escape(lesson.claim)}</p><ul>{tries}</ul></div>"


def notice(text: str) -> pn.pane.HTML:
    """Return a notice for the top of the page as HTML."""
    return html(f"<p class='message' role='alert'>{escape(text)}</p>")
