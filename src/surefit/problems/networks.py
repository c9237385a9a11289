"""Problems of neural networks: layer sizes, activation, loss and weight decay."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of

WHOLE = ("lbfgs", "gd")  # full-batch solvers, whose tolerance is for the gradient


def _problem(given: Given, n_outputs: int, output: str, loss: str) -> dict[str, Any]:
    params, hidden = given.params, given.params["hidden_layer_sizes"]
    sizes = [int(hidden)] if isinstance(hidden, numbers.Integral) else [int(size) for size in hidden]
    whole, polish = params["solver"] in WHOLE, bool(params["polish"])
    return {
        "sizes": [int(given.X.shape[1]), *sizes, n_outputs],
        "activation": params["activation"],
        "output": output,
        "loss": loss,
        "alpha": float(params["alpha"]),
        "tol": float(params["tol"]) if whole and not polish else None,
        "gap_tol": float(params["tol"]) if polish else None,
    }


@problem_of("MLPClassifier")
def classifier(given: Given) -> dict[str, Any]:
    """Return the problem with one output per class, one output for two classes, or one per label for multilabel targets."""
    assert given.y is not None
    count, several = len(np.atleast_1d(given.chosen["classes_"])), given.y.ndim == 2
    n_outputs = given.y.shape[1] if several else 1 if count <= 2 else count
    if given.params["output"] == "identity":
        return _problem(given, n_outputs, "identity", "squared_error")
    return _problem(given, n_outputs, "softmax" if count > 2 and not several else "logistic", given.params["loss"])


@problem_of("MLPRegressor")
def regressor(given: Given) -> dict[str, Any]:
    """Return the problem with one output per target."""
    assert given.y is not None
    output, loss = {"squared_error": ("identity", "half_squares"), "poisson": ("exp", "poisson")}[given.params["loss"]]
    return _problem(given, 1 if given.y.ndim == 1 else given.y.shape[1], output, loss)
