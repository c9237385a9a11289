"""Linear classifiers: logistic regression by Newton steps, and the linear support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.lab.palette import BLUE, VERMILION
from surefit.lab.picture import Curve
from surefit.lab.scene import Frame, Frames, Points, Scene, Slider, log_values
from surefit.lab.scenes.draw import classifier_marks, plane, probability_marks, remembered, run_chart, training_errors
from surefit.linear.logistic.classifier import LogisticRegression


def logistic_frames(points: Points, p: Any) -> Frames:
    """Return the model after each Newton step, and the gap of each."""
    X, y = points.xy, points.labels
    fit = remembered(lambda k: LogisticRegression(C=p.C, max_iter=k).fit(X, y))
    count = max(1, int(np.max(fit(100).n_iter_)))
    history = fit(100).history_

    def at(i: int) -> Frame:
        model = fit(i + 1)
        box = points.box()
        binary = len(model.classes_) == 2
        marks = [*probability_marks(model, box)[:1], *classifier_marks(model, box)[1:]]
        past = history[history[:, 1] <= i + 1]
        chart = run_chart(
            "Distance to the optimum",
            "Newton steps",
            [
                Curve(
                    past[:, 1],
                    np.log10(np.maximum(past[:, 2], 1e-16)),
                    color=BLUE,
                    label="log₁₀ of the proved gap",
                )
            ],
            i + 1.0,
            (0.0, float(count)),
        )
        w = f" Weights {np.round(model.coef_[0], 3).tolist()}." if binary else ""
        return Frame(
            f"Newton step {i + 1} of {count}.{w}",
            plane(points, marks),
            chart,
            model,
            X,
            y,
            (training_errors(model, X, y),),
        )

    return Frames(count, at)


def duality_frames(points: Points, p: Any) -> Frames:
    """Return the primal and dual values of logistic regression at each Newton step."""
    X, y = points.xy, points.labels
    fit = remembered(lambda k: LogisticRegression(C=p.C, max_iter=k, tol=1e-10).fit(X, y))
    count = max(1, int(np.max(fit(100).n_iter_)))

    def objective(model: Any) -> float:
        gap = next(claim for claim in model.certificate_.claims if claim.name.endswith("gap"))
        return float(gap.numbers["objective"])

    def at(i: int) -> Frame:
        models = [fit(k + 1) for k in range(i + 1)]
        primal = np.array([objective(model) for model in models])
        dual = primal - np.array([model.dual_gap_ for model in models])
        steps = np.arange(1.0, i + 2)
        chart = run_chart(
            "Duality: primal and dual values enclose the optimum",
            "Newton steps",
            [
                Curve(steps, primal, color=VERMILION, label="primal value P"),
                Curve(steps, dual, color=BLUE, label="dual value D ≤ min P"),
            ],
            i + 1.0,
            (0.0, float(count)),
        )
        caption = f"Step {i + 1} of {count}: {dual[-1]:.6g} ≤ min P ≤ {primal[-1]:.6g}."
        marks = classifier_marks(models[-1], points.box())
        return Frame(caption, plane(points, marks), chart, models[-1], X, y, (training_errors(models[-1], X, y),))

    return Frames(count, at)


STRENGTH = Slider("C", "C (strong to weak penalty)", log_values(0.001, 1000, 2), 1.0)

SCENES = (
    Scene(
        "logistic",
        "Logistic regression",
        "Linear classifiers",
        "classes",
        "Maximizes the likelihood with an l2 penalty; every Newton step carries a proved gap.",
        logistic_frames,
        (STRENGTH,),
        "fenchel_gap",
        "two-gaussians",
    ),
    Scene(
        "duality",
        "Duality as a picture",
        "Ideas",
        "two classes",
        "Each dual point bounds the optimum from below; the gap between the two values is the certificate.",
        duality_frames,
        (STRENGTH,),
        "fenchel_gap",
        "two-gaussians",
    ),
)
