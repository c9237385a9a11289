"""Scenes: an algorithm or an idea, its parameters, and frames computed by the estimator itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import SurefitError
from surefit.lab.picture import Box, Picture

MOST_FRAMES = 120

#: What a scene makes of the drawn points.
TASKS = {
    "classes": "points of two or more classes",
    "two classes": "points of two classes",
    "curve": "a regression cloud: the horizontal coordinate predicts the vertical one",
    "cloud": "points without classes",
    "none": "no points",
}


class SceneMessage(SurefitError):
    """Error: a scene cannot be shown for these points; the message says what to do."""


class Slider(NamedTuple):
    """Numeric parameter. ``values`` lists the choices from small to large."""

    name: str
    label: str
    values: tuple[float, ...]
    value: float
    help: str = ""


class Choice(NamedTuple):
    """Parameter with a few options; ``options`` maps displayed texts to passed values."""

    name: str
    label: str
    options: dict[str, Any]
    value: Any
    help: str = ""


class Fact(NamedTuple):
    """A statement about the current frame; ``verdict`` is 'proved', 'estimate', 'vacuous' or 'note'."""

    text: str
    verdict: str = "note"


@dataclass(frozen=True)
class Frame:
    """One state of an algorithm: the picture, the current model, and facts about it."""

    caption: str
    picture: Picture
    chart: Picture | None = None
    model: Any = None
    X: Any = None
    y: Any = None
    facts: tuple[Fact, ...] = ()
    code: str = ""  # code between the data and the model, or all code if there is no model


@dataclass(frozen=True)
class Frames:
    """States of one run: their number, and a function that computes one. The last state is the end of the run."""

    count: int
    at: Callable[[int], Frame]


@dataclass(frozen=True)
class Scene:
    """An algorithm or idea that the laboratory can show.

    ``frames(points, p)`` returns the run on the points, with the parameters as attributes of ``p``.
    """

    key: str
    name: str
    group: str
    task: str
    about: str
    frames: Callable[[Points, Any], Frames]
    parameters: tuple[Slider | Choice, ...] = ()
    theory: str = ""
    data: str = ""  # generator that suits the scene

    @property
    def starts_at_end(self) -> bool:
        """Whether the scene opens with its last frame, a fitted model; an idea opens with its first frame."""
        return self.group != "Ideas"

    def defaults(self) -> dict[str, Any]:
        """Return the initial parameters of a scene."""
        return {parameter.name: parameter.value for parameter in self.parameters}

    def run(self, points: Points, values: dict[str, Any]) -> Frames:
        """Return the frames for these points and parameters; missing parameters have their defaults."""
        require_task(self, points)
        return self.frames(points, SimpleNamespace(**{**self.defaults(), **values}))


class Points(NamedTuple):
    """Points of the plane and their classes."""

    xy: np.ndarray  # shape (n, 2)
    labels: np.ndarray  # integers, shape (n,)

    @classmethod
    def of(cls, xy, labels=None) -> Points:
        """Return points; coordinates keep six digits, so that links and programs stay short."""
        xy = np.asarray(xy, dtype=np.float64).reshape(-1, 2)
        scale = 10.0 ** (5 - np.ceil(np.log10(max(1.0, float(np.max(np.abs(xy), initial=0.0))))))
        labels = np.zeros(len(xy), dtype=int) if labels is None else np.asarray(labels, dtype=int)
        return cls(np.round(xy * scale) / scale, labels)

    @property
    def classes(self) -> np.ndarray:
        """The classes that have points."""
        return np.unique(self.labels)

    def box(self) -> Box:
        """Return the part of the plane to show, a square: from -3 to 3, or around all points if they do not fit in it."""
        if len(self.xy) == 0 or np.max(np.abs(self.xy)) <= 3.0:
            return Box(-3.0, 3.0, -3.0, 3.0)
        low, high = self.xy.min(axis=0), self.xy.max(axis=0)
        middle, half = (low + high) / 2, 0.58 * float(np.max(high - low)) or 1.0
        return Box(middle[0] - half, middle[0] + half, middle[1] - half, middle[1] + half)


def require_task(scene: Scene, points: Points) -> None:
    """Raise ``SceneMessage`` if the scene cannot use the points."""
    n, k = len(points.xy), len(points.classes)
    if scene.task in ("classes", "two classes") and (n < 2 or k < 2):
        raise SceneMessage(f"{scene.name} needs points of two classes: pick the other class and click in the plane.")
    if scene.task == "two classes" and k > 2:
        raise SceneMessage(f"{scene.name} needs two classes; these points have {k}. Remove some, or choose another.")
    if scene.task == "curve" and (n < 3 or len(np.unique(points.xy[:, 0])) < 3):
        raise SceneMessage(f"{scene.name} needs at least three points at different places: click in the plane.")
    if scene.task == "cloud" and len(np.unique(points.xy, axis=0)) < 2:
        raise SceneMessage(f"{scene.name} needs at least two different points: click in the plane.")


def schedule(n: int, most: int = MOST_FRAMES) -> list[int]:
    """Return the steps 0..n, thinned out at a geometric rate if there are many.

    Examples
    --------
    >>> from surefit.lab.scene import schedule
    >>> schedule(4), schedule(1000, 6)
    ([0, 1, 2, 3, 4], [0, 1, 6, 32, 178, 1000])
    """
    if n < most:
        return list(range(n + 1))
    spread = np.unique(np.round(np.geomspace(1, n, most - 1)).astype(int))
    return [0, *(int(step) for step in spread)]


def log_values(low: float, high: float, per_decade: int = 4) -> tuple[float, ...]:
    """Return rounded values from ``low`` to ``high`` at equal ratios.

    Examples
    --------
    >>> from surefit.lab.scene import log_values
    >>> log_values(0.1, 10, 1)
    (0.1, 1.0, 10.0)
    """
    count = round(np.log10(high / low) * per_decade) + 1
    return tuple(float(f"{value:.2g}") for value in np.geomspace(low, high, count))


def steps_of(low: float, high: float, step: float) -> tuple[float, ...]:
    """Return ``low, low + step, ..., high``, integers if all three are.

    Examples
    --------
    >>> from surefit.lab.scene import steps_of
    >>> steps_of(1, 3, 1), steps_of(0.0, 0.5, 0.25)
    ((1, 2, 3), (0.0, 0.25, 0.5))
    """
    values = low + step * np.arange(round((high - low) / step) + 1)
    return tuple(int(v) if isinstance(step, int) and isinstance(low, int) else round(float(v), 6) for v in values)
