"""The page: header with lessons and tour, sidebar, workbench."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import panel as pn
import panel_material_ui as pmui

from surefit.core.errors import InvalidData
from surefit.lab.bench import Bench, notice
from surefit.lab.lessons import LESSONS, Lesson
from surefit.lab.opening import Openings, template
from surefit.lab.state import State, unpacked
from surefit.lab.style import THEME
from surefit.lab.theme import follow_theme, wanted_theme
from surefit.lab.tour import COOKIE, Tour


def make_page(workers: Executor, openings: Openings, lesson: Lesson | None = None) -> Any:
    """Return the page of a new session: a lesson, or the workbench if ``lesson`` is None."""
    notices = []
    state = lesson.state() if lesson else State()
    text = (pn.state.session_args.get("state") or [b""])[0].decode("ascii", "replace") if pn.state.session_args else ""
    if text:
        try:
            state = unpacked(text)
        except InvalidData as error:
            notices.append(notice(str(error)))
    document: Any = pn.state.curdoc
    host = pn.state.headers.get("Host", "127.0.0.1") if pn.state.headers else "127.0.0.1"
    bench = Bench(state, workers, document.add_next_tick_callback, f"http://{host}", lesson)
    tour = Tour(first_visit=not lesson and not text and COOKIE not in (pn.state.cookies or {}))
    if not text:  # the initial state of the lesson, before a user changes it
        openings.keep(lesson, [(lane.scene, lane.shown.frame) for lane in bench.lanes], bench.board.points)
    document.template_variables["opening"] = "" if text else openings.of(lesson, wanted_theme())
    page = pmui.Page(title="surefit lab", header=[header(tour)], theme_config=THEME, template=template())
    page.main = [*notices, bench.view(), tour.place, follow_theme(page)]
    return page


def header(tour: Tour) -> Any:
    """Return the menu of lessons and the button of the tour."""
    links = [("Workbench", "./"), *((lesson.title, lesson.path) for lesson in LESSONS)]
    items = [{"label": label, "href": href, "target": "_self"} for label, href in links]
    menu = pmui.MenuButton(label="Lessons", items=items, icon="school", color="light", variant="text", margin=(0, 2))
    start = pmui.Button(
        label="Tour", icon="tour", color="light", variant="text", margin=(0, 2), on_click=lambda event: tour.open()
    )
    return pn.Row(menu, start, margin=(0, 0, 0, 12), align="center")
