"""A small neural network: training by epochs, and the lines of the hidden units."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.lab.palette import BLUE, INK
from surefit.lab.picture import Curve
from surefit.lab.scene import Choice, Frame, Frames, Points, Scene, Slider, log_values, schedule, steps_of
from surefit.lab.scenes.draw import lattice, levels, plane, probability_marks, remembered, run_chart, training_errors
from surefit.neural.mlp_classifier import MLPClassifier


def network_frames(points: Points, p: Any) -> Frames:
    """Return the network after an increasing number of epochs, from one random start."""
    X, y = points.xy, points.labels
    options = {
        "hidden_layer_sizes": (p.units,) * p.layers,
        "activation": p.activation,
        "learning_rate_init": p.rate,
        "alpha": p.alpha,
        "random_state": 0,
        "n_iter_no_change": 10_000,
        "tol": 0.0,
    }
    shown = schedule(p.epochs, 50)[1:]
    fit = remembered(lambda k: MLPClassifier(max_iter=k, **options).fit(X, y))

    def at(i: int) -> Frame:
        model = fit(shown[i])
        loss = np.asarray(model.loss_curve_, dtype=float)
        chart = run_chart(
            "Training loss",
            "epochs",
            [Curve(np.arange(1.0, len(loss) + 1), loss, color=BLUE, label="loss")],
            float(shown[i]),
        )
        marks = [*probability_marks(model, points.box()), *_hidden_lines(model, points)]
        return Frame(
            f"Epoch {shown[i]} of {p.epochs}.",
            plane(points, marks),
            chart,
            model,
            X,
            y,
            (training_errors(model, X, y),),
        )

    return Frames(len(shown), at)


def _hidden_lines(model: Any, points: Points) -> list[Curve]:
    """Return the line on which the input of each unit of the first hidden layer is zero."""
    box = points.box()
    inputs = lattice(box)[2] @ model.coefs_[0] + model.intercepts_[0]
    return [
        levels(inputs[:, unit], box, 0.0, color=INK, width=0.9, dash="dotted", label="hidden units")
        for unit in range(inputs.shape[1])
    ]


SCENES = (
    Scene(
        "network",
        "Neural network",
        "Neural networks",
        "classes",
        "Gradient steps on a small network; each hidden unit defines a line, and the output combines them.",
        network_frames,
        (
            Slider("units", "Hidden units per layer", steps_of(1, 24, 1), 8),
            Slider("layers", "Hidden layers", (1, 2, 3), 1),
            Choice("activation", "Activation", {"tanh": "tanh", "ReLU": "relu", "logistic": "logistic"}, "tanh"),
            Slider("rate", "Learning rate", log_values(0.001, 1, 2), 0.1),
            Slider("alpha", "l2 penalty", (0.0, *log_values(0.0001, 1, 1)), 0.0001),
            Slider("epochs", "Epochs", (10, 50, 100, 200, 400), 200),
        ),
        "network_stationarity",
        "spiral",
    ),
)
