"""Ensembles: random forest, AdaBoost with decision stumps, gradient boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.text import counted
from surefit.ensembles.adaboost import AdaBoostClassifier
from surefit.ensembles.boosted_classifier import HistGradientBoostingClassifier
from surefit.ensembles.forest_classifier import RandomForestClassifier
from surefit.lab.palette import BLUE, INK, VERMILION, class_color
from surefit.lab.picture import Bars, Curve, Dots, Picture
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene, Slider, log_values, schedule, steps_of
from surefit.lab.scenes.draw import (
    classifier_marks,
    plane,
    probability_marks,
    remembered,
    run_chart,
    training_errors,
)


def forest_frames(points: Points, p: Any) -> Frames:
    """Return the forest for an increasing number of trees."""
    X, y = points.xy, points.labels
    shown = schedule(p.trees, 16)[1:]
    options = {"max_depth": p.depth, "random_state": 0}
    fit = remembered(lambda k: RandomForestClassifier(k, **options).fit(X, y))
    error = remembered(lambda k: float(np.mean(fit(k).predict(X) != y)))

    def at(i: int) -> Frame:
        model = fit(shown[i])
        errors = [error(k) for k in shown[: i + 1]]
        chart = run_chart(
            "Training error",
            "trees",
            [Curve(np.array(shown[: i + 1], float), errors, color=BLUE, label="training error")],
            float(shown[i]),
        )
        marks = probability_marks(model, points.box())
        return Frame(
            f"Mean of {counted(shown[i], 'tree')}.",
            plane(points, marks),
            chart,
            model,
            X,
            y,
            (training_errors(model, X, y),),
        )

    return Frames(len(shown), at)


def adaboost_frames(points: Points, p: Any) -> Frames:
    """Return AdaBoost round by round: weights of the points, training error under its bound, margins."""
    X, y = points.xy, points.labels
    fit = remembered(lambda k: AdaBoostClassifier(n_estimators=k, learning_rate=p.rate).fit(X, y))
    last = fit(p.rounds)
    count = len(last.estimators_)

    def at(i: int) -> Frame:
        model = fit(i + 1)
        margins = _margins(model, X, y)
        weights = np.exp(-margins * np.sum(model.estimator_weights_) / 2)
        size = 4.0 + 26.0 * np.sqrt(weights / weights.max())
        marks = [
            *classifier_marks(model, points.box()),
            Dots(X[:, 0], X[:, 1], color=[class_color(c) for c in y], size=size, alpha=0.35),
        ]
        rounds = np.arange(1.0, count + 1)
        chart = (
            run_chart(
                "Training error under its bound",
                "rounds",
                [
                    Curve(rounds, last.bounds_, color=INK, dash="dashed", label="bound ∏ Z"),
                    Curve(rounds, last.training_errors_, color=VERMILION, label="training error"),
                ],
                i + 1.0,
            )
            if p.chart == "error"
            else margin_chart(margins)
        )
        facts = (
            Fact(f"Training error {model.training_errors_[-1]:.3g} ≤ ∏ Z = {model.bounds_[-1]:.4g}.", "proved"),
            Fact(f"Smallest normalized margin {margins.min():.3g}, median {np.median(margins):.3g}."),
        )
        return Frame(
            f"Round {i + 1} of {count}. Large markers carry much weight.",
            plane(points, marks),
            chart,
            model,
            X,
            y,
            facts,
        )

    return Frames(count, at)


def _margins(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the normalized margins of the votes, from -1 to 1."""
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    votes = np.array([np.where(member.predict(X) == model.classes_[1], 1.0, -1.0) for member in model.estimators_])
    weights = np.asarray(model.estimator_weights_)
    total = float(np.sum(np.abs(weights))) or 1.0
    return sign * (weights @ votes) / total


def margin_chart(margins: np.ndarray) -> Picture:
    """Return the histogram of the margins between -1 and 1."""
    edges = np.linspace(-1, 1, 21)
    counts = np.histogram(margins, edges)[0].astype(float)
    marks = (
        Bars(edges[:-1], edges[1:], counts, color=BLUE, label="points"),
        Curve([0, 0], [0, max(1.0, counts.max())], dash="dashed"),
    )
    return Picture("Margin distribution", "normalized margin", "points", marks, show_points=False)


def gradient_frames(points: Points, p: Any) -> Frames:
    """Return gradient boosting round by round."""
    X, y = points.xy, points.labels
    shown = schedule(p.rounds, 60)[1:]
    options = {
        "learning_rate": p.rate,
        "max_leaf_nodes": p.leaves,
        "min_samples_leaf": p.smallest,
        "early_stopping": False,
    }
    fit = remembered(lambda k: HistGradientBoostingClassifier(max_iter=k, **options).fit(X, y))

    def at(i: int) -> Frame:
        model = fit(shown[i])
        losses = np.asarray(model.training_losses_, dtype=float)
        chart = run_chart(
            "Training loss",
            "rounds",
            [Curve(np.arange(float(len(losses))), losses, color=BLUE, label="mean log loss")],
            float(shown[i]),
        )
        marks = probability_marks(model, points.box())
        return Frame(
            f"Round {shown[i]} of {p.rounds}.",
            plane(points, marks),
            chart,
            model,
            X,
            y,
            (training_errors(model, X, y),),
        )

    return Frames(len(shown), at)


SCENES = (
    Scene(
        "forest",
        "Random forest",
        "Trees and ensembles",
        "classes",
        "The mean of trees on bootstrap samples: each one overfits, the mean does not.",
        forest_frames,
        (
            Slider("trees", "Trees", (1, 2, 5, 10, 20, 50, 100), 50),
            Slider("depth", "Depth at most", steps_of(1, 12, 1), 8),
        ),
        "bootstrap",
        "moons",
    ),
    Scene(
        "adaboost",
        "AdaBoost with decision stumps",
        "Trees and ensembles",
        "two classes",
        "Each round increases the weight of misclassified points; the training error is at most the product of the Z.",
        adaboost_frames,
        (
            Slider("rounds", "Rounds", (1, 2, 5, 10, 20, 50, 100), 50),
            Slider("rate", "Learning rate", log_values(0.1, 1, 4), 1.0),
            Choice("chart", "Chart", {"training error": "error", "margin distribution": "margins"}, "error"),
        ),
        "adaboost",
        "circles",
    ),
    Scene(
        "gradient-boosting",
        "Gradient boosting",
        "Trees and ensembles",
        "classes",
        "Trees fitted to the gradient of the loss; the training loss never rises.",
        gradient_frames,
        (
            Slider("rounds", "Rounds", (5, 10, 20, 50, 100), 50),
            Slider("rate", "Learning rate", log_values(0.01, 1, 4), 0.18),
            Slider("leaves", "Leaves per tree", steps_of(2, 16, 1), 4),
            Slider("smallest", "Points per leaf at least", steps_of(1, 20, 1), 5),
        ),
        "boosted_trees",
        "moons",
    ),
)
