"""Largest excess loss, over all labels, of a model over its tested counterpart, estimated on unlabeled inputs."""

from __future__ import annotations

import numpy as np

from surefit.bounds.base import ROUND_OUT, RiskBound
from surefit.bounds.binomial import holdout_loss
from surefit.risk.losses import Loss


def largest_excess(loss: Loss, model: np.ndarray, twin: np.ndarray) -> np.ndarray:
    r"""Return :math:`\max_y (\ell(y, h(x)) - \ell(y, h_1(x)))_+` for each input, from 0 to 1."""
    if loss.name == "zero_one":
        return (model != twin).astype(np.float64)
    if loss.name == "brier":
        # The loss is half the sum of squares minus the probability of the label, plus a constant.
        own = 0.5 * np.sum(model**2 - twin**2, axis=1)
        gain = np.max(
            np.column_stack([twin - model, np.zeros(len(own))]), axis=1
        )  # zero: a label that neither model knows
        return np.clip(own + gain, 0.0, 1.0)
    a, b = (model - loss.low) / (loss.high - loss.low), (twin - loss.low) / (loss.high - loss.low)
    if loss.name == "absolute":
        return np.abs(a - b)
    return np.where(a > b, (a - b) * (a + b), (b - a) * (2.0 - a - b))  # squared: the maximum is at an end of the range


def transfer_losses(twin_losses: np.ndarray, excess: np.ndarray, delta: float) -> RiskBound:
    """Bound the mean loss of the model fitted on all rows by that of the tested model plus the largest excess loss."""
    twin, change = holdout_loss(twin_losses, delta / 2), holdout_loss(excess, delta / 2)
    return RiskBound(
        "transfer_losses",
        min(1.0, (twin.value + change.value) * (1 + ROUND_OUT)),
        delta,
        "mean loss of the model trained on all rows",
        ("iid", "rows_untouched", "unlabeled_same_distribution", "loss_in[0,1]"),
        inputs={
            "empirical": twin.terms["empirical"],
            "n": len(twin_losses),
            "excess": change.terms["empirical"],
            "n_unlabeled": len(excess),
        },
        terms={"twin": twin.value, "change": change.value},
    )
