"""Generalization: bias and variance, learning and validation curves, risk bounds and conformal coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from surefit.bases.polynomial import PolynomialBasis
from surefit.lab.palette import BLUE, GREEN, INK, VERMILION
from surefit.lab.picture import Area, Box, Curve, Dots, Picture
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene, SceneMessage, Slider, steps_of
from surefit.lab.scenes.draw import plane, probability_marks, remembered, run_chart
from surefit.linear.least_squares.regressor import LinearRegression
from surefit.linear.logistic.classifier import LogisticRegression
from surefit.neighbors.classifier import KNeighborsClassifier
from surefit.selection.bias_variance import bias_variance
from surefit.selection.curves import learning_curve, validation_curve
from surefit.trees.classifier import DecisionTreeClassifier

DARTS = 16  # samples per degree
TARGETS = np.array([[-1.0], [1.0]])  # the two places whose predictions form a dart


def wave(x: np.ndarray) -> np.ndarray:
    """Return the true function of the dartboard scene."""
    return 1.5 * np.sin(1.6 * np.ravel(x))


def polynomial(degree: int) -> Any:
    """Return least squares on polynomials of a degree."""
    return make_pipeline(PolynomialBasis(degree, scale=True), LinearRegression())


def dart_frames(points: Points, p: Any) -> Frames:
    """Return one frame per degree; each dart is the pair of predictions at two places for one sample."""
    x = np.linspace(-3, 3, p.n)[:, None]
    degrees = list(range(1, p.degree + 1))

    def throw(degree: int) -> Any:
        return bias_variance(polynomial(degree), x, wave, noise=p.noise, at=TARGETS, n_repeats=DARTS, random_state=0)

    study = remembered(throw)

    def at(i: int) -> Frame:
        parts = study(degrees[i])
        darts, aim = parts.predictions, wave(TARGETS)
        board = [_circle(aim, r, INK) for r in (0.4, 0.8, 1.2)]
        mean = darts.mean(axis=0)
        marks = (
            *board,
            Dots(darts[:, 0], darts[:, 1], color=BLUE, size=6.0, alpha=0.7, label="one sample each"),
            Dots([aim[0]], [aim[1]], color=GREEN, marker="cross", size=20.0, label="truth"),
            Dots([mean[0]], [mean[1]], color=VERMILION, marker="diamond", size=13.0, label="mean prediction"),
        )
        done = [study(d) for d in degrees[: i + 1]]
        place = np.array(degrees[: i + 1], dtype=float)
        chart = run_chart(
            "Parts of the squared error",
            "degree",
            [
                Curve(place, [float(s.squared_bias.mean()) for s in done], color=VERMILION, label="squared bias"),
                Curve(place, [float(s.variance.mean()) for s in done], color=BLUE, label="variance"),
                Curve(
                    place,
                    [float((s.squared_bias + s.variance).mean()) for s in done],
                    color=INK,
                    dash="dashed",
                    label="sum",
                ),
            ],
            float(degrees[i]),
            (1.0, float(p.degree)),
        )
        fact = f"Squared bias {parts.squared_bias.mean():.3g} + variance {parts.variance.mean():.3g} + noise {parts.noise.mean():.3g}."
        box = Box(aim[0] - 2.4, aim[0] + 2.4, aim[1] - 2.4, aim[1] + 2.4)
        picture = Picture("", "prediction at x = -1", "prediction at x = 1", marks, box, show_points=False)
        return Frame(
            f"Degree {degrees[i]}: {DARTS} samples of {p.n} points.",
            picture,
            chart,
            facts=(Fact(fact, "estimate"),),
            code=_dart_code(degrees[i], p),
        )

    return Frames(len(degrees), at)


def _dart_code(degree: int, p: Any) -> str:
    return (
        "from sklearn.pipeline import make_pipeline\nfrom surefit import LinearRegression, PolynomialBasis, bias_variance\n"
        f"x = np.linspace(-3, 3, {p.n})[:, None]\n"
        f"learner = make_pipeline(PolynomialBasis({degree}, scale=True), LinearRegression())\n"
        f"print(bias_variance(learner, x, lambda x: 1.5 * np.sin(1.6 * np.ravel(x)), noise={p.noise}, "
        f"at=[[-1.0], [1.0]], n_repeats={DARTS}, random_state=0))"
    )


def _circle(center: np.ndarray, radius: float, color: str) -> Curve:
    turn = np.linspace(0, 2 * np.pi, 73)
    return Curve(
        center[0] + radius * np.cos(turn), center[1] + radius * np.sin(turn), color=color, width=1.0, alpha=0.6
    )


LEARNERS = {"decision tree": "tree", "k nearest neighbors": "neighbors", "logistic regression": "logistic"}


def learner(name: str) -> tuple[Any, str, list[Any]]:
    """Return a classifier, its complexity parameter, and the values of the parameter from simple to complex."""
    if name == "tree":
        return DecisionTreeClassifier(max_depth=4), "max_depth", [1, 2, 3, 4, 6, 8, 12]
    if name == "neighbors":
        return KNeighborsClassifier(7), "n_neighbors", [25, 15, 9, 7, 5, 3, 1]
    return LogisticRegression(), "C", [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]


def curve_frames(points: Points, p: Any) -> Frames:
    """Return the learning or the validation curve, with its verdict."""
    X, y = points.xy, points.labels
    if min(np.bincount(y)[points.classes]) < 10:
        raise SceneMessage("Curves need at least ten points in every class: generate more.")
    model, name, values = learner(p.learner)
    if p.curve == "learning":
        curve = learning_curve(model, X, y, train_sizes=(0.15, 0.25, 0.4, 0.6, 0.8, 1.0), random_state=0)
    else:
        curve = validation_curve(model, X, y, param_name=name, param_range=values, random_state=0)
    place = np.arange(1.0, len(curve.x) + 1)

    def at(i: int) -> Frame:
        fitted = learner(p.learner)[0]
        rows = np.random.default_rng(0).permutation(len(y))
        if p.curve == "learning":
            rows = rows[: max(2, int(curve.x[i]))]
            rows = rows if len(np.unique(y[rows])) > 1 else np.arange(len(y))
        else:
            fitted.set_params(**{name: values[i]})
            rows = np.arange(len(y))
        fitted.fit(X[rows], y[rows])
        shown = slice(0, i + 1)
        low, high = (curve.test - curve.uncertainty)[shown], (curve.test + curve.uncertainty)[shown]
        band = Area(
            np.concatenate([place[shown], place[shown][::-1]]),
            np.concatenate([low, high[::-1]]),
            color=VERMILION,
            alpha=0.18,
        )
        label = "training points" if p.curve == "learning" else name
        chart = run_chart(
            f"{p.curve.capitalize()} curve",
            f"{label}: {', '.join(str(v) for v in curve.x)}",
            [
                Curve(place[shown], curve.train[shown], color=BLUE, label="training error"),
                Curve(place[shown], curve.test[shown], color=VERMILION, label="error on left-out folds"),
            ],
            float(place[i]),
            (1.0, float(place[-1])),
        )
        chart = chart._replace(marks=(band, *chart.marks))
        facts = (
            Fact(f"Verdict at {label} = {curve.x[i]}: {curve.verdicts[i]}.", "estimate"),
            Fact(curve.sentence, "estimate"),
        )
        caption = f"{label} = {curve.x[i]}: training error {curve.train[i]:.3g}, left-out error {curve.test[i]:.3g}."
        marks = probability_marks(fitted, points.box())
        return Frame(
            caption,
            plane(points, marks),
            chart,
            fitted,
            X[rows],
            y[rows],
            facts,
            f"rows = np.array({rows.tolist()})\nX, y = X[rows], y[rows]" if p.curve == "learning" else "",
        )

    return Frames(len(curve.x), at)


LEARNER = Choice("learner", "Model", LEARNERS, "tree")

SCENES = (
    Scene(
        "bias-variance",
        "Bias-variance dart board",
        "Ideas",
        "none",
        "Each dart is one training sample; simple models miss together, rich ones scatter.",
        dart_frames,
        (
            Slider("degree", "Largest degree", steps_of(1, 12, 1), 9),
            Slider("n", "Points per sample", (12, 20, 40, 80), 20),
            Slider("noise", "Noise level", steps_of(0.1, 1.0, 0.1), 0.5),
        ),
        "bayes_risk",
    ),
    Scene(
        "curves",
        "Learning and validation curves",
        "Ideas",
        "classes",
        "Training error against left-out error, with a verdict: underfits, fits or overfits.",
        curve_frames,
        (Choice("curve", "Curve", {"validation": "validation", "learning": "learning"}, "validation"), LEARNER),
        "concentration",
        "moons",
    ),
)
