"""Local rules: nearest neighbors, histograms and regressograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.text import counted
from surefit.lab.palette import BLUE, VERMILION
from surefit.lab.picture import Curve
from surefit.lab.scene import Frame, Frames, Points, Scene, Slider, steps_of
from surefit.lab.scenes.draw import (
    abscissae,
    classifier_marks,
    classifiers_by_size,
    line_plot,
    plane,
    remembered,
    run_chart,
    training_errors,
)
from surefit.neighbors.classifier import KNeighborsClassifier
from surefit.partitions.classifier import HistogramClassifier
from surefit.partitions.regressogram import Regressogram


def neighbor_frames(points: Points, p: Any) -> Frames:
    """Return the rule for k = 1, 2, ..., up to the chosen k."""
    X, y = points.xy, points.labels
    fit = remembered(lambda k: KNeighborsClassifier(k).fit(X, y))
    name = "number of neighbors k"
    return classifiers_by_size(points, fit, name, lambda _, k: f"Vote of {counted(k, 'neighbor')}.", min(p.k, len(y)))


def histogram_frames(points: Points, p: Any) -> Frames:
    """Return histogram classifiers with cells of decreasing size."""
    X, y, box = points.xy, points.labels, points.box()
    width = max(box.right - box.left, box.top - box.bottom)
    sides = [float(f"{width / k:.4g}") for k in range(1, p.cells + 1)]
    fit = remembered(lambda side: HistogramClassifier(side).fit(X, y))

    def at(i: int) -> Frame:
        model = fit(sides[i])
        errors = [float(fit(side).training_error_) for side in sides[: i + 1]]
        chart = run_chart(
            "Training error",
            "cells per side",
            [Curve(np.arange(1.0, i + 2), errors, color=BLUE, label="training error")],
            i + 1.0,
        )
        caption = f"Cells of side {sides[i]:.3g}; {counted(model.n_cells_, 'cell')} hold points."
        return Frame(
            caption, plane(points, classifier_marks(model, box)), chart, model, X, y, (training_errors(model, X, y),)
        )

    return Frames(len(sides), at)


def regressogram_frames(points: Points, p: Any) -> Frames:
    """Return piecewise constant fits on cells of decreasing size."""
    x, y, box = points.xy[:, :1], points.xy[:, 1], points.box()
    sides = [float(f"{(box.right - box.left) / k:.4g}") for k in range(1, p.cells + 1)]
    fit = remembered(lambda side: Regressogram(side=side).fit(x, y))
    error = remembered(lambda side: float(np.mean((fit(side).predict(x) - y) ** 2)))
    line = abscissae(box)

    def at(i: int) -> Frame:
        model = fit(sides[i])
        marks = [Curve(line, model.predict(line[:, None]), color=VERMILION, width=2.6, label="mean of each cell")]
        errors = [error(side) for side in sides[: i + 1]]
        chart = run_chart(
            "Training error",
            "cells",
            [Curve(np.arange(1.0, i + 2), errors, color=BLUE, label="mean squared error")],
            i + 1.0,
        )
        code = "x, y = X[:, :1], X[:, 1]\nX = x"
        return Frame(f"Cells of width {sides[i]:.3g}.", line_plot(points, marks), chart, model, x, y, (), code)

    return Frames(len(sides), at)


SCENES = (
    Scene(
        "neighbors",
        "k nearest neighbors",
        "Local rules",
        "classes",
        "The class of the majority among the k nearest points.",
        neighbor_frames,
        (Slider("k", "Neighbors k", steps_of(1, 40, 1), 15),),
        "consistency",
        "moons",
    ),
    Scene(
        "histogram",
        "Histogram rule",
        "Local rules",
        "classes",
        "Majority vote in each cell of a grid; smaller cells fit the training points better and generalize less.",
        histogram_frames,
        (Slider("cells", "Cells per side", steps_of(1, 24, 1), 12),),
        "consistency",
        "moons",
    ),
    Scene(
        "regressogram",
        "Regressogram",
        "Local rules",
        "curve",
        "The mean target of each cell of a partition.",
        regressogram_frames,
        (Slider("cells", "Cells", steps_of(1, 40, 1), 12),),
        "consistency",
        "sine",
    ),
)
