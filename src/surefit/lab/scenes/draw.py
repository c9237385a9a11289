"""Drawings shared by several scenes: regions of classes, level lines of a score, curves of a run, histograms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from contourpy import contour_generator

from surefit.core.text import counted
from surefit.lab.palette import BLUE, CLASS_COLORS, INK, class_color, rgb
from surefit.lab.picture import Bars, Box, Curve, Dots, Note, Picture, Region, bounds
from surefit.lab.scene import Fact, Frame, Frames, Points

GRID = 72  # cells per side of a region
TINY = 1e-300  # smallest probability whose logarithm is drawn
TINT = 0.24  # opacity of a region
LINE = 241  # points of a curve over the box


def lattice(box: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the coordinates of the cell centers of a box, and all centers as rows."""
    xs = box.left + (np.arange(GRID) + 0.5) * (box.right - box.left) / GRID
    ys = box.bottom + (np.arange(GRID) + 0.5) * (box.top - box.bottom) / GRID
    across, up = np.meshgrid(xs, ys)
    return xs, ys, np.column_stack([across.ravel(), up.ravel()])


def abscissae(box: Box) -> np.ndarray:
    """Return evenly spaced abscissae from the left to the right of a box."""
    return np.linspace(box.left, box.right, LINE)


def region(codes: np.ndarray, box: Box, strength: np.ndarray | float = 1.0) -> Region:
    """Return a region in the colors of the classes ``codes`` (one per lattice row), more opaque where ``strength`` is near 1."""
    table = np.array([rgb(color) for color in CLASS_COLORS], dtype=np.uint8)
    rgba = np.empty((GRID * GRID, 4), dtype=np.uint8)
    rgba[:, :3] = table[np.asarray(codes, dtype=int) % len(CLASS_COLORS)]
    rgba[:, 3] = np.round(255 * TINT * np.clip(strength, 0.0, 1.0)).astype(np.uint8)
    return Region(rgba.reshape(GRID, GRID, 4), box)


def levels(values: np.ndarray, box: Box, at: float, **style: Any) -> Curve:
    """Return the level line of lattice values as one curve, its parts separated by NaN."""
    xs, ys, _ = lattice(box)
    lines: Any = contour_generator(xs, ys, np.asarray(values, dtype=np.float64).reshape(GRID, GRID)).lines(at)
    gap = np.full((1, 2), np.nan)
    joined = np.vstack([part for line in lines for part in (line, gap)]) if lines else gap
    return Curve(joined[:, 0], joined[:, 1], **style)


def classifier_marks(model: Any, box: Box, *, margin: bool = False) -> tuple[Any, ...]:
    """Return regions and boundary of a fitted classifier; with ``margin`` also the lines where the score is -1 and 1."""
    rows = lattice(box)[2]
    codes = model.predict(rows)
    if len(model.classes_) != 2 or not hasattr(model, "decision_function"):
        return (region(codes, box), *_borders(codes, model.classes_, None, box))
    score = model.decision_function(rows)
    marks = [
        region(codes, box, 0.45 + 0.55 * np.tanh(np.abs(score))),
        levels(score, box, 0.0, width=2.6, label="boundary"),
    ]
    if margin:
        marks += [levels(score, box, side, width=1.4, dash="dashed", label="margin") for side in (-1.0, 1.0)]
    return tuple(marks)


def probability_marks(model: Any, box: Box) -> tuple[Any, ...]:
    """Return regions of a classifier, faint where its classes are nearly equally probable, and the boundary."""
    chances = model.predict_proba(lattice(box)[2])
    codes = model.classes_[np.argmax(chances, axis=1)]
    k = chances.shape[1]
    strength = 0.15 + 0.85 * (chances.max(axis=1) - 1 / k) / (1 - 1 / k)
    return (region(codes, box, strength), *_borders(codes, model.classes_, chances, box))


def _borders(codes: np.ndarray, classes: np.ndarray, chances: np.ndarray | None, box: Box) -> list[Curve]:
    """Return the boundary of every class but the first, if the probabilities are smooth."""
    found = []
    for code in np.unique(codes)[1:]:
        edge, at = (codes == code).astype(float), 0.5
        if (
            chances is not None and len(np.unique(chances)) > GRID * GRID // 2
        ):  # not constant on cells, leaves or neighborhoods
            own = np.log(np.maximum(chances, TINY))
            edge, at = own[:, classes == code].ravel() - own[:, classes != code].max(axis=1), 0.0
        found.append(levels(edge, box, at, width=1.8, label="boundary"))
    return found


def half_plane_marks(w: np.ndarray, b: float, classes: np.ndarray, box: Box) -> tuple[Any, ...]:
    """Return regions and boundary of the rule ``w'x + b > 0``; without weights there is no boundary."""
    if not np.any(w):
        return ()
    score = lattice(box)[2] @ w + b
    return region(np.where(score > 0, classes[1], classes[0]), box), levels(
        score, box, 0.0, width=2.6, label="boundary"
    )


def rings(points: Points, rows: Any, color: str = INK, label: str = "", size: Any = 17.0) -> Dots:
    """Return rings around some of the points."""
    chosen = points.xy[np.asarray(rows, dtype=int)] if np.size(rows) else np.zeros((0, 2))
    return Dots(chosen[:, 0], chosen[:, 1], color=color, size=size, hollow=True, label=label)


def ellipse(mean: np.ndarray, covariance: np.ndarray, scale: float, **style: Any) -> Curve:
    """Return the line of equal density ``scale`` standard deviations from the mean."""
    values, axes = np.linalg.eigh(covariance)
    turn = np.linspace(0, 2 * np.pi, 73)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * np.sqrt(np.maximum(values, 0.0)) * scale
    line = np.asarray(mean) + ring @ axes.T
    return Curve(line[:, 0], line[:, 1], **style)


def run_chart(
    title: str, x_label: str, curves: Sequence[Curve], now: float | None = None, span: tuple[float, float] | None = None
) -> Picture:
    """Return a chart of numbers along a run, with a marker at the current step; ``span`` is the whole run."""
    marks: list[Any] = list(curves)
    if now is not None:
        for curve in curves:
            x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
            at = np.flatnonzero(x == now)
            if len(at):
                marks.append(Dots([x[at[0]]], [y[at[0]]], color=curve.color, size=9.0))
    chart = Picture(title, x_label, "", tuple(marks), show_points=False)
    if span is None:
        return chart
    box, pad = bounds(chart), 0.04 * (span[1] - span[0]) or 0.5
    return chart._replace(box=Box(span[0] - pad, span[1] + pad, box.bottom, box.top))


def histogram(
    title: str, x_label: str, groups: dict[str, tuple[np.ndarray, str]], bins: int = 24, line: float | None = None
):
    """Return a chart of histograms over common bins, one per group (values and color), with an upright line at ``line``."""
    values = np.concatenate([values for values, _ in groups.values()]) if groups else np.zeros(1)
    low, high = float(values.min()), float(values.max())
    edges = np.linspace(low, high if high > low else low + 1.0, bins + 1)
    marks: list[Any] = []
    tallest = 1.0
    for label, (part, color) in groups.items():
        counts = np.histogram(part, edges)[0].astype(float)
        tallest = max(tallest, float(counts.max(initial=0.0)))
        marks.append(Bars(edges[:-1], edges[1:], counts, color=color, alpha=0.55, label=label))
    if line is not None:
        marks.append(Curve([line, line], [0.0, tallest], width=2.0, dash="dashed"))
    return Picture(title, x_label, "points", tuple(marks), show_points=False)


def class_histogram(
    title: str, x_label: str, values: np.ndarray, labels: np.ndarray, line: float | None = None
) -> Picture:
    """Return histograms of a number, one per class."""
    groups = {f"class {c}": (values[labels == c], class_color(c)) for c in np.unique(labels)}
    return histogram(title, x_label, groups, line=line)


def training_errors(model: Any, X: Any, y: Any) -> Fact:
    """Return a fact with the number of training points that a classifier misclassifies."""
    wrong = int(np.sum(model.predict(X) != y))
    return Fact(f"{counted(wrong, 'training point')} of {len(y)} on the wrong side.")


def note_at(box: Box, text: str) -> Note:
    """Return a note in the upper left corner of a box."""
    return Note(box.left + 0.03 * (box.right - box.left), box.top - 0.07 * (box.top - box.bottom), text)


def plane(points: Points, marks: Sequence[Any], title: str = "") -> Picture:
    """Return a picture of the plane of the points."""
    return Picture(title, "x₁", "x₂", tuple(marks), points.box())


def line_plot(points: Points, marks: Sequence[Any], title: str = "") -> Picture:
    """Return a figure of a regression sample."""
    return Picture(title, "x", "y", tuple(marks), points.box())


def remembered(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return ``make`` with a cache of its results for one run."""
    kept: dict[Any, Any] = {}

    def recall(key: Any) -> Any:
        if key not in kept:
            kept[key] = make(key)
        return kept[key]

    return recall


def classifiers_by_size(
    points: Points, fit: Callable[[int], Any], sizes: str, caption: Callable[[Any, int], str], count: int
) -> Frames:
    """Return the classifiers ``fit(1)``, ``fit(2)``, ..., each with the training errors up to its size."""
    X, y = points.xy, points.labels
    errors = remembered(lambda size: float(np.mean(fit(size).predict(X) != y)))

    def at(i: int) -> Frame:
        model, seen = fit(i + 1), np.arange(1.0, i + 2)
        curve = Curve(seen, [errors(int(size)) for size in seen], color=BLUE, label="training error")
        chart = run_chart("Training error", sizes, [curve], i + 1.0)
        picture, facts = plane(points, classifier_marks(model, points.box())), (training_errors(model, X, y),)
        return Frame(caption(model, i + 1), picture, chart, model, X, y, facts)

    return Frames(count, at)
