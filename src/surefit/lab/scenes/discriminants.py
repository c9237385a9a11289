"""Generative classifiers: LDA, QDA, Fisher's projection and naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bayes.map_classifier import MAPClassifier
from surefit.discriminants.fisher import FisherDiscriminant
from surefit.discriminants.lda import LinearDiscriminantAnalysis
from surefit.discriminants.qda import QuadraticDiscriminantAnalysis
from surefit.lab.palette import INK, class_color
from surefit.lab.picture import Curve, Dots
from surefit.lab.scene import Fact, Frame, Frames, Points, Scene, SceneMessage, Slider, steps_of
from surefit.lab.scenes.draw import (
    class_histogram,
    classifier_marks,
    ellipse,
    plane,
    probability_marks,
    training_errors,
)

STAGES = ("Class means.", "Class means and covariances.", "The boundary that follows from them.")


def _gaussian_frames(points: Points, model: Any, covariances: list[np.ndarray]) -> Frames:
    """Return three frames: means, ellipses, boundary."""
    X, y, box = points.xy, points.labels, points.box()
    codes = model.classes_
    means = [
        Dots([m[0]], [m[1]], color=class_color(c), marker="cross", size=22.0)
        for c, m in zip(codes, model.means_, strict=True)
    ]
    rings = [
        ellipse(m, covariance, scale, color=class_color(c), width=1.6, dash="dashed" if scale > 1 else "solid")
        for c, m, covariance in zip(codes, model.means_, covariances, strict=True)
        for scale in (1.0, 2.0)
    ]
    direction = _direction(model, X)
    title = "Projection on the discriminant direction" if len(codes) == 2 else "First discriminant coordinate"
    chart = class_histogram(title, "projection", X @ direction, y)

    def at(i: int) -> Frame:
        marks = [*(probability_marks(model, box) if i == 2 else ()), *(rings if i else ()), *means]
        return Frame(STAGES[i], plane(points, marks), chart, model, X, y, (training_errors(model, X, y),))

    return Frames(3, at)


def _direction(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the unit direction of projection: the normal of the linear rule, or the difference of two means."""
    w = model.coef_[0] if hasattr(model, "coef_") else model.means_[-1] - model.means_[0]
    norm = float(np.linalg.norm(w))
    return w / norm if norm else np.array([1.0, 0.0])


def lda_frames(points: Points, p: Any) -> Frames:
    """Return the frames of LDA, with one covariance for all classes."""
    _require_rows(points, "LDA", 1)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=p.shrinkage or None, store_covariance=True)
    model.fit(points.xy, points.labels)
    return _gaussian_frames(points, model, [model.covariance_] * len(model.classes_))


def qda_frames(points: Points, p: Any) -> Frames:
    """Return the frames of QDA, with one covariance per class."""
    _require_rows(points, "QDA", 3)
    model = QuadraticDiscriminantAnalysis(reg_param=p.reg_param, store_covariance=True).fit(points.xy, points.labels)
    return _gaussian_frames(points, model, list(model.covariance_))


def naive_bayes_frames(points: Points, p: Any) -> Frames:
    """Return the frames of naive Bayes, with independent normal coordinates in each class."""
    _require_rows(points, "Naive Bayes", 2)
    model = MAPClassifier("diagonal").fit(points.xy, points.labels)
    return _gaussian_frames(points, model, [np.diag(np.ravel(spread)) for spread in model.spreads_])


def _require_rows(points: Points, name: str, least: int) -> None:
    for c in points.classes:
        if np.sum(points.labels == c) < least:
            raise SceneMessage(f"{name} needs at least {least} points in every class; class {c} has fewer.")


def fisher_frames(points: Points, p: Any) -> Frames:
    """Return the frames of Fisher's rule, in which the points move onto the line of the projection."""
    X, y, box = points.xy, points.labels, points.box()
    model = FisherDiscriminant(ridge=p.ridge).fit(X, y)
    direction = model.coef_[0] / (np.linalg.norm(model.coef_[0]) or 1.0)
    center = model.means_.mean(axis=0)
    projected = center + np.outer((X - center) @ direction, direction)
    axis = center + np.outer([-20.0, 20.0], direction)
    threshold = float(center @ direction)
    chart = class_histogram("Projection on Fisher's direction", "projection", X @ direction, y, threshold)

    def at(i: int) -> Frame:
        share = i / 8
        moved = (1 - share) * X + share * projected
        marks = [
            *classifier_marks(model, box),
            Curve(axis[:, 0], axis[:, 1], color=INK, dash="dotted", width=1.5, label="direction of the projection"),
        ]
        if i:
            color = [class_color(c) for c in y]
            marks.append(Dots(moved[:, 0], moved[:, 1], color=color, size=6.0, alpha=0.7))
        caption = "Boundary and direction." if i == 0 else f"Points moved {100 * share:.0f} % of the way onto the line."
        estimate = (
            f"If both classes were Gaussian with these parameters, the error would be {model.plug_in_error_:.3g}."
        )
        facts = (training_errors(model, X, y), Fact(estimate, "estimate"))
        return Frame(caption, plane(points, marks), chart, model, X, y, facts)

    return Frames(9, at)


SCENES = (
    Scene(
        "lda",
        "Linear discriminant analysis",
        "Generative classifiers",
        "classes",
        "Gaussian classes with one common covariance: the boundary is a line.",
        lda_frames,
        (Slider("shrinkage", "Shrinkage", steps_of(0.0, 1.0, 0.05), 0.0),),
        "rayleigh_gap",
        "two-gaussians",
    ),
    Scene(
        "qda",
        "Quadratic discriminant analysis",
        "Generative classifiers",
        "classes",
        "Gaussian classes with their own covariances: the boundary is a conic.",
        qda_frames,
        (Slider("reg_param", "Regularization", steps_of(0.0, 1.0, 0.05), 0.0),),
        "maximum_likelihood",
        "unequal",
    ),
    Scene(
        "fisher",
        "Fisher's discriminant",
        "Generative classifiers",
        "two classes",
        "Projects on the direction with the largest ratio of between-class to within-class scatter.",
        fisher_frames,
        (Slider("ridge", "Ridge λ", steps_of(0.0, 2.0, 0.1), 0.0),),
        "rayleigh_gap",
        "triangles",
    ),
    Scene(
        "naive-bayes",
        "Naive Bayes",
        "Generative classifiers",
        "classes",
        "Coordinates that are independent and normal within each class.",
        naive_bayes_frames,
        (),
        "mle_map",
        "unequal",
    ),
)
