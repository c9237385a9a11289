"""The state of the page as text in its address: compact, and checked when it is read."""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from dataclasses import dataclass, field
from typing import Any

from surefit.core.errors import InvalidData
from surefit.lab.generators import GENERATORS
from surefit.lab.limits import LONGEST_STATE, MOST_POINTS
from surefit.lab.palette import MOST_CLASSES
from surefit.lab.scene import Choice, Points, Scene, Slider
from surefit.lab.scenes import SCENES

LARGEST = 200_000  # largest size of an unpacked state in bytes


@dataclass
class LaneState:
    """One algorithm with its parameters."""

    scene: str = "svc"
    values: dict[str, Any] = field(default_factory=dict)


@dataclass
class State:
    """The state that a link restores. ``points`` None: those of the generator; ``step`` None: the end of the run."""

    lanes: list[LaneState] = field(default_factory=lambda: [LaneState()])
    generator: str = "circles"
    settings: dict[str, Any] = field(default_factory=dict)
    points: Points | None = None
    step: int | None = None


def packed(state: State) -> str | None:
    """Return the state as text for an address, or None if it has too many points for one.

    Examples
    --------
    >>> from surefit.lab.state import State, packed, unpacked
    >>> unpacked(packed(State(step=3))).step
    3
    """
    content: dict[str, Any] = {"lanes": [[lane.scene, lane.values] for lane in state.lanes]}
    content |= {"generator": state.generator, "settings": state.settings, "step": state.step}
    if state.points is not None:
        rows = zip(state.points.xy.tolist(), state.points.labels, strict=True)
        content["points"] = [[x, y, int(c)] for (x, y), c in rows]
    raw = zlib.compress(json.dumps(content, separators=(",", ":")).encode("utf-8"), 9)
    text = base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")
    return text if len(text) <= LONGEST_STATE else None


def unpacked(text: str) -> State:
    """Read a state; invalid text raises an error with a message, and values outside their range are clipped."""
    try:
        raw = base64.urlsafe_b64decode(text[: 2 * LONGEST_STATE] + "=" * (-len(text) % 4))
        content = json.loads(zlib.decompressobj().decompress(raw, LARGEST))
        lanes = [LaneState(str(key), checked(SCENES[str(key)], dict(values))) for key, values in content["lanes"][:2]]
        generator = str(content["generator"])
        settings = {
            s.name: snapped(s, content["settings"][s.name])
            for s in GENERATORS[generator].sliders
            if s.name in content["settings"]
        }
        points = _points(content["points"]) if content.get("points") is not None else None
        step = None if content.get("step") is None else max(0, int(content["step"]))
    except (KeyError, ValueError, TypeError, IndexError, OverflowError, binascii.Error, zlib.error, RecursionError):
        raise InvalidData("This link is damaged or of another version; the lab starts afresh.") from None
    if not lanes:
        raise InvalidData("This link names no algorithm; the lab starts afresh.")
    return State(lanes, generator, settings, points, step)


def _points(rows: list[Any]) -> Points:
    xy = [[float(x), float(y)] for x, y, _ in rows[:MOST_POINTS]]
    labels = [int(c) for _, _, c in rows[:MOST_POINTS]]
    if not all(math.isfinite(v) and abs(v) < 1e9 for row in xy for v in row) or not all(
        0 <= c < MOST_CLASSES for c in labels
    ):
        raise ValueError("points outside their range")
    return Points.of(xy, labels)


def checked(scene: Scene, values: dict[str, Any]) -> dict[str, Any]:
    """Return the valid parameters of a scene; sliders take the nearest allowed value."""
    found: dict[str, Any] = {}
    for parameter in scene.parameters:
        if parameter.name not in values:
            continue
        if isinstance(parameter, Choice):
            if values[parameter.name] in parameter.options.values():
                found[parameter.name] = values[parameter.name]
        else:
            found[parameter.name] = snapped(parameter, values[parameter.name])
    return found


def snapped(slider: Slider, value: Any) -> float:
    """Return the value of a slider that is nearest to a number."""
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("not a number")
    return min(slider.values, key=lambda allowed: abs(allowed - number))
