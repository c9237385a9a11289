"""The opening: the first figure as part of the HTML of the page, visible before any script has run.

The opening shows the initial state of a lesson, so it is drawn once and contains no data of a session. The page covers
it as soon as the page has loaded.
"""

from __future__ import annotations

import base64
import logging
import warnings
from concurrent.futures import Executor
from functools import cache
from html import escape
from typing import Any

from surefit.lab.export import figure_file
from surefit.lab.generators import GENERATORS
from surefit.lab.lessons import Lesson
from surefit.lab.palette import BLUE, INK
from surefit.lab.proof import verify
from surefit.lab.scene import Frame, Points, Scene
from surefit.lab.scenes import SCENES
from surefit.lab.state import State
from surefit.lab.takeaway import shows_classes
from surefit.lab.theme import NAMES

#: The page of Panel Material UI with the opening at the start of its body, and the scripts behind it instead of before it.
TEMPLATE = """{% extends outer %}
{% block js_resources %}{% endblock %}
{% block loader %}{{ opening }}{{ super() }}{{ bokeh_js if bokeh_js }}{% endblock %}
"""
DARK = "background: #121212; color: #ddd;"
STYLE = f"""
#opening {{ position: absolute; inset: 0; z-index: -1; overflow: hidden; background: #fff; color: #333;
  font: 15px/1.5 Roboto, Helvetica, Arial, sans-serif; }}
#opening.dark {{ {DARK} }}
@media (prefers-color-scheme: dark) {{ #opening.system {{ {DARK} }} }}
#opening header {{ background: {BLUE}; color: #fff; height: 68px; line-height: 68px; padding-left: 24px; font-size: 24px; }}
#opening section {{ display: flex; flex-wrap: wrap; padding: 10px 8px 0 278px; }}
#opening h2 {{ font: 600 17px/1.5 Roboto, Helvetica, Arial, sans-serif; flex: 1 0 100%; margin: 0; }}
#opening figure {{ margin: 0; flex: 1 1 340px; max-width: 560px; }}
#opening img {{ max-width: 100%; }}
@media (max-width: 880px) {{ #opening section {{ padding-left: 8px; }} }}
"""


@cache
def template() -> Any:
    """Return the template of the page."""
    from jinja2 import Environment
    from panel_material_ui.template.base import BASE_TEMPLATE

    return Environment().from_string(TEMPLATE, globals={"outer": BASE_TEMPLATE})


class Openings:
    """Drawn openings by name of the lesson; the empty name is the workbench."""

    def __init__(self, workers: Executor):
        self.workers = workers
        self._drawn: dict[str, str] = {}

    def of(self, lesson: Lesson | None, theme: str) -> str:
        """Return the opening of a lesson as HTML, or an empty string if it is not drawn yet."""
        inside = self._drawn.get(_name(lesson), "")
        kind = theme if theme in NAMES else "system"
        shown = f"<style>{STYLE}</style><div id='opening' class='{kind}' aria-hidden='true'>{inside}</div>"
        return shown if inside else ""

    def keep(self, lesson: Lesson | None, shown: list[tuple[Scene, Frame | None]], points: Points) -> None:
        """Draw the first step of a lesson for later visitors, once it is computed."""
        frames = [(scene, frame) for scene, frame in shown if frame is not None]
        if _name(lesson) not in self._drawn and len(frames) == len(shown):
            self._drawn[_name(lesson)] = ""
            self.workers.submit(self._draw, lesson, frames, points)

    def _draw(self, lesson: Lesson | None, shown: list[tuple[Scene, Frame]], points: Points) -> None:
        """Draw an opening. Without it, the page only appears later, so a failure is logged but not raised."""
        try:
            self._drawn[_name(lesson)] = drawn(lesson, shown, points)
        except Exception:
            logging.getLogger("surefit.lab").exception("the opening could not be drawn")

    def warm_up(self) -> None:
        """Compute, verify and draw the first step of the workbench, which compiles the loops before the first visit."""
        state = State()
        scene, points = SCENES[state.lanes[0].scene], GENERATORS[state.generator].sample(state.settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frames = scene.run(points, {})
            frame = frames.at(frames.count - 1)
            verify(frame)
        self._draw(None, [(scene, frame)], points)


def _name(lesson: Lesson | None) -> str:
    return lesson.path if lesson else ""


def drawn(lesson: Lesson | None, shown: list[tuple[Scene, Frame]], points: Points) -> str:
    """Return title, captions and pictures of the first step."""
    title = f"<h2>{escape(lesson.title)}</h2>" if lesson else ""
    figures = [_figure(scene, frame, points) for scene, frame in shown]
    return f"<header>surefit lab</header><section>{title}{''.join(figures)}</section>"


def _figure(scene: Scene, frame: Frame, points: Points) -> str:
    file = figure_file("png", [frame.picture], points, "", shows_classes(scene), INK)
    picture = base64.b64encode(file.getvalue()).decode("ascii")
    return f"<figure><figcaption>{escape(frame.caption)}</figcaption><img src='data:image/png;base64,{picture}' alt=''></figure>"
