"""Reads feed-forward networks of scikit-learn."""

from __future__ import annotations

import math

import numpy as np

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, target_of
from surefit.audit.stating import claim, proved
from surefit.checks.audited_models import inner
from surefit.checks.base import Data
from surefit.checks.neural import walk as walk_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData


@reader("sklearn", "MLPClassifier", "MLPRegressor")
def read_network_model(model, data: Data, tol: float) -> Reading:
    """The objective and its slopes by passes of our own; the last layer alone is convex and has a gap."""
    coefs = [np.asarray(c) for c in model.coefs_] if hasattr(model, "coefs_") else [attribute(model, "coefs_")]
    outputs = coefs[-1].shape[1]
    classifier = hasattr(model, "classes_")
    if classifier:
        labels_of(model, data, None)
        if model.out_activation_ == "logistic" and outputs > 1:
            raise InvalidData(
                f"certify: this {type(model).__name__} gives several labels a row; certify one at a time."
            )
    target_of(model, data)
    loss = "log_loss" if classifier else {"squared_error": "half_squares"}.get(model.loss, model.loss)
    unit = outputs if loss == "half_squares" else 1  # the library takes the mean over outputs, we take the sum
    problem = {
        "sizes": [coefs[0].shape[0], *(c.shape[1] for c in coefs)],
        "activation": model.activation,
        "output": model.out_activation_,
        "loss": loss,
        "alpha": float(model.alpha) * unit,
        "single": False,
        "objective": "mean loss + alpha / (2 n) |w|^2" + (f", times {unit} outputs" if unit > 1 else ""),
    }

    null = _constant(problem, data)

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        gradient = walk_of(*inner(draft, rows)).gradient
        steepest, norm = float(np.max(np.abs(gradient))), float(np.linalg.norm(gradient))
        objective = proved(draft, rows, "network.objective").proved
        words = f"No slope of the objective is larger than {steepest:.3g} (norm {norm:.3g}): how nearly stationary the point is."
        slopes = claim("network.gradient", "optimality", words, steepest, numbers={"norm": norm})
        value = claim("network.objective", "data_fact", f"The objective is {objective:.9g}.", objective)
        nothing = Claim(
            "network.global", "no_claim", "Nothing is claimed about other minima: the problem is not convex."
        )
        gap = proved(draft, rows, "network.output_gap")
        if not math.isfinite(gap.proved):
            return [slopes, value, nothing]
        words = f"With the hidden units as they are, no other last layer has an objective smaller by more than {gap.proved:.3g}."
        about = "the last layer, given the hidden units"
        layer = claim("network.output_gap", "optimality", words, gap.proved * (1 + 1e-9), limit=tol * null, about=about)
        return [layer, slopes, value, nothing]

    return Reading("B", problem, (), state, run={"iterations": int(model.n_iter_)}, derived="network")


def _constant(problem: dict, data: Data) -> float:
    """Return the objective of the best constant answer, roughly: the scale on which a gap is small."""
    if problem["loss"] == "log_loss":
        return math.log(max(problem["sizes"][-1], 2))
    Y = np.asarray(data.target, dtype=np.float64).reshape(data.X.shape[0], -1)
    return 0.5 * float(np.sum(np.var(Y, axis=0))) if problem["loss"] == "half_squares" else float(np.mean(np.abs(Y)))
