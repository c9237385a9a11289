"""Readers for scikit-learn's feed-forward networks."""

from __future__ import annotations

import numpy as np

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, target_of
from surefit.audit.stating import asking
from surefit.core.errors import InvalidData
from surefit.core.sample import Data


@reader("sklearn", "MLPClassifier", "MLPRegressor")
def read_network_model(model, data: Data, tol: float) -> Reading:
    """Read a network: objective and gradient are recomputed; a gap exists for the last layer only, which is convex."""
    coefs = [np.asarray(c) for c in model.coefs_] if hasattr(model, "coefs_") else [attribute(model, "coefs_")]
    outputs = coefs[-1].shape[1]
    classifier = hasattr(model, "classes_")
    if classifier:
        labels_of(model, data, None)
        if model.out_activation_ == "logistic" and outputs > 1:
            raise InvalidData(
                f"certify: this {type(model).__name__} predicts several labels per row; certify one at a time."
            )
    target_of(model, data)
    loss = "log_loss" if classifier else {"squared_error": "half_squares"}.get(model.loss, model.loss)
    unit = outputs if loss == "half_squares" else 1  # scikit-learn takes the mean over outputs, surefit the sum
    problem = {
        "sizes": [coefs[0].shape[0], *(c.shape[1] for c in coefs)],
        "activation": model.activation,
        "output": model.out_activation_,
        "loss": loss,
        "alpha": float(model.alpha) * unit,
        "single": False,
        "gap_tol": tol,
        "objective": "mean loss + alpha / (2 n) |w|^2" + (f", times {unit} outputs" if unit > 1 else ""),
    }

    names = [f"network.{name}" for name in ("output_gap", "gradient", "objective", "global")]
    state = asking(*names, if_proved=("network.output_gap",))
    return Reading("B", problem, (), state, run={"iterations": int(model.n_iter_)}, derived="network")
