"""Risk bound of a model from a tested twin and their agreement on unlabeled inputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.bounds import confirms, log_inverse
from surefit.checks.judge import Digits
from surefit.checks.risk.answers import answers_of, labels_of
from surefit.checks.tail_sums import Evidence, at_least, relative_entropy, weakest


@confirms("transfer_losses")
def confirm_transfer(value: float, z: dict[str, Any], w: dict[str, np.ndarray]) -> Evidence:
    """Check both limits at half of delta each, and their sum."""
    needed = log_inverse(z) + math.log(2.0)
    twin = relative_entropy(z["empirical"], z["twin"], needed / z["n"])
    change = relative_entropy(z["excess"], z["change"], needed / z["n_unlabeled"])
    whole = Evidence(math.inf, exact=True) if value >= 1.0 else at_least(value, (z["twin"], z["change"]))
    return weakest(twin, change, whole)


def transfer_counts(subject: Any, loss: dict[str, Any]) -> dict[str, Any] | str:
    """Return how often, or by how much, the model can lose to its twin on unlabeled inputs, or why it is unknown."""
    fresh = getattr(subject, "_fresh", None)
    if fresh is None:
        return "the unlabeled inputs are not part of a model file; verify the model in the process that fitted it"
    twin, model = (answers_of(each, fresh, loss) for each in (subject.twin_, subject.estimator_))
    if loss["loss"] == "zero_one":
        return {"disagreements": int(np.sum(twin != model)), "n_unlabeled": len(twin)}
    if loss["loss"] == "brier":
        known = np.union1d(labels_of(subject.twin_.classes_), labels_of(subject.estimator_.classes_))
        twin = _in_columns(twin, subject.twin_, known)
        model = _in_columns(model, subject.estimator_, known)
    excess = _excess(loss, model, twin)
    return {"excess": Digits(math.fsum(excess) / len(excess)), "n_unlabeled": len(excess)}


def _in_columns(answer: np.ndarray, model: Any, known: np.ndarray) -> np.ndarray:
    found = np.zeros((len(answer), len(known)))
    found[:, np.searchsorted(known, labels_of(model.classes_))] = answer
    return found


def _excess(loss: dict[str, Any], model: np.ndarray, twin: np.ndarray) -> np.ndarray:
    """Return the largest excess of the model's loss over its twin's; the maximum over y is at an end of the range."""
    if loss["loss"] == "brier":
        labels = [*np.eye(model.shape[1]), np.zeros(model.shape[1])]  # the last entry: a label that neither model knows
        gaps = [0.5 * (np.sum((model - e) ** 2, axis=1) - np.sum((twin - e) ** 2, axis=1)) for e in labels]
    else:
        power, width = (2 if loss["loss"] == "squared" else 1), loss["high"] - loss["low"]
        ends = (loss["low"], loss["high"])
        gaps = [(np.abs(y - model) / width) ** power - (np.abs(y - twin) / width) ** power for y in ends]
    return np.clip(np.max(gaps, axis=0), 0.0, 1.0)
